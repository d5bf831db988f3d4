"""Scan: finds the differences between vault and index: everywhere, at some paths, or in changed folders."""

from __future__ import annotations

import os
import stat
import sys
from heapq import heappush, heapreplace
from itertools import chain, islice

from mdmem import config, privacy
from mdmem.named_tuple import NamedTuple
from mdmem.privacy import text
from mdmem.search.index import layout
from mdmem.search.index.view import View
from mdmem.vault import DAYS, JOURNAL, disk, people
from mdmem.vault.disk import WalkedFile
from mdmem.vault.layout import days, days_packed_in, is_day, is_in_session, projects, split
from mdmem.vault.unreadable import UnreadableFolders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from mdmem.search.index.folder_times import FolderTimes
    from mdmem.vault.disk import MetFile


MAX_CHANGED, MAX_CAPTURED, MAX_DAYS = 400, 100, 30
"""Number of files checked each time because they changed last: people's files and the like; files in session folders,
which are written once and rarely changed; pages of days, which may all be written at once and would displace others."""
AT_ONCE, MANY = 2_000, 4
"""Maximum number of notes whose paths, times, sizes and inodes are read at once; not at once if their numbers span more
than MANY times as many rows."""


class Seen(NamedTuple):
    """What was found in a part of the vault.

    entries: the notes there, possibly still being read. folders: the folders read so far.
    newest: the files that changed last among those met so far.
    shallow, deep: what was scanned: whole folders without subfolders ("shallow"), or paths and all below them ("deep");
    both None for the whole vault. unchanged: for a shallow scan, the folders that existed before.
    """

    root: str
    entries: Iterable[WalkedFile]
    folders: list[str]
    shallow: frozenset[str] | None = None
    deep: tuple[str, ...] | None = None
    newest: Newest | None = None
    unchanged: Container[str] = ()


Stamped = tuple[int, str, int, int]
"""A file: its mtime in ns, path, size and inode."""


def stamped(entry: WalkedFile) -> Stamped:
    """Return the stamp that identifies a state of a file."""
    return entry.mtime_ns, entry.path, entry.size, entry.inode


def changed_last(files: list[Stamped]) -> list[Stamped]:
    """Return as many of the files as are checked each time, from the end of the list."""
    groups = [_group(file[1]) for file in files]
    surplus = [groups.count(group) - limit for group, limit in enumerate(_limits())]
    last = []
    for file, group in zip(files, groups, strict=True):
        surplus[group] -= 1
        if surplus[group] < 0:
            last.append(file)
    return last


def _limits() -> tuple[int, ...]:
    return MAX_CHANGED, MAX_CAPTURED, MAX_DAYS


def _group(path: str) -> int:
    """Return the place of a file's limit in `_limits`."""
    if is_in_session(path):
        return 1
    return 2 if path.startswith(_DAYS) and is_day(path.rpartition("/")[2].removesuffix(".md")) else 0


_DAYS = f"{DAYS}/"


class Newest:
    """Passes files through and collects those that changed last."""

    def __init__(self, entries: Iterable[WalkedFile]) -> None:
        self._entries = entries
        self._heaps: list[list[Stamped]] = [[] for _ in _limits()]

    def __iter__(self) -> Iterator[WalkedFile]:
        limits = _limits()
        for entry in self._entries:
            group = _group(entry.path)
            heap = self._heaps[group]
            if len(heap) < limits[group]:
                heappush(heap, stamped(entry))
            elif entry.mtime_ns > heap[0][0]:
                heapreplace(heap, stamped(entry))
            yield entry

    @property
    def files(self) -> list[Stamped]:
        """The collected files, the newest last."""
        return sorted(chain.from_iterable(self._heaps))


class Diff(NamedTuple):
    """The differences of vault and index: new or changed files, and paths of missing files.

    A file in a folder that cannot be read is not missing.
    """

    files: list[WalkedFile]
    gone: list[str]

    def __bool__(self) -> bool:
        return bool(self.files or self.gone)

    def with_more(self, other: Diff) -> Diff:
        """Return both combined, each path once."""
        if not other:
            return self
        known = {*self.gone, *(entry.path for entry in self.files)}
        return Diff(
            [*self.files, *(entry for entry in other.files if entry.path not in known)],
            [*self.gone, *(path for path in other.gone if path not in known)],
        )


def _walk(
    root: str,
    below: str = "",
    visited: list[str] | None = None,
    skip: Container[str] = (),
    met: MetFile | None = None,
) -> Iterator[WalkedFile]:
    """Yield every note below a folder, except those with private tags in their names, which must not be indexed."""
    return disk.walk(root, below, visited, skip, hides=_private_names(root), met=met)


def _private_names(root: str) -> Callable[[str], bool]:
    """Return a function that tells whether a path has private tags in it."""
    rules: list[privacy.Rules] = []

    def hides(path: str) -> bool:
        if not text.may_open_tag(path):
            return False
        rules[:] = rules or [privacy.Rules.of(config.load(root).settings)]
        return people.hides_name(rules[0], path)

    return hides


