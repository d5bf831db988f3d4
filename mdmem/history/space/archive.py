"""Archiving a year: what is committed of it is packed, a file a session, in commits of its own."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import UsageError, VaultError
from mdmem.history import commit, past, private
from mdmem.history.gate import CommitGate
from mdmem.history.git import objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.merging import join
from mdmem.history.message import counted
from mdmem.steps import Tell, told, untold
from mdmem.vault import archives, layout, packed

_DAYS_AT_ONCE = 200
"""Number of folders that one question to git names."""


class LeftSession(NamedTuple):
    """A session that stays as it is, and why."""

    folder: str
    why: str


class Archived(NamedTuple):
    """What was done, or would be: how many sessions and notes were packed (or taken apart), and what was left."""

    sessions: int
    notes: int
    left: list[LeftSession]
    commits: list[str]


def pack(
    config: Config, year: int, *, project: str = "", now: float, dry: bool = False, tell: Tell = untold
) -> Archived:
    """Pack the sessions of a year that is over, a file each, and commit that.

    project: only the folder of the journal with this name. dry: change nothing. tell: is told what is being done.

    Raises:
        UsageError: when the year is not over.
        VaultError, BusyError, GitError: as `commit.commit`; what was packed stays so, and the next commit takes it.
    """
    if year >= time.localtime(now).tm_year:
        raise UsageError(f"{year} is not over: only sessions of past years are archived.")
    commit.commit(config, tell=tell)  # what history does not have stays a file of its own
    changed: list[str] = []
    left: list[LeftSession] = []
    done = notes = 0
    folders = archives.sessions(config.vault, str(year), project)
    ready = _Ready(config, folders)
    for folder in told(folders, "Packing", tell):
        try:
            found = archives.read(config.vault, folder)
            ready.check(folder, found)
            changed += [] if dry else archives.pack(config, folder, found)
            done, notes = done + 1, notes + len(found)
        except VaultError as error:
            left.append(LeftSession(folder, str(error)))
    text = f"Archive {year}: {counted(notes, 'note')} of {counted(done, 'session')}\n"
    return Archived(done, notes, left, _commit(config, changed, text, tell))


def unpack(config: Config, year: int, *, project: str = "", tell: Tell = untold) -> Archived:
    """Take the archives of a year apart again, and commit that.

    Raises:
        VaultError, BusyError, GitError: as `commit.commit`.
    """
    commit.commit(config, tell=tell)
    changed: list[str] = []
    folders = list(archives.packed_sessions(config.vault, str(year), project))
    for folder in told(folders, "Unpacking", tell):
        changed += archives.take_apart(config, folder)
    notes = len(changed) - len(folders)
    text = f"Unpack the archive of {year}: {counted(notes, 'note')} of {counted(len(folders), 'session')}\n"
    return Archived(len(folders), notes, [], _commit(config, changed, text, tell))


def _commit(config: Config, changed: list[str], text: str, tell: Tell) -> list[str]:
    made = commit.commit_paths(config, changed, text, tell).commits if changed else []
    return [one.oid for one in made]


def texts_at(repo: Repository, oid: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return what notes held at a commit, in files of their own or in archives, as far as they were there."""
    tree = join.tree(repo, oid)[0] if oid and paths else {}
    place = {path: path if path in tree else layout.archive_of(layout.folder_of(path)) for path in paths}
    blobs = {path: tree[where] for path, where in place.items() if where in tree}
    texts = past.objects_of(repo, sorted(set(blobs.values())))
    found = {}
    for path, blob in blobs.items():
        inside = {} if place[path] == path else packed.parse(texts[blob])
        found[path] = texts[blob] if place[path] == path else inside.get(layout.split(path)[1], b"")
    return found


class _Ready:
    """What a session must be to be packed: committed as it is, and let through by the gate."""

    def __init__(self, config: Config, folders: Collection[str]) -> None:
        repo = repository.open_vault(config.vault)
        head = writer.tip(repo, "HEAD")
        days = sorted({folder.rpartition("/")[0] for folder in folders} if head else ())  # the rest may be much more
        parts = (days[start : start + _DAYS_AT_ONCE] for start in range(0, len(days), _DAYS_AT_ONCE))
        self._committed = {path: oid for part in parts for _, oid, path in objects.listed(repo, head, *part)}
        self._gate = CommitGate(config.settings)
        self._private = private.projects(config.vault)

    def check(self, folder: str, notes: dict[str, bytes]) -> None:
        """Look at the notes of a session.

        Raises:
            VaultError: with the reason why they stay as they are.
        """
        if layout.project_of(folder) in self._private:
            raise VaultError("its project stays on this machine")
        for name, data in notes.items():
            path = f"{folder}/{name}"
            oid = self._committed.get(path, "")
            if not oid or objects.blob_id(data, oid) != oid:
                raise VaultError(f"{name} is not committed")
            if self._gate.look(path, data):
                raise VaultError(f"the privacy rules of today would not commit {name}")
