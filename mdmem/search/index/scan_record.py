"""Scan record: what the last update checked, so that the next scan can be short.

times: the mtime of each vault folder, when all in it had been indexed. changed: the notes that changed last, which are
likely to change again. turn: how far the shares of other notes, one per short scan, have come. This is a cache beside
the index: without it, every file is checked once.
"""

from __future__ import annotations

import marshal
import os
import time
import zlib

from mdmem import files
from mdmem.named_tuple import NamedTuple
from mdmem.search.index.contents import FOLDERS, MAX_BYTES, TURN
from mdmem.search.index.folder_times import FolderTimes
from mdmem.search.index.layout import MAX_NS
from mdmem.search.index.scan import changed_last, folder_time, stamped
from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.search.index.scan import Diff, Seen, Stamped
    from mdmem.search.index.view import View

SHARE = 500
"""Number of other notes checked each time: a vault of 100,000 notes is covered after 200 short scans."""
EVERY = 1 << 60
"""Check every note at its known path, and changed folders: half the work of a walk."""
MOST_AT_ONCE, NEWEST = 200_000, 50_000
"""With more notes than this, a caller that waits for an answer checks only people's own notes and this many new ones.
A background process checks the others; see `completion.check_files`."""


class ScanRecord(NamedTuple):
    """The record of earlier scans. times: of the folders. changed: the files that changed last, the newest last."""

    times: FolderTimes
    changed: list[Stamped]


def load(index_dir: str) -> ScanRecord | None:
    """Return the record, cached while its file is unchanged; None if there is none that can be used."""
    path = os.path.join(index_dir, FOLDERS)
    try:
        state = os.stat(path)
        stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
        cached = _read.get(path)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        data = files.read_own(path, MAX_BYTES)
    except OSError:
        return None
    packed = memoryview(data)  # slices without copies
    if len(data) < 8 or zlib.crc32(packed[4:]) != int.from_bytes(data[:4], "little"):
        return None
    head = 8 + int.from_bytes(data[4:8], "little")
    try:
        groups, changed = marshal.loads(packed[8:head])
        record = ScanRecord(FolderTimes(groups, packed[head:]), changed)
    except (EOFError, ValueError, TypeError):
        return None  # written by an earlier version
    _read[path] = (stamp, record)
    return record


def folders_seen(config: Config) -> list[str]:
    """Return the vault's folders from the record; [] without one."""
    record = load(config.index_dir)
    return list(record.times.by_path) if record is not None else []


_read: dict[str, tuple[tuple[int, int, int], ScanRecord]] = {}
"""Cached records, by path. An outdated one is harmless: it only causes more checks."""


def remember(
    config: Config, record: ScanRecord | None, changed: list[Stamped], seen: Seen, diff: Diff, started_ns: int
) -> None:
    """Record the times of the scanned folders, now that all notes in them are indexed, and the changed files.

    record: the previous one. changed: the files in it with present stamps. started_ns: when the scan began; folders
        changed since then are to be read again.
    """
    times, changed_before = record or ScanRecord(FolderTimes.of({}), [])
    if seen.shallow is not None and not (seen.shallow or seen.folders or diff) and changed == changed_before:
        return
    scanned: dict[str, int | None] = dict.fromkeys(seen.shallow or ())
    for folder in seen.folders:
        mtime_ns = folder_time(config.vault, folder)
        if mtime_ns is not None:
            scanned[folder] = mtime_ns if mtime_ns < started_ns - _step_ns(mtime_ns) else -1
    if seen.shallow is None:
        new_times, newest = FolderTimes.of({}).with_others(scanned), seen.newest.files if seen.newest else []
    else:
        new_times, newest = times.with_others(scanned), sorted(map(stamped, diff.files))
    listed_anew = {*diff.gone, *(file[1] for file in newest)}
    changed_now = changed_last([*(file for file in changed if file[1] not in listed_anew), *newest])
    if changed_now != changed_before or not new_times.equals(times):
        groups, packed = new_times.pack()
        head = marshal.dumps((groups, changed_now))
        _save(os.path.join(config.index_dir, FOLDERS), len(head).to_bytes(4, "little"), head, packed)


def is_large(view: View) -> bool:
    """Whether checking every note takes too long for somebody who waits."""
    return view.size > MOST_AT_ONCE


def turn(index_dir: str, view: View, count: int) -> Iterable[int]:
    """Return the notes to check now: the next share, or all, or, in a large vault, the likeliest."""
    if count < view.size:
        return _share(index_dir, view.size, count)
    if not is_large(view):
        return range(view.size)
    return view.of_kinds(note.WRITTEN) | view.latest(NEWEST)


def _share(index_dir: str, size: int, count: int) -> range:
    """Return the next `count` of `size` notes, and record that they were checked."""
    path = os.path.join(index_dir, TURN)
    try:
        start = int(files.read_own(path, 20))
    except (OSError, ValueError):
        start = 0
    start = start if 0 <= start < size else 0
    try:
        files.write(path, b"%d" % (start + count))
    except OSError:
        pass  # this share is then checked again
    return range(start, min(start + count, size))


def _save(path: str, *parts: bytes | memoryview) -> None:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    files.try_replace(path, b"".join([checksum.to_bytes(4, "little"), *parts]))  # a full disk only costs the short scan


def reliable_mtime(at_ns: int) -> int:
    """Return an mtime to record; -1 if a change just after now could leave the same one, and so not be seen.

    Also -1 if it does not fit the index: broken disks and archives have such times.
    """
    return -1 if abs(time.time_ns() - at_ns) < _step_ns(at_ns) or abs(at_ns) > MAX_NS else at_ns


def _step_ns(at_ns: int) -> int:
    """Return the resolution of a file system's mtimes: some ms, or two seconds if it stores whole seconds."""
    return 2_000_000_000 if at_ns % 1_000_000_000 == 0 else 50_000_000
