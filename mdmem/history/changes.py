"""What has changed in a vault since its last commit, and what of it mdmem commits."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mdmem.errors import BusyError, GitError
from mdmem.history.git import checked_out, git_index, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.vault import disk, layout

OWN_FILES = frozenset(["mdmem.toml", ".gitignore", ".gitattributes", "CODEOWNERS", ".github/CODEOWNERS"])
"""Files of the vault that mdmem commits besides notes."""

UNDER_WAY = {
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
    "rebase-merge": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
"""Files in the git directory that show an unfinished operation, and git's command for it; a rebase may have others."""
SERIES = "sequencer/todo"
"""File in the git directory that lists the rest of a cherry-pick or revert of several commits."""


RULES = (".gitignore", ".gitattributes", ".gitmodules")
"""Files whose change affects how git treats others. Git reads them in each folder, and waits forever for a pipe."""


MOST = 50_000
"""Maximum number of changed notes listed at a time."""


FEW = 5_000
"""When only some paths matter: number of listed changes after which those of other paths are left out."""


class Change(NamedTuple):
    """A file that differs from the last commit.

    path: relative to the vault, with slashes; bytes that are not UTF-8 become surrogates.
    kind: "added", "changed" or "deleted".
    oid: its blob in the last commit, "" for an added file.
    """

    path: str
    kind: str
    oid: str = ""


class State(NamedTuple):
    """A vault compared with its last commit.

    branch: full ref name of the branch; it may not exist yet.
    head: id of the last commit, "" before the first.
    changes: notes and the vault's own files, sorted by path. beside: all other files, listed with the last notes.
    staged: paths that a person has staged; mdmem does not commit them.
    further: number of changed notes after these; pass `after` to `find` to list them.
    is_part: the changes of a folder may be spread over several listings.
    is_cut: some changes are in no listing, since only other paths matter.
    """

    branch: str
    head: str
    changes: list[Change]
    staged: list[str]
    beside: list[Change]
    further: int = 0
    after: bytes = b""
    is_part: bool = False
    is_cut: bool = False


def find(repo: Repository, copy: git_index.Copy, after: bytes = b"", only: Collection[str] | None = None) -> State:
    """Compare the vault with its last commit, using a copy of the index.

    after: the `State.after` of an earlier listing, to continue it. only: paths that matter; their sessions do too.

    Raises:
        BusyError: during an unfinished merge, rebase or the like.
        GitError: when no branch is checked out, it has lost its last commit, or git would wait for a pipe.
    """
    refuse_half_way(repo)
    refuse_pipes(repo.root, RULES)
    arguments = ("--branch", "--untracked-files=all", "--ignore-submodules=all", "--no-renames", "-z")
    listing = _Listing(repo.root, after, only)
    head = branch = ""
    for line in repository.each(repo, "status", "--porcelain=v2", *arguments, env=git_index.env(copy)):
        if line.startswith("# branch.oid "):
            head = line[13:].replace("(initial)", "")
        elif line.startswith("# branch.head "):
            branch = line[14:]
        elif line.startswith("u "):
            raise BusyError(
                f"{line.split(' ', 10)[10]} has an unresolved conflict.", "Resolve it; then the notes are committed."
            )
        elif line[:2] in ("1 ", "? "):
            listing.add(line)
    is_plain = head and branch not in ("(detached)", "(unknown)")
    return listing.state(f"refs/heads/{branch}" if is_plain else checked_out.branch(repo), head)


def compare(
    repo: Repository, lock_fd: int, after: bytes = b"", only: Collection[str] | None = None
) -> tuple[State, git_index.IndexStamp | None]:
    """Compare the vault with its last commit; also return the stamp of the index.

    What git learns about file times in its copy of the index is published to the index. after, only: as for `find`.

    Raises what `find` raises.
    """
    with git_index.copied(repo) as copy:
        git_index.catch_up_copy(repo, copy, lock_fd)
        at = copy.seen
        fresh = git_index.stamp(copy.path)
        state = find(repo, copy, after, only)
        now = git_index.stamp(copy.path)
        if now != fresh and writer.marked(repo) is None and git_index.publish(repo, copy, 0) is git_index.Published.YES:
            at = now
    return state, at


