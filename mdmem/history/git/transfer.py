"""Transfers: a git command that uses the network is followed while it runs, and given up when the remote is silent."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import IO

from mdmem import progress
from mdmem.errors import GitError
from mdmem.system import child_process

PROGRESS = "--progress"
"""Option of fetch, push and clone: git prints how far it is, which is also how we know that it is not stuck.

With `--quiet` too, it would print nothing while a fetch or clone receives, or while the remote unpacks a push.
"""

SILENT_SECONDS = 300.0
"""Longest silence of git. Hooks of a remote may take minutes, as may a person whom a credential helper asks."""

TOLD_SECONDS = 15.0
"""After this long without a word from git, the user is told that we still wait."""

_LOOK_SECONDS = 0.25
_READ_BYTES = 16 * 1024
_STEPS = {b"Receiving": "Fetching", b"Unpacking": "Fetching", b"Writing": "Pushing"}
_STEP = re.compile(rb"(Receiving|Unpacking|Writing) objects: +\d+% \((\d+)/(\d+)\)")
_IS_PROGRESS = re.compile(
    rb"(?:remote: )?"
    rb"(?:[A-Z][a-z]+ [a-z]+: +\d+(?:% \(\d+/\d+\))?(?:, .*)?|Delta compression using .*|Total \d+ \(.*)\s*"
    rb"|Cloning into '.*'\.\.\.|(?:From|To) \S+| [ +*t=-] \S.* -> .*"
)
"""Lines of git that are not errors: its progress, and the branches that it has fetched or pushed."""


def communicate(process: Popen[bytes]) -> tuple[bytes, bytes]:
    """Wait for a program that was started in a session of its own; return its output and errors, without progress.

    It is ended, with what it started, such as ssh, when we are stopped; within `raising_signals`, also by a
    signal that would end only us.

    Raises GitError when nothing came for `SILENT_SECONDS`, or when the system allows no further threads.
    """
    output, errors = (_Listener(stream) for stream in (process.stdout, process.stderr))
    try:
        for listener in (output, errors):
            listener.thread.start()
        told = "", 0, 0
        while not all(listener.has_ended() for listener in (output, errors)):
            if (news := _news(max(output.heard, errors.heard), errors.read) or told) != told:
                progress.tell(*news)
                told = news
        process.wait()
    except BaseException as error:
        child_process.end(process)
        if isinstance(error, RuntimeError):  # the user's limit of processes and threads
            raise GitError(f"git's output cannot be read: {error}. No note is lost.") from error
        raise
    lines = re.split(rb"[\r\n]+", bytes(errors.read))
    return bytes(output.read), b"\n".join(line for line in lines if not _IS_PROGRESS.fullmatch(line))


class _Listener:
    """Reads a stream in a thread. read: what came so far; heard: when the last of it came, on the monotonic clock."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self.read = bytearray()
        self.heard = time.monotonic()
        self.thread = threading.Thread(target=self._listen, args=(stream,), daemon=True)

    def has_ended(self) -> bool:
        """Whether the stream has ended; waits a moment for it."""
        self.thread.join(_LOOK_SECONDS)
        return not self.thread.is_alive()

    def _listen(self, stream: IO[bytes]) -> None:
        with stream:
            while data := stream.read1(_READ_BYTES):  # type: ignore[attr-defined] # a pipe is a BufferedReader
                self.read += data
                self.heard = time.monotonic()


def _news(heard: float, errors: bytearray) -> tuple[str, int, int] | None:
    """Return what to tell the user of how far git is. Raises GitError when it has been silent for too long."""
    silent = time.monotonic() - heard
    if silent >= SILENT_SECONDS:
        raise GitError(
            f"The remote has not answered for {SILENT_SECONDS / 60:g} minutes. No note is lost; try again later."
        )
    if silent >= TOLD_SECONDS:
        return "Still waiting for the remote. Ctrl-C stops.", 0, 0
    *_, last = [None, *_STEP.finditer(bytes(errors[-_READ_BYTES:]))]
    return (_STEPS[last[1]], int(last[2]), int(last[3])) if last else None


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
