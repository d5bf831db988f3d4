"""`digest`: a day or a week summed up as markdown, from the notes alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mdmem.cli.terminal import options, render
from mdmem.vault import disk, note
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.history.session_log import LoggedSession
    from mdmem.learn.fixes import Fix
    from mdmem.learn.work import OpenItem
    from mdmem.search.index.view import View
    from mdmem.search.query import Query
    from mdmem.views.rows import NoteRow

MAX_ASKS = 12
MAX_FILES = 12
MAX_FIXES = 100
LONGEST_SESSION = timedelta(days=7)
"""A session that began so long before the time asked for is still looked at: it may have gone on until then."""


class DigestNotes(NamedTuple):
    """What happened in a span of time. written: people's own notes; failed: runs of tools that failed, newest first.

    fixed: errors that were solved. left: work that began in it and is still open.
    """

    since: str
    until: str
    sessions: list[LoggedSession]
    answers: dict[str, str]
    written: list[NoteRow]
    failed: list[NoteRow]
    fixed: list[Fix]
    left: list[OpenItem]


@click.command()
@options.window
@options.project
@options.as_json("an object with the sessions, notes and failures")
@click.pass_obj
def digest(given_vault: str | None, /, project: str | None, as_json: bool, **when: str | None) -> None:
    """Sum up what was asked, answered, changed, written and failed since a time, as markdown. No model is asked.

    Without a time, it is about the last 24 hours.

    \b
    Example:  mdmem digest --since monday --project notes-app > week.md
    """
    if not when["since"] and not when["on"]:
        when["since"] = "1d"
    asked = options.query({**when, "project": project})
    found = collect(options.settings(given_vault), asked, project or "")
    click.echo(render.as_json(_as_object(found)) if as_json else write(found), nl=as_json)


def collect(config: Config, asked: Query, project: str) -> DigestNotes:
    """Gather what happened in the span of a query."""
    from mdmem.history import session_log
    from mdmem.learn import fixes, work
    from mdmem.views import rows

    first = asked.since or 0.0
    last = asked.until if asked.until is not None else datetime.now().astimezone().timestamp()
    since, until = disk.iso_time(first), disk.iso_time(last)
    early = disk.iso_time(max(first - LONGEST_SESSION.total_seconds(), 0))
    sessions = [
        one
        for one in session_log.sessions(config, project=project, since=early)
        if one.ended >= since and one.started <= until
    ]

    def answer(view: View) -> list[NoteRow]:
        return [rows.row(view, number) for number in rows.select(view, config.vault, asked)]

    noted = rows.ask(config, answer)
    return DigestNotes(
        since,
        until,
        sessions[::-1],
        {row.session: row.id for row in reversed(noted) if row.kind == "response"},
        [row for row in reversed(noted) if row.kind in note.WRITTEN],
        [row for row in noted if row.success is False],
        [one for one in fixes.fixes(config, project=project, limit=MAX_FIXES) if since <= one.created <= until],
        [one for one in work.open_work(config, project, now=last, update=False) if since <= one.created <= until],
    )


def _as_object(found: DigestNotes) -> dict[str, Any]:
    return {
        "since": found.since,
        "until": found.until,
        "sessions": [{**one._asdict(), "answer": found.answers.get(one.session)} for one in found.sessions],
        "notes": [row._asdict() for row in found.written],
        "failures": [row._asdict() for row in found.failed],
        "fixes": [one._asdict() for one in found.fixed],
        "open_work": [one._asdict() for one in found.left],
    }


def write(found: DigestNotes) -> str:
    """Write what happened as markdown, by project, each session in the order of its beginning."""
    lines = [f"# {wording.date_and_time(found.since)} to {wording.date_and_time(found.until)}", "", _summary(found)]
    by_project = sorted(found.sessions, key=lambda one: one.project)
    for project, group in groupby(by_project, key=lambda one: one.project):
        lines += ["", f"## {project or 'Without a project'}"]
        for one in group:
            lines += ["", *_session(one, found)]
    if found.written:
        lines += ["", "## Notes written", ""]
        lines += [f"- {_plain(row.title)} [mem:{row.id}]" for row in found.written]
    if found.fixed:
        lines += ["", "## Fixes", ""]
        lines += [f"- {_plain(one.error or one.command)}: {_files(one.files)} [mem:{one.id}]" for one in found.fixed]
    if found.left:
        lines += ["", "## Left open", ""]
        lines += [f"- [ ] {_plain(one.text)} ({one.kind}) [mem:{one.id}]" for one in found.left]
    return "\n".join(lines) + "\n"


def _files(files: list[str]) -> str:
    return ", ".join(f"`{file}`" for file in files[:MAX_FILES])


def _summary(found: DigestNotes) -> str:
    if not (found.sessions or found.written):
        return "Nothing was stored in this time."
    projects = len({one.project for one in found.sessions})
    prompts = sum(len(one.asks) for one in found.sessions)
    parts = [
        f"{wording.number(len(found.sessions), 'session')} in {wording.number(projects, 'project')}",
        wording.number(prompts, "prompt"),
        wording.number(len(found.failed), "failed run"),
        wording.number(len(found.written), "note") + " written",
    ]
    return ", ".join(parts) + "."


def _session(one: LoggedSession, found: DigestNotes) -> Iterator[str]:
    branch = f", on `{one.branch}`" if one.branch else ""
    took = wording.between(one.started, one.ended)
    yield f"### {wording.date_and_time(one.started)} {_plain(one.title)}"
    yield ""
    yield f"{one.agent or 'An agent'}{branch}{f', {took}' if took else ''}, {wording.number(one.notes, 'note')}"
    yield ""
    from mdmem.learn import work

    asks = [ask for ask in one.asks if not work.says_little(ask)]
    for ask in asks[:MAX_ASKS]:
        yield f"- Asked: {_plain(ask)}"
    if len(asks) > MAX_ASKS:
        yield f"- and {len(asks) - MAX_ASKS} prompts more"
    if one.outcome:
        citation = f" [mem:{found.answers[one.session]}]" if one.session in found.answers else ""
        yield f"- Outcome: {_plain(one.outcome)}{citation}"
    if one.files:
        more = f" and {len(one.files) - MAX_FILES} more" if len(one.files) > MAX_FILES else ""
        yield f"- Changed: {', '.join(f'`{file}`' for file in one.files[:MAX_FILES])}{more}"
    failed = [row for row in found.failed if row.session == one.session]
    if failed:
        yield f"- Failed: {'; '.join(f'{_plain(row.title)} [mem:{row.id}]' for row in failed[:3])}" + (
            f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        )


def _plain(title: str) -> str:
    """Keep a title from being read as a link, as HTML or as code that never ends."""
    text = " ".join(render.safe(title).split())
    marks = "\\[]<" if text.count("`") % 2 == 0 else "\\[]<`"
    return "".join(f"\\{c}" if c in marks else c for c in text)
