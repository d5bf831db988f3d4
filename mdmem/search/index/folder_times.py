"""When each folder of a vault last changed, so that about one stat per folder tells which changed since."""

from __future__ import annotations

import os
from array import array
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MANY = 16
"""Number of folders below one, from which on it pays to open that one and to look from there: paths are long."""
GONE = -2
"""What stands for the time of a folder that is not there."""
_BYTES = 8
"""What each time takes, packed."""


class _Group(NamedTuple):
    """Folders by their names below one of them, `base`, which is "" for the vault; bytes, as the system takes them.

    Times and names stay packed until they are looked at: those of all groups at once would take some MB.
    """

    base: str
    size: int
    times: memoryview
    packed: memoryview

    @property
    def names(self) -> list[bytes]:
        return bytes(self.packed).split(b"\0")

    def path(self, name: bytes) -> str:
        return f"{self.base}/{os.fsdecode(name)}" if self.base else os.fsdecode(name)


class FolderTimes:
    """The times of folders, in ns: vault-relative paths, "" for the vault itself. -1: look in any case."""

    def __init__(self, groups: list[tuple[str, int, int]], packed: bytes | memoryview) -> None:
        """Take what `pack` returned.

        Raises:
            ValueError, TypeError: when this is something else.
        """
        self._groups: list[_Group] = []
        self._packed = packed
        data, end = memoryview(packed), 0
        for base, size, length in groups:
            begin, middle = end, end + size * _BYTES
            end = middle + length
            self._groups.append(_Group(base, size, data[begin:middle], data[middle:end]))
        if end != len(data):
            raise ValueError("not every folder has a time and a name")

    @classmethod
    def of(cls, times: Mapping[str, int]) -> FolderTimes:
        """Return the times of these folders, those of one project together."""
        groups: dict[str, list[str]] = {}
        for folder in times:
            parts = folder.split("/", 2)
            groups.setdefault("/".join(parts[:2]) if len(parts) == 3 else "", []).append(folder)
        few = [folder for base, found in groups.items() if not base or len(found) < MANY for folder in found]
        many = {base: found for base, found in groups.items() if base and len(found) >= MANY}
        below: list[tuple[str, int, int]] = []
        parts_packed: list[bytes] = []
        for base, found in ({"": few} | many if few else many).items():
            names = b"\0".join([os.fsencode(folder[len(base) + bool(base) :]) for folder in found])
            below.append((base, len(found), len(names)))
            parts_packed += [array("q", [times[folder] for folder in found]).tobytes(), names]
        return cls(below, b"".join(parts_packed))

    def pack(self) -> tuple[list[tuple[str, int, int]], bytes | memoryview]:
        """Return how the folders are grouped, with numbers and sizes, and all times and names."""
        return [(group.base, group.size, len(group.packed)) for group in self._groups], self._packed

    @cached_property
    def by_path(self) -> dict[str, int]:
        """Return the time of each folder by its path."""
        found: dict[str, int] = {}
        for group in self._groups:
            found.update(zip(map(group.path, group.names), group.times.cast("q"), strict=True))
        return found

    def __contains__(self, folder: object) -> bool:
        return folder in self.by_path

    def changed(self, root: str) -> list[str]:
        """Return the folders whose time is another one now, and those that are gone: one stat a folder."""
        changed: list[str] = []
        for group in self._groups:
            names = group.names
            now = _times(root, group.base, names)
            if group.times != now.tobytes():
                each = zip(names, now, group.times.cast("q"), strict=True)
                changed += (group.path(name) for name, one, other in each if one != other)
        return changed


def _times(root: str, base: str, names: list[bytes]) -> array[int]:
    """Return the times of folders below `base`; GONE for one that is not there."""
    start = f"{root}/{base}/" if base else f"{root}/"
    above = None
    try:
        if base:
            above = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
    except (OSError, ValueError, AttributeError):
        pass  # gone, not to be read, or a system that opens no folders
    paths = names if above is not None else [os.fsencode(start) + name for name in names]
    lstat = os.lstat
    try:  # of hundreds of folders: a call for each of them would show
        return array("q", [lstat(path, dir_fd=above).st_mtime_ns for path in paths])
    except (OSError, ValueError, OverflowError):
        return array("q", (_time(path, above) for path in paths))
    finally:
        if above is not None:
            os.close(above)


def _time(path: bytes, above: int | None) -> int:
    try:
        time_ns = os.lstat(path, dir_fd=above).st_mtime_ns
    except (OSError, ValueError):
        return GONE
    return time_ns if time_ns.bit_length() < 64 else GONE  # after the year 2262: nothing that was kept is the same
