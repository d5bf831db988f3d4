"""The vault on disk: folders that cannot be left, files that cannot be torn, a walk, a lock.

A file is published the way maildir does it: written under a dot name in its own folder, synced, then
linked to its name, which fails where something already has that name. Folders are opened one component
at a time and links are never followed, so that no id, title or swapped folder leads outside.
"""

from __future__ import annotations

import os
import stat
import time

from mdmem import files, system
from mdmem.hook_errors import VaultError, no_vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    MetFile = Callable[[str, int], None]
    """Is told of a file that was met: its path, and when anything of it changed, in ns, which no program can set."""

MAX_READ_BYTES = 32 * 1024 * 1024
"""Of a longer file only this much is read: notes are small, and a stray video must not fill the memory."""

NOTE_ENDINGS = (".md", ".markdown", ".MD", ".Md", ".MARKDOWN", ".Markdown")
"""Ends of the names of notes, in the letter cases that programs write."""

WAIT_SECONDS = 6.0
"""Nobody waits longer for a folder that another process has locked."""


class NotSyncedError(OSError):
    """A file is stored, whole and under its name, but may not survive a power cut: its folder cannot be synced."""


class Folder:
    """A folder inside the vault, held open; use it in a `with` statement.

    inside: all work goes through it. path: where it is, for messages and for state.
    """

    __slots__ = ("inside",)

    def __init__(self, inside: system.HeldFolder) -> None:
        self.inside = inside

    @property
    def path(self) -> str:
        """Return where the folder was opened."""
        return self.inside.path

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.inside.close()

    def lock(self) -> None:
        """Wait for this folder to be ours alone, until it is closed. Death of the process frees it too.

        Raises TimeoutError when somebody else has it for longer than `WAIT_SECONDS`.
        """
        if not self.inside.lock(WAIT_SECONDS):
            raise TimeoutError(system.code("ETIMEDOUT"), "The folder is locked by another process.")

    def names(self) -> list[str]:
        """Return the names in it."""
        return self.inside.names()

    def below(self, name: str, *, create: bool = False, durable: bool = True) -> Folder:
        """Open a folder in it. Raises what `open_folder` raises."""
        return Folder(_step(self.inside, name, create=create, durable=durable))

    def has(self, name: str) -> bool:
        """Whether something has this name."""
        try:
            self.inside.stat(name)
        except FileNotFoundError:
            return False
        return True


def open_folder(root: str, parts: tuple[str, ...] = (), *, create: bool = False, durable: bool = True) -> Folder:
    """Open the folder `parts` below `root`; with `create`, make what is missing (0700).

    Raises:
        VaultError: when `root` is not a folder, or a component is a link, a file, or no plain name.
        OSError: when the file system refuses.
    """
    try:
        inside = system.open_folder(root)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise no_vault(root) from error
    try:
        for part in parts:
            below = _step(inside, part, create=create, durable=durable)
            inside.close()
            inside = below
    except BaseException:
        inside.close()
        raise
    return Folder(inside)


def _step(above: system.HeldFolder, name: str, *, create: bool, durable: bool) -> system.HeldFolder:
    if name in ("", ".", "..") or "/" in name or os.sep in name or "\0" in name:
        raise VaultError(f"{name!r:.60} is not the name of a folder.")
    try:
        return above.child(name)
    except FileNotFoundError:
        if not create:
            raise
    except NotADirectoryError as error:
        raise VaultError(f"{name!r:.60} in the vault is a link or a file where a folder should be.") from error
    try:
        above.make(name)
    except FileExistsError:
        pass  # another process was quicker, and may be killed before it has synced
    if durable:
        above.sync()
    return above.child(name)


def create(folder: Folder, name: str, data: bytes, *, durable: bool = True) -> bool:
    """Publish a new file, whole or not at all; False when the name is taken.

    name: of a file in it, or in a folder in it, which is made: `part2/NAME`.
    durable: survives a power cut (file and folder are synced); otherwise the death of the process.

    Raises:
        NotSyncedError: when it is stored, but may not survive a power cut.
        OSError, VaultError: when it cannot be stored; nothing is left behind.
    """
    if "/" in name:
        part, _, name = name.partition("/")
        with folder.below(part, create=True, durable=durable) as inside:
            return create(inside, name, data, durable=durable)
    temp = _temp_name()
    try:
        _write(folder, temp, data, durable=durable)
        if not folder.inside.publish(temp, name):
            return False
        if durable:
            _sync(folder, name, data)
    finally:
        _remove(folder, temp)
    return True


def _sync(folder: Folder, name: str, data: bytes) -> None:
    """Sync a folder in which `data` was just stored under `name`; where that fails, look what is there.

    Raises:
        NotSyncedError: when the file is there all the same.
        OSError: when it is not.
    """
    try:
        folder.inside.sync()
    except OSError as error:
        if read(folder, name) == data:
            raise NotSyncedError(error.errno, "The file is stored, but its folder cannot be synced.") from error
        raise


