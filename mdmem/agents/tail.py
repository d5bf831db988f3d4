"""Tail: reads the end of an agent's transcript, for what was written just before a payload that leaves it out."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_BYTES = 512 * 1024
"""Maximum number of bytes read: a hook must not pay for a long session."""

_FILE_TYPE, _REGULAR = 0o170000, 0o100000


def objects(path: str, having: str = "") -> Iterator[dict[str, Any]]:
    """Yield the JSON objects at the end of a file with one per line, the last first; none if it cannot be read.

    having: only lines that contain this text.
    """
    from mdmem.agents import payload

    wanted = having.encode("utf-8", "replace")
    for line in reversed(_read(path, MAX_BYTES).split(b"\n")):
        if line[:1] == b"{" and wanted in line:
            try:
                value = payload.scan(line.decode("utf-8", "replace"))
            except (StopIteration, RecursionError, ValueError, SystemError):
                continue
            if isinstance(value, dict):
                yield value


def _read(path: str, max_bytes: int) -> bytes:
    """Return the end of a regular file, without a first line that is cut; never waits for a pipe."""
    if not path:
        return b""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError):
        return b""
    try:
        facts = os.fstat(fd)
        if facts.st_mode & _FILE_TYPE != _REGULAR:
            return b""
        start = max(0, facts.st_size - max_bytes)
        os.lseek(fd, start, os.SEEK_SET)
        data = b""
        while len(data) < max_bytes and (piece := os.read(fd, max_bytes - len(data))):
            data += piece
    except OSError:
        return b""
    finally:
        os.close(fd)
    return data.partition(b"\n")[2] if start else data
