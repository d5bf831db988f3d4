"""Read changed files for a commit in batches: what passes the privacy gate, what is left out, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mdmem import progress
from mdmem.config import Config
from mdmem.files import UnreadableError
from mdmem.history import changes, gate, other_files, pages, private
from mdmem.history.changes import Change, State
from mdmem.history.gate import HeldBack
from mdmem.history.git import objects
from mdmem.history.git.repository import Repository
from mdmem.history.message import File
from mdmem.history.other_files import LeftOut, Targets
from mdmem.vault import attachments, disk, journal, layout, note, unreadable

MAX_BYTES = 8 * 1024 * 1024
"""Text read per batch; finishing a folder may double it. The rest goes into later batches."""


NEEDED = ("kind", "title", "session", "project", "agent", "created")
"""Front matter keys that a commit's message needs; the others are not kept in memory."""


class Wanted(NamedTuple):
    """What to commit. only: these paths; None for all. accept: paths that pass the gate whatever they contain.

    report: progress callback; total: the number of files that an earlier listing found.
    """

    only: Collection[str] | None = None
    accept: Collection[str] = ()
    report: progress.ProgressCallback = progress.ignore
    total: int = 0

    def has(self, path: str) -> bool:
        """Whether to commit this path."""
        return self.only is None or path in self.only


class CommitBatch(NamedTuple):
    """One batch of changed files.

    staying: changed notes that stay on this machine; earlier commits may contain them.
    private_projects: the projects that stay, changed or not.
    rest: what did not fit; None when everything did.
    converted: git lists an unchanged file as changed because it converts line endings.
    staged: paths that a person has staged, which no batch takes; only `commit.waiting` fills it.
    """

    files: list[File]
    held_back: list[HeldBack]
    left_out: list[LeftOut]
    staying: list[Change]
    private_projects: frozenset[str]
    rest: State | None
    converted: bool
    staged: Sequence[str] = ()


def read(config: Config, repo: Repository, state: State, wanted: Wanted, linked: set[str]) -> CommitBatch:
    """Read changed files that pass the gate, notes first, up to the size of a batch.

    state: as `in_order` returns it. While it has further changes, files beside notes wait for a later batch.
    linked: link targets of the private notes in earlier batches; those of this batch are added.
    """
    reading = _Reading(config, repo, wanted, Targets(linked), is_part=state.is_part)
    folder = ""
    coming = len(state.changes) + state.further
    total = max(wanted.total, coming)
    for place, change in enumerate(state.changes):
        wanted.report("Committing", total - coming + place, total)
        before, folder = folder, layout.folder_of(change.path)
        if reading.room < (0 if folder != before else -MAX_BYTES):
            is_part = state.is_part or folder == before
            other_files.forget_linked(config, reading.targets)
            return reading.batch([], state._replace(changes=state.changes[place:], is_part=is_part))
        reading.add(change)
    if state.further or wanted.only is not None:
        other_files.forget_linked(config, reading.targets)
    if state.further:
        return reading.batch([], None)  # the links of the notes still to come are unknown
    beside = [change for change in state.beside if wanted.has(change.path) and _may_take(config, change)]
    chosen, left_out = other_files.choose(config, repo, beside, reading.targets, wanted.only or ())
    for place, change in enumerate(chosen):
        if reading.room < 0:
            remaining = {*(change.path for change in chosen[place:]), *(change.path for change in left_out)}
            return reading.batch(
                left_out, state._replace(changes=[], beside=[change for change in beside if change.path in remaining])
            )
        reading.add_beside(change)
    if wanted.only is None:
        other_files.keep_left_out(config, left_out)
    return reading.batch(left_out, None)


def in_order(state: State) -> State:
    """Sort changes by folder, a session's page after its notes: they decide which of them the page may name."""
    folders: dict[str, list[Change]] = {}
    for change in state.changes:  # a sort key each would take more memory than the changes
        folders.setdefault(layout.folder_of(change.path), []).append(change)
    return state._replace(
        changes=[change for name in sorted(folders) for change in sorted(folders.pop(name), key=_pages_last)]
    )


