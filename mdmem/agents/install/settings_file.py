"""Settings file: changes an agent's settings on disk atomically, and keeps a copy of their first state."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mdmem import files
from mdmem.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKUP_SUFFIX = ".mdmem-backup"
_BOM = b"\xef\xbb\xbf"
_plans: list[dict[str, bytes | None]] = []
"""During a rehearsal: what it yields."""


@contextmanager
def rehearsal() -> Iterator[dict[str, bytes | None]]:
    """Change no file within the block: what is written to settings is only seen by those who read them there.

    Yields what files would contain: path, or the target of a symlink -> content, None for a file that would be deleted.
    """
    _plans.append({})
    try:
        yield _plans[-1]
    finally:
        _plans.pop()


def is_rehearsed() -> bool:
    """Whether files are to stay as they are."""
    return bool(_plans)


class SettingsFile:
    """A settings file as it was read.

    path: as named; if it is a symlink, its target is changed. text: without a byte order mark; None if there is no
    file.

    Raises ConfigError when the file cannot be read as UTF-8 text.
    """

    __slots__ = ("_bytes", "_real", "_stat", "path", "text")

    def __init__(self, path: str) -> None:
        self.path = path
        self._real = os.path.realpath(path)
        self._bytes = _read(self._real, path)
        self._stat = None if self._bytes is None else os.stat(self._real)
        self.text = None if self._bytes is None else _decode(self._bytes, path)

    def backup(self) -> str:
        """Return the path of the copy from before mdmem's first change, or "" if there is none."""
        path = self.path + BACKUP_SUFFIX
        is_there = _plans[-1][path] is not None if _plans and path in _plans[-1] else os.path.isfile(path)
        return path if is_there else ""

    def text_before(self) -> str | None:
        """Return the text of that copy, or None."""
        content = _read(self.path + BACKUP_SUFFIX, self.path + BACKUP_SUFFIX)
        return None if content is None else _decode(content, self.path + BACKUP_SUFFIX)

    def write(self, text: str, *, keep_first: bool = True) -> bool:
        """Write `text` to the file, keeping its mode, owner and byte order mark; return whether it changed.

        keep_first: copy the file first, if there is no copy yet. Without it, a copy that equals the new content is
        removed.

        Raises ConfigError when that fails, or the file was changed since it was read.
        """
        if text == self.text:
            return False
        is_first = keep_first and self._bytes is not None and not self.backup()
        try:
            if is_first:
                self._publish(self._bytes or b"", self.path + BACKUP_SUFFIX)
            mark = _BOM if (self._bytes or b"").startswith(_BOM) else b""
            self._publish(mark + text.encode(), self._real)
            if not keep_first and self.backup() and _read(self.backup(), self.path) == mark + text.encode():
                _unlink(self.backup())
        except (OSError, ValueError, ConfigError) as error:
            if is_first:
                files.remove(self.path + BACKUP_SUFFIX)
            raise _unwritable(self.path, error) from error
        return True

    def restore(self) -> None:
        """Restore the copy, byte for byte, and remove it.

        Raises ConfigError when that fails, or the file was changed since it was read.
        """
        backup = self.path + BACKUP_SUFFIX
        try:
            self._publish(_read(backup, backup) or b"", self._real)
            _unlink(backup)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def delete(self) -> None:
        """Remove the file; a symlink to it stays. Raises ConfigError when that fails, or the file is read-only."""
        self._require_writable()
        try:
            _unlink(self._real)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def remove_empty_folders(self, top: str) -> None:
        """Remove the file's folder and those above it, up to `top` or `.config`, if they are empty.

        An agent seems to be installed where its folder is.
        """
        if is_rehearsed():
            return
        folder = os.path.dirname(self.path)
        with suppress(OSError):
            while folder == top or folder.startswith(os.path.join(top, "")) or os.path.basename(folder) == ".config":
                os.rmdir(folder)
                folder = os.path.dirname(folder)

    def _publish(self, content: bytes, path: str) -> None:
        """Write a temporary file of the same mode and owner beside `path`, and move it there.

        Raises ConfigError when the settings file is read-only.
        """
        self._require_writable()
        if _plans:
            _plans[-1][path] = content
            return
        folder = os.path.dirname(path)
        files.make_folders(folder)
        temp = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.mdmem-new")
        try:
            with open(temp, "wb", opener=files.opener) as file:
                if self._stat:
                    os.chmod(temp, self._stat.st_mode & 0o7777)
                    _give(temp, self._stat)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._still_as_read()
            os.replace(temp, path)
        finally:
            if os.path.lexists(temp):
                os.unlink(temp)

    def _require_writable(self) -> None:
        """Raise ConfigError when the file is read-only, which moving and deleting would ignore."""
        if self._stat and not self._stat.st_mode & 0o222:
            todo = f"`chmod u+w {shlex.quote(self.path)}` allows changes."
            raise ConfigError(f"{self.path} is read-only. It was not changed. {todo}")

    def _still_as_read(self) -> None:
        now = os.stat(self._real) if os.path.exists(self._real) else None
        if _identity(now) != _identity(self._stat):
            raise ConfigError(f"{self.path} was changed by another program just now. Try again.")


@contextmanager
def changing(path: str) -> Iterator[None]:
    """Raise ConfigError if the block cannot change the settings file in place."""
    try:
        yield
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ConfigError(f"{path} cannot be changed in place: {error}. It was not changed.") from error


def touches_others(path: str) -> ConfigError:
    """Return the error for a change that would affect entries that are not mdmem's."""
    return ConfigError(f"{path} cannot be changed without touching what is not mdmem's. It was not changed.")


def diff(before: str, after: str, path: str) -> str:
    """Return a change of a file as a unified diff."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, path if before else "/dev/null", path if after else "/dev/null")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _unlink(path: str) -> None:
    if _plans:
        _plans[-1][path] = None
    else:
        os.unlink(path)


def _read(path: str, name: str) -> bytes | None:
    if _plans and path in _plans[-1]:
        return _plans[-1][path]
    try:
        return files.read_any(path, sys.maxsize)
    except FileNotFoundError:
        return None
    except files.NotRegularError as error:
        raise ConfigError(f"{name} is not a regular file. Replace or remove it, and try again.") from error
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}. It was not changed.") from error


def _decode(content: bytes, name: str) -> str:
    try:
        return content.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 text. It was not changed.") from error


def _give(path: str, stat: os.stat_result) -> None:
    """Keep the file's owner, which matters under `sudo`; a process that may not set it is the owner already."""
    if not hasattr(os, "chown"):
        return  # Windows has neither these owners nor `sudo`
    with suppress(OSError):
        os.chown(path, stat.st_uid, stat.st_gid)


def _identity(stat: os.stat_result | None) -> tuple[int, ...]:
    return (stat.st_mtime_ns, stat.st_ino, stat.st_size) if stat else ()


def _unwritable(path: str, error: Exception) -> ConfigError:
    if isinstance(error, ConfigError):
        return error
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigError(f"{path} cannot be written: {reason}. Nothing was changed.")
