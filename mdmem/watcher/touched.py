"""Tracks the files touched since a commit last asked, so that a commit need not check every file of the vault.

It answers only when it is sure: it creates a file in the vault's `.git`, and when the event of that file has arrived,
so have all earlier ones. Writes through a memory map or another hard link give no event; sweeps of the vault notice
them by the ctimes of all files. Where ctimes do not help, and after an overflow, tracking starts over.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from pathlib import Path

MOST = 10_000
"""With more paths than this, tracking starts over: a full scan costs no more."""

WAIT_SECONDS = 1.0
NO_WAIT_SECONDS = 60.0
"""After an event did not arrive, as where `.git` is a link, do not wait for events for so long."""

PREFIX = "mdmem-look-"

STEP_NS = 2_000_000_000
"""Coarsest resolution of a file system's times."""


class TouchedFiles:
    """The vault's touched files, numbered in order."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._epoch = ""
        self._count = 0
        self._paths: dict[str, int] = {}
        self._signs: dict[str, bool] = {}
        """Paths of sign files being waited for -> whether their event has arrived."""
        self._swept_ns = self._since_ns = 0
        self._no_wait_until = 0.0

    def begin(self) -> None:
        """Start tracking over: nothing is known about what happened before."""
        with self._condition:
            self._epoch, self._count, self._no_wait_until = secrets.token_hex(8), 0, 0.0
            self._paths.clear()
            self._swept_ns = time.time_ns()
            self._since_ns = self._swept_ns - STEP_NS

    def sweep(self, *, is_local: bool) -> None:
        """Begin a sweep, which passes every file to `met`. is_local: only this machine changes the vault."""
        now, last = time.time_ns(), self._swept_ns
        if is_local and now >= last:
            self._since_ns, self._swept_ns = last - STEP_NS, now
        else:
            self.begin()

    def met(self, path: str, changed_ns: int) -> None:
        """Add a file if it has changed since the last sweep began."""
        if changed_ns >= self._since_ns:
            self.add(path)

    def end(self) -> None:
        """Stop answering: the vault is no longer watched."""
        with self._condition:
            self._epoch = ""

    def add(self, path: str) -> None:
        """Add a file or folder that an event names."""
        with self._condition:
            if path in self._signs:
                self._signs[path] = True
                self._condition.notify_all()
            elif not path.startswith(".git/"):
                self._count += 1
                self._paths[path] = self._count
        if len(self._paths) > MOST:
            self.begin()

    def since(self, root: str, token: str) -> tuple[str, list[str] | None] | None:
        """Return a new token and the paths touched since `token` was given (None when unknown).

        Return None when events cannot be relied on.
        """
        if not self.has_all_events(root):
            return None
        with self._condition:
            epoch, _, number = token.partition(":")
            is_known = epoch == self._epoch and number.isdigit()
            paths = [path for path, at in self._paths.items() if at > int(number)] if is_known else None
            new_token = f"{self._epoch}:{self._count}"
        return new_token, paths

    def has_all_events(self, root: str) -> bool:
        """Whether the events of all changes so far have arrived; False when unknown."""
        sign = Path(root, ".git", f"{PREFIX}{secrets.token_hex(6)}")
        if not self._epoch or time.monotonic() < self._no_wait_until or not sign.parent.is_dir():
            return False
        path = f".git/{sign.name}"
        with self._condition:
            self._signs[path] = False
        try:
            sign.touch(0o600)
            with self._condition:
                has_arrived = self._condition.wait_for(lambda: self._signs[path], WAIT_SECONDS)
            self._no_wait_until = 0.0 if has_arrived else time.monotonic() + NO_WAIT_SECONDS
            return has_arrived
        except OSError:
            return False
        finally:
            with self._condition:
                del self._signs[path]
            sign.unlink(missing_ok=True)

    def answer(self, root: str, words: list[str]) -> bytes | None:
        """Answer the request of a commit."""
        result = self.since(root, words[0] if words else "")
        return None if result is None else json.dumps(result).encode()
