"""Completion: an index that lacks much is finished by a process of its own, while prompts get what there is."""

from __future__ import annotations

import os
import time

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config

STALE_SECONDS = 600.0
"""A process that has made no step for longer than this has ended, one way or the other."""


def finish(config: Config) -> bool:
    """Start a process that finishes the index, unless one is at work; return whether one is now.

    It outlives the caller, and ends when the index is complete.
    """
    return _start(config, _mark(config))


def look(config: Config) -> bool:
    """Start a process that looks at every file of a complete index's vault, as `finish` starts one."""
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
    """Update the index in a process of its own, and wait for it; return whether that went well.

    before: what the process does first.
    """
    import subprocess
    import sys

    code = f"import sys; sys.path[:0] = {sys.path!r}; {before}from mdmem.cli import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, "--vault", config.vault, "index"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            check=False,
        )
    except OSError:
        return False  # the system has no room for a process now
    return done.returncode == 0


def done(config: Config) -> None:
    """Take note that the index is complete, and that every file was looked at."""
    for path in (_mark(config), f"{_mark(config)}.told", _mark(config, "looking")):
        files.remove(path)


def step(config: Config) -> None:
    """Take note that the index is being finished still."""
    try:
        os.utime(_mark(config))
    except OSError:
        pass  # nobody was told that it is


def is_running(config: Config) -> bool:
    """Whether a process has been started that finishes the index, and has not said that it is done."""
    mark = _mark(config)
    return os.path.exists(mark) and _age(mark) <= STALE_SECONDS


def notice(config: Config) -> str:
    """Return what the user is told once while an index is being finished; "" else."""
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
