"""How much of one text is looked at.

No honest text has more tags or secrets than these. One that has is hidden whole, so that the cost of a text stays
within seconds whatever it holds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    Item = TypeVar("Item")

MOST_TAGS = 100_000
"""Private tags, or fences around memories."""

MOST_NAMES = 50_000
"""Names of secrets, and words of command lines, that are judged."""

MOST_SECRETS = 50_000

MOST_RANDOM = 80_000
"""Words that look random and are judged by what they hold and what stands around them."""


class FloodError(Exception):
    """A text holds more than is looked at."""


def counted(items: Iterable[Item], most: int) -> Iterator[Item]:
    """Yield the items.

    Raises:
        FloodError: there are more than `most`.
    """
    for number, item in enumerate(items):
        if number == most:
            raise FloodError
        yield item


def spans_of(found: Iterable[Iterable[tuple[int, int, str]]], size: int) -> list[tuple[int, int, str]]:
    """Return the secrets that several scanners find in a text of this size, or all of it if there are too many."""
    try:
        return list(counted((span for spans in found for span in spans), MOST_SECRETS))
    except FloodError:
        return [(0, size, "flood")]
