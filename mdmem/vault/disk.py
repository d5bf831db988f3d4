"""The vault on disk: confined folders, atomic files, a walk, a lock.

A new file is published as in a maildir: written under a dot name in its folder, synced, then linked to its
name, which fails if that name is taken. Folders are opened one component at a time without following links,
so that no id, title or swapped folder leads outside the vault.
"""

from __future__ import annotations

import os
import time

from mdmem import files, system
from mdmem.hook_errors import VaultError, no_vault
from mdmem.vault import START_PAGE, is_in_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    MetFile = Callable[[str, int], None]
    """Receives each file's path and ctime in ns. A program cannot set a ctime."""

MAX_READ_BYTES = 32 * 1024 * 1024
"""Reads stop after this much: notes are small, and a stray video must not fill the memory."""

NOTE_ENDINGS = (".md", ".markdown", ".MD", ".Md", ".MARKDOWN", ".Markdown")
"""File endings of notes, in the letter cases that programs write."""

WAIT_SECONDS = 6.0
"""Longest wait for a folder that another process has locked."""


class NotSyncedError(OSError):
    """A file is stored completely, but may not survive a power cut: its folder cannot be synced."""


class Folder:
    """An open folder inside the vault; use it in a `with` statement.

    handle: for all operations. path: where it was opened, for messages and state.
    """

    __slots__ = ("handle",)

    def __init__(self, handle: system.HeldFolder) -> None:
        self.handle = handle

    @property
    def path(self) -> str:
        """Return the path under which the folder was opened."""
        return self.handle.path

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.close()

    def lock(self) -> None:
        """Lock the folder until it is closed or the process ends.

        Raises TimeoutError when another process keeps it locked for `WAIT_SECONDS`.
        """
        if not self.handle.lock(WAIT_SECONDS):
            raise TimeoutError(system.code("ETIMEDOUT"), "The folder is locked by another process.")

    def names(self) -> list[str]:
        """Return the names in the folder."""
        return self.handle.names()

    def below(self, name: str, *, create: bool = False, durable: bool = True) -> Folder:
        """Open a folder inside it. Raises what `open_folder` raises."""
        return Folder(_step(self.handle, name, create=create, durable=durable))

    def has(self, name: str) -> bool:
        """Whether the folder has an entry with this name."""
        try:
            self.handle.stat(name)
        except FileNotFoundError:
            return False
        return True


def open_folder(root: str, parts: tuple[str, ...] = (), *, create: bool = False, durable: bool = True) -> Folder:
    """Open the folder `parts` below `root`; with `create`, make missing folders (mode 0700).

    Raises:
        VaultError: when `root` is not a folder, or a component is a link, a file, or not a plain name.
        OSError: when the file system fails.
    """
    try:
        handle = system.open_folder(root)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise no_vault(root) from error
    try:
        for number, part in enumerate(parts):
            child = _step(handle, part, parts[:number], create=create, durable=durable)
            handle.close()
            handle = child
    except BaseException:
        handle.close()
        raise
    return Folder(handle)


def open_parent(root: str, path: str, *, create: bool = False, durable: bool = True) -> Folder:
    """Open the folder that a file is in, by its vault-relative POSIX path. Raises what `open_folder` raises."""
    return open_folder(root, tuple(path.split("/")[:-1]), create=create, durable=durable)


def _step(
    parent: system.HeldFolder, name: str, parts: tuple[str, ...] = (), *, create: bool, durable: bool
) -> system.HeldFolder:
    """Open a folder in another one. parts: the path of that one, if known, for messages."""
    if name in ("", ".", "..") or "/" in name or os.sep in name or "\0" in name:
        raise VaultError(f"{name!r:.60} is not the name of a folder.")
    try:
        return parent.child(name)
    except FileNotFoundError:
        if not create:
            raise
    except NotADirectoryError as error:
        path = "/".join((*parts, name))
        raise VaultError(f"{path!r:.200} in the vault is a link or a file where a folder should be.") from error
    try:
        parent.make(name)
    except FileExistsError:
        pass  # another process made it, and may be killed before it syncs
    if durable:
        parent.sync()
    return parent.child(name)


def create(folder: Folder, name: str, data: bytes, *, durable: bool = True) -> bool:
    """Publish a new file atomically; False when the name is taken.

    name: of a file in the folder, or in a folder inside it, which is made: `part2/NAME`.
    durable: sync file and folder, to survive a power cut; otherwise the file survives only the end of the process.

    Raises:
        NotSyncedError: when it is stored, but may not survive a power cut.
        OSError, VaultError: when it cannot be stored; nothing is left behind.
    """
    if "/" in name:
        part, _, name = name.partition("/")
        with folder.below(part, create=True, durable=durable) as part_folder:
            return create(part_folder, name, data, durable=durable)
    temp = _temp_name()
    try:
        _write(folder, temp, data, durable=durable)
        if not folder.handle.publish(temp, name):
            return False
        if durable:
            _sync(folder, name, data)
    finally:
        _remove(folder, temp)
    return True


