"""Progress of long work, passed to a callback."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

One = TypeVar("One")

Tell = Callable[[str, int, int], None]
"""Takes the current step, how much of it is done, and the total; 0 when unknown."""


def untold(what: str, done: int, total: int) -> None:
    """Ignore progress."""


def told(things: Collection[One], what: str, tell: Tell) -> Iterator[One]:
    """Yield things, reporting each as progress before it is processed."""
    for place, one in enumerate(things):
        tell(what, place, len(things))
        yield one