class _Reading:
    """A batch being read. room: bytes still free. targets: what the notes read so far link to.

    is_part: other changes of the same folder may be in another batch.
    """

    def __init__(self, config: Config, repo: Repository, wanted: Wanted, targets: Targets, *, is_part: bool) -> None:
        self.room = MAX_BYTES
        self.targets = targets
        self._repo = repo
        self._root = config.vault
        self._wanted = wanted
        self._gate = gate.CommitGate(config.settings)
        self._marker = config.settings.privacy.marker
        self._projects = private.projects(config.vault)
        self._is_part = is_part
        self._folder = ""
        self._listed: set[str] = set()
        self._staying: set[str] = set()
        self._has_unread = False
        self._files: list[File] = []
        self._held_back: list[HeldBack] = []
        self._private: list[Change] = []
        self._converted = False

    def batch(self, left_out: list[LeftOut], rest: State | None) -> CommitBatch:
        """Return the batch."""
        waiting = self._projects.intersection(layout.project_of(change.path) for change in self._private)
        pages = map(journal.project_page, sorted(waiting))
        self._held_back += [HeldBack(page, 1, gate.HIDDEN) for page in pages if private.is_hidden(self._root, page)]
        return CommitBatch(self._files, self._held_back, left_out, self._private, self._projects, rest, self._converted)

    def add(self, change: Change) -> None:
        """Read a note or one of the vault's own files."""
        if changes.is_nested(change.path):
            if self._wanted.has(change.path) and any(disk.walk(self._root, change.path.rstrip("/"))):
                self._held_back.append(HeldBack(change.path, 1, gate.NESTED))
            return
        folder, name = layout.split(change.path)
        only, is_wanted = self._wanted.only, self._wanted.has(change.path)
        if only is not None and not is_wanted and not any(page in only for page in journal.page_paths(folder)):
            return
        if folder != self._folder:
            self._folder, self._listed, self._staying, self._has_unread = folder, set(), set(), False
        self._listed.add(name)
        file = self._fresh(change)
        if file is None:
            return
        is_private = private.is_private(change.path, file.meta, self._projects)
        self.targets.add(change.path, file.data, private=is_private)
        if is_private:
            self._private.append(change)
            self._staying.add(name)
        elif is_wanted:  # else read only to know whether the wanted page may name it
            if journal.is_page(change.path):
                staying = self._staying.union(self._unlisted() if self._is_part else ())
                if self._has_unread:
                    return  # the page waits: the note may be private, and the page may name it
                file = _unnaming(self._root, file, staying, self._marker) if staying else file
            self._pass(file)

    def _unlisted(self) -> Iterator[str]:
        """Yield the names of the folder's other notes that stay on this machine."""
        for name in set(disk.names_in(self._root, self._folder)) - self._listed:
            path = f"{self._folder}/{name}"
            try:
                file = _read_file(self._root, Change(path, "added"))
            except PermissionError:
                self._has_unread = True
                continue
            if file and private.is_private(path, file.meta, self._projects):
                yield name

    def add_beside(self, change: Change) -> None:
        """Read a file beside notes, unless its project stays on this machine."""
        if self._wanted.has(change.path) and not private.is_private(change.path, {}, self._projects):
            self._pass(self._fresh(change))

    def _fresh(self, change: Change) -> File | None:
        """Read a file; None when it has no change to commit, is too large or cannot be read."""
        try:
            file = _read_file(self._root, change)
        except PermissionError as error:
            rule = gate.DISK if isinstance(error, UnreadableError) else gate.UNREADABLE
            self._held_back += [HeldBack(change.path, 1, rule)] * self._wanted.has(change.path)
            self._has_unread |= change.kind == "added"  # else its name is in history
            return None
        is_missing = file is None or change.kind == "deleted"
        if is_missing and change.kind != "added" and (link := unreadable.link_to(self._root, change.path)):
            held_back = HeldBack(link, 1, gate.LINK)
            self._held_back += [held_back] * (self._wanted.has(change.path) and held_back not in self._held_back)
            return None
        if file and change.kind == "deleted" and unreadable.is_elsewhere(self._root, change.path):
            self._held_back += [HeldBack(change.path, 1, gate.ELSEWHERE)] * self._wanted.has(change.path)
            return None
        if file and len(file.data) >= disk.MAX_READ_BYTES:
            self._held_back += [HeldBack(change.path, 1, gate.TOO_LARGE)] * self._wanted.has(change.path)
            return None
        may_be_empty = self._wanted.only is not None or change.path in self._wanted.accept  # somebody emptied it
        if file and change.kind == "changed" and not may_be_empty and gate.is_emptied(change.path, file.data):
            self._held_back += [HeldBack(change.path, 1, gate.EMPTIED)] * self._wanted.has(change.path)
            return None
        if file and change.kind == "changed" and objects.blob_id(file.data, change.oid) == change.oid:
            self._converted = True
            return None
        return file

    def _pass(self, file: File | None) -> None:
        """Add a file to the batch if it passes the gate."""
        if file is None:
            return
        path = file.change.path
        is_free = path in self._wanted.accept or file.change.kind == "deleted"  # history has its name already
        held_back = None if is_free else self._gate.look(path, file.data)
        if held_back:
            before = objects.contents(self._repo, [file.change.oid]).get(file.change.oid, b"")
            self._held_back.append(held_back._replace(in_history=self._gate.is_known(file.data, before)))
        else:
            self._files.append(file._replace(meta={key: file.meta[key] for key in NEEDED if key in file.meta}))
            self.room -= len(file.data)


def _may_take(config: Config, change: Change) -> bool:
    """Whether a file beside notes may be committed: not if it is hidden or a new link, which doctor lists."""
    if change.kind == "deleted" and unreadable.is_placeholder(change.path):
        return True  # earlier versions committed these
    is_new_link = change.kind == "added" and Path(config.vault, change.path).is_symlink()
    return attachments.is_visible(change.path, config.settings) and not is_new_link


def _pages_last(change: Change) -> tuple[bool, str]:
    return journal.is_page(change.path), change.path


def _read_file(root: str, change: Change) -> File | None:
    """Read one changed file; None when there is nothing to commit (yet)."""
    data = disk.read_file(root, change.path)
    if change.kind == "deleted":
        return File(change, b"", {}) if data is None else None
    if data is None:
        return None  # deleted since, or a link
    return File(change, data, private.meta_of(change.path, data) if changes.is_own(change.path) else {})


def _unnaming(root: str, page: File, names: Collection[str], marker: str) -> File | None:
    """Take private notes off a page that is not private; None when the page has no other change."""
    data = pages.without(root, page.change.path, page.data, names, marker)
    if data != page.data:
        with disk.open_parent(root, page.change.path) as folder:
            disk.replace(folder, page.change.path.rpartition("/")[2], page.data, data, durable=False)
    if objects.blob_id(data, page.change.oid) == page.change.oid:
        return None
    return File(page.change, data, note.parse(data).meta)
