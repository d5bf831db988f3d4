"""Health: what may be wrong with a machine, a vault, its notes and its history, and what to do about it.

A check is a function that takes the settings and gives findings; `CHECKS` in `health.checks` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

WRONG = frozenset(["error", "warning"])
"""What makes the exit status 1; the other severities are "note", worth knowing, and "fine"."""


class HealthFinding(NamedTuple):
    """What a check found: how bad it is, what is so, what to do, and what does it where that is safe."""

    severity: str
    text: str
    todo: str = ""
    fix: Callable[[], object] | None = None


fine = partial(HealthFinding, "fine")
note = partial(HealthFinding, "note")
warning = partial(HealthFinding, "warning")
error = partial(HealthFinding, "error")
"""What is as it should be; what is worth knowing and not wrong; what costs something; what costs memories."""


def remove(paths: list[Path]) -> None:
    """Remove files; those that are gone already do not matter."""
    for path in paths:
        path.unlink(missing_ok=True)
