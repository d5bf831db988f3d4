"""`list`, `sessions`, `tree`: what is in the vault."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import extent, options, pager, progress, render
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.vault import journal
from mdmem.views import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mdmem.cli.terminal.render import Piece
    from mdmem.history.session_log import LoggedSession
    from mdmem.search.index.view import View
    from mdmem.views.rows import NoteRow


@click.command("list")
@options.filters
@click.option("--pinned", is_flag=True, help="Only pinned notes; the same as --is pinned.")
@click.option("--sort", type=click.Choice(["newest", "oldest"]), default="newest", show_default=True)
@options.offset
@options.limit(30)
@options.as_json(f"an array of objects: {options.NOTE_KEYS}")
@options.in_vault
@pager.paged
def list_notes(
    config: Config,
    /,
    pinned: bool,
    sort: str,
    offset: int,
    limit: int,
    as_json: bool,
    is_: tuple[str, ...],
    **given: Any,
) -> None:
    """List notes, newest first. Pages of sessions and projects are listed only if you ask for their kind.

    \b
    Example:  mdmem list --kind response --since 1w
              mdmem list --is failed --project notes-app --json
    """
    from mdmem.search import select
    from mdmem.views import rows

    query = options.query({**given, "is_": (*is_, "pinned") if pinned else is_})

    def choose(view: View) -> tuple[list[int], tuple[int, int, tuple[str, ...]]]:
        end = offset + limit if limit else None
        note_rows, total = rows.newest(view, config.vault, query, limit=end, oldest=sort == "oldest")
        return note_rows[offset:], (len(note_rows[offset:]), total, () if total else select.unmatched(view, query))

    note_rows, (count, total, unmatched) = rows.each(config, choose, rows.row)
    if as_json:
        render.print_array(note_rows)
    else:
        print_rows(note_rows)
    if not total:
        asked_for = pinned or is_ or any(given.values())
        nothing = "No matching notes. `mdmem list --help` lists the filters." if asked_for else wording.none_yet(config)
        extent.print_remark("\n".join([nothing, *(f"hint: {render.safe(sentence)}" for sentence in unmatched)]))
    extent.print_extent("note", count, total, offset=offset)


def print_rows(note_rows: Iterable[NoteRow]) -> None:
    """Print notes, a line each."""
    render.table(COLUMNS, map(cells, note_rows))


COLUMNS = (render.WHEN, render.KIND, render.PROJECT, render.ID, render.TITLE)
"""How `cells` are shown."""


def cells(row: NoteRow) -> tuple[str, ...]:
    """Return a note's line in a list; its title is after the marks of pinned notes and of failures."""
    marks = f"{'★ ' if row.pinned else ''}{'✗ ' if row.success is False else ''}"
    return timestamps.readable(row.created), row.kind, row.project, row.id, marks + row.title


@click.command()
@options.project
@options.window
@click.option("--failed", is_flag=True, help="Only sessions in which something failed.")
@click.option("--file", metavar="PATH", default="", help="Only sessions that touched a file whose path contains this.")
@options.agent
@options.offset
@options.limit(20)
@options.as_json(f"an array of objects: {options.SESSION_KEYS}")
@options.in_vault
@pager.paged
def sessions(
    config: Config,
    project: str,
    failed: bool,
    file: str,
    agent: str,
    offset: int,
    limit: int,
    as_json: bool,
    **when: str,
) -> None:
    """List sessions, newest first. `mdmem history ID` reads one.

    \b
    Example:  mdmem sessions --since 1w --project notes-app
              mdmem sessions --failed --on yesterday
    """
    filters = {"project": project, "file": file, "agent": agent}
    shown, tell = some_sessions(config, options.span(when), offset, limit, failed=failed, as_json=as_json, **filters)
    if as_json:
        render.print_json(shown)
    else:
        columns = (render.WHEN, render.NUMBER, render.PROJECT, render.ID, render.NUMBER, render.NUMBER, render.TITLE)
        render.table(columns, [_session_row(session) for session in shown])
    tell()


def some_sessions(
    config: Config, span: tuple[str, str], offset: int, limit: int, *, failed: bool, as_json: bool, **filters: str
) -> tuple[list[LoggedSession], Callable[[], None]]:
    """Return a part of the sessions that match, and a function that prints on stderr how much of them that is.

    span, failed, filters: as for `sessions.logged`. With others than the project, how many match is not counted,
    because all would have to be read.
    """
    from mdmem.views import sessions as of_index

    project, *others = filters.pop("project"), *filters.values()
    narrowed = failed or any((*span, *others))
    with progress.ProgressBar("Reading sessions", shown=not as_json):
        found = of_index.logged(config, *span, failed=failed, project=project, **filters)
        shown, has_more = extent.part(found, offset, limit)

    def tell() -> None:
        from mdmem.history import session_log

        last = offset + len(shown)
        total = last if shown and not has_more else None
        counted = 0
        if has_more and not narrowed:
            counted = session_log.count(config, project, _MAX_COUNTED + 1)
            total = max(counted, last + 1) if counted <= _MAX_COUNTED else None
        if not shown and not offset:
            _say_no_sessions(config, asked_for=narrowed or bool(project))
        else:
            extent.print_extent("session", len(shown), total, offset=offset, more_than=counted - 1)

    return shown, tell


