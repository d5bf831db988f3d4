"""Losses: a log of lost events for `doctor` and `status`, without content."""

from __future__ import annotations

import os

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mdmem.config import Config

FILE = "lost"
MAX_BYTES = 256 * 1024
UNKNOWN = "an-agent"
"""The agent whose event it was, if that is not known."""
DISK_FULL = "disk-full"
"""`why` of a loss of which only an empty file could be written."""
DAMAGED = "damaged-in-the-queue"
"""`why` of a note whose file in the retry queue cannot be read."""
DAYS = 7
"""How many days `doctor` and `status` report a loss."""


def record(config: Config, event: str, agent: str, why: str, now: float) -> bool:
    """Record a lost event; return False if that fails. why: an exception's type, never its text."""
    path = os.path.join(config.state_dir, FILE)
    line = "\t".join([f"{now:.0f}", _word(event), _word(agent), _word(why)])
    try:
        if emptied_at := _emptied_at(path):
            line = "\t".join([str(emptied_at), "unknown", UNKNOWN, DISK_FULL]) + f"\n{line}"
        files.log(path, line, MAX_BYTES)
    except OSError:
        return False
    return True


def recent(config: Config, now: float, days: int = DAYS, also: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the losses of the last `days` days, oldest first, with `time`, `event`, `agent` and `why`.

    also: other logs of losses, such as the launcher's.
    """
    losses = []
    path = os.path.join(config.state_dir, FILE)
    for line in (line for log in (path, *also) for line in files.logged(log, 2 * MAX_BYTES)):
        time, *fields = line.split("\t")
        if time.isdigit() and len(fields) == 3 and int(time) > now - days * 86_400:
            losses.append({"time": int(time), "event": fields[0], "agent": fields[1], "why": fields[2]})
    if emptied_at := _emptied_at(path):
        losses.append({"time": emptied_at, "event": "unknown", "agent": UNKNOWN, "why": DISK_FULL})
    return sorted(losses, key=lambda loss: loss["time"])


def _emptied_at(path: str) -> int:
    """Return when a full disk left the loss log empty, so that its losses are unknown (epoch seconds); 0 if never."""
    try:
        state = os.stat(path)
    except OSError:
        return 0
    return 0 if state.st_size else int(state.st_mtime)


def _word(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in text[:60]) or "-"