def everywhere(root: str, met: MetFile | None = None) -> Seen:
    """Scan every file, with one lstat each. met: called for each."""
    folders: list[str] = []
    newest = Newest(_walk(root, visited=folders, met=met))
    return Seen(root, newest, folders, newest=newest)


def newest(root: str, limit: int) -> list[WalkedFile]:
    """Return at most `limit` notes: those outside the journal first, then those of its newest days."""
    entries = list(islice(_walk(root, skip=(JOURNAL,)), limit))
    dated = [day for project in projects(root) for day in days(root, project) if day[0][:4].isdecimal()]
    for _, folder in sorted(dated, reverse=True):
        if len(entries) >= limit:
            break
        entries += islice(_walk(root, folder), limit - len(entries))
    return entries


def at_paths(root: str, paths: Iterable[str]) -> Seen:
    """Scan these files, and everything in and below these folders; they may be gone."""
    in_vault = [path for path in (_relative(root, path) for path in paths) if path is not None]
    relative = [disk.archived_folder(root, path) or path for path in in_vault]
    entries: dict[str, WalkedFile] = {}
    folders: list[str] = []
    ours = os.path.exists(os.path.join(root, "mdmem.toml"))
    hides = _private_names(root)
    for path in relative:
        try:
            state = disk.lstat(root, path)
        except (OSError, ValueError):
            entries |= {entry.path: entry for entry in _walk(root, path)}  # a folder with packed notes
            continue
        if stat.S_ISDIR(state.st_mode):
            entries |= {entry.path: entry for entry in _walk(root, path, folders)}
        elif stat.S_ISREG(state.st_mode) and disk.is_note_path(path, ours=ours) and not hides(path):
            entries[path] = WalkedFile(path, state.st_mtime_ns, state.st_size, state.st_ino)
    return Seen(root, list(entries.values()), folders, deep=tuple(relative))


def in_changed_folders(root: str, times: FolderTimes, changed: list[str]) -> Seen:
    """Scan the folders whose mtime differs from `times`, listed in `changed`, and new folders below them.

    It misses files edited in place, which change no folder's mtime.
    """
    entries: dict[str, WalkedFile] = {}  # packed notes are found below two folders
    folders: list[str] = []
    for folder in changed:
        if folder_time(root, folder) is not None:
            entries |= {entry.path: entry for entry in _walk(root, folder, folders, skip=times)}
    return Seen(root, list(entries.values()), folders, shallow=frozenset(changed), unchanged=times)


def at_notes(root: str, view: View, notes: Iterable[int], most_read: int = sys.maxsize) -> Diff:
    """Return which of these notes' files were edited in place or are gone, with one lstat each.

    If only the inode differs, as in a vault that was copied or restored, the content decides; of more than `most_read`
    such files, the rest are returned.
    """
    changed: list[WalkedFile] = []
    left = most_read
    gone: list[str] = []
    lstat = os.lstat
    for note, path, stamp in chain.from_iterable(_indexed_files(view, sorted(notes))):  # possibly every note
        try:
            try:
                state = lstat(f"{root}/{path}")
            except FileNotFoundError:
                state = disk.lstat(root, path)
        except (OSError, ValueError):
            gone.append(path)
            continue
        if stamp == (state.st_mtime_ns, state.st_size, state.st_ino):
            continue
        has_time_and_size = stamp[0] in (state.st_mtime_ns, -1) and stamp[1] == state.st_size
        left -= has_time_and_size
        if not stat.S_ISREG(state.st_mode):
            gone.append(path)
        elif not has_time_and_size or left < 0 or _was_edited(root, view, note, path):
            changed.append(WalkedFile(path, state.st_mtime_ns, state.st_size, state.st_ino))
    return Diff(changed, list(UnreadableFolders(root).gone(gone)))


def at_files(root: str, view: View, known: Iterable[Stamped]) -> tuple[Diff, list[Stamped]]:
    """Check files with known stamps, and look up only changed ones in the index.

    Return the differences, and the files' present stamps.
    """
    present: list[Stamped] = []
    changed: list[int] = []
    gone: list[str] = []
    for file in known:
        path = file[1]
        try:
            state = disk.lstat(root, path)
        except (OSError, ValueError):
            gone.append(path)
            continue
        present.append((state.st_mtime_ns, path, state.st_size, state.st_ino))
        if present[-1] != file and (note := view.find(path)) is not None:
            changed.append(note)
    diff = at_notes(root, view, changed)
    missing = UnreadableFolders(root).gone(path for path in gone if view.find(path) is not None)
    return Diff(diff.files, [*diff.gone, *missing]), present


def _indexed_files(view: View, notes: list[int]) -> Iterator[Iterable[tuple[int, str, tuple[int, int, int]]]]:
    """Yield the index's number, path and stamp of notes' files, in batches.

    For notes with close numbers, these are read at once.
    """
    for start in range(0, len(notes), AT_ONCE):
        batch = notes[start : start + AT_ONCE]
        first, last = batch[0], batch[-1] + 1
        if last - first > MANY * len(batch):
            yield ((note, view.path(note), view.stamp(note)) for note in batch)
            continue
        paths, stamps = view.some_paths(first, last), view.stamps(first, last)
        if last - first == len(batch):
            yield zip(batch, paths, stamps, strict=True)
        else:
            yield ((note, paths[note - first], stamps[note - first]) for note in batch)