def _sync(folder: Folder, name: str, data: bytes) -> None:
    """Sync a folder after storing `data` under `name`; if that fails, check whether the file is there.

    Raises:
        NotSyncedError: when it is.
        OSError: when it is not.
    """
    try:
        folder.handle.sync()
    except OSError as error:
        if read(folder, name) == data:
            path = os.path.join(folder.path, name)  # or a person would not know what to look for before a second try
            raise NotSyncedError(error.errno, "The file is stored, but its folder cannot be synced.", path) from error
        raise


def replace(folder: Folder, name: str, old: bytes | None, new: bytes, *, durable: bool = True) -> bool:
    """Replace a file's content `old` (None: missing) by `new`; False when it is no longer `old`.

    So an edit made between the caller's read and this write is kept: the caller reads again and retries.
    name: as for `create`.
    """
    if "/" in name and old is not None:
        part, _, name = name.partition("/")
        with folder.below(part) as part_folder:
            return replace(part_folder, name, old, new, durable=durable)
    if old is None:
        return create(folder, name, new, durable=durable)
    temp = _temp_name()
    try:
        _write(folder, temp, new, durable=durable)
        if read(folder, name) != old:
            return False
        folder.handle.replace(temp, name)
        if durable:
            _sync(folder, name, new)
    finally:
        _remove(folder, temp)
    return True


def remove(folder: Folder, name: str) -> None:
    """Delete a file. name: as for `create`. Raises OSError or VaultError when it cannot be deleted."""
    part, slash, name_in_part = name.partition("/")
    if slash:
        with folder.below(part) as part_folder:
            part_folder.handle.remove(name_in_part)
    else:
        folder.handle.remove(name)


def read(folder: Folder, name: str) -> bytes | None:
    """Read a file, at most `MAX_READ_BYTES`; None when it is missing or not a regular file.

    name: as for `create`.

    Raises PermissionError when it cannot be read (UnreadableError: the disk is the reason), OSError when no file can.
    """
    if "/" in name:
        part, _, name = name.partition("/")
        try:
            with folder.below(part) as part_folder:
                return read(part_folder, name)
        except (FileNotFoundError, VaultError):
            return None
    try:
        fd = folder.handle.open_to_read(name)
    except OSError as error:
        if system.is_error(error, "ENOENT", "ELOOP", "ENXIO", "ENAMETOOLONG"):
            return None
        error.filename = os.path.join(folder.path, name)
        if system.is_error(error, "EIO", "ESTALE", "EUCLEAN"):
            raise files.UnreadableError(error.errno, error.strerror, error.filename) from error
        raise
    return files.content(fd, MAX_READ_BYTES, os.path.join(folder.path, name))


def _write(folder: Folder, name: str, data: bytes, *, durable: bool) -> None:
    fd = folder.handle.open_new(name)
    try:
        files.write_all(fd, data)
        if durable:
            system.sync(fd)
    finally:
        os.close(fd)


def _temp_name() -> str:
    return f".{time.time_ns():x}-{os.getpid()}.tmp"


def _remove(folder: Folder, name: str) -> None:
    try:
        folder.handle.remove(name)
    except OSError:
        return


class WalkedFile:
    """A note found by the walk: vault-relative POSIX path, and what shows that it changed."""

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
    """Yield every note below `root`, folder by folder: Markdown files, except hidden ones, links and templates.

    below: only this folder, vault-relative. visited: receives every folder that was read. skip: folders to leave out.
    packed: instead of an archived session's file, yield its notes, each under its original path.
    hides: whether to leave out a path. met: called with every file, including archives.
    """
    from mdmem.vault import layout

    ours = os.path.exists(os.path.join(root, "mdmem.toml"))
    folders = [f"{below}/" if below else ""]
    if packed and is_in_journal(below):
        yield from _packed_below(root, below)
    while folders:
        prefix = folders.pop()
        if visited is not None:
            visited.append(prefix.rstrip("/"))
        try:
            scan = os.scandir(os.path.join(root, prefix) if prefix else root)
        except OSError:
            continue  # archived, deleted meanwhile, or unreadable
        archived = packed and layout.may_hold_archives(prefix[:-1])
        subfolders = []
        with scan:
            for item in scan:
                path = prefix + item.name
                if item.name.startswith(".") or (ours and path == "templates") or (hides and hides(path)):
                    continue
                try:
                    if not (path.endswith(NOTE_ENDINGS) and item.is_file(follow_symlinks=False)):
                        if item.is_dir(follow_symlinks=False) and path not in skip:
                            subfolders.append(f"{path}/")
                        continue
                    if not prefix and not is_note_path(path, ours=ours):
                        continue  # one of mdmem's own files
                    state = item.stat(follow_symlinks=False)
                    if met is not None:
                        met(path, state.st_ctime_ns)
                    packed_notes = _in_archive(root, path) if archived else None
                except OSError:
                    continue
                if packed_notes is None:
                    yield WalkedFile(path, state.st_mtime_ns, state.st_size, state.st_ino)
                else:
                    yield from packed_notes
        folders += sorted(subfolders, reverse=True)


