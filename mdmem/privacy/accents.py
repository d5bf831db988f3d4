"""Other ways to write the same letters: accents apart from them, and forms of full and half width."""

from __future__ import annotations


def compose(text: str) -> str:
    """Return a text with letters and their accents in one, and forms of another width as their usual ones."""
    if text.isascii() or not any(_is_accent(char) or _is_wide(char) for char in set(text)):
        return text
    from unicodedata import normalize

    return normalize("NFC", "".join([normalize("NFKC", char) if _is_wide(char) else char for char in text]))


def _is_wide(char: str) -> bool:
    """Whether a character is a form of full or half width."""
    return "\uff01" <= char <= "\uffee"


def _is_accent(char: str) -> bool:
    """Whether a character only adds to the one before it: an accent, a sound mark of kana, a vowel of Korean."""
    return (
        "\u0300" <= char <= "\u036f" or char in ("\u3099", "\u309a", "\uff9e", "\uff9f") or "\u1161" <= char <= "\u11ff"
    )
