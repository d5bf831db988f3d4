"""The times of the vault's folders, as they were when all that is in them had been indexed.

A cache beside the index, for the quick look: losing it costs one look at every file.
"""

from __future__ import annotations

import marshal
import os
import zlib
from typing import TYPE_CHECKING

from mdmem import files
from mdmem.search.index.contents import FOLDERS, MAX_BYTES
from mdmem.search.index.look import folder_time

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.search.index.look import Seen


def load(index_dir: str) -> dict[str, int] | None:
    """Read the times; None when there are none to rely on."""
    try:
        data = files.read(os.path.join(index_dir, FOLDERS), MAX_BYTES)
        if len(data) < 4 or zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
            return None
        times: dict[str, int] = marshal.loads(data[4:])
    except OSError:
        return None
    return times


def remember(config: Config, times: dict[str, int], seen: Seen, started_ns: int) -> None:
    """Keep the times of the folders that were read, now that all notes in them are indexed.

    times: what was kept before. started_ns: when looking began; a folder that changed since is to be read again.
    """
    everywhere = seen.shallow is None and seen.deep is None
    now = {} if everywhere else {folder: at for folder, at in times.items() if folder not in (seen.shallow or ())}
    for folder in seen.folders:
        at = folder_time(config.vault, folder)
        if at is not None:
            now[folder] = at if at < started_ns - _step_ns(at) else -1
    if now != times:
        _save(os.path.join(config.index_dir, FOLDERS), marshal.dumps(now))


def _save(path: str, data: bytes) -> None:
    try:
        files.replace(path, zlib.crc32(data).to_bytes(4, "little") + data)
    except OSError:
        return  # a full disk costs the quick look, nothing else


def fresh(at_ns: int, looked_ns: int) -> bool:
    """Return whether a change just after looking could bear this very time, so that it would not be seen."""
    return abs(looked_ns - at_ns) < _step_ns(at_ns)


def _step_ns(at_ns: int) -> int:
    """Return how far apart the times of a file system may lie: some ms, or two seconds where it keeps whole ones."""
    return 2_000_000_000 if at_ns % 1_000_000_000 == 0 else 50_000_000
