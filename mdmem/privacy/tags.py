"""The tags that people and programs put around text: reading them off a text in one pass.

Tags are read off a *shadow* of the text (`disguises`): as long as the text, in lower case, and with every disguise of
a tag's characters undone, so that positions stay good. Each occurrence of a tag's word is then looked at from the
inside out, so the cost is linear whatever the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WORD = "private"
"""The word that always makes a tag; `privacy.tags` adds others."""

MARKER = "[PRIVATE]"
"""The default marker; it looks like an opening tag and is none, unless `[/PRIVATE]` closes it."""

ANGLE, BRACKET, COMMENT, SHOUT, OTHER = "-tag", "-bracket", "-comment", "-shout", "-in-"
"""The families of private tags, behind the word; SHOUT is a bracket that looks like the marker.

Behind OTHER stand the signs of `OTHERS` around the word. These mean other things as well: such a tag counts in a pair.
"""

OTHERS = {"{": "}", "(": ")", "«": "»", "‹": "›", "《": "》", "「": "」", "『": "』", "≪": "≫"}
"""Further brackets and quotation marks that people put around the word."""

MAX_WORDS = 20
_MAX_WORD_CHARS = 40

BLANK = " \t\n\r\f\v\u00a0\u2028\u2029"
_BEFORE = frozenset(["<", "[", "/", "-", ":", *BLANK, *OTHERS])
_AFTER = frozenset([">", "]", "/", "-", "!", "?", "=", ",", ";", *BLANK, *OTHERS.values()])

OPENS, CLOSES, EMPTY = "opens", "closes", "empty"
"""What a tag does: `<private>`, `</private>`, `<private/>`."""

Tag = tuple[int, int, str, str]
"""Start, end, family (only tags of one family pair), and what it does.

A plain tuple: of a million objects in a hostile text, the collector would visit each again and again.
"""

Section = tuple[int, int, int, int, str]
"""A part to be taken out: start and end with its tags, start and end of what they enclose, and the rule."""


def words(given: Iterable[str]) -> tuple[str, ...]:
    """Return the words that make tags: `private`, and of those in the settings what a tag can hold."""
    found = dict.fromkeys([WORD, *(word.strip(" <>[]/!").lower() for word in given)])
    good = [word for word in found if 2 <= len(word) <= _MAX_WORD_CHARS and set(word) <= _WORD_SIGNS]
    return tuple(good[:MAX_WORDS])


_WORD_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def private_tags(text: str, plain: str, words: tuple[str, ...]) -> Iterable[Tag]:
    """Read `<private>`, `[private]` and `<!-- private -->` and what closes them; `plain` is the text's shadow."""
    found = [_word_tags(text, plain, word) for word in words if word in plain]
    return found[0] if len(found) == 1 else sorted(tag for tags in found for tag in tags)


def _word_tags(text: str, plain: str, word: str) -> Iterator[Tag]:
    ends, starts = _Ahead(plain, ">"), _Ahead(plain, "<")
    at = plain.find(word)
    while at >= 0:
        end = at + len(word)
        if plain[at - 1 : at] in _BEFORE and (plain[end : end + 1] in _AFTER or end == len(plain)):
            tag = _read_private(text, plain, at, end, ends, starts)
            if tag is not None:
                yield tag
        at = plain.find(word, end)


def unknown(low: str, words: tuple[str, ...]) -> Iterator[str]:
    """Yield what looks like a private tag and is none, such as `<private-note>` and `<private:x>`."""
    for word in words:
        at = low.find(f"<{word}")
        while at >= 0:
            end = at + 1 + len(word)
            name = low[at + 1 : end + _MAX_WORD_CHARS].partition(">")[0].split(None, 1)[0]
            if low[end : end + 1] in _NAME_GOES_ON and name.strip("-_.:") != word and name not in words:
                yield name
            at = low.find(f"<{word}", end)


_NAME_GOES_ON = ("-", "_", ":", ".")


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
    word = plain[at:end]
    opener, closing = _look_back(plain, at)
    if opener < 0:
        return None
    if plain[opener] == "<":
        if plain[end : end + 1] == "-":
            return None  # <private-note>
        return _read_angle(text, plain, opener, end, word + ANGLE, closing, ends, starts)
    last = _skip(plain, end)
    if plain[opener] == "[" and plain[last : last + 1] == "]":
        family = word + (SHOUT if text[opener : last + 1].replace("\\", "") in (MARKER, "[/PRIVATE]") else BRACKET)
        return _start(text, plain, opener), _end(text, plain, last), family, CLOSES if closing else OPENS
    if plain[last : last + 1] == OTHERS.get(plain[opener]):
        family = word + OTHER + plain[opener] + plain[last]
        return _start(text, plain, opener), _end(text, plain, last), family, CLOSES if closing else OPENS
    if plain[opener] == "-" and plain.startswith("--", last):
        opener, last = _comment_start(plain, opener), _comment_end(plain, last)
        if opener >= 0 and last >= 0:
            return _start(text, plain, opener), _end(text, plain, last), word + COMMENT, CLOSES if closing else OPENS
    return None


def _read_angle(
    text: str, plain: str, opener: int, end: int, family: str, closing: bool, ends: _Ahead, starts: _Ahead
) -> Tag | None:
    last = ends.after(end)
    if last == len(plain):  # the text was cut inside the tag
        cut = closing and last - end < 64 and not plain[end:].strip()
        return (_start(text, plain, opener), last, family, CLOSES) if cut else None
    if starts.after(end) < last:
        return None  # another tag opens before this one ends
    does = CLOSES if closing else EMPTY if plain[end:last].rstrip(BLANK).endswith("/") else OPENS
    return _start(text, plain, opener), _end(text, plain, last), family, does


def _look_back(plain: str, at: int) -> tuple[int, bool]:
    """Go back from a word over blanks and one slash: what stands before is where, and was there a slash?"""
    at = _skip_back(plain, at)
    if at > 0 and plain[at] == ":":
        at = _before_prefix(plain, at)
    if at < 0 or plain[at] != "/":
        return at, False
    return _skip_back(plain, at), True


def _before_prefix(plain: str, colon: int) -> int:
    """Return where the bracket or slash stands before a namespace, as in `<x:private>`; -1 where there is none."""
    name = plain[max(0, colon - _MAX_WORD_CHARS) : colon]
    at = colon - 1 - len(name) + len(name.rstrip("abcdefghijklmnopqrstuvwxyz0123456789-_."))
    return at if at < colon - 1 and plain[at : at + 1] in ("<", "/") else -1


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


def is_other(tag: Tag) -> bool:
    """Whether a tag stands in signs of `OTHERS`."""
    return tag[2][-2:-1] in OTHERS


def _start(text: str, plain: str, opener: int) -> int:
    """Return where a tag begins in the text: where its bracket was written as an escape, before that."""
    if text[opener] in "<[＜［":
        return opener
    while opener > 0 and plain[opener - 1] == " " and text[opener] not in _ESCAPING and text[opener - 1] not in BLANK:
        opener -= 1
    while opener > 0 and text[opener - 1] == "\\":
        opener -= 1
    return opener


def _end(text: str, plain: str, last: int) -> int:
    """Return where a tag ends in the text, whose closing bracket (perhaps written as an escape) is at `last`."""
    end = last + 1
    if text[last] not in ">]＞］":
        while plain[end : end + 1] == " " and text[end] not in _ESCAPING and text[end] not in BLANK:
            end += 1
    return end


_ESCAPING = frozenset("\\%&=\x1b")
"""What escapes begin with."""


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