def replace(folder: Folder, name: str, old: bytes | None, new: bytes, *, durable: bool = True) -> bool:
    """Put `new` in the place of `old`; False when the file is no longer `old` (None: missing).

    What a person saved between reading and writing is thus kept: read again, and try again.
    name: as for `create`.
    """
    if "/" in name and old is not None:
        part, _, name = name.partition("/")
        with folder.below(part) as inside:
            return replace(inside, name, old, new, durable=durable)
    if old is None:
        return create(folder, name, new, durable=durable)
    temp = _temp_name()
    try:
        _write(folder, temp, new, durable=durable)
        if read(folder, name) != old:
            return False
        folder.inside.replace(temp, name)
        if durable:
            _sync(folder, name, new)
    finally:
        _remove(folder, temp)
    return True


def remove(folder: Folder, name: str) -> None:
    """Remove a file of this folder; name: as for `create`. Raises OSError or VaultError when it cannot be removed."""
    part, slash, rest = name.partition("/")
    if slash:
        with folder.below(part) as inside:
            inside.inside.remove(rest)
    else:
        folder.inside.remove(name)


def read(folder: Folder, name: str) -> bytes | None:
    """Read a file of this folder, at most `MAX_READ_BYTES`; None when it is missing, a link or no file.

    name: as for `create`.
    """
    if "/" in name:
        part, _, name = name.partition("/")
        try:
            with folder.below(part) as inside:
                return read(inside, name)
        except (FileNotFoundError, VaultError):
            return None
    try:
        fd = folder.inside.open_to_read(name)
    except OSError as error:
        if system.is_error(error, "ENOENT", "ELOOP", "ENXIO", "ENAMETOOLONG"):
            return None
        error.filename = os.path.join(folder.path, name)
        raise
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        data = b""
        while more := os.read(fd, min(found.st_size + 1, MAX_READ_BYTES - len(data))):
            data = data + more if data else more
        return data
    finally:
        os.close(fd)


