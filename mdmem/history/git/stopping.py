"""Stopping: signals that end us while git waits for the network, so that git and what it started end too."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
