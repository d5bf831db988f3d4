"""Folders and the file systems they are on: whether a path still leads to the same folder, and who can change it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

FolderIdentity = tuple[int, int]
"""Device and inode of a folder: on another disk, a folder may have the same inode."""

_LOCAL = frozenset(["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay", "zfs", "bcachefs", "jfs"])
"""Types of file systems that no other machine changes."""


def identity_of(root: str | Path) -> FolderIdentity:
    """Return the identity of a folder; (-1, -1) when there is none."""
    try:
        status = Path(root).stat()
    except OSError:
        return -1, -1
    return status.st_dev, status.st_ino


def is_local(root: Path) -> bool:
    """Whether a folder is on a file system that only this machine changes; False when unknown."""
    return _file_system(root) in _LOCAL


def _file_system(root: Path) -> str:
    """Return the type of the file system of a folder; "" when unknown."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    return _mounted_at(root.resolve(), lines)


def _mounted_at(path: Path, lines: Iterable[str]) -> str:
    """Return the type of the file system at a path; lines: of Linux's `mountinfo`, which escapes spaces in octal."""
    best, kind = "", ""
    for line in lines:
        fields, _, more = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields.split()[4])
        if len(point) >= len(best) and f"{path}/".startswith(f"{point.rstrip('/')}/"):
            best, kind = point, more.split()[0]
    return kind
