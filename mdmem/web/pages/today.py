"""Today: sessions of the day, newest first, with what was injected, and alarms about queued and lost notes."""

from __future__ import annotations

import time
from typing import NamedTuple

from starlette.responses import Response

from mdmem import timestamps
from mdmem.search.index.view import View
from mdmem.vault import note
from mdmem.views import injections, rows, sessions, storing, wording
from mdmem.views.injections import Injection
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

SHOWN_NOTES = 8
"""Maximum number of notes shown per session; its page has all of them."""

MAX_WRITTEN = 1_000
"""Maximum number of written notes of a day that are counted."""

SHOWN_SESSIONS = 20
EARLIER_SESSIONS = 5


class Card(NamedTuple):
    """A session of the day. latest: its newest notes, newest first. more: number of its other notes."""

    session: SessionRow
    latest: list[NoteRow]
    more: int
    given: list[Injection]

    @property
    def version(self) -> str:
        """A key that changes whenever the card would look different."""
        return f"{self.session.notes}-{self.session.ended}-{sum(1 + len(injection.cited) for injection in self.given)}"


def today(request: PageRequest) -> Response:
    """Show today, or the last day with notes if there are none today."""
    table = sessions.table(request.view)
    now = timestamps.local_day(time.time())
    ended = [(wording.day(row.ended), row) for row in table]
    written_days = [each for each in sessions.written_by_day(request.view) if each <= now]
    days = {*written_days, *(last for last, _ in ended)}
    day = now if now in days else max(days, default=now)
    written = _written(request.view, day)
    session_rows = sorted((row for last, row in ended if last == day), key=lambda row: row.ended, reverse=True)
    log = [row for row in injections.log(request.config) if wording.day(str(row.get("time", ""))) == day]
    given = injections.read(request.view, log)
    cards = [_card(request, row, given) for row in session_rows[:SHOWN_SESSIONS]]
    before = [row for last, row in ended if last < day][:EARLIER_SESSIONS]
    return request.page(
        "today",
        day=day,
        is_today=day == now,
        cards=cards,
        before=before,
        previous=max((each for each in {*written_days, *(row.day for row in table)} if each < day), default=""),
        left_out=len(session_rows) - len(cards),
        loose=written[:SHOWN_NOTES],
        more_loose=len(written[SHOWN_NOTES:]),
        alarms=storing.alarms(request.config),
        figures=_figures(session_rows, given),
        empty=not (table or written),
    )


def _written(view: View, day: str) -> list[NoteRow]:
    """Return the notes that people and agents wrote on a day."""
    return shared.newest(view, view.of_kinds(note.WRITTEN), day=day, most=MAX_WRITTEN)


def _card(request: PageRequest, row: SessionRow, given: list[Injection]) -> Card:
    view = request.view
    notes = view.of_session(row.session) - view.notes("facet", "kind:session")
    notes -= view.internal
    newest = rows.in_order(view, notes)[::-1]
    latest = [rows.row(view, number) for number in newest[:SHOWN_NOTES]]
    of_session = [injection for injection in given if injection.session == row.session]
    return Card(row, latest, max(len(newest) - SHOWN_NOTES, 0), of_session)


def _figures(session_rows: list[SessionRow], given: list[Injection]) -> dict[str, int]:
    return {
        "sessions": len(session_rows),
        **{key: sum(getattr(row, key) for row in session_rows) for key in ("prompts", "runs", "failed", "edits")},
        "given": sum(len(injection.ids) for injection in given),
        "cited": sum(len(injection.cited) for injection in given),
    }
