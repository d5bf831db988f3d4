"""File system events become batches of paths. It is an optimisation, never the truth.

An event only marks a path dirty, whatever it says happened: a note published by a link gives one `created`,
an editor's atomic save gives `moved`, a burst into new folders gives no `closed`. What events can
miss (an overflow of the kernel's queue, sleep, a share without events), a sweep over the whole vault finds.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from mdmem.vault import disk
from mdmem.watcher import stillness, touched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchdog.observers.api import BaseObserver

DEBOUNCE_SECONDS = 0.1
"""How long nothing must happen before a batch is due."""

LONGEST_SECONDS = 0.6
"""A batch is due after this long, even while things go on happening."""

TURN_QUIET_SECONDS = 10.0
"""Notes of a turn under way are a batch when none came for this long…"""

TURN_SECONDS = 60.0
"""…or after this long; a search in the meantime indexes them first."""

TURN_NOTES = 32
"""Number of dirty paths that do not wait for the end of a turn."""

LOOK_UP_SECONDS = 5.0
"""How long a wish to stop may go unheard while nothing happens, unless `Dirty.sweep` wakes who waits."""

POLL_SECONDS = 10.0
"""Where the system tells of no change, the whole vault is looked through this often."""

RENEW_SECONDS = 120.0
"""A watch that the system refused is not asked for again before this."""

MAX_BATCH = 4_000
"""More dirty paths than this are not looked at one by one: the whole vault is swept."""

KINDS = [
    found
    for name in ("Created", "Modified", "Attrib", "Closed", "Moved", "Deleted", "DirCreated", "DirMoved", "DirDeleted")
    if (found := getattr(events, f"{name if name.startswith('Dir') else f'File{name}'}Event", None))
]
"""What is listened to. Files that are opened and read are not: every answer reads some, and would set off hundreds."""


FEW = 64
"""Number of dirty notes that are indexed while somebody waits for an answer."""


class Dirty(FileSystemEventHandler):
    """The set of paths that something happened to, filled by watchdog's thread and emptied by whoever indexes them.

    unwatched: why the system tells of no change, so that the vault is looked through instead; "" while it does.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._begin = self.root.rstrip(os.sep) + os.sep
        self._paths: set[str] = set()
        self._sweep = True  # at first nothing is known
        self._ends = False
        self.touched = touched.TouchedFiles()
        self.unwatched = ""
        self._changed = threading.Condition()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Mark what an event names; a folder stands for all that is in it."""
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
        """Return a path of the vault as its notes are named: vault-relative, with slashes."""
        if path.startswith(self._begin):  # a tenth of what `relpath` costs, a hundred times a turn
            return path[len(self._begin) :].replace(os.sep, "/")
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def sweep(self) -> None:
        """Ask for the whole vault to be looked at."""
        with self._changed:
            self._sweep = True
            self._changed.notify()

    def wait(self, seconds: float) -> bool:
        """Wait until something is dirty; False when nothing was for this long."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._paths) or self._sweep, seconds)

    def wait_for_turn(self, seconds: float) -> bool:
        """Wait while all that is dirty belongs to a turn under way; False when that is so still after this long."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._ends or self._sweep or not 0 < len(self._paths) < TURN_NOTES, seconds
            )

    def count(self) -> int:
        """Return how many paths are dirty."""
        with self._changed:
            return len(self._paths)

    def take(self) -> set[str] | None:
        """Return all that is dirty and forget it; None for the whole vault."""
        with self._changed:
            paths, sweep = self._paths, self._sweep
            self._paths, self._sweep, self._ends = set(), False, False
        return None if sweep or len(paths) > MAX_BATCH else paths

    def take_few(self) -> set[str] | None:
        """Return what is dirty and forget it, if that is at most `FEW` paths; otherwise leave it and return None."""
        with self._changed:
            if self._sweep or len(self._paths) > FEW:
                return None
            paths, self._paths, self._ends = self._paths, set(), False
        return paths


def _is_of_turn(path: str) -> bool:
    """Whether a path is in the journal, and not the answer that ends a turn."""
    return path.startswith("journal/") and "-response-" not in path.rpartition("/")[2]


class _Warnings(logging.Handler):
    """Notice an overflow where watchdog tells it, in its log, and keep that off the user's terminal."""

    def __init__(self, dirty: Dirty) -> None:
        super().__init__(logging.WARNING)
        self.dirty = dirty

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - logging's signature
        """Take any warning of watchdog's as a sign that events may be missing."""
        self.dirty.touched.begin()
        self.dirty.sweep()


