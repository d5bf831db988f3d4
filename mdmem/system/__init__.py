"""What differs between operating systems, in two halves with the same names; everything else is written once.

This is the POSIX half: `flock`, folder descriptors, publishing with links, an interval timer, sessions. It is in the
package itself because every hook loads it. `windows` needs none of these; its names replace these wherever the module
`fcntl` is missing.

- `HeldFolder`: an open folder, from which no link leads out; `open_folder` opens one. Its `publish` names a file
  without overwriting.
- `lock`: one process at a time, until the descriptor is closed or the process ends.
- `alarm`, `within`: deadlines. `own`: whether a file belongs to the user.
- `detached`, `end_group`, `is_running`: background programs. `to_background`: continue in the background.

Local sockets are in `system.local`.
"""

from __future__ import annotations

import os
import time

try:
    import fcntl
except ImportError:
    _is_posix = False
else:
    _is_posix = True

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LOCKS_FAIL = ("ENOLCK", "ENOTSUP", "EOPNOTSUPP", "EBADF", "ENOSYS")
_LINKS_FAIL = ("EPERM", "EACCES", "EOPNOTSUPP", "ENOTSUP", "EMLINK", "ENOSYS", "EXDEV")
_RENAME_NOREPLACE = 1


def code(name: str) -> int:
    """Return the number of an error by its name; the table of names is imported only when needed."""
    import errno

    return int(getattr(errno, name))


def is_error(error: OSError, *names: str) -> bool:
    """Whether an error has one of these names."""
    return error.errno in [code(name) for name in names]


def sync(fd: int) -> None:
    """Sync an open file or folder to disk, unless its file system can sync none of this kind, as some network mounts.

    Raises OSError when the disk fails.
    """
    try:
        os.fsync(fd)
    except OSError as error:
        if not is_error(error, "EINVAL", "ENOSYS", "EOPNOTSUPP"):
            raise


def lock(fd: int, seconds: float = 0.0) -> bool:
    """Lock an open file or folder exclusively; False when another process keeps it locked for `seconds`.

    It is unlocked when every process that has the descriptor has closed it or ended. Time in which this process stood
    still, as in a paused container, hardly counts: the other one may have stood still as well. Returns True on network
    file systems without locks.
    """
    waited, before = 0.0, time.monotonic()
    pause = 0.001
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waited >= seconds:
                return False
            time.sleep(pause)
            now = time.monotonic()
            waited += min(now - before, 0.1)
            before, pause = now, min(pause * 1.5, 0.01)
        except OSError as error:
            if not is_error(error, *_LOCKS_FAIL):
                raise
            return True
        else:
            return True


