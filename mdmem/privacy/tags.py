"""The tags that people and programs put around text: reading them off a text in one pass.

Tags are read off a *shadow* of the text: as long as the text, in lower case, and with every disguise of a
tag's characters undone (full-width brackets, JSON escapes), so that positions stay good. Each occurrence of
a tag's word is then looked at from the inside out, so the cost is linear whatever the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = "private"
MARKER = "[PRIVATE]"
"""The default marker; it looks like an opening tag and is none, unless `[/PRIVATE]` closes it."""

ANGLE, BRACKET, COMMENT, SHOUT = "private-tag", "private-bracket", "private-comment", "private-shout"
"""The families of private tags; SHOUT is a bracket that looks like the marker."""

BLANK = " \t\n\r\f\v\u00a0\u2028\u2029"
_BEFORE = frozenset("<[/-" + BLANK)
_AFTER = frozenset(">]/-" + BLANK)

_DISGUISES = (
    ("＜", "<"),
    ("＞", ">"),
    ("／", "/"),
    ("［", "["),
    ("］", "]"),
)
_ESCAPES = (
    ("\\u003c", "     <"),
    ("\\u003e", ">     "),
    ("\\u002f", "     /"),
    ("\\/", " /"),
    ("\\n", "  "),
    ("\\r", "  "),
    ("\\t", "  "),
    ("\\", " "),
)


OPENS, CLOSES, EMPTY = "opens", "closes", "empty"
"""What a tag does: `<private>`, `</private>`, `<private/>`."""

Tag = tuple[int, int, str, str]
"""Start, end, family (only tags of one family pair), and what it does.

A plain tuple: of a million objects in a hostile text, the collector would visit each again and again.
"""


def shadow(low: str) -> str:
    """Undo the disguises of a tag's characters in a lower-case text, keeping every position."""
    if not low.isascii():
        for full_width, plain in _DISGUISES:
            low = low.replace(full_width, plain)
    if "\\" in low:
        for escape, plain in _ESCAPES:
            low = low.replace(escape, plain)
    return low


def private_tags(text: str, plain: str) -> Iterator[Tag]:
    """Read `<private>`, `[private]` and `<!-- private -->` and what closes them; `plain` is the text's shadow."""
    ends, starts = _Ahead(plain, ">"), _Ahead(plain, "<")
    at = plain.find(WORD)
    while at >= 0:
        end = at + len(WORD)
        if plain[at - 1 : at] in _BEFORE and (plain[end : end + 1] in _AFTER or end == len(plain)):
            tag = _read_private(text, plain, at, end, ends, starts)
            if tag is not None:
                yield tag
        at = plain.find(WORD, end)


def named_tags(text: str, plain: str, name: str) -> Iterator[Tag]:
    """Read `<name …>`, `</name …>` and `<name/>`; the name may go on behind a dash or another sign."""
    ends, starts = _Ahead(plain, ">"), _Ahead(plain, "<")
    at = plain.find(name)
    while at >= 0:
        end = at + len(name)
        opener, closing = _look_back(plain, at)
        if plain[opener : opener + 1] == "<" and not plain[end : end + 1].isalnum():
            tag = _read_angle(text, plain, opener, end, name, closing, ends, starts)
            if tag is not None:
                yield tag
        at = plain.find(name, end)


def _read_private(text: str, plain: str, at: int, end: int, ends: _Ahead, starts: _Ahead) -> Tag | None:
    opener, closing = _look_back(plain, at)
    if opener < 0:
        return None
    if plain[opener] == "<":
        if plain[end : end + 1] == "-":
            return None  # <private-note>
        return _read_angle(text, plain, opener, end, ANGLE, closing, ends, starts)
    last = _skip(plain, end)
    if plain[opener] == "[" and plain[last : last + 1] == "]":
        family = SHOUT if text[opener : last + 1] in (MARKER, "[/PRIVATE]") else BRACKET
        return opener, last + 1, family, CLOSES if closing else OPENS
    if plain[opener] == "-" and plain.startswith("--", last):
        opener, last = _comment_start(plain, opener), _comment_end(plain, last)
        if opener >= 0 and last >= 0:
            return _start(text, opener), _end(text, last), COMMENT, CLOSES if closing else OPENS
    return None


def _read_angle(
    text: str, plain: str, opener: int, end: int, family: str, closing: bool, ends: _Ahead, starts: _Ahead
) -> Tag | None:
    last = ends.after(end)
    if last == len(plain):  # the text was cut inside the tag
        cut = closing and last - end < 64 and not plain[end:].strip()
        return (_start(text, opener), last, family, CLOSES) if cut else None
    if starts.after(end) < last:
        return None  # another tag opens before this one ends
    does = CLOSES if closing else EMPTY if plain[end:last].rstrip(BLANK).endswith("/") else OPENS
    return _start(text, opener), _end(text, last), family, does


def _look_back(plain: str, at: int) -> tuple[int, bool]:
    """Go back from a word over blanks and one slash: what stands before is where, and was there a slash?"""
    at = _skip_back(plain, at)
    if at < 0 or plain[at] != "/":
        return at, False
    return _skip_back(plain, at), True


def _skip_back(plain: str, at: int) -> int:
    at -= 1
    while at >= 0 and plain[at] in BLANK:
        at -= 1
    return at


def _skip(plain: str, at: int) -> int:
    while at < len(plain) and plain[at] in BLANK:
        at += 1
    return at


def _comment_start(plain: str, dash: int) -> int:
    """Find the `<` of the `<!--` whose last dash is at `dash`, or -1."""
    first = dash
    while first > 0 and plain[first - 1] == "-":
        first -= 1
    opens = dash > first and first >= 2 and plain[first - 2 : first] == "<!"
    return first - 2 if opens else -1


def _comment_end(plain: str, dash: int) -> int:
    """Find the `>` of the `-->` whose first dash is at `dash`, or -1."""
    while plain[dash : dash + 1] == "-":
        dash += 1
    return dash if plain[dash : dash + 1] == ">" else -1


def _start(text: str, opener: int) -> int:
    """Where a tag begins in the text: at the backslashes, if its `<` was written as an escape."""
    if text[opener] not in "cC":
        return opener
    opener -= len("\\u003")
    while opener > 0 and text[opener - 1] == "\\":
        opener -= 1
    return opener


def _end(text: str, last: int) -> int:
    """Where a tag ends in the text, whose `>` (perhaps written as an escape) is at `last`."""
    return last + (len("\\u003e") if text[last] == "\\" else 1)


class _Ahead:
    """The next place of a character, asked for at rising positions: linear in all, however often it is asked."""

    __slots__ = ("_at", "_character", "_text")

    def __init__(self, text: str, character: str) -> None:
        self._text = text
        self._character = character
        self._at = -1

    def after(self, start: int) -> int:
        """Find it at or after `start`; the text's length when there is none."""
        if self._at < start:
            at = self._text.find(self._character, start)
            self._at = at if at >= 0 else len(self._text)
        return self._at
