r"""Disguised names: names of secrets with look-alike, invisible or escaped letters, in plain letters.

Examples are `pаssword` with a Cyrillic а, `𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝`, `pass<U+200D>word`, `\u0070assword` and `p%61ssword`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    DisguisedLetter = tuple[int, int, str]
    """Start, end, and the plain letter, or "" for an invisible sign."""

_ASCII_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_LETTERS = frozenset(_ASCII_WORD)
_HEX = frozenset("0123456789abcdefABCDEF")
_LONGEST_PART = 64
"""Maximum number of letters on either side of a disguised one that are read as one name with it."""
_HYPHENS = "\u2010\u2011"
_FIRST_ACCENTED, _LAST_ACCENTED = "\u00c0", "\u024f"
"""Accented Latin letters, with which other languages write their own words."""


def undone(text: str, is_name: Callable[[str], bool]) -> str:
    """Return a text with its disguised words in plain letters, after underscores; every offset stays valid.

    is_name: whether such a word, in lower case, is one. A text without any is returned itself.
    """
    units = sorted([*_alike(text), *_escaped(text)])
    parts: list[str] = []
    at = done = 0
    while at < len(units):
        begin, end, name, at = _word_at(text, units, at, done)
        if is_name(name.lower()):
            parts += (text[done:begin], name.rjust(end - begin, "_"))
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def _word_at(text: str, units: list[DisguisedLetter], at: int, done: int) -> tuple[int, int, str, int]:
    """Return the word with the unit at this index: start, end, plain letters, and the index of the next unit."""
    start, end, letter = units[at]
    head = text[max(done, start - _LONGEST_PART) : start]
    begin = start - len(head) + len(head.rstrip(_ASCII_WORD))
    name = [text[begin:start], letter]
    while True:
        at += 1
        tail = text[end : end + _LONGEST_PART]
        size = len(tail) - len(tail.lstrip(_ASCII_WORD))
        if at < len(units):
            size = min(size, max(0, units[at][0] - end))  # the hyphen or "u" of an escape does not belong to it
        name.append(tail[:size])
        end += size
        if at == len(units) or units[at][0] != end:
            return begin, end, "".join(name), at
        end = units[at][1]
        name.append(units[at][2])


def _alike(text: str) -> Iterator[DisguisedLetter]:
    """Yield the look-alikes and invisible signs of a text in words with letters of ASCII, or that look so."""
    forms = _forms(text)
    if not forms:
        return
    kinds = text.translate({ord(char): _kind(char, forms.get(char)) for char in set(text)})
    done = 0
    for at, end in sorted((at, at + len(sign)) for sign in _MIXED for at in _places(kinds, sign)):
        if at >= done:
            head, tail = kinds[max(done, at - _LONGEST_PART) : at], kinds[end : end + _LONGEST_PART]
            begin = at - len(head) + len(head.rstrip(_IN_WORDS))
            done = end + len(tail) - len(tail.lstrip(_IN_WORDS))
            units = [(place, forms.get(text[place])) for place in range(begin, done)]
            yield from ((place, place + 1, form) for place, form in units if form is not None)


def _kind(char: str, form: str | None) -> str:
    if form is None:
        return "a" if char in _LETTERS else " "
    return "l" if form in _UNSTYLED or char < _FIRST_STYLED else "s"


_MIXED = ("al", "la", "s")
_IN_WORDS = "als"
_UNSTYLED = ("", "-")
_FIRST_STYLED = "\u1d00"
"""Here the phonetic letters begin. Those before it are of other scripts, whose words look like none in English."""


def _forms(text: str) -> dict[str, str]:
    """Return what the letters of a text look like: an ASCII letter, a hyphen or, if one is invisible, ""."""
    if text.isascii():
        return {}
    from mdmem.privacy import disguises  # rarely needed: few texts have such a letter in a word

    return {char: form for char in disguises.beyond_ascii(text) if (form := _form(char, disguises.look)) is not None}


def _form(char: str, look: Callable[[str], str]) -> str | None:
    if char in _HYPHENS:
        return "-"
    form = "" if _FIRST_ACCENTED <= char <= _LAST_ACCENTED else look(char) or look(char.lower())
    if form == " ":
        from unicodedata import category

        return "" if category(char) in ("Cf", "Mn") else None
    return None if not form.isalnum() else form.upper() if char.isupper() else form


def _escaped(text: str) -> Iterator[DisguisedLetter]:
    """Yield the escapes of letters in a text, with all backslashes before them."""
    for sign, closing in _ESCAPES:
        for at in _places(text, sign):
            end = at + len(sign)
            stop = text.find(closing, end, end + _LONGEST_CODE) if closing else end + 2
            digits = text[end:stop] if stop > 0 else ""
            is_hex = sign != "&#" and bool(digits) and _HEX.issuperset(digits)
            code = int(digits, 16) if is_hex else int(digits) if digits.isdecimal() and digits.isascii() else 0
            if chr(code if code < _ASCII_END else 0) in _LETTERS:
                while sign[0] == "\\" == text[at - 1 : at]:
                    at -= 1
                yield at, stop + len(closing), chr(code)


_ESCAPES = (("\\u00", ""), ("\\x", ""), ("\\u{", "}"), ("%", ""), ("&#x", ";"), ("&#X", ";"), ("&#", ";"))
"""What precedes the number of a letter, and what follows it, unless it has two digits."""
_LONGEST_CODE = 8
_ASCII_END = 128


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))
