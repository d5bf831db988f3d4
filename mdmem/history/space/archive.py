"""Archive a year: pack its committed notes, one file per session, in commits of their own."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

from mdmem import plural
from mdmem.config import Config
from mdmem.errors import UsageError, VaultError
from mdmem.history import commit, private
from mdmem.history.gate import CommitGate
from mdmem.history.git import objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.vault import archives, disk, layout, packed

FILES_AT_ONCE = 5_000
"""Number of changed files after which to commit, at the end of a session: a year may have any number."""

_SESSIONS_AT_ONCE = 100
"""Number of sessions per query to git."""


class LeftSession(NamedTuple):
    """A session that was not packed or unpacked, and why."""

    folder: str
    why: str


class Archived(NamedTuple):
    """The result, possibly of a dry run: how many sessions and notes were (un)packed, and which sessions were left."""

    sessions: int
    notes: int
    left: list[LeftSession]
    commits: list[str]


def pack(
    config: Config, year: int, *, project: str = "", now: float, dry: bool = False, report: ProgressCallback = ignore
) -> Archived:
    """Pack the sessions of a past year, one file each, and commit that.

    project: only this journal folder. dry: change nothing. report: progress callback.

    Raises:
        UsageError: when the year is not over.
        VaultError, BusyError, GitError: as `commit.commit`; packed sessions stay packed, and the next commit has them.
    """
    if year >= time.localtime(now).tm_year:
        raise UsageError(f"{year} is not over: only sessions of past years are archived.")
    commit.commit(config, report=report)  # only committed notes are packed
    folders = archives.sessions(config.vault, str(year), project)
    parts = _Parts(config, f"Archive {year}", report)
    left_sessions: list[LeftSession] = []
    ready = _Ready(config)
    for place, folder in enumerate(reporting(folders, "Packing", report)):
        if place % _SESSIONS_AT_ONCE == 0:
            ready.read(folders[place : place + _SESSIONS_AT_ONCE])
        try:
            notes = archives.read(config.vault, folder)
            ready.check(folder, notes)
            parts.add([] if dry else archives.pack(config, folder, notes), len(notes))
        except VaultError as error:
            left_sessions.append(LeftSession(folder, str(error)))
    return parts.ended()._replace(left=left_sessions)


def unpack(config: Config, year: int, *, project: str = "", report: ProgressCallback = ignore) -> Archived:
    """Unpack the archives of a year and commit that, except damaged ones. Raises what `commit.commit` raises."""
    commit.commit(config, report=report)
    folders = list(archives.packed_sessions(config.vault, str(year), project))
    parts = _Parts(config, f"Unpack the archive of {year}", report)
    left_sessions: list[LeftSession] = []
    for folder in reporting(folders, "Unpacking", report):
        try:
            changed = archives.unpack(config, folder)
        except VaultError as error:
            left_sessions.append(LeftSession(folder, str(error)))
        else:
            parts.add(changed, len(changed) - 1)
    return parts.ended()._replace(left=left_sessions)


class _Parts:
    """Collects changes by session, and commits them when there are more than `FILES_AT_ONCE`."""

    def __init__(self, config: Config, what: str, report: ProgressCallback) -> None:
        self._config, self._what, self._tell = config, what, report
        self._done = Archived(0, 0, [], [])
        self._changed: list[str] = []
        self._sessions = self._notes = 0

    def add(self, changed: list[str], notes: int) -> None:
        """Add a session with the files that changed for it."""
        self._changed += changed
        self._sessions, self._notes = self._sessions + 1, self._notes + notes
        if len(self._changed) >= FILES_AT_ONCE:
            self._commit()

    def ended(self) -> Archived:
        """Commit the rest, and return the result."""
        self._commit()
        return self._done

    def _commit(self) -> None:
        text = f"{self._what}: {plural.number(self._notes, 'note')} of {plural.number(self._sessions, 'session')}\n"
        commits = commit.commit_paths(self._config, self._changed, text, self._tell).commits if self._changed else []
        sessions, notes, left, oids = self._done
        new_oids = [each.oid for each in commits]
        self._done = Archived(sessions + self._sessions, notes + self._notes, left, [*oids, *new_oids])
        self._changed, self._sessions, self._notes = [], 0, 0


def texts_at(repo: Repository, oid: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return path -> content of notes at a commit, whether in files or archives; without those it lacks."""
    tree = dict(join.files(repo, oid)) if oid and paths else {}
    file_of = {path: path if path in tree else layout.archive_of(layout.folder_of(path)) for path in paths}
    blobs = {path: tree[file] for path, file in file_of.items() if file in tree}
    texts = objects.contents(repo, blobs.values())
    contents = {}
    for path, blob in blobs.items():
        archived = {} if file_of[path] == path else packed.parse(texts[blob])
        contents[path] = texts[blob] if file_of[path] == path else archived.get(layout.split(path)[1], b"")
    return contents


class _Ready:
    """Checks that a session may be packed: committed as it is, and accepted by the gate."""

    def __init__(self, config: Config) -> None:
        self._root = config.vault
        self._repo = repository.open_vault(config.vault)
        self._committed: dict[str, str] = {}
        self._gate = CommitGate(config.settings)
        self._private = private.projects(config.vault)

    def read(self, folders: Collection[str]) -> None:
        """Load the committed files of these sessions, in place of the ones before."""
        head = writer.tip(self._repo, "HEAD")
        places = [*folders, *map(layout.archive_of, folders)]
        self._committed = {path: oid for _, oid, path in objects.listed(self._repo, head, *places)} if head else {}

    def check(self, folder: str, notes: dict[str, bytes]) -> None:
        """Check the notes of a session. Raises VaultError with the reason why they cannot be packed."""
        if layout.project_of(folder) in self._private:
            raise VaultError("its project stays on this machine")
        target = layout.archive_of(folder)  # may contain notes that a killed run packed
        is_begun = self._has(target, disk.read_file(self._root, target) or b"")
        for name, data in notes.items():
            path = f"{folder}/{name}"
            if not self._has(path, data) and not (is_begun and disk.is_packed(self._root, path)):
                raise VaultError(f"{name} is not committed")
            if self._gate.look(path, data):
                raise VaultError(f"the current privacy rules hold {name} back")

    def _has(self, path: str, data: bytes) -> bool:
        """Whether the last commit has this content at this path."""
        oid = self._committed.get(path, "")
        return bool(oid) and objects.blob_id(data, oid) == oid
