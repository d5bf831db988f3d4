"""Other ways to write the same letters: accents apart from them, and forms of full and half width."""

from __future__ import annotations

from mdmem.privacy.views import TextView


def compose(text: str) -> str:
    """Put letters and the accents behind them together, and forms of another width into their usual one."""
    if text.isascii():
        return text
    found = composed(text)
    return found.text if found else text


def composed(text: str) -> TextView | None:
    """Read a text as `compose` does; None where nothing in it is written in another way."""
    if text.isascii() or not any(map(_is_variant, set(text))):
        return None
    from unicodedata import normalize

    view = TextView()
    begin = end = 0
    for at, char in enumerate(text):
        if at < end or not _is_variant(char):
            continue
        start = at - 1 if _is_accent(char) and at > begin else at
        end = at + 1
        while end < len(text) and _is_accent(text[end]):
            end += 1
        view.add(text[begin:start], begin, start)
        letters = text[start:end]
        view.add(normalize("NFKC" if any(map(_is_wide, letters)) else "NFC", letters), start, end, decoded=True)
        begin = end
    view.add(text[begin:], begin, len(text))
    return view.close()


def _is_variant(char: str) -> bool:
    return _is_accent(char) or _is_wide(char)


def _is_wide(char: str) -> bool:
    """Whether a character is a form of full or half width."""
    return "\uff01" <= char <= "\uffee"


def _is_accent(char: str) -> bool:
    """Whether a character only adds to the one before it: an accent, a sound mark of kana, a vowel of Korean."""
    return (
        "\u0300" <= char <= "\u036f" or char in ("\u3099", "\u309a", "\uff9e", "\uff9f") or "\u1161" <= char <= "\u11ff"
    )
