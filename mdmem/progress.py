"""Progress of long work, passed to a callback."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

One = TypeVar("One")

ProgressCallback = Callable[[str, int, int], None]
"""Takes the current step, how much of it is done, and the total; 0 when unknown."""


def ignore(what: str, done: int, total: int) -> None:
    """Ignore progress."""


def reporting(things: Collection[One], what: str, report: ProgressCallback) -> Iterator[One]:
    """Yield things, reporting each as progress before it is processed."""
    for place, one in enumerate(things):
        report(what, place, len(things))
        yield one
