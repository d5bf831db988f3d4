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
from mdmem.history import batch, changes, message, past
from mdmem.history.batch import CommitBatch, Wanted
from mdmem.history.beside import LeftOut
from mdmem.history.changes import Change, State
from mdmem.history.gate import HeldBack
from mdmem.history.git import git_index, lock, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.history.message import File

TRIES = 20
"""How often a commit starts over because another git has moved the branch, after a pause of random length."""

MAX_PAUSE_SECONDS = 0.2

EARLIER_SECONDS = 86_400.0
"""What happened so long before the last commit is dated then, in a line of commits of its own."""


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
    staying: changed notes that stay on this machine.
    """

    commits: list[Commit]
    held_back: list[HeldBack]
    staged: list[str]
    left_out: list[LeftOut]
    staying: list[Change]


def commit(
    config: Config,
    *,
    session: str | None = None,
    accept: Collection[str] = (),
    wait_seconds: float = 60.0,
    imported: bool = False,
) -> CommitResult:
    """Commit what has changed in the vault; safe to call at any time, from any number of processes.

    session: only what this session wrote.
    accept: vault-relative paths that pass the gate whatever they hold; a person has looked at them.
    wait_seconds: how long to queue behind other committers.
    imported: give what happened long before the last commit the dates of then, in a line of commits of its own.

    Raises:
        VaultError: when the vault is not a repository.
        BusyError: when others kept the repository busy, or a person's merge is under way.
        GitError: when git fails. The notes are safe in each case, and a later commit takes them along.
    """

    def plan(files: list[File]) -> list[PlannedCommit]:
        listed = sorted({file.change.oid for file in files if file.change.oid and message.is_generated(file)})
        before = past.blobs_of(repository.open_vault(config.vault), listed)
        groups = [found for found in message.group(files, before) if session in (None, found.session)]
        return [
            PlannedCommit(message.write(found, config.vault), [*found.files, *found.pages], message.happened(found))
            for found in groups
        ]

    return _commit(config, plan, Wanted(None, accept), wait_seconds, imported=imported)


def commit_paths(config: Config, paths: Collection[str], text: str, *, accept: Collection[str] = ()) -> CommitResult:
    """Commit these vault-relative paths, as far as they have changed, as one commit with this message.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """

    def plan(files: list[File]) -> list[PlannedCommit]:
        return [PlannedCommit(text, files)] if files else []

    return _commit(config, plan, Wanted(frozenset(paths), accept))


def waiting(config: Config) -> CommitBatch:
    """Return what the next commit would take, and what it would leave, as far as it fits into one batch.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """
    repo = repository.open_vault(config.vault)
    with git_index.copied(repo) as copy:
        return batch.read(config, repo, changes.find(repo, copy), Wanted())


def _commit(
    config: Config, plan: Plan, wanted: Wanted, wait_seconds: float = 60.0, *, imported: bool = False
) -> CommitResult:
    repo = repository.open_vault(config.vault)
    rules = privacy.Rules.of(config.settings)
    done = CommitResult([], [], [], [], [])
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
                drafts = [_draft(one, rules) for one in planned]
                made = _write(repo, copy, state, planned, _Line(drafts, imported), held)
            if made is None:
                tries -= 1
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - no secret, two clocks out of step
                continue
            held_back = done.held_back + [one for one in found.held_back if one not in done.held_back]
            done = CommitResult(done.commits + made, held_back, state.staged, found.left_out, found.staying)
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
    line: _Line,
    held: int,
) -> list[Commit] | None:
    """Write the planned commits and bring the index along; None when somebody else has moved the branch."""
    if not planned:
        return []
    drafts = line.drafts
    writer.mark(repo, state.head)
    oids = _prepare(repo, state.head, line, held)
    # Nothing of these is staged in the copy, or it would not have been planned.
    git_index.update(repo, copy, [_entry(file, oids[-1]) for one in planned for file in one.files], held)
    if not git_index.move(repo, copy, state.branch, state.head, oids[-1], held):
        return None
    git_index.catch_up(repo, held)
    return [
        Commit(oid, draft.message.split("\n", 1)[0], trailer(draft.message, "Session"), len(one.files))
        for oid, draft, one in zip(oids, drafts, planned, strict=False)
    ]


class _Line(NamedTuple):
    """Commits to be written, one after the other. imported: older ones than the last commit are dated then."""

    drafts: list[CommitDraft]
    imported: bool


def _prepare(repo: Repository, head: str, line: _Line, held: int) -> list[str]:
    """Write commits on top of `head`; return their ids, and as the last one the tip.

    What was imported, and happened long before the last commit, becomes a line of commits with the dates of then,
    which a merge brings in: within a line git expects dates in their order.
    """
    drafts = line.drafts
    last = writer.time_of(repo, head) if head and line.imported else 0.0
    early = [draft for draft in drafts if 0 < draft.happened < last - EARLIER_SECONDS]
    if not early:
        return writer.prepare(repo, head, drafts, held)
    apart = {id(draft) for draft in early}
    others = [draft for draft in drafts if id(draft) not in apart]
    then = writer.prepare(repo, "", early, held)
    puts = {path: data for draft in early for path, data in draft.puts.items()}
    gone = tuple(path for draft in early for path in draft.deletes)
    days = [time.strftime("%Y-%m-%d", time.localtime(draft.happened)) for draft in (early[0], early[-1])]
    text = f"Add {len(early)} earlier session{'s' if len(early) > 1 else ''}, {' to '.join(dict.fromkeys(days))}\n"
    merge = CommitDraft(text, puts, gone, (then[-1],))
    made = writer.prepare(repo, head, [*others, merge], held)
    ids = {id(draft): oid for draft, oid in zip([*early, *others], [*then, *made[:-1]], strict=True)}
    return [*(ids[id(draft)] for draft in drafts), made[-1]]


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
