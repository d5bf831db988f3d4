"""Limits on how much of one text is examined.

No honest text has more tags or secrets than this. A text that has is hidden whole, so that cleaning takes seconds at
most, whatever the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    Item = TypeVar("Item")

MOST_TAGS = 100_000
"""Maximum number of private tags, or of tags around memories."""

MOST_NAMES = 50_000
"""Maximum number of names of secrets, and of words in command lines, that are judged."""

MOST_SECRETS = 50_000

MOST_RANDOM = 80_000
"""Maximum number of random-looking words that are judged by their characters and context."""


class FloodError(Exception):
    """A text exceeds one of the limits."""


def counted(items: Iterable[Item], most: int) -> Iterator[Item]:
    """Yield the items.

    Raises:
        FloodError: there are more than `most`.
    """
    for number, item in enumerate(items):
        if number == most:
            raise FloodError
        yield item


def spans_of(spans_by_scanner: Iterable[Iterable[tuple[int, int, str]]], size: int) -> list[tuple[int, int, str]]:
    """Return the secrets that several scanners find in a text of this size; the whole text if there are too many."""
    try:
        return list(counted((span for spans in spans_by_scanner for span in spans), MOST_SECRETS))
    except FloodError:
        return [(0, size, "flood")]
