"""The steps of long work: whoever does it tells them, to whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

One = TypeVar("One")

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much: 0 where that is not known."""


def untold(what: str, done: int, total: int) -> None:
    """Drop a step that nobody asked for."""


def told(things: Collection[One], what: str, tell: Tell) -> Iterator[One]:
    """Yield these things, and tell of each, by its number, that it is being done."""
    for place, one in enumerate(things):
        tell(what, place, len(things))
        yield one
