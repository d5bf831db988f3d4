"""Passwords in groups of four, as app passwords are shown: `abcd efgh ijkl mnop`, `EsTz 4kWm 1qXv …`.

There are four groups of lower-case letters, or four or more of letters and digits, separated by any kind of blank, even
an invisible one, or by a hyphen.
"""

from __future__ import annotations

from mdmem.privacy.secrets.tokens import reads_like_words, shape, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name, Span

_GROUP, _FEWEST, _LETTERS, _MOST_LETTERS = 4, 4, 16, 64  # of a group; groups; letters
_BEFORE = " :=\"'`*(“„”«‘\u00a0\u202f"
_AFTER = frozenset(("", "\n", "\r", '"', "'", "`", "“", "”", "»", "’"))
_BETWEEN = " -\u00a0\u00ad\u2007\u2009\u2010\u2011\u200b\u200c\u202f\u2060\ufeff"


def of_four(name: Name, at: int) -> list[Span]:
    """Find such groups after a name."""
    text = name.text
    ahead = text[at : at + 2 * _GROUP * _FEWEST]
    following = ahead.lstrip(_BEFORE).removeprefix("is ").lstrip(_BEFORE)
    start = at + len(ahead) - len(following)
    end, letters = _groups(text, start)
    is_closed = text[end : end + 1] in _AFTER
    is_value = is_closed and (text[name.sign : name.sign + 1] in (":", "=") or text[start - 1] in _AFTER)
    if letters.islower() and letters.isalpha():
        is_secret = len(letters) == _LETTERS and (is_value or not reads_like_words(shape(letters), letters))
    else:
        is_secret = len(letters) >= _LETTERS and turns(shape(letters)) >= _LEAST_TURNS * len(letters)
    return [(start, end, name.kind)] if is_secret else []


def _groups(text: str, start: int) -> tuple[int, str]:
    """Return the end of the groups of four at `start`, and their characters, or "" if a word continues after them."""
    end, letters = start, ""
    while len(letters) < _MOST_LETTERS:
        ahead = text[end : end + _MOST_BLANKS] if letters else ""
        begin = end + len(ahead) - len(ahead.lstrip(_BETWEEN))
        group = text[begin : begin + _GROUP]
        if len(group) < _GROUP or not (group.isalnum() and group.isascii()) or (letters and begin == end):
            break
        letters, end = letters + group, begin + _GROUP
    return (end, letters) if not text[end : end + 1].isalnum() else (end, "")


def near(name: Name) -> list[Span]:
    """Find four groups of lower-case letters before the name, further after it, or on the next line."""
    begin = max(0, name.start - _NEAR)
    around = name.text[begin : name.closed + _NEAR].translate(_APART)
    words = around.split()
    is_group = bytes([len(word) == _GROUP for word in words])
    number = is_group.find(_GROUPS)
    while number >= 0:
        letters = "".join(words[number : number + _FEWEST])
        try:
            is_random = _are_random[letters]
        except KeyError:
            is_random = _is_random(letters)
        if is_random:
            start = begin + _offset(around, words, number)
            end, whole = _groups(name.text, start)
            if whole == letters:
                return [(start, end, name.kind)]
        number = is_group.find(_GROUPS, number + 1)
    return []


def _offset(text: str, words: list[str], number: int) -> int:
    """Return the offset of a word, by its number, in the text that was split into these words."""
    place = 0
    for word in words[:number]:
        place = text.index(word, place) + len(word)
    return text.index(words[number], place)


def _is_random(letters: str) -> bool:
    """Whether four groups are of small letters, and unlike words; cached, as names that are close have the same around.

    Another thread may clear the cache at any moment.
    """
    if len(_are_random) >= _MOST_JUDGED:
        _are_random.clear()
    is_lower = letters.islower() and letters.isalpha()
    is_random = is_lower and not reads_like_words(shape(letters), letters)
    _are_random[letters] = is_random
    return is_random


_GROUPS = b"\1" * _FEWEST
_are_random: dict[str, bool] = {}
forget = _are_random.clear  # called once a value is cleaned: a process that goes on must not keep its secrets
_MOST_JUDGED = 512
_APART = dict.fromkeys(map(ord, _BEFORE + _BETWEEN + "\n\r\t),.;”»’"), " ")
_NEAR = 80  # characters before and after a name
_MOST_BLANKS, _LEAST_TURNS = 3, 0.25  # between two groups; changes per character
