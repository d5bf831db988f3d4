"""Timeline: sessions by day below a calendar of the year."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from starlette.responses import Response

from mdmem.search.index.view import View
from mdmem.vault import note
from mdmem.views import sessions
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

SIZE = 40
"""Sessions on a page."""
FLAGS = ("failed", "edits", "private")
_WEEKS = 53
_DAY_SECONDS = 25 * 3600
"""A long day: in autumn it has an hour more."""


class Day(NamedTuple):
    """A square of the calendar. column, row: its place. level: how busy it was, 0 to 4."""

    day: str
    notes: int
    level: int
    column: int
    row: int


class Calendar(NamedTuple):
    """A year of days. months: column and name. busy: number of days with notes."""

    days: list[Day]
    months: list[tuple[int, str]]
    total: int
    busy: int


def timeline(request: PageRequest) -> Response:
    """Show the sessions that match the filters, newest first."""
    chosen = {key: request.query.get(key, "") for key in ("project", "agent", "on", *FLAGS)}
    table = sessions.table(request.view)
    matching = [row for row in table if fits(row, chosen)]
    before, after = neighbors(table, chosen, _written_days(request.view, chosen)) if chosen["on"] else ("", "")
    part = shared.part(len(matching), request.number("page"), SIZE)
    return request.page(
        "timeline",
        chosen=chosen,
        days={day: list(rows) for day, rows in groupby(matching[part.start : part.end], key=lambda row: row.day)},
        part_of=part,
        written=_written(request.view, chosen),
        calendar=calendar(sessions.by_day(request.view, chosen["project"])),
        projects=sorted({row.project for row in table if row.project}),
        agents=sorted({row.agent for row in table if row.agent}),
        narrowed=any(chosen.values()),
        before=before,
        after=after,
    )


def neighbors(table: Sequence[SessionRow], chosen: dict[str, str], written: Iterable[str]) -> tuple[str, str]:
    """Return the days before and after the chosen one with sessions that match the other filters; "" for none.

    written: other days that count, those with written notes.
    """
    days = {*(row.day for row in table if fits(row, {**chosen, "on": ""})), *written}
    day = chosen["on"]
    return max((one for one in days if one < day), default=""), min((one for one in days if one > day), default="")


def _written_days(view: View, chosen: dict[str, str]) -> Iterable[str]:
    """Return the days with written notes, if the page shows those."""
    return sessions.written_by_day(view, chosen["project"]) if _shows_written(chosen) else ()


def _shows_written(chosen: dict[str, str]) -> bool:
    return not any(chosen[key] for key in ("agent", *FLAGS))


def _written(view: View, chosen: dict[str, str]) -> list[NoteRow]:
    """Return the notes written on the chosen day, which the calendar counts too."""
    try:
        start = datetime.fromisoformat(chosen["on"]).timestamp()
    except (ValueError, OverflowError, OSError):
        return []
    if not _shows_written(chosen):
        return []
    created, end = view.numbers("created"), start + _DAY_SECONDS
    numbers = {number for number in view.of_kinds(note.WRITTEN) if start <= created[number] < end}
    return shared.newest(view, numbers, day=chosen["on"], project=chosen["project"], most=SIZE)


def fits(row: SessionRow, chosen: dict[str, str]) -> bool:
    """Whether a session matches the page's filters."""
    return (
        chosen["project"] in ("", row.project)
        and chosen["agent"] in ("", row.agent)
        and chosen["on"] in ("", row.day)
        and all(not chosen[flag] or getattr(row, flag) for flag in FLAGS)
    )


def calendar(counts: dict[str, int], today: date | None = None) -> Calendar:
    """Return the year up to today, or up to the last note if that is more than a year ago."""
    last = today or date.today()  # noqa: DTZ011 - days are the user's
    newest = max(counts, default="")
    if newest and newest < (last - timedelta(days=364)).isoformat():
        last = date.fromisoformat(newest)
    first = last - timedelta(days=last.weekday(), weeks=_WEEKS - 1)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    count_of_day = {day.isoformat(): counts.get(day.isoformat(), 0) for day in days}
    steps = _steps([count for count in count_of_day.values() if count])
    cells = [
        Day(name, count, sum(count > step for step in steps) + 1 if count else 0, number // 7, number % 7)
        for number, (name, count) in enumerate(count_of_day.items())
    ]
    months = [(number // 7, f"{day:%b}") for number, day in enumerate(days) if day.day == 1]
    return Calendar(cells, months, sum(count_of_day.values()), sum(count > 0 for count in count_of_day.values()))


def _steps(counts: list[int]) -> list[int]:
    """Return the counts above which a day looks busier: quartiles of the days, or quarters of the maximum of a few."""
    ordered = sorted(counts)
    if len(ordered) < 8:
        return [ordered[-1] * quarter // 4 for quarter in (1, 2, 3)] if ordered else []
    return [ordered[len(ordered) * quarter // 4] for quarter in (1, 2, 3)]
