"""mdmem's own files outside the vault: in private folders, and without ever blocking.

Every level from the folder called `mdmem` down is made with mode 0700 and checked. A folder that belongs to somebody
else, or stays open to others, is neither read nor written. Opened files must be regular files of the user; a pipe or
a device is refused.
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
    """A pipe, device, folder or the like is in the place of a file: nothing was ever stored in it."""


class UnreadableError(PermissionError):
    """The disk does not return a file, as with a bad sector: handled like a file that permissions forbid to read."""


class NoModesError(PermissionError):
    """A folder of the user's stays open to others, because its disk keeps no modes, such as FAT."""


_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_TOP = "mdmem"
_checked: dict[str, bool] = {}


def make_folder(path: str) -> None:
    """Make a private folder with all missing levels above it; make existing levels private.

    Raises OSError when it cannot be made, or one of mdmem's levels belongs to somebody else or stays open to others.
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
    """Make missing folders, all of them private: `os.makedirs` applies its mode only to the last one.

    Raises OSError when one cannot be made.
    """
    if path and not os.path.isdir(path):
        make_folders(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return  # made by another process meanwhile


def check_folder(path: str) -> None:
    """Make sure that a folder belongs to the user and is private, changing its mode if necessary.

    Raises OSError when it is missing, not a folder, somebody else's, shared on purpose, or cannot be made private.
    """
    status = os.stat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(system.code("ENOTDIR"), "A file is where a folder should be.", path)
    if not system.own(status, 0o077):
        _check_owner(status, path)
        if status.st_mode & stat.S_ISVTX:  # like /tmp, which root owns: making it private would harm everybody
            raise PermissionError(system.code("EPERM"), "The folder is shared by all users.", path)
        try:
            os.chmod(path, 0o700)
        except PermissionError:
            pass  # the user's own folder, so it is the disk that keeps no modes, such as a Windows folder in WSL
        if not system.own(os.stat(path), 0o077):
            raise NoModesError(system.code("EPERM"), "The folder is open to other users.", path)


def check_again() -> None:
    """Forget which folders were checked: a process that serves many commands checks them for each one."""
    _checked.clear()


def is_private(path: str) -> bool:
    """Whether a folder and mdmem's levels above it exist and are private."""
    is_checked = _checked.get(path)
    if is_checked is None:
        try:
            for level in _levels(path):
                if not _checked.get(level):  # the levels above it are already checked
                    check_folder(level)
                    _checked[level] = True
            is_checked = True
        except FileNotFoundError:
            return False
        except OSError:
            is_checked = False
        _checked[path] = is_checked
    return is_checked


def may_exist(path: str) -> bool:
    """Whether a file or folder exists, or may exist on a failing disk: for what must not be missed, as private text.

    `os.path.exists` takes any error for a missing file.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def opener(path: str, flags: int) -> int:
    """Open a file for the built-in `open`; a new one is private."""
    return os.open(path, flags, 0o600)


def open_to_read(path: str) -> int:
    """Open a file for reading; return its descriptor.

    Raises OSError when it is missing, not a regular file of the user, or in a folder that is not private.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError as error:
        if system.is_error(error, "ELOOP"):
            raise NotRegularError(system.code("ELOOP"), "This is a symbolic link, not a regular file.", path) from error
        raise
    return _regular(fd, path)


def read_own(path: str, limit: int) -> bytes:
    """Read at most `limit` bytes of a file of mdmem's own, whose folder is made private.

    Raises OSError like `open_to_read`, or when reading fails.
    """
    fd = open_to_read(path)
    try:
        return _read_all(fd, limit, path)
    finally:
        os.close(fd)


def try_read_own(path: str, limit: int) -> bytes:
    """Read what `read_own` does; b"" when it raises: a cache that cannot be read is none."""
    try:
        return read_own(path, limit)
    except OSError:
        return b""


def content(fd: int, limit: int, path: str) -> bytes | None:
    """Read an open file, at most `limit` bytes, and close it; None when it is not a regular file.

    path: for messages. Raises UnreadableError when it cannot be read.
    """
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        data = b""
        while piece := os.read(fd, min(status.st_size + 1, limit - len(data))):
            data = data + piece if data else piece
        return data
    except OSError as error:
        raise UnreadableError(error.errno, error.strerror, path) from error
    finally:
        os.close(fd)


def read_any(path: str, limit: int, *, follow: bool = True, from_end: bool = False) -> bytes:
    """Read at most `limit` bytes of a file that is not mdmem's own, such as settings, without blocking on a pipe.

    follow: follow symbolic links. from_end: read the last bytes of the file, not the first.

    Raises OSError when it is missing, unreadable or not a regular file.
    """
    fd = os.open(path, os.O_RDONLY | (getattr(os, "O_NONBLOCK", 0) if follow else _FLAGS))
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise NotRegularError(system.code("EINVAL"), "This is not a regular file.", path)
        if from_end:
            os.lseek(fd, max(0, facts.st_size - limit), os.SEEK_SET)
        return _read_all(fd, limit, path)
    finally:
        os.close(fd)


def try_read_any(path: str, limit: int, *, from_end: bool = False) -> bytes:
    """Read what `read_any` does; b"" when it raises, or when no file can have that name."""
    try:
        return read_any(path, limit, from_end=from_end)
    except (OSError, ValueError):
        return b""


def append(path: str, data: bytes) -> int:
    """Append to a file in one write, so that lines of several processes never mix; return the number of bytes written.

    Raises OSError when it cannot be written.
    """
    return _put(path, os.O_APPEND, data)


