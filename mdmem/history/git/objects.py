"""Read git objects, fetch missing ones in a partial clone, and tell a shallow one.

Git fetches a missing blob when it is read, one at a time; blobs that are known to be needed are fetched together.
"""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import tempfile
from collections.abc import Collection, Iterable, Iterator
from typing import BinaryIO

from mdmem.errors import GitError
from mdmem.history.git import repository, transfer
from mdmem.history.git.repository import Repository

REMOTE = "origin"
FILTER = "--filter=blob:none"
"""For `git clone`: commits and trees without blobs. A remote that does not support filters sends everything."""
ALL = "--filter=blob:limit=1g"
"""For `git fetch` in a partial clone: leaves out nothing, and git accepts that other blobs are missing."""

_ANY = ("-c", "fetch.negotiationAlgorithm=noop")
_FETCH = ("fetch", transfer.PROGRESS, "--no-tags", "--no-write-fetch-head")
_SETTINGS = ("extensions.partialClone", f"remote.{REMOTE}.promisor", f"remote.{REMOTE}.partialclonefilter")


def bring(repo: Repository, oids: Iterable[str]) -> None:
    """Fetch these blobs together if git may lack them. When that fails, git fetches each when it is read."""
    if repo.is_partial:
        command = (*_ANY, *_FETCH, FILTER, "--stdin", REMOTE)
        repository.attempt(repo, *command, stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"), network=True)


def complete(repo: Repository) -> Repository:
    """Fetch every missing blob of the history; return the repository, now complete.

    Raises GitError when the remote cannot be reached.
    """
    if not repo.is_partial:
        return repo
    bounds = repository.far_end(repo.root, repository.url(repo, REMOTE), "upload-pack")
    if b"--refetch" in repository.attempt(repo, "fetch", "-h").out:
        repository.run(repo, *_FETCH, *bounds, "--refetch", "--no-filter", REMOTE, network=True)
    else:  # git before 2.36 fetches nothing of what it has a branch for, except by id
        listed = repository.run(repo, "rev-list", "--objects", "--all", "--missing=print")
        missing = b"".join(line[1:] + b"\n" for line in listed.splitlines() if line.startswith(b"?"))
        command = (*_ANY, *_FETCH, *bounds, "--no-filter", "--stdin", REMOTE)
        repository.run(repo, *command, stdin=missing, network=True)
    for setting in _SETTINGS:
        repository.attempt(repo, "config", "--unset-all", setting)
    for mark in (repo.common_dir / "objects" / "pack").glob("*.promisor"):
        mark.unlink()
    return repo._replace(is_partial=False)


def refuse_shallow(repo: Repository, why: str, commits: Collection[str] = ()) -> None:
    """Raise GitError when a vault is a shallow clone. why: what would follow; it begins with "and".

    commits: if given, it may be one, unless their parents are missing.
    """
    file = repo.common_dir / "shallow"
    without_parents = file.read_text("ascii").split() if file.is_file() else []
    if without_parents and (not commits or not set(without_parents).isdisjoint(commits)):
        raise GitError(
            f"{repo.root} is a shallow clone: it lacks the older commits, {why}. Fetch them first: git -C"
            f" {shlex.quote(str(repo.root))} fetch --unshallow"
        )


def read(repo: Repository, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the ids and bytes of objects of any kind, read one at a time by one git process."""
    with tempfile.TemporaryFile(dir=repo.git_dir) as requests:
        requests.writelines(f"{oid}\n".encode("ascii") for oid in oids)
        if not requests.tell():
            return
        requests.seek(0)
        command = ("cat-file", "--batch", "--buffer")
        with repository.printing(repo, *command, stdin=requests, network=repo.is_partial) as out:
            yield from _with_data(out)


def has_commit(repo: Repository, oid: str) -> bool:
    """Whether git has a commit. Raises nothing, also for a text that is not an id."""
    return oid.isalnum() and not repository.attempt(repo, "cat-file", "-e", f"{oid}^{{commit}}").status


def is_ancestor(repo: Repository, oid: str, other: str) -> bool:
    """Whether git has two commits, and one is the other or comes before it."""
    return not repository.attempt(repo, "merge-base", "--is-ancestor", oid, other).status


def contents(repo: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of objects of any kind by id, read by one git process; "" stands for none."""
    return dict(read(repo, sorted(set(oids) - {""})))


ONLY_BLOBS = ("--filter=object:type=blob", "--filter-provided-objects")


def reachable(repo: Repository, oid: str, *options: str) -> frozenset[str]:
    """Return the ids of a commit, of what it contains and of what came before it.

    What a partial clone lacks is left out. options: `ONLY_BLOBS`.
    """
    command = ("rev-list", "--objects", "--no-object-names", "--missing=allow-promisor", *options, oid)
    return frozenset(repository.run(repo, *command).decode("ascii").split())


def blob_id(data: bytes, like: str) -> str:
    """Return the id of a blob with this content, by the hash algorithm of the id `like`."""
    hashed = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return hashed(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def every(repo: Repository) -> Iterator[tuple[str, bytes]]:
    """Yield the id and content of every object of the repository, reachable or not."""
    command = ("cat-file", "--batch", "--buffer", "--batch-all-objects", "--unordered")
    with repository.printing(repo, *command) as out:
        yield from _with_data(out)


def printed(out: BinaryIO) -> Iterator[tuple[list[bytes], bytes | None]]:
    """Parse the output of `git cat-file --batch`: yield id, kind and size, and the content (None: missing).

    Raises GitError when the output is cut.
    """
    while line := out.readline():
        facts, data, end = line.rstrip(b"\n").split(b" "), None, line[-1:]
        if end == b"\n" and facts[-1] != b"missing":
            data, end = out.read(int(facts[2])), out.read(1)
        if end != b"\n":
            raise GitError("git stopped in the middle of an object. No note is lost.")
        yield facts, data


def _with_data(out: BinaryIO) -> Iterator[tuple[str, bytes]]:
    return ((facts[0].decode("ascii"), data) for facts, data in printed(out) if data is not None)


TreeEntries = dict[str, tuple[str, str]]
"""A tree object: name -> mode, object id."""


def parse_tree(data: bytes, id_bytes: int) -> TreeEntries:
    """Parse a tree object. id_bytes: the length of an object id."""
    tree: TreeEntries = {}
    start = 0
    while start < len(data):
        end = data.index(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        tree[os.fsdecode(name)] = mode.decode("ascii"), data[end + 1 : end + 1 + id_bytes].hex()
        start = end + 1 + id_bytes
    return tree


def trees(repo: Repository, commit: str, folders: list[str]) -> dict[str, TreeEntries]:
    """Return the trees of those folders that a commit has. No folder may contain a newline."""
    requests = b"".join(os.fsencode(f"{commit}:{folder}\n") for folder in folders)
    output = repository.run(repo, "cat-file", "--batch", stdin=requests) if requests else b""
    return {
        folder: parse_tree(data, len(commit) // 2)
        for folder, (facts, data) in zip(folders, printed(io.BytesIO(output)), strict=True)
        if data is not None and facts[1] == b"tree"
    }


def listed(repo: Repository, oid: str, *folders: str) -> Iterator[tuple[str, str, str]]:
    """Yield mode, object id and path of a commit's files, of all folders or of these."""
    for line in repository.each(repo, "ls-tree", "-r", "-z", oid, "--", *folders):
        facts, _, path = line.partition("\t")
        mode, _, oid = facts.split(" ")
        yield mode, oid, path


def changed(repo: Repository, oid: str) -> list[tuple[str, str, str]]:
    """Return the paths that a commit changed, each with the blob ids before and after; "" for no file."""
    command = ("diff-tree", "--root", "-r", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", "-z", oid)
    fields = repository.each(repo, *command)
    rows = ((path, *meta.split(" ")[2:4]) for meta, path in zip(fields, fields, strict=True))
    return [(path, old.strip("0") and old, new.strip("0") and new) for path, old, new in rows]
