"""Same names: files that this system takes for one, as `Plan.md` and `plan.md` on most disks of macOS and Windows.

Only one of them would be written, and the next commit would give both its text, on all machines.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from mdmem.errors import GitError
from mdmem.history import folder_scan
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join


def ignores_case(repo: Repository) -> bool:
    """Whether the vault's disk takes names for one that differ only in case."""
    return os.path.lexists(repo.root / ".GIT")


def refuse(repo: Repository, new: Iterable[str], beside: str = "", gone: Collection[str] = ()) -> None:
    """Refuse new files of which this system takes one for another of them, or for a file of commit `beside`.

    beside: "" for none. gone: files of that commit that will be deleted.

    Raises GitError when there are such files.
    """
    by_name: dict[str, str] = {}
    for path in new if ignores_case(repo) else ():
        _compare(path, by_name.setdefault(folder_scan.folded(path), path))
    deleted = frozenset(gone)
    for path, _ in join.files(repo, beside) if by_name and beside else ():
        if path not in deleted:
            _compare(path, by_name.get(folder_scan.folded(path), path))


def _compare(path: str, other: str) -> None:
    if path != other:
        first, last = sorted((path, other))
        raise GitError(
            f"This system takes {first} and {last} for one file, so that one would replace the other. Nothing was"
            " received. Rename one of them on a machine that has it, sync there, then try again."
        )
