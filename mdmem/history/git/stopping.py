"""Stopping: a git command that waits for the network ends with us, and so does what it started, such as ssh."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen

from mdmem import system


def communicate(process: Popen[bytes]) -> tuple[bytes, bytes]:
    """Wait for a program that was started in a session of its own, and return what it printed.

    It is ended when we are stopped; within `raising_signals`, also by a signal that would end only us.
    """
    try:
        return process.communicate()
    except BaseException:
        process.terminate()  # git cleans up
        process.wait()
        system.end_group(process)
        raise


@contextmanager
def raising_signals() -> Iterator[None]:
    """Let signals that would end this process, as when the terminal is closed, raise SystemExit, unless handled."""

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    taken = [number for number in numbers if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
