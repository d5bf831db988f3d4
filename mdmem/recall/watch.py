"""The watcher: file system events become batches of paths. It is an optimisation, never the truth.

An event only marks a path dirty, whatever it says happened: a note published by a link gives one `created`,
an editor's atomic save gives `moved`, a burst into new folders gives no `closed`. What events can
miss (an overflow of the kernel's queue, sleep, a share without events), a sweep over the whole vault finds.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from mdmem import vault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchdog.observers.api import BaseObserver

DEBOUNCE_SECONDS = 0.1
"""How long nothing must happen before a batch is due."""

LONGEST_SECONDS = 0.6
"""A batch is due after this long, even while things go on happening."""

LOOK_UP_SECONDS = 5.0
"""How long a wish to stop may go unheard while nothing happens, unless `Dirty.sweep` wakes who waits."""

MAX_BATCH = 4_000
"""More dirty paths than this are not looked at one by one: the whole vault is swept."""

KINDS = [
    found
    for name in ("Created", "Modified", "Attrib", "Closed", "Moved", "Deleted", "DirCreated", "DirMoved", "DirDeleted")
    if (found := getattr(events, f"{name if name.startswith('Dir') else f'File{name}'}Event", None))
]
"""What is listened to. Files that are opened and read are not: every answer reads some, and would set off hundreds."""


class Dirty(FileSystemEventHandler):
    """The set of paths that something happened to, filled by watchdog's thread and emptied by whoever indexes them."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._paths: set[str] = set()
        self._sweep = True  # at first nothing is known
        self._changed = threading.Condition()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Mark what an event names; a folder stands for all that is in it."""
        if event.is_directory and event.event_type not in ("created", "moved", "deleted"):
            return  # its files have events of their own
        for path in (event.src_path, event.dest_path):
            name = self._relative(os.fsdecode(path)) if path else None
            if name and (event.is_directory or vault.is_note_path(name, ours=False)):
                with self._changed:
                    self._paths.add(name)
                    self._changed.notify()

    def _relative(self, path: str) -> str | None:
        name = os.path.relpath(path, self.root).replace(os.sep, "/")
        hidden = name.startswith((".", "..")) or "/." in name
        return None if hidden else name

    def sweep(self) -> None:
        """Ask for the whole vault to be looked at."""
        with self._changed:
            self._sweep = True
            self._changed.notify()

    def wait(self, seconds: float) -> bool:
        """Wait until something is dirty; False when nothing was for this long."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._paths) or self._sweep, seconds)

    def count(self) -> int:
        """Say how many paths are dirty."""
        with self._changed:
            return len(self._paths)

    def take(self) -> set[str] | None:
        """Take all that is dirty; None for the whole vault."""
        with self._changed:
            paths, sweep = self._paths, self._sweep
            self._paths, self._sweep = set(), False
        return None if sweep or len(paths) > MAX_BATCH else paths

    def take_few(self, most: int) -> set[str] | None:
        """Take what is dirty when that is at most so many paths; else leave it, and give None."""
        with self._changed:
            if self._sweep or len(self._paths) > most:
                return None
            paths, self._paths = self._paths, set()
        return paths


class _Warnings(logging.Handler):
    """Hear of an overflow where watchdog tells it, in its log, and keep that off the user's terminal."""

    def __init__(self, dirty: Dirty) -> None:
        super().__init__(logging.WARNING)
        self.dirty = dirty

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - logging's signature
        """Any warning of watchdog's means that events may be missing."""
        self.dirty.sweep()


def settled(dirty: Dirty, stop: threading.Event, *, sweep_seconds: float = 180.0) -> Iterator[None]:
    """Watch the vault; yield whenever something is dirty and nothing more has happened for a moment, until `stop`.

    Every `sweep_seconds`, after an overflow, and where the system can watch no further folder, the whole vault
    is dirty. The watch begins before the first sweep is due, so that nothing falls between them.
    """
    watched: _Watched | None = None
    log = logging.getLogger("watchdog")
    warnings = _Warnings(dirty)
    log.addHandler(warnings)
    try:
        watched = _Watched(dirty)
        swept = time.monotonic()
        while not stop.is_set():
            left = sweep_seconds - (time.monotonic() - swept)
            if left > 0 and not dirty.wait(min(left, LOOK_UP_SECONDS)):
                continue
            if left <= 0:
                dirty.sweep()
                swept = time.monotonic()
                watched.renew()
            _settle(dirty, stop)
            yield
    finally:
        if watched is not None:
            watched.end()
        log.removeHandler(warnings)


class _Watched:
    """The system's watch over the vault's folders; there is none where it refuses one, and sweeps do the work."""

    def __init__(self, dirty: Dirty) -> None:
        self._dirty = dirty
        self._inode = 0
        self._observer: BaseObserver | None = None
        self.renew()

    def renew(self) -> None:
        """Watch anew when the vault's folder is another one than was watched, or could not be watched at all."""
        inode = _inode(self._dirty.root)
        if inode == self._inode:
            return
        self.end()
        observer = Observer()
        try:
            observer.schedule(self._dirty, self._dirty.root, recursive=True, event_filter=KINDS)
            observer.start()
        except OSError:  # the user's watches are used up, or the vault is away
            return
        self._observer, self._inode = observer, inode

    def end(self) -> None:
        """Watch no more."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None
        self._inode = 0


def _inode(path: str) -> int:
    try:
        return Path(path).stat().st_ino
    except OSError:
        return -1


def _settle(dirty: Dirty, stop: threading.Event) -> None:
    """Wait until nothing more happens for a moment, so that a burst becomes one batch."""
    begun = time.monotonic()
    before = -1
    while dirty.count() != before and time.monotonic() - begun < LONGEST_SECONDS and not stop.is_set():
        before = dirty.count()
        stop.wait(DEBOUNCE_SECONDS)
