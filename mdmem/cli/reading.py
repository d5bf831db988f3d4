"""`show`, `history` and `timeline`: read a note, a session, or the notes around a note."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import timestamps
from mdmem.cli import listing
from mdmem.cli.terminal import completions, options, pager, render
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.vault import archives, disk, generated, layout, note, unreadable
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.cli.terminal.render import Piece
    from mdmem.config import Config
    from mdmem.learn.relations import TypedLink
    from mdmem.search.index.view import View
    from mdmem.views.conversation import Conversation, ConversationStep
    from mdmem.views.rows import NoteRow


LOCK = "🔒"
INDENT = 7
LONG_MS = 1000
"""Shorter tool runs are shown without their duration."""


@click.command()
@click.argument("session", default="latest", shell_complete=completions.sessions)
@options.project
@click.option("--full", is_flag=True, help="Also show tool input and output.")
@options.as_json("an object: session, title, project, agent, branch, cwd, started, ended, resume, notes")
@options.in_vault
@pager.paged
def history(config: Config, session: str, project: str, full: bool, as_json: bool) -> None:
    """Read a session as a conversation: what was asked, what was done, what was answered.

    SESSION is an id or its beginning, a session folder's name, the id of a note in it, or `latest`.
    A lock stands for what was kept out as private. The agent's own command to resume the session comes first.

    \b
    Example:  mdmem history
              mdmem history 3f0c6d1e --full
    """
    from mdmem.views import conversation

    opened = conversation.read(config, session, project=project)
    if as_json:
        render.print_json(_as_object(opened))
        return
    marker = config.settings.privacy.marker
    render.write(_head(opened, marker))
    if resume := _resume(opened):
        click.secho(render.safe(f"resume: {resume}"), dim=True)  # never wrapped, so that it can be copied
    for step in opened.steps:
        _print(step, marker, full=full)


def _as_object(conversation: Conversation) -> dict[str, Any]:
    facts = {key: conversation.fact(key) for key in ("project", "agent", "branch", "cwd")}
    times = conversation.times
    return {
        "session": conversation.session,
        "title": conversation.title,
        **facts,
        "started": times[0] if times else "",
        "ended": times[-1] if times else "",
        "resume": _resume(conversation),
        "notes": [{**step.meta, "path": step.path, "body": step.body} for step in conversation.steps],
    }


def _head(conversation: Conversation, marker: str) -> list[list[Piece]]:
    times = conversation.times
    start, end = (times[0], times[-1]) if times else ("", "")
    took = wording.worked(timestamps.worked(map(timestamps.epoch, times)))
    until = (wording.clock if wording.day(start) == wording.day(end) else timestamps.readable)(end)
    facts = [
        conversation.fact("project"),
        f"{timestamps.readable(start)}–{until}" + (f" ({took})" if took else ""),
        conversation.fact("agent"),
        conversation.fact("branch"),
        conversation.session,
    ]
    head: list[list[Piece]] = [[(_readable(conversation.title, marker), "bold")]]
    head.append([(render.safe(" · ".join(filter(None, facts))), "dim")])
    return head


def _resume(conversation: Conversation) -> str:
    from mdmem.agents.install import catalog

    return catalog.resume_command(conversation.fact("agent"), conversation.session, conversation.fact("cwd"))


def _print(step: ConversationStep, marker: str, *, full: bool) -> None:
    if step.kind == "observation":
        render.write([[(" " * INDENT, ""), *_run(step, marker)]])
        if full:
            render.block([(_readable(step.body.rstrip(), marker), "dim")], INDENT)
        return
    speaker, style = _SPEAKERS.get(step.kind, (step.kind, "magenta"))
    name = str(step.meta.get("agent", "agent")) if step.kind == "response" else speaker
    failed = " (cut short by an error)" if step.meta.get("success") is False else ""
    time = wording.clock(str(step.meta.get("created", ""))).ljust(INDENT)
    cited = render.safe(f"  {step.meta.get('id', '')}")
    render.write([[], [(time, "dim"), (render.safe(name) + failed, f"bold {style}"), (cited, "dim")]])
    render.block([(_readable(step.body.rstrip(), marker), "")], INDENT)


_SPEAKERS = {"prompt": ("you", "cyan"), "response": ("", "green"), "summary": ("summary", "blue")}


def _run(step: ConversationStep, marker: str) -> Iterator[Piece]:
    """Yield the pieces of one line: what a tool did, and how it ended."""
    title = _readable(str(step.meta.get("title", step.path)), marker)
    yield "▸ ", "dim"
    yield title, ""
    code = step.meta.get("exit_code")
    if step.meta.get("success") is False or code not in (None, 0):
        is_said = code in (None, 0) or f"exit {code}" in title
        yield "  ✗" if is_said else f"  ✗ exit {code}", "red"
    milliseconds = step.meta.get("duration_ms")
    if isinstance(milliseconds, int) and milliseconds >= LONG_MS:
        yield f"  {wording.duration(milliseconds / 1000)}", "dim"


def _readable(text: str, marker: str) -> str:
    text = render.safe(text)
    return text.replace(marker, LOCK) if marker else text


@click.command()
@click.argument("note", shell_complete=completions.notes)
@options.number("--before", default=5, help_text="Number of notes before it.")
@options.number("--after", default=5, help_text="Number of notes after it.")
@click.option("--all", "every", is_flag=True, help="Show notes of all projects, not only the note's own.")
@options.filters
@options.as_json(f"an array of objects: {options.NOTE_KEYS}, anchor (true for the note itself)")
@options.in_vault
@pager.paged
def timeline(config: Config, /, note: str, before: int, after: int, every: bool, as_json: bool, **given: Any) -> None:
    """Show what happened around NOTE (an id or a path): the notes before and after it, in order of time.

    \b
    Example:  mdmem timeline 7m2x4kd9qp --before 3 --kind prompt --kind response
    """
    from mdmem.search import index
    from mdmem.views import rows

    path = index.resolve(config, note)

    def answer(view: View) -> list[NoteRow]:
        anchor = view.find(path)
        if anchor is None:
            raise NotFoundError(f"The index does not have {path} yet. Try again in a moment.")
        home = rows.row(view, anchor).project
        query = options.query({**given, "project": given["project"] or ((home,) if home and not every else ())})
        matching = rows.matching_notes(view, config.vault, query)
        return [rows.row(view, number) for number in rows.around(view, matching, anchor, before, after)]

    note_rows = rows.ask(config, answer)
    if as_json:
        render.print_json([{**row._asdict(), "anchor": row.path == path} for row in note_rows])
        return
    cells = (("▶" if row.path == path else "·", *listing.cells(row)) for row in note_rows)
    render.table((render.Column("bold"), *listing.COLUMNS), cells)


_UNSHOWN = frozenset(["session", "prompt", "sequence", "cwd", "commit", "digest", "page"])
"""Front matter for machines rather than readers; `--raw` shows it."""


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@click.option("--raw", is_flag=True, help="Print the file unchanged, on a terminal too.")
@click.option(
    "--path",
    "only_path",
    is_flag=True,
    help="Print only the path of the file: that of the whole session if it is archived.",
)
@click.option("--open", "in_editor", is_flag=True, help="Open it in your $VISUAL or $EDITOR.")
@click.option("--at", metavar="TIME", help="Show it as it was then: yesterday, 3d, 2026-09-14, a commit.")
@options.as_json(
    "an object: id, path, kind, title, created, project, session, body, backlinks, relations, and the front matter"
)
@options.in_vault
@pager.paged
def show(
    config: Config, reference: str, raw: bool, only_path: bool, in_editor: bool, at: str | None, as_json: bool
) -> None:
    """Show NOTE: an id, the beginning of one, `mem:ID`, a path, a file's name, or the id of an item of `todo` or
    `proposals`. In a pipe it is printed unchanged; on a terminal it is rendered, followed by its typed links and the
    notes that link to it.

    \b
    Example:  mdmem show mem:7m2x4kd9qp
              mdmem show 7m2x --at yesterday
    """
    if at and (only_path or in_editor):
        raise UsageError("--at shows a text from history, which is in no file: it goes with neither --path nor --open.")
    path, data = _read_then(config, reference, at) if at else _read(config, reference)
    full = str(Path(config.vault, archives.file_of(config, path)))
    if only_path:
        click.echo(full)
    elif in_editor:
        from mdmem.cli.terminal import editor

        editor.edit(full)
    elif as_json:
        parsed = note.parse(data)
        problem = {"problem": parsed.problem} if parsed.problem else {}
        linking, relations = _linked(config, path, parsed)
        backlinks = [{"id": row.id, "path": row.path, "title": row.title} for row in linking]
        text_and_links = {"body": parsed.body, "backlinks": backlinks, "relations": relations}
        render.print_json({**_listed(config, path), **parsed.meta, "path": path, **problem, **text_and_links})
    elif raw or not render.is_terminal():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        parsed = note.parse(data)
        _print_note(path, parsed)
        _print_linked(*_linked(config, path, parsed))


def _linked(config: Config, path: str, parsed: note.Parsed) -> tuple[list[NoteRow], list[TypedLink]]:
    """Return the notes that link to this one, and its typed links; none if the index cannot be read."""
    from mdmem.learn import relations
    from mdmem.views import rows

    def answer(view: View) -> tuple[list[NoteRow], list[TypedLink]]:
        linking = rows.backlinks(view, path, parsed.fact("id"))
        return linking, relations.of_note(config, view, path, parsed.meta)

    try:
        return rows.ask(config, answer)
    except (MdmemError, OSError):
        return [], []


_OF_EVERY_NOTE = ("id", "path", "kind", "title", "created", "project", "session")


def _listed(config: Config, path: str) -> dict[str, Any]:
    """Return what `list` knows of every note, also of one without front matter."""
    from mdmem.views import rows

    facts: dict[str, Any] = {**dict.fromkeys(_OF_EVERY_NOTE, ""), "id": note.id_of_path(path), "kind": "note"}
    try:
        row = rows.ask(config, lambda view: None if (at := view.find(path)) is None else rows.row(view, at))
    except (MdmemError, OSError):
        row = None
    return {key: getattr(row, key) for key in _OF_EVERY_NOTE} if row else facts


def _print_linked(linking: list[NoteRow], relations: list[TypedLink]) -> None:
    if relations:
        render.write([[], [("Related", "bold")]])
        render.write([[(f"  {link.relation} [mem:{link.id}] {render.safe(link.title)}", "")] for link in relations])
    if linking:
        render.write([[], [("Linked from", "bold")]])
        columns = (render.WHEN, render.KIND, render.ID, render.TITLE)
        render.table(columns, [(wording.day(row.created), row.kind, row.id, row.title) for row in linking], "  ")


def _read(config: Config, reference: str) -> tuple[str, bytes]:
    from mdmem.search import index

    try:
        path = index.resolve(config, reference)
    except NotFoundError:
        path = _of_item(config, reference)
        if not path:
            from mdmem.history import find

            if deletion := find.deletion_of(config, reference):
                raise NotFoundError(f"No note has the id {reference!r:.80}. {deletion}") from None
            raise
    data = disk.read_path(config.vault, path)
    if data is None:
        why = unreadable.why_missing(config.vault, path)
        gone = "was deleted while it was being read. `mdmem search` finds what remains."
        raise NotFoundError(f"{path} is {why}" if why else f"{path} {gone}")
    return path, data


def _of_item(config: Config, key: str) -> str:
    """Return the path of the note behind an item that `todo` or `proposals` lists; "" if no item has this id."""
    from mdmem.learn import proposals, work

    if len(key) != work.KEY_CHARS:
        return ""
    now = options.now()
    listed = {item.key: item.path for item in proposals.waiting(config, now=now)}
    return (listed | {item.key: item.path for item in work.open_work(config, now=now)}).get(key, "")


def _read_then(config: Config, reference: str, at: str) -> tuple[str, bytes]:
    from mdmem.history import past

    then = past.show(config, reference, at)
    return then.path, then.data


def _print_note(path: str, parsed: note.Parsed) -> None:
    from rich.text import Text

    from mdmem.views import markup

    console = render.console()
    meta = {key: _worded(value) for key, value in parsed.meta.items()}
    facts = [
        meta.pop("kind", "note"),
        timestamps.readable(meta.pop("created", "")),
        layout.project_named(path, {"project": meta.pop("project", "")}),
        meta.pop("agent", ""),
        f"mem:{meta.pop('id')}" if "id" in meta else "",
    ]
    title = meta.pop("title", path)
    if meta.get("aliases") == title:
        del meta["aliases"]
    other_facts = [f"{key}: {value}" for key, value in meta.items() if key not in _UNSHOWN]
    render.hanging([], [(render.safe(title), "bold")])
    for line in (" · ".join(filter(None, facts)), *"\n".join(other_facts).splitlines()):
        render.hanging([], [(render.safe(line), "dim")])
    if parsed.problem:
        console.print(Text(f"The front matter is broken: {parsed.problem}.", "yellow"))
    console.print()
    body = markup.without_title(_without_marks(parsed.body), title)
    console.print(render.markdown(render.safe(body)), soft_wrap=False)
    console.print(Text(path, "dim"))


_PAGE_MARKS = re.compile(rf"{re.escape(generated.NAVIGATION_MARK)}|(?<!\\)</?(?:details|summary)>")
"""What only a machine or a browser reads on a page; after a backslash, a tag is part of a title."""


def _without_marks(text: str) -> str:
    """Return a note's text without what marks and folds the generated part of a page."""
    before, inner, after = generated.parts_of(text)
    return before + _PAGE_MARKS.sub("", inner) + after


def _worded(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
