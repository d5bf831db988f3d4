"""Git's objects as it prints them, and what it has of them where only a part of a vault was cloned.

Git fetches a text that it lacks when it is asked for, one at a time; what is known to be wanted is fetched together.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from mdmem.history.git import repository
from mdmem.history.git.repository import Repository

REMOTE = "origin"
FILTER = "--filter=blob:none"
"""For `git clone`: commits and folders without texts. A remote that cannot leave them out sends all of them."""
ALL = "--filter=blob:limit=1g"
"""For `git fetch`, where texts are missing: leaves out nothing, and lets git take what comes for a part."""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
_SETTINGS = ("extensions.partialClone", f"remote.{REMOTE}.promisor", f"remote.{REMOTE}.partialclonefilter")


def bring(repo: Repository, oids: Iterable[str]) -> None:
    """Fetch these texts together, where git may lack them; where that fails git fetches them one by one."""
    if repo.is_partial:
        words = ("-c", "fetch.negotiationAlgorithm=noop", *_FETCH, FILTER, "--stdin", REMOTE)
        repository.attempt(repo, *words, stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"), network=True)


def complete(repo: Repository) -> Repository:
    """Fetch every text of the history that git lacks; return the repository, which is a whole one then.

    Raises GitError when the remote cannot be reached.
    """
    if not repo.is_partial:
        return repo
    bounds = repository.far_end(repo.root, repository.url(repo, REMOTE), "upload-pack")
    repository.run(repo, *_FETCH, *bounds, "--refetch", "--no-filter", REMOTE, network=True)
    for setting in _SETTINGS:
        repository.attempt(repo, "config", "--unset-all", setting)
    for mark in (repo.common_dir / "objects" / "pack").glob("*.promisor"):
        mark.unlink()
    return repo._replace(is_partial=False)


def read(repo: Repository, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield objects of any kind, each with its id, as git keeps them: read by one process, one at a time."""
    with tempfile.TemporaryFile(dir=repo.git_dir) as asked:
        asked.writelines(f"{oid}\n".encode("ascii") for oid in oids)
        if not asked.tell():
            return
        asked.seek(0)
        words = ("cat-file", "--batch", "--buffer")
        with repository.printing(repo, *words, stdin=asked, network=repo.is_partial) as out:
            yield from _found(out)


def blob_id(data: bytes, like: str) -> str:
    """Return the id of a text in git, hashed as `like` was."""
    hashed = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return hashed(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def every(repo: Repository) -> Iterator[tuple[str, bytes]]:
    """Yield every object of the repository, reachable or not: its id, and it unpacked."""
    words = ("cat-file", "--batch", "--buffer", "--batch-all-objects", "--unordered")
    with repository.printing(repo, *words) as out:
        yield from _found(out)


def printed(out: BinaryIO) -> Iterator[tuple[list[bytes], bytes | None]]:
    """Yield what `git cat-file --batch` prints of each object: its id, kind and size, and its bytes; None: missing."""
    while line := out.readline():
        facts = line.rstrip(b"\n").split(b" ")
        if facts[-1] == b"missing":
            yield facts, None
        else:
            yield facts, out.read(int(facts[-1]))
            out.read(1)


def _found(out: BinaryIO) -> Iterator[tuple[str, bytes]]:
    return ((facts[0].decode("ascii"), data) for facts, data in printed(out) if data is not None)


Tree = dict[str, tuple[str, str]]
"""A folder of a commit: name -> mode, object's id."""


def parse_tree(data: bytes, id_bytes: int) -> Tree:
    """Return a folder as git keeps it. id_bytes: the length of an object's id."""
    found: Tree = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        found[os.fsdecode(name)] = mode.decode("ascii"), data[end + 1 : end + 1 + id_bytes].hex()
        at = end + 1 + id_bytes
    return found


def trees(repo: Repository, commit: str, folders: list[str]) -> dict[str, Tree]:
    """Return these folders as a commit has them, without those that it lacks; no path may have a line break."""
    asked = b"".join(os.fsencode(f"{commit}:{folder}\n") for folder in folders)
    told = repository.run(repo, "cat-file", "--batch", stdin=asked) if asked else b""
    return {
        folder: parse_tree(data, len(commit) // 2)
        for folder, (facts, data) in zip(folders, printed(io.BytesIO(told)), strict=True)
        if data is not None and facts[1] == b"tree"
    }


def listed(repo: Repository, oid: str, *folders: str) -> Iterator[tuple[str, str, str]]:
    """Yield the files of a commit, of all folders or of these: the mode, the object's id, and the path."""
    for line in repository.each(repo, "ls-tree", "-r", "-z", oid, "--", *folders):
        facts, _, path = line.partition("\t")
        mode, _, oid = facts.split(" ")
        yield mode, oid, path


def changed(repo: Repository, oid: str) -> list[tuple[str, str, str]]:
    """Return what a commit changed: the paths, with the ids of what was there before and after; "" for no file."""
    words = ("diff-tree", "--root", "-r", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", "-z", oid)
    fields = os.fsdecode(repository.run(repo, *words)).split("\0")
    rows = ((path, *meta.split(" ")[2:4]) for meta, path in zip(fields[::2], fields[1::2], strict=False))
    return [(path, old.strip("0") and old, new.strip("0") and new) for path, old, new in rows]
