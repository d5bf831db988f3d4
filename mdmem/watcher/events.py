"""Turn file system events into batches of paths. This is an optimization, never the truth.

An event only marks a path as dirty, whatever its type: publishing a note by a hard link gives one `created`, an
editor's atomic save gives `moved`, a burst into new folders gives no `closed`. A sweep over the whole vault finds what
events can miss: an overflow of the kernel's queue, sleep, a share without events.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from mdmem.vault import disk, is_in_journal
from mdmem.watcher import file_system, touched
from mdmem.watcher.file_system import FolderIdentity, identity_of

DEBOUNCE_SECONDS = 0.1
"""How long nothing must happen before a batch is complete."""

LONGEST_SECONDS = 0.6
"""A batch is complete after this long even if events go on."""

TURN_QUIET_SECONDS = 10.0
"""Notes of an unfinished turn are a batch when none came for this long…"""

TURN_SECONDS = 60.0
"""…or after this long. A search in the meantime indexes them first."""

TURN_NOTES = 32
"""Number of dirty paths that do not wait for the end of a turn."""

LOOK_UP_SECONDS = 5.0
"""Longest delay before a stop request is noticed while nothing happens; `Dirty.sweep` wakes the loop at once."""

POLL_SECONDS = 10.0
"""Interval of sweeps where the system reports no changes."""

RENEW_SECONDS = 120.0
"""How long to wait before retrying a watch that the system refused."""

MAX_BATCH = 4_000
"""With more dirty paths than this, the whole vault is swept instead."""

KINDS = [
    found
    for name in ("Created", "Modified", "Attrib", "Closed", "Moved", "Deleted", "DirCreated", "DirMoved", "DirDeleted")
    if (found := getattr(events, f"{name if name.startswith('Dir') else f'File{name}'}Event", None))
]
"""Event types to listen to; not those for opened and read files, of which every answer causes hundreds."""

FEW = 64
"""Maximum number of dirty notes that are indexed while somebody waits for an answer."""


class Dirty(FileSystemEventHandler):
    """The set of paths that something happened to: filled by watchdog's thread, emptied by the indexing one.

    unwatched: why the system reports no changes, so that the vault is polled instead; "" if it reports them.
    place: the watched folder.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._begin = self.root.rstrip(os.sep) + os.sep
        self._paths: set[str] = set()
        self._sweep = True  # nothing is known at first
        self._ends = False
        self.touched = touched.TouchedFiles()
        self.unwatched = ""
        self.place: FolderIdentity = (0, 0)
        self._changed = threading.Condition()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Mark an event's paths as dirty; a folder stands for everything in it."""
        if event.is_directory and event.event_type not in ("created", "moved", "deleted"):
            return  # its files have events of their own
        for path in (event.src_path, event.dest_path):
            if not path:
                continue
            relative = self.relative(os.fsdecode(path))
            self.touched.add(relative)
            hidden = relative.startswith(".") or "/." in relative
            if relative and not hidden and (event.is_directory or disk.is_note_path(relative, ours=False)):
                with self._changed:
                    self._paths.add(relative)
                    self._ends = self._ends or not _is_of_turn(relative)
                    self._changed.notify()

    def relative(self, path: str) -> str:
        """Return a path as notes are named: vault-relative, with slashes."""
        if path.startswith(self._begin):  # costs a tenth of `relpath`, and runs a hundred times a turn
            return path[len(self._begin) :].replace(os.sep, "/")
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def mark(self, paths: Iterable[str]) -> None:
        """Mark paths as dirty."""
        with self._changed:
            self._paths.update(paths)
            self._ends = True
            self._changed.notify()

    def sweep(self) -> None:
        """Mark the whole vault as dirty."""
        with self._changed:
            self._sweep = True
            self._changed.notify()

    def is_in_place(self) -> bool:
        """Whether the watched folder is still where the vault is; if not, the whole vault becomes dirty."""
        is_in_place = identity_of(self.root) == self.place
        if not is_in_place:
            self.sweep()
        return is_in_place

    def wait(self, seconds: float) -> bool:
        """Wait until something is dirty; False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._paths) or self._sweep, seconds)

    def wait_for_turn(self, seconds: float) -> bool:
        """Wait while nothing but a few notes of an unfinished turn is dirty; False if that lasts for this long."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._ends or self._sweep or not 0 < len(self._paths) < TURN_NOTES, seconds
            )

    def count(self) -> int:
        """Return the number of dirty paths."""
        with self._changed:
            return len(self._paths)

    def take(self) -> set[str] | None:
        """Return and forget the dirty paths; None for the whole vault."""
        with self._changed:
            paths, sweep = self._paths, self._sweep
            self._paths, self._sweep, self._ends = set(), False, False
        return None if sweep or len(paths) > MAX_BATCH else paths

    def take_few(self) -> set[str] | None:
        """Return and forget the dirty paths if there are at most `FEW`; otherwise leave them and return None."""
        with self._changed:
            if self._sweep or len(self._paths) > FEW:
                return None
            paths, self._paths, self._ends = self._paths, set(), False
        return paths


def _is_of_turn(path: str) -> bool:
    """Whether a path is in the journal and is not an answer, which ends a turn."""
    return is_in_journal(path) and "-response-" not in path.rpartition("/")[2]


class _Warnings(logging.Handler):
    """Notices queue overflows, which watchdog reports only in its log, and keeps them off the user's terminal."""

    def __init__(self, dirty: Dirty) -> None:
        super().__init__(logging.WARNING)
        self.dirty = dirty

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - logging's signature
        """Take any warning of watchdog as a sign of missing events."""
        self.dirty.touched.begin()
        self.dirty.sweep()


