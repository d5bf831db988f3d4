"""The files of a clone, written from what git has: all of them, or those of a part. No file is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from mdmem.errors import NotFoundError
from mdmem.history import past
from mdmem.history.git import lock, objects, part, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join
from mdmem.vault import disk

Tell = Callable[[int, int], None]
AT_ONCE = 1_000
"""Maximum number of files held in memory at a time."""


def fill(repo: Repository, tell: Tell = lambda *_: None) -> None:
    """Write the files of a clone, also of one that broke off: it has no index yet."""
    head = "" if (repo.git_dir / "index").exists() else writer.tip(repo, "HEAD")
    if not head or writer.marked(repo) is not None:
        return
    tree, _ = join.tree(repo, head)
    held = part.load(repo)
    _write(repo, {path: oid for path, oid in tree.items() if held is None or held.has(path)}, tell)
    repository.run(repo, "read-tree", "HEAD")
    _mark(repo, "--skip-worktree", part.absent(repo, tree))
    repository.attempt(repo, "update-index", "-q", "--refresh")


def complete(repo: Repository, state_dir: str, tell: Tell = lambda *_: None) -> int:
    """Write the files that a part of a vault does not have; return how many. Interrupted, it can be run again.

    Raises:
        NotFoundError: when all of the vault is here.
        BusyError, GitError, OSError: when it cannot be done.
    """
    if part.load(repo) is None:
        raise NotFoundError(f"The whole vault is already at {repo.root}.")
    with lock.held(state_dir):
        repo = objects.complete(repo)
        missing = part.absent(repo, tree := join.tree(repo, "HEAD")[0])
        _write(repo, {path: tree[path] for path in sorted(missing)}, tell)
        _mark(repo, "--no-skip-worktree", missing)
        part.forget(repo)
        repository.attempt(repo, "update-index", "-q", "--refresh")
    return len(missing)


def _write(repo: Repository, files: dict[str, str], tell: Tell) -> None:
    done = 0
    for chunk in _chunks(iter(files.items())):
        wanted = sorted(set(chunk.values()))
        objects.bring(repo, wanted)
        texts = past.objects_of(repo, wanted)
        for path, oid in chunk.items():
            *folders, name = path.split("/")
            with disk.open_folder(str(repo.root), tuple(folders), create=True, durable=False) as folder:
                disk.create(folder, name, texts[oid], durable=False)
        done += len(chunk)
        tell(done, len(files))


def _chunks(files: Iterator[tuple[str, str]]) -> Iterator[dict[str, str]]:
    while chunk := dict(islice(files, AT_ONCE)):
        yield chunk


def _mark(repo: Repository, how: str, paths: set[str]) -> None:
    if paths:
        listed = "".join(f"{path}\0" for path in sorted(paths)).encode("utf-8", "surrogateescape")
        repository.run(repo, "update-index", "-z", how, "--stdin", stdin=listed)
