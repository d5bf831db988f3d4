"""Secrets that a name gave away, found again without the name.

Only values that nothing else is called by are looked for: eight characters and more, letters and digits mixed.
"""

from __future__ import annotations

from mdmem.privacy import encoded, secrets
from mdmem.privacy.secrets import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTEST, LONGEST = 8, 200
MOST = 100
"""No more values than this are looked for in one payload."""


def is_telling(value: str) -> bool:
    """Whether a value is worth looking for: no word, no name, no number."""
    if not SHORTEST <= len(value) <= LONGEST or value.isdecimal():
        return False
    return values.is_jumbled(value) or (values.is_varied(value) and not value.isalpha())


def find(text: str, known: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values that stand alone: start, end, kind."""
    for at, end in secrets.every(text, *known):
        if not (text[at - 1 : at].isalnum() and at) and not text[end : end + 1].isalnum():
            yield at, end, "repeated-secret"


def find_encoded(text: str, known: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Find known values that a text has in base64, hexadecimal or the like."""
    view = encoded.decoded(text)
    if view:
        for start, end, kind in find(view.text, known):
            yield *view.origin(start, end), kind
