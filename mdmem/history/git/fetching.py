"""The remote: fetching from it, which of its branches holds the vault, and its state at the last fetch."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import NamedTuple

from mdmem.history.git import filtering, objects, repository
from mdmem.history.git.repository import Repository

ABANDONED_SECONDS = 10.0


class VaultBranch(NamedTuple):
    """The remote's branch that holds or will hold the vault, and the tips of our branch and that one ("" for none)."""

    remote_branch: str
    ours: str
    theirs: str


def fetch(repo: Repository, remote: str, branch: str) -> VaultBranch:
    """Fetch all branches of the remote; return the one that holds the vault."""
    for stale_lock in (repo.common_dir / "refs" / "remotes" / remote).rglob("*.lock"):
        # Left by a killed fetch: a running one holds it for milliseconds.
        with suppress(FileNotFoundError):
            if time.time() - stale_lock.stat().st_mtime > ABANDONED_SECONDS:
                stale_lock.unlink()
    spec = f"+refs/heads/*:refs/remotes/{remote}/*"
    command = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune")
    blob_filter = [objects.ALL] if repo.is_partial else []  # fetch the blobs of new commits too
    bounds = repository.far_end(repo.root, repository.url(repo, remote), "upload-pack")
    repository.run(repo, *command, *bounds, *blob_filter, "--", remote, spec, network=True)
    return vault_branch(repo, remote, branch)


def vault_branch(repo: Repository, remote: str, branch: str) -> VaultBranch:
    """Return the remote's branch that holds the vault: the upstream, ours by name, the default one, or the only one.

    Two machines whose branches have different names must still meet. The choice is stored as git's upstream,
    so that it stays the same and plain `git pull` uses it too.
    """
    prefix = tracked(remote, "refs/heads/")
    form = "--format=%(refname) %(objectname) %(upstream)"
    rows = os.fsdecode(repository.run(repo, "for-each-ref", form, branch, prefix)).splitlines()
    tips = {ref: (oid, upstream) for ref, oid, upstream in (row.split(" ", 2) for row in rows)}
    ours, upstream = tips.pop(branch, ("", ""))
    name = upstream.replace(prefix, "refs/heads/", 1) if upstream.startswith(prefix) else ""
    remote_branches = [ref.replace(prefix, "refs/heads/", 1) for ref in tips if ref != f"{prefix}HEAD"]
    if not name:
        is_elsewhere = bool(remote_branches) and branch not in remote_branches
        name = _default_branch(repo, remote, branch, remote_branches) if is_elsewhere else branch
        for key, value in (("remote", remote), ("merge", name)) if is_elsewhere or not upstream else ():
            repository.run(repo, "config", f"branch.{branch.removeprefix('refs/heads/')}.{key}", value)
    return VaultBranch(name, ours, tips.get(tracked(remote, name), ("", ""))[0])


def _default_branch(repo: Repository, remote: str, branch: str, remote_branches: list[str]) -> str:
    """Ask the remote for its default branch; else return its only one, else `branch`."""
    output = os.fsdecode(repository.run(repo, "ls-remote", "--symref", "--", remote, "HEAD", network=True))
    default = output.removeprefix("ref: ").partition("\t")[0]
    return default if default in remote_branches else remote_branches[0] if len(remote_branches) == 1 else branch


def tracked(remote: str, remote_branch: str) -> str:
    """Return the remote-tracking ref of the remote's branch."""
    return remote_branch.replace("refs/heads/", f"refs/remotes/{remote}/", 1)


def last_fetched(repo: Repository, remote: str) -> dict[str, str]:
    """Return the tips of the remote's branches at the last fetch, by remote-tracking ref."""
    kept_prefix = f"{filtering.KEPT_REMOTE_REFS}{remote}/"
    tips = repository.refs(repo, kept_prefix, tracked(remote, "refs/heads/"))
    return {ref.replace(kept_prefix, tracked(remote, "refs/heads/"), 1): oid for ref, oid in tips.items()}
