"""Commit a vault: one commit per session, one for people's changes, nothing that somebody else staged.

Only bytes that passed the gate are written. A mark in the git directory, set before and removed after, tells the
next run to finish what a killed one left.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Collection
from itertools import chain
from typing import NamedTuple

from mdmem import moved, plural, privacy, progress, timestamps
from mdmem.config import Config
from mdmem.errors import BusyError, GitError
from mdmem.history import attribution, batch, changes, message, private, scan
from mdmem.history.batch import CommitBatch, Wanted
from mdmem.history.changes import Change, State
from mdmem.history.gate import HeldBack
from mdmem.history.git import git_index, lock, lost_index, objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.history.message import CommitGroup, File
from mdmem.history.other_files import LeftOut
from mdmem.history.scan import Scan, ScanMode
from mdmem.vault import projects

TRIES = 20
"""How often a commit starts over, after a random pause, because another git process changed branch or index."""

MAX_PAUSE_SECONDS = 0.2

RECENT = 20
"""Number of commits in which pages may have had the same text before: as many machines may commit them in turn."""

EARLIER_SECONDS = 86_400.0
"""Imported sessions this much older than the last commit keep their dates, in a line of commits of their own."""


class PlannedCommit(NamedTuple):
    """A commit to make: its message, its files, and when the last of it happened (0: now)."""

    text: str
    files: list[File]
    happened: float = 0.0


Plan = Callable[[list[File], bool], list[PlannedCommit]]
"""Sorts changed files into commits; the flag is true when earlier batches were already committed."""


class Commit(NamedTuple):
    """A commit that was made. session: "" for a person's changes; files: how many it changes."""

    oid: str
    subject: str
    session: str
    files: int


