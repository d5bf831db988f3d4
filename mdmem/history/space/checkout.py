"""Write the files of a clone from git: all of them, or those of a part. No file is overwritten."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice

from mdmem.errors import GitError, NotFoundError
from mdmem.files import renew
from mdmem.history.git import git_index, lock, objects, part, repository, writer
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.part import VaultPart
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join
from mdmem.progress import ProgressCallback, ignore
from mdmem.vault import JOURNAL, disk

AT_ONCE = 1_000
"""Number of files read from git at a time."""


def fill(repo: Repository, report: ProgressCallback) -> None:
    """Write the files of a clone, also of an interrupted one: it has no index yet."""
    head = "" if (repo.git_dir / "index").exists() else writer.tip(repo, "HEAD")
    if not head or writer.marked(repo) is not None:
        return
    vault_part = part.load(repo)
    _write(repo, lambda: (file for file in join.files(repo, head) if part.is_part(vault_part, file[0])), report)
    repository.run(repo, "read-tree", "HEAD")
    if vault_part or part.NEVER_IN_NAMES:
        git_index.skip_worktree(repo, (path for path, _ in _absent(repo, vault_part)))
    repository.attempt(repo, "update-index", "-q", "--refresh")


def complete(repo: Repository, state_dir: str, report: ProgressCallback = ignore) -> int:
    """Write the files that a partial vault lacks; return how many. Run it again after an interruption.

    Raises:
        NotFoundError: when the vault is not partial.
        BusyError, GitError, OSError: when it fails.
    """
    vault_part = part.load(repo)
    if vault_part is None:
        raise NotFoundError(f"The whole vault is already at {repo.root}.")
    with lock.held(state_dir, repo.common_dir):
        repo = objects.complete(repo)
        fill(repo, report)
        count = _write(repo, lambda: (file for file in _absent(repo, vault_part) if part.can_be(file[0])), report)
        paths = (path for path, _ in join.files(repo, "HEAD") if part.can_be(path) and not vault_part.has(path))
        git_index.skip_worktree(repo, paths, skip=False)
        part.forget(repo)
        repository.attempt(repo, "update-index", "-q", "--refresh")
    return count


def _absent(repo: Repository, vault_part: VaultPart | None) -> Iterator[tuple[str, str]]:
    """Yield the files of the last commit that are outside the part and not on disk."""
    return ((path, oid) for path, oid in join.files(repo, "HEAD") if part.is_absent(repo, vault_part, path))


def _write(repo: Repository, files: Callable[[], Iterator[tuple[str, str]]], report: ProgressCallback) -> int:
    """Write files, given as path and blob id, some at a time; return how many."""
    total, written = sum(1 for _ in files()), 0
    remaining, times = files(), _times(repo)
    while chunk := list(islice(remaining, AT_ONCE)):
        oids = [oid for _, oid in chunk]
        objects.bring(repo, oids)
        texts = objects.read(repo, oids)
        for path, oid in chunk:
            found_oid, data = next(texts, ("", b""))
            if found_oid != oid:
                raise GitError(
                    f"git lacks the content of {path} and cannot fetch it. Run this again when the remote is reachable."
                )
            with disk.open_parent(str(repo.root), path, create=True, durable=False) as folder:
                is_new = disk.create(folder, path.rpartition("/")[2], data, durable=False)
            if is_new and path in times:
                renew(str(repo.root / path), times[path])
        written += len(chunk)
        report("Writing files", written, total)
    return total


def _times(repo: Repository) -> dict[str, float]:
    """Return when each file outside of sessions was last committed: a note that names no time has its file's."""
    form, outside = ("-z", "--no-renames", "--name-only", "--format=%x01%at"), f":(exclude,glob){JOURNAL}/*/*/*/**"
    times: dict[str, float] = {}
    at, now = 0.0, time.time()
    for field in repository.each(repo, "log", *form, "HEAD", "--", outside, env=PATTERNS):
        if field.startswith("\x01"):
            at = float(field[1:]) if field[1:].isdecimal() else 0.0
        elif 0 < at < now:  # a date may be damaged, or that of a wrong clock
            times.setdefault(field.removeprefix("\n"), at)
    return times
