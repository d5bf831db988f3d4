"""Page entry: one note as the session page shows it, from the session's record if that has the facts, else the note."""

from __future__ import annotations

from mdmem.capture.session import changed_files, kind_of, made_commit
from mdmem.vault import disk, front_matter, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.capture.session import Session

_MAX_STRAYS = 500
"""Maximum number of other files that are read to find a renamed note."""

_TITLED = ("prompt", "summary")


class PageEntry:
    """One note as a line of the page.

    name: the file's current name. numbers: prompt and sequence. kind: the note's kind, or `subagent` for a sub-agent's
    answer. created: as written in the note. commit: what the run committed. files: those it changed.
    title, branch, head: set only for prompts and summaries, which are read again because a person may change a title.
    """

    __slots__ = ("branch", "commit", "created", "files", "head", "kind", "name", "numbers", "success", "title")

    def __init__(self, name: str, place: tuple[int, ...]) -> None:
        self.name = name
        self.numbers = place
        self.kind = "observation"
        self.created = self.title = self.branch = self.head = self.commit = ""
        self.success = True
        self.files: list[str] = []


def of_session(session: Session, folder: disk.Folder) -> list[PageEntry]:
    """Return the session's notes that are still in its folder, in order; a renamed note has its new name."""
    here = set(journal.notes_in(folder))
    known = session.published()
    listed = known or [[name] for name in sorted(filter(journal.numbers, here), key=journal.numbers)]
    moved = _renamed(folder, [line[0] for line in listed if line[0] not in here], here.difference(_names(listed)))
    found = []
    for line in listed:
        name = line[0] if line[0] in here else moved.get(line[0])
        if name is not None:
            found.append(_entry(folder, name, line))
    return found


def read(folder: disk.Folder, name: str) -> PageEntry:
    """Read a note as an entry; an unreadable one becomes an observation without facts."""
    found = PageEntry(name, journal.numbers(name))
    data = disk.read(folder, name) or b""
    header = front_matter.split(data[: front_matter.MAX_CHARS].decode("utf-8", "replace"))[0]
    meta = front_matter.read(header)[0] if header else {}
    found.kind = kind_of(meta)
    found.title = str(meta.get("title", "")) or name
    found.created = str(meta.get("created", ""))
    found.branch, found.head = str(meta.get("branch", "")), str(meta.get("commit", ""))
    found.success = meta.get("success") is not False
    found.commit = made_commit(meta)
    found.files = changed_files(meta)
    return found


def _entry(folder: disk.Folder, name: str, line: list[str]) -> PageEntry:
    if len(line) < 6 or line[1] in _TITLED:
        found = read(folder, name)
        found.numbers = journal.numbers(line[0])
        return found
    found = PageEntry(name, journal.numbers(line[0]))
    _, found.kind, found.created, success, found.commit, files, *_ = line
    found.success = success != "0"
    found.files = files.split("\x1f") if files else []
    return found


def _names(listed: Iterable[list[str]]) -> list[str]:
    return [line[0] for line in listed]


def _renamed(folder: disk.Folder, gone: list[str], strays: set[str]) -> dict[str, str]:
    """Map missing notes to the files they were renamed to: a renamed note keeps its id."""
    wanted = {name[-13:-3]: name for name in gone}
    found = {}
    page = journal.page_in(folder)
    pages = sorted(name for name in strays if name.endswith(".md") and name != page and name[0] != ".")
    for name in pages[:_MAX_STRAYS] if wanted else []:
        ids = name[-13:-3]
        if ids not in wanted:
            data = disk.read(folder, name) or b""
            header = front_matter.split(data[: front_matter.MAX_CHARS].decode("utf-8", "replace"))[0]
            ids = str(front_matter.read(header)[0].get("id", "")) if header else ""
        if ids in wanted:
            found[wanted[ids]] = name
    return found