_MAX_COUNTED = 500
"""Maximum number of sessions that are counted: it takes a look into each of their days."""


def _say_no_sessions(config: Config, *, asked_for: bool) -> None:
    """Print on stderr why no session is listed. asked_for: whether there are filters."""
    from mdmem.views import rows

    none = wording.none_yet(config) if rows.is_empty(config) else "No sessions yet."
    extent.print_remark("No matching sessions." if asked_for else none)


def _session_row(session: LoggedSession) -> tuple[str, ...]:
    return (
        timestamps.readable(session.started),
        wording.worked(session.seconds),
        session.project,
        journal.session_tag(session.session) if session.session else "",
        plural.number(len(session.asks), "prompt"),
        plural.number(session.notes, "note"),
        session.title,
    )


@click.command()
@click.argument("folder", default="")
@options.number("--depth", default=4, help_text="Maximum depth of folders.", least=1)
@click.option("--files", is_flag=True, help="Show the notes too, not only their number.")
@options.number(
    "--limit", "-n", default=10, help_text="Show the last N folders, and notes, of each folder (0: no limit)."
)
@options.as_json("an object: name, notes, folders (more such objects), files")
@options.in_vault
@pager.paged
def tree(config: Config, folder: str, depth: int, files: bool, limit: int, as_json: bool) -> None:
    """Draw the vault's folders, or those in FOLDER, with the number of notes and pages in each.

    \b
    Example:  mdmem tree journal/notes-app --files
    """
    from mdmem.views import rows

    relative = _relative(config.vault, folder)
    root = Path(config.vault)
    if relative is None or not (root / relative).is_dir():
        raise NotFoundError(f"There is no folder {folder!r} in {root}. `mdmem tree` shows the folders.")
    *_, shown = rows.ask(config, folder_tree).way(relative)
    sys.setrecursionlimit(10_000)  # a path may have some thousand folders
    if as_json:
        render.print_json(shown.nested(relative or root.name))
    else:
        print_tree(shown, relative or root.name, depth, limit, files=files)


def _relative(root: str, folder: str) -> str | None:
    """Return a folder's path in the vault: "" for the vault itself, None for a folder outside it."""
    path = os.path.normpath(Path(root) / Path(folder).expanduser())
    if path == root:
        return ""
    return Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else None


def print_tree(folder: TreeFolder, name: str, depth: int, limit: int, *, files: bool) -> None:
    """Draw a folder. Parameters are those of `tree`; a depth of -1 draws all."""
    drawn = _draw(folder, depth, limit, files=files)
    render.write(map(render.fitted, ([("", ""), *_label(name, folder)], *drawn)))


def _label(name: str, folder: TreeFolder) -> list[Piece]:
    return [(f"{render.safe(name)}/", "blue"), (f"  {plural.number(folder.notes, 'file')}", "dim")]


def _draw(folder: TreeFolder, depth: int, limit: int, *, files: bool, indent: str = "") -> Iterator[list[Piece]]:
    """Yield the lines below a folder: branch, then label."""
    folders = sorted(folder.folders.items()) if depth else []
    names = folder.files() if depth and files else []
    hidden = [max(0, len(part) - limit) if limit else 0 for part in (folders, names)]
    for count, what in zip(hidden, ("folder", "note"), strict=True):
        if count:
            yield [(f"{indent}├── ", ""), (f"… {plural.number(count, f'more {what}')}", "dim")]
    leaves = [*folders[hidden[0] :], *((name, None) for name in names[hidden[1] :])]
    for place, (name, below) in enumerate(leaves, 1):
        is_last = place == len(leaves)
        lead = f"{indent}{'└── ' if is_last else '├── '}"
        if below is None:
            yield [(lead, ""), (render.safe(name), "")]
        else:
            yield [(lead, ""), *_label(name, below)]
            yield from _draw(below, depth - 1, limit, files=files, indent=indent + ("    " if is_last else "│   "))


class TreeFolder:
    """A folder of the vault. notes: how many are in and below it. folders: those in it that have notes, by name."""

    def __init__(self, view: View, path: str = "") -> None:
        self._view, self._path = view, path
        self.notes = 0
        self.folders: dict[str, TreeFolder] = {}

    def way(self, path: str) -> Iterator[TreeFolder]:
        """Yield the folders on the way to a path below this one, from this one on. Those not known are added."""
        folder = self
        yield folder
        for name in filter(None, path.split("/")):
            folder = folder.folders.setdefault(name, TreeFolder(self._view, f"{folder._path}/{name}".lstrip("/")))
            yield folder

    def files(self) -> list[str]:
        """Return the names of the notes directly in it, sorted."""
        return sorted(map(self._view.name, self._view.members_of(self._path)))

    def nested(self, name: str) -> dict[str, Any]:
        """Return it with everything below it."""
        folders = [folder.nested(below) for below, folder in sorted(self.folders.items())]
        return {"name": name, "notes": self.notes, "folders": folders, "files": self.files()}


def folder_tree(view: View) -> TreeFolder:
    """Return the vault's own folder, with all that have notes below it."""
    top = TreeFolder(view)
    for path, size in zip(view.folders, view.folder_sizes, strict=True):
        for folder in top.way(path) if size else ():
            folder.notes += size
    return top
