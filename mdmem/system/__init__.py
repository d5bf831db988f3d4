"""What differs between operating systems, in two halves with the same names; everything else is written once.

This is the POSIX half: `flock`, descriptors of folders, publishing with links, an interval timer, sessions. It is in
the package itself because every hook loads it. `windows` needs none of these; its names are put in the place of these
wherever the module `fcntl` is missing.

- `Folder`: a folder held open, that no link leads out of; `open_folder` opens one. Its `publish` gives a file its name
  unless something has that name.
- `lock`, `unlock`: one process at a time, until its descriptor is closed or it dies.
- `alarm`, `within`: deadlines. `own`: whether a file is the user's.
- `detached`, `end_group`, `is_running`: programs in the background. `to_background`: this one goes there.

A local socket is in `system.local`.
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
    """Return the number of an error by its name; the table of them is loaded when there is an error."""
    import errno

    return int(getattr(errno, name))


def is_error(error: OSError, *names: str) -> bool:
    """Whether an error is one of those that the system calls so."""
    return error.errno in [code(name) for name in names]


def lock(fd: int, seconds: float = 0.0) -> bool:
    """Lock an open file or folder for this process alone; False when another has it for longer than `seconds`.

    Closing the descriptor frees it, and so does the death of every process that has it. Some network file systems
    have no locks: True there.
    """
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.01)
        except OSError as error:
            if not is_error(error, *_LOCKS_FAIL):
                raise
            return True
        else:
            return True


def unlock(fd: int) -> None:
    """Free what `lock` locked."""
    fcntl.flock(fd, fcntl.LOCK_UN)


class HeldFolder:
    """A folder held open: what is done in it is done there, even if its path leads elsewhere by now.

    path: where it was opened, for messages and for state. No name is followed if it is a link.
    """

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    def close(self) -> None:
        """Close it, which frees its lock."""
        os.close(self._fd)

    def lock(self, seconds: float) -> bool:
        """Lock this folder until it is closed; False when another process has it for longer than `seconds`."""
        return lock(self._fd, seconds)

    def unlock(self) -> None:
        """Free the lock."""
        unlock(self._fd)

    def child(self, name: str) -> HeldFolder:
        """Open a folder in it.

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
                raise FileNotFoundError(code("ENOENT"), "No folder has so long a name.", name) from error
            raise
        return HeldFolder(os.path.join(self.path, name), fd)

    def make(self, name: str) -> None:
        """Make a folder in it, for the user alone."""
        os.mkdir(name, 0o700, dir_fd=self._fd)

    def names(self) -> list[str]:
        """Return the names in it."""
        return os.listdir(self._fd)

    def stat(self, name: str) -> os.stat_result:
        """Return what `os.lstat` says of a name in it."""
        return os.lstat(name, dir_fd=self._fd)

    def open_to_read(self, name: str) -> int:
        """Open a file in it; a link is refused (ELOOP), a pipe is not waited for."""
        return os.open(name, os.O_RDONLY | _NO_LINK | os.O_NONBLOCK, dir_fd=self._fd)

    def open_new(self, name: str) -> int:
        """Make a file in it, for the user alone, and open it for writing."""
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600, dir_fd=self._fd)

    def publish(self, temp: str, name: str) -> bool:
        """Publish the file `temp` under a name that nothing has; return False when something has it. `temp` may remain.

        Raises:
            OSError: when neither links nor renaming work here.
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
        """FAT and some network shares have no hard links: rename without overwriting, else take the name first."""
        try:
            return _rename_to_new(self._fd, temp, name)
        except OSError:
            return claim(self, temp, name)

    def replace(self, temp: str, name: str) -> None:
        """Put the file `temp` in the place of `name`."""
        os.replace(temp, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Remove a file in it."""
        os.unlink(name, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in it."""
        os.rmdir(name, dir_fd=self._fd)

    def sync(self) -> None:
        """Write the names in it to the disk."""
        os.fsync(self._fd)


def claim(folder: Any, temp: str, name: str) -> bool:
    """Take a name with an empty file, then put `temp` in its place; False when something has the name."""
    try:
        os.close(folder.open_new(name))
    except FileExistsError:
        return False
    try:
        folder.replace(temp, name)
    except OSError:
        folder.remove(name)
        raise
    return True


def open_folder(path: str) -> HeldFolder:
    """Open a folder; links on the way to it are followed.

    Raises:
        OSError: when it is missing or no folder.
    """
    return HeldFolder(path, os.open(path, _DIRECTORY))


def _rename_to_new(fd: int, temp: str, name: str) -> bool:
    """Rename, unless the name is taken; Python itself cannot ask for that."""
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


def alarm(seconds: float, ring: Callable[..., Any], again_seconds: float = 0.0) -> None:
    """Call `ring` in `seconds` (0: cancel), then every `again_seconds`, in the main thread, where it may raise."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself loads enum

    if seconds:
        _signal.signal(_signal.SIGALRM, ring)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001) if seconds else 0, again_seconds if seconds else 0)


def within(seconds: float, work: Callable[[], None]) -> None:
    """Run `work` for at most `seconds`.

    Raises:
        TimeoutError: in the middle of `work`, when the time is up.
    """

    def ring(*_: object) -> None:
        raise TimeoutError

    alarm(seconds, ring)
    try:
        work()
    finally:
        alarm(0, ring)


def own(found: os.stat_result, denied: int = 0) -> bool:
    """Whether what a `stat` describes belongs to the user, and gives others none of the rights in `denied`."""
    return found.st_uid == os.geteuid() and not found.st_mode & denied


def detached() -> dict[str, Any]:
    """Return the arguments of `subprocess.Popen` for a program that this one's end, or Ctrl-C, does not touch."""
    return {"start_new_session": True}


def end_group(process: Any) -> None:
    """End a program (a `subprocess.Popen`) that was started with `detached`, and all that it started."""
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # all of it has ended by itself


def is_running(process: int) -> bool:
    """Whether a process with this number runs, of any user."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True


def to_background(words: list[str]) -> None:  # noqa: ARG001 - the other half starts a program with these
    """Go on in the background, without the caller's streams; the caller sees this process end."""
    if os.fork():
        os._exit(0)
    os.setsid()
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)


if not _is_posix:
    from mdmem.system import windows

    globals().update({name: getattr(windows, name) for name in windows.NAMES})
