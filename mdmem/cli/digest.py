"""`digest`: a session, a day or weeks summarized as Markdown."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

import click

from mdmem import timestamps, when
from mdmem.cli.terminal import completions, options, progress, render
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.search.query import Query
from mdmem.views import conversation
from mdmem.views.digests import collected, markdown
from mdmem.views.digests.collected import DigestNotes

if TYPE_CHECKING:
    from mdmem.views.digests.prose import DigestProse


@click.command()
@click.argument("session", default="", shell_complete=completions.sessions)
@options.window
@options.project
@click.option(
    "--by",
    type=click.Choice(["session", "day", "week", "month"]),
    default="session",
    show_default=True,
    help="Roll up by day, week or month.",
)
@click.option(
    "--for-agent", is_flag=True, help="Print SESSION for an agent, with citations, in at most 8,000 characters."
)
@click.option("--prose/--no-prose", default=None, help="Have a model write a first paragraph (default: learn.prose).")
@options.as_json(
    "an object: since, until, seconds, sessions, decisions, notes, failures, fixes, open_work, closed_work"
)
@options.in_vault
def digest(
    config: Config,
    /,
    session: str,
    project: str,
    by: str,
    for_agent: bool,
    prose: bool | None,
    as_json: bool,
    **when: str,
) -> None:
    """Summarize prompts, outcomes, decisions, open work, fixes and files as Markdown, from the notes alone.

    With --prose or `learn.prose`, a model that you chose adds a paragraph (`mdmem help learn`). Without a time,
    it covers the last 24 hours. SESSION is an id or its beginning, a note in it, or `latest`.

    \b
    Example:  mdmem digest --since monday --project notes-app > week.md
              mdmem digest --since 60d --by week
              mdmem digest latest
    """
    if session or for_agent:
        _refuse_beside_session(
            by, when, "" if session else "--for-agent is for one session, the latest if none is named"
        )
        notes, text = _of_session(config, session or "latest", project, for_agent=for_agent)
    else:
        with progress.ProgressBar("Reading sessions", shown=not as_json):
            notes, text = _of_time(config, project, by, when)
    value = notes.as_object()
    added = _prose(config, notes) if _wants_prose(config, prose, for_agent) else None
    if added and added.text:
        value["prose"] = added
        head, _, body = text.partition("\n")
        text = f"{head}\n\n{added.text}\n\n*Written by {added.model}; what follows is from the notes.*\n{body}"
    click.echo(render.as_json(value) if as_json else render.safe(text), nl=as_json)


def _refuse_beside_session(by: str, when: dict[str, str], why: str) -> None:
    options_given = ["by"] if by != "session" else [key for key, value in when.items() if value]
    if options_given:
        why = why or "a digest is of one session, or of a time"
        raise UsageError(f"--{options_given[0]} does not go with a session: {why}.")


def _wants_prose(config: Config, prose: bool | None, for_agent: bool) -> bool:
    if prose and for_agent:
        raise UsageError("--for-agent does not go with --prose: the agent that reads it can write its own.")
    return not for_agent and (config.settings.learn.prose if prose is None else prose)


def _prose(config: Config, notes: DigestNotes) -> DigestProse:
    """Have a model write the paragraph; if there is none, print why."""
    from mdmem.views.digests import prose

    paragraph = prose.write(config, notes, now=time.time())
    if paragraph.problem:
        click.echo(f"No model wrote a paragraph. {paragraph.problem}", err=True)
    return paragraph


def _of_time(config: Config, project: str, by: str, when: dict[str, str]) -> tuple[DigestNotes, str]:
    if not any(when.values()):
        when["since"] = "1d"
    asked = options.query({**when, "project": project})
    if (asked.since or 0) > options.now():
        raise UsageError(f"--since {when['since'] or when['on']} is still to come.")
    notes = collected.collect(config, asked, project, by=by)
    return notes, markdown.render(notes, by)


def _of_session(config: Config, name: str, project: str, *, for_agent: bool) -> tuple[DigestNotes, str]:
    try:
        talk = conversation.read(config, name, project=project)
    except NotFoundError:
        if not when.span(name, when.now()):
            raise
        hint = f"For that time: mdmem digest --on {shlex.quote(name):.60}"
        raise NotFoundError(f"There is no session {name!r:.60}. {hint}") from None
    if not talk.times:
        raise UsageError(f"The session {name!r:.60} has no notes. `mdmem sessions` lists those that have.")
    span = Query(since=timestamps.epoch(talk.times[0]), until=timestamps.epoch(talk.times[-1]) + 1)
    notes = collected.collect(config, span, talk.fact("project"), talk.session)
    return notes, markdown.for_agent(config, talk, notes) if for_agent else markdown.render(notes)
