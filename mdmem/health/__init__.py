"""What may be wrong with a machine, a vault, its notes and its history, and what to do about it.

A check takes the configuration and yields findings; `CHECKS` in `health.checks` lists them.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

WRONG = frozenset(["error", "warning"])
"""Severities with exit status 1; the others are "note", worth knowing, and "fine"."""


MOST = 20
"""Maximum number of findings of one kind that are listed."""


class HealthFinding(NamedTuple):
    """A finding: severity, what was found, what to do, and a function that fixes it if that is safe."""

    severity: str
    text: str
    todo: str = ""
    fix: Callable[[], object] | None = None


fine = partial(HealthFinding, "fine")
note = partial(HealthFinding, "note")
warning = partial(HealthFinding, "warning")
error = partial(HealthFinding, "error")
"""fine: all is well. note: worth knowing, not wrong. warning: costs something. error: loses memories."""


def remove(paths: list[Path]) -> None:
    """Delete files, ignoring those already gone."""
    for path in paths:
        path.unlink(missing_ok=True)


def age(path: Path) -> float:
    """Return how many seconds ago a file was changed; 0 for one that is gone."""
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def to_edit(path: str) -> str:
    """Return the command with which a person edits a note."""
    return f"`mdmem edit {shlex.quote(path)}`"
