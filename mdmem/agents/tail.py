"""Tail: reads the end of an agent's transcript, for what a payload leaves out and was written just before it."""

from __future__ import annotations

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_BYTES = 512 * 1024
"""Maximum number of bytes read: a hook must not pay for a long session."""


def objects(path: str, having: str = "") -> Iterator[dict[str, Any]]:
    """Yield the JSON objects at the end of a file with one per line, the last first; none if it cannot be read.

    having: only lines that contain this text.
    """
    searched = having.encode("utf-8", "replace")
    data = files.try_read_any(path, MAX_BYTES, from_end=True)  # of a regular file: never waits for a pipe
    data = data.partition(b"\n")[2] if len(data) == MAX_BYTES else data  # without a first line that is cut
    if searched not in data:
        return
    from mdmem.agents import payload

    for line in reversed(data.split(b"\n")):
        if line[:1] == b"{" and searched in line:
            try:
                value = payload.scan(line.decode("utf-8", "replace"))
            except (StopIteration, RecursionError, ValueError, SystemError):
                continue
            if isinstance(value, dict):
                yield value


def strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)
