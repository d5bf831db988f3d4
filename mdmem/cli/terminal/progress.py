"""Progress: a bar on stderr, on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Any

from mdmem.cli.terminal import render


class ProgressBar:
    """A bar that appears when the work has taken a second; use it in a `with` statement."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, done: int, total: int) -> None:
        """Show how far the work is; total: 0 when it is not known."""
        if self._bar is None:
            if time.monotonic() - self._begun < 1 or not sys.stderr.isatty():
                return
            self._bar, self._task = _bar(self._what, total)
        self._bar.update(self._task, completed=done, total=total or None)


def _bar(what: str, total: int) -> tuple[Any, Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=render.console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task(what, total=total or None)
