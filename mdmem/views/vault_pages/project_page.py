"""A project's page: decisions, open work, most touched files, and sessions by month."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, islice

from mdmem.capture import page
from mdmem.learn.work import OpenItem
from mdmem.vault import JOURNAL
from mdmem.views import sessions
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import listed, open_work
from mdmem.views.vault_pages.listed import Listing

MAX_FILES = 15
_EDITS = 5_000
"""Number of newest edits from which files are counted."""


def names_of(listing: Listing, name: str) -> set[str]:
    """Return the names that notes use for the project whose folder has this name."""
    sessions_here = (session.project for session in listing.sessions if session.page.startswith(f"{JOURNAL}/{name}/"))
    return {name, *islice(sessions_here, 1)}


def lines(listing: Listing, name: str, open_items: Iterable[OpenItem]) -> list[str]:
    """Return the generated part of the page of the project whose folder has this name. open_items: its open work."""
    folder = f"{JOURNAL}/{name}"
    sessions_here = [session for session in listing.sessions if session.page.startswith(f"{folder}/")]
    names = names_of(listing, name)
    decisions = {row.path: row for project in sorted(names) for row in listing.notes(listed.DECISIONS, project)}
    parts = [
        listed.section("Decisions", [listed.note_line(row, folder) for row in decisions.values()]),
        open_work.section(open_items, folder),
        listed.section("Files touched most", _files(listing, names)),
        *_months(listing.nameable(sessions_here), folder),
    ]
    generated_lines = [line for part in parts for line in part]
    return ["", *generated_lines] if generated_lines else []


def _months(sessions_here: Iterable[SessionRow], folder: str) -> list[list[str]]:
    def month(session: SessionRow) -> str:
        return listed.day(session)[:7]

    # Of two machines in different zones, one may begin a month while the other is in the last.
    months = groupby(sorted(sessions_here, key=month, reverse=True), key=month)
    return [
        listed.section(f"Sessions in {month}", [listed.session_line(session, folder) for session in of_month])
        for month, of_month in months
    ]


def _files(listing: Listing, names: set[str]) -> list[str]:
    """Return the most changed files, with the number of changes."""
    of_project = set[int]().union(*map(listing.view.of_project, names)) - listing.uncounted
    counted = sessions.files_changed_most(listing.view, of_project, edits=_EDITS, most=MAX_FILES)
    return [f"- {page.code(file)} ×{count}" for file, count in counted]