def settled(
    dirty: Dirty, stop: threading.Event, *, sweep_seconds: float = 180.0, by_turns: bool = False
) -> Iterator[None]:
    """Watch the vault; yield whenever something is dirty and nothing more has happened for a moment, until `stop`.

    by_turns: what belongs to a turn under way waits until the turn ends, since a batch costs little more than a note.
    Every `sweep_seconds`, after an overflow, and where the system can watch no further folder, the whole vault
    is dirty. The watch begins before the first sweep is due, so that nothing falls between them.
    """
    watched: _Watched | None = None
    log = logging.getLogger("watchdog")
    overflows = _Warnings(dirty)
    log.addHandler(overflows)
    # a folder made while the watch begins is watched twice, to the same end, of which watchdog 7 warns on the terminal
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning, module="watchdog")
    try:
        watched = _Watched(dirty)
        swept = time.monotonic()
        while not stop.is_set():
            pause = min(sweep_seconds, POLL_SECONDS) if dirty.unwatched else sweep_seconds
            left = pause - (time.monotonic() - swept)
            if left > 0 and not dirty.wait(min(left, LOOK_UP_SECONDS)):
                continue
            if left <= 0:
                dirty.sweep()
                swept = time.monotonic()
                watched.renew()
                watched.sweep()
            if by_turns:
                _let_turn_end(dirty)
            _settle(dirty, stop)
            yield
    finally:
        if watched is not None:
            watched.end()
        log.removeHandler(overflows)


class _Watched:
    """The system's watch over the vault's folders; there is none where it refuses one, and sweeps do the work."""

    def __init__(self, dirty: Dirty) -> None:
        self._dirty = dirty
        self._inode = 0
        self._again = 0.0
        self._is_local = stillness.is_local(Path(dirty.root))
        self._observer: BaseObserver | None = None
        self.renew()

    def renew(self) -> None:
        """Watch again when the vault's folder is another one than was watched, or could not be watched at all."""
        inode = _inode(self._dirty.root)
        if inode == self._inode or time.monotonic() < self._again:
            return
        self.end()
        try:
            observer = Observer()
            observer.schedule(self._dirty, self._dirty.root, recursive=True, event_filter=KINDS)
            observer.start()
        except OSError as error:
            if error.errno in _REASONS:
                self._again = time.monotonic() + RENEW_SECONDS  # each try may cost the system something
            self._dirty.unwatched = _REASONS.get(error.errno or 0, "the vault's folder cannot be watched")
            return
        self._observer, self._inode = observer, inode
        self._dirty.touched.begin()
        self._look()

    def sweep(self) -> None:
        """Look for what no event has told of; that of notes whoever indexes them then tells."""
        self.renew()
        self._dirty.touched.sweep(is_local=self._is_local)
        self._look()

    def _look(self) -> None:
        """Look whether every folder is watched, since watchdog does not tell of one that the system refuses."""
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
            self._observer.join()
            self._observer = None
        self._inode = 0


_REASONS = {
    errno.ENOSPC: "all inotify watches of this user are taken (raise fs.inotify.max_user_watches)",
    errno.EMFILE: "all inotify instances of this user are taken (raise fs.inotify.max_user_instances)",
}


def _watches() -> int | None:
    """Return how many folders the system watches for this process; None where it does not say."""
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
        return []  # of a file that was closed meanwhile


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return time.time_ns()


def _inode(path: str) -> int:
    try:
        return Path(path).stat().st_ino
    except OSError:
        return -1


def _let_turn_end(dirty: Dirty) -> None:
    """Wait until a turn under way has ended, or no note of it has come for a while."""
    begun = time.monotonic()
    before = -1
    while dirty.count() != before and time.monotonic() - begun < TURN_SECONDS:
        before = dirty.count()
        if dirty.wait_for_turn(TURN_QUIET_SECONDS):
            return


def _settle(dirty: Dirty, stop: threading.Event) -> None:
    """Wait until nothing more happens for a moment, so that a burst becomes one batch."""
    begun = time.monotonic()
    before = -1
    while dirty.count() != before and time.monotonic() - begun < LONGEST_SECONDS and not stop.is_set():
        before = dirty.count()
        stop.wait(DEBOUNCE_SECONDS)
