"""Aside: makes room for a fetched file, and keeps what was in its place under another name beside it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.hashing import sha256, short
from mdmem.history import rewrite
from mdmem.history.git import repository
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.repository import Repository
from mdmem.history.rewrite import RewriteStep
from mdmem.vault import disk, layout
from mdmem.vault.disk import Folder

_BESIDE = re.compile(r"(.+)\.conflict-[0-9a-z]{8}(\.[^./]+)?")


def conflict_path(path: str, mark: str) -> str:
    """Return the path beside `path` for its other version. mark: tells versions apart, such as a blob's id."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{stem}.conflict-{mark[:8]}{dot}{ending}" if stem else f"{path}.conflict-{mark[:8]}"


def both_versions(repo: Repository) -> Iterator[tuple[str, str]]:
    """Yield the committed files that have another version beside them, and the path of that one.

    Raises GitError when git fails.
    """
    words = ("ls-files", "-z", "--", "*.conflict-*")  # without `:(glob)`, git compares half as long
    for other in repository.each(repo, *words, env=PATTERNS):
        named = _BESIDE.fullmatch(other)
        path = f"{named[1]}{named[2] or ''}" if named else ""
        if path and all(os.path.lexists(repo.root / each) for each in (path, other)):
            yield path, other


def files_in_the_way(paths: Iterable[str], of: Iterable[str]) -> list[str]:
    """Return those of some paths that are also folders of others. of: the paths whose folders count."""
    known = set(paths)
    return sorted({folder for path in of for folder in layout.folders_above(path) if folder in known})


def keep(config: Config, path: str, data: bytes) -> str:
    """Keep the content of a file that is about to be replaced; return the path of the copy.

    Raises VaultError when it cannot be written.
    """
    copy = conflict_path(path, sha256(data).hex())
    if disk.read_path(config.vault, copy) != data and not rewrite.take(config, RewriteStep(copy, None, data)):
        raise blocked(config, path)
    return copy


def make_room(config: Config, path: str) -> str:
    """Move aside what stands where a file goes: a file or link in place of its folder, or a folder in its own place.

    Empty folders are deleted. Return where the moved thing was, "" for nothing.

    Raises VaultError when it cannot be moved.
    """
    parts = path.split("/")
    try:
        for depth, name in enumerate(parts):
            with disk.open_folder(config.vault, tuple(parts[:depth])) as folder:
                mode = folder.handle.stat(name).st_mode
                is_expected = stat.S_ISREG if depth == len(parts) - 1 else stat.S_ISDIR
                if is_expected(mode):
                    continue
                if stat.S_ISDIR(mode) and _is_without_files(folder.below(name)):
                    _delete(folder, name)
                    return ""
                _move(folder, name)
                return "/".join(parts[: depth + 1])
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise blocked(config, path) from error
    return ""


def blocked(config: Config, path: str) -> VaultError:
    """Return the error for a fetched file that cannot be written."""
    return VaultError(
        f"{path} was fetched, but something in its place in {config.vault} cannot be moved."
        " Move it yourself, then sync again."
    )


def _is_without_files(folder: Folder) -> bool:
    with folder:
        for name in folder.names():
            if not stat.S_ISDIR(folder.handle.stat(name).st_mode) or not _is_without_files(folder.below(name)):
                return False
    return True


def _delete(above: Folder, name: str) -> None:
    with above.below(name) as folder:
        for each in folder.names():
            _delete(folder, each)
    above.handle.remove_folder(name)


def _move(folder: Folder, name: str) -> None:
    """Rename something to a name beside it."""
    found = folder.handle.stat(name)
    new = conflict_path(name, short(f"{name}\0{found.st_mtime_ns}\0{found.st_ino}", 8))
    folder.handle.replace(name, new)