def _was_edited(root: str, view: View, note: int, path: str) -> bool:
    """Whether a file's content differs from what was indexed. One that cannot be read counts as unchanged."""
    data = disk.readable(root, path)
    return data is not None and layout.digest(data) != view.number("digest", note)


def folder_time(root: str, folder: str) -> int | None:
    """Return a folder's mtime in ns, which is its last addition, removal or renaming; None for a missing folder."""
    try:
        return os.lstat(f"{root}/{folder}").st_mtime_ns  # for hundreds of folders: `os.path.join` would double the cost
    except (OSError, ValueError):
        return None


def differences(view: View, seen: Seen) -> Diff:
    """Return the differences between the part of the vault that was scanned and the same part of the index."""
    known = _indexed_notes(view, seen)
    files = []
    for entry in seen.entries:
        note = known.pop(entry.path, None)
        if note is None or view.stamp(note) != (entry.mtime_ns, entry.size, entry.inode):
            files.append(entry)
    return Diff(files, list(UnreadableFolders(seen.root).gone(known)))


class Comparison:
    """Compares the whole vault with the index while it is walked, without a list of it in memory.

    Yields new and changed files, each with whether the index has it. What it reads of the index for this is freed once
    `gone` has been called.
    """

    def __init__(self, view: View | None, seen: Seen, *, reads: bool = False) -> None:
        """Start the comparison. reads: compare the contents of files of which only the inode differs."""
        self._view = view and View(view.leaves, view.files)
        self._entries, self._root, self._reads = seen.entries, seen.root, reads
        self._unreadable = UnreadableFolders(seen.root)
        self._met = bytearray(view.size if view else 0)
        self.is_complete = False

    def __iter__(self) -> Iterator[tuple[WalkedFile, bool]]:
        if self._view is None:
            yield from ((entry, False) for entry in self._entries)
        else:
            yield from self._differing(self._view)
        self.is_complete = True

    def _differing(self, view: View) -> Iterator[tuple[WalkedFile, bool]]:
        times, sizes, inodes = view.numbers("mtime_ns"), view.numbers("size"), view.numbers("inode")
        within = None
        known: dict[str, int] = {}
        for entry in self._entries:
            folder, name = split(entry.path)
            if folder != within:
                members = list(view.members.of(folder))
                within, known = folder, dict(zip(view.names(members), members, strict=True))
            note = known.get(name)
            if note is None:
                yield entry, False
                continue
            self._met[note] = 1
            if (times[note], sizes[note]) != (entry.mtime_ns, entry.size) or (
                inodes[note] != entry.inode and (not self._reads or _was_edited(self._root, view, note, entry.path))
            ):
                yield entry, True

    def gone(self) -> Iterator[str]:
        """Yield the paths of indexed notes that the vault lacks, after the walk has ended."""
        if self._view is not None and self.is_complete:
            view, self._view = View(self._view.leaves, self._view.files), None
            missing = (note for note, met in enumerate(self._met) if not (met or note in view.deleted))
            yield from self._unreadable.gone(map(view.path, missing))


def _indexed_notes(view: View, seen: Seen) -> dict[str, int]:
    """Return the indexed notes of the scanned part, by path."""
    if seen.shallow is not None:
        notes = [note for folder in _packed_in(view, seen.shallow, seen.unchanged) for note in view.members_of(folder)]
        notes += (note for folder in seen.shallow for note in view.lying_in(folder))
        return {view.path(note): note for note in notes}
    return _below(view, seen.deep or ())


def _packed_in(view: View, changed: frozenset[str], unchanged: Container[str]) -> Iterator[str]:
    """Yield the session folders whose notes are or were packed in one of these folders."""
    packed_days = {day for folder in changed for day in days_packed_in(folder)}
    for folder in view.folders if packed_days else ():
        if folder.rpartition("/")[0] in packed_days and folder not in unchanged:
            yield folder


def _below(view: View, paths: tuple[str, ...]) -> dict[str, int]:
    """Return the notes at these paths and below those that are folders, by path."""
    notes: dict[str, int] = {}
    for path in paths:
        note = view.find(path)
        if note is not None:
            notes[path] = note
        elif not disk.is_note_path(path, ours=False):
            start = f"{path}/" if path else ""
            inside = [folder for folder in view.folders if folder == path or folder.startswith(start)]
            notes |= {view.path(note): note for folder in inside for note in view.members_of(folder)}
            notes |= {view.path(note): note for note in view.lying_in(path)}
    return notes


def _relative(root: str, path: str) -> str | None:
    """Return a path relative to the vault, POSIX; None if it is outside."""
    if os.path.isabs(path):
        path = os.path.relpath(path, root)
    parts = [part for part in path.replace(os.sep, "/").split("/") if part not in ("", ".")]
    return None if ".." in parts else "/".join(parts)
