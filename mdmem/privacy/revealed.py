"""Revealed text: finds what a payload's private sections say in the rest of the same payload, also decoded."""

from __future__ import annotations

from itertools import groupby, takewhile

from mdmem.privacy import echo, encoded, views
from mdmem.privacy.secrets import occurrences
from mdmem.privacy.text import SHORTEST_REVEALED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHORTEST_LINE = 12
"""A line of a section with several lines is searched for inside other lines if it has this many characters."""

_SHORTEST_GLUED = 8
"""A value of this many characters is also found between letters."""

MOST = 100
"""Maximum number of values to search for inside lines; the others count only as whole lines."""

_AROUND = " \t+-\"',"  # what diffs and JSON lists add around a line


def in_plain_words(spans: list[str]) -> list[str]:
    """Return private texts and their plain readings, because an agent may repeat a text without its wrapping.

    The wrapping is colors, escapes, base64 and the like, and line prefixes of a patch, comment, quotation or `grep -n`.
    """
    texts = dict.fromkeys(spans)
    for span in spans:
        span = span[:_MOST_CHARS]
        readings = decoded = [span.replace("\ufffd", "").replace("=\n", "")]  # NULs of UTF-16, and line wraps of mails
        for _ in range(_TIMES_CODED):
            views_of = [view for text in decoded for view in (views.unescaped(text), encoded.decoded(text))]
            decoded = [view.text for view in views_of if view]
            readings = readings + decoded
        readings += [_without_beginnings(reading.split("\n")) for reading in readings if "\n" in reading]
        texts.update(dict.fromkeys(readings))
    return list(texts)


_TIMES_CODED = 2
_MOST_CHARS = 64 * 1024


def _without_beginnings(lines: list[str]) -> str:
    """Return lines without the prefix that all but the first share; the first begins with the tag.

    In a prefix, any number matches any other, and any white space too. The prefix of `git blame`, which ends with a
    number and a parenthesis, is removed as well.
    """
    split = [_units(line[:_LONGEST_BEGINNING]) for line in lines]
    prefixes = [[_alike(unit) for unit in units] for units in split[1:] if units] or [[]]
    common = takewhile(lambda pair: pair[0] == pair[1], zip(min(prefixes), max(prefixes), strict=False))
    shared = [unit for unit, _ in common]
    if len(prefixes) == 1:  # with a single line, a common prefix may include its words
        shared = list(takewhile(lambda unit: not unit.isalpha(), shared))
    while shared and shared[-1].isalpha():
        shared.pop()
    bare = lines[:1] + [
        line[len("".join(units[: len(shared)])) :] for line, units in zip(lines[1:], split[1:], strict=True)
    ]
    return "\n".join(map(_without_author, bare))


_LONGEST_BEGINNING = 200


def _units(line: str) -> list[str]:
    """Return the units of a line: each number, each run of white space, and each other character."""
    runs = [(kind, "".join(run)) for kind, run in groupby(line, lambda char: (char.isdecimal(), char.isspace()))]
    return [unit for kind, run in runs for unit in ([run] if any(kind) else run)]


def _alike(unit: str) -> str:
    return "0" if unit.isdecimal() else " " if unit.isspace() else unit


def _without_author(line: str) -> str:
    head, _, code = line.partition(") ")
    return code if code and "(" in head and head[-1].isdecimal() else line


def of(spans: tuple[str, ...]) -> Revealed:
    """Return a finder of these texts. The last is cached, because a note is cleaned both before and after rendering."""
    if spans not in _last:
        _last.clear()
        _last[spans] = Revealed(spans)
    return _last[spans]


_last: dict[tuple[str, ...], Revealed] = {}


class Revealed:
    """Finds the private texts of one payload: whole, by line, and in the forms that the echo knows."""

    __slots__ = ("_echo", "_lines", "_values")

    def __init__(self, spans: Iterable[str]) -> None:
        spans = list(dict.fromkeys(spans))
        self._echo = echo.of(spans)
        values = {span.strip(): None for span in spans if "\n" not in span.strip()}
        lines = [line for span in spans for line in _lines(span)]
        values.update((line, None) for line in lines if len(line) >= _SHORTEST_LINE)
        self._values = [value for value in values if _is_worth(value)][:MOST]
        self._lines = frozenset(filter(_is_worth, lines))

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of private text in `text`: start and end, in any order."""
        spans = self._echo.find(text)
        for value in self._values:
            if value in text:
                spans += _places(text, value)
        return [*spans, *self._whole_lines(text)]

    def _whole_lines(self, text: str) -> Iterator[tuple[int, int]]:
        at = 0
        for line in text.split("\n"):
            bare = line.strip(_AROUND)
            if bare not in self._lines and ":" in bare:
                bare = _without_place(bare)
            if bare in self._lines:
                start = at + line.rfind(bare)
                yield start, start + len(bare)
            at += len(line) + 1


def _lines(span: str) -> list[str]:
    return [line.strip(_AROUND) for line in span.split("\n")]


def _without_place(line: str) -> str:
    """Return a line without the file name and line number that `grep` puts before it."""
    name, _, after_name = line.partition(":")
    number, colon, after = after_name.partition(":")
    if name.isdecimal():
        return after_name.strip(_AROUND)
    return after.strip(_AROUND) if colon and number.isdecimal() else after_name.strip(_AROUND)


def _is_worth(value: str) -> bool:
    bare = value.strip(_AROUND + "`*_.:;()[]{}<>")
    return len(bare) >= SHORTEST_REVEALED and any(map(str.isalnum, bare))


def _places(text: str, value: str) -> Iterator[tuple[int, int]]:
    for at, end in occurrences(text, value):
        if len(value) >= _SHORTEST_GLUED or not (_is_glued(text, at, value[0]) or _is_glued(text, end + 1, value[-1])):
            yield at, end


def _is_glued(text: str, after: int, edge: str) -> bool:
    """Whether both the character before position `after` and the `edge` of the value are letters or digits."""
    return edge.isalnum() and after > 0 and text[after - 1 : after].isalnum()
