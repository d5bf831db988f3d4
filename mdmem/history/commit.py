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

from mdmem import note, privacy, vault
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.history import changes, gate, index, lock, message, pages, private, repository, writer
from mdmem.history.changes import Change, State
from mdmem.history.gate import HeldBack
from mdmem.history.message import File
from mdmem.history.repository import Repository
from mdmem.history.writer import Draft
from mdmem.journal import PAGE

TRIES = 20
"""How often a commit begins anew because another git has moved the branch, after a pause of random length."""

MAX_PAUSE_SECONDS = 0.2

MAX_BATCH_BYTES = 64 * 1024 * 1024
"""So much text is held at a time; what is left follows in further commits."""

Plan = Callable[[list[File]], list[tuple[str, list[File]]]]
"""Sorts changed files into commits: each a message and its files."""


class Commit(NamedTuple):
    """A commit that was made. session: "" for what a person did; files: how many it changes."""

    oid: str
    subject: str
    session: str
    files: int


class Result(NamedTuple):
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
) -> Result:
    """Commit what has changed in the vault; safe to call at any time, from any number of processes.

    session: only what this session wrote.
    accept: vault-relative paths that pass the gate whatever they hold; a person has looked at them.
    wait_seconds: how long to queue behind other committers.

    Raises:
        VaultError: when the vault is no repository.
        BusyError: when others kept the repository busy, or a person's merge is under way.
        GitError: when git fails. The notes are safe in each case, and a later commit takes them along.
    """

    def plan(files: list[File]) -> list[tuple[str, list[File]]]:
        groups = [found for found in message.group(files) if session in (None, found.session)]
        return [(message.write(found, config.vault), found.files) for found in groups]

    return _commit(config, plan, accept=accept, wait_seconds=wait_seconds)


def commit_paths(config: Config, paths: Collection[str], text: str, *, accept: Collection[str] = ()) -> Result:
    """Commit these vault-relative paths, as far as they have changed, as one commit with this message.

    Raises:
        VaultError, BusyError, GitError: as `commit`.
    """
    wanted = frozenset(paths)

    def plan(files: list[File]) -> list[tuple[str, list[File]]]:
        return [(text, files)] if files else []

    return _commit(config, plan, only=wanted, accept=accept)


def _commit(
    config: Config,
    plan: Plan,
    *,
    only: Collection[str] | None = None,
    accept: Collection[str] = (),
    wait_seconds: float = 60.0,
) -> Result:
    repo = repository.open_vault(config.vault)
    rules = privacy.Rules.of(config.settings)
    done = Result([], [], [])
    tries = TRIES
    with lock.held(config.state_dir, wait_seconds=wait_seconds) as held:
        index.heal(repo)
        while tries:
            index.catch_up(repo, held)
            _refuse_half_clone(repo)
            with index.copied(repo) as copy:
                index.catch_up_copy(repo, copy, held)
                state = changes.find(repo, copy)
                batch = _read(config.vault, state, only, rules, accept)
                planned = plan(batch.files)
                made = _write(repo, copy, state, planned, rules, held)
            if made is None:
                tries -= 1
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - no secret, two clocks out of step
                continue
            done = Result(done.commits + made, done.held_back + batch.held_back, state.staged)
            if not (batch.more and made):
                return done
    raise BusyError("Other programs keep committing to the vault. Nothing is lost: commit again later.")


def _refuse_half_clone(repo: Repository) -> None:
    """Refuse a vault with commits and no index: it lacks files that nobody has deleted."""
    if not (repo.git_dir / "index").exists() and writer.marked(repo) is None and writer.tip(repo, "HEAD"):
        raise BusyError(f"Cloning {repo.root} was broken off. `mdmem sync` completes it; the notes wait.")


class _Batch(NamedTuple):
    files: list[File]
    held_back: list[HeldBack]
    more: bool