def log(path: str, line: str, limit: int) -> None:
    """Append a line to a log. If it is then longer than `limit` bytes, it is renamed to `.1`, replacing an older one.

    Raises OSError when it cannot be written.
    """
    append(path, f"{line}\n".encode("utf-8", "replace"))
    if os.stat(path).st_size > limit:
        os.replace(path, f"{path}.1")


def logged(path: str, limit: int) -> Iterator[str]:
    """Yield the lines of a log, oldest first, from at most `limit` bytes of `.1` and of the current file."""
    for name in (f"{path}.1", path):
        yield from try_read_own(name, limit).decode("utf-8", "replace").splitlines()


def write(path: str, data: bytes) -> None:
    """Truncate and write a short file; a concurrent reader may see it empty.

    Raises OSError when it cannot be written.
    """
    _put(path, os.O_TRUNC, data)


def overwrite(path: str, data: bytes) -> None:
    """Write a short file over its content, which must not be longer: truncating may make the caller wait for the disk.

    Raises OSError when it cannot be written.
    """
    _put(path, 0, data)


def open_to_append(path: str) -> int:
    """Open a file for reading and appending, created if missing; return its descriptor.

    Raises OSError when it cannot be opened or created.
    """
    return _create(path, os.O_APPEND, os.O_RDWR)


def claim(path: str) -> bool:
    """Create an empty file; False when it exists. Raises OSError when it cannot be created."""
    try:
        os.close(_create(path, os.O_EXCL))
    except FileExistsError:
        return False
    return True


def replace(path: str, data: bytes) -> None:
    """Write a file atomically, replacing any existing one.

    Raises OSError when it cannot be written; nothing is left behind.
    """
    temp = f"{path}.{time.time_ns():x}-{os.getpid()}.tmp"
    try:
        fd = _create(temp, os.O_EXCL)
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        os.replace(temp, path)
    except BaseException:
        remove(temp)
        raise


def try_replace(path: str, data: bytes) -> None:
    """Do what `replace` does, if that is possible: a cache that cannot be written only costs time."""
    try:
        replace(path, data)
    except OSError:
        return


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to a descriptor, in parts if necessary. Raises OSError when writing fails."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def drop_last_byte(path: str, only: bytes = b"") -> int:
    """Remove the last byte of a file if possible; this works on a full disk too. only: leave any other byte.

    Return the size of the file, 0 if it cannot be opened.
    """
    try:
        fd = open_to_append(path)
    except OSError:
        return 0
    try:
        rest = max(os.fstat(fd).st_size - 1, 0)
        os.lseek(fd, rest, os.SEEK_SET)
        if not only or os.read(fd, 1) == only:
            os.ftruncate(fd, rest)
        return os.fstat(fd).st_size
    except OSError:
        return 0
    finally:
        os.close(fd)


def renew(path: str, at: float | None = None) -> None:
    """Set a file's times to a time, or to now, if it exists and that is allowed."""
    try:
        os.utime(path, None if at is None else (at, at))
    except OSError:
        return


def remove(path: str) -> bool:
    """Delete a file; False when it is missing or cannot be deleted."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def lock(lock_fd: int, wait_seconds: float, what: str) -> bool:
    """Lock an open file for this process; False when another process keeps it for longer than `wait_seconds`.

    what: a sentence's beginning that is shown to the user after a second, such as `Waiting for another process`.
    """
    from mdmem import progress  # only for writers of the index and of history

    if system.lock(lock_fd, min(wait_seconds, progress.TOLD_AFTER_SECONDS)):
        return True
    remaining_seconds = wait_seconds - progress.TOLD_AFTER_SECONDS
    if remaining_seconds <= 0:
        return False
    progress.tell(f"{what}, for {wait_seconds:g} seconds at most.")
    return system.lock(lock_fd, remaining_seconds)


def open_lock(path: str) -> int:
    """Open the file of a lock, which holds nothing; return its descriptor. A folder in its place is moved aside.

    Raises OSError when it cannot be opened or made.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except IsADirectoryError:
        try:
            os.rmdir(path)
        except OSError:
            os.rename(path, f"{path}.{time.time_ns()}")  # somebody's files are in it
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _levels(path: str) -> Iterator[str]:
    """Yield mdmem's own folders on the way to `path`, from the top, and `path` itself."""
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
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(system.code("EINVAL"), "This is not a regular file.", path)
        _check_owner(status, path)
        if not is_private(os.path.dirname(path)):
            raise PermissionError(system.code("EPERM"), "The folder of this file is not private.", path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check_owner(status: os.stat_result, path: str) -> None:
    if not system.own(status):
        raise PermissionError(system.code("EPERM"), "This belongs to another user.", path)


def _read_all(fd: int, limit: int, path: str) -> bytes:
    pieces = []
    try:
        while limit > 0 and (piece := os.read(fd, min(limit, 1 << 20))):
            pieces.append(piece)
            limit -= len(piece)
    except OSError as error:
        error.filename = path  # a message that lacks it helps nobody
        raise
    return b"".join(pieces)


def unpacked(data: bytes, most: int) -> Iterator[bytes]:
    """Yield what a `.gz` file or a zip archive holds, as far as it can be read: at most `most` bytes."""
    if data[:2] != b"\x1f\x8b" and data[:4] != b"PK\3\4":
        return
    import contextlib  # few files are packed
    import lzma
    import zlib

    if data[:2] == b"\x1f\x8b":
        with contextlib.suppress(zlib.error):
            yield zlib.decompressobj(31).decompress(data, most)
        return
    import io
    import zipfile

    # what reading a damaged or encrypted archive, or one that is packed in an unknown way, raises
    damaged = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)
    with contextlib.suppress(*damaged), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            with contextlib.suppress(*damaged), archive.open(name) as member:
                part = member.read(most)
                most -= len(part)
                yield part
