"""Committing a vault: one commit a session, one for what people did, nothing of anybody else's.

Only bytes that passed the gate are written. A mark in the git folder, set before and removed after,
tells the next run what a killed one left to be finished.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from mdmem import privacy
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.history import batch, changes, message
from mdmem.history.batch import Batch, Wanted
from mdmem.history.beside import LeftOut
from mdmem.history.changes import State
from mdmem.history.gate import HeldBack
from mdmem.history.git import git_index, lock, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.history.message import File

TRIES = 20
"""How often a commit begins anew because another git has moved the branch, after a pause of random length."""

MAX_PAUSE_SECONDS = 0.2


class PlannedCommit(NamedTuple):
    """A commit to be: its message, its files, and when the last of it happened (0: now)."""

    text: str
    files: list[File]
    happened: float = 0.0


Plan = Callable[[list[File]], list[PlannedCommit]]
"""Sorts changed files into commits."""


class Commit(NamedTuple):
    """A commit that was made. session: "" for what a person did; files: how many it changes."""

    oid: str
    subject: str
    session: str
    files: int


class CommitResult(NamedTuple):
    """What `commit` did.

    commits: oldest first; none when nothing had changed.
    held_back: files whose text the privacy rules would change; they stay uncommitted.
    staged: paths that a person has staged; they stay theirs. left_out: files that are not part of the vault's history.
    """

    commits: list[Commit]
    held_back: list[HeldBack]
    staged: list[str]
    left_out: list[LeftOut]


def commit(
    config: Config, *, session: str | None = None, accept: Collection[str] = (), wait_seconds: float = 60.0
) -> CommitResult:
    """Commit what has changed in the vault; safe to call at any time, from any number of processes.

    session: only what this session wrote.
    accept: vault-relative paths that pass the gate whatever they hold; a person has looked at them.
    wait_seconds: how long to queue behind other committers.

    Raises:
        VaultError: when the vault is no repository.
        BusyError: when others kept the repository busy, or a person's merge is under way.
        GitError: when git fails. The notes are safe in each case, and a later commit takes them along.
    """

    def plan(files: list[File]) -> list[PlannedCommit]:
        groups = [found for found in message.group(files) if session in (None, found.session)]
        return [
            PlannedCommit(message.write(found, config.vault), found.files, message.happened(found)) for found in groups
        ]

    return _commit(config, plan, Wanted(None, accept), wait_seconds)


def commit_paths(config: Config, paths: Collection[str], text: str, *, accept: Collection[str] = ()) -> CommitResult:
    """Commit these vault-relative paths, as far as they have changed, as one commit with this message.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """

    def plan(files: list[File]) -> list[PlannedCommit]:
        return [PlannedCommit(text, files)] if files else []

    return _commit(config, plan, Wanted(frozenset(paths), accept))


def waiting(config: Config) -> Batch:
    """Return what the next commit would take, and what it would leave, as far as it fits into one batch.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """
    repo = repository.open_vault(config.vault)
    with git_index.copied(repo) as copy:
        return batch.read(config, repo, changes.find(repo, copy), Wanted())


def _commit(config: Config, plan: Plan, wanted: Wanted, wait_seconds: float = 60.0) -> CommitResult:
    repo = repository.open_vault(config.vault)
    rules = privacy.Rules.of(config.settings)
    done = CommitResult([], [], [], [])
    tries = TRIES
    with lock.held(config.state_dir, wait_seconds=wait_seconds) as held:
        git_index.heal(repo)
        while tries:
            git_index.catch_up(repo, held)
            _refuse_half_clone(repo)
            with git_index.copied(repo) as copy:
                git_index.catch_up_copy(repo, copy, held)
                state = changes.find(repo, copy)
                found = batch.read(config, repo, state, wanted)
                if found.converted:
                    git_index.keep_bytes(repo)
                planned = plan(found.files)
                made = _write(repo, copy, state, planned, rules, held)
            if made is None:
                tries -= 1
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - no secret, two clocks out of step
                continue
            held_back = done.held_back + [one for one in found.held_back if one not in done.held_back]
            done = CommitResult(done.commits + made, held_back, state.staged, found.left_out)
            if not (found.more and made):
                return done
    raise BusyError("Other programs keep committing to the vault. Nothing is lost; run `mdmem commit` again later.")


def _refuse_half_clone(repo: Repository) -> None:
    """Refuse a vault with commits and no index: it lacks files that nobody has deleted."""
    if not (repo.git_dir / "index").exists() and writer.marked(repo) is None and writer.tip(repo, "HEAD"):
        raise BusyError(f"Cloning {repo.root} was interrupted. `mdmem sync` completes it; the notes wait.")


def _write(
    repo: Repository,
    copy: git_index.Copy,
    state: State,
    planned: list[PlannedCommit],
    rules: privacy.Rules,
    held: int,
) -> list[Commit] | None:
    """Write the planned commits and bring the index along; None when somebody else has moved the branch."""
    if not planned:
        return []
    drafts = [_draft(one, rules) for one in planned]
    writer.mark(repo, state.head)
    oids = writer.prepare(repo, state.head, drafts, held)
    # Nothing of these is staged in the copy, or it would not have been planned.
    git_index.update(repo, copy, [_entry(file, oids[-1]) for one in planned for file in one.files], held)
    if not git_index.move(repo, copy, state.branch, state.head, oids[-1], held):
        return None
    git_index.catch_up(repo, held)
    return [
        Commit(oid, draft.message.split("\n", 1)[0], trailer(draft.message, "Session"), len(one.files))
        for oid, draft, one in zip(oids, drafts, planned, strict=True)
    ]


def _entry(file: File, like: str) -> git_index.IndexEntry:
    path = os.fsencode(file.change.path)
    if file.change.kind == "deleted":
        return git_index.IndexEntry(git_index.GONE, b"0" * len(like), path)
    return git_index.IndexEntry(b"100644", changes.blob_id(file.data, like).encode("ascii"), path)


def _draft(planned: PlannedCommit, rules: privacy.Rules) -> CommitDraft:
    return CommitDraft(
        str(privacy.clean(planned.text, rules=rules, origin="tool").value),
        {file.change.path: file.data for file in planned.files if file.change.kind != "deleted"},
        tuple(file.change.path for file in planned.files if file.change.kind == "deleted"),
        happened=planned.happened,
    )


def trailer(text: str, name: str) -> str:
    """Return the value of the trailer `Mdmem-<name>` of a commit's message, "" without one."""
    for line in reversed(text.rstrip("\n").split("\n")):
        if not line:
            return ""
        if line.startswith(f"Mdmem-{name}: "):
            return line.partition(": ")[2]
    return ""
