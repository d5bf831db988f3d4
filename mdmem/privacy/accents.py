"""Letters and the accents behind them, put together: the same word is written in both ways."""

from __future__ import annotations

from mdmem.privacy.views import TextView


def compose(text: str) -> str:
    """Put letters and the accents behind them together, as Unicode's form C does."""
    if text.isascii() or not _has_accents(text):
        return text
    from unicodedata import normalize

    return normalize("NFC", text)


def composed(text: str) -> TextView | None:
    """Read a text as `compose` does; None where nothing in it is apart."""
    if text.isascii() or not _has_accents(text):
        return None
    from unicodedata import normalize

    view = TextView()
    begin = end = 0
    for at, char in enumerate(text):
        if at >= end and at and _is_accent(char):
            end = at + 1
            while end < len(text) and _is_accent(text[end]):
                end += 1
            view.add(text[begin : at - 1], begin, at - 1)
            view.add(normalize("NFC", text[at - 1 : end]), at - 1, end, decoded=True)
            begin = end
    view.add(text[begin:], begin, len(text))
    return view.close()


def _has_accents(text: str) -> bool:
    return any(map(_is_accent, set(text)))


def _is_accent(char: str) -> bool:
    """Whether a character only adds to the one before it: an accent, a sound mark of kana, a vowel of Korean."""
    return "\u0300" <= char <= "\u036f" or char in ("\u3099", "\u309a") or "\u1161" <= char <= "\u11ff"
