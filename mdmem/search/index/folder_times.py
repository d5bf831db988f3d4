"""Folder times: the mtime of each folder of a vault, to find changed folders with about one stat each."""

from __future__ import annotations

import os
from array import array
from itertools import compress
from operator import ne

from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MANY = 16
"""Minimum number of subfolders for which opening the folder and using short relative paths pays."""
GONE = -2
"""Stands for the time of a missing folder."""
_BYTES = 8
"""Size of a packed time."""
FEW = 100
"""Up to this many new times are inserted into the packed form one by one; for more, all is packed again."""


class _Group(NamedTuple):
    """The folders below `base` ("": the vault), by their names as bytes, as the system takes them.

    Times and names stay packed until they are needed: unpacked, those of all groups would take some MB.
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

    def name(self, folder: str) -> bytes:
        return os.fsencode(folder[len(self.base) + bool(self.base) :])

    def with_time(self, folder: str, at_ns: int | None) -> _Group:
        """Return this group with a new time for one folder, which may be new itself (None: the folder is gone)."""
        whole, name = b"\0%b\0" % bytes(self.packed), self.name(folder)
        begin = whole.find(b"\0%b\0" % name) if self.size else -1
        place = self.size if begin < 0 else whole.count(b"\0", 0, begin)
        times = array("q", self.times.tobytes())
        times[place : place + 1] = array("q", [] if at_ns is None else [at_ns])
        if at_ns is None and begin >= 0:
            whole = whole[:begin] + whole[begin + 1 + len(name) :]
        elif at_ns is not None and begin < 0:
            whole = (whole if self.size else b"\0") + name + b"\0"
        return self._replace(size=len(times), times=memoryview(times.tobytes()), packed=memoryview(whole)[1:-1])


class FolderTimes:
    """Folder mtimes in ns, by vault-relative path, "" for the vault itself. -1: always check the folder."""

    def __init__(self, groups: list[tuple[str, int, int]], packed: bytes | memoryview) -> None:
        """Create the times from what `pack` returned. Raises ValueError or TypeError for anything else."""
        self._groups: dict[str, _Group] = {}
        self._names: dict[str, frozenset[bytes]] = {}
        self._packed = packed
        data, end = memoryview(packed), 0
        for base, size, length in groups:
            begin, middle = end, end + size * _BYTES
            end = middle + length
            self._groups[base] = _Group(base, size, data[begin:middle], data[middle:end])
        if end != len(data):
            raise ValueError("not every folder has a time and a name")

    @classmethod
    def of(cls, times: Mapping[str, int]) -> FolderTimes:
        """Create the times from a mapping; a project's folders are grouped."""
        groups: dict[str, list[str]] = {}
        for folder in times:
            groups.setdefault(_base(folder), []).append(folder)
        few = [folder for base, folders in groups.items() if not base or len(folders) < MANY for folder in folders]
        many = {base: folders for base, folders in groups.items() if base and len(folders) >= MANY}
        packed_groups = []
        for base, folders in ({"": few} | many if few else many).items():
            names = b"\0".join([os.fsencode(folder[len(base) + bool(base) :]) for folder in folders])
            packed_times = array("q", [times[folder] for folder in folders]).tobytes()
            packed_groups.append(_Group(base, len(folders), memoryview(packed_times), memoryview(names)))
        return cls._of_groups(packed_groups)

    @classmethod
    def _of_groups(cls, groups: list[_Group]) -> FolderTimes:
        sizes = [(group.base, group.size, len(group.packed)) for group in groups]
        return cls(sizes, b"".join(part for group in groups for part in (group.times, group.packed)))

    def with_others(self, others: Mapping[str, int | None]) -> FolderTimes:
        """Return these times with some replaced or added (None: the folder is gone)."""
        if not others:
            return self
        groups = dict(self._groups)
        alone = groups.get("")
        if alone is not None and len(others) <= FEW:
            for folder, at_ns in others.items():
                base = _base(folder) if _base(folder) in groups else ""
                groups[base] = groups[base].with_time(folder, at_ns)
            bases = {os.fsencode(_base(folder)) for folder in others} - {b""}
            names = b"\0%b" % bytes(groups[""].packed)
            if not any(names.count(b"\0%b/" % base) >= MANY for base in bases):
                return self._of_groups([group for group in groups.values() if group.size])
        now = {**self.by_path, **others}
        return self.of({folder: at_ns for folder, at_ns in now.items() if at_ns is not None})

    def pack(self) -> tuple[list[tuple[str, int, int]], bytes | memoryview]:
        """Return the groups (base, number and size of names), and all packed times and names."""
        return [(group.base, group.size, len(group.packed)) for group in self._groups.values()], self._packed

    def equals(self, other: FolderTimes) -> bool:
        """Whether these are the same times of the same folders."""
        if other is self:
            return True
        (groups, packed), (other_groups, other_packed) = self.pack(), other.pack()
        return groups == other_groups and bytes(packed) == bytes(other_packed)  # views compare one byte at a time

    @property
    def by_path(self) -> dict[str, int]:
        """Return each folder's time by path, built at each call: kept, the paths would take some MB."""
        times: dict[str, int] = {}
        for group in self._groups.values():
            times.update(zip(map(group.path, group.names), group.times.cast("q"), strict=True))
        return times

    def __contains__(self, folder: object) -> bool:
        assert isinstance(folder, str)
        base = _base(folder) if _base(folder) in self._groups else ""
        group = self._groups.get(base)
        if group is None:
            return False
        if base not in self._names:
            self._names[base] = frozenset(group.names)
        return group.name(folder) in self._names[base]

    def changed(self, root: str) -> list[str]:
        """Return the folders whose time has changed or that are gone, with one stat per folder."""
        changed: list[str] = []
        for group in self._groups.values():
            names, recorded = group.names, group.times.cast("q").tolist()
            now = _times(root, group.base, names)
            if now != recorded:
                differs = map(ne, now, recorded)
                changed += map(group.path, compress(names, differs))
        return changed


def _base(folder: str) -> str:
    """Return the folder under which a folder is grouped, such as its project's; "" for none."""
    parts = folder.split("/", 2)
    return "/".join(parts[:2]) if len(parts) == 3 else ""


def _times(root: str, base: str, names: list[bytes]) -> list[int]:
    """Return the times of folders below `base`, GONE for a missing one."""
    start = f"{root}/{base}/" if base else f"{root}/"
    above = None
    try:
        if base:
            above = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
    except (OSError, ValueError, AttributeError):
        pass  # gone, unreadable, or the system cannot open folders
    paths = names if above is not None else [os.fsencode(start) + name for name in names]
    lstat = os.lstat
    try:  # for hundreds of folders, a function call for each would be noticeable
        return [lstat(path, dir_fd=above).st_mtime_ns for path in paths]
    except (OSError, ValueError):
        return [_time(path, above) for path in paths]
    finally:
        if above is not None:
            os.close(above)


def _time(path: bytes, above: int | None) -> int:
    try:
        return os.lstat(path, dir_fd=above).st_mtime_ns
    except (OSError, ValueError):
        return GONE
