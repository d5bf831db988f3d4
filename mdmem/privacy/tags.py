"""The tags that people and programs put around text: reading them off a text in one pass.

Tags are read off a *shadow* of the text: as long as the text, in lower case, and with every disguise of a
tag's characters undone (other alphabets, JSON escapes), so that positions stay good. Each occurrence of
a tag's word is then looked at from the inside out, so the cost is linear whatever the text.
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
_BEFORE = frozenset(["<", "[", "/", "-", *BLANK, *OTHERS])
_AFTER = frozenset([">", "]", "/", "-", *BLANK, *OTHERS.values()])

_ESCAPES = (
    ("\\u003c", "     <"),
    ("\\u003e", ">     "),
    ("\\u002f", "     /"),
    ("\\u005b", "     ["),
    ("\\u005d", "]     "),
    ("\\x3c", "   <"),
    ("\\x3e", ">   "),
    ("\\x2f", "   /"),
    ("\\x5b", "   ["),
    ("\\x5d", "]   "),
    ("\\u{3c}", "     <"),
    ("\\u{3e}", ">     "),
    ("\\u{2f}", "     /"),
    ("\\074", "   <"),
    ("\\076", ">   "),
    ("\\057", "   /"),
    ("\\/", " /"),
    ("\\n", " \n"),
    ("\\r", "  "),
    ("\\t", "  "),
    ("\\", " "),
)
_PERCENT = (
    ("%253c", "    <"),
    ("%253e", ">    "),
    ("%252f", "    /"),
    ("%3c", "  <"),
    ("%3e", ">  "),
    ("%2f", "  /"),
    ("%5b", "  ["),
    ("%5d", "]  "),
    ("%20", "   "),
)
"""An escape and what stands for it in the shadow: the sign, at the side where the tag is, and blanks."""

_OPENING = frozenset(escape for escape, plain in (*_ESCAPES, *_PERCENT) if plain[-1:] in ("<", "["))
_CLOSING = frozenset(escape for escape, plain in (*_ESCAPES, *_PERCENT) if plain[:1] in (">", "]"))
_SIZES = (6, 5, 4, 3)

OPENS, CLOSES, EMPTY = "opens", "closes", "empty"
"""What a tag does: `<private>`, `</private>`, `<private/>`."""

Tag = tuple[int, int, str, str]
"""Start, end, family (only tags of one family pair), and what it does.

A plain tuple: of a million objects in a hostile text, the collector would visit each again and again.
"""

Section = tuple[int, int, int, int, str]
"""A part to be taken out: start and end with its tags, start and end of what they enclose, and the rule."""


def shadow(low: str) -> str:
    """Undo the disguises of a tag's characters in a lower-case text, keeping every position."""
    if not low.isascii():
        low = in_ascii(low)
    for sign, escapes in (("\\", _ESCAPES), ("%", _PERCENT)):
        if sign in low:
            for escape, plain in escapes:
                low = low.replace(escape, plain)
    return low


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
        return _start(text, opener), _end(text, last), family, CLOSES if closing else OPENS
    if plain[last : last + 1] == OTHERS.get(plain[opener]):
        family = word + OTHER + plain[opener] + plain[last]
        return _start(text, opener), _end(text, last), family, CLOSES if closing else OPENS
    if plain[opener] == "-" and plain.startswith("--", last):
        opener, last = _comment_start(plain, opener), _comment_end(plain, last)
        if opener >= 0 and last >= 0:
            return _start(text, opener), _end(text, last), word + COMMENT, CLOSES if closing else OPENS
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


def is_other(tag: Tag) -> bool:
    """Whether a tag stands in signs of `OTHERS`."""
    return tag[2][-2:-1] in OTHERS


def _start(text: str, opener: int) -> int:
    """Return where a tag begins in the text: before the backslashes, if its bracket was written as an escape."""
    if text[opener] in "<[＜［":
        return opener
    for size in _SIZES:
        if text[opener + 1 - size : opener + 1].lower() in _OPENING:
            opener -= size - 1
            break
    while opener > 0 and text[opener - 1] == "\\":
        opener -= 1
    return opener


