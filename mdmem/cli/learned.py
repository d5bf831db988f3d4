"""What was learned: `decisions`, `todo`, `fixes` and `about`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import completions, extent, options, render, startup
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import find
from mdmem.learn import about as known
from mdmem.learn import decisions as decided
from mdmem.learn import fixes as solved
from mdmem.learn import work
from mdmem.learn.about import Knowledge
from mdmem.learn.work import OpenItem
from mdmem.search.solved import Fix
from mdmem.views import rows as note_rows
from mdmem.views import wording
from mdmem.views.vault_pages.open_work import LABELS


@click.command()
@click.argument("about", nargs=-1)
@options.project
@options.several("--kind kinds", "KIND", "decision, lesson, preference; repeatable.", completions.kinds)
@click.option("--all", "every", is_flag=True, help="Also show superseded ones.")
@options.as_json("an array of objects: id, path, kind, title, created, project, statement, superseded_by, before")
@options.in_vault
def decisions(
    config: Config, about: tuple[str, ...], project: str, kinds: tuple[str, ...], every: bool, as_json: bool
) -> None:
    """List the decisions in force, newest first; with ABOUT (words or a file), best match first.

    \b
    Example:  mdmem decisions time zone
              mdmem decisions src/dates.py --kind decision --kind lesson
    """
    unknown = [kind for kind in kinds if kind not in decided.KINDS]
    if unknown:
        raise UsageError(f"--kind must be one of {', '.join(decided.KINDS)}, not {unknown[0]}.")
    chosen_kinds = kinds or ("decision",)
    note_rows.refresh(config)
    listed = decided.listed(config, " ".join(about), project=project, kinds=chosen_kinds, every=every)
    if as_json:
        render.print_json(listed)
        return
    for decision in listed:
        superseded = f" ({wording.superseded(decision.superseded_by)})" if decision.superseded_by else ""
        day_and_project = f"{wording.day(decision.created)}  {decision.project}".rstrip()
        render.write([_cited(f"{decision.title}{superseded}", decision.id, day_and_project)])
        below = [
            decision.statement,
            f"supersedes: {'; '.join(decision.before)}" if decision.before and not every else "",
        ]
        render.write([(f"    {render.safe(text)}", "")] for text in below if text)
    if not listed:
        about_it = f" with these words: {render.safe(' '.join(about))}" if about else ""
        none = f"No {' or '.join(chosen_kinds)} is in force{about_it}."
        click.echo(f'{none} `mdmem note --kind {chosen_kinds[0]} "…"` writes one.', err=True)


@click.command()
@options.project
@options.one_session
@options.several("--done closed", "ID", "Close this item; repeatable.", completions.open_work)
@options.offset
@options.limit(30)
@options.as_json(
    "an array of objects: key, kind, text, detail, project, session, created, id, path, blocked_by, is_stale"
)
@options.in_vault
def todo(
    config: Config,
    /,
    project: str,
    session: str,
    closed: tuple[str, ...],
    offset: int,
    limit: int,
    as_json: bool,
) -> None:
    """List open work: tasks, checks that still fail, unanswered prompts, interrupted turns.

    An item is closed when the agent's task list drops it, when the same command succeeds, or with --done.

    \b
    Example:  mdmem todo --project notes-app
    """
    if closed:
        items = [work.mark_done(config, key, now=options.now(), agent=startup.calling_agent()) for key in closed]
        render.print_outcome("\n".join(f"Closed: {item.text}" for item in items), items, as_json=as_json)
        return
    note_rows.refresh(config)
    items = work.open_work(config, project, now=options.now())
    items = [item for item in items if find.is_named(session, item.session)] if session else items
    shown = items[offset : offset + limit if limit else None]
    if as_json:
        render.print_json(shown)
    else:
        columns = (render.ID, render.KIND, render.WHEN, render.PROJECT, render.TITLE)
        render.table(columns, [_todo_row(item) for item in shown])
    stale = sum(item.is_stale for item in items)
    if not items:
        click.echo("Nothing is open.", err=True)
    extent.print_extent("item", len(shown), len(items), offset=offset)
    if stale:
        click.echo(f"{plural.number(stale, 'item')} older than 30 days: `mdmem todo --done ID` closes one.", err=True)


def _todo_row(item: OpenItem) -> tuple[str, ...]:
    detail = f": {item.detail}" if item.detail else ""
    waits = f" (waits for {', '.join(f'[mem:{name}]' for name in item.blocked_by)})" if item.blocked_by else ""
    return (item.key, LABELS[item.kind].lower(), wording.day(item.created), item.project, f"{item.text}{detail}{waits}")


@click.command()
@click.argument("error", nargs=-1)
@options.project
@options.limit(5)
@options.as_json(
    "an array of objects: id, path, project, session, created, command, error, solved, edits, files, diff, likeness"
)
@options.in_vault
def fixes(config: Config, error: tuple[str, ...], project: str, limit: int, as_json: bool) -> None:
    """Show what solved an ERROR before: the run that failed, the edits after it, the run that succeeded.

    ERROR is a line of the error or the whole output, or `-` for stdin. Without it, list the latest fixes.

    \b
    Example:  mdmem fixes "ModuleNotFoundError: No module named 'yaml'"
              pytest 2>&1 | mdmem fixes -
    """
    text = options.typed_text().read() if error == ("-",) else " ".join(error)
    note_rows.refresh(config)
    fixes_found, has_more = extent.part(
        iter(solved.fixes(config, text, project=project, limit=limit + 1 if limit else 1000)), 0, limit
    )
    if as_json:
        render.print_json(fixes_found)
    else:
        _print_fixes(fixes_found)
    if not fixes_found:
        click.echo("Nothing is known to have solved this error." if text else "No fixes yet.", err=True)
    extent.print_extent("result", len(fixes_found), None if has_more else len(fixes_found))


def _print_fixes(fixes_found: list[Fix]) -> None:
    for fix in fixes_found:
        time_and_project = f"{timestamps.readable(fix.created)}  {fix.project}".rstrip()
        steps = " ".join([", ".join(fix.files), *(f"[mem:{name}]" for name in fix.edits)]).strip()
        solved = f"{f'solved by {steps}, then ' if steps else ''}[mem:{fix.solved}] succeeded"
        render.write([_cited(fix.command, fix.id, time_and_project)])
        render.write([(f"    {render.safe(text)}", "")] for text in (fix.error, solved))
        for row in fix.diff.splitlines():
            click.echo(f"      {render.safe(row)}")


def _cited(title: str, name: str, where: str) -> list[render.Piece]:
    return [(render.safe(title), "bold"), (f"  [mem:{name}]", "yellow"), (f"  {render.safe(where)}", "dim")]


@click.command()
@click.argument("entity")
@options.project
@options.as_json("an object: entity, kind, decisions, open_work, fixes, sessions, changed, links, together")
@options.in_vault
def about(config: Config, entity: str, project: str, as_json: bool) -> None:
    """Show what is known about ENTITY: a file, a symbol, #123, a commit, a package, an address, a command, an error.

    \b
    Example:  mdmem about src/dates.py
              mdmem about "#123"
              mdmem about "npm run build"
    """
    if not entity.strip():
        raise UsageError("Name what to look up: a file, a symbol, #123, a package, an error.")
    note_rows.refresh(config)
    knowledge = known.about(config, entity, project=project, now=options.now())
    if as_json:
        render.print_json(knowledge)
        return
    if knowledge.is_empty:
        click.echo(f"Nothing is known about {render.safe(entity)}. `mdmem search` searches for its words.", err=True)
        return
    for heading, rows in _headed_rows(knowledge):
        render.write([[(heading, "bold")], *([(f"  {render.safe(row)}", "")] for row in rows)])


def _headed_rows(knowledge: Knowledge) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts that are not empty, each with its heading."""
    parts = {
        "Decisions": [f"{row.title}  [mem:{row.id}]" for row in knowledge.decisions],
        "Open work": [f"{LABELS[item.kind].lower()}: {item.text}  [mem:{item.id}]" for item in knowledge.open_work],
        "Fixes": [f"{fix.error}  [mem:{fix.id}]" for fix in knowledge.fixes],
        "Sessions": [f"{timestamps.readable(row.latest)}  {row.title}  [mem:{row.note}]" for row in knowledge.sessions],
        "Latest change": [
            f"{timestamps.readable(row.created)}  {row.title}  [mem:{row.id}]" for row in knowledge.changed[:1]
        ],
        "Related": [f"[mem:{link.of}] {link.relation} {link.title}  [mem:{link.id}]" for link in knowledge.links],
        "Together with": [f"{file}  {count}×" for file, count in knowledge.together],
    }
    yield from ((heading, rows) for heading, rows in parts.items() if rows)