class CommitResult(NamedTuple):
    """The result of `commit`.

    commits: oldest first; empty when nothing had changed.
    held_back: files whose text the privacy rules would change; they stay uncommitted.
    staged: paths that a person has staged; they stay staged. left_out: files that do not belong in history.
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
    imported: bool = False,
    mode: ScanMode = scan.EVERY_FILE,
    report: progress.ProgressCallback = progress.ignore,
) -> CommitResult:
    """Commit what has changed in the vault. Safe to call at any time, from any number of processes.

    session: commit only what this session wrote.
    accept: vault-relative paths that pass the gate whatever they contain, because a person has checked them.
    imported: keep the original dates of what happened long before the last commit, in a line of commits of its own.
    mode: how to look for changes. Generated parts of pages alone are not committed in the background, nor to go
        back to earlier ones right after a synced commit of the same kind.
    report: progress callback.

    Raises:
        VaultError: when the vault is not a repository.
        BusyError: when other processes keep the lock or keep committing, or during an unfinished merge.
        GitError: when git fails. In each case the notes are safe, and a later commit includes them.
    """

    def plan(files: list[File], _goes_on: bool) -> list[PlannedCommit]:
        repo = repository.open_vault(config.vault)
        return [
            PlannedCommit(message.render(group, config.vault), [*group.files, *group.pages], message.happened(group))
            for group in _groups(config, repo, files, session, is_background=mode.background)
        ]

    return _commit(config, plan, Wanted(None, accept, report), mode, imported=imported)


def _groups(
    config: Config, repo: Repository, files: list[File], session: str | None = None, *, is_background: bool = False
) -> list[CommitGroup]:
    """Group files by commit; none if they are only generated parts of pages that wait for the next commit."""
    blob_ids = (file.change.oid for file in files if message.was_wanted(file))
    before = objects.contents(repo, blob_ids)
    grouped = message.group(files, before, attribution.load(config))
    groups = [group for group in grouped if session in (None, group.session or group.unpacked)]
    is_upkeep = all(message.is_upkeep(group, before) for group in groups)
    if groups and is_upkeep and (is_background or _pages_alternate(repo, groups)):
        return []  # such as a session's end on its page
    return groups


def _pages_alternate(repo: Repository, groups: list[CommitGroup]) -> bool:
    """Whether the last commit is on a remote and changes only pages, and these pages only go back to earlier texts.

    Two machines whose pages list different notes, because one of them has a note that is not committed, would
    otherwise commit the same pages in turn forever.
    """
    arguments = ("for-each-ref", "--points-at=HEAD", "--format=%(subject)", "refs/remotes")
    subjects = repository.attempt(repo, *arguments).out.decode("utf-8", "replace")
    if not any(map(message.names_pages, subjects.splitlines())):
        return False
    fields = repository.each(repo, "log", f"-{RECENT}", "-m", "--no-renames", "--raw", "--no-abbrev", "--format=", "-z")
    replaced = {oid for field in fields if field.startswith(":") for oid in field.split(" ")[2:3]}
    pages = chain.from_iterable((*group.files, *group.pages) for group in groups)
    return all(objects.blob_id(page.data, page.change.oid) in replaced for page in pages)


def commit_paths(
    config: Config, paths: Collection[str], text: str, report: progress.ProgressCallback = progress.ignore
) -> CommitResult:
    """Commit the changes of these vault-relative paths as one commit with this message.

    What does not fit into one batch follows in commits marked `(continued)`, since the message may count all of it.
    Raises what `commit` raises.
    """

    def plan(files: list[File], goes_on: bool) -> list[PlannedCommit]:
        subject, newline, body = text.partition("\n")
        return [PlannedCommit(f"{subject}{' (continued)' * goes_on}{newline}{body}", files)] if files else []

    only = frozenset(paths)
    return _commit(config, plan, Wanted(only, report=report), ScanMode(only=only))


def waiting(config: Config) -> CommitBatch:
    """Return what the next commit would take and leave, up to one batch. Raises what `commit` raises."""
    repo = repository.open_vault(config.vault)
    state = _differing(config, repo)
    taken = batch.read(config, repo, batch.in_order(state), Wanted(), set())._replace(staged=state.staged)
    return taken if _groups(config, repo, taken.files) else taken._replace(files=[])


def _differing(config: Config, repo: Repository) -> State:
    """Compare the vault with its last commit, and store the result for the next scan unless a commit is running."""
    try:
        with lock.held(config.state_dir, repo.common_dir, wait_seconds=0) as lock_fd:
            result = scan.find(config, repo, scan.EVERY_FILE, lock_fd)
            if not result.state.further:
                uncommitted = (*result.state.changes, *result.state.beside)
                scan.keep(config, result, head=result.state.head, stamp=result.stamp, uncommitted=uncommitted)
            return result.state
    except (BusyError, OSError):
        with git_index.copied(repo) as copy:
            return changes.find(repo, copy)


def _commit(config: Config, plan: Plan, wanted: Wanted, mode: ScanMode, *, imported: bool = False) -> CommitResult:
    """Commit what is wanted. mode, imported: as for `commit`."""
    projects.refuse_emptied(config)
    repo = repository.open_vault(config.vault)
    wanted.report("Waiting for another process to commit", 0, 0)
    with lock.held(config.state_dir, repo.common_dir) as lock_fd:
        git_index.heal(repo)
        if not (repo.git_dir / "index").exists() and lost_index.problem(repo):
            lost_index.restore(repo, lock_fd)
        work = _Work(config, repo, plan, wanted, mode, lock_fd, imported)
        try:
            result = work.all()
        except GitError:
            if not lost_index.problem(repo):
                raise
            lost_index.restore(repo, lock_fd)
            result = work.all()
        moved.remember(config.state_dir, config.vault)  # what is queued while the vault is moved is found again
        return result


def restore_index(config: Config) -> None:
    """Rebuild a missing or damaged index from the last commit. Raises what `commit` raises."""
    repo = repository.open_vault(config.vault)
    with lock.held(config.state_dir, repo.common_dir) as lock_fd:
        git_index.heal(repo)
        if lost_index.problem(repo):
            lost_index.restore(repo, lock_fd)


class _Written(NamedTuple):
    """Commits that were made. head: the last one. stamp: that of the index now; None when it is not known."""

    commits: list[Commit]
    head: str
    stamp: git_index.IndexStamp | None


class _Work:
    """A commit in progress, under the committer's lock. done: the result so far."""

    def __init__(
        self, config: Config, repo: Repository, plan: Plan, wanted: Wanted, mode: ScanMode, lock_fd: int, imported: bool
    ) -> None:
        self.done = CommitResult([], [], [], [], [])
        self._config, self._repo, self._lock_fd = config, repo, lock_fd
        self._plan, self._wanted, self._mode, self._imported = plan, wanted, mode, imported
        self._rules = privacy.Rules.of(config.settings)
        self._linked: set[str] = set()

    def all(self) -> CommitResult:
        """Commit until nothing is left. Raises BusyError when other programs keep committing."""
        tries = TRIES
        while tries:
            git_index.catch_up(self._repo, self._lock_fd)
            if lost_index.is_half_clone(self._repo):
                raise BusyError(
                    f"Cloning {self._repo.root} was interrupted. `mdmem sync` completes it; then notes are committed."
                )
            before = len(self.done.commits)
            if self.round():
                return self.done
            if len(self.done.commits) == before:
                tries -= 1
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - not a secret: it keeps two processes out of step
        raise BusyError("Other programs keep committing to the vault. Nothing is lost; run `mdmem commit` again later.")

    def round(self) -> bool:
        """Look for changes and commit them; False when another git process interfered."""
        self._wanted.report("Looking for changes", 0, 0)
        listing = scan.find(self._config, self._repo, self._mode, self._lock_fd)
        wanted = self._wanted._replace(total=len(listing.state.changes) + listing.state.further)
        uncommitted: list[Change] = []
        self._linked = set()
        while written := self._batches(listing, wanted, uncommitted):
            if not listing.state.further:
                scan.keep(self._config, listing, head=written.head, stamp=written.stamp, uncommitted=uncommitted)
                return True
            listing = scan.further(self._repo, listing, self._lock_fd)
        return False

    def _batches(self, listing: Scan, wanted: Wanted, uncommitted: list[Change]) -> _Written | None:
        """Commit what a scan lists, batch by batch; None when another git process interfered.

        uncommitted: receives the changes that remain uncommitted.
        """
        state, stamp = batch.in_order(listing.state), listing.stamp
        planned_paths: set[str] = set()
        while True:
            next_batch = batch.read(self._config, self._repo, state, wanted, self._linked)
            private.remember(self._config.vault, self._repo, next_batch.private_projects)
            if next_batch.converted:
                git_index.keep_bytes(self._repo)
            planned = self._plan(next_batch.files, bool(self.done.commits))
            written = self._write(state, planned, stamp) if planned else _Written([], state.head, stamp)
            if written is None:
                return None
            self._note(written.commits, next_batch, state)
            planned_paths.update(file.change.path for change in planned for file in change.files)
            if next_batch.rest is None:
                uncommitted += (
                    change
                    for change in (*listing.state.changes, *listing.state.beside)
                    if change.path not in planned_paths
                )
                return written
            if planned and not written.stamp:
                return None
            state, stamp = next_batch.rest._replace(head=written.head), written.stamp

    def _write(self, state: State, planned: list[PlannedCommit], stamp: git_index.IndexStamp | None) -> _Written | None:
        """Write the planned commits and update the index; None when another git process changed index or branch.

        stamp: that of the index when the changes were listed.
        """
        repo, lock_fd = self._repo, self._lock_fd
        drafts = [_draft(planned_commit, self._rules) for planned_commit in planned]
        with git_index.copied(repo) as copy:
            if copy.seen != stamp:
                return None
            git_index.catch_up_copy(repo, copy, lock_fd)
            writer.mark(repo, state.head)
            oids = _prepare(repo, state.head, drafts, lock_fd, imported=self._imported)
            # None of these files is staged in the copy: staged ones are never planned.
            git_index.update(
                repo,
                copy,
                [_entry(file, oids[-1]) for planned_commit in planned for file in planned_commit.files],
                lock_fd,
            )
            own_stamp = git_index.stamp(copy.path)
            if not git_index.move(repo, copy, state.branch, state.head, oids[-1], lock_fd):
                return None
        git_index.catch_up(repo, lock_fd)
        commits = [
            Commit(oid, draft.message.split("\n", 1)[0], _session_of(draft.message), len(planned_commit.files))
            for oid, draft, planned_commit in zip(oids, drafts, planned, strict=False)
        ]
        is_ours = writer.marked(repo) is None and git_index.stamp(repo.git_dir / "index") == own_stamp
        return _Written(commits, oids[-1], own_stamp if is_ours else None)

    def _note(self, commits: list[Commit], read: CommitBatch, state: State) -> None:
        before = self.done
        held_back = list(dict.fromkeys([*before.held_back, *read.held_back]))
        staying = list(dict.fromkeys([*before.staying, *read.staying]))
        self.done = CommitResult(before.commits + commits, held_back, state.staged, read.left_out, staying)


