"""Disguises: undoes other ways to write a tag's characters, without moving any character.

The disguises are characters that look like ASCII, escapes (of JSON, URLs, HTML and mail), terminal colors, and words
that are wrapped over lines or spelled out. The *shadow* of a text has the plain character in place of each, padded
with blanks to the same length.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SIGNS = {"<": "3c", ">": "3e", "/": "2f", "[": "5b", "]": "5d"}
"""The punctuation of tags, with its code in hexadecimal."""

_BACKSLASH = (
    *[(form.format(code), sign) for sign, code in _SIGNS.items() for form in (
        "\\u00{}", "\\x{}", "\\u{{{}}}", "\\u{{00{}}}", "\\0000{}",
    )],
    ("\\074", "<"), ("\\076", ">"), ("\\057", "/"), ("\\133", "["), ("\\135", "]"),
    ("\\74", "<"), ("\\76", ">"), ("\\57", "/"), ("\\3c ", "<"), ("\\3e ", ">"),
    ("\\u001b", "\x1b"), ("\\x1b", "\x1b"), ("\\033", "\x1b"), ("\\e[", "\x1b["),
    ("\\/", "/"), ("\\n", "\n"), ("\\r", " "), ("\\t", " "), ("\\", " "),
)  # fmt: skip
_PERCENT = (
    ("%2525", "%25"), ("%2525", "%25"),  # twice: each undoes one more encoding
    *[(f"{mark}{code}", sign) for sign, code in _SIGNS.items() for mark in ("%25", "%u00", "%")], ("%20", " "),
)  # fmt: skip
_PRINTABLE = (*[(f"={code}", sign) for sign, code in _SIGNS.items()], ("=20", " "))
_ENTITY = tuple(
    (form.format(code if "x" in form else int(code, 16)), sign) for sign, code in _SIGNS.items() for form in (
        "&#{};", "&#0{};", "&#00{};", "&#x{};", "&#x0{};", "&#x00{};", "&#{}", "&#x{}",
    )
)  # fmt: skip
_ESCAPES = (("\\", _BACKSLASH), ("%", _PERCENT), ("=", _PRINTABLE), ("&#", _ENTITY))
"""A sign that every text with such escapes contains -> the escapes, each with its character."""

_ESCAPED = ("3c", "5b", "&#", "amp;#", "074", "\\74")
"""Every text with an escaped opening bracket contains one of these."""
_CLOSING = (">", "]")


def shadow(low: str, words: Iterable[str] = ()) -> str:
    """Return a lower-case text with the disguises of tag characters undone; every offset stays valid.

    words: the tag words, which are joined where they are wrapped or spelled out. Escapes that are escaped again are
    read before (`tags.with_decoded_signs`).
    """
    if not low.isascii():
        low = in_ascii(low)
    if any(sign in low for sign in _ESCAPED):
        low = _spelled_out(low, words)
    for sign, escapes in _ESCAPES:
        if sign in low:
            for escape, plain in escapes:
                if escape in low:
                    at_end = plain not in _CLOSING
                    low = low.replace(escape, plain.rjust(len(escape)) if at_end else plain.ljust(len(escape)))
    if "^[[" in low:  # as `cat -v` shows it
        low = low.replace("^[[", " \x1b[")
    if "\x1b" in low:
        low = _uncolored(low)
    if "\b" in low:  # manual pages overprint bold characters
        *before, last_part = low.split("\b")
        low = "".join([*[f"{part[:-1]}  "[: len(part) + 1] for part in before], last_part])
    for word in words:
        if _letters_alone(low).count(_letters_alone(word)) > low.count(word):
            low = _put_together(low, word)
    return low


def _spelled_out(low: str, words: Iterable[str]) -> str:
    """Return a lower-case text with escaped letters of these words decoded."""
    for letter in set("".join(words)):
        code = ord(letter)
        for form in (f"\\u00{code:x}", f"\\x{code:x}", f"%{code:x}", f"={code:x}", f"&#{code};", f"&#x{code:x};"):
            low = low.replace(form, letter.rjust(len(form)))
    return low


def _letters_alone(low: str) -> str:
    """Return only the ASCII letters of a lower-case text."""
    return low.encode("ascii", "ignore").translate(None, _NO_LETTERS).decode()


_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def _uncolored(low: str) -> str:
    """Return a text with blanks in place of terminal color codes and link addresses."""
    start, *pieces = low.split("\x1b")
    return start + "".join([" " * (1 + (size := color_chars(piece))) + piece[size:] for piece in pieces])


def color_chars(piece: str) -> int:
    """Return how many characters after an escape character belong to the terminal code, not to the text."""
    if piece[:1] == "]":
        return piece.find("\a") + 1 or len(piece)
    return min(len(piece), len(piece) - len(piece.lstrip("[(0123456789;:?")) + 1)


def _put_together(low: str, word: str) -> str:
    """Return a text in which a word that is wrapped over lines, or spelled with gaps, is joined."""
    import re  # rarely needed: few texts have such a word

    pattern = _GAP.join([sign for sign in word if sign.isalnum()])
    return re.sub(pattern, lambda match: word.ljust(len(match[0])) if len(match[0]) > len(word) else match[0], low)


_GAP = r"""[\s\x00-\x1f\x7f"'+*_=|-]{0,200}(?:\n[^\n<\[a-z]{0,40})?"""
"""A gap between two letters of a word: blanks, quotes, and the prefix of a line."""


# -- characters that look like ASCII

_looks = dict(
    zip(
        "авгеикмнопрстухіјѕһԁԛԝѵӏαβγεηικνορτυχωոսհօյցզᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɩɡ"
        "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓℎℬℰℱℋℐℒℳℛℯℊℴℭℌℑℜℨℂℍℕℙℚℝℤℹⅆⅇⅈⅉ"
        "áàâäãåçéèêëíìîïñóòôöõúùûüý【〔〖〘〚⟦❲⁅】〕〗〙〛⟧❳⁆⟨〈〈❬❮❰⧼﹤⟩〉〉❭❯❱⧽﹥∕⁄⧸╱│┃║┆┊╎▏▕↵⏎↩",
        "abreukmhonpctyxijshdqwvlabyenikvoptuxwnuhojgqabcdefghijklmnoprstuvwyziig"
        "abcdefghijklmnoprstuvwxyzaehijklmnoprstuvxhbefhilmregochirzchnpqrzideij"
        "aaaaaaceeeeiiiinooooouuuuy[[[[[[[[]]]]]]]]<<<<<<<<>>>>>>>>////|||||||||||",
        strict=True,
    )
)
"""Lower-case letters and signs that look like an ASCII character; others are added as they are looked up."""

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
"""Full-width forms, and the alphabets in brackets, circles, squares and flags, and of mathematics: first and last code
point, the length of the alphabet before it repeats, and what the first character looks like."""

_UNSEEN = (
    (0x80, 0xA0), (0xAD, 0xAD), (0x300, 0x36F), (0x483, 0x489), (0x61C, 0x61C), (0x115F, 0x1160), (0x1680, 0x1680),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x2000, 0x200F), (0x2028, 0x202F),
    (0x205F, 0x206F), (0x20D0, 0x20FF), (0x3000, 0x3000), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFD), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Code points of characters that are invisible or blank, or only strike through the character before them."""


def in_ascii(low: str) -> str:
    """Return a lower-case text with look-alikes replaced by ASCII, and invisible characters by blanks.

    Every offset stays valid.
    """
    forms = {ord(char): form for char in beyond_ascii(low) if (form := _looks.get(char) or look(char))}
    return low.translate(forms) if forms else low


def visible_ascii(low: str) -> str:
    """Return the same as `in_ascii`, but without the invisible characters."""
    return cached(_without_unseen, low)


def cached(function: Callable[[str], str], low: str) -> str:
    """Return the result of a function. The last one is kept, because each step of cleaning asks for it again."""
    text, result = _last.get(function, ("", ""))
    if text != low:
        result = function(low)
        _last[function] = low, result
    return result


_last: dict[Callable[[str], str], tuple[str, str]] = {}
forget = _last.clear  # called once a value is cleaned: a process that goes on must not keep its secrets


def _without_unseen(low: str) -> str:
    forms = {ord(char): form.strip() for char in beyond_ascii(low) if (form := _looks.get(char) or look(char))}
    if any(forms.values()) or len(forms) > _FEW:
        return low.translate(forms)
    for code in forms:  # faster
        low = low.replace(chr(code), "")
    return low


_FEW = 10


def beyond_ascii(text: str) -> set[str]:
    """Return the characters of a text that are not ASCII."""
    return set(text.encode("utf-8", "ignore").translate(None, _ASCII).decode())


_ASCII = bytes(range(128))


def look(char: str) -> str:
    """Return the ASCII character that a character looks like, " " for an invisible one, or ""."""
    form = _looks.get(char)
    if form is None:
        form = _looks[char] = _look_up(ord(char))
    return form


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
