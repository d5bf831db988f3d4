"""The contents of a digest: sessions, decisions, failures, fixes, open and closed work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeVar

from mdmem import timestamps
from mdmem.config import Config
from mdmem.history import session_log
from mdmem.history.session_log import LoggedSession
from mdmem.learn import decisions, fixes, work
from mdmem.learn.work import OpenItem
from mdmem.search.index.view import View
from mdmem.search.query import Query
from mdmem.search.solved import Fix
from mdmem.vault import note, people
from mdmem.views import rows
from mdmem.views.rows import NoteRow

MAX_FIXES = 100
LONGEST_SESSION = timedelta(days=7)
"""A session that began up to this long before a span is included: it may have lasted into the span."""


class DigestNotes(NamedTuple):
    """What happened in a span of time. sessions: only what happened in it, oldest first; one for each period.

    decisions: also lessons and preferences, by kind or tag. notes: other notes that people wrote. failures: failed
    runs, newest first. fixes: errors that were solved. open_work: work from this span that is still open. closed_work:
    work that was done.
    """

    since: str
    """ISO 8601 in UTC, like `until`; "" for everything before it."""
    until: str
    sessions: list[LoggedSession]
    decisions: list[NoteRow]
    notes: list[NoteRow]
    failures: list[NoteRow]
    fixes: list[Fix]
    open_work: list[OpenItem]
    closed_work: list[OpenItem]

    @property
    def span(self) -> str:
        """Return its span in words, in local time."""
        until = timestamps.readable(self.until)
        return f"{timestamps.readable(self.since)} to {until}" if self.since else f"Until {until}"

    @property
    def seconds(self) -> float:
        """Return the time worked in its sessions, in seconds."""
        return sum(session.seconds for session in self.sessions)

    def of(self, since: str, until: str) -> DigestNotes:
        """Return the part that belongs to a shorter span."""

        def within(value: Any) -> Any:
            return [item for item in value if since <= (getattr(item, "started", "") or item.created) < until]

        _, _, *parts = self
        return DigestNotes(since, until, *map(within, parts))

    def as_object(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rest = self._asdict()
        span = {"since": rest.pop("since"), "until": rest.pop("until")}
        return {**span, "seconds": round(self.seconds), **rest}


def first_day(day: _Day, by: str) -> _Day:
    """Return the first day of the week or month of a day."""
    return day - timedelta(days={"week": day.weekday(), "month": day.day - 1}.get(by, 0))


_Day = TypeVar("_Day", bound=date)


def collect(config: Config, query: Query, project: str, session: str = "", by: str = "session") -> DigestNotes:
    """Return what happened in the span of a query. session: only this one. by: as for `markdown.render`."""
    first = query.since or 0.0
    now = timestamps.now(os.environ)
    last = query.until if query.until is not None else now
    since, until = timestamps.iso_time(first) if query.since is not None else "", timestamps.iso_time(last)
    early = timestamps.iso_time(max(first - LONGEST_SESSION.total_seconds(), 0))
    end = until if query.until is not None else timestamps.iso_time(now + 1)  # what is of this second counts

    @cache
    def period(time: str) -> str:
        is_within = (since or early) <= time < end
        if by == "session" or not is_within:
            return by if is_within else ""
        day = date.fromtimestamp(timestamps.epoch(time))  # noqa: DTZ012 - days are the user's
        return first_day(day, by).isoformat()

    logged = session_log.sessions(config, None, period, project=project, since=early, session=session)
    sessions = sorted(logged, key=lambda row: row.started)

    def gather(view: View) -> tuple[list[NoteRow], frozenset[str]]:
        marked = view.notes("facet", "is:private")
        relevant = []
        for number in rows.select(view, config.vault, query):
            row = rows.row(view, number)
            if (session and row.session != session) or (number in marked and not _may_be_shared(config, row.path)):
                continue
            if row.kind in note.WRITTEN or row.success is False:
                relevant.append(row)
        return relevant, frozenset(decisions.paths_of_kinds(view, decisions.KINDS))

    relevant, decided = rows.ask(config, gather)
    solved = fixes.fixes(config, project=project, limit=MAX_FIXES)
    written = [row for row in reversed(relevant) if row.kind in note.WRITTEN]

    def within(items: Iterable[Any]) -> list[Any]:
        in_span = (item for item in items if since <= item.created < end and session in ("", item.session))
        return [item for item in in_span if _may_be_shared(config, item.path)]

    return DigestNotes(
        since=since,
        until=until,
        sessions=sessions,
        decisions=[row for row in written if row.path in decided],
        notes=[row for row in written if row.path not in decided],
        failures=[row for row in relevant if row.success is False],
        fixes=within(solved),
        open_work=within(work.open_work(config, project, now=now)),
        closed_work=within(work.closed(config, project, now=last)),
    )


def _may_be_shared(config: Config, path: str) -> bool:
    """Whether a note may be in a digest, which people pass on: not if its front matter marks it as private."""
    return not people.keeps_private(note.load(config.vault, path).meta)
