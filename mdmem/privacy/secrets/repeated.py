"""Repeated secrets: finds a known secret where it occurs again, for example without its name.

Only distinctive values are searched for: at least eight characters, not a word or a number.
"""

from __future__ import annotations

from mdmem.privacy import encoded, secrets
from mdmem.privacy.secrets import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTEST, LONGEST = 8, 200
MOST = 100
"""Maximum number of values to search for in one payload."""


def is_telling(value: str) -> bool:
    """Whether a value is distinctive: not a word, a name or a number."""
    if not SHORTEST <= len(value) <= LONGEST or value.isdecimal():
        return False
    if values.is_jumbled(value) or (values.is_varied(value) and not value.isalpha()):
        return True
    if value.isalnum():
        return values.is_unlike_words(value) and not values.names_something(value)
    return not _SIGNS.isdisjoint(value) and " " not in value and any(char.isdigit() for char in value)


_SIGNS = frozenset("!#$%^&*?")
"""Signs that are in passwords, but hardly in names."""


def without_format(values: Iterable[str]) -> Iterator[str]:
    """Yield those secrets that nothing but their name or place gave away."""
    for value in values:
        if not secrets.may_hold_token(value):
            yield value
            continue
        from mdmem.privacy.secrets import tokens

        if not any(end - start == len(value) for start, end, _ in tokens.find(value)):
            yield value


def find(text: str, values: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values that are not inside a longer word: start, end, kind."""
    for at, end in secrets.every(text, *values):
        if not (text[at - 1 : at].isalnum() and at) and not text[end : end + 1].isalnum():
            yield at, end, "repeated-secret"


def find_encoded(text: str, values: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values in the base64, hexadecimal and similar encodings of a text."""
    view = encoded.decoded(text)
    if view:
        for start, end, kind in find(view.text, values):
            yield *view.origin(start, end), kind
