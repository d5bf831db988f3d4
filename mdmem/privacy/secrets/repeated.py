"""Repeated secrets: finds a known secret where it occurs again, for example without its name, and named ones in base64.

Only distinctive values are searched for: at least eight characters, not a word or a number.
"""

from __future__ import annotations

from mdmem.privacy import encoded, secrets, views
from mdmem.privacy.secrets import tokens, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

SHORTEST, LONGEST = 8, 200
_DEEPEST = 64
MOST = 300
"""Maximum number of values to search for in one payload."""


def is_telling(value: str) -> bool:
    """Whether a value is distinctive: not a word, a name or a number."""
    if not SHORTEST <= len(value) <= LONGEST or value.isdecimal():
        return len(value) == len(_bare(value)) >= _LONG_NUMBER and len(set(value)) >= _FEWEST_DIGITS
    if _bare(value).isdecimal():
        return len(_bare(value)) >= _SHORT_NUMBER and len(set(value)) > _FEWEST_DIGITS
    if " " in value:
        words = value.split()
        is_grouped = {len(word) for word in words} == {_GROUP} and is_telling(_bare(value))
        return is_grouped or len(words) >= _WORDS_OF_SEED or (len(words) > 2 and values.phrase_at(value, 0) == value)
    if values.is_jumbled(value) or (values.is_varied(value) and not value.isalpha()):
        return True
    if value.isalpha() and value.islower() and len(value) >= _SHORTEST_OF_LETTERS:
        return value.isascii() and not tokens.reads_like_words(tokens.shape(value), value)
    if value.isalnum():
        return values.is_unlike_words(value) and not values.names_something(value)
    return not _SIGNS.isdisjoint(value) and " " not in value and any(char.isdigit() for char in value)


def _bare(value: str) -> str:
    """Return a value without the blanks and hyphens between its groups."""
    return value.replace(" ", "").replace("-", "")


_SHORTEST_OF_LETTERS = 16
_WORDS_OF_SEED = 12
_GROUP = 4
_LONG_NUMBER = 13  # digits in one piece
_SHORT_NUMBER = 9  # digits in groups
_FEWEST_DIGITS = 4  # different ones
_SIGNS = frozenset("!#$%^&*?")
"""Signs that are in passwords, but hardly in names."""


def forms(value: str) -> Iterator[str]:
    """Yield a secret as it is written, without escapes, and what it encodes in base64: `user:password`, its password.

    It is also yielded without the signs between its groups and, unless it mixes capitals and small letters, in the
    other letter case. Only distinctive values are yielded.
    """
    plain = views.unescaped(value)
    said = _from_base64(value)
    for form in (value, plain.text if plain else "", said, said.partition(":")[2]):
        if is_telling(form):
            yield form
    if value.isascii() and is_telling(value):
        joined = _bare(value)
        written = (value, joined) if joined.isalnum() and len(joined) >= SHORTEST else (value,)
        is_mixed = value not in (value.upper(), value.lower())
        others = [form for word in written for form in ((word,) if is_mixed else (word.upper(), word.lower()))]
        others += [value.replace("-", " "), value.replace(" ", "-")] if joined.isdecimal() else []
        yield from (form for form in dict.fromkeys(others) if form != value)


def _from_base64(value: str) -> str:
    """Return the text that a value encodes in base64 as a whole, or ""."""
    if len(value) <= SHORTEST or len(value) % 4 or not value.isascii():
        return ""
    from binascii import Error, a2b_base64

    try:
        said = a2b_base64(value, strict_mode=True).decode("utf-8")
    except (Error, ValueError):
        return ""
    said = said.rstrip("\n")
    return said if said.isprintable() else ""


def without_format(values: Iterable[str]) -> Iterator[str]:
    """Yield those secrets that nothing but their name or place gave away."""
    for value in values:
        if not secrets.may_hold_token(value):
            yield value
            continue
        if not any(end - start == len(value) for start, end, _ in tokens.find(value)):
            yield value


def stands_in(value: Any, known: Collection[str]) -> bool:
    """Whether any string of a JSON value, keys included, contains one of the known values, also encoded."""
    texts = dict.fromkeys(_strings(value, 0))
    every = "\0".join(texts)  # no known value has a NUL: `text.storable` replaces it
    return any(secret in every for secret in known) or any(True for text in texts for _ in find_encoded(text, known))


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > _DEEPEST:
        return
    elif isinstance(value, dict):
        for pair in value.items():
            for part in pair:
                yield from _strings(part, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, depth + 1)


def find(text: str, values: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values that are not inside a longer word: start, end, kind."""
    for at, end in secrets.occurrences(text, *_likely(text, values)):
        if not (text[at - 1 : at].isalnum() and at) and not text[end : end + 1].isalnum():
            yield at, end, "repeated-secret"


def _likely(text: str, values: Collection[str]) -> Iterable[str]:
    """Return those values that may be in a text as whole words: mostly none, which saves a search for each.

    A row of letters and digits in such a value is a row of the text as well, with no letter or digit beside it.
    """
    if len(values) < _FEW:
        return values
    by_row = _by_row(values)
    rows = dict.fromkeys(text.encode("ascii", "replace").translate(_ROWS).split())
    return [value for row in (b"", *filter(by_row.__contains__, rows)) for value in by_row[row]]


def _by_row(values: Collection[str]) -> dict[bytes, list[str]]:
    """Return values by their longest row of letters and digits. The last ones are cached, and only added to."""
    last = _last[0]
    if last[0] is not values:
        last = _last[0] = [values, 0, {b"": []}]  # another thread may replace it at any moment
    _, count, by_row = last
    if count < len(values):
        for value in list(values)[count:]:
            row = max(value.encode("ascii", "replace").translate(_ROWS).split(), key=len, default=b"")
            by_row.setdefault(row, []).append(value)
        last[1] = len(values)
    found: dict[bytes, list[str]] = by_row
    return found


def forget() -> None:
    """Forget the last values: called once a value is cleaned, because a process that goes on must not keep them."""
    _last[0] = [None, 0, {}]


_last: list[list[Any]] = [[None, 0, {}]]
_FEW = 8  # values: searching for each is as fast
_ASCII = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROWS = secrets.table(_ASCII, _ASCII)


def find_encoded(text: str, values: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values with escapes, broken over lines, and in the base64 and similar encodings of a text."""
    for view in (views.unescaped(text), views.unwrapped(text), encoded.decoded(text)):
        if view:
            for start, end, kind in find(view.text, values):
                yield *view.origin(start, end), kind


def in_base64(text: str, marks: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """Find base64 and the like of a text with a named secret, such as a file of settings."""
    escaped = views.unescaped(text) if "\\" in text and secrets.may_hold_dump(text) else None
    for view in filter(None, (encoded.decoded(text), escaped)):
        low = view.text.replace("\u0130", "I").lower()  # `text.lower`, whose module imports this one
        if secrets.may_name(low):
            from mdmem.privacy.secrets import pairs

            for start, end, kind in pairs.find(view.text, low, marks):
                yield *view.origin(start, end), kind