class HeldFolder:
    """An open folder: operations stay in it even if its path meanwhile leads elsewhere.

    path: where it was opened, for messages and state. Links are never followed.
    """

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    def close(self) -> None:
        """Close the folder and release its lock."""
        os.close(self._fd)

    def lock(self, seconds: float) -> bool:
        """Lock the folder until it is closed; False when another process keeps it locked for `seconds`."""
        return lock(self._fd, seconds)

    def unlock(self) -> None:
        """Release the lock."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def child(self, name: str) -> HeldFolder:
        """Open a folder inside it.

        Raises:
            FileNotFoundError: when it is missing.
            NotADirectoryError: when it is a link or a file.
        """
        try:
            fd = os.open(name, _DIRECTORY | _NO_LINK, dir_fd=self._fd)
        except OSError as error:
            if is_error(error, "ELOOP"):
                raise NotADirectoryError(code("ENOTDIR"), "A link is where a folder should be.", name) from error
            if is_error(error, "ENAMETOOLONG"):
                raise FileNotFoundError(code("ENOENT"), "The folder's name is too long.", name) from error
            raise
        return HeldFolder(os.path.join(self.path, name), fd)

    def make(self, name: str) -> None:
        """Make a private folder inside it."""
        os.mkdir(name, 0o700, dir_fd=self._fd)

    def names(self) -> list[str]:
        """Return the names in the folder."""
        return os.listdir(self._fd)

    def stat(self, name: str) -> os.stat_result:
        """Return the lstat of a name in the folder."""
        return os.lstat(name, dir_fd=self._fd)

    def open_to_read(self, name: str) -> int:
        """Open a file for reading; a link is refused (ELOOP), and opening a pipe does not block."""
        return os.open(name, os.O_RDONLY | _NO_LINK | os.O_NONBLOCK, dir_fd=self._fd)

    def open_new(self, name: str) -> int:
        """Create a private file and open it for writing."""
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600, dir_fd=self._fd)

    def publish(self, temp: str, name: str) -> bool:
        """Publish the file `temp` under its final name; False when that name is taken. `temp` may remain.

        Raises OSError when neither links nor renaming work here.
        """
        try:
            os.link(temp, name, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if not is_error(error, *_LINKS_FAIL):
                raise
            return self._publish_without_links(temp, name)
        return True

    def _publish_without_links(self, temp: str, name: str) -> bool:
        """Publish where there are no hard links, as on FAT: rename without overwriting, else claim the name.

        False when the name is taken.
        """
        try:
            return _rename_to_new(self._fd, temp, name)
        except OSError:
            from mdmem.system import windows

            return windows.claim(self, temp, name)

    def replace(self, temp: str, name: str) -> None:
        """Replace `name` by the file `temp`."""
        os.replace(temp, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Delete a file."""
        os.unlink(name, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Delete an empty folder."""
        os.rmdir(name, dir_fd=self._fd)

    def sync(self) -> None:
        """Sync the folder's entries to disk."""
        sync(self._fd)


def open_folder(path: str) -> HeldFolder:
    """Open a folder; links in its path are followed. Raises OSError when it is missing or not a folder."""
    return HeldFolder(path, os.open(path, _DIRECTORY))


def names_in(path: str) -> list[str]:
    """Return the names in a folder; [] when it cannot be read."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def _rename_to_new(fd: int, temp: str, name: str) -> bool:
    """Rename without overwriting, by a system call that Python lacks; False when the name is taken."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(code("ENOSYS"), "no renameat2")
    if call(fd, os.fsencode(temp), fd, os.fsencode(name), _RENAME_NOREPLACE) == 0:
        return True
    failed = OSError(ctypes.get_errno(), "renameat2")
    if isinstance(failed, FileExistsError):
        return False
    raise failed


LATE_SECONDS, MORE_SECONDS = 0.05, 1.0
"""A process whose alarm comes later than that stood still, and is given so much more time."""


def alarm(seconds: float, ring: Callable[..., Any], again_seconds: float = 0.0) -> None:
    """Call `ring` after `seconds` (0: cancel), then every `again_seconds`, in the main thread, where it may raise.

    In a process that stood still when its time was up, as in a paused container, at a laptop that slept or on a disk
    that hung, it is called after `MORE_SECONDS`, since hardly any of the time could be used.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` itself loads enum

    due = time.monotonic() + seconds

    def ring_in_time(*words: object) -> None:
        nonlocal due
        late, due = time.monotonic() - due, float("inf")
        if late > LATE_SECONDS:
            _signal.setitimer(_signal.ITIMER_REAL, MORE_SECONDS, again_seconds)
        else:
            ring(*words)

    if seconds:
        _signal.signal(_signal.SIGALRM, ring_in_time)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001) if seconds else 0, again_seconds if seconds else 0)


def within(seconds: float, work: Callable[[], None]) -> None:
    """Run `work` for at most `seconds`.

    Raises:
        TimeoutError: raised inside `work` when the time is up.
    """

    def ring(*_: object) -> None:
        raise TimeoutError

    alarm(seconds, ring)
    try:
        work()
    finally:
        alarm(0, ring)


def own(status: os.stat_result, denied: int = 0) -> bool:
    """Whether a `stat` result belongs to the user and grants others none of the rights in `denied`."""
    return status.st_uid == os.geteuid() and not status.st_mode & denied


def detached() -> dict[str, Any]:
    """Return arguments for `subprocess.Popen`, so that the program survives our end and Ctrl-C."""
    return {"start_new_session": True}


def end_group(process: Any) -> None:
    """Kill a program (a `subprocess.Popen`) that was started with `detached`, and everything it started."""
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # already ended


def is_running(process: int) -> bool:
    """Whether a process with this id is running, of any user."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # another user's
    return True


def to_background(words: list[str]) -> None:  # noqa: ARG001 - used by the Windows half
    """Continue in the background without the caller's streams; for the caller this process ends."""
    if os.fork():
        os._exit(0)
    os.setsid()
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)


if not _is_posix:
    from mdmem.system import windows

    globals().update({name: getattr(windows, name) for name in windows.NAMES})
