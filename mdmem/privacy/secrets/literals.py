"""How a value is written: in quotes, escaped quotes, as a block of YAML, or bare; and where it ends."""

from __future__ import annotations

QUOTES = frozenset("\"'`")
BLANK = " \t"

_PREFIXES = "bBrRuUfFlLN@$"
_STRING_STARTS = QUOTES | frozenset(_PREFIXES + "\\")
_CURLED = {"„": "“", "“": "”", "«": "»", "»": "«", "‘": "’", "‚": "‘", "「": "」"}
_STOPS = "\"'`<>\\"
_NEXT_PAIR = "&;,"
_SAMPLE = 160
"""A bare value is read by this many characters first, and to its end only if it is to be hidden."""
LONGEST_QUOTED = 16 * 1024
PROSE = frozenset(
    "and or with without needs need the is are was a an of to your my no has have via by using plus for in on".split()  # noqa: SIM905
)
"""Small words, which stand in no line of a command or a settings file."""


class Literal:
    """A value as it is written: `start` to `end` without its quotes.

    template: a string that something is put into, like f"{user}:{host}".
    """

    __slots__ = ("end", "quoted", "start", "template", "text")

    def __init__(self, text: str, start: int, end: int, *, quoted: bool, template: bool = False) -> None:
        self.text = text[start : min(end, start + LONGEST_QUOTED)]
        self.start = start
        self.end = end
        self.quoted = quoted
        self.template = template


def read(text: str, at: int, *, whole_word: bool) -> Literal | None:
    """Read the value that begins at `at`; None when there is none on this line.

    whole_word: a bare value reaches to the next white space, whatever quotes are in it, as in a `.env` file.
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
    """Read the first characters of a bare value: to white space, a quote, an angle bracket, or the next pair."""
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
        if closing and "[" not in label:  # the label of a Markdown link ends
            word = label
    if "=" in word:
        for sign in _NEXT_PAIR:
            value, found, rest = word.partition(sign)
            if found and "=" in rest:
                word = value
    return word


def bare_end(text: str, end: int, *, whole_word: bool) -> int:
    """Return where a bare value ends that is to be hidden and was read up to `end` so far."""
    while end < len(text) and not text[end].isspace() and text[end] not in _NEXT_PAIR:
        word = bare_word(text, end, whole_word=whole_word)
        if not word:
            break
        end += len(word)
    return end


def closes_call(text: str, at: int) -> bool:
    """Whether a string literal begins here, and the call is over behind it."""
    if text[at : at + 1] not in ("'", '"', "\\") or text.find(")", at, at + 256) < 0:
        return False
    literal = read(text, at, whole_word=False)
    return literal is not None and ")" in text[literal.end + 1 : literal.end + 4].partition(",")[0]


def line_end(text: str, at: int) -> int:
    """Return where the line ends, or where it has become too long to be a value."""
    limit = at + LONGEST_QUOTED
    end = text.find("\n", at, limit)
    return end if end >= 0 else min(limit, len(text))


def skip_blank(text: str, at: int) -> int:
    """Skip blanks and tabs, at most 64 of them."""
    if text[at : at + 1] not in (" ", "\t"):
        return at
    ahead = text[at : at + 64]
    return at + len(ahead) - len(ahead.lstrip(BLANK))


def _opening(text: str, at: int) -> str:
    """Read what opens a string literal: quotes, perhaps escaped, perhaps behind letters (b"…", rb'…', @"…")."""
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
    template = is_filled or "${" in inner or "{{" in inner or "\n" in inner.strip()  # several lines are a text
    return Literal(text, start, end, quoted=True, template=template)


def _closing(text: str, start: int, mark: str) -> int:
    """Find the quotes that close a string; without any, it ends with its line."""
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
    """Whether the sign at `end` has a backslash before it, in a string that begins at `start`."""
    before = text[max(start, end - 64) : end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _brace_end(text: str, at: int) -> int:
    """Return where the brace is that closes a value, in which two stand for one; -1 without any."""
    end = text.find("}", at, at + _SAMPLE)
    while end >= 0 and text.startswith("}}", end):
        end = text.find("}", end + 2, at + _SAMPLE)
    return end


def _block_start(text: str, at: int) -> int:
    """Return where the text of a YAML block (`key: |`) begins that is announced at `at`; 0 if none is."""
    head = text[at : at + 8].partition("\n")
    if not head[1] or head[0].strip("|>+-0123456789 \t\r"):
        return 0
    at += len(head[0]) + 1
    return skip_blank(text, at)
