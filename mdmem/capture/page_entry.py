"""Page entry: one note as the session page shows it, from the session's record if that has the facts, else the note."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.capture.session import changed_files, kind_of, made_commit
from mdmem.vault import disk, front_matter, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.session import Session

_MAX_STRAYS = 500
"""Maximum number of other files that are read to find a renamed note."""

_TITLED = ("prompt", "summary")


class PageEntry:
    """One note as a line of the page.

    name: the file's current name. numbers: prompt and sequence. kind: the note's kind, or `subagent` for a sub-agent's
    answer. moment: when it was made, in seconds since the epoch (0: unknown). commit: what the run committed.
    files: those it changed.
    title, branch, head: set only for prompts and summaries, which are read again because a person may change a title.
    """

    __slots__ = ("branch", "commit", "files", "head", "kind", "moment", "name", "numbers", "success", "title")

    def __init__(self, name: str, place: tuple[int, ...]) -> None:
        self.name = name
        self.numbers = place
        self.kind = "observation"
        self.moment = 0.0
        self.title = self.branch = self.head = self.commit = ""
        self.success = True
        self.files: list[str] = []


def of_session(session: Session, folder: disk.Folder) -> list[PageEntry]:
    """Return the session's notes that are still in its folder, in order; a renamed note has its new name."""
    present = set(journal.names_with_parts(folder))
    placed = session.placed() or sorted((place, [name]) for name in present if (place := journal.numbers(name)))
    known = {line[0] for _, line in placed}
    new_names = _renamed(folder, [line[0] for _, line in placed if line[0] not in present], present - known)
    entries = []
    for place, line in placed:
        name = line[0] if line[0] in present else new_names.get(line[0])
        if name is not None:
            entries.append(_entry(folder, name, place, line))
    return entries


def read(folder: disk.Folder, name: str) -> PageEntry:
    """Read a note as an entry; an unreadable one becomes an observation without facts."""
    entry = PageEntry(name, journal.numbers(name))
    meta = _meta(folder, name)
    entry.kind = kind_of(meta)
    entry.title = str(meta.get("title", "")) or name
    entry.moment = timestamps.epoch(str(meta.get("created", "")))
    entry.branch, entry.head = str(meta.get("branch", "")), str(meta.get("commit", ""))
    entry.success = meta.get("success") is not False
    entry.commit = made_commit(meta)
    entry.files = changed_files(meta)
    return entry


def _meta(folder: disk.Folder, name: str) -> dict[str, Any]:
    """Return a note's front matter, without parsing the rest."""
    return front_matter.of((disk.read(folder, name) or b"")[: front_matter.MAX_CHARS])


def _entry(folder: disk.Folder, name: str, place: tuple[int, ...], line: list[str]) -> PageEntry:
    if len(line) < 6 or line[1] in _TITLED:
        entry = read(folder, name)
        entry.numbers = place
        return entry
    entry = PageEntry(name, place)
    _, entry.kind, created, success, entry.commit, files, *_ = line
    entry.moment = timestamps.epoch(created)
    entry.success = success != "0"
    entry.files = files.split("\x1f") if files else []
    return entry


def _renamed(folder: disk.Folder, gone: list[str], strays: set[str]) -> dict[str, str]:
    """Map missing notes to the files they were renamed to: a renamed note keeps its id."""
    name_of_id = {journal.id_in(name): name for name in gone}
    new_names = {}
    page = journal.page_in(folder)
    pages = sorted(name for name in strays if name.endswith(".md") and name != page and name[0] != ".")
    for name in pages[:_MAX_STRAYS] if name_of_id else []:
        note_id = journal.id_in(name)
        if note_id not in name_of_id:
            note_id = str(_meta(folder, name).get("id", ""))
        if note_id in name_of_id:
            new_names[name_of_id[note_id]] = name
    return new_names
