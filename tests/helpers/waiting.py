"""Waiting, never without end, for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 240.0
"""Time limit, which not even a busy machine reaches."""


def until(holds: Callable[[], object], what: str = "what was waited for", seconds: float = SECONDS) -> None:
    """Wait until `holds` returns something true; fail after `seconds`. what: for the failure."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)
