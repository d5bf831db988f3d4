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

    It is ended when we are stopped, also by a signal that would end only us, as when the terminal is closed.
    """
    try:
        with _raised():
            return process.communicate()
    except BaseException:
        process.terminate()  # git cleans up
        process.wait()
        system.end_group(process)
        raise


@contextmanager
def _raised() -> Iterator[None]:
    """Let signals that would end this process raise SystemExit instead, where nothing handles them yet."""

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
