"""What several pages share: the newest of some notes, and parts of a list."""

from __future__ import annotations

from typing import NamedTuple

from mdmem.search.index.view import View
from mdmem.views import rows, wording
from mdmem.views.rows import NoteRow


class PagePart(NamedTuple):
    """A part of a list: page `page` of `pages`, counted from 1, of `total` entries."""

    page: int
    pages: int
    total: int
    start: int
    end: int


def part(total: int, page: int, size: int) -> PagePart:
    """Return the part that a page number selects; a number that is too large selects the last page."""
    pages = max(-(-total // size), 1)
    page = min(page, pages)
    return PagePart(page, pages, total, (page - 1) * size, min(page * size, total))


def newest(view: View, numbers: set[int], *, day: str = "", project: str = "", most: int = 10) -> list[NoteRow]:
    """Return the newest of these notes, optionally of one local day or project; never internal memories."""
    candidates = numbers - view.internal
    if project:
        candidates &= view.of_project(project)
    newest_rows = []
    for number in rows.in_order(view, candidates)[::-1]:
        row = rows.row(view, number)
        if day and wording.day(row.created) != day:
            if wording.day(row.created) < day:
                break
            continue
        newest_rows.append(row)
        if len(newest_rows) == most:
            break
    return newest_rows
