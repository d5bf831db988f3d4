"""Tags: finds the tags that people and programs put around text, in one pass.

The parser reads a *shadow* of the text (`disguises`): of the same length, in lower case, with all disguises of tag
characters undone, so that offsets are valid in both. From each occurrence of a tag word, it looks outward for the
brackets. The cost is linear, whatever the text.
"""

from __future__ import annotations

from mdmem.privacy.secrets import SIGN_CODES, has_sign, occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WORD = "private"
"""The word that always makes a tag; the setting `privacy.tags` adds others."""

MARKER = "[PRIVATE]"
"""The default marker. It looks like an opening tag, but is one only if `[/PRIVATE]` closes it."""

ANGLE, BRACKET, COMMENT, SHOUT, OTHER = "-tag", "-bracket", "-comment", "-shout", "-in-"
"""Suffixes of the word that name the families of private tags. SHOUT is a bracket that looks like the marker.

OTHER is followed by the two signs of `OTHERS` around the word. They are common in other uses, so such a tag counts
only in a pair, with few exceptions.
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
"""Start, end, family (only tags of the same family pair), and what the tag does.

A plain tuple, because the garbage collector would visit a million objects of a hostile text again and again.
"""

PrivateSection = tuple[int, int, int, int, str]
"""A span to remove: start and end including its tags, start and end of the text inside, and the rule."""


def words(configured: Iterable[str]) -> tuple[str, ...]:
    """Return the tag words: `private`, and those of the settings that are valid in a tag."""
    distinct = dict.fromkeys([WORD, *map(bare, configured)])
    return tuple([word for word in distinct if word][:MAX_WORDS])


def bare(configured: str) -> str:
    """Return a word of the settings as it is in a tag; "" if it is not valid in one."""
    word = configured.strip(" <>[]/!").lower()
    return word if 2 <= len(word) <= _MAX_WORD_CHARS and set(word) <= _WORD_SIGNS else ""


_WORD_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def private_tags(text: str, plain: str, words: tuple[str, ...]) -> Iterable[Tag]:
    """Return opening and closing `<private>`, `[private]` and `<!-- private -->`. `plain` is the text's shadow."""
    tags_by_word = [_word_tags(text, plain, word) for word in words if word in plain]
    return tags_by_word[0] if len(tags_by_word) == 1 else sorted(tag for tags in tags_by_word for tag in tags)


def _word_tags(text: str, plain: str, word: str) -> Iterator[Tag]:
    ends, starts = _Ahead(plain, ">"), _Ahead(plain, "<")
    for at, end in occurrences(plain, word):
        if plain[at - 1 : at] in _BEFORE and (plain[end : end + 1] in _AFTER or end == len(plain)):
            tag = _read_private(text, plain, at, end, ends, starts)
            if tag is not None:
                yield tag


def unknown(low: str, words: tuple[str, ...]) -> Iterator[str]:
    """Yield what looks like a private tag but is none: `<private-note>`, `<private:x>`, `<!-- begin private -->`."""
    for word in words:
        for at, end in occurrences(low, f"<{word}"):
            name = low[at + 1 : end + _MAX_WORD_CHARS].partition(">")[0].split(None, 1)[0]
            if low[end : end + 1] in _NAME_GOES_ON and name.strip("-_.:") != word and name not in words:
                yield name
    for _, at in occurrences(low, "<!--"):
        inside, dashes, _ = low[at : at + _MAX_WORD_CHARS].partition("--")
        said = inside.translate(_NO_SIGNS).split()
        if dashes and len(said) == len(_LIMITS.intersection(said)) + 1 == 2 and not set(words).isdisjoint(said):
            yield f"!--{inside}--"


_LIMITS = frozenset(("begin", "start", "end", "stop", "on", "off"))
"""Words with which people mark the ends of a part, beside its name."""
_NO_SIGNS = dict.fromkeys(map(ord, ":-_=/"), " ")
_NAME_GOES_ON = ("-", "_", ":", ".")


def named_tags(text: str, plain: str, name: str) -> Iterator[Tag]:
    """Yield `<name …>`, `</name …>` and `<name/>`. After a dash or another sign, the name may continue."""
    ends, starts = _Ahead(plain, ">"), _Ahead(plain, "<")
    for at, end in occurrences(plain, name):
        opener, closing = _look_back(plain, at)
        if plain[opener : opener + 1] == "<" and not plain[end : end + 1].isalnum():
            tag = _read_angle(text, plain, opener, end, name, closing, ends, starts)
            if tag is not None:
                yield tag


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
    """Skip back over blanks and one slash; return the offset of the sign before (-1: none), and if there is a slash."""
    at = _skip_back(plain, at)
    if at > 0 and plain[at] == ":":
        at = _before_prefix(plain, at)
    if at < 0 or plain[at] != "/":
        return at, False
    return _skip_back(plain, at), True


