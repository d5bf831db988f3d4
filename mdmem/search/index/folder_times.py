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


class _Group(NamedTuple):
    """Folders by their names below one of them, `base`, which is "" for the vault; bytes, as the system takes them."""

    base: str
    names: list[bytes]

    def path(self, name: bytes) -> str:
        return f"{self.base}/{os.fsdecode(name)}" if self.base else os.fsdecode(name)


class FolderTimes:
    """The times of folders, in ns: vault-relative paths, "" for the vault itself. -1: look in any case."""

    def __init__(self, groups: list[_Group], times: array[int]) -> None:
        self._groups = groups
        self._times = times

    @classmethod
    def of(cls, times: Mapping[str, int]) -> FolderTimes:
        """Return the times of these folders, those of one project together."""
        groups: dict[str, list[str]] = {}
        for folder in times:
            parts = folder.split("/", 2)
            groups.setdefault("/".join(parts[:2]) if len(parts) == 3 else "", []).append(folder)
        few = [folder for base, found in groups.items() if not base or len(found) < MANY for folder in found]
        many = {base: found for base, found in groups.items() if base and len(found) >= MANY}
        ordered = [*few, *(folder for found in many.values() for folder in found)]
        groups = {"": few} | many if few else many
        below = [
            _Group(base, [os.fsencode(folder[len(base) + bool(base) :]) for folder in found])
            for base, found in groups.items()
        ]
        return cls(below, array("q", [times[folder] for folder in ordered]))

    def pack(self) -> tuple[list[tuple[str, bytes]], bytes]:
        """Return what `unpack` takes; marshal reads it in a third of the time of a dictionary."""
        return [(base, b"\0".join(names)) for base, names in self._groups], self._times.tobytes()

    @classmethod
    def unpack(cls, groups: list[tuple[str, bytes]], times: bytes) -> FolderTimes:
        """Return the times that were packed.

        Raises:
            ValueError, TypeError, AttributeError: when this is not what `pack` returned.
        """
        found = cls([_Group(base, names.split(b"\0")) for base, names in groups], array("q", times))
        if sum(len(group.names) for group in found._groups) != len(found._times):
            raise ValueError("not every folder has a time")
        return found

    @cached_property
    def by_path(self) -> dict[str, int]:
        """Return the time of each folder by its path."""
        paths = (group.path(name) for group in self._groups for name in group.names)
        return dict(zip(paths, self._times, strict=True))

    def __contains__(self, folder: object) -> bool:
        return folder in self.by_path

    def changed(self, root: str) -> list[str]:
        """Return the folders whose time is another one now, and those that are gone: one stat a folder."""
        changed: list[str] = []
        start = 0
        for group in self._groups:
            now, before = _times(root, group), self._times[start : start + len(group.names)]
            start += len(group.names)
            if now != before:
                names = zip(group.names, now, before, strict=True)
                changed += (group.path(name) for name, one, other in names if one != other)
        return changed


def _times(root: str, group: _Group) -> array[int]:
    """Return the times of folders; GONE for one that is not there."""
    start = f"{root}/{group.base}/" if group.base else f"{root}/"
    above = None
    try:
        if group.base:
            above = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
    except (OSError, ValueError, AttributeError):
        pass  # gone, not to be read, or a system that opens no folders
    paths = group.names if above is not None else [os.fsencode(start) + name for name in group.names]
    stat = os.stat
    try:  # of hundreds of folders: a call for each of them would show
        return array("q", [stat(path, dir_fd=above, follow_symlinks=False).st_mtime_ns for path in paths])
    except (OSError, ValueError, OverflowError):
        return array("q", (_time(path, above) for path in paths))
    finally:
        if above is not None:
            os.close(above)


def _time(path: bytes, above: int | None) -> int:
    try:
        time_ns = os.stat(path, dir_fd=above, follow_symlinks=False).st_mtime_ns
    except (OSError, ValueError):
        return GONE
    return time_ns if time_ns.bit_length() < 64 else GONE  # after the year 2262: nothing that was kept is the same
