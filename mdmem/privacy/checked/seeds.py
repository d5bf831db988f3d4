"""Seeds of wallets: 12, 15, 18, 21 or 24 words of the list that wallets share, in a line, numbered, or in a table.

The last word has a checksum, which one in sixteen sequences of twelve words of the list passes. Without it, the words
count if nothing else is on their line, or if they are numbered from 1 where the text is about a wallet.
`seed_words.txt` has the words in their order.
"""

from __future__ import annotations

import os

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Word = tuple[int, int, int]

SIZES = (12, 15, 18, 21, 24)
"""The numbers of words that a seed may have."""
_FORM = b"a" * SIZES[0]
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_ONLY_LETTERS = bytes([code if code in _LETTERS else 32 for code in range(256)])
_BETWEEN, _AROUND_NUMBER = " \t\r\n,|\"'", " \t\r\n,|\"'0123456789.:()#"
"""What may be between two words of a seed, and with a number among it."""
_MOST_BETWEEN, _MOST_OTHERS = 40, 6  # characters between two words; words of the list beside a seed
_MOST_REPEATED = 3
"""A seed with more words twice is one for tests: `abandon abandon abandon …`."""
_MAX_BYTES = 64 * 1024
_BITS = 11  # of a word's place in the list

_places: dict[str, int] = {}
"""The place of each word in the list."""


def find(text: str) -> Iterator[tuple[int, int, str]]:
    """Find seeds: start, end, kind, in ascending order."""
    listed = _words()
    low = text.lower() if text.isascii() else text.encode("ascii", "replace").decode("ascii").lower()
    run: list[Word] = []  # start, end and place in the list of each word
    at = 0
    for word in low.encode("ascii").translate(_ONLY_LETTERS).decode("ascii").split():
        at = low.index(word, at)
        place = listed.get(word, -1)
        gap = low[run[-1][1] : at] if run else ""
        if run and (place < 0 or len(gap) > _MOST_BETWEEN or not _joins(gap)):
            yield from _in_run(low, run)
            run = []
        at += len(word)
        if place >= 0:
            run.append((at - len(word), at, place))
    yield from _in_run(low, run)


def _joins(gap: str) -> bool:
    """Whether what is between two words may be between those of a seed."""
    others = gap.strip(_BETWEEN)
    return not others or (not others.strip(_AROUND_NUMBER) and any(map(str.isdecimal, others)))


def stand_in(words: list[bytes], form: bytes, *, is_numbered: bool) -> bool:
    """Whether as many of these words as a seed has are words of the list, and follow each other.

    form: a sign for each word, which is "a" if its length is that of a word of the list. is_numbered: numbers do not
    count.
    """
    if is_numbered:
        words = [word for word in words if len(word) > _LONGEST_NUMBER and not word.rstrip(b".:").isdigit()]
        form = b"a" * len(words)
    at = form.find(_FORM)
    while at >= 0:
        end = form.find(b" ", at)
        end = end if end >= 0 else len(form)
        if _are_listed(words[at:end]):
            return True
        at = form.find(_FORM, end)
    return False


def _are_listed(words: list[bytes]) -> bool:
    count = 0
    for word in words:
        count = 0 if word in _NO_WORDS else count + 1
        if count == len(_FORM):
            break
    else:
        return False  # without loading the list
    listed = _words()
    count = 0
    for word in words:
        count = count + 1 if word.rstrip(b".:|").lower().decode("ascii") in listed else 0
        if count == len(_FORM):
            return True
    return False


_LONGEST_NUMBER = 2
_NO_WORDS = frozenset((
    b"the", b"and", b"for", b"with", b"are", b"was", b"from", b"not", b"your", b"has", b"been", b"which", b"but",
    b"its", b"would", b"who", b"how", b"out", b"some", b"than", b"these", b"their", b"each", b"may", b"while",
    b"after", b"should", b"could", b"does", b"did", b"our", b"them", b"new", b"get", b"set", b"see", b"via", b"per",
    b"def", b"str", b"int", b"elif", b"none", b"import", b"args", b"var", b"const", b"null", b"usr", b"lib",
))  # fmt: skip
"""Words that are in most sentences, or in code, but not in the list."""


def _in_run(text: str, run: list[Word]) -> Iterator[tuple[int, int, str]]:
    """Find the seed in a run of words of the list. A longer run is the list, or a part of it."""
    if not min(SIZES) <= len(run) <= max(SIZES) + _MOST_OTHERS:
        return
    places = [place for _, _, place in run]
    if places == sorted(places):
        return
    for size in reversed(SIZES):
        for first in range(len(run) - size + 1):
            words = run[first : first + size]
            if len(set(places[first : first + size])) < size - _MOST_REPEATED:
                continue
            if _checks(places[first : first + size]) or _is_numbered(text, words) or _is_alone(text, words):
                yield words[0][0], words[-1][1], "mnemonic"
                return


def _checks(places: list[int]) -> bool:
    """Whether the checksum in the last bits is the beginning of the SHA-256 of the other bits."""
    number = 0
    for place in places:
        number = number << _BITS | place
    size = len(places) * _BITS // 33  # bits of the checksum, of which 32 times as many precede it
    return _sha256((number >> size).to_bytes(4 * size, "big"))[0] >> (8 - size) == number & ((1 << size) - 1)


def _sha256(data: bytes) -> bytes:
    """Return a SHA-256. `hashlib` is avoided because it loads OpenSSL."""
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256
    digest: bytes = sha256(data).digest()
    return digest


def _is_numbered(text: str, words: list[Word]) -> bool:
    """Whether each word has its number before it, `1. …`, `| 2 | …`, and a wallet is spoken of before them."""
    before = words[0][0]
    said = text[max(0, before - _REACH) : before]
    if not any(word in said for word in _OF_WALLETS):
        return False
    head = text[max(0, before - _MOST_BETWEEN) : before].rpartition("\n")[2]
    gaps = [head, *[text[last[1] : word[0]] for last, word in zip(words, words[1:], strict=False)]]  # noqa: RUF007
    return [_number(gap) for gap in gaps] == list(range(1, len(words) + 1))


_REACH = 400  # characters before the words
_OF_WALLETS = ("seed", "wallet", "mnemonic", "phrase", "recover", "restore", "write", "bitcoin", "ethereum", "ledger")


def _number(gap: str) -> int:
    """Return the last number in a text; -1 if there is none."""
    digits = "".join([char if char.isdecimal() else " " for char in gap]).split()
    return int(digits[-1]) if digits else -1


def _is_alone(text: str, words: list[Word]) -> bool:
    """Whether the words are all that is on their line, with one blank between each two, or between quotes."""
    start, end = words[0][0], words[-1][1]
    before, behind = text[max(0, start - 3) : start], text[end : end + 3]
    is_line = before.rpartition("\n")[2].strip(" \t>") == "" == behind.partition("\n")[0].strip(" \t\r.")
    is_quoted = before[-1:] in ("'", '"', "`") and before[-1:] == behind[:1]
    return (is_line or is_quoted) and all(word.isalpha() for word in text[start:end].split(" "))


def _words() -> dict[str, int]:
    """Return the place of each word in the list. Without the file, no seed is found without its name."""
    if not _places:
        try:
            path = os.path.join(os.path.dirname(__file__), "seed_words.txt")
            words = files.read_any(path, _MAX_BYTES).decode("ascii").split()
        except (OSError, UnicodeDecodeError):
            words = [""]
        _places.update({word: place for place, word in enumerate(words)})  # all at once: other threads may read it
    return _places
