"""Everything that is known of one code file: sessions, changes, failures, and what people decided about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mdmem.search import solved
from mdmem.search.index.document import path_tails
from mdmem.vault import note
from mdmem.views import rows

if TYPE_CHECKING:
    from mdmem.search.index.view import View
    from mdmem.views.rows import NoteRow


class AboutFile(NamedTuple):
    """What the notes say of a file, newest first. others: notes that name it and are none of the rest."""

    path: str
    written: list[NoteRow]
    edits: list[NoteRow]
    failures: list[NoteRow]
    others: list[NoteRow]
    total: int

    @property
    def sessions(self) -> list[str]:
        """Return the ids of the sessions that touched it, the last one first."""
        every = sorted((*self.edits, *self.failures, *self.others), key=lambda row: row.created, reverse=True)
        return list(dict.fromkeys(row.session for row in every if row.session))


def about(view: View, path: str, *, project: str = "", most: int = 100) -> AboutFile:
    """Return what names the file `path` (or a file whose path ends so). most: of each list."""
    tails = path_tails(path)
    found = view.notes("facet", f"file:{tails[0]}") if tails else set()
    found = found - view.internal - view.notes("facet", "kind:session")
    if project:
        found &= view.of_project(project) | view.notes("facet", "project:")
    failed = found & view.notes("facet", "is:failed")
    edits = found & solved.edits(view)
    written = found & view.of_kinds(note.WRITTEN)

    def part(numbers: set[int]) -> list[NoteRow]:
        return [rows.row(view, number) for number in rows.in_order(view, numbers)[::-1][:most]]

    others = part(found - failed - edits - written)
    return AboutFile(path, part(written), part(edits), part(failed), others, len(found))
