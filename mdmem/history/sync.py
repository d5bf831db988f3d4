"""Carrying a vault between machines over any git remote: fetch, merge, push. Nothing is lost or forced.

Files are written before the commit that names them: whoever is killed in between leaves notes that the
next commit takes along, never a commit that looks as if a person had deleted them.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmem import vault
from mdmem.config import Config
from mdmem.errors import BusyError, GitError, VaultError
from mdmem.history import both, commit, index, join, lock, past, private, purge, repository, rewrite, writer
from mdmem.history.gate import HeldBack
from mdmem.history.join import Joined
from mdmem.history.repository import Repository
from mdmem.history.rewrite import Step
from mdmem.history.writer import Draft

TRIES = 8
"""How often a push that another machine was quicker than begins anew."""

ABANDONED_SECONDS = 10.0


class Synced(NamedTuple):
    """What a sync did.

    received: files that came or changed here. sent: commits that the remote got.
    conflicts: notes with two versions in them now, for a person to choose.
    held_back: files the gate kept out; private: how many notes stay on this machine by their owner's word.
    refused: what the remote has and no vault takes, such as links.
    """

    received: list[str]
    sent: int
    conflicts: list[str]
    held_back: list[HeldBack]
    private: int
    refused: list[str]


def sync(config: Config, remote: str = "origin") -> Synced:
    """Commit, fetch, merge and push.

    Raises:
        VaultError: when the vault is no repository.
        GitError: when there is no such remote, it cannot be reached, or its history was rewritten by a purge.
        BusyError: when other machines kept pushing.
    """
    repo = repository.open_vault(config.vault)
    _fill(repo)
    held_back = commit.commit(config).held_back
    if repository.attempt(repo, "config", "--get", f"remote.{remote}.url").status:
        raise GitError(f"The vault has no remote {remote!r}. Add one: git -C {repo.root} remote add {remote} URL")
    received: dict[str, None] = {}
    conflicts: dict[str, None] = {}
    refused: dict[str, None] = {}
    with lock.held(config.state_dir) as held:
        branch = repository.branch(repo)
        withheld = _keep_private(config, repo, branch, held)
        for _ in range(TRIES):
            there = _fetch(repo, remote, branch)
            theirs = writer.tip(repo, _tracked(remote, there))
            if theirs:
                _refuse_purged(repo, writer.tip(repo, branch), theirs, remote)
                joined = _merge(config, repo, branch, theirs, remote, held)
                received |= dict.fromkeys([*joined.puts, *joined.deletes])
                conflicts |= dict.fromkeys(joined.conflicts)
                refused |= dict.fromkeys(joined.refused)
            sent = _push(config, repo, remote, branch, there, theirs)
            if sent is not None:
                return Synced(list(received), sent, list(conflicts), held_back, withheld, list(refused))
    raise BusyError(f"Other machines keep pushing to {remote}. Everything is committed here: sync again later.")


def clone(url: str, path: str | Path) -> Repository:
    """Fetch a vault from a remote into an empty or missing folder.

    Raises:
        VaultError: when the folder is not empty.
        GitError: when the remote cannot be reached.
    """
    root = Path(path).absolute()
    if root.exists() and any(root.iterdir()):
        raise VaultError(f"{root} is not empty. Clone into a new folder, or run `mdmem sync` in the vault.")
    root.mkdir(0o700, parents=True, exist_ok=True)
    words = ["clone", "--quiet", "--no-checkout", "--no-tags", "--template=", "--origin", "origin", "--", url, "."]
    repository.start(root, words, repo=None, network=True)
    repo = repository.open_vault(root)
    branch = repository.branch(repo)
    head = writer.tip(repo, branch)
    if not head:
        # The remote's own branch has no commit: that of the first machine, which pushed another, is the vault's.
        branch = f"refs/heads/{repository.BRANCH}"
        head = writer.tip(repo, _tracked("origin", _vault_branch(repo, "origin", branch)))
        repository.run(repo, "symbolic-ref", "HEAD", branch)
        if head:
            repository.run(repo, "update-ref", "-m", "mdmem: clone", branch, head)
    _fill(repo)
    return repo


def _fill(repo: Repository) -> None:
    """Write the files of a clone, also of one that broke off: it has no index yet. No file is overwritten."""
    head = "" if (repo.git_dir / "index").exists() else writer.tip(repo, "HEAD")
    if not head or writer.marked(repo) is not None:
        return
    files, _ = join.tree(repo, head)
    texts = past.blobs_of(repo, sorted(set(files.values())))
    for name, oid in files.items():
        _put(repo.root, name, texts[oid])
    repository.run(repo, "read-tree", "HEAD")
    repository.attempt(repo, "update-index", "-q", "--refresh")


def _fetch(repo: Repository, remote: str, branch: str) -> str:
    """Fetch what the remote has; name its branch that holds the vault, or is to hold it."""
    for left in (repo.common_dir / "refs" / "remotes" / remote).rglob("*.lock"):
        # A fetch that was killed leaves it; one that lives holds it for milliseconds.
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                left.unlink()
    spec = f"+refs/heads/*:refs/remotes/{remote}/*"
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", "--", remote, spec)
    repository.run(repo, *words, network=True)
    return _vault_branch(repo, remote, branch)


def _vault_branch(repo: Repository, remote: str, branch: str) -> str:
    """Name the remote's branch that holds the vault: ours, else its default one, else the only one it has.

    Two machines whose branches have different names must not pass each other by. What was found is noted as
    git has it, so that it stays, and plain `git pull` knows it too.
    """
    prefix = _tracked(remote, "refs/heads/")
    listed = os.fsdecode(repository.run(repo, "for-each-ref", "--format=%(refname) %(upstream)", branch, prefix))
    noted = dict(line.split(" ", 1) for line in listed.splitlines())
    upstream = noted.pop(branch, "")
    if upstream.startswith(prefix):
        return upstream.replace(prefix, "refs/heads/", 1)
    there = [ref.replace(prefix, "refs/heads/", 1) for ref in noted if ref != f"{prefix}HEAD"]
    if not there or branch in there:
        return branch
    told = os.fsdecode(repository.run(repo, "ls-remote", "--symref", "--", remote, "HEAD", network=True))
    default = told.removeprefix("ref: ").partition("\t")[0]
    found = default if default in there else there[0] if len(there) == 1 else branch
    for key, value in (("remote", remote), ("merge", found)):
        repository.run(repo, "config", f"branch.{branch.removeprefix('refs/heads/')}.{key}", value)
    return found


def _tracked(remote: str, there: str) -> str:
    """Name the ref in which we keep what the remote's branch was when last heard of."""
    return there.replace("refs/heads/", f"refs/remotes/{remote}/", 1)