def is_note_path(path: str, *, ours: bool = True) -> bool:
    """Whether a vault-relative POSIX path names a note: Markdown, not hidden, not one of mdmem's own files.

    ours: the vault has an `mdmem.toml`, so that its README.md and `templates/` belong to mdmem.
    """
    if not path.endswith(NOTE_ENDINGS) or path.startswith(".") or "/." in path or "\0" in path:
        return False
    return not (ours and (path == START_PAGE or path.startswith("templates/")))


def read_path(root: str, path: str) -> bytes | None:
    """Read a note by vault-relative POSIX path, packed ones included, without following links; None when missing."""
    data = read_file(root, path)
    return _packed_note(root, path) if data is None else data


def readable(root: str, path: str) -> bytes | None:
    """Read a note like `read_path`; None also when its permissions forbid it."""
    try:
        return read_path(root, path)
    except PermissionError:
        return None


def read_file(root: str, path: str) -> bytes | None:
    """Read a file by vault-relative POSIX path without following links; None when missing."""
    name = path.rpartition("/")[2]
    try:
        with open_parent(root, path) as folder:
            return read(folder, name) if name not in ("", ".", "..") else None
    except (FileNotFoundError, VaultError):
        return None


# -- archived sessions -----------------------------------------------------------------------------


def lstat(root: str, path: str) -> os.stat_result:
    """Return the lstat of a note's file, or of the archive that contains it.

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
    """Whether a note is in an archive and has no file of its own."""
    return not os.path.lexists(os.path.join(root, path)) and _packed_note(root, path) is not None


def names_in(root: str, folder: str) -> list[str]:
    """Return the names in a folder of the vault, packed notes included; [] when it cannot be read.

    Names in a part of a session are written as in `layout`: `part2/NAME`.
    """
    names = system.names_in(os.path.join(root, folder))
    if not is_in_journal(folder):
        return names  # avoids the import for other folders
    from mdmem.vault import layout

    names = layout.with_parts(root, folder, names)
    return [*names, *(name for name in _packed(root, folder) if name not in names)]


def _packed_note(root: str, path: str) -> bytes | None:
    if not is_in_journal(path):
        return None  # avoids the import for other files
    from mdmem.vault import layout

    folder, name = layout.split(path)
    return _packed(root, folder).get(name)


def _packed(root: str, folder: str) -> dict[str, bytes]:
    """Return the packed notes of a session's folder, by name."""
    from mdmem.vault import layout, packed

    return packed.load(root, layout.archive_of(folder), read_file)


def archived_folder(root: str, path: str) -> str:
    """Return the session folder that an archive's path stands for, also if the archive is gone; "" for other files."""
    if not is_in_journal(path):
        return ""  # avoids the import for other files
    from mdmem.vault import layout, packed

    folder = layout.archived_in(path)
    is_other = folder and os.path.lexists(os.path.join(root, path)) and not packed.load(root, path, read_file)
    return "" if is_other else folder


def _packed_below(root: str, below: str) -> Iterator[WalkedFile]:
    """Yield the packed notes of a session's or a day's folder; their archives are in another folder."""
    from mdmem.vault import layout

    if layout.archive_of(below):
        yield from _in_archive(root, layout.archive_of(below)) or ()
    elif (day := layout.archives_of_day(below)) and day != below:
        for name in names_in(root, day):
            if layout.archived_in(f"{day}/{name}").startswith(f"{below}/"):
                yield from _in_archive(root, f"{day}/{name}") or ()


def _in_archive(root: str, path: str) -> list[WalkedFile] | None:
    """Return an archive's notes that have no file of their own; None when the file is not an archive."""
    from mdmem.vault import packed

    notes = packed.load(root, path, read_file)
    if not notes:
        return None
    state = os.lstat(os.path.join(root, path))
    stamp = state.st_mtime_ns, state.st_size, state.st_ino
    return [WalkedFile(note, *stamp) for note in packed.without_file(root, path, notes)]