class _Listing:
    """Parsed lines of `git status`: tracked files, then new ones, each sorted by bytes."""

    def __init__(self, root: Path, after: bytes, only: Collection[str] | None) -> None:
        self._root = root
        self._skipped = after
        self._only = only
        self._sessions = {layout.session_of(path) for path in only or ()} - {""}
        self._is_cut = False
        self._after = b""
        self._further = 0
        self._changes: list[Change] = []
        self._beside: list[Change] = []
        self._staged: list[str] = []

    def add(self, line: str) -> None:
        """Add a line of `git status`."""
        if line[0] == "?":
            change = Change(line[2:], "added")
        else:
            *_, mode, _, _, oid, _, path = line.split(" ", 8)
            if line[2] != "." or line[3] == "A":
                self._staged.append(path)
                return
            if mode == "120000" and (self._root / path).is_symlink():
                return  # a person committed it as a link, and may lead it elsewhere
            change = Change(path, "deleted" if line[3] == "D" else "changed", oid)
        if not is_own(change.path):
            self._beside.append(change)
        elif self._skipped and _place(line[0], change) <= self._skipped:
            return
        elif self._has_enough_of(change.path):
            self._is_cut = True
        elif len(self._changes) < MOST:
            self._changes.append(change)
            if len(self._changes) == MOST:
                self._after = _place(line[0], change)
        else:
            self._further += 1
            self._beside.clear()

    def _has_enough_of(self, path: str) -> bool:
        if self._only is None or len(self._changes) < FEW or path in self._only:
            return False
        return layout.session_of(path) not in self._sessions

    def state(self, branch: str, head: str) -> State:
        """Return the listed changes."""
        self._changes.sort()
        self._beside.sort()
        is_part = bool(self._skipped or self._further or self._is_cut)
        listed = [] if self._further else self._beside
        more = (self._further, self._after if self._further else b"")
        return State(branch, head, self._changes, self._staged, listed, *more, is_part=is_part, is_cut=self._is_cut)


def _place(kind: str, change: Change) -> bytes:
    """Return the sort key of a line of `git status`."""
    return os.fsencode(kind + change.path)


def is_own(path: str) -> bool:
    """Whether a path is a note that is not hidden, one of the vault's own files, or a nested repository."""
    hidden = path.startswith(".") or "/." in path
    return path in OWN_FILES or (path.endswith(disk.NOTE_ENDINGS) and not hidden) or (is_nested(path) and not hidden)


def is_nested(path: str) -> bool:
    """Whether a listed path is the folder of another repository below the vault: git lists none of its files."""
    return path.endswith("/")


def refuse_half_way(repo: Repository) -> None:
    """Raise BusyError during an unfinished merge, rebase or the like."""
    if command := half_way(repo.git_dir):
        git = f"git -C {shlex.quote(str(repo.root))} {command}"
        raise BusyError(
            f"A git {command} is in progress in {repo.root}.",
            f"Finish it with `{git} --continue` or abort it with `{git} --abort`; then try again.",
        )


def refuse_pipes(folder: Path, names: Collection[str]) -> None:
    """Raise GitError when one of `names` in a folder is among `RULES`, and neither a file, a folder nor a link."""
    for path in (folder / name for name in RULES if name in names):
        mode = path.lstat().st_mode if os.path.lexists(path) else stat.S_IFREG
        if stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            raise GitError(f"{path} is a pipe or a device, which git would read forever. Delete it; then try again.")


def refuse_any_pipe(root: Path, paths: Collection[str]) -> None:
    """Raise GitError when git would read a pipe on the way to one of `paths` or below it; without paths, anywhere."""
    for parent in {parent for path in paths for parent in (root / path).parents if parent.is_relative_to(root)}:
        refuse_pipes(parent, RULES)
    for path in paths or ("",):
        for folder, folders, names in os.walk(root / path):
            folders[:] = [name for name in folders if name != ".git"]
            refuse_pipes(Path(folder), names)


def half_way(git_dir: Path) -> str:
    """Return the git command that a person has not finished, such as "merge"; "" for none."""
    command = next((command for name, command in UNDER_WAY.items() if (git_dir / name).exists()), "")
    if command or not (git_dir / SERIES).exists():
        return command
    return "revert" if (git_dir / SERIES).read_bytes().startswith(b"revert") else "cherry-pick"
