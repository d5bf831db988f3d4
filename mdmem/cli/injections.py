"""`hook`, `inject`, `injections`: what agents run, and what they were given, when and why."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import options, render
from mdmem.history import find
from mdmem.inject import block, citations, injection_log
from mdmem.search import freshness
from mdmem.search.asking.english import SURE
from mdmem.vault import journal, layout, note
from mdmem.views import injections as injections_view
from mdmem.views import rows

if TYPE_CHECKING:
    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.inject.candidates import Found
    from mdmem.inject.context import Explanation
    from mdmem.project import Project
    from mdmem.search.index.view import View


@click.command()
@click.argument("agent", default="claude-code")
@click.option("--explain", metavar="PROMPT", help="Show what would be injected for PROMPT and why; reads no payload.")
@click.option(
    "--cwd", metavar="DIR", default=".", type=click.Path(), help="With --explain: the folder the agent would be in."
)
@click.option(
    "--session",
    metavar="ID",
    default="",
    shell_complete=options.sessions,
    help="With --explain: the session it would be in.",
)
@options.as_json("an object; with --explain")
@click.pass_obj
def inject(given_vault: str | None, /, agent: str, explain: str | None, cwd: str, session: str, as_json: bool) -> None:
    """Answer one hook payload of AGENT, read from stdin, with the memories that fit. Always exits with 0.

    \b
    Example:  mdmem inject claude-code < payload.json
              mdmem inject --explain "what did we decide about dates?"
    """
    if explain is None:
        from mdmem.inject import process

        process.main([agent], given_vault)
    from mdmem.agents import Event
    from mdmem.inject import context, occasion

    settings = options.settings(given_vault)
    event = Event(agent=agent, name="UserPromptSubmit", session=session, cwd=str(Path(cwd).resolve()), prompt=explain)
    now, deadline = time.time(), time.monotonic() + 3600.0
    found = context.explain(settings, event, now, deadline)
    assumed = occasion.Occasion(settings, event, now, deadline)
    counts = rows.ask(settings, lambda view: _counts(view, assumed.names))
    started = context.at_start(settings, _start_of(event), now, deadline)
    gone = candidates(settings, assumed.place) if not counts[0] and counts[1] else []
    if as_json:
        whose = {"project": assumed.project, "project_notes": counts[0], "vault_notes": counts[1]}
        whose["moved"] = gone
        click.echo(render.as_json({**whose, **_explained(found), "session_start": started.text if started else None}))
        return
    click.echo(
        f"Project: {render.safe(assumed.project)} ({plural.number(counts[0], 'note')};"
        f" {plural.number(counts[1], 'note')} in the vault)."
    )
    if not counts[0] and counts[1]:
        _offer_moved(settings, assumed.place, gone)
    _print(found, settings.settings.inject.after_chars)
    if started:
        click.echo(f"\nA session started here would be given about {block.tokens(started.text)} tokens:\n")
        click.echo(render.safe(started.text))
    else:
        click.echo("\nA session started here would be given nothing.")


def _offer_moved(settings: Config, place: Project, gone: list[MovedProject]) -> None:
    """Print what to do for a project without notes, which may have been moved or renamed."""
    who = render.safe(journal.identity(place))
    click.echo("This project has no notes.")
    for one in gone:
        was = f"{render.safe(one.name)}, whose folder {render.safe(one.was)} is gone"
        click.echo(f"If it was {was}: add {who} to `identity` in {Path(settings.vault, one.page)}.")
    if not gone:
        click.echo(f"If it was moved or renamed, add {who} to `identity` in the project.md of the old project.")


def _start_of(event: Event) -> Event:
    from mdmem.agents import Event

    return Event(agent=event.agent, name="SessionStart", session=event.session, cwd=event.cwd, source="startup")


def _counts(view: View, names: frozenset[str]) -> tuple[int, int]:
    """Count the notes of a project under all its names, and of the vault, without pages and internal memories."""
    others = view.internal | view.of_kinds(note.PAGES)
    of_project = view.with_any(f"project:{name}".lower() for name in names)
    return len(of_project - others), view.live - len(others)


def _explained(found: Explanation) -> dict[str, Any]:
    rows = [
        {
            **{name: getattr(one.answer.hits[0], name) for name in ("id", "path", "kind", "title")},
            "score": round(one.answer.score, 3),
            "words": one.answer.words,
            "weight": round(one.answer.weight, 2),
            "coverage": round(one.answer.coverage, 2),
            "shown": _is_shown(found, one),
            "left_out": _left_out(found, one) or None,
        }
        for one in found.found
    ]
    return {
        "private": found.private,
        "excluded": found.excluded,
        "asks": injections_view.GRADES[found.asked.grade] if found.asked else "no",
        "language": found.asked.language if found.asked else None,
        "phrase": found.asked.words if found.asked else None,
        "trigger": found.trigger or None,
        "query": found.query,
        "results": rows,
        "block": found.block.text if found.block else None,
        "tokens": block.tokens(found.block.text) if found.block else 0,
    }


def _is_shown(found: Explanation, one: Found) -> bool:
    return found.block is not None and one.item is not None and one.item.id in found.block.ids


def _left_out(found: Explanation, one: Found) -> str:
    """Return why an answer is not in the block; "" if it is."""
    if _is_shown(found, one):
        return ""
    return one.left_out or ("no room" if found.asked or found.trigger else "the prompt asks for nothing")


def _print(found: Explanation, long: int) -> None:
    if found.private or found.excluded:
        why = "the whole prompt is private" if found.private else "the project is excluded"
        click.echo(f"Nothing would be injected: {why}.")
        return
    asked = found.asked
    told = f' (recognized by "{render.safe(asked.words)}", {asked.language})' if asked else ""
    once = {"chars": f"yes, it is longer than {long} characters", "turns": "yes, by the number of turns"}
    click.echo(f"Asks for memory: {injections_view.GRADES[asked.grade] if asked else 'no'}{told}.")
    click.echo(f"Triggers the once-per-session search: {once.get(found.trigger, 'no')}.")
    query = render.safe(" ".join(found.query.split()))
    why = "it asks for the latest work" if asked and asked.grade == SURE else "it names nothing"
    why = "it asks for the sessions of some days" if found.by_days else why
    click.echo(f"Searched for: {query or f'nothing, because {why}'}\n")
    rows = [
        (
            f"{one.answer.score:.2f}",
            f"{one.answer.coverage:.0%}",
            timestamps.readable(one.answer.hits[0].created),
            one.answer.hits[0].kind,
            one.answer.hits[0].id,
            one.answer.hits[0].title,
            _left_out(found, one),
        )
        for one in found.found
    ]
    columns = (render.NUMBER, render.NUMBER, render.WHEN, render.KIND, render.ID, render.TITLE, render.Column("dim"))
    render.table(columns, rows)
    if not found.block:
        click.echo("Nothing would be injected.")
        return
    click.echo(f"\n{found.block.text}\n")
    click.echo(f"About {block.tokens(found.block.text)} tokens.", err=True)


@click.command()
@options.project
@options.one_session
@options.window
@click.option("--ids", is_flag=True, help="List the memories and which of them were cited.")
@options.limit(20)
@options.as_json("an array of objects: time, session, agent, event, why, project, tokens, ids, cited")
@options.in_vault
def injections(
    settings: Config,
    /,
    project: str | None,
    session: str | None,
    ids: bool,
    limit: int,
    as_json: bool,
    **when: str | None,
) -> None:
    """List what agents were given, when and why, newest first; only ids and sizes are logged.

    \b
    Example:  mdmem injections --ids
    """
    first, last = options.span(when)
    logged = [
        row
        for row in injection_log.read_log(settings)
        if (session is None or find.is_named(session, str(row.get("session", ""))))
        and project in (None, row.get("project"))
        and options.fits(str(row.get("time", "")), first, last)
    ]
    logged = logged[::-1][: limit or None]
    rows.refresh(settings)
    given = {str(name) for row in logged for name in row.get("ids", ())}
    cited = freshness.answered(settings, lambda view: citations.cited_by_session(view, given)) or {}
    for row in logged:
        row["cited"] = sorted(cited.get(str(row.get("session")), set()).intersection(map(str, row.get("ids", ()))))
    if as_json:
        render.print_json(logged)
        return
    if not logged and any((project, session, first, last)):
        click.echo("No injection matches.", err=True)
    elif not logged:
        click.echo("Nothing has been injected yet. `mdmem inject --explain PROMPT` shows what would be.", err=True)
    render.table(_COLUMNS, [_row(row, with_ids=ids) for row in logged])


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


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("agent", default="claude-code")
@click.option("--report", is_flag=True, help="Print what happened, as JSON; for people and scripts.")
@click.pass_obj
def hook(vault: str | None, agent: str, report: bool) -> None:
    """Store one hook payload of AGENT, read from stdin. Exits with 0 whatever happens.

    \b
    Example:  mdmem hook claude-code --report < payload.json
    """
    from mdmem.capture import hook as process

    process.main([agent, *(["--report"] if report else [])], vault)


MOST = 3
_PATH = "path:"


class MovedProject(NamedTuple):
    """A project whose folder is gone: its name, that folder, and the page whose `identity` to extend."""

    name: str
    was: str
    page: str


def candidates(config: Config, place: Project) -> list[MovedProject]:
    """Return the projects that may be the one in `place` under an earlier path, same name first.

    A project with a remote is recognized by its remote in any folder, so it is left out.
    """
    made = []
    for name in layout.projects(config.vault):
        page = f"journal/{name}/{journal.PROJECT_PAGE}"
        known = journal.identities(config, name)
        if any(not one.startswith(_PATH) for one in known):
            continue
        root = str(note.load(config.vault, page).meta.get("root") or "")
        folders = [one.removeprefix(_PATH) for one in known] or [root]
        if all(folder and not Path(folder).expanduser().is_dir() for folder in folders):
            made.append(MovedProject(name, folders[0], page))
    here = Path(place.root).name.lower()
    return sorted(made, key=lambda one: (Path(one.was).name.lower() != here, one.name))[:MOST]
