"""The end of an agent's own transcript: what a payload leaves out and the agent wrote before it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_BYTES = 512 * 1024
"""No more than this is read: a hook must not pay for a long session."""

_FILE_TYPE, _REGULAR = 0o170000, 0o100000


def objects(path: str, having: str = "") -> Iterator[dict[str, Any]]:
    """Return the JSON objects, one a line, at the end of a file, the last first; none when it can't be read.

    having: only of lines with this text in them.
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
    """Return the end of a regular file, without the line that its beginning cuts; a pipe is not waited for."""
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
