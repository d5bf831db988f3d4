"""Which notes link to another one: by its id, a citation, a wikilink or its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.vault import links
from mdmem.views import rows

if TYPE_CHECKING:
    from mdmem.search.index.view import View
    from mdmem.views.rows import NoteRow

MOST = 100
"""Maximum number of notes listed, newest first."""


def backlinks(view: View, path: str, name: str) -> list[NoteRow]:
    """Return the notes that link to the one at `path`, whose id is `name`, the newest first.

    What mdmem lists on pages of sessions and projects is not a link.
    """
    stem = links.stem(path.lower())
    terms = {name.lower(), stem, stem.rpartition("/")[2]} - {""}
    found = view.with_any(f"link:{term}" for term in terms) - view.internal
    made = [rows.row(view, number) for number in rows.in_order(view, found)[::-1][: MOST + 1]]
    return [row for row in made if row.path != path][:MOST]
