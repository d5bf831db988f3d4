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
from mdmem.history import changes, gate, message, pages, private
from mdmem.history.changes import Change, State
from mdmem.history.gate import HeldBack
from mdmem.history.git import git_index, lock, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.history.message import File
from mdmem.vault import disk, journal, note

TRIES = 20
"""How often a commit begins anew because another git has moved the branch, after a pause of random length."""

MAX_PAUSE_SECONDS = 0.2

MAX_BATCH_BYTES = 64 * 1024 * 1024
"""So much text is held at a time; what is left follows in further commits."""


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
    staged: paths that a person has staged; they stay theirs.
    """

    commits: list[Commit]
    held_back: list[HeldBack]
    staged: list[str]


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

    return _commit(config, plan, accept=accept, wait_seconds=wait_seconds)


def commit_paths(config: Config, paths: Collection[str], text: str, *, accept: Collection[str] = ()) -> CommitResult:
    """Commit these vault-relative paths, as far as they have changed, as one commit with this message.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """
    wanted = frozenset(paths)

    def plan(files: list[File]) -> list[PlannedCommit]:
        return [PlannedCommit(text, files)] if files else []

    return _commit(config, plan, only=wanted, accept=accept)


def _commit(
    config: Config,
    plan: Plan,
    *,
    only: Collection[str] | None = None,
    accept: Collection[str] = (),
    wait_seconds: float = 60.0,
) -> CommitResult:
    repo = repository.open_vault(config.vault)
    rules = privacy.Rules.of(config.settings)
    done = CommitResult([], [], [])
    tries = TRIES
    with lock.held(config.state_dir, wait_seconds=wait_seconds) as held:
        git_index.heal(repo)
        while tries:
            git_index.catch_up(repo, held)
            _refuse_half_clone(repo)
            with git_index.copied(repo) as copy:
                git_index.catch_up_copy(repo, copy, held)
                state = changes.find(repo, copy)
                batch = _read(config, state, only, rules, accept)
                if batch.converted:
                    git_index.keep_bytes(repo)
                planned = plan(batch.files)
                made = _write(repo, copy, state, planned, rules, held)
            if made is None:
                tries -= 1
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - no secret, two clocks out of step
                continue
            done = CommitResult(done.commits + made, done.held_back + batch.held_back, state.staged)
            if not (batch.more and made):
                return done
    raise BusyError("Other programs keep committing to the vault. Nothing is lost; run `mdmem commit` again later.")


def _refuse_half_clone(repo: Repository) -> None:
    """Refuse a vault with commits and no index: it lacks files that nobody has deleted."""
    if not (repo.git_dir / "index").exists() and writer.marked(repo) is None and writer.tip(repo, "HEAD"):
        raise BusyError(f"Cloning {repo.root} was interrupted. `mdmem sync` completes it; the notes wait.")


class _Batch(NamedTuple):
    """What was read. converted: git takes a file for changed that is not, since it converts its line ends."""

    files: list[File]
    held_back: list[HeldBack]
    more: bool
    converted: bool


def _read(
    config: Config, state: State, only: Collection[str] | None, rules: privacy.Rules, accept: Collection[str]
) -> _Batch:
    """Read the changed files that pass the gate, up to a batch's size."""
    root, passes = config.vault, gate.CommitGate(config.settings)
    files: list[File] = []
    held_back: list[HeldBack] = []
    converted = False
    projects = private.projects(root)
    staying: dict[str, set[str]] = {}
    room = MAX_BATCH_BYTES
    for change in sorted(state.changes, key=_pages_last):
        folder, _, name = change.path.rpartition("/")
        wanted = only is None or change.path in only
        if only is not None and not wanted and not any(page in only for page in journal.page_paths(folder)):
            continue
        if room < 0:
            return _Batch(files, held_back, True, converted)
        file = _read_file(root, change)
        if file and len(file.data) >= disk.MAX_READ_BYTES:
            held_back += [HeldBack(change.path, 1, gate.TOO_LARGE)] if wanted else []
            continue
        if file and file.change.kind == "changed" and changes.blob_id(file.data, change.oid) == change.oid:
            converted = True
            continue
        if file and private.is_private(change.path, file.meta, projects):
            staying.setdefault(folder, set()).add(name)
            continue
        if not wanted:
            continue  # it was looked at only to see whether the page that is wanted may name it
        if file and folder in staying and journal.is_page(change.path):
            file = _unnaming(root, file, staying[folder], rules.marker)
        if file is None:
            continue
        held = None if change.path in accept else passes.look(change.path, file.data)
        if held:
            held_back.append(held)
        else:
            files.append(file)
            room -= len(file.data)
    return _Batch(files, held_back, False, converted)


def _pages_last(change: Change) -> tuple[str, bool, str]:
    """Order changes by folder, and a session's page behind its notes, which decide what it may name."""
    folder, _, name = change.path.rpartition("/")
    return folder, journal.is_page(change.path), name


def _read_file(root: str, change: Change) -> File | None:
    """Read one changed file; None when there is nothing to commit about it (yet)."""
    data = disk.read_path(root, change.path)
    if change.kind == "deleted":
        return File(change, b"", {}) if data is None else None
    if data is None:
        return None  # missing again, or a link
    return File(change, data, note.parse(data).meta)


def _unnaming(root: str, page: File, names: Collection[str], marker: str) -> File | None:
    """Take notes that stay on this machine off a page that does not; None when nothing else had changed."""
    data = pages.without(root, page.change.path, page.data, names, marker)
    if data != page.data:
        with disk.open_folder(root, tuple(page.change.path.split("/")[:-1])) as folder:
            disk.replace(folder, page.change.path.rpartition("/")[2], page.data, data, durable=False)
    if changes.blob_id(data, page.change.oid) == page.change.oid:
        return None
    return File(page.change, data, note.parse(data).meta)


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
