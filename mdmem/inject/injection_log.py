"""Injection log: what a session was given, whether its once-a-session search is used up, and a log of injections.

All of it is in the user's state folder. It holds ids, sizes and times, never what anybody said.
"""

from __future__ import annotations

import os

from mdmem import files
from mdmem.agents import payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.config import Config
    from mdmem.vault.journal import Record

IN_VAIN_TIMES = 10
"""A note given this often and cited by no answer was given in vain."""
LOG = "injections.jsonl"
MAX_LOG_BYTES = 2 * 1024 * 1024
"""A longer log is renamed to `injections.jsonl.1`, replacing an older one."""


def listed(name: str) -> str:
    """Return the mark of a note that was only listed, not given."""
    return f"listed:{name}"


def seen(tag: str) -> str:
    """Return the mark of a session whose turns are in the conversation, as those of a fork's parent. tag: its tag."""
    return f"session:{tag}"


def remember(record: Record, names: Iterable[str]) -> None:
    """Record the ids of notes that are being given."""
    try:
        files.append(record.flag("given"), "".join([f"{name}\n" for name in names]).encode("utf-8", "replace"))
    except OSError:
        return


def forget(record: Record) -> None:
    """Forget what was given: the conversation was compacted and no longer contains it."""
    files.remove(record.flag("given"))


def is_first(record: Record, key: str, now: float) -> bool:
    """Whether no other process has begun to answer the event within `SAME_SECONDS`. key: identifies the event.

    If that cannot be recorded, every process answers.
    """
    path = record.flag("asked")
    mark = os.urandom(8).hex()
    try:
        files.append(path, f"{key} {now:.2f} {mark}\n".encode())
        lines = files.read_own(path, MAX_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return True
    rows = [row for line in lines if len(row := line.split()) == 3 and row[0] == key]
    return next((row[2] == mark for row in rows if abs(now - float(row[1])) <= SAME_SECONDS), True)


SAME_SECONDS = 10.0
"""Within this time, the same event of a session is one event for which two commands were registered."""


# -- once a session --------------------------------------------------------------------------------


def is_claimed(record: Record) -> bool:
    """Whether the once-a-session search is used up."""
    return os.path.exists(record.flag("recalled"))


def claim(record: Record) -> bool:
    """Claim the once-a-session search; False if another prompt has it. It is not repeated, whatever it finds."""
    try:
        return files.claim(record.flag("recalled"))
    except OSError:
        return False  # unmarked, it would be repeated at every turn


def release(record: Record) -> None:
    """Release the once-a-session search: nobody waited for its result."""
    files.remove(record.flag("recalled"))


# -- the log ---------------------------------------------------------------------------------------


def log(config: Config, row: dict[str, Any]) -> None:
    """Append a line to the log of injections."""
    try:
        files.log(os.path.join(config.state_dir, LOG), payload.encode(row), MAX_LOG_BYTES)
    except OSError:
        return


def read_log(config: Config, *, misses: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the log's rows, oldest first; unreadable lines are skipped.

    misses: also yield prompts that asked about the past and were given nothing, with `ids` [].
    """
    import json

    for line in files.logged(os.path.join(config.state_dir, LOG), 2 * MAX_LOG_BYTES):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and (misses or row.get("ids")):
            yield row


def uses(config: Config) -> dict[str, int]:
    """Return how often each note was given, according to the end of the log."""
    counted: dict[str, int] = {}
    recent = files.try_read_any(os.path.join(config.state_dir, LOG), _RECENT_BYTES, from_end=True)
    for line in recent.decode("utf-8", "replace").splitlines():
        for name in filter(None, line.partition('"ids": [')[2].partition("]")[0].replace('"', "").split(", ")):
            counted[name] = counted.get(name, 0) + 1
    return counted


_RECENT_BYTES = 64 * 1024