def _merge(config: Config, repo: Repository, branch: str, theirs: str, remote: str, held: int) -> Joined:
    """Bring the files to what both sides make together, then commit that; what was not committed stays on top."""
    ours = writer.tip(repo, branch)
    base = _base(repo, ours, theirs) if ours else ""
    if base == theirs:
        return Joined({}, (), [], [])
    joined = join.join(repo, base, ours, theirs)
    before = _texts(repo, ours, [*joined.puts, *joined.deletes])
    for path in joined.deletes:
        _bring(config, repo, path, before.get(path), None)
    for path, data in joined.puts.items():
        _bring(config, repo, path, before.get(path), data)
    writer.mark(repo, ours)
    if (base == ours or not ours) and not joined.refused:
        repository.run(repo, "update-ref", "-m", f"mdmem: sync with {remote}", branch, theirs, ours, held=held)
    else:
        count = len(joined.puts) + len(joined.deletes)
        text = f"Sync with {remote} ({count} file{'' if count == 1 else 's'})\n"
        writer.write(repo, branch, ours, [Draft(text, joined.puts, joined.deletes, (theirs,))], held)
    index.catch_up(repo, held)
    return joined


def _base(repo: Repository, ours: str, theirs: str) -> str:
    done = repository.attempt(repo, "merge-base", ours, theirs)
    return done.out.decode("ascii").split("\n")[0].strip()


