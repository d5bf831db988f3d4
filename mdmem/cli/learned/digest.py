"""`digest`: a session, a day or a week summed up as markdown, from the notes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mdmem.cli.terminal import options, render
from mdmem.errors import UsageError
from mdmem.views.digests.markdown import PERIODS

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.views.digests.collected import DigestNotes


@click.command()
@click.argument("session", default="", shell_complete=options.sessions)
@options.window
@options.project
@click.option("--by", type=click.Choice(PERIODS), default="session", show_default=True, help="Roll up by day or week.")
@click.option("--for-agent", is_flag=True, help="What SESSION said, with citations, in 8,000 characters at most.")
@options.as_json("an object with the sessions, decisions, notes, failures, fixes, open and closed work")
@click.pass_obj
def digest(
    given_vault: str | None,
    /,
    session: str,
    project: str | None,
    by: str,
    for_agent: bool,
    as_json: bool,
    **when: str | None,
) -> None:
    """Sum up what was asked, what came out, decisions, work, fixes and files, as markdown. No model is asked.

    Without a time, it is about the last 24 hours. SESSION is an id or its beginning, a note in it, or `latest`.

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
    click.echo(render.as_json(found.as_object()) if as_json else render.safe(text), nl=as_json)


def _of_time(settings: Config, project: str, by: str, when: dict[str, str | None]) -> tuple[DigestNotes, str]:
    from mdmem.views.digests import collected, markdown

    if not when["since"] and not when["on"]:
        when["since"] = "1d"
    found = collected.collect(settings, options.query({**when, "project": project or None}), project)
    return found, markdown.write(found, by)


def _of_session(settings: Config, name: str, project: str, *, for_agent: bool) -> tuple[DigestNotes, str]:
    from mdmem.search.query import Query
    from mdmem.vault import disk
    from mdmem.views import conversation
    from mdmem.views.digests import bounded, collected, markdown

    said = conversation.read(settings, name, project=project)
    if not said.times:
        raise UsageError(f"The session {name!r:.60} has no notes. `mdmem sessions` lists those that have.")
    span = Query(since=disk.epoch(said.times[0]), until=disk.epoch(said.times[-1]) + 1)
    found = collected.collect(settings, span, said.fact("project"), said.session)
    return found, bounded.for_agent(settings, said, found) if for_agent else markdown.write(found)
