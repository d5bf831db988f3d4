"""`digest`: a session, a day or a week summed up as markdown; with a paragraph by a model where the user wants one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from mdmem import timestamps
from mdmem.cli.terminal import options, render
from mdmem.errors import UsageError
from mdmem.views.digests.markdown import PERIODS

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.views.digests.collected import DigestNotes
    from mdmem.views.digests.prose import DigestProse


@click.command()
@click.argument("session", default="", shell_complete=options.sessions)
@options.window
@options.project
@click.option("--by", type=click.Choice(PERIODS), default="session", show_default=True, help="Roll up by day or week.")
@click.option(
    "--for-agent", is_flag=True, help="Print SESSION for an agent, with citations, in at most 8,000 characters."
)
@click.option("--prose/--no-prose", default=None, help="Have a model write a first paragraph (default: learn.prose).")
@options.as_json("an object with the sessions, decisions, notes, failures, fixes, open and closed work")
@click.pass_obj
def digest(
    given_vault: str | None,
    /,
    session: str,
    project: str | None,
    by: str,
    for_agent: bool,
    prose: bool | None,
    as_json: bool,
    **when: str | None,
) -> None:
    """Sum up what was asked, what came out, decisions, work, fixes and files, as markdown, from the notes alone.

    With --prose or `learn.prose`, a model that you chose adds a paragraph (`mdmem help learn`). Without a time,
    it covers the last 24 hours. SESSION is an id or its beginning, a note in it, or `latest`.

    \b
    Example:  mdmem digest --since monday --project notes-app > week.md
              mdmem digest --since 60d --by week
              mdmem digest latest
    """
    settings = options.settings(given_vault)
    if session or for_agent:
        found, text = _of_session(settings, session or "latest", project or "", for_agent=for_agent)
    else:
        found, text = _of_time(settings, project or "", by, when)
    value, added = found.as_object(), _prose(settings, found) if _wants_prose(settings, prose, for_agent) else None
    if added and added.text:
        value["prose"] = added._asdict()
        head, _, body = text.partition("\n")
        text = f"{head}\n\n{added.text}\n\n*Written by {added.model}; what follows is from the notes.*\n{body}"
    click.echo(render.as_json(value) if as_json else render.safe(text), nl=as_json)


def _wants_prose(settings: Config, prose: bool | None, for_agent: bool) -> bool:
    if prose and for_agent:
        raise UsageError("--for-agent is read by an agent, which writes its own prose: leave --prose out.")
    return not for_agent and (settings.settings.learn.prose if prose is None else prose)


def _prose(settings: Config, found: DigestNotes) -> DigestProse:
    """Ask a model; the user is told why there is no paragraph."""
    from mdmem.views.digests import prose

    made = prose.write(settings, found, now=time.time())
    if made.problem:
        click.echo(f"No model wrote a paragraph. {made.problem}", err=True)
    return made


def _of_time(settings: Config, project: str, by: str, when: dict[str, str | None]) -> tuple[DigestNotes, str]:
    from mdmem.views.digests import collected, markdown

    if not when["since"] and not when["on"]:
        when["since"] = "1d"
    found = collected.collect(settings, options.query({**when, "project": project or None}), project)
    return found, markdown.write(found, by)


def _of_session(settings: Config, name: str, project: str, *, for_agent: bool) -> tuple[DigestNotes, str]:
    from mdmem.search.query import Query
    from mdmem.views import conversation
    from mdmem.views.digests import bounded, collected, markdown

    said = conversation.read(settings, name, project=project)
    if not said.times:
        raise UsageError(f"The session {name!r:.60} has no notes. `mdmem sessions` lists those that have.")
    span = Query(since=timestamps.epoch(said.times[0]), until=timestamps.epoch(said.times[-1]) + 1)
    found = collected.collect(settings, span, said.fact("project"), said.session)
    return found, bounded.for_agent(settings, said, found) if for_agent else markdown.write(found)
