"""Files of mdmem's own, outside the vault: in folders that only their user can reach, and never waited for.

Every level from the folder called `mdmem` down is made with mode 0700 and checked: one that belongs to somebody
else, or that others can look into and that cannot be closed, is not read and not written. What is opened is a
regular file of the user's own; a pipe or a device in its place is refused, not waited for.
"""

from __future__ import annotations

import os
import stat
import time

from mdmem import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class NotRegularError(OSError):
    """A pipe, a device, a folder or the like has the name of a file: nothing was ever stored in it."""


_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_TOP = "mdmem"
_checked: dict[str, bool] = {}


def make_folder(path: str) -> None:
    """Make a folder and all levels above it that are missing, for the user alone; close those that are open.

    Raises OSError when it cannot be made, or a level of mdmem's own belongs to somebody else or stays open to others.
    """
    levels = list(_levels(path))
    make_folders(os.path.dirname(levels[0]))
    for level in levels:
        try:
            os.mkdir(level, 0o700)
        except FileExistsError:
            pass
        check_folder(level)
    _checked[path] = True


def make_folders(path: str) -> None:
    """Make the folders that are missing, each for the user alone: `os.makedirs` gives its mode to the last one only.

    Raises OSError when one cannot be made.
    """
    if path and not os.path.isdir(path):
        make_folders(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return  # by another process meanwhile


def check_folder(path: str) -> None:
    """Make sure that a folder is the user's own and closed to others, closing it where it is not.

    Raises OSError when it is not there, is not a folder, is somebody else's or made to be shared, or cannot be closed.
    """
    found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(system.code("ENOTDIR"), "A file is where a folder should be.", path)
    if not system.own(found, 0o077):
        _check_owner(found, path)
        if found.st_mode & stat.S_ISVTX:  # as /tmp is, which is root's own: closing it would harm everybody
            raise PermissionError(system.code("EPERM"), "The folder is one that all users share.", path)
        os.chmod(path, 0o700)
        if not system.own(os.stat(path), 0o077):
            raise PermissionError(system.code("EPERM"), "The folder is open to other users.", path)


def check_again() -> None:
    """Forget which folders were checked: a process that serves many commands checks them again for each."""
    _checked.clear()


def is_private(path: str) -> bool:
    """Whether a folder, with every level of mdmem's own above it, is there and the user's alone."""
    known = _checked.get(path)
    if known is None:
        try:
            for level in _levels(path):
                if not _checked.get(level):  # those above it were checked before it
                    check_folder(level)
                    _checked[level] = True
            known = True
        except FileNotFoundError:
            return False
        except OSError:
            known = False
        _checked[path] = known
    return known


def opener(path: str, flags: int) -> int:
    """Open a file for the built-in `open`; one that is made is the user's alone."""
    return os.open(path, flags, 0o600)


def open_to_read(path: str) -> int:
    """Open a file for reading; return its descriptor.

    Raises OSError when it is missing, no regular file of the user's own, or in a folder that is not private.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError as error:
        if system.is_error(error, "ELOOP"):
            raise NotRegularError(system.code("ELOOP"), "This is a symbolic link, not a regular file.", path) from error
        raise
    return _regular(fd, path)


def read(path: str, limit: int) -> bytes:
    """Read at most `limit` bytes of a file. Raises OSError as `open_to_read`, or when reading fails."""
    fd = open_to_read(path)
    try:
        return _all(fd, limit)
    finally:
        os.close(fd)


def read_any(path: str, limit: int, *, follow: bool = True) -> bytes:
    """Read at most `limit` bytes of a file that is not mdmem's own, such as settings; a pipe is not waited for.

    follow: also read what a symbolic link leads to.

    Raises OSError when it is missing, not to be read, or no regular file.
    """
    fd = os.open(path, os.O_RDONLY | (getattr(os, "O_NONBLOCK", 0) if follow else _FLAGS))
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise NotRegularError(system.code("EINVAL"), "This is not a regular file.", path)
        return _all(fd, limit)
    finally:
        os.close(fd)


def append(path: str, data: bytes) -> int:
    """Write at the end of a file in one piece, so that lines of several processes never mix; return what was written.

    Raises OSError when it cannot be written.
    """
    return _put(path, os.O_APPEND, data)


def log(path: str, line: str, limit: int) -> None:
    """Add a line to a log; one that is then longer than `limit` bytes becomes `.1`, in the place of an older one.

    Raises OSError when it cannot be written.
    """
    append(path, f"{line}\n".encode("utf-8", "replace"))
    if os.stat(path).st_size > limit:
        os.replace(path, f"{path}.1")


def logged(path: str, limit: int) -> Iterator[str]:
    """Yield the lines of a log, oldest first, of at most `limit` bytes each of the older and the present file."""
    for name in (f"{path}.1", path):
        try:
            yield from read(name, limit).decode("utf-8", "replace").splitlines()
        except OSError:
            continue


def write(path: str, data: bytes) -> None:
    """Write a short file in place of its content; a reader may meet it empty.

    Raises OSError when it cannot be written.
    """
    _put(path, os.O_TRUNC, data)


def overwrite(path: str, data: bytes) -> None:
    """Write a short file over its content, which is no longer; emptying it first can make the caller wait for the disk.

    Raises OSError when it cannot be written.
    """
    _put(path, 0, data)


def open_to_append(path: str) -> int:
    """Open a file for reading and for writing at its end, made when it is missing; return its descriptor.

    Raises OSError when it cannot be opened or made.
    """
    return _create(path, os.O_APPEND, os.O_RDWR)


def claim(path: str) -> bool:
    """Make an empty file; False when it is already stored. Raises OSError when it cannot be made."""
    try:
        os.close(_create(path, os.O_EXCL))
    except FileExistsError:
        return False
    return True


def touch(path: str) -> None:
    """Make an empty file unless it is there. Raises OSError when it cannot be made."""
    os.close(_create(path, 0))


def replace(path: str, data: bytes) -> None:
    """Write a file, whole or not at all, in the place of what has its name.

    Raises OSError when it cannot be written; nothing is left behind.
    """
    temp = f"{path}.{time.time_ns():x}-{os.getpid()}.tmp"
    fd = _create(temp, os.O_EXCL)
    try:
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        os.replace(temp, path)
    except BaseException:
        remove(temp)
        raise


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to a descriptor, which may take it in parts. Raises OSError when it takes no more."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def cut(path: str) -> None:
    """Remove the last byte of a file, if that can be done; a full disk does not prevent it."""
    try:
        fd = open_to_append(path)
    except OSError:
        return
    try:
        os.ftruncate(fd, max(os.fstat(fd).st_size - 1, 0))
    except OSError:
        return
    finally:
        os.close(fd)


def renew(path: str) -> None:
    """Set the time of a file to now, if it is there and that can be done."""
    try:
        os.utime(path)
    except OSError:
        return


def remove(path: str) -> bool:
    """Remove a file; False when it was not there, or cannot be removed."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _levels(path: str) -> Iterator[str]:
    """Return the folders of mdmem's own on the way to `path`, and itself, from the top."""
    parts = path.split(os.sep)
    first = len(parts) - 1 - parts[::-1].index(_TOP) if _TOP in parts else len(parts) - 1
    for end in range(first + 1, len(parts) + 1):
        yield os.sep.join(parts[:end])


def _put(path: str, flags: int, data: bytes) -> int:
    fd = _create(path, flags)
    try:
        return os.write(fd, data)
    finally:
        os.close(fd)


def _create(path: str, flags: int, access: int = os.O_WRONLY) -> int:
    flags |= access | os.O_CREAT | _FLAGS
    try:
        fd = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        fd = os.open(path, flags, 0o600)
    return _regular(fd, path)


def _regular(fd: int, path: str) -> int:
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise NotRegularError(system.code("EINVAL"), "This is not a regular file.", path)
        _check_owner(found, path)
        if not is_private(os.path.dirname(path)):
            raise PermissionError(system.code("EPERM"), "The folder of this file is not the user's alone.", path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_owner(found: os.stat_result, path: str) -> None:
    if not system.own(found):
        raise PermissionError(system.code("EPERM"), "This belongs to another user.", path)


def _all(fd: int, limit: int) -> bytes:
    pieces = []
    while limit > 0 and (piece := os.read(fd, min(limit, 1 << 20))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)