def _end(text: str, last: int) -> int:
    """Return where a tag ends in the text, whose closing bracket (perhaps written as an escape) is at `last`."""
    if text[last] in "\\%":
        for size in _SIZES:
            if text[last : last + size].lower() in _CLOSING:
                return last + size
    return last + 1


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


# -- what looks like a letter or a sign of ASCII

_ALIKE = dict(
    zip(
        "авгеикмнопрстухіјѕһԁԛԝѵӏαβγεηικνορτυχωոսհօյցզᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɩɡ"
        "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓℎℬℰℱℋℐℒℳℛℯℊℴℭℌℑℜℨℂℍℕℙℚℝℤℹⅆⅇⅈⅉ"
        "áàâäãåçéèêëíìîïñóòôöõúùûüý【〔〖〘〚⟦❲⁅】〕〗〙〛⟧❳⁆⟨〈〈❬❮❰⧼﹤⟩〉〉❭❯❱⧽﹥∕⁄⧸╱",
        "abreukmhonpctyxijshdqwvlabyenikvoptuxwnuhojgqabcdefghijklmnoprstuvwyziig"
        "abcdefghijklmnoprstuvwxyzaehijklmnoprstuvxhbefhilmregochirzchnpqrzideij"
        "aaaaaaceeeeiiiinooooouuuuy[[[[[[[[]]]]]]]]<<<<<<<<>>>>>>>>////",
        strict=True,
    )
)
"""Lower-case letters, and signs, that look like one of ASCII."""

_ALPHABETS = (
    (0xFF01, 0xFF5E, 94, "!"),
    (0x249C, 0x24B5, 26, "a"),
    (0x24B6, 0x24E9, 26, "a"),
    (0x1D400, 0x1D6A3, 26, "a"),
    (0x1F110, 0x1F129, 26, "a"),
    (0x1F130, 0x1F149, 26, "a"),
    (0x1F150, 0x1F169, 26, "a"),
    (0x1F170, 0x1F189, 26, "a"),
    (0x1F1E6, 0x1F1FF, 26, "a"),
)
"""The full-width forms, and alphabets in brackets, circles, squares and flags, and of mathematics: first and last
place, how many signs there are before they begin again, and what the first looks like."""

_UNSEEN = (
    (0xAD, 0xAD), (0x300, 0x36F), (0x483, 0x489), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x20D0, 0x20FF),
    (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB),
    (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Characters that take no place on the screen, or only strike through the one before them."""


def in_ascii(low: str) -> str:
    """Return a lower-case text in which what looks like ASCII is ASCII, and a blank stands for what nobody sees.

    Every character keeps its place.
    """
    forms = {ord(char): form for char in _beyond_ascii(low) if (form := _looks.get(char) or _look(char))}
    return low.translate(forms) if forms else low


def bare(low: str) -> str:
    """Return the same text without the characters that nobody sees.

    The last text's is kept: each step of cleaning asks for it again.
    """
    if low not in _last:
        _last.clear()
        _last[low] = _without_unseen(low)
    return _last[low]


_last: dict[str, str] = {}


def _without_unseen(low: str) -> str:
    forms: dict[int, str] = {}
    for char in _beyond_ascii(low):
        form = _looks.get(char) or _look(char)
        if form == " ":
            low = low.replace(char, "")
        elif form:
            forms[ord(char)] = form
    return low.translate(forms) if forms else low


def is_seen(char: str) -> bool:
    """Whether a character takes place on the screen."""
    return char < "\x80" or _look(char) != " "


def _beyond_ascii(text: str) -> set[str]:
    return set(text.encode("utf-8", "ignore").translate(None, _ASCII).decode())


_ASCII = bytes(range(128))


def _look(char: str) -> str:
    """Return the one character of ASCII that a character looks like, a blank for one that nobody sees; "" if none."""
    form = _looks.get(char)
    if form is None:
        form = _looks[char] = _look_up(ord(char))
    return form


_looks = dict(_ALIKE)


def _look_up(code: int) -> str:
    if 0x3165 <= code < 0xFE00:
        return ""  # Chinese and Korean
    for first, last in _UNSEEN:
        if first <= code <= last:
            return " "
    for first, last, size, sign in _ALPHABETS:
        if first <= code <= last:
            return chr(ord(sign) + (code - first) % size).lower()
    return ""
