"""The Windows half, without `fcntl`, `os.link`, `dir_fd`, `O_NOFOLLOW`, `setitimer`, `fork` and Unix sockets.

A folder is its path, checked component by component: whoever could swap a folder of the vault for a link in between
has the user's rights anyway. A folder is locked through a hidden file in it, which the vault's `.gitignore` lists.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Any

NAMES = (
    "HeldFolder", "alarm", "detached", "end_group", "is_running", "lock", "open_folder", "own", "to_background",
    "within",
)  # fmt: skip
"""Names that replace those of the POSIX half."""

LOCK_FILE = ".mdmem.lock"
_LOCK_AT = 1 << 30
"""Position of the locked byte, after all text: locks are mandatory on Windows, and must not block readers."""

_BINARY = getattr(os, "O_BINARY", 0)
_REPARSE_POINT = 0x400
_NEW_GROUP, _NO_WINDOW = 0x200, 0x0800_0000
_QUERY, _DENIED, _STILL_ACTIVE = 0x1000, 5, 259


def lock(fd: int, seconds: float = 0.0) -> bool:
    """Lock an open file exclusively; False when another process keeps it locked for `seconds`, as on POSIX systems."""
    waited, before = 0.0, time.monotonic()
    pause = 0.001
    while not _locking(fd, "LK_NBLCK"):
        if waited >= seconds:
            return False
        time.sleep(pause)
        now = time.monotonic()
        waited += min(now - before, 0.1)
        before, pause = now, min(pause * 1.5, 0.01)
    return True


def _locking(fd: int, mode: str) -> bool:
    try:
        import msvcrt
    except ImportError:
        return True  # no locks here; names still cannot collide
    at = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, _LOCK_AT, os.SEEK_SET)
    windows: Any = msvcrt
    try:
        windows.locking(fd, getattr(windows, mode), 1)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EDEADLK):
            return False
        raise
    finally:
        os.lseek(fd, at, os.SEEK_SET)
    return True


class HeldFolder:
    """A folder, by path. Links and junctions in it are never followed."""

    __slots__ = ("_lock", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock: int | None = None

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def lock(self, seconds: float) -> bool:
        """Lock the folder until it is closed; False when another process keeps it locked for `seconds`."""
        if self._lock is None:
            self._lock = os.open(os.path.join(self.path, LOCK_FILE), os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
        return lock(self._lock, seconds)

    def unlock(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            _locking(self._lock, "LK_UNLCK")

    def child(self, name: str) -> HeldFolder:
        """Open a folder inside it.

        Raises:
            FileNotFoundError: when it is missing.
            NotADirectoryError: when it is a link or a file.
        """
        status = self.stat(name)
        if _is_link(status) or not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "A link or a file is where a folder should be.", name)
        return HeldFolder(self._at(name))

    def make(self, name: str) -> None:
        """Make a folder inside it."""
        os.mkdir(self._at(name), 0o700)

    def names(self) -> list[str]:
        """Return the names in the folder, except that of the lock file."""
        return [name for name in os.listdir(self.path) if name != LOCK_FILE]

    def stat(self, name: str) -> os.stat_result:
        """Return the lstat of a name in the folder."""
        return os.lstat(self._at(name))

    def open_to_read(self, name: str) -> int:
        """Open a file for reading; a link is refused (ELOOP), and so is anything but a file (ENXIO)."""
        status = self.stat(name)
        if _is_link(status):
            raise OSError(errno.ELOOP, "A link is where a file should be.", name)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ENXIO, "This is not a file.", name)
        return os.open(self._at(name), os.O_RDONLY | _BINARY)

    def open_new(self, name: str) -> int:
        """Create a file and open it for writing."""
        return os.open(self._at(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)

    def publish(self, temp: str, name: str) -> bool:
        """Publish the file `temp` under its final name; False when that name is taken.

        Raises OSError when the file system fails.
        """
        if os.name == "nt":
            try:
                os.rename(self._at(temp), self._at(name))  # only on Windows, this does not overwrite
            except FileExistsError:
                return False
            return True
        return claim(self, temp, name)

    def replace(self, temp: str, name: str) -> None:
        """Replace `name` by the file `temp`, waiting for readers that have it open."""
        for pause in (0.01, 0.05, 0.2):
            try:
                os.replace(self._at(temp), self._at(name))
            except PermissionError:
                time.sleep(pause)
            else:
                return
        os.replace(self._at(temp), self._at(name))

    def remove(self, name: str) -> None:
        """Delete a file."""
        os.unlink(self._at(name))

    def remove_folder(self, name: str) -> None:
        """Delete a folder that is empty except for the lock file."""
        path = self._at(name)
        if os.listdir(path) == [LOCK_FILE]:
            os.unlink(os.path.join(path, LOCK_FILE))
        os.rmdir(path)

    def sync(self) -> None:
        """Do nothing: Windows writes names along with the files."""

    def _at(self, name: str) -> str:
        if "/" in name or "\\" in name or ":" in name:  # a path, or an alternate data stream
            raise OSError(errno.EINVAL, "This is not a valid file name on Windows.", name)
        return os.path.join(self.path, name)


def claim(folder: Any, temp: str, name: str) -> bool:
    """Claim a name with an empty file, then replace that by `temp`; False when the name is taken."""
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


def _is_link(status: os.stat_result) -> bool:
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_file_attributes", 0) & _REPARSE_POINT)


def open_folder(path: str) -> HeldFolder:
    """Open a folder. Raises OSError when it is missing or not a folder."""
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "A file is where a folder should be.", path)
    return HeldFolder(path)


_alarms: list[Any] = []


def alarm(seconds: float, ring: Callable[..., Any], again_seconds: float = 0.0) -> None:
    """Call `ring` after `seconds` (0: cancel), then every `again_seconds`, in a thread, where exceptions are ignored.

    To enforce a deadline, `ring` must end the process.
    """
    import threading

    while _alarms:
        _alarms.pop().set()
    if not seconds:
        return
    off = threading.Event()
    _alarms.append(off)

    def run() -> None:
        wait_seconds = max(seconds, 0.001)
        while wait_seconds and not off.wait(wait_seconds):
            try:
                ring()
            except BaseException:  # noqa: BLE001, S110 - nothing in this thread could handle it
                pass
            wait_seconds = again_seconds

    threading.Thread(target=run, daemon=True).start()


def within(seconds: float, work: Callable[[], None]) -> None:
    """Run `work` in a thread and wait for at most `seconds`; it is not stopped after that.

    Raises:
        TimeoutError: when it has not ended by then.
        OSError: raised by `work`.
    """
    import threading

    errors: list[OSError] = []

    def run() -> None:
        try:
            work()
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if errors:
        raise errors[0]


def own(status: os.stat_result, denied: int = 0) -> bool:  # noqa: ARG001 - the other half's signature
    """Return True: access lists, which a `stat` result does not show, keep others out of a user's folders."""
    return True