def _before_prefix(plain: str, colon: int) -> int:
    """Return the offset of the bracket or slash before a namespace, as in `<x:private>`; -1 if there is none."""
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
    """Return the offset of the `<` of the `<!--` whose last dash is at `dash`, or -1."""
    first = dash
    while first > 0 and plain[first - 1] == "-":
        first -= 1
    opens = dash > first and first >= 2 and plain[first - 2 : first] == "<!"
    return first - 2 if opens else -1


def _comment_end(plain: str, dash: int) -> int:
    """Return the offset of the `>` of the `-->` whose first dash is at `dash`, or -1."""
    while plain[dash : dash + 1] == "-":
        dash += 1
    return dash if plain[dash : dash + 1] == ">" else -1


def is_other(tag: Tag) -> bool:
    """Whether a tag has signs of `OTHERS` around its word."""
    return tag[2][-2:-1] in OTHERS


def _start(text: str, plain: str, opener: int) -> int:
    """Return where a tag begins in the text: at its bracket, or at the escape that encodes the bracket."""
    if text[opener] in "<[＜［":
        return opener
    while opener > 0 and plain[opener - 1] == " " and text[opener] not in _ESCAPING and text[opener - 1] not in BLANK:
        opener -= 1
    while opener > 0 and text[opener - 1] == "\\":
        opener -= 1
    return opener


def _end(text: str, plain: str, last: int) -> int:
    """Return where a tag ends in the text, whose closing bracket, or the escape that encodes it, is at `last`."""
    end = last + 1
    if text[last] not in ">]＞］":
        while plain[end : end + 1] == " " and text[end] not in _ESCAPING and text[end] not in BLANK:
            end += 1
    return end


_ESCAPING = frozenset("\\%&=\x1b")
"""Characters that begin an escape."""


class _Ahead:
    """Finds the next occurrence of a character from ascending positions. Linear in total, for any number of calls."""

    __slots__ = ("_at", "_character", "_text")

    def __init__(self, text: str, character: str) -> None:
        self._text = text
        self._character = character
        self._at = -1

    def after(self, start: int) -> int:
        """Return its offset at or after `start`; the text's length if there is none."""
        if self._at < start:
            at = self._text.find(self._character, start)
            self._at = at if at >= 0 else len(self._text)
        return self._at


# -- escaped characters beyond ASCII


def with_decoded_signs(low: str) -> str:
    """Return a lower-case text with escaped characters beyond ASCII decoded; every offset stays valid."""
    if not has_sign(low, (), SIGN_CODES):
        return low
    from mdmem.privacy import disguises  # rarely needed, as are the readers

    return disguises.cached(_with_decoded_signs, low)


def _with_decoded_signs(low: str) -> str:
    from mdmem.privacy import views

    for form, sign in _AGAIN:
        low = low.replace(form, sign.rjust(len(form)))
    parts: list[str] = []
    done = end = 0
    for at in sorted(at for _, signs in SIGN_CODES for at, _ in occurrences(low, *signs)):
        start, mark = _nested(low, at)
        if start < end:
            continue  # a row of bytes was decoded as a whole
        read = views.READERS.get(low[at])
        end, decoded = (views.row_of_bytes(low, start, mark) if mark else read and read(low, at)) or (at, "")
        if not decoded.isascii():
            parts += (low[done:start], _padded(decoded, end - start))
            done = end
    return "".join([*parts, low[done:]])


_AGAIN = (("&amp;amp;#", "&#"), ("&amp;#", "&#"), ("&#38;#", "&#"), ("%5cu", "\\u"), ("\\u0000", "\\u"))
"""Beginnings of escapes that are escaped again or have more digits, and what they are read as."""


def _nested(low: str, at: int) -> tuple[int, str]:
    r"""Return the start and the mark of bytes that were escaped again: `%25e3`, `\\xe3`. Of others, the mark is "".

    Bytes of a mail begin with the line break before them, if there is one: it may be anywhere.
    """
    again = "25" if low[at] == "2" else "\\"
    start = at
    if low[at] == "=":
        while low.endswith(("=\n", "=\r\n"), 0, start):
            start = low.rindex("=", 0, start)
        return start, "="
    while low[at] in "2\\" and low.endswith(again, 0, start):
        start -= len(again)
    if low[at] == "2":
        return (start - 1, low[start - 1 : at + 2]) if low.endswith("%", 0, start) else (at, "")
    sign = low[at + 1]
    return (start, low[start : at + 1] + sign.strip("3")) if start < at and sign in "x3" else (at, "")


def _padded(decoded: str, size: int) -> str:
    """Return characters that were escaped in `size` others, each at the place of its own escape.

    An opening bracket is at the beginning of that and a closing one at the end, so that a tag includes all of it.
    """
    from mdmem.privacy import disguises

    size_of_byte, rest = divmod(size, len(decoded.encode()))
    opens = (*OTHERS, "<", "[")
    widths = [size // len(decoded) if rest else size_of_byte * len(sign.encode()) for sign in decoded]
    padded = [
        sign.ljust(width) if sign in opens or disguises.look(sign) in opens else sign.rjust(width)
        for sign, width in zip(decoded, widths, strict=True)
    ]
    return "".join(padded).ljust(size)
