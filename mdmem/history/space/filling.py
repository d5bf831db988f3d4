"""The files of a clone, written from what git has: all of them, or those of a part. No file is overwritten."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice

from mdmem.errors import GitError, NotFoundError
from mdmem.history.git import lock, objects, part, repository, writer
from mdmem.history.git.part import VaultPart
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join
from mdmem.vault import disk

Tell = Callable[[int, int], None]
AT_ONCE = 1_000
"""Maximum number of files whose texts are asked for at a time."""


def fill(repo: Repository, tell: Tell = lambda *_: None) -> None:
    """Write the files of a clone, also of one that broke off: it has no index yet."""
    head = "" if (repo.git_dir / "index").exists() else writer.tip(repo, "HEAD")
    if not head or writer.marked(repo) is not None:
        return
    held = part.load(repo)
    _write(repo, lambda: (file for file in join.files(repo, head) if part.is_part(held, file[0])), tell)
    repository.run(repo, "read-tree", "HEAD")
    if held or part.NEVER_IN_NAMES:
        _mark(repo, "--skip-worktree", (path for path, _ in _absent(repo, held)))
    repository.attempt(repo, "update-index", "-q", "--refresh")


def complete(repo: Repository, state_dir: str, tell: Tell = lambda *_: None) -> int:
    """Write the files that a part of a vault does not have; return how many. Interrupted, it can be run again.

    Raises:
        NotFoundError: when all of the vault is here.
        BusyError, GitError, OSError: when it cannot be done.
    """
    held = part.load(repo)
    if held is None:
        raise NotFoundError(f"The whole vault is already at {repo.root}.")
    with lock.held(state_dir):
        repo = objects.complete(repo)
        count = _write(repo, lambda: (file for file in _absent(repo, held) if part.can_be(file[0])), tell)
        rest = (path for path, _ in join.files(repo, "HEAD") if part.can_be(path) and not held.has(path))
        _mark(repo, "--no-skip-worktree", rest)
        part.forget(repo)
        repository.attempt(repo, "update-index", "-q", "--refresh")
    return count


def _absent(repo: Repository, held: VaultPart | None) -> Iterator[tuple[str, str]]:
    """Yield the files of the last commit that are neither part of what is here nor on disk."""
    return ((path, oid) for path, oid in join.files(repo, "HEAD") if part.is_absent(repo, held, path))


def _write(repo: Repository, files: Callable[[], Iterator[tuple[str, str]]], tell: Tell) -> int:
    """Write files, of each its path and the id of its text, never holding all of them; return how many."""
    total, done = sum(1 for _ in files()), 0
    rest = files()
    while chunk := list(islice(rest, AT_ONCE)):
        wanted = [oid for _, oid in chunk]
        objects.bring(repo, wanted)
        texts = objects.read(repo, wanted)
        for path, oid in chunk:
            found, data = next(texts, ("", b""))
            if found != oid:
                raise GitError(
                    f"git has no text for {path}, and cannot fetch it. Run the command again when the remote answers."
                )
            *folders, name = path.split("/")
            with disk.open_folder(str(repo.root), tuple(folders), create=True, durable=False) as folder:
                disk.create(folder, name, data, durable=False)
        done += len(chunk)
        tell(done, total)
    return total


def _mark(repo: Repository, how: str, paths: Iterator[str]) -> None:
    with tempfile.TemporaryFile(dir=repo.git_dir) as listed:
        listed.writelines(os.fsencode(path) + b"\0" for path in paths)
        if listed.tell():
            listed.seek(0)
            repository.run(repo, "update-index", "-z", how, "--stdin", stdin=listed)
