"""Deletions: captured notes and whole sessions that their owner has deleted, as history recalls them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history.git import checked_out, part, repository
from mdmem.history.git.repository import Repository
from mdmem.vault import JOURNAL, NOTES, disk, journal, layout
from mdmem.vault.unreadable import UnreadableFolders

_EVERY_CHANGE = ("--full-history", "--no-renames")
"""Options of `git log`, which otherwise skips the side of a merge that added a file and deleted it again."""


class Deletions(NamedTuple):
    """What an import must not bring back.

    notes: deleted and archived notes, id -> file name.
    sessions: sessions of which every note was deleted, the tag of the folder -> when, in seconds since the epoch. Their
        notes may have had other ids than a transcript gives them.
    """

    notes: Mapping[str, str]
    sessions: Mapping[str, float]


def find_all(config: Config) -> Deletions:
    """Return what was deleted, by anybody and in any way; nothing for a vault without history."""
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return Deletions({}, {})
    present = {journal.id_in(entry.path) for entry in disk.walk(config.vault, JOURNAL, packed=False)} | {""}
    if not checked_out.has_commit(repo):
        return Deletions({}, {})
    notes: dict[str, str] = {}
    missing: dict[str, str] = {}
    sessions: dict[str, _SessionNotes] = {}
    for at, added, removed in _commits(repo):
        for name in removed:
            missing.pop(name, None)
        missing.update((name, path) for name, path in added.items() if name not in present)
        notes.update((name, path.rpartition("/")[2]) for name, path in added.items() if name not in present)
        for tag, (added_ids, removed_ids) in _by_session(added, removed).items():
            sessions.setdefault(tag, _SessionNotes()).change(at, added_ids, removed_ids)
    present |= _elsewhere(repo, missing)
    archived = {_tag(layout.archived_in(path)) for path in layout.archives(config.vault)}
    deletion_times = {
        tag: notes_of_session.deleted_at(present) for tag, notes_of_session in sessions.items() if tag not in archived
    }
    return Deletions(notes, {tag: at for tag, at in deletion_times.items() if at})


def imported_before(config: Config) -> frozenset[str]:
    """Return the paths, in NFC, of notes in notes/imported/ that were ever committed.

    Those not on disk, a person took away. Git on macOS composes the accents of a path, whatever its disk has.
    """
    try:
        repo = repository.open_vault(config.vault)
    except VaultError:
        return frozenset()
    form = (*_EVERY_CHANGE, "--diff-filter=A", "--name-only", "--format=")
    told = repository.attempt(repo, "log", "-z", *form, "HEAD", "--", f"{NOTES}/imported/")  # fails without a commit
    paths = unicodedata.normalize("NFC", told.out.decode("utf-8", "surrogateescape")).split("\0")
    return frozenset(filter(disk.is_note_path, paths))


def _elsewhere(repo: Repository, missing: Mapping[str, str]) -> set[str]:
    """Return the ids of notes in the last commit that this machine leaves out or cannot look for, not deleted ones.

    missing: id -> path of those that are not on disk.
    """
    vault_part = part.load(repo)
    unreadable = UnreadableFolders(str(repo.root))
    return {name for name, path in missing.items() if not part.is_part(vault_part, path) or unreadable.contain(path)}


class _SessionNotes:
    """The notes of a session, by id: those that history still has, those it lost, and when it lost all."""

    __slots__ = ("_ended", "_live", "_lost")

    def __init__(self) -> None:
        self._live: set[str] = set()
        self._lost: set[str] = set()
        self._ended = 0.0

    def change(self, at: float, added: set[str], removed: set[str]) -> None:
        """Apply a commit, which adds and removes notes."""
        if self._lost & added:
            self._ended = 0.0  # its deletion was undone
        self._lost = (self._lost - added) | removed
        self._live = (self._live | added) - removed
        if removed and not self._live:
            self._ended = at

    def deleted_at(self, present: set[str]) -> float:
        """Return when all notes it had by then were deleted; 0 if they were not. present: the ids of notes on disk."""
        if self._live and self._live.isdisjoint(present):
            return time.time()  # deleted by hand, and not committed yet
        return self._ended if self._lost.isdisjoint(present) else 0.0


def _commits(repo: Repository) -> Iterator[tuple[float, dict[str, str], dict[str, str]]]:
    """Yield each commit's time and its added and removed captured notes, id -> path; earlier commits first."""
    form = (*_EVERY_CHANGE, "--topo-order", "--reverse", "--diff-filter=AD", "--name-status", "--format=%x01%ct")
    at, added, removed = 0.0, dict[str, str](), dict[str, str]()
    fields = repository.each(repo, "log", "-z", *form, "HEAD", "--", JOURNAL)
    for field in fields:
        if field.startswith("\x01"):
            yield at, added, removed
            at, added, removed = float(field[1:]), {}, {}
            continue
        path = next(fields, "")
        if disk.is_note_path(path) and (name := journal.id_in(path)):
            (added if field.strip() == "A" else removed)[name] = path
    yield at, added, removed


def _by_session(added: Mapping[str, str], removed: Mapping[str, str]) -> dict[str, tuple[set[str], set[str]]]:
    """Return the ids of added and removed notes by their session's tag, without those that were only moved."""
    ids_by_tag: dict[str, tuple[set[str], set[str]]] = {}
    for place, (paths, opposite) in enumerate(((added, removed), (removed, added))):
        for name, path in paths.items():
            tag = _tag(layout.session_of(path)) if name not in opposite else ""
            if tag:
                ids_by_tag.setdefault(tag, (set(), set()))[place].add(name)
    return ids_by_tag


def _tag(folder: str) -> str:
    return folder.rpartition("-")[2]
