"""Progress of long work, passed to a callback."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

One = TypeVar("One")

ProgressCallback = Callable[[str, int, int], None]
"""Takes the current step, how much of it is done, and the total; 0 when unknown."""


CountCallback = Callable[[int, int], None]
"""Takes how much of work with one step is done, and the total; 0 when unknown."""


def ignore(what: str, done: int, total: int) -> None:
    """Ignore progress."""


TOLD_AFTER_SECONDS = 1.0
"""A command that has waited this long for another process says so."""

listeners: list[ProgressCallback] = []
"""Functions of the commands that tell their user what is waited for; none in a hook or a background process."""


def tell(text: str, done: int = 0, total: int = 0) -> None:
    """Pass a sentence on what is waited for, and how far that is, to the listeners."""
    for listener in listeners:
        listener(text, done, total)


def reporting(things: Collection[One], what: str, report: ProgressCallback) -> Iterator[One]:
    """Yield things, reporting each as progress before it is processed."""
    for place, one in enumerate(things):
        report(what, place, len(things))
        yield one
