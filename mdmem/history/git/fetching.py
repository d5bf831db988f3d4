"""The remote: fetching from it, which of its branches holds the vault, and its state at the last fetch."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from mdmem.errors import GitError, VaultError
from mdmem.history.git import filtering, objects, repository, transfer
from mdmem.history.git.repository import Repository

ABANDONED_SECONDS = 10.0
_OF_VAULTS = frozenset([b"mdmem.toml", b"journal"])
_MADE_BY_HOST = re.compile(rb"(?:readme|licen[cs]e|copying|unlicense)(?:\.\w+)?|\.git\w+", re.IGNORECASE)
"""Files with which a host begins an empty repository."""


class VaultBranch(NamedTuple):
    """The remote's branch that holds or will hold the vault, and the tips of our branch and of theirs ("" for none)."""

    remote_branch: str
    ours: str
    theirs: str


def fetch(repo: Repository, remote: str, url: str, branch: str, before: Collection[str]) -> VaultBranch:
    """Fetch all branches of the remote; return the one that holds the vault.

    url: the remote's. before: remote-tracking refs of the branches that it had at the last fetch.

    Raises GitError when the remote is unreachable, or holds something other than a vault.
    """
    for stale_lock in (repo.common_dir / "refs" / "remotes" / remote).rglob("*.lock"):
        # Left by a killed fetch: a running one holds it for milliseconds.
        with suppress(FileNotFoundError):
            if abs(time.time() - stale_lock.stat().st_mtime) > ABANDONED_SECONDS:  # the clock may have been set back
                stale_lock.unlink()
    spec = f"+refs/heads/*:refs/remotes/{remote}/*"
    command = ("fetch", transfer.PROGRESS, "--no-tags", "--no-write-fetch-head", "--prune")
    blob_filter = [objects.ALL] if repo.is_partial else []  # fetch the blobs of new commits too
    bounds = repository.far_end(repo.root, url, "upload-pack")
    result = repository.attempt(repo, *command, *bounds, *blob_filter, "--", remote, spec, network=True)
    if result.status:
        raise GitError(
            f"git fetch failed in {repo.root}: {repository.reason(result)} Everything is committed here: sync again"
            f" later. {_if_wrong(repo, remote)}"
        )
    listed = tips(repo, remote, branch)
    _refuse_other(repo, remote, branch, listed)
    return vault_branch(repo, remote, branch, listed, before)


class Tip(NamedTuple):
    """The last commit of a branch, and the full name of the branch that it follows, "" for none."""

    oid: str
    upstream: str


def tips(repo: Repository, remote: str, branch: str, *others: str) -> dict[str, Tip]:
    """Return the tips of our branch, of the remote's branches, and of other refs with these prefixes, by full name."""
    form = "--format=%(refname) %(objectname) %(upstream)"
    listed = repository.run(repo, "for-each-ref", form, branch, tracked(remote, "refs/heads/"), *others)
    rows = (row.split(" ", 2) for row in os.fsdecode(listed).splitlines())
    return {ref: Tip(oid, upstream) for ref, oid, upstream in rows}


def _refuse_other(repo: Repository, remote: str, branch: str, listed: dict[str, Tip]) -> None:
    """Raise GitError when no branch of the remote is a vault's, shares a commit with ours, or is as a host begins it.

    Raises VaultError when the remote is empty, and this is not a vault, such as its clone with only a note.

    A mistyped address must neither put the notes where code is, nor the code into the vault.
    """
    theirs = {ref: tip.oid for ref, tip in listed.items() if ref != branch}
    ours = listed[branch].oid if branch in listed else ""
    if ours in theirs.values():
        return  # the usual case: nothing is new on either side
    if ours and not theirs and _OF_VAULTS.isdisjoint(_names(repo, ours)):
        root = repo.root
        raise VaultError(
            f"{root} is not set up as a vault, and other machines would not take what is sent for one. Run"
            f" `mdmem init --inside {shlex.quote(str(root))}`, then `mdmem sync` again."
        )
    other = b""
    for oid in dict.fromkeys(theirs.values()):
        names = _names(repo, oid)
        other = next((name for name in names if not _MADE_BY_HOST.fullmatch(name)), b"")
        if not other or _OF_VAULTS.intersection(names) or _shares_commit(repo, branch, oid):
            return
    if other:
        raise GitError(
            f"The remote {remote!r} holds something other than a vault, such as {os.fsdecode(other)!r:.80}. Nothing was"
            f" sent or received. {_if_wrong(repo, remote)}"
        )


