"""Git's objects as it prints them, and what it has of them where only a part of a vault was cloned.

Git fetches a text that it lacks when it is asked for, one at a time; what is known to be wanted is fetched together.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator

from mdmem.history.git import repository
from mdmem.history.git.repository import Repository

REMOTE = "origin"
FILTER = "--filter=blob:none"
"""For `git clone`: commits and folders without texts. A remote that cannot leave them out sends all of them."""
ALL = "--filter=blob:limit=1g"
"""For `git fetch`, where texts are missing: leaves out nothing, and lets git take what comes for a part."""
AT_ONCE_BYTES = 8 * 1024 * 1024
"""So much of what git has is unpacked at a time, where all of it is read."""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
_SETTINGS = ("extensions.partialClone", f"remote.{REMOTE}.promisor", f"remote.{REMOTE}.partialclonefilter")


def bring(repo: Repository, oids: Iterable[str]) -> None:
    """Fetch these texts together, where git may lack them; where that fails git fetches them one by one."""
    if repo.is_partial:
        words = ("-c", "fetch.negotiationAlgorithm=noop", *_FETCH, FILTER, "--stdin", REMOTE)
        repository.attempt(repo, *words, stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"), network=True)


def complete(repo: Repository) -> Repository:
    """Fetch every text of the history that git lacks; return the repository, which is a whole one then.

    Raises:
        GitError: when the remote cannot be reached.
    """
    if not repo.is_partial:
        return repo
    repository.run(repo, *_FETCH, "--refetch", "--no-filter", REMOTE, network=True)
    for setting in _SETTINGS:
        repository.attempt(repo, "config", "--unset-all", setting)
    for mark in (repo.common_dir / "objects" / "pack").glob("*.promisor"):
        mark.unlink()
    return repo._replace(is_partial=False)


def read(repo: Repository, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield objects of any kind, each with its id, as git keeps them, all read by one process."""
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    words = ("cat-file", "--batch", "--buffer")
    out = repository.run(repo, *words, stdin=asked, network=repo.is_partial) if asked else b""
    yield from ((facts[0].decode("ascii"), data) for facts, data in printed(out) if data is not None)


def blob_id(data: bytes, like: str) -> str:
    """Return the id of a text in git, hashed as `like` was."""
    hashed = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return hashed(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def every(repo: Repository) -> Iterator[tuple[str, bytes]]:
    """Yield every object of the repository, reachable or not: its id, and it unpacked."""
    words = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize)", "--unordered")
    some: list[str] = []
    room = AT_ONCE_BYTES
    for line in io.BytesIO(repository.run(repo, *words)):
        oid, _, size = line.decode("ascii").partition(" ")
        some.append(oid)
        room -= int(size)
        if room < 0:
            yield from read(repo, some)
            some, room = [], AT_ONCE_BYTES
    yield from read(repo, some)


def printed(out: bytes) -> Iterator[tuple[list[bytes], bytes | None]]:
    """Yield what `git cat-file --batch` printed of each object: its id, kind and size, and its bytes; None: missing."""
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        facts = out[at:end].split(b" ")
        if facts[-1] == b"missing":
            yield facts, None
            at = end + 1
        else:
            yield facts, out[end + 1 : end + 1 + int(facts[-1])]
            at = end + 2 + int(facts[-1])


def listed(repo: Repository, oid: str, *folders: str) -> Iterator[tuple[str, str, str]]:
    """Yield the files of a commit, of all folders or of these: the mode, the object's id, and the path."""
    for line in repository.ended(repository.run(repo, "ls-tree", "-r", "-z", oid, "--", *folders)):
        facts, _, path = line.partition("\t")
        mode, _, oid = facts.split(" ")
        yield mode, oid, path


def changed(repo: Repository, oid: str) -> list[tuple[str, str, str]]:
    """Return what a commit changed: the paths, with the ids of what was there before and after; "" for no file."""
    words = ("diff-tree", "--root", "-r", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", "-z", oid)
    fields = os.fsdecode(repository.run(repo, *words)).split("\0")
    rows = ((path, *meta.split(" ")[2:4]) for meta, path in zip(fields[::2], fields[1::2], strict=False))
    return [(path, old.strip("0") and old, new.strip("0") and new) for path, old, new in rows]
