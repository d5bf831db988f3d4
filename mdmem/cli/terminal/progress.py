"""Progress: a bar on stderr, on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mdmem.cli.terminal import render
from mdmem.progress import ProgressCallback, listeners

AFTER_SECONDS = 1.0
"""Shorter work shows no bar."""


class ProgressBar:
    """A bar that appears once the work has taken a second; use it in a `with` statement.

    A timer draws it first, so it also appears for work that reports no progress, such as git's.
    in_bytes: the work is counted in bytes, and its rate is shown. shown: False for a quiet command.
    """

    def __init__(self, what: str, *, in_bytes: bool = False, shown: bool = True) -> None:
        self._in_bytes = in_bytes
        self._shown = shown and sys.stderr.isatty()
        self._begun = time.monotonic()
        self._what = what
        self._reported = (what, 0, 0, "")
        self._drawn = ("", False)
        self._bar: Any = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._listeners = [*listeners]

    def __enter__(self) -> ProgressBar:
        if self._shown:
            self._timer = threading.Timer(AFTER_SECONDS, self._draw)
            self._timer.daemon = True
            self._timer.start()
            listeners[:] = [self._show]  # what is waited for is shown in the bar until its next report, not above it
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            listeners[:] = self._listeners
        self._shown = False
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()

    def report(self, done: int, total: int, made: str = "") -> None:
        """Show the progress, and what was made so far. total: 0 if unknown."""
        self._show(self._what, done, total, made)

    def step(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show the current step and its progress; a `progress.ProgressCallback`."""
        self._what = what
        self.report(done, total)

    def _show(self, what: str, done: int = 0, total: int = 0, made: str = "") -> None:
        self._reported = (what, done, total, made)
        if self._shown and time.monotonic() - self._begun >= AFTER_SECONDS:
            self._draw()

    def _draw(self) -> None:
        with self._lock:
            if not self._shown:
                return
            what, done, total, made = self._reported
            is_first = self._bar is None
            if is_first:
                self._bar = _bar(in_bytes=self._in_bytes)
            count = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
            if self._drawn != (what, bool(total)):  # rich cannot unset a total
                for task in list(self._bar.task_ids):
                    self._bar.remove_task(task)
                self._bar.add_task(what, total=total or None, completed=done, made=made, count=count)
                self._drawn = (what, bool(total))
            self._bar.update(self._bar.task_ids[0], completed=done, total=total or None, made=made, count=count)
            if is_first:
                self._bar.start()
                self._bar.console.show_cursor()  # rich hides it, and nobody shows it after Ctrl-Z or a kill


@contextmanager
def stoppable(report: ProgressCallback, what: str) -> Iterator[ProgressCallback]:
    """Yield a `report` that lets Ctrl-C stop the work only between two reports of `what`.

    A second Ctrl-C stops it at once, and prints what is left to do.
    """
    message = b"\nmdmem: Stopping; committing what was changed. Press Ctrl-C again to skip that.\n"
    with presses_of_ctrl_c(message) as presses:

        def stopping(step: str, done: int, total: int) -> None:
            if presses() and step == what:
                raise KeyboardInterrupt
            report(step, done, total)

        try:
            yield stopping
        except KeyboardInterrupt:
            if presses() > 1:
                print("mdmem: Some changes are not committed. Commit them: mdmem commit", file=sys.stderr, flush=True)
            raise


@contextmanager
def presses_of_ctrl_c(message: bytes = b"") -> Iterator[Callable[[], int]]:
    """Yield a counter of Ctrl-C presses. The first press only prints `message`; the second stops at once."""
    pressed: list[int] = []

    def press(number: int, _: object) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            raise KeyboardInterrupt
        os.write(2, message)  # the signal may have interrupted a `print` to the same stream

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: len(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _bar(*, in_bytes: bool) -> Any:
    from rich import progress as rich

    number = rich.TextColumn("{task.fields[count]}")
    counted = (rich.TaskProgressColumn(), rich.TransferSpeedColumn()) if in_bytes else (number,)
    made = rich.TextColumn("{task.fields[made]}")
    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), *counted, made, rich.TimeRemainingColumn())
    return rich.Progress(*columns, console=render.console(stderr=True), transient=True)
