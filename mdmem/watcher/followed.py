"""Whether the agents' own files that mdmem follows have changed.

They are outside the vault and give no events, so their mtimes are polled.
"""

from __future__ import annotations

import os
from pathlib import Path

from mdmem import files
from mdmem.config import Config

STATE = "followed"
"""State file that lists them, one per line: `file`, the path, and whose it is."""

_MAX_BYTES = 4 * 1024 * 1024

Facts = dict[str, tuple[int, int]]


def stats(config: Config) -> Facts:
    """Return size and mtime of each followed file, and of its folder, where a new file would appear."""
    text = files.try_read_own(f"{config.state_dir}/{STATE}", _MAX_BYTES).decode("utf-8", "replace")
    rows = (line.split("\t") for line in text.splitlines())
    paths = [row[1] for row in rows if row[0] == "file" and len(row) > 1]
    return {path: _facts(path) for path in dict.fromkeys([*paths, *(str(Path(path).parent) for path in paths)])}


def _facts(path: str) -> tuple[int, int]:
    try:
        state = os.stat(path)  # noqa: PTH116 - cheaper than a Path, a few hundred times a minute
    except OSError:
        return -1, -1
    return state.st_size, state.st_mtime_ns
