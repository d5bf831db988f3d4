"""`show`: one note, with those that link to it and that it is joined to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem.cli.terminal import options, pager, render
from mdmem.errors import MdmemError, NotFoundError
from mdmem.vault import disk, note
from mdmem.views import wording

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.learn.relations import TypedLink
    from mdmem.views.rows import NoteRow

_UNSHOWN = frozenset(["session", "prompt", "sequence", "cwd", "commit", "digest"])
"""Front matter that matters to machines more than to readers: `--raw` shows it."""


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=options.notes)
@click.option("--raw", is_flag=True, help="Print the file unchanged, on a terminal too.")
@click.option("--path", "only_path", is_flag=True, help="Print only the path of the file.")
@click.option("--open", "in_editor", is_flag=True, help="Open it in your $VISUAL or $EDITOR.")
@click.option("--at", metavar="TIME", help="Show it as it was then: yesterday, 3d, 2026-09-14, a commit.")
@options.as_json("an object: front matter, path, body, backlinks and relations")
@click.pass_obj
@pager.paged
def show(
    given_vault: str | None,
    reference: str,
    raw: bool,
    only_path: bool,
    in_editor: bool,
    at: str | None,
    as_json: bool,
) -> None:
    """Show NOTE: an id, the beginning of one, `mem:ID`, a path or a file's name. In a pipe it is printed unchanged;
    on a terminal it is rendered, with the notes that link to it and those that its front matter links to.

    \b
    Example:  mdmem show mem:7m2x4kd9qp
              mdmem show 7m2x --at yesterday
    """
    settings = options.settings(given_vault)
    path, data = _read_then(settings, reference, at) if at else _read(settings, reference)
    full = str(Path(settings.vault) / path)
    if only_path:
        click.echo(full)
    elif in_editor:
        from mdmem.cli.terminal import editor

        editor.edit(full)
    elif as_json:
        parsed = note.parse(data)
        problem = {"problem": parsed.problem} if parsed.problem else {}
        named = [{"id": row.id, "path": row.path, "title": row.title} for row in _backlinks(settings, path, parsed)]
        joined = [one._asdict() for one in _relations(settings, path, parsed)]
        rest = {"body": parsed.body, "backlinks": named, "relations": joined}
        render.print_json({**parsed.meta, "path": path, **problem, **rest})
    elif raw or not render.is_terminal():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        parsed = note.parse(data)
        _print_note(path, parsed)
        _print_relations(_relations(settings, path, parsed))
        _print_backlinks(_backlinks(settings, path, parsed))


def _backlinks(settings: Config, path: str, parsed: note.Parsed) -> list[NoteRow]:
    """Return the notes that link to this one; none where the index cannot be asked."""
    from mdmem.views import links, rows

    try:
        return rows.ask(settings, lambda view: links.backlinks(view, path, str(parsed.meta.get("id", ""))))
    except (MdmemError, OSError):
        return []


def _relations(settings: Config, path: str, parsed: note.Parsed) -> list[TypedLink]:
    """Return how this note is joined to others; none where the index cannot be asked."""
    from mdmem.learn import relations
    from mdmem.views import rows

    try:
        return rows.ask(settings, lambda view: relations.of_note(settings, view, path, parsed.meta))
    except (MdmemError, OSError):
        return []


def _print_relations(found: list[TypedLink]) -> None:
    if found:
        render.write([[], [("Related", "bold")]])
        render.write([[(f"  {one.relation} [mem:{one.id}] {render.safe(one.title)}", "")] for one in found])


def _print_backlinks(found: list[NoteRow]) -> None:
    if found:
        render.write([[], [("Linked from", "bold")]])
        columns = (render.WHEN, render.KIND, render.ID, render.TITLE)
        render.table(columns, [(wording.day(row.created), row.kind, row.id, row.title) for row in found], "  ")


def _read(settings: Config, reference: str) -> tuple[str, bytes]:
    from mdmem.search import index

    path = index.resolve(settings, reference)
    data = disk.read_path(settings.vault, path)
    if data is None:
        raise NotFoundError(f"{path} was deleted while it was being read. `mdmem search` finds what remains.")
    return path, data


def _read_then(settings: Config, reference: str, at: str) -> tuple[str, bytes]:
    from mdmem.history import past

    then = past.show(settings, reference.strip("[]").removeprefix("mem:"), wording.end_of(at))
    return then.path, then.data


def _print_note(path: str, parsed: note.Parsed) -> None:
    from rich.markdown import Markdown
    from rich.text import Text

    console = render.console()
    meta = {key: _worded(value) for key, value in parsed.meta.items()}
    facts = [
        meta.pop("kind", "note"),
        wording.date_and_time(meta.pop("created", "")),
        meta.pop("project", ""),
        meta.pop("agent", ""),
        f"mem:{meta.pop('id')}" if "id" in meta else "",
    ]
    console.print(Text(render.safe(meta.pop("title", path)), "bold"))
    console.print(Text(render.safe(" · ".join(filter(None, facts))), "dim"))
    rest = [f"{key}: {value}" for key, value in meta.items() if key not in _UNSHOWN]
    if rest:
        console.print(Text(render.safe("\n".join(rest)), "dim"))
    if parsed.problem:
        console.print(Text(f"The front matter is broken: {parsed.problem}.", "yellow"))
    console.print()
    console.print(Markdown(render.safe(parsed.body)), soft_wrap=False)
    console.print(Text(path, "dim"))


def _worded(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
