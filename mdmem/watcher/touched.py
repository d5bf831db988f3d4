"""Which files were touched since a commit asked last, so that it need not look at every file of the vault.

Nothing is told that is not certain: a file made in the vault's git folder must have been heard of first, and with it
all that happened before. After an overflow, and whenever the vault is swept, a new count begins.
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


class TouchedFiles:
    """The vault's files to which something happened, numbered in their order."""

    def __init__(self) -> None:
        self._heard = threading.Condition()
        self._epoch = ""
        self._count = 0
        self._paths: dict[str, int] = {}
        self._signs: set[str] = set()

    def begin(self) -> None:
        """Begin a new count: nothing is known of what happened before."""
        with self._heard:
            self._epoch, self._count = secrets.token_hex(8), 0
            self._paths.clear()

    def end(self) -> None:
        """Stop answering: the vault is not watched any more."""
        with self._heard:
            self._epoch = ""

    def add(self, path: str) -> None:
        """Note that something happened to a file, or a folder, of the vault."""
        with self._heard:
            if path.startswith(f".git/{PREFIX}"):
                self._signs.add(path)
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
        sign = Path(root, ".git", f"{PREFIX}{secrets.token_hex(6)}")
        if not self._epoch or not sign.parent.is_dir():
            return None
        try:
            sign.touch(0o600)
            if not self._hears(f".git/{sign.name}"):
                return None
        except OSError:
            return None
        finally:
            sign.unlink(missing_ok=True)
        with self._heard:
            epoch, _, number = token.partition(":")
            known = epoch == self._epoch and number.isdigit()
            paths = [path for path, at in self._paths.items() if at > int(number)] if known else None
            now = f"{self._epoch}:{self._count}"
            self._signs.clear()
        return now, paths

    def _hears(self, path: str) -> bool:
        deadline = time.monotonic() + WAIT_SECONDS
        with self._heard:
            while path not in self._signs:
                if not self._heard.wait(max(deadline - time.monotonic(), 0)) and time.monotonic() >= deadline:
                    return False
        return True

    def answer(self, root: str, words: list[str]) -> bytes | None:
        """Answer a commit's question."""
        told = self.since(root, words[0] if words else "")
        return None if told is None else json.dumps(told).encode()
