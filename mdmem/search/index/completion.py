"""Completion: finishes an incomplete index in a separate process, while prompts use what is there."""

from __future__ import annotations

import os
import time

from mdmem import files
from mdmem.search.index import scan_record
from mdmem.search.index.store import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config

STALE_SECONDS = 600.0
"""A process that has reported no progress for this long counts as ended."""


def is_complete(config: Config) -> bool:
    """Whether there is an index that had all notes of the vault when it was last written."""
    return opened(config) is not None and scan_record.load(config.index_dir) is not None


def finish(config: Config) -> bool:
    """Start a process that finishes the index, unless one is running; return whether one is now.

    It outlives the caller, and ends when the index is complete.
    """
    return _start(config, _mark(config))


def check_files(config: Config) -> bool:
    """Start a process that checks every file against a complete index; return what `finish` does."""
    return _start(config, _mark(config, "looking"))


def _start(config: Config, mark: str) -> bool:
    try:
        if _age(mark) > STALE_SECONDS:
            files.remove(mark)
        if not files.claim(mark):
            return True
    except OSError:
        return False
    if not run(config, "from mdmem.system import to_background; to_background(sys.argv[1:]); "):
        files.remove(mark)
        return False
    return True


def run(config: Config, before: str = "") -> bool:
    """Update the index in a separate process and wait for it; return whether it succeeded.

    before: code that the process runs first.
    """
    import subprocess
    import sys

    code = f"import sys; sys.path[:0] = {sys.path!r}; {before}from mdmem.cli import main; main()"
    try:
        process = subprocess.run(
            [sys.executable, "-c", code, "--vault", config.vault, "index"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            check=False,
        )
    except OSError:
        return False  # the system cannot start a process now
    return process.returncode == 0


def record_complete(config: Config) -> None:
    """Record that the index is complete and every file was checked."""
    for path in (_mark(config), f"{_mark(config)}.told", _mark(config, "looking")):
        files.remove(path)


def record_progress(config: Config) -> None:
    """Record that the index is still being finished."""
    try:
        os.utime(_mark(config))
    except OSError:
        pass  # no process was recorded


def is_running(config: Config) -> bool:
    """Whether a process that finishes the index is running."""
    mark = _mark(config)
    return os.path.exists(mark) and _age(mark) <= STALE_SECONDS


def notice(config: Config) -> str:
    """Return the message, once, that the index is being finished; "" otherwise."""
    mark = _mark(config)
    try:
        if not os.path.exists(mark) or not files.claim(f"{mark}.told"):
            return ""
    except OSError:
        return ""
    return (
        "mdmem is indexing the vault; until it is done, an answer may miss older notes. `mdmem index` shows progress."
    )


def _mark(config: Config, name: str = "indexing") -> str:
    return os.path.join(config.state_dir, name)


def _age(path: str) -> float:
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return 0.0