def _texts(repo: Repository, oid: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Read these files of a commit, as far as it has them."""
    files = join.tree(repo, oid)[0] if oid else {}
    blobs = {path: files[path] for path in paths if path in files}
    texts = past.blobs_of(repo, sorted(set(blobs.values())))
    return {path: texts[blob] for path, blob in blobs.items()}


def _bring(config: Config, repo: Repository, path: str, before: bytes | None, after: bytes | None) -> None:
    """Bring one file from what our last commit has to what the common one will have.

    What was changed here and is not committed (staged, held back, just being written) is kept on top.
    """
    for _ in range(5):
        now = vault.read_path(config.vault, path)
        target = after
        if now not in (before, after):
            target = _on_top(repo, path, now, before, after)
        if target == now or rewrite.take(config, Step(path, now, target)):
            return


def _on_top(repo: Repository, path: str, now: bytes | None, before: bytes | None, after: bytes | None) -> bytes | None:
    if now is None or after is None:
        return now  # deleted or edited here meanwhile: that is newer than what came
    merged = both.merge_note(repo, path, now, before or b"", after)
    return merged.data if merged else now


def _push(config: Config, repo: Repository, remote: str, branch: str, there: str, theirs: str) -> int | None:
    """Push our branch; give the number of commits, or None when somebody else was quicker."""
    ours = writer.tip(repo, branch)
    if ours in ("", theirs):
        return 0
    span = [f"{theirs}..{ours}"] if theirs else [ours]
    _refuse_private(config, repo, span[0])
    count = repository.run(repo, "rev-list", "--count", *span).decode("ascii").strip()
    words = ("-c", f"remote.{remote}.mirror=false", "push", "--quiet", "--no-verify", "--no-follow-tags")
    done = repository.attempt(repo, *words, "--", remote, f"{ours}:{there}", network=True)
    if not done.status:
        repository.run(repo, "update-ref", _tracked(remote, there), ours)
        return int(count)
    if any(word in done.err for word in ("fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref")):
        return None
    raise GitError(f"{remote} did not take the push: {repository.reason(done)} Everything is committed here.")


def _refuse_purged(repo: Repository, ours: str, theirs: str, remote: str) -> None:
    """Refuse to merge when one side has purged what the other still has: that would bring it back."""
    if not ours:
        return
    if _has_purged(repo, ours, theirs):
        # Neither may it stay here, now that it was fetched.
        listed = repository.run(repo, "for-each-ref", "--format=delete %(refname)", _tracked(remote, "refs/heads/"))
        repository.run(repo, "update-ref", "--no-deref", "--stdin", stdin=listed)
        repository.run(repo, "gc", "--quiet", "--prune=now")
        advice = f"Replace the remote's history: {purge.replacing(repo, remote)}"
    elif _has_purged(repo, theirs, ours):
        advice = "This clone still has the old one: move it away and run `mdmem clone` again."
    else:
        return
    raise GitError(f"The vault's history was rewritten by a purge, so nothing was merged. {advice}")


def _has_purged(repo: Repository, one: str, other: str) -> bool:
    """Say whether `one` has rewritten commits that `other` still has."""
    form = f"--format=%(trailers:key={purge.TRAILER},valueonly)"
    listed = repository.run(repo, "log", "--grep", f"^{purge.TRAILER}: ", form, f"{other}..{one}")
    oids = listed.decode("ascii", "replace").split()
    return any(repository.attempt(repo, "merge-base", "--is-ancestor", oid, other).status == 0 for oid in oids)


def _keep_private(config: Config, repo: Repository, branch: str, held: int) -> int:
    """Take notes that became private out of the branch (their files stay); give how many stay on this machine."""
    projects = private.projects(config.vault)
    head = writer.tip(repo, branch)
    tracked = set(join.tree(repo, head)[0]) if head else set()
    count = 0
    leaving = []
    for path in _may_be_private(config, repo, tracked, projects):
        if private.stays(path, vault.read_path(config.vault, path) or b"", projects):
            count += 1
            leaving += [path] if path in tracked else []
    if leaving:
        writer.mark(repo, head)
        text = f"Keep {len(leaving)} notes on one machine\n"
        writer.write(repo, branch, head, [Draft(text, {}, tuple(sorted(leaving)))], held)
        index.catch_up(repo, held)
    return count


def _may_be_private(config: Config, repo: Repository, tracked: set[str], projects: frozenset[str]) -> set[str]:
    """Name the notes worth reading: a note that became private was never committed, or has changed since."""
    found = {entry.path for entry in vault.walk(config.vault)}
    if projects:
        return {*found, *filter(vault.is_note_path, tracked)}
    changed = os.fsdecode(repository.run(repo, "diff-files", "--name-only", "-z")).split("\0")
    return (found - tracked) | (found & set(changed))


def _refuse_private(config: Config, repo: Repository, span: str) -> None:
    """Refuse to push commits that hold a note which is to stay on this machine."""
    projects = private.projects(config.vault)
    words = ("log", "--no-renames", "-m", "--name-only", "--format=", "--diff-filter=AM", "-z", span)
    paths = filter(None, sorted(set(os.fsdecode(repository.run(repo, *words)).split("\0"))))
    staying = [path for path in paths if private.stays(path, vault.read_path(config.vault, path) or b"", projects)]
    if staying:
        folders = {f"journal/{name}" for name in projects}
        places = ("/".join(path.split("/")[:2]) for path in staying)
        leaving = dict.fromkeys(
            place if place in folders else path for path, place in zip(staying, places, strict=True)
        )
        commands = "".join(f"\n  mdmem purge --history-only {shlex.quote(path)}" for path in leaving)
        raise GitError(
            f"{staying[0]} is to stay on this machine (sync: false), but is in commits that were not pushed yet, so "
            f"nothing was pushed. Take it out of them, and keep the file:{commands}"
        )


def _put(root: Path, path: str, data: bytes) -> None:
    *folders, name = path.split("/")
    with vault.open_folder(str(root), tuple(folders), create=True, durable=False) as folder:
        vault.create(folder, name, data, durable=False)
