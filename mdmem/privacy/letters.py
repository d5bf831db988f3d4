"""A text by its letters and digits alone: in lower case, without accents, and with nothing between them.

What is written wrapped, quoted, glued, in snake case, with blanks between its letters or with invisible characters
inside has the same letters in the same order. Where they stand in the text is only worked out where it is asked for.
"""

from __future__ import annotations

from mdmem.privacy.text import lower

ANYWHERE = 0
"""A part that is recognized wherever it stands, also glued to other characters."""

WORD = 1
"""A part that is recognized only as a word of its own, or several."""

NUMBER = 2
"""A part that is recognized where no further digit stands beside it."""

_RARE_LETTER = "\ufffd"
_RARE_SIGN = "\ufffc"
"""What stands for letters and signs that need more than one unit of UTF-16."""

_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


class Letters:
    """The letters and digits of one text, and where in the text each of them stands."""

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
        """Return where a part of the letters stands in the text."""
        if not self._places:
            forms = self._forms
            if forms:
                self._places = [at for at, char in enumerate(self._source) for _ in forms[ord(char)]]
            else:
                self._places = [at for at, char in enumerate(self._source) if char.isalnum()]
        return self._places[start], self._places[end - 1] + 1


def of(text: str) -> str:
    """Return the letters and digits of a text."""
    return Letters(text).text


def is_hardly(char: str) -> bool:
    """Whether a character is invisible, or only adds to the letter before it."""
    from unicodedata import category

    return category(char) in ("Cf", "Mn")


def _form(char: str) -> str:
    """Return what a character is among letters: one or more in lower case and of 16 bits each, or nothing."""
    if not char.isalnum():
        return char if char == _RARE_LETTER else ""
    if char < "\x80" or "\u0530" <= char < "\u1e00" or "\u3400" <= char <= "\u9fff":
        return char.lower()  # nothing is made of others in these scripts
    from unicodedata import normalize

    if char == "ß":
        return "ss"  # which it becomes in capitals
    signs = [sign for sign in normalize("NFKD", char).lower() if sign.isalnum()]
    return "".join([sign if sign <= "\uffff" else _RARE_LETTER for sign in signs])


def fold(text: str) -> str:
    """Return a text in lower case, every character at its place, and one unit of UTF-16 for each character."""
    low = lower(text)
    if low.isascii() or max(low) <= "\uffff":
        return low
    return "".join([char if char <= "\uffff" else _one_unit(char) for char in low])


def _one_unit(char: str) -> str:
    """Return what stands for a character of more than 16 bits, which is a letter where that is one."""
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
    """Whether words in the script of a character stand beside each other, or before a particle, without a blank."""
    return is_cjk(char) or is_hangul(char)
