"""The contents of a digest: sessions, answers, decisions, failures, fixes, open and closed work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

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
    """What happened in a span of time. answers: the id of the last answer of each session.

    decided: decisions, lessons and preferences, by kind or tag. written: other notes that people wrote. failed: failed
    runs, newest first. fixed: errors that were solved. left: work from this span that is still open. closed: work that
    was done.
    """

    since: str
    """ISO 8601 in UTC, like `until`; "" for everything before it."""
    until: str
    sessions: list[LoggedSession]
    answers: dict[str, str]
    decided: list[NoteRow]
    written: list[NoteRow]
    failed: list[NoteRow]
    fixed: list[Fix]
    left: list[OpenItem]
    closed: list[OpenItem]

    @property
    def span(self) -> str:
        """Return its span in words, in local time."""
        until = timestamps.readable(self.until)
        return f"{timestamps.readable(self.since)} to {until}" if self.since else f"Until {until}"

    @property
    def seconds(self) -> float:
        """Return the time worked in its sessions, in seconds."""
        return sum(session.seconds for session in self.sessions)

    def of(self, sessions: Iterable[LoggedSession], since: str, until: str) -> DigestNotes:
        """Return the part that belongs to these sessions and to a shorter span."""
        members = list(sessions)
        names = {session.session for session in members}
        return DigestNotes(
            since=since,
            until=until,
            sessions=members,
            answers=self.answers,
            decided=[row for row in self.decided if since <= row.created < until],
            written=[row for row in self.written if since <= row.created < until],
            failed=[row for row in self.failed if row.session in names],
            fixed=[fix for fix in self.fixed if since <= fix.created < until],
            left=[item for item in self.left if since <= item.created < until],
            closed=[item for item in self.closed if since <= item.created < until],
        )

    def as_object(self) -> dict[str, Any]:
        """Return everything as plain values."""
        sessions = [{**session._asdict(), "answer": self.answers.get(session.session)} for session in self.sessions]
        return {
            "since": self.since,
            "until": self.until,
            "seconds": round(self.seconds),
            "sessions": sessions,
            "decisions": self.decided,
            "notes": self.written,
            "failures": self.failed,
            "fixes": self.fixed,
            "open_work": self.left,
            "closed_work": self.closed,
        }


def collect(config: Config, query: Query, project: str, session: str = "") -> DigestNotes:
    """Return what happened in the span of a query. session: only this one."""
    first = query.since or 0.0
    last = query.until if query.until is not None else timestamps.now(os.environ)
    since, until = timestamps.iso_time(first) if query.since is not None else "", timestamps.iso_time(last)
    early = timestamps.iso_time(max(first - LONGEST_SESSION.total_seconds(), 0))
    candidates = session_log.sessions(config, project=project, since=early, session=session)
    sessions = [row for row in candidates if row.ended >= since and row.started <= until]

    answers: dict[str, str] = {}

    def gather(view: View) -> tuple[list[NoteRow], frozenset[str]]:
        answers.clear()
        marked = view.notes("facet", "is:private")
        relevant = []
        for number in rows.select(view, config.vault, query):
            row = rows.row(view, number)
            if (session and row.session != session) or (number in marked and not _may_be_shared(config, row.path)):
                continue
            if row.kind == "response":
                answers.setdefault(row.session, row.id)
            if row.kind in note.WRITTEN or row.success is False:
                relevant.append(row)
        return relevant, frozenset(decisions.noted_as(view, decisions.KINDS))

    relevant, decided = rows.ask(config, gather)
    solved = fixes.fixes(config, project=project, limit=MAX_FIXES)
    written = [row for row in reversed(relevant) if row.kind in note.WRITTEN]

    def within(items: Iterable[Any]) -> Iterator[Any]:
        in_span = (
            item for item in items if since <= item.created <= until and (not session or item.session == session)
        )
        return (item for item in in_span if _may_be_shared(config, item.path))

    return DigestNotes(
        since=since,
        until=until,
        sessions=sessions[::-1],
        answers=answers,
        decided=[row for row in written if row.path in decided],
        written=[row for row in written if row.path not in decided],
        failed=[row for row in relevant if row.success is False],
        fixed=list(within(solved)),
        left=list(within(work.open_work(config, project, now=last))),
        closed=list(within(work.closed(config, project, now=last))),
    )


def _may_be_shared(config: Config, path: str) -> bool:
    """Whether a note may be in a digest, which people pass on: not if its front matter marks it as private."""
    return not people.keeps_private(note.load(config.vault, path).meta)