def _prepare(repo: Repository, head: str, drafts: list[CommitDraft], lock_fd: int, *, imported: bool) -> list[str]:
    """Write commits on top of `head`; return the drafts' ids, then the id of the tip.

    Imported drafts from long before the last commit become a separate line with their original dates, which is
    merged: git expects dates to ascend along a line.
    """
    last_time = writer.time_of(repo, head) if head and imported else 0.0
    early = [draft for draft in drafts if 0 < draft.happened < last_time - EARLIER_SECONDS]
    if not early:
        return writer.prepare(repo, head, drafts, lock_fd)
    early_keys = {id(draft) for draft in early}
    others = [draft for draft in drafts if id(draft) not in early_keys]
    early_ids = writer.prepare(repo, "", early, lock_fd)
    puts = {path: data for draft in early for path, data in draft.puts.items()}
    deletes = tuple(path for draft in early for path in draft.deletes)
    days = [timestamps.local_day(draft.happened) for draft in (early[0], early[-1])]
    text = f"Add {plural.number(len(early), 'earlier session')}, {' to '.join(dict.fromkeys(days))}\n"
    merge = CommitDraft(text, puts, deletes, (early_ids[-1],))
    later_ids = writer.prepare(repo, head, [*others, merge], lock_fd)
    ids = {id(draft): oid for draft, oid in zip([*early, *others], [*early_ids, *later_ids[:-1]], strict=True)}
    return [*(ids[id(draft)] for draft in drafts), later_ids[-1]]


def _entry(file: File, head_id: str) -> git_index.IndexEntry:
    path = os.fsencode(file.change.path)
    if file.change.kind == "deleted":
        return git_index.IndexEntry(git_index.GONE, b"0" * len(head_id), path)
    return git_index.IndexEntry(b"100644", objects.blob_id(file.data, head_id).encode("ascii"), path)


def _draft(planned: PlannedCommit, rules: privacy.Rules) -> CommitDraft:
    return CommitDraft(
        str(privacy.clean(planned.text, rules=rules, origin="tool").value),
        {file.change.path: file.data for file in planned.files if file.change.kind != "deleted"},
        tuple(file.change.path for file in planned.files if file.change.kind == "deleted"),
        happened=planned.happened,
    )


def _session_of(message: str) -> str:
    """Return the session in a commit message's trailers; "" when they name none."""
    _, _, trailers = message.rstrip("\n").rpartition("\n\n")
    named = (line for line in trailers.split("\n") if line.startswith("Mdmem-Session: "))
    return next(named, "").partition(": ")[2]
