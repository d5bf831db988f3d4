"""What every transcript becomes: events with the time they happened at, and a count of what was passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from mdmem.agents import Event

QUIET_SECONDS = 600
"""A session of which nothing was heard for this long is over, as far as anybody can tell."""

Skipped = Counter[str]
"""Why something was passed over -> how often."""

Tell = Callable[[int], None]
"""Is told how far into its file the reading is, in bytes."""


def untold(_: int) -> None:
    """Tell nobody."""


class Saved(NamedTuple):
    """An event, as a hook would have given it.

    at: when it happened, in seconds since the epoch.
    branch, commit: the project's at that time, where the transcript says so.
    """

    at: float
    event: Event
    branch: str = ""
    commit: str = ""


class Reader(Protocol):
    """Turns the lines of one transcript, in their order, into events."""

    def feed(self, line: dict[str, Any]) -> Iterator[Saved]:
        """Take one line in; give the events that it completes."""
        ...

    def finish(self, now: float) -> Iterator[Saved]:
        """Give what the end of the transcript completes; `now` tells whether the session may still go on."""
        ...


def moment(value: Any) -> float | None:
    """Read a time as transcripts write it, ISO 8601 in UTC; None for anything else, or outside 2000 to 2100."""
    if type(value) is not str or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return found.timestamp() if 2000 <= found.year < 2100 else None
