"""The vault on disk: folders that cannot be left, files that cannot be torn, a walk, a lock.

A file is published the way maildir does it: written under a dot name in its own folder, synced, then
linked to its name, which fails where something already has that name. Folders are opened one component
at a time and links are never followed, so that no id, title or swapped folder leads outside.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from mdmem.errors import VaultError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

MAX_READ_BYTES = 8 * 1024 * 1024
"""Of a longer file only this much is read: notes are small, and a stray video must not fill the memory."""

_LINKS_FAIL = frozenset(
    [errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV]
)
_ENDINGS = (".md", ".markdown")
_RENAME_NOREPLACE = 1
TEMP_SECONDS = 3600
"""A writer's temporary file that is older than this belongs to one that was killed."""

WAIT_SECONDS = 6.0
"""Nobody waits longer for a folder that another process has locked."""

_LOCKS_FAIL = frozenset([errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.ENOSYS])
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """A folder inside the vault, held open; use it in a `with` statement.

    path: where it is, for messages and for state; all work goes through `fd`.
    """

    __slots__ = ("fd", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def lock(self) -> None:
        """Wait for this folder to be ours alone, until it is closed. Death of the process frees it too.

        Raises:
            TimeoutError: when somebody else has it for longer than `WAIT_SECONDS`.
        """
        end = time.monotonic() + WAIT_SECONDS
        pause = 0.001
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError(errno.ETIMEDOUT, "The folder is locked by another process.") from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)
            except OSError as error:
                if error.errno not in _LOCKS_FAIL:
                    raise
                return  # some network file systems have no locks; names still cannot collide
            else:
                return

    def names(self) -> list[str]:
        """List what is in it."""
        return os.listdir(self.fd)

    def has(self, name: str) -> bool:
        """Say whether something has this name."""
        try:
            os.lstat(name, dir_fd=self.fd)
        except FileNotFoundError:
            return False
        return True


def open_folder(root: str, parts: tuple[str, ...] = (), *, create: bool = False, durable: bool = True) -> Folder:
    """Open the folder `parts` below `root`; with `create`, make what is missing (0700).

    Raises:
        VaultError: when `root` is no folder, or a component is a link, a file, or no plain name.
        OSError: when the file system refuses.
    """
    try:
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise VaultError(f"No vault at {root}. Run `mdmem init`, or point MDMEM_VAULT at an existing one.") from error
    try:
        for part in parts:
            below = _step(fd, part, create=create, durable=durable)
            os.close(fd)
            fd = below
    except BaseException:
        os.close(fd)
        raise
    return Folder(fd, os.path.join(root, *parts))


def _step(fd: int, name: str, *, create: bool, durable: bool) -> int:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise VaultError(f"{name!r:.60} is not the name of a folder.")
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise VaultError(f"{name!r:.60} in the vault is a link or a file where a folder should be.") from error
        raise
    try:
        os.mkdir(name, 0o700, dir_fd=fd)
    except FileExistsError:
        pass  # another process was quicker, and may be killed before it has synced
    if durable:
        os.fsync(fd)
    return os.open(name, _FOLDER, dir_fd=fd)


