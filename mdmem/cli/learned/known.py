"""`decisions`, `todo`, `fixes`, `about`: what holds, what was left open, what solved an error, what is known."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mdmem.cli.terminal import options, render
from mdmem.errors import UsageError
from mdmem.views import rows as note_rows
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.learn.about import Knowledge
    from mdmem.learn.work import OpenItem


@click.command()
@click.argument("about", nargs=-1)
@options.project
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    shell_complete=options.kinds,
    help="decision, lesson, preference; repeatable.",
)
@click.option("--all", "every", is_flag=True, help="Also show superseded ones.")
@options.as_json("an array of objects: id, path, kind, title, created, project, statement, superseded_by, before")
@click.pass_obj
def decisions(
    given_vault: str | None,
    about: tuple[str, ...],
    project: str | None,
    kinds: tuple[str, ...],
    every: bool,
    as_json: bool,
) -> None:
    """List the decisions in force, newest first; with ABOUT (words or a file), best match first.

    \b
    Example:  mdmem decisions time zone
              mdmem decisions src/dates.py --kind decision --kind lesson
    """
    from mdmem.learn import decisions as learned

    unknown = [kind for kind in kinds if kind not in learned.KINDS]
    if unknown:
        raise UsageError(f"--kind {unknown[0]} is none of {', '.join(learned.KINDS)}.")
    settings = options.settings(given_vault)
    wanted = kinds or ("decision",)
    note_rows.refresh(settings)
    found = learned.listed(settings, " ".join(about), project=project or "", kinds=wanted, every=every, update=False)
    if as_json:
        render.print_json([one._asdict() for one in found])
        return
    for one in found:
        old = f" (superseded by [mem:{one.superseded_by}])" if one.superseded_by else ""
        where = f"{wording.day(one.created)}  {one.project}".rstrip()
        click.echo(f"{render.safe(one.title)}{old}  [mem:{one.id}]  {render.safe(where)}")
        if one.statement:
            click.echo(f"    {render.safe(one.statement)}")
        if one.before and not every:
            click.echo(f"    supersedes: {render.safe('; '.join(one.before))}")
    if not found:
        click.echo('No decision is in force. `mdmem note --kind decision "…"` writes one.', err=True)


_KINDS = {"task": "to do", "failure": "still fails", "prompt": "no answer", "interrupted": "interrupted"}


@click.command()
@options.project
@click.option("--session", metavar="ID", default="", shell_complete=options.sessions, help="Only this session.")
@click.option("--done", "closed", multiple=True, metavar="ID", help="Close this item; repeatable.")
@options.limit(30)
@options.as_json("an array of objects: key, kind, text, detail, project, session, created, id, path, …")
@click.pass_obj
def todo(
    given_vault: str | None, project: str | None, session: str, closed: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """List open work: tasks, checks that still fail, unanswered prompts, interrupted turns.

    An item is closed when the agent's task list drops it, when the same command succeeds, or with --done.

    \b
    Example:  mdmem todo --project notes-app
    """
    from mdmem.learn import work

    settings = options.settings(given_vault)
    if closed:
        items = [work.mark_done(settings, key, now=options.now()) for key in closed]
        said = "\n".join(f"Closed: {render.safe(item.text)}" for item in items)
        click.echo(render.as_json([item._asdict() for item in items]) if as_json else said)
        return
    note_rows.refresh(settings)
    found = work.open_work(settings, project or "", now=options.now(), update=False)
    found = [item for item in found if item.session.startswith(session)] if session else found
    if as_json:
        render.print_json([item._asdict() for item in found[: limit or None]])
        return
    rows = [(_todo_row(item)) for item in found[: limit or None]]
    render.table((render.ID, render.KIND, render.WHEN, render.PROJECT, render.TITLE), rows)
    old = sum(item.is_stale for item in found)
    if not found:
        click.echo("Nothing is open.", err=True)
    elif limit and len(found) > limit:
        click.echo(f"{wording.number(len(found) - limit, 'more item')}: --limit 0 shows all.", err=True)
    if old:
        click.echo(f"{wording.number(old, 'item')} older than 30 days: `mdmem todo --done ID` closes one.", err=True)


def _todo_row(item: OpenItem) -> tuple[str, ...]:
    detail = f": {item.detail}" if item.detail else ""
    waits = f" (waits for {', '.join(f'[mem:{name}]' for name in item.blocked_by)})" if item.blocked_by else ""
    return (item.key, _KINDS[item.kind], wording.day(item.created), item.project, f"{item.text}{detail}{waits}")


@click.command()
@click.argument("error", nargs=-1)
@options.project
@options.limit(5)
@options.as_json("an array of objects: id, command, error, solved, edits, files, diff, project, session, likeness, …")
@click.pass_obj
def fixes(given_vault: str | None, error: tuple[str, ...], project: str | None, limit: int, as_json: bool) -> None:
    """Show what solved an ERROR before: the run that failed, the edits after it, the run that succeeded.

    ERROR is a line of the error or the whole output, or `-` for stdin. Without it, list the latest fixes.

    \b
    Example:  mdmem fixes "ModuleNotFoundError: No module named 'yaml'"
              pytest 2>&1 | mdmem fixes -
    """
    from mdmem.learn import fixes as learned

    settings = options.settings(given_vault)
    text = sys.stdin.read() if error == ("-",) else " ".join(error)
    note_rows.refresh(settings)
    found = learned.fixes(settings, text, project=project or "", limit=limit or 1000, update=False)
    if as_json:
        render.print_json([fix._asdict() for fix in found])
        return
    for fix in found:
        where = f"{wording.date_and_time(fix.created)}  {fix.project}".rstrip()
        click.echo(f"{render.safe(fix.command)}  [mem:{fix.id}]  {render.safe(where)}")
        click.echo(f"    {render.safe(fix.error)}")
        edits = " ".join(f"[mem:{name}]" for name in fix.edits)
        click.echo(f"    solved by {render.safe(', '.join(fix.files))} {edits}, then [mem:{fix.solved}] succeeded")
        for row in fix.diff.splitlines():
            click.echo(f"      {render.safe(row)}")
    if not found:
        click.echo("No earlier run with this error was solved by edits." if text else "No fix yet.", err=True)


@click.command()
@click.argument("entity")
@options.project
@options.as_json("an object: entity, kind, decisions, open_work, fixes, sessions, changed, links, together")
@click.pass_obj
def about(given_vault: str | None, entity: str, project: str | None, as_json: bool) -> None:
    """Show what is known about ENTITY: a file, a symbol, #123, a commit, a package, an address, a command, an error.

    \b
    Example:  mdmem about src/dates.py
              mdmem about "#123"
              mdmem about "npm run build"
    """
    from mdmem.learn import about as learned

    settings = options.settings(given_vault)
    note_rows.refresh(settings)
    found = learned.about(settings, entity, project=project or "", now=options.now(), update=False)
    if as_json:
        parts = ("decisions", "open_work", "fixes", "sessions", "links")
        rows = {part: [one._asdict() for one in getattr(found, part)] for part in parts}
        render.print_json({**found._asdict(), **rows})
        return
    if found.is_empty:
        click.echo(f"Nothing is known about {render.safe(entity)}. `mdmem search` searches for its words.", err=True)
        return
    for heading, said in _known(found):
        click.echo(f"{heading}\n" + "\n".join(f"  {render.safe(row)}" for row in said))


def _known(found: Knowledge) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts that are not empty, each with its heading."""
    changed = [f"[mem:{name}]" for name in found.changed[:1]]
    parts = {
        "Decisions": [f"{one.title}  [mem:{one.id}]" for one in found.decisions],
        "Open work": [f"{_KINDS[one.kind]}: {one.text}  [mem:{one.id}]" for one in found.open_work],
        "Fixes": [f"{one.error}  [mem:{one.id}]" for one in found.fixes],
        "Sessions": [f"{wording.date_and_time(one.latest)}  {one.title}  [mem:{one.note}]" for one in found.sessions],
        "Latest change": changed,
        "Related": [f"[mem:{one.of}] {one.relation} {one.title}  [mem:{one.id}]" for one in found.links],
        "Together with": [f"{file}  {count}×" for file, count in found.together],
    }
    yield from ((heading, rows) for heading, rows in parts.items() if rows)
