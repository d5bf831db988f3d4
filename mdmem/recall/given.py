"""Given: what a session was given already, the mark that it was looked up for, and the log of injections.

All of it lies in the user's state folder and holds ids, sizes and times, never what anybody said.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mdmem.config import Config
    from mdmem.journal import Record

LOG = "injections.jsonl"
MAX_LOG_BYTES = 2 * 1024 * 1024
"""A log longer than this becomes `injections.jsonl.1`, in the place of an older one."""


def ids(record: Record) -> frozenset[str]:
    """Give the ids of the notes that this session was given and still has before it."""
    try:
        with open(record.flag("given"), encoding="utf-8", errors="replace") as file:
            return frozenset(file.read().split())
    except OSError:
        return frozenset()


def remember(record: Record, given: Iterable[str]) -> None:
    """Add the ids of notes that are being given."""
    _append(record.flag("given"), "".join([f"{name}\n" for name in given]))


def forget(record: Record) -> None:
    """Begin anew: the conversation was compacted, and what was given is gone from it."""
    try:
        os.unlink(record.flag("given"))
    except OSError:
        return


# -- once a session --------------------------------------------------------------------------------


def is_claimed(record: Record) -> bool:
    """Say whether the once-a-session search has had its turn."""
    return os.path.exists(record.flag("recalled"))


def claim(record: Record, trigger: str, query_chars: int, now: str) -> bool:
    """Take the once-a-session search; False when another prompt has it. Whatever comes of it, it is not repeated."""
    path = record.flag("recalled")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        fd = os.open(path, flags, 0o600)
    except OSError:
        return False  # without a mark it would come again at every turn
    _write(fd, trigger, query_chars, None, now)
    return True


def release(record: Record) -> None:
    """Give the once-a-session search back: nobody waited for what came of it."""
    try:
        os.unlink(record.flag("recalled"))
    except OSError:
        return


def settle(record: Record, trigger: str, query_chars: int, results: int, now: str) -> None:
    """Note what came of it."""
    try:
        fd = os.open(record.flag("recalled"), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    except OSError:
        return
    _write(fd, trigger, query_chars, results, now)


def _write(fd: int, trigger: str, query_chars: int, results: int | None, now: str) -> None:
    import json

    with open(fd, "w", encoding="utf-8") as file:
        json.dump({"trigger": trigger, "query_chars": query_chars, "results": results, "time": now}, file)


# -- the log ---------------------------------------------------------------------------------------


def log(config: Config, row: dict[str, Any]) -> None:
    """Add one line to the log of injections."""
    import json

    path = os.path.join(config.state_dir, LOG)
    _append(path, json.dumps(row, ensure_ascii=False) + "\n")
    try:
        if os.stat(path).st_size > MAX_LOG_BYTES:
            os.replace(path, f"{path}.1")
    except OSError:
        return


def read_log(config: Config) -> Iterator[dict[str, Any]]:
    """Give the log's lines, oldest first; a line that cannot be read is passed over."""
    import json

    for name in (f"{LOG}.1", LOG):
        try:
            with open(os.path.join(config.state_dir, name), encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
        except OSError:
            continue
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def _append(path: str, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        fd = os.open(path, flags, 0o600)
        try:
            os.write(fd, line.encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError:
        return
