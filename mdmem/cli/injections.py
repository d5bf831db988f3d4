"""`inject --explain`, `injections`: what an agent is given, when, and why."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli import options, render, table, wording

if TYPE_CHECKING:
    from mdmem.recall.context import Explanation

REASONS = {
    "recent": "last sessions",
    "pinned": "pinned",
    "open": "open ends",
    "compacted": "after a compaction",
    "recall": "asked to recall",
    "turns": "many turns",
    "chars": "a long prompt",
    "read": "a file was read",
}
"""A reason in the log -> in words."""


@click.command()
@click.argument("agent", default="claude-code")
@click.option(
    "--explain", metavar="PROMPT", help="Show what PROMPT would be given, and the scores; no payload is read."
)
@click.option("--cwd", metavar="DIR", default=".", type=click.Path(), help="With --explain: where the agent would be.")
@click.option("--session", metavar="ID", default="", help="With --explain: in which session.")
@options.as_json("an object; with --explain")
@click.pass_obj
def inject(given_vault: str | None, /, agent: str, explain: str | None, cwd: str, session: str, as_json: bool) -> None:
    """Answer one hook payload of AGENT, read from stdin, with the memories that fit. Always exits with 0.

    \b
    Example:  mdmem inject claude-code < payload.json
              mdmem inject --explain "what did we decide about dates?"
    """
    if explain is None:
        from mdmem.recall import inject as process

        process.main([agent], given_vault)
    from mdmem.agents import Event
    from mdmem.recall import context

    settings = options.settings(given_vault)
    event = Event(
        agent=agent,
        name="UserPromptSubmit",
        session=session,
        cwd=str(Path(cwd).resolve()),
        prompt=explain,
    )
    found = context.explain(settings, event, time.time(), time.monotonic() + 3600.0)
    if as_json:
        click.echo(render.as_json(_explained(found)))
    else:
        _print(found, settings.settings["inject.after_chars"])


def _explained(found: Explanation) -> dict[str, Any]:
    rows = [
        {
            "id": one.hit.id,
            "path": one.hit.path,
            "kind": one.hit.kind,
            "title": one.hit.title,
            "score": round(one.hit.score, 3),
            "shown": found.block is not None and one.hit.id in found.block.ids,
            "left_out": one.left_out or None,
        }
        for one in found.found
    ]
    return {
        "private": found.private,
        "excluded": found.excluded,
        "asks": bool(found.phrase),
        "language": found.language or None,
        "phrase": found.phrase or None,
        "trigger": found.trigger or None,
        "query": found.query,
        "results": rows,
        "block": found.block.text if found.block else None,
    }


def _print(found: Explanation, long: int) -> None:
    if found.private or found.excluded:
        click.echo(f"Nothing: {'all of the prompt is private' if found.private else 'the project is excluded'}.")
        return
    asks = f'yes, by "{found.phrase}" ({found.language})' if found.phrase else "no"
    once = {"chars": f"yes, it is longer than {long} characters", "turns": "yes, by the number of turns"}
    click.echo(f"Asks to recall: {asks}.")
    click.echo(f"Sets off the search that comes once a session: {once.get(found.trigger, 'no')}.")
    query = render.safe(" ".join(found.query.split()))
    click.echo(f"Searched by: {query or 'nothing; it asks for what was done last'}\n")
    ids = found.block.ids if found.block else ()
    rows = [
        (
            f"{one.hit.score:.2f}",
            wording.date_and_time(one.hit.created),
            one.hit.kind,
            one.hit.id,
            one.hit.title,
            "" if one.hit.id in ids else one.left_out or "no room",
        )
        for one in found.found
    ]
    columns = (table.NUMBER, table.WHEN, table.KIND, table.ID, table.TITLE, table.Column("dim"))
    table.show(render.console(), columns, rows)
    click.echo(f"\n{found.block.text}" if found.block else "Nothing would be given.")
    if not found.phrase and not found.trigger:
        click.echo("\nThe prompt by itself would be given nothing: this is what it would find if it asked.", err=True)


@click.command()
@click.option("--session", metavar="ID", default="", help="Only this session, or one that begins so.")
@click.option("--ids", is_flag=True, help="Name the memories, and which of them were cited.")
@options.limit(20)
@options.as_json("an array of objects")
@click.pass_obj
def injections(given_vault: str | None, /, session: str, ids: bool, limit: int, as_json: bool) -> None:
    """List what agents were given, when and why, the last first; only ids and sizes are logged.

    \b
    Example:  mdmem injections --ids
    """
    from mdmem.recall import citations, given

    settings = options.settings(given_vault)
    rows = [row for row in given.read_log(settings) if str(row.get("session", "")).startswith(session)]
    rows = rows[::-1][: limit or None]
    cited = citations.cited_by_session(settings) if rows else {}
    for row in rows:
        row["cited"] = sorted(cited.get(str(row.get("session")), set()).intersection(map(str, row.get("ids", ()))))
    if as_json:
        click.echo(render.as_json(rows))
        return
    if not rows:
        click.echo("Nothing was given yet. `mdmem inject --explain PROMPT` shows what would be.", err=True)
    table.show(render.console(), _COLUMNS, [_row(row) for row in rows] if not ids else _rows_with_ids(rows))


_COLUMNS = (
    table.WHEN,
    table.PROJECT,
    table.Column(),
    table.NUMBER,
    table.Column("dim", right=True),
    table.Column("green"),
    table.Column("dim"),
    table.ID,
)


def _row(row: dict[str, Any], ids: str = "") -> tuple[str, ...]:
    why = ", ".join(REASONS.get(str(reason), str(reason)) for reason in row.get("why", ()))
    cited = f"{len(row['cited'])} cited" if row["cited"] else ""
    return (
        wording.date_and_time(str(row.get("time", ""))),
        str(row.get("project", "")),
        why,
        wording.number(len(row.get("ids", ())), "memory", "memories"),
        f"{row.get('chars', 0)} characters",
        cited,
        str(row.get("session", ""))[:8],
        ids,
    )


def _rows_with_ids(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        _row(row, " ".join(f"{name}*" if name in row["cited"] else str(name) for name in row.get("ids", ())))
        for row in rows
    ]