def _read(
    root: str, state: State, only: Collection[str] | None, rules: privacy.Rules, accept: Collection[str]
) -> _Batch:
    """Read the changed files that pass the gate, up to a batch's size."""
    files: list[File] = []
    held_back: list[HeldBack] = []
    projects = private.projects(root)
    staying: dict[str, set[str]] = {}
    room = MAX_BATCH_BYTES
    for change in state.changes:
        folder, _, name = change.path.rpartition("/")
        wanted = only is None or change.path in only
        if only is not None and not wanted and f"{folder}/{PAGE}" not in only:
            continue
        if room < 0:
            return _Batch(files, held_back, more=True)
        file = _read_file(root, change)
        if file and private.is_private(change.path, file.meta, projects):
            staying.setdefault(folder, set()).add(name)
            continue
        if not wanted:
            continue  # it was looked at only to see whether the page that is wanted may name it
        if file and name == PAGE and folder in staying:  # notes come before their page: their names are numbers
            file = _unnaming(root, file, staying[folder], rules.marker)
        if file is None:
            continue
        held = None if change.path in accept else gate.look(change.path, file.data, rules)
        if held:
            held_back.append(held)
        else:
            files.append(file)
            room -= len(file.data)
    return _Batch(files, held_back, more=False)


def _read_file(root: str, change: Change) -> File | None:
    """Read one changed file; None when there is nothing to commit about it (yet)."""
    data = vault.read_path(root, change.path)
    if change.kind == "deleted":
        return File(change, b"", {}) if data is None else None
    # Missing again, a link, longer than is read, or the same text in git's eyes only differing by line ends.
    if data is None or len(data) >= vault.MAX_READ_BYTES or changes.blob_id(data, change.oid) == change.oid:
        return None
    return File(change, data, note.parse(data).meta)


def _unnaming(root: str, page: File, names: Collection[str], marker: str) -> File | None:
    """Take notes that stay on this machine off a page that does not; None when nothing else had changed."""
    data = pages.without(root, page.change.path, page.data, names, marker)
    if data != page.data:
        with vault.open_folder(root, tuple(page.change.path.split("/")[:-1])) as folder:
            vault.replace(folder, PAGE, page.data, data, durable=False)
    if changes.blob_id(data, page.change.oid) == page.change.oid:
        return None
    return File(page.change, data, note.parse(data).meta)


def _write(
    repo: Repository,
    copy: index.Copy,
    state: State,
    planned: list[tuple[str, list[File]]],
    rules: privacy.Rules,
    held: int,
) -> list[Commit] | None:
    """Write the planned commits and bring the index along; None when somebody else has moved the branch."""
    if not planned:
        return []
    drafts = [_draft(str(privacy.clean(text, rules=rules, origin="tool").value), files) for text, files in planned]
    writer.mark(repo, state.head)
    oids = writer.write(repo, state.branch, state.head, drafts, held)
    if oids is None:
        return None
    # Nothing of these is staged in the copy, or it would not have been planned.
    index.update(repo, copy, [_entry(file, oids[-1]) for _, files in planned for file in files], held)
    if index.publish(repo, copy):
        writer.unmark(repo)
    else:
        index.catch_up(repo, held)
    return [
        Commit(oid, draft.message.split("\n", 1)[0], trailer(draft.message, "Session"), len(files))
        for oid, draft, (_, files) in zip(oids, drafts, planned, strict=True)
    ]


def _entry(file: File, like: str) -> index.Entry:
    path = os.fsencode(file.change.path)
    if file.change.kind == "deleted":
        return index.Entry(index.GONE, b"0" * len(like), path)
    return index.Entry(b"100644", changes.blob_id(file.data, like).encode("ascii"), path)


def _draft(text: str, files: list[File]) -> Draft:
    return Draft(
        text,
        {file.change.path: file.data for file in files if file.change.kind != "deleted"},
        tuple(file.change.path for file in files if file.change.kind == "deleted"),
    )


def trailer(text: str, name: str) -> str:
    """Give the value of the trailer `Mdmem-<name>` of a commit's message, "" without one."""
    for line in reversed(text.rstrip("\n").split("\n")):
        if not line:
            return ""
        if line.startswith(f"Mdmem-{name}: "):
            return line.partition(": ")[2]
    return ""
