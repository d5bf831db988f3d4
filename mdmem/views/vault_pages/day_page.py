"""A day's page, `days/2026-09-14.md`: its sessions by project, and the notes written on it, in all projects."""

from __future__ import annotations

import os
from itertools import groupby
from typing import NamedTuple

from mdmem import timestamps
from mdmem.capture import page
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import START_PAGE, disk, front_matter, generated, note
from mdmem.views import rows
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import listed
from mdmem.views.vault_pages.listed import Listing


class ListedDay(NamedTuple):
    """A day with its sessions, oldest first."""

    name: str
    sessions: list[SessionRow]


def days(listing: Listing) -> list[ListedDay]:
    """Return every day with sessions that may be named, newest first; a session's day is that of its folder."""
    days_by_name: dict[str, ListedDay] = {}
    for session in listing.nameable(listing.sessions):
        days_by_name.setdefault(listed.day(session), ListedDay(listed.day(session), [])).sessions.insert(0, session)
    return [days_by_name[name] for name in sorted(days_by_name, reverse=True)]


def written(listing: Listing, day: str) -> list[NoteRow]:
    """Return the notes written on a day, by the date in the notes themselves.

    That is the same on every machine, in every time zone.
    """
    view = listing.view
    numbers = (number for number in _written_near(view).get(day, ()) if listing.leaves(view.path(number)))
    candidates = [rows.row(view, number) for number in rows.in_order(view, numbers)]
    return [row for row in candidates if date_of(listing.root, row.path) == day]


def possibly_written(view: View, day: str) -> list[int]:
    """Return the notes that `written` may return, and some from adjacent days, by path, without reading them."""
    return sorted(_written_near(view).get(day, ()), key=view.path)


@cached_with_view
def _written_near(view: View) -> dict[str, list[int]]:
    """Return the written notes by each day that may be theirs."""
    numbers_of_day: dict[str, list[int]] = {}
    for number in view.of_kinds(note.WRITTEN) - view.internal:
        for day in _any_day(view.number("created", number)):
            numbers_of_day.setdefault(day, []).append(number)
    return numbers_of_day


def _any_day(seconds: float) -> set[str]:
    """Return the days of a moment in all time zones."""
    return {timestamps.iso_time(seconds + hours * 3600)[:10] for hours in (-12, 0, 14)}


def date_of(root: str, path: str) -> str:
    """Return the date in a note; "" if it has none: its file's time differs between machines."""
    return note.parse(disk.readable(root, path) or b"").fact("created")[:10]


def first(day: str) -> bytes:
    """Return a new page of a day with empty lists: the same bytes on every machine."""
    created = f"{day}T00:00:00Z"
    meta = {"id": note.make_id("day", day), "kind": "day", "title": day, "created": created, "tags": ["day"]}
    return f"{front_matter.render(meta)}\n# {day}\n\n{generated.BEGIN}\n{generated.END}\n\n## Notes\n".encode()


def lines(listing: Listing, day: ListedDay, neighbors: tuple[ListedDay | None, ListedDay | None]) -> list[str]:
    """Return the generated part. neighbors: the days before and after it that have a page."""
    before, after = neighbors
    folder = listing.day_page(day.name).rpartition("/")[0]
    has_start = os.path.lexists(f"{listing.root}/{START_PAGE}")  # the user may have moved or deleted it
    links = [listed.link("Start", START_PAGE, folder)] if has_start else []
    links += [f"previous: {listed.link(before.name, listing.day_page(before.name), folder)}"] if before else []
    links += [f"next: {listed.link(after.name, listing.day_page(after.name), folder)}"] if after else []
    by_project = sorted(day.sessions, key=lambda session: session.project)
    parts = [
        listed.section(
            page.link_text(project or "Without a project"),
            [listed.session_line(session, folder) for session in sessions],
        )
        for project, sessions in groupby(by_project, key=lambda session: session.project)
    ]
    notes = [listed.note_line(row, folder) for row in written(listing, day.name)]
    parts.append(listed.section("Written down", notes))
    return [" · ".join(links), "", *(line for part in parts for line in part)]
