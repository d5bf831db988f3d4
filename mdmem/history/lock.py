"""One committer at a time: a lock that queues, and that git itself keeps when mdmem is killed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem.errors import BusyError

POLL_SECONDS = 0.02


@contextmanager
def held(state_dir: str | Path, name: str = "git", wait_seconds: float = 60.0) -> Iterator[int]:
    """Hold the lock `name`, waiting for those before us; gives its descriptor.

    The descriptor goes to the git processes that write (`repository.run(held=...)`) and to no other:
    when we are killed, the lock is free once the last of them has ended, never before.

    Raises:
        BusyError: when it is not free within `wait_seconds`.
    """
    folder = Path(state_dir)
    folder.mkdir(0o700, parents=True, exist_ok=True)
    lock = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(lock, name, wait_seconds)
        yield lock
    finally:
        os.close(lock)


def _take(lock: int, name: str, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"Another mdmem has been at work on the vault's history ({name}) for {wait_seconds:g} seconds. "
                    "Nothing is lost: the next commit takes these notes along."
                ) from None
            time.sleep(POLL_SECONDS)
        else:
            return
