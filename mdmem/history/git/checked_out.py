"""The checked-out branch, and how to restore its last commit after a power cut.

A power cut can leave the file of a branch empty. Git takes such a branch for one without commits, and `git status`
calls it "(unknown)": the next commit would begin a second history. It can also leave objects empty, the last commit
among them, which git then refuses to read, but not to take for written.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path

from mdmem import files
from mdmem.errors import GitError
from mdmem.history.git import objects, repository, writer
from mdmem.history.git.repository import Repository

DAMAGED = "index.damaged"
"""File in the git directory that keeps an index put aside, which may list what somebody had staged."""

_TIP = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?|ref: .*")


def branch(repo: Repository) -> str:
    """Return the full ref name of the checked-out branch; it may have no commit yet.

    Raises GitError when none is, or when it has lost its last commit.
    """
    name = _name(repo)
    if not name:
        git = f"git -C {shlex.quote(str(repo.root))}"
        if (repo.git_dir / "BISECT_START").exists():
            raise GitError(f"A git bisect is in progress in {repo.root}. End it with: {git} bisect reset")
        raise GitError(f"No branch is checked out in {repo.root}. Go back with: {git} switch {_last_branch(repo)}")
    if _is_lost(repo, name):
        raise GitError(f"{message(repo, name)} No note is lost; `mdmem doctor` says what to do.")
    return name


def tip(repo: Repository) -> str:
    """Return the last commit of the checked-out branch, "" for none. Raises what `branch` raises."""
    return writer.tip(repo, branch(repo))


def has_commit(repo: Repository) -> bool:
    """Whether HEAD names a commit, even one that git cannot read."""
    return not repository.attempt(repo, "rev-parse", "--verify", "--quiet", "HEAD").status


def lost(repo: Repository) -> str:
    """Return the checked-out branch if it has lost its last commit, or that is damaged; else "".

    Raises OSError when it cannot be read: it may be intact.
    """
    name = _name(repo)
    return name if name and (_is_lost(repo, name) or _is_unreadable(repo, name)) else ""


def message(repo: Repository, name: str) -> str:
    """Return the sentence about a branch that has lost its last commit."""
    short = name.removeprefix("refs/heads/")
    return f"The branch {short} in {repo.root} has lost its last commit, as after a power cut."


def logged(repo: Repository, name: str) -> str:
    """Return the last commit of a branch according to git's log of it; "" if it names none that still exists.

    Raises OSError when a later one cannot be read: it may be intact.
    """
    for oid in reversed(_log(repo, name)):
        if objects.has_commit(repo, oid):
            return oid
        _check_rights(repo, oid)
    return ""


def restore(repo: Repository, oid: str, lock_fd: int) -> None:
    """Make `oid` the last commit of the checked-out branch if it has lost it, with the committer's lock held.

    Raises GitError when git fails, or OSError.
    """
    if name := lost(repo):
        # Git refuses to write over an empty file. Without it, the branch would end at an older commit if it is packed.
        (repo.common_dir / name).parent.mkdir(parents=True, exist_ok=True)
        files.replace(str(repo.common_dir / name), f"{oid}\n".encode())
        if goes_back(repo, name, oid):
            _drop_empty(repo)
            writer.unmark(repo)  # what was to be written on top of the lost commit is written again
            repository.run(repo, *_EXPIRE, lock_fd=lock_fd)


def goes_back(repo: Repository, name: str, oid: str) -> bool:
    """Whether `oid` is older than the commit that a branch has lost, whose objects are damaged."""
    return _log(repo, name)[-1:] != [oid]


_EXPIRE = ("reflog", "expire", "--stale-fix", "--expire=never", "--expire-unreachable=never", "--all")
"""Removes from git's logs what cannot be read, and nothing else."""


def _drop_empty(repo: Repository) -> None:
    """Delete objects that a power cut left empty, and put the index aside that names them: both are written again.

    What a git is just writing, `tmp_obj_…`, may be empty too.
    """
    for file in (repo.common_dir / "objects").glob("[0-9a-f][0-9a-f]/[0-9a-f]*"):
        if not file.stat().st_size:
            file.unlink()
    with suppress(FileNotFoundError):
        (repo.git_dir / "index").replace(repo.git_dir / DAMAGED)


def _last_branch(repo: Repository) -> str:
    """Return the branch that was checked out last, quoted for the shell; "-" if HEAD's reflog names none."""
    lines = reversed(text_of(repo.git_dir / "logs" / "HEAD").splitlines())
    left = (line.partition("\tcheckout: moving from ")[2].partition(" to ")[0] for line in lines)
    for name in dict.fromkeys(left):
        if name and not repository.attempt(repo, "show-ref", "--verify", "--quiet", f"refs/heads/{name}").status:
            return shlex.quote(name)
    return "-"


def _name(repo: Repository) -> str:
    result = repository.attempt(repo, "symbolic-ref", "--quiet", "HEAD")
    if not result.status:
        return os.fsdecode(result.out).strip()
    text = (repo.git_dir / "HEAD").read_text("utf-8", "replace")  # git does not name a branch whose file is empty
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else ""


def _is_lost(repo: Repository, name: str) -> bool:
    """Whether a branch's file names no commit, or is missing while git has its log: git deletes both together."""
    file = repo.common_dir / name
    if file.is_file():
        return not _TIP.fullmatch(file.read_bytes().strip(b"\0 \n"))
    return bool(_log(repo, name)) and f" {name}\n" not in text_of(repo.common_dir / "packed-refs")


def _is_unreadable(repo: Repository, name: str) -> bool:
    """Whether a branch's last commit is damaged or missing, but an earlier one of git's log of it is there.

    Raises OSError when it cannot be read: it may be intact.
    """
    tip = os.fsdecode(repository.attempt(repo, "rev-parse", "--verify", "--quiet", name).out).strip()
    if not tip or objects.has_commit(repo, tip):
        return False
    _check_rights(repo, tip)
    return bool(logged(repo, name))


def _check_rights(repo: Repository, oid: str) -> None:
    """Raise OSError when a file that may hold an object cannot be read, as after `sudo git commit`."""
    folder = repo.common_dir / "objects"
    with suppress(FileNotFoundError):
        (folder / oid[:2] / oid[2:]).read_bytes()
    with suppress(FileNotFoundError):
        for file in (folder / "pack").iterdir():
            file.open("rb").close()


def _log(repo: Repository, name: str) -> list[str]:
    """Return the commits that git's log of a branch names, the last one last."""
    entries = (line.split(" ", 2) for line in text_of(repo.common_dir / "logs" / name).splitlines())
    return [entry[1] for entry in entries if len(entry) > 2 and entry[1].isalnum() and entry[1].strip("0")]


def text_of(file: Path) -> str:
    """Return the text of one of git's files; "" when it cannot be read."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
