"""What has changed in a vault since its last commit, and which of it is mdmem's to commit."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mdmem.errors import BusyError, GitError
from mdmem.history.git import git_index, repository
from mdmem.history.git.repository import Repository
from mdmem.vault import disk

MARKDOWN = disk.NOTE_ENDINGS

OWN_FILES = frozenset(["mdmem.toml", ".gitignore", ".gitattributes", "CODEOWNERS", ".github/CODEOWNERS"])
"""What is mdmem's own beside notes."""

UNDER_WAY = {
    "MERGE_HEAD": "A merge",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
    "rebase-merge": "A rebase",
    "rebase-apply": "A rebase",
}
"""Files in the git folder that tell what a person has begun."""


class Change(NamedTuple):
    """A file that differs from the last commit.

    path: relative to the vault, with slashes; bytes that are no UTF-8 are surrogates.
    kind: "added", "changed" or "deleted".
    oid: its blob in the last commit, "" for an added one.
    """

    path: str
    kind: str
    oid: str = ""


class State(NamedTuple):
    """A vault against its last commit.

    branch: the full name of the branch; it need not exist yet.
    head: the last commit's id, "" before the first.
    changes: notes, and the vault's few known files, in the order of paths. beside: every other file.
    staged: paths that a person has staged; they stay theirs.
    """

    branch: str
    head: str
    changes: list[Change]
    staged: list[str]
    beside: list[Change]


def find(repo: Repository, copy: git_index.Copy) -> State:
    """Compare the vault with its last commit, by way of a copy of the index.

    Raises:
        BusyError: when a person is half-way through a merge, a rebase or the like.
        GitError: when no branch is checked out.
    """
    refuse_half_way(repo)
    printed = repository.each(
        repo,
        "status",
        "--porcelain=v2",
        "--branch",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--no-renames",
        "-z",
        env=git_index.env(copy),
    )
    head = branch = ""
    found: list[Change] = []
    staged: list[str] = []
    for line in printed:
        if line.startswith("# branch.oid "):
            head = line[13:].replace("(initial)", "")
        elif line.startswith("# branch.head "):
            branch = line[14:]
        elif line.startswith("u "):
            raise BusyError(
                f"{line.split(' ', 10)[10]} has an unresolved conflict. Resolve it; then the notes are committed."
            )
        elif line[:2] in ("1 ", "? "):
            _sort_in(line, found, staged)
    if branch == "(detached)":
        raise GitError(f"No branch is checked out in {repo.root}. Go back with: git -C {repo.root} switch -")
    found.sort()
    changes = [change for change in found if is_own(change.path)]
    beside = [change for change in found if not is_own(change.path)]
    return State(f"refs/heads/{branch}", head, changes, staged, beside)


def is_own(path: str) -> bool:
    """Return whether a path is that of a note, or of one of the vault's few known files; hidden ones are not."""
    hidden = path.startswith(".") or "/." in path
    return path in OWN_FILES or (path.endswith(MARKDOWN) and not hidden)


def _sort_in(line: str, changes: list[Change], staged: list[str]) -> None:
    if line[0] == "?":
        changes.append(Change(line[2:], "added"))
        return
    *_, oid, _, path = line.split(" ", 8)
    if line[2] != "." or line[3] == "A":
        staged.append(path)
    else:
        changes.append(Change(path, "deleted" if line[3] == "D" else "changed", oid))


def refuse_half_way(repo: Repository) -> None:
    """Raise BusyError when a person is half-way through a merge, a rebase or the like."""
    if what := half_way(repo.git_dir):
        raise BusyError(f"{what} is under way in {repo.root}: finish or abort it with git. The notes wait.")


def half_way(git_dir: Path) -> str:
    """Return what a person is half-way through with git, such as "A merge"; "" for nothing."""
    return next((what for name, what in UNDER_WAY.items() if (git_dir / name).exists()), "")
