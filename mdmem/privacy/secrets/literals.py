"""Literals: reads a value in quotes, in escaped quotes, as a YAML block, or bare, up to its end."""

from __future__ import annotations

QUOTES = frozenset("\"'`")
BLANK = " \t"

_PREFIXES = "bBrRuUfFlLN@$"
_STRING_STARTS = QUOTES | frozenset(_PREFIXES + "\\")
_CURLED = {"„": "“", "“": "”", "«": "»", "»": "«", "‘": "’", "‚": "‘", "「": "」"}
_STOPS = "\"'`<>\\"
_NEXT_PAIR = "&;,"
_SAMPLE = 160
"""Only this many characters of a bare value are read at first. `bare_end` reads the rest if it is a secret."""
LONGEST_QUOTED = 16 * 1024
PROSE = frozenset(
    "and or with without needs need the is are was a an of to your my no has have via by using plus for in on".split()  # noqa: SIM905
)
"""Function words, which do not occur in commands or settings files."""


class Literal:
    """A value as written, from `start` to `end` without its quotes.

    template: it is a string with placeholders, like f"{user}:{host}", or has several lines.
    """

    __slots__ = ("end", "quoted", "start", "template", "text")

    def __init__(self, text: str, start: int, end: int, *, quoted: bool, template: bool = False) -> None:
        self.text = text[start : min(end, start + LONGEST_QUOTED)]
        self.start = start
        self.end = end
        self.quoted = quoted
        self.template = template


def read(text: str, at: int, *, whole_word: bool) -> Literal | None:
    """Return the value at `at`; None if there is none on this line.

    whole_word: a bare value ends only at white space, even if it contains quotes, as in a `.env` file.
    """
    first = text[at : at + 1]
    if first in _STRING_STARTS:
        opening = _opening(text, at)
        if opening:
            return _quoted(text, at, opening)
    elif first in _CURLED and (end := text.find(_CURLED[first], at, at + _SAMPLE)) > 0:
        inner = text[at + 1 : end]
        return Literal(text, end - len(inner.lstrip()), at + 1 + len(inner.rstrip()), quoted=True)
    elif text[at - 2 : at] == "={" and (end := _brace_end(text, at)) > 0:
        return Literal(text, at, end, quoted=True)  # PWD={…}
    elif first in ("|", ">"):
        block = _block_start(text, at)
        if block:
            return Literal(text, block, line_end(text, block), quoted=True)
    if first == "<" and whole_word:
        blank = text[at : at + 64].partition("\n")[0].partition(">")
        if blank[1]:
            return Literal(text, at, at + len(blank[0]) + 1, quoted=False)  # <AWS secret key here>
    word = bare_word(text, at, whole_word=whole_word)
    return Literal(text, at, at + len(word), quoted=False) if word else None


def bare_word(text: str, at: int, *, whole_word: bool) -> str:
    """Return the start of a bare value, up to white space, a quote, an angle bracket or the next pair."""
    words = text[at : at + _SAMPLE].split(None, 1)
    if not words or text[at].isspace():
        return ""
    word = words[0]
    if word.isalnum():
        return word
    if not whole_word:
        for stop in _STOPS:
            if stop in word:
                word = word.partition(stop)[0]
        label, closing, _ = word.partition("](")
        if closing and "[" not in label:  # the end of a Markdown link's label
            word = label
    if "=" in word:
        for sign in _NEXT_PAIR:
            value, separator, following = word.partition(sign)
            if separator and "=" in following:
                word = value
    return word


def bare_end(text: str, end: int, *, whole_word: bool) -> int:
    """Return the end of a bare value that was read up to `end` and is to be masked."""
    while end < len(text) and not text[end].isspace() and text[end] not in _NEXT_PAIR:
        word = bare_word(text, end, whole_word=whole_word)
        if not word:
            break
        end += len(word)
    return end


def closes_call(text: str, at: int) -> bool:
    """Whether a string literal begins at `at` and is the last argument of its call."""
    if text[at : at + 1] not in ("'", '"', "\\") or text.find(")", at, at + 256) < 0:
        return False
    literal = read(text, at, whole_word=False)
    return literal is not None and ")" in text[literal.end + 1 : literal.end + 4].partition(",")[0]


def line_end(text: str, at: int) -> int:
    """Return the end of the line, or of the longest possible value (`LONGEST_QUOTED`)."""
    limit = at + LONGEST_QUOTED
    end = text.find("\n", at, limit)
    return end if end >= 0 else min(limit, len(text))


def skip_blank(text: str, at: int) -> int:
    """Return the offset after up to 64 blanks and tabs."""
    if text[at : at + 1] not in (" ", "\t"):
        return at
    ahead = text[at : at + 64]
    return at + len(ahead) - len(ahead.lstrip(BLANK))


def _opening(text: str, at: int) -> str:
    """Return the opening of a string literal, or "": quotes, escaped or with a prefix (b"…", rb'…', @"…") or not."""
    ahead = text[at : at + 12]
    quotes = ahead.lstrip(_PREFIXES if ahead[0] != "\\" else "\\")
    if not quotes or quotes[0] not in QUOTES or len(ahead) - len(quotes) > 8:
        return ""
    return ahead[: len(ahead) - len(quotes) + (3 if quotes.startswith((quotes[0] * 3,)) else 1)]


def _quoted(text: str, at: int, opening: str) -> Literal:
    mark = opening.lstrip(_PREFIXES)
    start = at + len(opening)
    end = _closing(text, start, mark)
    inner = text[start:end]
    is_filled = "{" in inner and opening[0] in "fF$rR" and opening[:2].lower() != "rb"
    template = is_filled or "${" in inner or "{{" in inner or "\n" in inner.strip()  # several lines are prose
    return Literal(text, start, end, quoted=True, template=template)


def _closing(text: str, start: int, mark: str) -> int:
    """Return the offset of a string's closing quotes; an unclosed string ends with its line."""
    limit = start + LONGEST_QUOTED
    end = text.find(mark, start, limit)
    while end > start and (is_escaped(text, start, end) or (mark == "'" and text.startswith("''", end))):
        end = text.find(mark, end + len(mark) + (text[end] != "\\" and text.startswith("''", end)), limit)
    if mark in ('"""', "'''", "`") and end >= 0:
        return end
    line = text.find("\n", start, end if end >= 0 else limit)
    if line >= 0:
        return line
    return end if end >= 0 else min(limit, len(text))


def is_escaped(text: str, start: int, end: int) -> bool:
    """Whether the character at `end` is escaped by a backslash, in a string that begins at `start`."""
    before = text[max(start, end - 64) : end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _brace_end(text: str, at: int) -> int:
    """Return the offset of the closing brace of a value, in which `}}` is an escaped brace; -1 if there is none."""
    end = text.find("}", at, at + _SAMPLE)
    while end >= 0 and text.startswith("}}", end):
        end = text.find("}", end + 2, at + _SAMPLE)
    return end


def _block_start(text: str, at: int) -> int:
    """Return the start of the text of a YAML block (`key: |`) whose sign is at `at`; 0 if there is none."""
    head = text[at : at + 8].partition("\n")
    if not head[1] or head[0].strip("|>+-0123456789 \t\r"):
        return 0
    at += len(head[0]) + 1
    return skip_blank(text, at)
