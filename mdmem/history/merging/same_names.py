"""Same names: files that this system takes for one, as `Plan.md` and `plan.md` on most disks of macOS and Windows.

Only one of them would be written, and the next commit would give both its text, on all machines.

Disks differ in what they take for one: `Straße` and `Strasse` are two names on NTFS and one on ext4 with casefold;
a disk of macOS may keep `A` and `a` apart, yet not the two ways to write `é`. So the disk itself is asked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem.errors import GitError
from mdmem.history import folder_scan
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join

FOLDER = ".mdmem-names"
"""Folder in which names are tried. One name is enough: whoever asks has the committer's lock, or a new clone."""


def joins_names(repo: Repository) -> bool:
    """Whether the vault's disk takes some different names for one."""
    return os.path.lexists(repo.root / ".GIT") or is_one(repo, "\u00e9", "e\u0301")


def is_one(repo: Repository, first: str, other: str) -> bool:
    """Whether the vault's disk takes these paths for one file; also when it cannot tell.

    It is tried with empty files in a new folder in `.git`, or beside it if that is on another disk.
    """
    pairs = zip(first.split("/"), other.split("/"), strict=True)
    try:
        with _new_folder(repo) as folder:
            return all(_is_found(folder, name, as_name) for name, as_name in pairs if name != as_name)
    except OSError:
        return True


@contextmanager
def _new_folder(repo: Repository) -> Iterator[Path]:
    """Make a folder on the vault's disk and remove it again; also one that a killed run left."""
    is_same_disk = repo.git_dir.stat().st_dev == repo.root.stat().st_dev
    folder = (repo.git_dir if is_same_disk else repo.root) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_found(folder: Path, name: str, as_name: str) -> bool:
    """Whether a file that is created as `name` exists as `as_name`."""
    (folder / name).touch()
    found = os.path.lexists(folder / as_name)
    (folder / name).unlink()
    return found


def refuse(repo: Repository, new: Iterable[str], beside: str = "", gone: Collection[str] = ()) -> None:
    """Refuse new files of which this system takes one for another of them, or for a file of commit `beside`.

    beside: "" for none. gone: files of that commit that will be deleted.

    Raises GitError when there are such files.
    """
    by_name: dict[str, list[str]] = {}
    for path in new if joins_names(repo) else ():
        alike = by_name.setdefault(folder_scan.folded(path), [])
        _compare(repo, path, alike)
        alike.append(path)
    deleted = frozenset(gone)
    for path, _ in join.files(repo, beside) if by_name and beside else ():
        if path not in deleted:
            _compare(repo, path, by_name.get(folder_scan.folded(path), ()))


def _compare(repo: Repository, path: str, alike: Collection[str]) -> None:
    for other in alike:
        if path != other and is_one(repo, path, other):
            first, last = sorted((path, other))
            raise GitError(
                f"This system takes {first} and {last} for one file, so that one would replace the other. Nothing was"
                " received. Rename one of them on a machine that has it, sync there, then try again."
            )