def create(folder: Folder, name: str, data: bytes, *, durable: bool = True) -> bool:
    """Publish a new file, whole or not at all; False when the name is taken, whoever holds it.

    durable: survives a power cut (file and folder are synced); otherwise the death of the process.

    Raises:
        OSError: when it cannot be stored; nothing is left behind.
    """
    temp = _temp_name()
    try:
        _write(folder, temp, data, durable=durable)
        try:
            os.link(temp, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _LINKS_FAIL:
                raise
            if not _create_without_links(folder, temp, name, data, durable=durable):
                return False
        if durable:
            os.fsync(folder.fd)
    finally:
        _remove(folder, temp)
    return True


def replace(folder: Folder, name: str, old: bytes | None, new: bytes, *, durable: bool = True) -> bool:
    """Put `new` in the place of `old`; False when the file is no longer `old` (None: missing).

    What a person saved between reading and writing is thus kept: read again, and try again.
    """
    if old is None:
        return create(folder, name, new, durable=durable)
    temp = _temp_name()
    try:
        _write(folder, temp, new, durable=durable)
        if read(folder, name) != old:
            return False
        os.replace(temp, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
        if durable:
            os.fsync(folder.fd)
    finally:
        _remove(folder, temp)
    return True


def read(folder: Folder, name: str) -> bytes | None:
    """Read a file of this folder, at most `MAX_READ_BYTES`; None when it is missing, a link or no file."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder.fd)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    with open(fd, "rb") as file:
        return file.read(MAX_READ_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else None


def _write(folder: Folder, name: str, data: bytes, *, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o600, dir_fd=folder.fd)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _create_without_links(folder: Folder, temp: str, name: str, data: bytes, *, durable: bool) -> bool:
    """FAT and some network shares have no hard links: rename where that can be kept from overwriting, else copy."""
    try:
        return _rename_to_new(folder, temp, name)
    except OSError:
        pass  # not this file system, or not this operating system
    try:
        _write(folder, name, data, durable=durable)
    except FileExistsError:
        return False
    except OSError:
        _remove(folder, name)
        raise
    return True


def _rename_to_new(folder: Folder, temp: str, name: str) -> bool:
    """Rename, unless the name is taken; Python itself cannot ask for that."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, "no renameat2")
    if call(folder.fd, os.fsencode(temp), folder.fd, os.fsencode(name), _RENAME_NOREPLACE) == 0:
        return True
    code = ctypes.get_errno()
    if code == errno.EEXIST:
        return False
    raise OSError(code, "renameat2")


def _temp_name() -> str:
    return f".{time.time_ns():x}-{os.getpid()}.tmp"


def is_temp(name: str) -> bool:
    """Say whether a file is one that a writer makes for a moment."""
    number, _, rest = name[1:].partition("-")
    plain = name.startswith(".") and rest.endswith(".tmp") and rest[:-4].isdigit()
    return plain and number != "" and set("0123456789abcdef").issuperset(number)


def reap(root: str, now: float, seconds: float = TEMP_SECONDS) -> int:
    """Remove what writers that were killed have left, once it is `seconds` old; give how many files that were."""
    gone = 0
    folders: list[tuple[str, ...]] = [()]
    while folders:
        parts = folders.pop()
        try:
            with open_folder(root, parts) as folder:
                for name in folder.names():
                    mode, changed = _look(folder, name)
                    if stat.S_ISDIR(mode) and not name.startswith("."):
                        folders.append((*parts, name))
                    elif stat.S_ISREG(mode) and is_temp(name) and now - changed > seconds:
                        _remove(folder, name)
                        gone += 1
        except (OSError, VaultError):
            continue  # deleted meanwhile, or not ours to read
    return gone


def _look(folder: Folder, name: str) -> tuple[int, float]:
    """Give mode and time of what has this name, not through a link; zeros when it is gone."""
    try:
        found = os.lstat(name, dir_fd=folder.fd)
    except OSError:
        return 0, 0.0
    return found.st_mode, found.st_mtime


def _remove(folder: Folder, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder.fd)
    except OSError:
        return


class Entry:
    """A markdown file that the walk met: vault-relative POSIX path, and what tells a change."""

    __slots__ = ("inode", "mtime_ns", "path", "size")

    def __init__(self, path: str, mtime_ns: int, size: int, inode: int) -> None:
        self.path = path
        self.mtime_ns = mtime_ns
        self.size = size
        self.inode = inode


def walk(root: str, below: str = "", visited: list[str] | None = None, skip: Container[str] = ()) -> Iterator[Entry]:
    """Give every note below `root`, in no order: `.md` files, without hidden ones, links and templates.

    below: only what lies in this folder, vault-relative. visited: is given every folder that was read.
    skip: folders below it that are not gone into.
    """
    ours = os.path.exists(os.path.join(root, "mdmem.toml"))
    folders = [f"{below}/" if below else ""]
    while folders:
        prefix = folders.pop()
        if visited is not None:
            visited.append(prefix.rstrip("/"))
        try:
            scan = os.scandir(os.path.join(root, prefix) if prefix else root)
        except OSError:
            continue  # deleted meanwhile, or not ours to read
        with scan:
            for item in scan:
                if item.name.startswith("."):
                    continue
                path = prefix + item.name
                try:
                    if path.endswith(_ENDINGS) and item.is_file(follow_symlinks=False):
                        if prefix or is_note_path(path, ours=ours):  # what is mdmem's own lies at the top
                            found = item.stat(follow_symlinks=False)
                            yield Entry(path, found.st_mtime_ns, found.st_size, found.st_ino)
                    elif item.is_dir(follow_symlinks=False) and not (ours and path == "templates") and path not in skip:
                        folders.append(f"{path}/")
                except OSError:
                    continue


def is_note_path(path: str, *, ours: bool = True) -> bool:
    """Say whether a vault-relative POSIX path names a note: markdown, not hidden, not mdmem's own.

    ours: the vault has an `mdmem.toml`, so that its README.md and `templates/` are mdmem's own.
    """
    if not path.endswith(_ENDINGS) or path.startswith(".") or "/." in path:
        return False
    return not (ours and (path == "README.md" or path.startswith("templates/")))


def read_path(root: str, path: str) -> bytes | None:
    """Read the note at a vault-relative POSIX path, never through a link; None when it is not there."""
    *folders, name = path.split("/")
    try:
        with open_folder(root, tuple(folders)) as folder:
            return read(folder, name) if name not in ("", ".", "..") else None
    except (FileNotFoundError, VaultError):
        return None


def iso_time(seconds: float) -> str:
    """Write a time as notes do: ISO 8601 in UTC, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def epoch(iso: str) -> float:
    """Read a time as notes write it; 0 for anything else."""
    if len(iso) != 20 or not (iso[:4] + iso[5:7] + iso[8:10] + iso[11:13] + iso[14:16] + iso[17:19]).isdigit():
        return 0.0
    year, month, day = int(iso[:4]), int(iso[5:7]), int(iso[8:10])
    # Days from a civil date, proleptic Gregorian: `calendar.timegm` would import datetime.
    year -= month <= 2
    shifted = (month + 9) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * shifted + 2) // 5 + day - 719469
    return days * 86400.0 + int(iso[11:13]) * 3600 + int(iso[14:16]) * 60 + int(iso[17:19])
