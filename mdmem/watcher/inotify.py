"""Whether anything in a vault was touched since the last scan, by polling an inotify queue (Linux only).

A long-running process that answers many queries need not scan all folders before each of them. The kernel queues an
event before the call that changes a file returns, so an empty queue means that nothing has happened. Watchdog reads
its queue in its own thread, which may be late; here the caller reads it. No queue reports changes from another
machine, so only local file systems are trusted. Writes through a memory map or another hard link are noticed only by a
scan of every file.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from mdmem.watcher.file_system import FolderIdentity, identity_of, is_local

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDER, _NO_LINK = 0x1000000, 0x2000000
_WANTED = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDER
)  # fmt: skip
_LOST = _UNMOUNT | _OVERFLOW
"""After one of these events, anything may have been touched."""
_UPSET = _DELETE_SELF | _MOVE_SELF | _IGNORED
"""After one of these events a watch is unreliable, and all are set up again."""
_HEAD = struct.Struct("iIII")
_READ_BYTES = 256 * 1024
_MAX_KEPT = 4

_queues: dict[str, ChangeQueue] = {}


def of(root: str) -> ChangeQueue:
    """Return this process's queue for a vault; it watches nothing before the first `record_scan`."""
    queue = _queues.get(root)
    if queue is None:
        while len(_queues) >= _MAX_KEPT:
            _queues.pop(next(iter(_queues))).end()
        queue = _queues[root] = ChangeQueue(root)
    return queue


class ChangeQueue:
    """The kernel's queue of changes in the folders of one vault. Not thread-safe.

    Call `is_unchanged`; if it returns False, scan the vault, then call `record_scan`.

    touched: vault-relative paths touched since the last `record_scan`, for the next scan. is_lost: events were lost,
    so anything may have been touched.
    """

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._fd = -1
        self._folders: dict[int, str] = {}
        self._watched: set[str] = set()
        self._top: FolderIdentity = (-1, -1)
        self._state: object = None
        self._is_possible = sys.platform == "linux" and is_local(self._root)
        self.touched: set[str] = set()
        self.is_lost = False

    def is_unchanged(self, state: object) -> bool:
        """Whether nothing was touched since `record_scan` was called with this state of the index."""
        if self._fd < 0:
            return False
        is_sound = self._drain()
        self.is_lost = self.is_lost or self._top != identity_of(self._root)
        if self.is_lost or not is_sound:
            self._close()
        if self._fd < 0:
            return False
        return state is not None and self._state is state and not self.touched

    def record_scan(self, folders: Iterable[str], state: object) -> None:
        """Record a scan that followed the last `is_unchanged`, and watch the folders it found.

        state: that of the index after the scan. If a folder was not yet watched during the scan, `is_unchanged` stays
        False until after the next one.
        """
        wanted = set(folders)
        new = wanted - self._watched
        missed = any((self._root / path).is_dir() for path in self.touched - wanted)
        self.touched, self.is_lost = set(), False
        self._state = state if wanted and not new and not missed and self._is_possible else None
        if new and self._is_possible and not self._watch(new):
            self.end()
            self._is_possible = False

    def end(self) -> None:
        """Stop watching."""
        self._close()
        self.touched, self.is_lost = set(), False

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
        self._folders, self._watched, self._state = {}, set(), None

    def _watch(self, folders: Iterable[str]) -> bool:
        """Watch more folders; False when the system refuses."""
        library = ctypes.CDLL(None, use_errno=True)
        if self._fd < 0:
            self._fd = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            self._top = identity_of(self._root)
        if self._fd < 0:
            return False
        root = os.fsencode(self._root) + b"/"
        for folder in folders:
            path = root + os.fsencode(folder)  # not a `Path`, which interns each name and so grows Python's table
            flags = _WANTED | (_NO_LINK if folder else 0)
            number = library.inotify_add_watch(self._fd, path, flags)
            if number >= 0:
                self._folders[number] = folder
                self._watched.add(folder)
            elif (self._root / folder).is_dir():
                return False
        return True

    def _drain(self) -> bool:
        """Read the queue to its end; False when the watches must be set up again."""
        is_sound = True
        while True:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return is_sound
            except OSError:
                self.is_lost = True
                return False
            place = 0
            while place < len(data):
                number, mask, _, size = _HEAD.unpack_from(data, place)
                place += _HEAD.size + size
                self.is_lost = self.is_lost or bool(mask & _LOST)
                is_sound = is_sound and not mask & _UPSET
                folder = self._folders.get(number, "")
                name = os.fsdecode(data[place - size : place].rstrip(b"\0"))
                self.touched.add(f"{folder}/{name}" if folder and name else folder or name)
