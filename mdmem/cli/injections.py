"""`injections`: what agents were given, when and why."""

from __future__ import annotations

from typing import Any

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import extent, options, render
from mdmem.config import Config
from mdmem.history import find
from mdmem.inject import injection_log
from mdmem.search import freshness
from mdmem.vault import journal
from mdmem.views import citations, rows
from mdmem.views import injections as injections_view


@click.command()
@options.project
@options.one_session
@options.window
@click.option("--ids", is_flag=True, help="List the memories and which of them were cited.")
@options.offset
@options.limit(20)
@options.as_json(
    "an array of objects: time, session, agent, event, why, project, query_chars, chars, tokens, ids, seconds, cited"
)
@options.in_vault
def injections(
    config: Config,
    /,
    project: str,
    session: str,
    ids: bool,
    offset: int,
    limit: int,
    as_json: bool,
    **when: str,
) -> None:
    """List what agents were given, when and why, newest first; only ids and sizes are logged.

    \b
    Example:  mdmem injections --ids
    """
    first, last = options.span(when)
    logged = [
        row
        for row in injection_log.read_log(config)
        if (not session or find.is_named(session, str(row.get("session", ""))))
        and project in ("", row.get("project"))
        and options.fits(str(row.get("time", "")), first, last)
    ]
    total = len(logged)
    logged = logged[::-1][offset : offset + limit if limit else None]
    rows.refresh(config)
    ids_given = {str(name) for row in logged for name in row.get("ids", ())}
    cited = freshness.answered(config, lambda view: citations.cited_by_session(view, ids_given)) or {}
    for row in logged:
        row["cited"] = sorted(cited.get(str(row.get("session")), set()).intersection(map(str, row.get("ids", ()))))
    if as_json:
        render.print_json(logged)
    else:
        render.table(_COLUMNS, [_row(row, with_ids=ids) for row in logged])
    if not total and any((project, session, first, last)):
        click.echo("No injection matches.", err=True)
    elif not total:
        click.echo("Nothing has been injected yet. `mdmem inject --explain PROMPT` shows what would be.", err=True)
    extent.print_extent("injection", len(logged), total, offset=offset)


_COLUMNS = (
    render.WHEN,
    render.PROJECT,
    render.Column(gives=True),
    render.NUMBER,
    render.Column("dim", right=True),
    render.Column("green"),
    render.Column("dim"),
    render.ID,
)


def _row(row: dict[str, Any], *, with_ids: bool) -> tuple[str, ...]:
    ids = [f"{name}*" if name in row["cited"] else str(name) for name in row.get("ids", ())]
    return (
        timestamps.readable(str(row.get("time", ""))),
        str(row.get("project", "")),
        injections_view.reasons(row),
        plural.number(len(ids), "memory"),
        f"~{injections_view.tokens(row)} tokens",
        f"{len(row['cited'])} cited" if row["cited"] else "",
        journal.session_tag(str(row.get("session", ""))),
        " ".join(ids) if with_ids else "",
    )