def detached() -> dict[str, Any]:
    """Return arguments for `subprocess.Popen`, so that the program survives our end and Ctrl-C."""
    return {"creationflags": _NEW_GROUP | _NO_WINDOW} if os.name == "nt" else {}


def end_group(process: subprocess.Popen[Any]) -> None:
    """Kill a program that was started with `detached`, and on Windows everything it started."""
    if os.name == "nt":
        import subprocess

        words = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    process.kill()


def is_running(process: int) -> bool:
    """Whether a process with this id is running; on Windows, `os.kill(pid, 0)` would send Ctrl-C."""
    import ctypes

    kernel: Any = getattr(ctypes, "windll", None)
    if kernel is None:
        return True
    handle = kernel.kernel32.OpenProcess(_QUERY, False, process)
    if not handle:
        return bool(kernel.kernel32.GetLastError() == _DENIED)
    try:
        status = ctypes.c_ulong()
        return bool(kernel.kernel32.GetExitCodeProcess(handle, ctypes.byref(status))) and status.value == _STILL_ACTIVE
    finally:
        kernel.kernel32.CloseHandle(handle)


def to_background(words: list[str]) -> None:
    """Start `mdmem WORDS...` in the background, without a window, and end this process."""
    import subprocess

    none = subprocess.DEVNULL
    command = [windowless(sys.executable), "-m", "mdmem", *words]
    subprocess.Popen(command, stdin=none, stdout=none, stderr=none, **detached())
    os._exit(0)


def windowless(python: str) -> str:
    """Return the interpreter that opens no window, if there is one beside this one."""
    folder, name = os.path.split(python)
    windowless_python = os.path.join(folder, name.lower().replace("python", "pythonw", 1))
    return windowless_python if name.lower() == "python.exe" and os.path.exists(windowless_python) else python
