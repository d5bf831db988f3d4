"""Letters: a text reduced to its letters and digits, in lower case and without accents.

A part that is wrapped, quoted, glued, in snake case, spaced out or mixed with invisible characters keeps the same
letters in the same order. Their offsets in the text are computed only on request.
"""

from __future__ import annotations

from mdmem.privacy.text import lower

ANYWHERE = 0
"""Where a part counts: anywhere, also glued to other characters."""

WORD = 1
"""Where a part counts: only as a separate word, or several."""

NUMBER = 2
"""Where a part counts: only without another digit next to it."""

LOCAL_NUMBER = 9
"""Number of digits at the end of a phone number that identify it, whatever is before them."""

_THOUSAND = 3

_RARE_LETTER = "\ufffd"
_RARE_SIGN = "\ufffc"
"""Replacements for letters and signs that need more than one UTF-16 unit."""

_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


class Letters:
    """The letters and digits of a text, and the offset of each in the text."""

    __slots__ = ("_forms", "_places", "_source", "text")

    def __init__(self, source: str) -> None:
        self._source = source
        self._places: list[int] = []
        self._forms: dict[int, str] = {}
        if source.isascii():
            self.text = source.lower().encode().translate(None, _ASCII_SIGNS).decode()
        else:
            self._forms = {ord(char): _form(char) for char in set(source)}
            self.text = source.translate(self._forms)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the text for a span of the letters."""
        if not self._places:
            forms = self._forms
            if forms:
                self._places = [at for at, char in enumerate(self._source) for _ in forms[ord(char)]]
            else:
                self._places = [at for at, char in enumerate(self._source) if char.isalnum()]
        return self._places[start], self._places[end - 1] + 1


def is_amount(groups: list[str]) -> bool:
    """Whether groups of digits are one number, separated at its thousands: `187 500`."""
    first, *others = groups
    return (
        first.isdecimal()
        and len(first) <= _THOUSAND
        and all(len(group) == _THOUSAND and group.isdecimal() for group in others)
    )


def of(text: str) -> str:
    """Return a text's letters and digits."""
    return Letters(text).text


def is_hardly(char: str) -> bool:
    """Whether a character is invisible, or a mark on the letter before it."""
    from unicodedata import category

    return category(char) in ("Cf", "Mn")


def _form(char: str) -> str:
    """Return a character as lower-case letters of 16 bits each: one or several, or none for a sign."""
    if not char.isalnum():
        return char if char == _RARE_LETTER else ""
    if char < "\x80" or "\u0530" <= char < "\u1e00" or "\u3400" <= char <= "\u9fff":
        return char.lower()  # these scripts have nothing to decompose
    from unicodedata import normalize

    if char == "ß":
        return "ss"  # its form in capitals
    signs = [sign for sign in normalize("NFKD", char).lower() if sign.isalnum()]
    return "".join([sign if sign <= "\uffff" else _RARE_LETTER for sign in signs])


def fold(text: str) -> str:
    """Return a text in lower case, with one UTF-16 unit for each character; every offset stays valid."""
    low = lower(text)
    if low.isascii() or max(low) <= "\uffff":
        return low
    return "".join([char if char <= "\uffff" else _one_unit(char) for char in low])


def _one_unit(char: str) -> str:
    """Return one 16-bit character for a wider one, and a letter for a letter."""
    form = _form(char)
    return form if len(form) == 1 else _RARE_LETTER if form else _RARE_SIGN


# -- scripts without blanks between words


def is_cjk(char: str) -> bool:
    """Whether a character is Chinese or Japanese."""
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def is_hangul(char: str) -> bool:
    """Whether a character is a Korean syllable."""
    return "\uac00" <= char <= "\ud7a3"


def is_boundless(char: str) -> bool:
    """Whether a character's script joins words, or words and particles, without a blank."""
    return is_cjk(char) or is_hangul(char)
