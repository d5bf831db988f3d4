"""Slugs: the readable part of a file or folder name, safe on every file system."""

from __future__ import annotations

_LOOKAHEAD_CHARS = 1024  # a prompt may be megabytes; its first words name it

# Windows forbids these names, with any extension. The superscripts are in Microsoft's list.
RESERVED = frozenset(["con", "prn", "aux", "nul"] + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"])

# Letters by category that are invisible: a name of only these would look empty.
_INVISIBLE = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def slug(text: str, limit: int = 40) -> str:
    """Return a name for `text`: lower-case letters and digits of any script, joined by single dashes.

    It has at most `limit` characters and twice as many UTF-8 bytes, is cut between words if that loses less than
    half, is NFC, and never contains a separator, dot or space or equals a reserved Windows name. "" when nothing
    is left. `slug(slug(x)) == slug(x)`.
    """
    start = text.lstrip()[:_LOOKAHEAD_CHARS]
    letters = _ascii(start.lower()) if start.isascii() else _any_script(start)
    name = _cut("-".join(letters.split()), limit)
    return _cut(f"x-{name}", limit) if name in RESERVED else name


def _ascii(text: str) -> str:
    return "".join([c if c.isalnum() else " " for c in text])


def _any_script(text: str) -> str:
    """Return `text` in lower case, with a space for each character that is not a letter, digit or part of one."""
    import unicodedata  # imported here: it loads a shared library, and names are mostly ASCII

    characters: list[str] = []
    for c in unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower()):
        if c in _INVISIBLE or unicodedata.category(c) == "Cf" or _selects_a_variant(c):
            continue  # joiners and direction marks are inside words: no dash
        is_mark = unicodedata.category(c) in ("Mn", "Mc")
        belongs = c.isalnum() or (is_mark and bool(characters) and characters[-1] != " ")
        characters.append(c if belongs else " ")
    return unicodedata.normalize("NFC", "".join(characters))


def _selects_a_variant(c: str) -> bool:
    return "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef"


def _cut(name: str, limit: int) -> str:
    short = name[:limit].encode()[: 2 * limit].decode(errors="ignore")
    if short != name and name[len(short)] != "-":
        whole_words, dash, _ = short.rpartition("-")
        if dash and 2 * len(whole_words) >= len(short):
            short = whole_words
    return short.strip("-")
