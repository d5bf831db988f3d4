"""What private sections of a payload said, found again in the rest of the same payload."""

from __future__ import annotations

from mdmem.privacy import echo
from mdmem.privacy.text import SHORTEST_REVEALED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHORTEST_LINE = 12
"""A line of a longer section counts in the middle of another line from this many characters on."""

_SHORTEST_GLUED = 8
"""A value of this many characters is found between letters as well."""

MOST = 100
"""No more values than this are looked for in the middle of lines; the others count as whole lines."""

_AROUND = " \t+-\"',"  # what a diff and a JSON list put around a line


def of(spans: tuple[str, ...]) -> Revealed:
    """Return what finds these texts: a note is cleaned before it is put together and after."""
    if spans not in _last:
        _last.clear()
        _last[spans] = Revealed(spans)
    return _last[spans]


_last: dict[tuple[str, ...], Revealed] = {}


class Revealed:
    """The private texts of one payload: whole, by line, and by the forms that the echo knows."""

    __slots__ = ("_echo", "_lines", "_values")

    def __init__(self, spans: Iterable[str]) -> None:
        spans = list(dict.fromkeys(spans))
        self._echo = echo.of(spans)
        found = {span.strip(): None for span in spans if "\n" not in span.strip()}
        lines = [line for span in spans for line in _lines(span)]
        found.update((line, None) for line in lines if len(line) >= _SHORTEST_LINE)
        self._values = [value for value in found if _is_worth(value)][:MOST]
        self._lines = frozenset(filter(_is_worth, lines))

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where a private text stands in `text`: start and end, in any order."""
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
    r"""Return the lines of a private text, also of one that is written as JSON, with `\n` between them."""
    lines = [line.strip(_AROUND) for line in span.replace("\\n", "\n").split("\n")]
    return [*lines, *[line for line in map(_without_number, lines) if line]]


def _without_number(line: str) -> str:
    """Return a line without the number that `grep -n`, `cat -n` and agents put before it; "" where there is none."""
    rest = line.lstrip("0123456789")
    return rest[1:].strip(_AROUND) if rest != line and rest[:1] in _NUMBER_ENDS else ""


def _without_place(line: str) -> str:
    """Return a line without the file and the number that `grep` puts before it, if it has them."""
    name, _, rest = line.partition(":")
    number, colon, after = rest.partition(":")
    if name.isdecimal():
        return rest.strip(_AROUND)
    return after.strip(_AROUND) if colon and number.isdecimal() else rest.strip(_AROUND)


_NUMBER_ENDS = frozenset(":-\t→|")


def _is_worth(value: str) -> bool:
    bare = value.strip(_AROUND + "`*_.:;()[]{}<>")
    return len(bare) >= SHORTEST_REVEALED and any(map(str.isalnum, bare))


def _places(text: str, value: str) -> Iterator[tuple[int, int]]:
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if len(value) >= _SHORTEST_GLUED or not (_is_glued(text, at, value[0]) or _is_glued(text, end + 1, value[-1])):
            yield at, end
        at = text.find(value, end)


def _is_glued(text: str, after: int, edge: str) -> bool:
    """Whether a letter or digit stands before position `after`, beside an edge that is one as well."""
    return edge.isalnum() and after > 0 and text[after - 1 : after].isalnum()