def _write(folder: Folder, name: str, data: bytes, *, durable: bool) -> None:
    fd = folder.inside.open_new(name)
    try:
        files.write_all(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _temp_name() -> str:
    return f".{time.time_ns():x}-{os.getpid()}.tmp"


def _remove(folder: Folder, name: str) -> None:
    try:
        folder.inside.remove(name)
    except OSError:
        return


class WalkedFile:
    """A markdown file that the walk met: vault-relative POSIX path, and what tells a change."""

    __slots__ = ("inode", "mtime_ns", "path", "size")

    def __init__(self, path: str, mtime_ns: int, size: int, inode: int) -> None:
        self.path = path
        self.mtime_ns = mtime_ns
        self.size = size
        self.inode = inode


def walk(
    root: str,
    below: str = "",
    visited: list[str] | None = None,
    skip: Container[str] = (),
    *,
    packed: bool = True,
    hides: Callable[[str], bool] | None = None,
    met: MetFile | None = None,
) -> Iterator[WalkedFile]:
    """Yield every note below `root`, folder by folder: `.md` files, without hidden ones, links and templates.

    below: only this folder, vault-relative. visited: is called with every folder that was read. skip: folders below it
    that are left out. packed: instead of an archived session's file, yield its notes, each under its original path.
    hides: whether a path is left out. met: is called with every file, including those of archived sessions.
    """
    from mdmem.vault import layout

    ours = os.path.exists(os.path.join(root, "mdmem.toml"))
    folders = [f"{below}/" if below else ""]
    if packed and below.startswith("journal/"):
        yield from _packed_below(root, below)
    while folders:
        prefix = folders.pop()
        if visited is not None:
            visited.append(prefix.rstrip("/"))
        try:
            scan = os.scandir(os.path.join(root, prefix) if prefix else root)
        except OSError:
            continue  # archived, deleted meanwhile, or not ours to read
        archived = packed and layout.may_hold_archives(prefix[:-1])
        below_it = []
        with scan:
            for item in scan:
                path = prefix + item.name
                if item.name.startswith(".") or (hides and hides(path)):
                    continue
                try:
                    if not (path.endswith(NOTE_ENDINGS) and item.is_file(follow_symlinks=False)):
                        is_passed_over = path in skip or (ours and path == "templates")
                        if not is_passed_over and item.is_dir(follow_symlinks=False):
                            below_it.append(f"{path}/")
                    elif prefix or is_note_path(path, ours=ours):  # what is mdmem's own lies at the top
                        found = item.stat(follow_symlinks=False)
                        if met is not None:
                            met(path, found.st_ctime_ns)
                        inside = _in_archive(root, path) if archived else None
                        if inside is None:
                            yield WalkedFile(path, found.st_mtime_ns, found.st_size, found.st_ino)
                        else:
                            yield from inside
                except OSError:
                    continue
        folders += sorted(below_it, reverse=True)


def is_note_path(path: str, *, ours: bool = True) -> bool:
    """Whether a vault-relative POSIX path names a note: markdown, not hidden, not mdmem's own.

    ours: the vault has an `mdmem.toml`, so that its README.md and `templates/` are mdmem's own.
    """
    if not path.endswith(NOTE_ENDINGS) or path.startswith(".") or "/." in path or "\0" in path:
        return False
    return not (ours and (path == "README.md" or path.startswith("templates/")))


def read_path(root: str, path: str) -> bytes | None:
    """Read the note at a vault-relative POSIX path, never through a link; None when it is not there."""
    data = read_file(root, path)
    return _packed_note(root, path) if data is None else data


def readable(root: str, path: str) -> bytes | None:
    """Read a note as `read_path` does; None also when its file's permissions refuse that."""
    try:
        return read_path(root, path)
    except PermissionError:
        return None


def read_file(root: str, path: str) -> bytes | None:
    """Read the file at a vault-relative POSIX path, never through a link; None when there is none."""
    *folders, name = path.split("/")
    try:
        with open_folder(root, tuple(folders)) as folder:
            return read(folder, name) if name not in ("", ".", "..") else None
    except (FileNotFoundError, VaultError):
        return None


# -- archived sessions -----------------------------------------------------------------------------


def look(root: str, path: str) -> os.stat_result:
    """Return the state of a note's file, not through a link: its own, or that of the archive in which it lies.

    Raises OSError or ValueError when there is no such note.
    """
    try:
        return os.lstat(f"{root}/{path}")
    except FileNotFoundError:
        if _packed_note(root, path) is None:
            raise
        from mdmem.vault import layout

        return os.lstat(f"{root}/{layout.archive_of(layout.folder_of(path))}")


def is_packed(root: str, path: str) -> bool:
    """Whether a note lies in an archived session's file, and not in one of its own."""
    return not os.path.lexists(os.path.join(root, path)) and _packed_note(root, path) is not None


def names_in(root: str, folder: str) -> list[str]:
    """Return the names in a folder of the vault, those of its packed notes included; none when it cannot be read.

    Those in a part of a session are named as in `layout`: `part2/NAME`.
    """
    try:
        found = os.listdir(os.path.join(root, folder))
    except OSError:
        found = []
    if folder.startswith("journal/"):
        from mdmem.vault import layout

        found = layout.with_parts(root, folder, found)
    return [*found, *(name for name in _packed(root, folder) if name not in found)]


def _packed_note(root: str, path: str) -> bytes | None:
    if not path.startswith("journal/"):
        return None  # nothing is loaded for others
    from mdmem.vault import layout

    folder, name = layout.split(path)
    return _packed(root, folder).get(name)


def _packed(root: str, folder: str) -> dict[str, bytes]:
    """Return the notes of a session's folder that are packed, by name."""
    if not folder.startswith("journal/"):
        return {}  # nothing is loaded for others
    from mdmem.vault import layout, packed

    return packed.load(root, layout.archive_of(folder), read_file)


def archived_folder(root: str, path: str) -> str:
    """Return the folder whose notes are packed in a file, or were when it is gone; "" for any other file."""
    if not path.startswith("journal/"):
        return ""  # nothing is loaded for others
    from mdmem.vault import layout, packed

    folder = layout.archived_in(path)
    is_other = folder and os.path.lexists(os.path.join(root, path)) and not packed.load(root, path, read_file)
    return "" if is_other else folder


def _packed_below(root: str, below: str) -> Iterator[WalkedFile]:
    """Yield the packed notes of a session's folder, or of a day's, which lie elsewhere."""
    from mdmem.vault import layout

    if layout.archive_of(below):
        yield from _in_archive(root, layout.archive_of(below)) or ()
    elif (day := layout.archives_of_day(below)) and day != below:
        for name in names_in(root, day):
            if layout.archived_in(f"{day}/{name}").startswith(f"{below}/"):
                yield from _in_archive(root, f"{day}/{name}") or ()


def _in_archive(root: str, path: str) -> list[WalkedFile] | None:
    """Return the notes in an archive that have no file of their own; None for a file that is not an archive."""
    from mdmem.vault import packed

    inside = packed.load(root, path, read_file)
    if not inside:
        return None
    found = os.lstat(os.path.join(root, path))
    stamp = found.st_mtime_ns, found.st_size, found.st_ino
    return [WalkedFile(note, *stamp) for note in packed.without_file(root, path, inside)]
