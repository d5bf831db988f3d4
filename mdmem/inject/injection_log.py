"""Injection log: what a session was given already, the mark that it was looked up for, and the log of injections.

All of it lies in the user's state folder and holds ids, sizes and times, never what anybody said.
"""

from __future__ import annotations

import os

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.config import Config
    from mdmem.vault.journal import Record

IN_VAIN_TIMES = 10
"""A note that was given so often, and that no answer cites, was given in vain."""
LOG = "injections.jsonl"
MAX_LOG_BYTES = 2 * 1024 * 1024
"""A log longer than this becomes `injections.jsonl.1`, in the place of an older one."""


def listed(name: str) -> str:
    """Return the mark of a note that was listed, but not given."""
    return f"listed:{name}"


def remember(record: Record, given: Iterable[str]) -> None:
    """Add the ids of notes that are being given."""
    try:
        files.append(record.flag("given"), "".join([f"{name}\n" for name in given]).encode("utf-8", "replace"))
    except OSError:
        return


def forget(record: Record) -> None:
    """Start over: the conversation was compacted, and what was given is gone from it."""
    files.remove(record.flag("given"))


def is_first(record: Record, key: str, now: float) -> bool:
    """Whether no other process has begun to answer an event in the last `SAME_SECONDS`. key: tells the event.

    Where that cannot be written down, every process answers.
    """
    path = record.flag("asked")
    mark = os.urandom(8).hex()
    try:
        files.append(path, f"{key} {now:.2f} {mark}\n".encode())
        lines = files.read(path, MAX_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return True
    rows = [row for line in lines if len(row := line.split()) == 3 and row[0] == key]
    return next((row[2] == mark for row in rows if abs(now - float(row[1])) <= SAME_SECONDS), True)


SAME_SECONDS = 10.0
"""The same event of a session within this time is one event that two commands were registered for."""


# -- once a session --------------------------------------------------------------------------------


def is_claimed(record: Record) -> bool:
    """Whether the once-a-session search has had its turn."""
    return os.path.exists(record.flag("recalled"))


def claim(record: Record, trigger: str, query_chars: int, now: str) -> bool:
    """Take the once-a-session search; False when another prompt has it. Whatever comes of it, it is not repeated."""
    path = record.flag("recalled")
    try:
        if not files.claim(path):
            return False
        files.replace(path, _claimed(trigger, query_chars, None, now))
    except OSError:
        return False  # without a mark it would come again at every turn
    return True


def release(record: Record) -> None:
    """Allow the once-a-session search again: nobody waited for its result."""
    files.remove(record.flag("recalled"))


def settle(record: Record, trigger: str, query_chars: int, results: int, now: str) -> None:
    """Note what came of it."""
    if is_claimed(record):
        try:
            files.replace(record.flag("recalled"), _claimed(trigger, query_chars, results, now))
        except OSError:
            return


def _claimed(trigger: str, query_chars: int, results: int | None, now: str) -> bytes:
    import json

    return json.dumps({"trigger": trigger, "query_chars": query_chars, "results": results, "time": now}).encode()


# -- the log ---------------------------------------------------------------------------------------


def log(config: Config, row: dict[str, Any]) -> None:
    """Add one line to the log of injections."""
    import json

    try:
        files.log(os.path.join(config.state_dir, LOG), json.dumps(row, ensure_ascii=False), MAX_LOG_BYTES)
    except OSError:
        return


def read_log(config: Config, *, misses: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the log's lines, oldest first; a line that cannot be read is skipped.

    misses: also those of prompts that asked to recall and were given nothing; their ids are [].
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
    """Count how often each note was given, as far as the end of the log tells."""
    counted: dict[str, int] = {}
    try:
        with open(os.path.join(config.state_dir, LOG), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _RECENT_BYTES, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return counted
    for line in lines:
        for name in line.partition('"ids": [')[2].partition("]")[0].replace('"', "").split(", "):
            counted[name] = counted.get(name, 0) + 1
    return counted


_RECENT_BYTES = 64 * 1024
