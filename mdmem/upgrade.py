"""Upgrade: whether another version of mdmem was installed since this process started.

A process that runs long has loaded one version, and then loads modules of the other: it should be restarted.
"""

from __future__ import annotations

from pathlib import Path

NOTICE = "mdmem was upgraded since this program was started: restart it. An agent starts its MCP server with a session."

_FILES = ("__init__.py", "search/index/layout.py", "search/text/analysis.py")
"""The files with the versions of mdmem and of the index; an upgrade replaces them."""


def installed() -> list[tuple[int, int]]:
    """Return mtimes and inodes of these files, which an upgrade changes; [] while one is under way."""
    folder = Path(__file__).parent
    try:
        states = [(folder / name).stat() for name in _FILES]
    except OSError:
        return []
    return [(state.st_mtime_ns, state.st_ino) for state in states]


LOADED = installed()
"""The state of the files that this process has loaded."""


def explain(error: Exception) -> str:
    """Return what a fault is due to, and what to do: an upgrade, or a bug."""
    if installed() != LOADED:
        return NOTICE
    return f"This is a bug in mdmem ({type(error).__name__}). `mdmem doctor` shows the log."
