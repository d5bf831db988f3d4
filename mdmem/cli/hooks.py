"""`hook`, `inject`: what agents run at their events; and what they would be given, and why."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import plural, timestamps
from mdmem.agents import Event
from mdmem.cli.terminal import completions, options, render
from mdmem.errors import UsageError
from mdmem.inject.rendering import block
from mdmem.vault import journal, note, projects
from mdmem.views import injections as injections_view
from mdmem.views import rows

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.inject.candidates import Candidate
    from mdmem.inject.context import Explanation
    from mdmem.project import Project
    from mdmem.search.index.view import View


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("agent", default="claude-code")
@click.option("--report", is_flag=True, help="Print what happened, as JSON; for people and scripts.")
@click.pass_obj
def hook(vault: str | None, agent: str, report: bool) -> None:
    """Store one hook payload of AGENT, read from stdin. Always exits with 0.

    \b
    Example:  mdmem hook claude-code --report < payload.json
    """
    from mdmem.capture import hook as process

    process.main([agent, *(["--report"] if report else [])], vault)


@click.command()
@click.argument("agent", default="claude-code")
@click.option("--explain", metavar="PROMPT", help="Show what would be injected for PROMPT and why; reads no payload.")
@options.value("--cwd", "DIR", "With --explain: the folder the agent would be in.", default=".", type=click.Path())
@options.value("--session", "ID", "With --explain: the session it would be in.", completions.sessions, default="")
@options.as_json("an object: project, trigger, query, results, block, tokens and more (with --explain)")
@click.pass_obj
def inject(vault: str | None, /, agent: str, explain: str | None, cwd: str, session: str, as_json: bool) -> None:
    """Answer one hook payload of AGENT, read from stdin, with the memories that fit. Always exits with 0.

    \b
    Example:  mdmem inject claude-code < payload.json
              mdmem inject --explain "what did we decide about dates?"
    """
    if explain is None:
        from mdmem.inject import process

        process.main([agent], vault)
    elif not explain.strip():
        raise UsageError("The prompt is empty: give the text to explain.")
    else:
        _explain(options.vault_config(vault), agent, explain, cwd, session, as_json=as_json)


def _explain(config: Config, agent: str, prompt: str, cwd: str, session: str, *, as_json: bool) -> None:
    """Print what a prompt, and a session that starts in the same place, would be given, and why."""
    from mdmem.inject import context, occasion

    event = Event(agent=agent, name="UserPromptSubmit", session=session, cwd=str(Path(cwd).resolve()), prompt=prompt)
    start = Event(agent=agent, name="SessionStart", session=session, cwd=event.cwd, source="startup")
    now, deadline = time.time(), time.monotonic() + 3600.0
    explanation = context.explain(config, event, now, deadline)
    assumed = occasion.Occasion(config, event, now, deadline)
    counts = rows.ask(config, lambda view: _counts(view, assumed.names))
    started = context.at_start(config, start, now, deadline)
    moved = projects.possibly_moved(config, assumed.place) if not counts[0] and counts[1] else []
    if as_json:
        facts = {"project": assumed.project, "project_notes": counts[0], "vault_notes": counts[1], "moved": moved}
        at_start = started.text if started else None
        render.print_json({**facts, **_explained(explanation), "session_start": at_start})
        return
    click.echo(
        f"Project: {render.safe(assumed.project)} ({plural.number(counts[0], 'note')};"
        f" {plural.number(counts[1], 'note')} in the vault)."
    )
    if not counts[0] and counts[1]:
        _offer_moved(config, assumed.place, moved)
    _print(explanation, config.settings.inject.after_chars)
    if started:
        click.echo(f"\nA session started here would be given about {block.tokens(started.text)} tokens:\n")
        click.echo(render.safe(started.text))
    else:
        click.echo("\nA session started here would be given nothing.")


def _offer_moved(config: Config, place: Project, moved: list[projects.MovedProject]) -> None:
    """Print what to do for a project without notes, which may have been moved or renamed."""
    identity = render.safe(journal.identity(place))
    click.echo("This project has no notes.")
    for project in moved:
        old_place = f"{render.safe(project.name)}, whose folder {render.safe(project.was)} is gone"
        click.echo(f"If it was {old_place}: add {identity} to `identity` in {Path(config.vault, project.page)}.")
    if not moved:
        click.echo(f"If it was moved or renamed, add {identity} to `identity` in the project.md of the old project.")


def _counts(view: View, names: frozenset[str]) -> tuple[int, int]:
    """Count the notes of a project under all its names, and of the vault, without pages and internal memories."""
    excluded = view.internal | view.of_kinds(note.PAGES)
    of_project = view.with_any(f"project:{name}".lower() for name in names)
    return len(of_project - excluded), view.live - len(excluded)


def _explained(explanation: Explanation) -> dict[str, Any]:
    rows = [
        {
            **{name: getattr(candidate.answer.hits[0], name) for name in ("id", "path", "kind", "title")},
            "score": round(candidate.answer.score, 3),
            "words": candidate.answer.words,
            "weight": round(candidate.answer.weight, 2),
            "coverage": round(candidate.answer.coverage, 2),
            "shown": _is_shown(explanation, candidate),
            "left_out": _left_out(explanation, candidate) or None,
        }
        for candidate in explanation.results
    ]
    return {
        "private": explanation.private,
        "excluded": explanation.excluded,
        "asks": injections_view.GRADES[explanation.asked.grade] if explanation.asked else "no",
        "language": explanation.asked.language if explanation.asked else None,
        "phrase": explanation.asked.words if explanation.asked else None,
        "trigger": explanation.trigger or None,
        "query": explanation.query,
        "results": rows,
        "block": explanation.block.text if explanation.block else None,
        "tokens": block.tokens(explanation.block.text) if explanation.block else 0,
    }


def _is_shown(explanation: Explanation, candidate: Candidate) -> bool:
    return explanation.block is not None and candidate.item is not None and candidate.item.id in explanation.block.ids


def _left_out(explanation: Explanation, candidate: Candidate) -> str:
    """Return why an answer is not in the block; "" if it is."""
    if _is_shown(explanation, candidate):
        return ""
    return candidate.left_out or (
        "no room" if explanation.asked or explanation.trigger else "the prompt asks for nothing"
    )


def _print(explanation: Explanation, long: int) -> None:
    if explanation.private or explanation.excluded:
        reason = "the whole prompt is private" if explanation.private else "the project is excluded"
        click.echo(f"Nothing would be injected: {reason}.")
        return
    shape = explanation.asked
    recognized = f' (recognized by "{render.safe(shape.words)}", {shape.language})' if shape else ""
    click.echo(f"Asks for memory: {injections_view.GRADES[shape.grade] if shape else 'no'}{recognized}.")
    click.echo(f"Triggers the once-per-session search: {injections_view.triggered(explanation, long)}.")
    click.echo(f"Searched for: {render.safe(injections_view.searched_for(explanation))}\n")
    rows = [
        (
            f"{candidate.answer.score:.2f}",
            f"{candidate.answer.coverage:.0%}",
            timestamps.readable(candidate.answer.hits[0].created),
            candidate.answer.hits[0].kind,
            candidate.answer.hits[0].id,
            candidate.answer.hits[0].title,
            _left_out(explanation, candidate),
        )
        for candidate in explanation.results
    ]
    columns = (render.NUMBER, render.NUMBER, render.WHEN, render.KIND, render.ID, render.TITLE, render.Column("dim"))
    render.table(columns, rows)
    if not explanation.block:
        click.echo("Nothing would be injected.")
        return
    click.echo(f"\n{explanation.block.text}\n")
    click.echo(f"About {block.tokens(explanation.block.text)} tokens.", err=True)
