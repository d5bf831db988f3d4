"""Counts the calls of functions, to compare amounts of work without a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Return how many functions `work` calls, those of the interpreter included."""
    seen = 0

    def count(_: object, what: str, __: object) -> None:
        nonlocal seen
        seen += what in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen
