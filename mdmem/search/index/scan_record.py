"""What was looked at when the index was last brought up to date, so that the next look can be a short one.

times: when each of the vault's folders changed last, at a moment when all that is in it had been indexed. changed:
the notes that changed last, of all: those will change again. turn: how far the share of the others has come that
each short look takes. A cache beside the index: losing it costs one look at every file.
"""

from __future__ import annotations

import marshal
import os
import zlib
from typing import TYPE_CHECKING, NamedTuple

from mdmem import files
from mdmem.search.index.contents import FOLDERS, MAX_BYTES, TURN
from mdmem.search.index.folder_times import FolderTimes
from mdmem.search.index.scan import changed_last, folder_time, stamped
from mdmem.vault import note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.search.index.scan import Diff, Seen, Stamped
    from mdmem.search.index.view import View

SHARE = 500
"""Number of other notes checked each time: a vault of 100,000 notes is covered after 200 short looks."""
EVERY = 1 << 60
"""Each note is looked at where it is known to lie, and folders that changed: half the work of a walk."""
MOST_AT_ONCE, NEWEST = 200_000, 50_000
"""Where there are more notes than this, who waits for an answer looks at people's own notes, and so many of the newest.
A process in the background looks at the others; see `completion.look`."""


class ScanRecord(NamedTuple):
    """What is kept of earlier looks. times: of the folders. changed: the files that changed last, the newest last."""

    times: FolderTimes
    changed: list[Stamped]


def load(index_dir: str) -> ScanRecord | None:
    """Read what is kept, unless it was read before; None when there is nothing to rely on."""
    path = os.path.join(index_dir, FOLDERS)
    try:
        found = os.stat(path)
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        known = _read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        data = files.read(path, MAX_BYTES)
    except OSError:
        return None
    packed = memoryview(data)  # parts of it are no copies
    if len(data) < 8 or zlib.crc32(packed[4:]) != int.from_bytes(data[:4], "little"):
        return None
    head = 8 + int.from_bytes(data[4:8], "little")
    try:
        groups, changed = marshal.loads(packed[8:head])
        record = ScanRecord(FolderTimes(groups, packed[head:]), changed)
    except (EOFError, ValueError, TypeError):
        return None  # an earlier version's
    _read[path] = (stamp, record)
    return record


def folders_seen(config: Config) -> list[str]:
    """Return the vault's folders as the last look left them; none when nothing is kept of it."""
    kept = load(config.index_dir)
    return list(kept.times.by_path) if kept is not None else []


_read: dict[str, tuple[tuple[int, int, int], ScanRecord]] = {}
"""What was read last, by path. To have an older record is no harm: more is looked at then."""


def remember(
    config: Config, kept: ScanRecord | None, changed: list[Stamped], seen: Seen, diff: Diff, started_ns: int
) -> None:
    """Keep the times of the folders that were read, now that all notes in them are indexed, and what changed.

    kept: what was kept before. changed: the files in it as they are now. started_ns: when looking began; a folder that
        changed since is to be read again.
    """
    times, before = kept or ScanRecord(FolderTimes.of({}), [])
    if seen.shallow is not None and not (seen.shallow or seen.folders or diff) and changed == before:
        return
    looked: dict[str, int | None] = dict.fromkeys(seen.shallow or ())
    for folder in seen.folders:
        at = folder_time(config.vault, folder)
        if at is not None:
            looked[folder] = at if at < started_ns - _step_ns(at) else -1
    if seen.shallow is None:
        now, newest = FolderTimes.of({}).with_others(looked), seen.newest.found if seen.newest else []
    else:
        now, newest = times.with_others(looked), sorted(map(stamped, diff.files))
    again = {*diff.gone, *(one[1] for one in newest)}
    last = changed_last([*(one for one in changed if one[1] not in again), *newest])
    groups, packed = now.pack()
    if (groups, packed) != times.pack() or last != before:
        head = marshal.dumps((groups, last))
        _save(os.path.join(config.index_dir, FOLDERS), b"".join([len(head).to_bytes(4, "little"), head, packed]))


def is_large(view: View) -> bool:
    """Whether looking at every note takes longer than somebody waits for an answer."""
    return view.size > MOST_AT_ONCE


def turn(index_dir: str, view: View, count: int) -> Iterable[int]:
    """Return which notes are to be looked at now: those whose turn it is, or all, or, of very many, the likeliest."""
    if count < view.size:
        return _share(index_dir, view.size, count)
    if not is_large(view):
        return range(view.size)
    return view.of_kinds(note.WRITTEN) | view.latest(NEWEST)


def _share(index_dir: str, size: int, count: int) -> range:
    """Return which of `size` notes have their turn, `count` of them, and take note that they were looked at."""
    path = os.path.join(index_dir, TURN)
    try:
        start = int(files.read(path, 20))
    except (OSError, ValueError):
        start = 0
    start = start if 0 <= start < size else 0
    try:
        files.write(path, b"%d" % (start + count))
    except OSError:
        pass  # this share is then looked at again
    return range(start, min(start + count, size))


def _save(path: str, data: bytes) -> None:
    try:
        files.replace(path, zlib.crc32(data).to_bytes(4, "little") + data)
    except OSError:
        return  # a full disk costs the short look, nothing else


def fresh(at_ns: int, looked_ns: int) -> bool:
    """Whether a change just after looking could have the same mtime, so that it would not be seen."""
    return abs(looked_ns - at_ns) < _step_ns(at_ns)


def _step_ns(at_ns: int) -> int:
    """Return how far apart the times of a file system may lie: some ms, or two seconds where it keeps whole ones."""
    return 2_000_000_000 if at_ns % 1_000_000_000 == 0 else 50_000_000
