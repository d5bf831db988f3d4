"""The contents of a digest: sessions, answers, decisions, failures, fixes, open and closed work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
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
        return sum(one.seconds for one in self.sessions)

    def of(self, sessions: Iterable[LoggedSession], since: str, until: str) -> DigestNotes:
        """Return the part that belongs to these sessions and to a shorter span."""
        kept = list(sessions)
        names = {one.session for one in kept}
        return DigestNotes(
            since,
            until,
            kept,
            self.answers,
            [row for row in self.decided if since <= row.created < until],
            [row for row in self.written if since <= row.created < until],
            [row for row in self.failed if row.session in names],
            [one for one in self.fixed if since <= one.created < until],
            [one for one in self.left if since <= one.created < until],
            [one for one in self.closed if since <= one.created < until],
        )

    def as_object(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "since": self.since,
            "until": self.until,
            "seconds": round(self.seconds),
            "sessions": [{**one._asdict(), "answer": self.answers.get(one.session)} for one in self.sessions],
            "decisions": self.decided,
            "notes": self.written,
            "failures": self.failed,
            "fixes": self.fixed,
            "open_work": self.left,
            "closed_work": self.closed,
        }


def collect(config: Config, asked: Query, project: str = "", session: str = "") -> DigestNotes:
    """Return what happened in the span of a query. session: only this one."""
    first = asked.since or 0.0
    last = asked.until if asked.until is not None else datetime.now().astimezone().timestamp()
    since, until = timestamps.iso_time(first) if asked.since is not None else "", timestamps.iso_time(last)
    early = timestamps.iso_time(max(first - LONGEST_SESSION.total_seconds(), 0))
    held = session_log.sessions(config, project=project, since=early, session=session)
    sessions = [one for one in held if one.ended >= since and one.started <= until]

    answers: dict[str, str] = {}

    def answer(view: View) -> tuple[list[NoteRow], frozenset[str]]:
        answers.clear()
        marked = view.notes("facet", "is:private")
        noted = []
        for number in rows.select(view, config.vault, asked):
            row = rows.row(view, number)
            if (session and row.session != session) or (number in marked and not _may_be_shared(config, row.path)):
                continue
            if row.kind == "response":
                answers.setdefault(row.session, row.id)
            if row.kind in note.WRITTEN or row.success is False:
                noted.append(row)
        return noted, frozenset(decisions.noted_as(view, decisions.KINDS))

    noted, kept = rows.ask(config, answer)
    solved = fixes.fixes(config, project=project, limit=MAX_FIXES)
    own = [row for row in reversed(noted) if row.kind in note.WRITTEN]

    def within(items: Iterable[Any]) -> Iterator[Any]:
        there = (one for one in items if since <= one.created <= until and (not session or one.session == session))
        return (one for one in there if _may_be_shared(config, one.path))

    return DigestNotes(
        since,
        until,
        sessions[::-1],
        answers,
        [row for row in own if row.path in kept],
        [row for row in own if row.path not in kept],
        [row for row in noted if row.success is False],
        list(within(solved)),
        list(within(work.open_work(config, project, now=last))),
        list(within(work.closed(config, project, now=last))),
    )


def _may_be_shared(config: Config, path: str) -> bool:
    """Whether a note may be in a digest, which people pass on: not if its front matter marks it as private."""
    return not people.keeps_private(note.load(config.vault, path).meta)
