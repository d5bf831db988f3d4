"""Stray refs: files among git's refs that are none, such as a file service's "conflicted copy" of a branch.

Git refuses to fetch or check a repository that has one.
"""

from __future__ import annotations

import re
from pathlib import Path

from mdmem.history.git import objects, repository
from mdmem.history.git.repository import Repository

ASIDE = "refs.damaged"
"""Folder in the git directory that keeps the files put aside."""

_IGNORED = re.compile(r"^warning: ignoring (?:ref with broken name|broken ref) (.+)$", re.MULTILINE)


def find(repo: Repository) -> list[Path]:
    """Return the files among the refs that git takes for damaged."""
    printed = repository.attempt(repo, "for-each-ref", "--format=").err
    files = (repo.common_dir / name for name in _IGNORED.findall(printed))
    return [file for file in files if file.is_file()]


def unmerged(repo: Repository, file: Path) -> str:
    """Return the commit that a file names if the checked-out branch does not contain it; else ""."""
    oid = file.read_bytes().strip().decode("ascii", "replace")
    return oid if objects.has_commit(repo, oid) and not objects.is_ancestor(repo, oid, "HEAD") else ""


def branch(file: Path, oid: str) -> str:
    """Return the name of a branch that keeps the commit that a file names."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', file.name).strip('-')}-{oid[:8]}"


def put_aside(repo: Repository, file: Path, lock_fd: int) -> None:
    """Move a file out of the refs; a commit that only it names gets a branch first. Raises GitError, OSError."""
    if oid := unmerged(repo, file):
        repository.run(repo, "update-ref", f"refs/heads/{branch(file, oid)}", oid, lock_fd=lock_fd)
    aside = repo.git_dir / ASIDE / file.relative_to(repo.common_dir)
    aside.parent.mkdir(parents=True, exist_ok=True)
    file.replace(aside)
