"""Progress: a bar on stderr, on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Any

from mdmem.cli.terminal import render


class ProgressBar:
    """A bar that appears when the work has taken a second; use it in a `with` statement.

    in_bytes: the work is counted in bytes, and its rate is shown.
    """

    def __init__(self, what: str, *, in_bytes: bool = False) -> None:
        self._what = what
        self._in_bytes = in_bytes
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, done: int, total: int, made: str = "") -> None:
        """Show how far the work is, and what was made so far; total: 0 when it is not, or no more, known."""
        if self._bar is None:
            if time.monotonic() - self._begun < 1 or not sys.stderr.isatty():
                return
            self._bar = _bar(in_bytes=self._in_bytes)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=total or None, completed=done, made=made)
        if not total and self._bar.tasks[0].total is not None:  # rich never takes a total back
            self._bar.remove_task(self._task)
            self._task = self._bar.add_task(self._what, total=None, completed=done, made=made)
        self._bar.update(self._task, completed=done, total=total or None, made=made)


def _bar(*, in_bytes: bool) -> Any:
    from rich import progress as rich

    counted = (rich.TaskProgressColumn(), rich.TransferSpeedColumn()) if in_bytes else (rich.MofNCompleteColumn(),)
    made = rich.TextColumn("{task.fields[made]}")
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), *counted, made, rich.TimeRemainingColumn())
    return rich.Progress(*columns, console=render.console(stderr=True), transient=True)
