"""The scope of a check: all notes of a small vault; of a large one, only what is new since the last check.

The hashes of notes without problems are stored. So a note is checked again when its text has changed, whatever its
mtime, and while something is wrong with it.
"""

from __future__ import annotations

import posixpath
import time
from array import array
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, groupby, islice
from pathlib import Path

from mdmem import files
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.history.git.paths import PackedPaths
from mdmem.progress import CountCallback
from mdmem.search import freshness, index
from mdmem.search.index import DamagedError
from mdmem.search.index.view import View
from mdmem.vault import disk
from mdmem.watcher import client

FEW_NOTES = 2_000
"""A vault with at most this many notes is always checked completely."""
MAX_DAYS = 30
"""After this long every vault is checked completely again."""
_MAX_BYTES = 64 * 1024 * 1024
_STATE = "doctor"


class CheckScope:
    """What to check. paths: the notes to read; None: all notes and all other files.

    view: the index, in a partial check. wrong: notes with findings.
    report: progress callback: notes done, total.
    """

    def __init__(self, paths: list[str] | None = None, view: View | None = None) -> None:
        self.paths = paths
        self.view = view
        self.wrong: set[str] = set()
        self.report: CountCallback = lambda _done, _all: None

    @property
    def is_whole(self) -> bool:
        """Whether this is a full check."""
        return self.paths is None

    def notes(self, config: Config) -> Collection[str]:
        """Return the notes to read, folder by folder, sorted by name."""
        if self.paths is not None:
            return self.paths
        by_folder = groupby((entry.path for entry in disk.walk(config.vault)), key=posixpath.dirname)
        return PackedPaths(chain.from_iterable(sorted(paths) for _, paths in by_folder))


def of(config: Config, *, every: bool) -> CheckScope:
    """Return the scope for a vault. every: check everything."""
    known_hashes = None if every else _load(config)
    if known_hashes is None:
        return CheckScope()
    try:
        if not client.has_indexed_all(config):
            changes, _ = freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
            if not changes.complete and freshness.being_built(config):
                return CheckScope()
        view = index.current(config)
        if view is None or view.live <= FEW_NOTES:
            return CheckScope()
        new = [view.path(note) for note in _unknown(view, known_hashes)]
    except (MdmemError, DamagedError, OSError):
        return CheckScope()  # the index check reports it
    return CheckScope(sorted(new), view)


def remember(config: Config, scope: CheckScope) -> None:
    """Store the hashes of notes without problems, unless no note was read."""
    if scope.paths == []:
        return
    try:
        view = index.current(config)
    except (DamagedError, OSError):
        return
    if view is None or view.live <= FEW_NOTES:
        return
    digests = view.numbers("digest")
    wrong = {digests[note] for path in scope.wrong if (note := view.find(path)) is not None}
    full_check = int(time.time()) if scope.is_whole else _read(config)[0]
    hashes = array("Q", (digests[note] for note in view.all if digests[note] not in wrong))
    # If that fails, the next check is a full one.
    files.try_replace(str(Path(config.state_dir, _STATE)), array("Q", [full_check]).tobytes() + hashes.tobytes())


def _read(config: Config) -> array[int]:
    """Return the time of the last full check, in seconds since the epoch (0: never), followed by the stored hashes."""
    try:
        data = files.read_own(str(Path(config.state_dir, _STATE)), _MAX_BYTES)
    except OSError:
        data = b""
    return array("Q", data[: len(data) // 8 * 8]) or array("Q", [0])


def _unknown(view: View, known_hashes: array[int]) -> Iterator[int]:
    """Yield notes with unknown hashes: mostly those after the longest common prefix of both lists."""
    digests = view.numbers("digest")
    every = array("Q", map(digests.__getitem__, view.all)) if view.deleted else digests
    same, end = 0, min(len(every), len(known_hashes))
    while same < end:
        middle = (same + end + 1) // 2
        same, end = (middle, end) if every[same:middle] == known_hashes[same:middle] else (same, middle - 1)
    remaining = frozenset(known_hashes[same:])  # a set of all of them would cost too much memory
    return (note for note in islice(view.all, same, None) if digests[note] not in remaining)


def _load(config: Config) -> array[int] | None:
    """Return the stored hashes; None when the last full check is too long ago."""
    stored = _read(config)
    is_recent = 0 <= time.time() - stored[0] < MAX_DAYS * 86_400
    return stored[1:] if is_recent else None


def twins(view: View, path: str, name: str) -> Iterable[str]:
    """Return the other notes with the same id."""
    return sorted({view.path(note) for note in view.notes("facet", f"id:{name}".lower())} - {path})
