"""`history` and `timeline`: what happened, read from beginning to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.terminal import options, pager, render
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.cli.terminal.render import Piece
    from mdmem.search.index.view import View
    from mdmem.views.conversation import Conversation, ConversationStep
    from mdmem.views.rows import NoteRow

LOCK = "🔒"
INDENT = 7
LONG_MS = 1000
"""How long a tool ran is said from here on."""


@click.command()
@click.argument("session", default="latest", shell_complete=options.sessions)
@options.project
@click.option("--full", is_flag=True, help="Also show tool input and output.")
@options.as_json("an object: session, title, project, started, ended, and all notes in order")
@click.pass_obj
@pager.paged
def history(given_vault: str | None, session: str, project: str | None, full: bool, as_json: bool) -> None:
    """Read a session as a conversation: what was asked, what was done, what was answered.

    SESSION is an id or its beginning, a session folder's name, the id of a note in it, or `latest`.
    What was kept out as private is shown as a lock. The agent's own command to resume the session comes first.

    \b
    Example:  mdmem history
              mdmem history 3f0c6d1e --full
    """
    from mdmem.views import conversation

    settings = options.settings(given_vault)
    found = conversation.read(settings, session, project=project or "")
    if as_json:
        render.print_json(_as_object(found))
        return
    marker = settings.settings.privacy.marker
    render.write(_head(found, marker))
    for step in found.steps:
        _print(step, marker, full=full)


def _as_object(found: Conversation) -> dict[str, Any]:
    facts = {key: found.fact(key) for key in ("project", "agent", "branch", "cwd")}
    times = found.times
    return {
        "session": found.session,
        "title": found.title,
        **facts,
        "started": times[0] if times else "",
        "ended": times[-1] if times else "",
        "resume": _resume(found),
        "notes": [{**step.meta, "path": step.path, "body": step.body} for step in found.steps],
    }


def _head(found: Conversation, marker: str) -> list[list[Piece]]:
    times = found.times
    start, end = (times[0], times[-1]) if times else ("", "")
    took = wording.between(start, end)
    facts = [
        found.fact("project"),
        f"{wording.date_and_time(start)}–{wording.clock(end)}" + (f" ({took})" if took else ""),
        found.fact("agent"),
        found.fact("branch"),
        found.session,
    ]
    head: list[list[Piece]] = [[(_readable(found.title, marker), "bold")]]
    head.append([(render.safe(" · ".join(filter(None, facts))), "dim")])
    resume = _resume(found)
    return [*head, [(render.safe(f"resume: {resume}"), "dim")]] if resume else head


def _resume(found: Conversation) -> str:
    from mdmem.agents.install import known

    return known.resume_command(found.fact("agent"), found.session, found.fact("cwd"))


def _print(step: ConversationStep, marker: str, *, full: bool) -> None:
    if step.kind == "observation":
        render.write([[(" " * INDENT, ""), *_run(step, marker)]])
        if full:
            render.block([(_readable(step.body.rstrip(), marker), "dim")], INDENT)
        return
    who, style = _SPEAKERS.get(step.kind, (step.kind, "magenta"))
    name = str(step.meta.get("agent", "agent")) if step.kind == "response" else who
    failed = " (cut short by an error)" if step.meta.get("success") is False else ""
    time = wording.clock(str(step.meta.get("created", ""))).ljust(INDENT)
    cited = render.safe(f"  {step.meta.get('id', '')}")
    render.write([[], [(time, "dim"), (render.safe(name) + failed, f"bold {style}"), (cited, "dim")]])
    render.block([(_readable(step.body.rstrip(), marker), "")], INDENT)


_SPEAKERS = {"prompt": ("you", "cyan"), "response": ("", "green"), "summary": ("summary", "blue")}


def _run(step: ConversationStep, marker: str) -> Iterator[Piece]:
    """Show on one line what a tool did, and how it went."""
    title = _readable(str(step.meta.get("title", step.path)), marker)
    yield "▸ ", "dim"
    yield title, ""
    code = step.meta.get("exit_code")
    if step.meta.get("success") is False or code not in (None, 0):
        is_said = code in (None, 0) or f"exit {code}" in title
        yield "  ✗" if is_said else f"  ✗ exit {code}", "red"
    taken = step.meta.get("duration_ms")
    if isinstance(taken, int) and taken >= LONG_MS:
        yield f"  {wording.duration(taken / 1000)}", "dim"


def _readable(text: str, marker: str) -> str:
    text = render.safe(text)
    return text.replace(marker, LOCK) if marker else text


@click.command()
@click.argument("note")
@click.option(
    "--before", type=click.IntRange(min=0), metavar="N", default=5, show_default=True, help="Number of notes before it."
)
@click.option(
    "--after", type=click.IntRange(min=0), metavar="N", default=5, show_default=True, help="Number of notes after it."
)
@click.option("--all", "every", is_flag=True, help="Show notes of all projects, not only the note's own.")
@options.filters
@options.as_json("an array of objects as `list` does; `anchor` is true for the note itself")
@click.pass_obj
@pager.paged
def timeline(
    given_vault: str | None, /, note: str, before: int, after: int, every: bool, as_json: bool, **given: Any
) -> None:
    """Show what happened around NOTE (an id or a path): the notes before and after it, in order of time.

    \b
    Example:  mdmem timeline 7m2x4kd9qp --before 3 --kind prompt --kind response
    """
    from mdmem.search import index
    from mdmem.views import rows

    settings = options.settings(given_vault)
    path = index.resolve(settings, note)

    def answer(view: View) -> list[NoteRow]:
        anchor = view.find(path)
        home = rows.row(view, anchor).project if anchor is not None else ""
        asked = options.query({**given, "project": given["project"] or ((home,) if home and not every else ())})
        found = rows.select(view, settings.vault, asked)
        if anchor is not None and anchor not in found:
            found.append(anchor)
        found = rows.in_order(view, found)
        place = found.index(anchor) if anchor is not None else 0
        return [rows.row(view, number) for number in found[max(place - before, 0) : place + after + 1]]

    shown = rows.ask(settings, answer)
    if as_json:
        render.print_json([{**row._asdict(), "anchor": row.path == path} for row in shown])
        return
    render.table(
        (render.Column("bold"), render.WHEN, render.KIND, render.PROJECT, render.ID, render.TITLE),
        [
            (
                "▶" if row.path == path else "·",
                wording.date_and_time(row.created),
                row.kind,
                row.project,
                row.id,
                row.title,
            )
            for row in shown
        ],
    )
