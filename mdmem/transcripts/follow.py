"""Follow: which transcripts have something new since the last look."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mdmem.transcripts.saved import is_quiet
from mdmem.transcripts.sources import Transcript


class Watched:
    """What was seen of each transcript: it is looked at again when it was written to, and once when it is over."""

    def __init__(self, found: Iterable[Transcript], now: float) -> None:
        """Take what was found as seen."""
        self._seen: dict[Path, tuple[int, int, bool]] = {one.path: _state(one, now) for one in found}

    def changed(self, found: Iterable[Transcript], now: float) -> list[Transcript]:
        """Return those that are not as they were, and take them as seen."""
        new = [one for one in found if self._seen.get(one.path) != _state(one, now)]
        self._seen.update({one.path: _state(one, now) for one in new})
        return new


def _state(one: Transcript, now: float) -> tuple[int, int, bool]:
    return one.size, one.changed_ns, is_quiet(one.changed_ns / 1e9, now)
