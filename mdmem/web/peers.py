"""Who connected: the user whose process holds the other end of a connection, as Linux lists it."""

from __future__ import annotations

import os
from pathlib import Path

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_CLIENT, _SERVER, _USER = 1, 2, 7
"""The columns of a client's line in the tables."""


def is_another_user(client: tuple[str, int] | None, port: int) -> bool:
    """Whether a connection to our `port` comes from a process of another user, other than root's.

    False where the system does not say, such as on macOS and Windows.
    """
    if client is None or not hasattr(os, "getuid"):
        return False
    found = user_of(client[1], port)
    return found is not None and found not in (0, os.getuid())


def user_of(client_port: int, port: int) -> int | None:
    """Return the id of the user who connected from `client_port` to `port` on loopback; None when nothing says so."""
    ends = (f"0100007F:{client_port:04X}", f"0100007F:{port:04X}")
    for table in TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            if ends[0] in line and ends[1] in line:
                columns = line.split()
                if columns[_CLIENT].endswith(ends[0]) and columns[_SERVER].endswith(ends[1]):
                    return int(columns[_USER])
    return None
