"""Losses: a log of lost events for `doctor` and `status`, without content."""

from __future__ import annotations

import os

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.config import Config

FILE = "lost"
MAX_BYTES = 256 * 1024
DAMAGED = "damaged-in-the-queue"
"""`why` of a note whose file in the retry queue cannot be read."""
DAYS = 7
"""How many days `doctor` and `status` report a loss."""


def record(config: Config, event: str, agent: str, why: str, now: float) -> bool:
    """Record a lost event; return False if that fails. why: an exception's type, never its text."""
    path = os.path.join(config.state_dir, FILE)
    line = "\t".join([f"{now:.0f}", _word(event), _word(agent), _word(why)])
    try:
        if unnamed := _unnamed(path):
            line = "\t".join([str(unnamed), "unknown", "an-agent", "disk-full"]) + f"\n{line}"
        files.log(path, line, MAX_BYTES)
    except OSError:
        return False
    return True


def recent(config: Config, now: float, days: int = DAYS) -> list[dict[str, Any]]:
    """Return the losses of the last `days` days, oldest first, with `time`, `event`, `agent` and `why`."""
    found = []
    path = os.path.join(config.state_dir, FILE)
    for line in files.logged(path, 2 * MAX_BYTES):
        time, *rest = line.split("\t")
        if time.isdigit() and len(rest) == 3 and int(time) > now - days * 86_400:
            found.append({"time": int(time), "event": rest[0], "agent": rest[1], "why": rest[2]})
    if unnamed := _unnamed(path):
        found.append({"time": unnamed, "event": "unknown", "agent": "an-agent", "why": "disk-full"})
    return found


def _unnamed(path: str) -> int:
    """Return when a full disk left the loss log empty, so that its losses are unknown (epoch seconds); 0 if never."""
    try:
        found = os.stat(path)
    except OSError:
        return 0
    return 0 if found.st_size else int(found.st_mtime)


def _word(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text[:60]) or "-"
