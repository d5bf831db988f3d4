"""The remote: what it has now, which of its branches holds the vault, and what it had at the last fetch."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import NamedTuple

from mdmem.history.git import filtering, objects, repository
from mdmem.history.git.repository import Repository

ABANDONED_SECONDS = 10.0


class VaultBranch(NamedTuple):
    """The remote's branch that holds the vault, or is to hold it; the tips of ours and of that one, "" for none."""

    there: str
    ours: str
    theirs: str


def fetch(repo: Repository, remote: str, branch: str) -> VaultBranch:
    """Fetch what the remote has; return its branch that holds the vault."""
    for left in (repo.common_dir / "refs" / "remotes" / remote).rglob("*.lock"):
        # A fetch that was killed leaves it; one that lives holds it for milliseconds.
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                left.unlink()
    spec = f"+refs/heads/*:refs/remotes/{remote}/*"
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune")
    whole = [objects.ALL] if repo.is_partial else []  # of what is new, the texts as well
    bounds = repository.far_end(repo.root, repository.url(repo, remote), "upload-pack")
    repository.run(repo, *words, *bounds, *whole, "--", remote, spec, network=True)
    return vault_branch(repo, remote, branch)


def vault_branch(repo: Repository, remote: str, branch: str) -> VaultBranch:
    """Return the remote's branch that holds the vault: ours, else its default one, else the only one it has.

    Two machines whose branches have different names must not pass each other by. What was found is noted as
    git has it, so that it stays, and plain `git pull` knows it too.
    """
    prefix = tracked(remote, "refs/heads/")
    form = "--format=%(refname) %(objectname) %(upstream)"
    rows = os.fsdecode(repository.run(repo, "for-each-ref", form, branch, prefix)).splitlines()
    noted = {ref: (oid, upstream) for ref, oid, upstream in (row.split(" ", 2) for row in rows)}
    ours, upstream = noted.pop(branch, ("", ""))
    name = upstream.replace(prefix, "refs/heads/", 1) if upstream.startswith(prefix) else ""
    there = [ref.replace(prefix, "refs/heads/", 1) for ref in noted if ref != f"{prefix}HEAD"]
    if not name:
        is_elsewhere = bool(there) and branch not in there
        name = _default_branch(repo, remote, branch, there) if is_elsewhere else branch
        for key, value in (("remote", remote), ("merge", name)) if is_elsewhere or not upstream else ():
            repository.run(repo, "config", f"branch.{branch.removeprefix('refs/heads/')}.{key}", value)
    return VaultBranch(name, ours, noted.get(tracked(remote, name), ("", ""))[0])


def _default_branch(repo: Repository, remote: str, branch: str, there: list[str]) -> str:
    """Ask the remote for its default branch."""
    told = os.fsdecode(repository.run(repo, "ls-remote", "--symref", "--", remote, "HEAD", network=True))
    default = told.removeprefix("ref: ").partition("\t")[0]
    return default if default in there else there[0] if len(there) == 1 else branch


def tracked(remote: str, there: str) -> str:
    """Return the ref in which we keep what the remote's branch was when last heard of."""
    return there.replace("refs/heads/", f"refs/remotes/{remote}/", 1)


def heard(repo: Repository, remote: str) -> dict[str, str]:
    """Return what the remote's branches were when last heard of, by the refs in which we keep that."""
    kept = f"{filtering.HEARD}{remote}/"
    known = repository.refs(repo, kept, tracked(remote, "refs/heads/"))
    return {ref.replace(kept, tracked(remote, "refs/heads/"), 1): oid for ref, oid in known.items()}