def _names(repo: Repository, oid: str) -> list[bytes]:
    return repository.run(repo, "ls-tree", "-z", "--name-only", oid).split(b"\0")[:-1]


def _if_wrong(repo: Repository, remote: str) -> str:
    return f"If its address is wrong: git -C {shlex.quote(str(repo.root))} remote set-url {shlex.quote(remote)} URL"


def vault_branch(
    repo: Repository, remote: str, branch: str, listed: dict[str, Tip], before: Collection[str] = ()
) -> VaultBranch:
    """Return the remote's branch that holds the vault: the upstream, ours by name, the default one, or the only one.

    listed: what `tips` returns. before: as for `fetch`.

    Two machines whose branches have different names must still meet. The choice is stored as git's upstream,
    so that it stays the same and plain `git pull` uses it too. When that was renamed at the remote, as hosts offer,
    the new name is followed: a branch of the old name would divide the machines from those that clone later. A person's
    choice stays: a name other than ours that the remote never had, and our own beside a branch of the remote's name.
    """
    prefix = tracked(remote, "refs/heads/")
    ours, upstream = listed.get(branch, ("", ""))
    name = upstream.replace(prefix, "refs/heads/", 1) if upstream.startswith(prefix) else ""
    remote_branches = [ref.replace(prefix, "refs/heads/", 1) for ref in listed if ref not in (branch, f"{prefix}HEAD")]
    known = name or branch
    is_chosen = known != branch and upstream not in before
    is_elsewhere = bool(remote_branches) and known not in remote_branches and not is_chosen
    if is_elsewhere:
        default = _default(repo, remote)  # a branch that is not there if nobody has set it
        found = default if default in remote_branches else remote_branches[0] if len(remote_branches) == 1 else ""
        is_beside = known == branch and found and repository.refs(repo, found)
        if found and not is_beside and (not name or _shares_commit(repo, branch, tracked(remote, found))):
            known = found
    if not upstream or (is_elsewhere and known != name):
        for key, value in ("remote", remote), ("merge", known):
            repository.run(repo, "config", f"branch.{branch.removeprefix('refs/heads/')}.{key}", value)
    return VaultBranch(known, ours, listed.get(tracked(remote, known), ("", ""))[0])


def _default(repo: Repository, remote: str) -> str:
    """Ask the remote for its default branch."""
    output = os.fsdecode(repository.run(repo, "ls-remote", "--symref", "--", remote, "HEAD", network=True))
    return output.removeprefix("ref: ").partition("\t")[0]


def _shares_commit(repo: Repository, ours: str, theirs: str) -> bool:
    return not repository.attempt(repo, "merge-base", ours, theirs).status


def tracked(remote: str, remote_branch: str) -> str:
    """Return the remote-tracking ref of the remote's branch."""
    return remote_branch.replace("refs/heads/", f"refs/remotes/{remote}/", 1)


def last_fetched(repo: Repository, remote: str, branch: str) -> tuple[dict[str, str], str]:
    """Return the tips of the remote's branches at the last fetch, by remote-tracking ref, and that of the upstream.

    The upstream is the one that a sync has chosen for our branch; "" for none of this remote.
    """
    kept_prefix, prefix = f"{filtering.KEPT_REMOTE_REFS}{remote}/", tracked(remote, "refs/heads/")
    listed = tips(repo, remote, branch, kept_prefix)
    upstream = listed.pop(branch, Tip("", "")).upstream
    fetched = {ref.replace(kept_prefix, prefix, 1): tip.oid for ref, tip in listed.items()}
    return fetched, upstream if upstream.startswith(prefix) else ""