def settled(
    dirty: Dirty, stop: threading.Event, *, sweep_seconds: float = 180.0, by_turns: bool = False
) -> Iterator[None]:
    """Watch the vault until `stop`; yield whenever something is dirty and events have paused for a moment.

    by_turns: notes of an unfinished turn wait until it ends, since indexing a batch costs little more than one note.
    The whole vault becomes dirty every `sweep_seconds`, after an overflow, and when the system cannot watch more
    folders. Watching begins before the first sweep, so that nothing is missed in between.
    """
    watched: _Watched | None = None
    log = logging.getLogger("watchdog")
    overflows = _Warnings(dirty)
    log.addHandler(overflows)
    # A folder made while watching begins is watched twice, which is harmless; watchdog 7 prints a warning about it.
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning, module="watchdog")
    try:
        watched = _Watched(dirty)
        swept = time.monotonic()
        while not stop.is_set():
            if watched.is_elsewhere():  # as when another disk was mounted there, or the vault was moved and put back
                dirty.sweep()
                watched.renew()
            pause = min(sweep_seconds, POLL_SECONDS) if dirty.unwatched else sweep_seconds
            seconds_left = pause - (time.monotonic() - swept)
            if seconds_left > 0 and not dirty.wait(min(seconds_left, LOOK_UP_SECONDS)):
                continue
            if seconds_left <= 0:
                dirty.sweep()
                swept = time.monotonic()
                watched.sweep()
            if by_turns:
                _until_still(dirty, TURN_SECONDS, partial(dirty.wait_for_turn, TURN_QUIET_SECONDS))
            _until_still(dirty, LONGEST_SECONDS, partial(stop.wait, DEBOUNCE_SECONDS))
            yield
    finally:
        if watched is not None:
            watched.end()
        log.removeHandler(overflows)


class _Watched:
    """The system's watch over the vault's folders; where the system refuses one, sweeps replace it."""

    def __init__(self, dirty: Dirty) -> None:
        self._dirty = dirty
        self._place: FolderIdentity = (0, 0)
        self._seen = identity_of(dirty.root)
        self._again = 0.0
        self._is_local = file_system.is_local(Path(dirty.root))
        self._observer: BaseObserver | None = None
        self.renew()

    def is_elsewhere(self) -> bool:
        """Whether another folder, or none, is now where the vault was at the last call, or nobody listens any more."""
        before, self._seen = self._seen, identity_of(self._dirty.root)
        if self._observer is not None and not all(thread.is_alive() for thread in _threads(self._observer)):
            self._place = (0, 0)  # the system's queue could not be read
            return True
        return self._seen != before

    def renew(self) -> None:
        """Watch again if the vault's folder was replaced, or could not be watched."""
        place = identity_of(self._dirty.root)
        if place == self._place or time.monotonic() < self._again:
            return
        self.end()
        try:
            self._observer = Observer()  # from here on, it has a queue of the system and a thread
            self._observer.schedule(self._dirty, self._dirty.root, recursive=True, event_filter=KINDS)
            self._observer.start()
        except OSError as error:
            self.end()
            if error.errno in _REASONS:
                self._again = time.monotonic() + RENEW_SECONDS  # each try may be expensive
            self._dirty.unwatched = _REASONS.get(error.errno or 0, "the vault's folder cannot be watched")
            return
        except BaseException:  # as where no thread can be started
            self.end()
            raise
        self._place = self._dirty.place = place
        self._dirty.touched.begin()
        self._look()

    def sweep(self) -> None:
        """Find files changed without an event. Notes are left to the indexer, which meets all of them in a sweep."""
        self.renew()
        self._dirty.touched.sweep(is_local=self._is_local)
        self._look()

    def _look(self) -> None:
        """Check whether every folder is watched: watchdog does not report those that the system refuses."""
        watches = _watches()
        if self._observer is None or watches is None:
            return
        folders = 0
        for folder, _, names in os.walk(self._dirty.root):
            folders += 1
            inside = self._dirty.relative(folder)
            for path in (name if inside == "." else f"{inside}/{name}" for name in names):
                if not (disk.is_note_path(path) or path.startswith(".git/")):
                    self._dirty.touched.met(path, _changed_ns(f"{self._dirty.root}/{path}"))
        self._dirty.unwatched = _REASONS[errno.ENOSPC] if watches < folders else ""

    def end(self) -> None:
        """Stop watching."""
        self._dirty.touched.end()
        if self._observer is not None:
            self._observer.stop()
            if self._observer.is_alive():
                self._observer.join()
            self._observer = None
        self._place = (0, 0)


def _threads(observer: BaseObserver) -> list[threading.Thread]:
    """Return the threads that each event passes through; the one that reads the system's queue has no public name."""
    parts = (observer, *observer.emitters, *(part for emitter in observer.emitters for part in vars(emitter).values()))
    return [part for part in parts if isinstance(part, threading.Thread)]


_REASONS = {
    errno.ENOSPC: "all inotify watches of this user are taken (raise fs.inotify.max_user_watches)",
    errno.EMFILE: "all inotify instances of this user are taken (raise fs.inotify.max_user_instances)",
}


def _watches() -> int | None:
    """Return how many folders the system watches for this process; None when unknown."""
    try:
        entries = list(Path("/proc/self/fdinfo").iterdir())
    except OSError:
        return None
    lines = [line for entry in entries for line in _lines(entry)]
    return sum(line.startswith("inotify wd:") for line in lines)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []  # closed meanwhile


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return time.time_ns()


def _until_still(dirty: Dirty, seconds: float, wait: Callable[[], bool]) -> None:
    """Wait, again and again, until nothing new is dirty; at most this long, or until `wait` returns True."""
    began = time.monotonic()
    before = -1
    while dirty.count() != before and time.monotonic() - began < seconds:
        before = dirty.count()
        if wait():
            return
