"""Which files were touched since a commit asked last, so that it need not look at every file of the vault.

Nothing is told that is not certain: a file made in the vault's git folder must have been heard of first, and with it
all that happened before. No event tells of what is written through a memory map or another hard link: when the vault
is swept, the times of all files tell. Where they do not, and after an overflow, a new count begins.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from pathlib import Path

MOST = 10_000
"""Of more paths than this nothing is told: a look at every file costs no more."""

WAIT_SECONDS = 1.0
PREFIX = "mdmem-look-"

STEP_NS = 2_000_000_000
"""So far apart the times of a file system may lie."""


class TouchedFiles:
    """The vault's files to which something happened, numbered in their order."""

    def __init__(self) -> None:
        self._heard = threading.Condition()
        self._epoch = ""
        self._count = 0
        self._paths: dict[str, int] = {}
        self._signs: dict[str, bool] = {}
        """Those that are waited for, and whether they were heard of."""
        self._swept_ns = self._since_ns = 0

    def begin(self) -> None:
        """Begin a new count: nothing is known of what happened before."""
        with self._heard:
            self._epoch, self._count = secrets.token_hex(8), 0
            self._paths.clear()
            self._swept_ns = time.time_ns()
            self._since_ns = self._swept_ns - STEP_NS

    def sweep(self, *, is_local: bool) -> None:
        """Begin to sweep the vault: `met` is to be told of every file. is_local: only this machine changes them."""
        now, last = time.time_ns(), self._swept_ns
        if is_local and now >= last:
            self._since_ns, self._swept_ns = last - STEP_NS, now
        else:
            self.begin()

    def met(self, path: str, changed_ns: int) -> None:
        """Note a file if it has changed since the last sweep began."""
        if changed_ns >= self._since_ns:
            self.add(path)

    def end(self) -> None:
        """Stop answering: the vault is not watched any more."""
        with self._heard:
            self._epoch = ""

    def add(self, path: str) -> None:
        """Note that something happened to a file, or a folder, of the vault."""
        with self._heard:
            if path in self._signs:
                self._signs[path] = True
                self._heard.notify_all()
            elif not path.startswith(".git/"):
                self._count += 1
                self._paths[path] = self._count
        if len(self._paths) > MOST:
            self.begin()

    def since(self, root: str, token: str) -> tuple[str, list[str] | None] | None:
        """Return a token for now, and what was touched since another was given, None where that is not known.

        None altogether where nothing can be told of what comes, either.
        """
        if not self.is_heard(root):
            return None
        with self._heard:
            epoch, _, number = token.partition(":")
            known = epoch == self._epoch and number.isdigit()
            paths = [path for path, at in self._paths.items() if at > int(number)] if known else None
            now = f"{self._epoch}:{self._count}"
        return now, paths

    def is_heard(self, root: str) -> bool:
        """Whether the events of all changes so far have arrived; False when that is unknown."""
        sign = Path(root, ".git", f"{PREFIX}{secrets.token_hex(6)}")
        if not self._epoch or not sign.parent.is_dir():
            return False
        path = f".git/{sign.name}"
        with self._heard:
            self._signs[path] = False
        try:
            sign.touch(0o600)
            with self._heard:
                return self._heard.wait_for(lambda: self._signs[path], WAIT_SECONDS)
        except OSError:
            return False
        finally:
            with self._heard:
                del self._signs[path]
            sign.unlink(missing_ok=True)

    def answer(self, root: str, words: list[str]) -> bytes | None:
        """Answer a commit's question."""
        told = self.since(root, words[0] if words else "")
        return None if told is None else json.dumps(told).encode()
