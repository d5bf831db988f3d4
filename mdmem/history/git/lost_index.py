"""Lost index: git's index when it is missing or damaged. It is rebuilt from the last commit; no file changes."""

from __future__ import annotations

import hashlib
import os
import shlex

from mdmem.errors import BusyError, VaultError
from mdmem.history.git import checked_out, git_index, objects, part, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.vault import disk

_CLONING = ("clone: ", "mdmem: clone")
"""Beginnings of what git's log of HEAD says until a clone is complete."""


def problem(repo: Repository) -> str:
    """Return what is wrong with the index, as `is missing`; "" for a good one, and for none while none is needed."""
    try:
        data = (repo.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return "is missing" if _base(repo) and not is_half_clone(repo) else ""
    return "" if data.startswith(b"DIRC") and _is_whole(data) else "is damaged"


def _is_whole(data: bytes) -> bool:
    """Whether an index ends in its checksum, or in zeros, as with git's setting `index.skipHash`."""
    if data.endswith((bytes(20), hashlib.sha1(memoryview(data)[:-20], usedforsecurity=False).digest())):
        return True
    return data.endswith(hashlib.sha256(memoryview(data)[:-32]).digest())  # git's newer object format


def is_half_clone(repo: Repository) -> bool:
    """Whether the vault is a clone that was killed before it had an index: nobody has deleted its missing files."""
    if (repo.git_dir / "index").exists() or writer.marked(repo) is not None or not writer.tip(repo, "HEAD"):
        return False
    lines = checked_out.text_of(repo.git_dir / "logs" / "HEAD").splitlines()
    is_new = all(line.partition("\t")[2].startswith(_CLONING) for line in lines)
    return is_new and repository.url(repo, objects.REMOTE) != ""


def restore(repo: Repository, lock_fd: int) -> None:
    """Rebuild the index from the last commit, or from that before an interrupted one, with the committer's lock held.

    Raises:
        VaultError: when no note of that commit is here: without an index, a commit would delete all of them.
        BusyError: when another git has written an index meanwhile.
        GitError: when git fails.
    """
    if base := _base(repo):
        _check_files(repo, base)
    index = repo.git_dir / "index"
    if index.exists():
        index.replace(index.with_name(checked_out.DAMAGED))
    if not base:
        return
    vault_part = part.load(repo)
    with git_index.read_from(repo, base, lock_fd) as copy:
        absent = (path for _, _, path in objects.listed(repo, base) if part.is_absent(repo, vault_part, path))
        git_index.skip_worktree(repo, absent, copy, lock_fd=lock_fd)
        if git_index.publish(repo, copy) is not git_index.Published.YES:
            raise BusyError(f"Another git is using {repo.root}. Try again in a moment.")


def _check_files(repo: Repository, base: str) -> None:
    vault_part = part.load(repo)
    listed = (path for _, _, path in objects.listed(repo, base) if disk.is_note_path(path))
    notes = [path for path in listed if not part.is_absent(repo, vault_part, path)]
    if notes and not any(os.path.lexists(repo.root / path) for path in notes):
        raise VaultError(
            f"No note of the last commit is in {repo.root}, and git's index is missing too."
            f" `git -C {shlex.quote(str(repo.root))} checkout HEAD -- .` restores them."
        )


def _base(repo: Repository) -> str:
    marked = writer.marked(repo)
    return writer.tip(repo, "HEAD") if marked is None else marked
