"""Files: all that is known about a code file, and attachments of notes."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from mdmem.errors import NotFoundError, UsageError
from mdmem.learn import decisions
from mdmem.search import solved
from mdmem.search.index.document import path_tails
from mdmem.search.index.view import View
from mdmem.vault import attachments, disk, note
from mdmem.views import rows, sessions
from mdmem.views.rows import NoteRow
from mdmem.web import address
from mdmem.web.site import PageRequest

SESSIONS_SHOWN = 15


def file(request: PageRequest) -> Response:
    """Show what is known about a file."""
    path = request.query.get("path", "").strip()[:1_000]
    if not path:
        raise UsageError("Name a file: /file?path=src/dates.py")
    about_file = about(request.view, path, project=request.query.get("project", ""))
    table = {row.session: row for row in sessions.table(request.view)}
    fixes = [(failure.id, fix) for failure in about_file.failures if (fix := _fix(failure, about_file.edits))]
    return request.page(
        "file",
        about=about_file,
        sessions=[table[name] for name in about_file.sessions if name in table][:SESSIONS_SHOWN],
        fixes=dict(fixes),
    )


def _fix(failure: NoteRow, edits: list[NoteRow]) -> NoteRow | None:
    """Return the next change of the file in the session of the failure."""
    later_edits = [edit for edit in edits if edit.session == failure.session and edit.created >= failure.created]
    return later_edits[-1] if later_edits else None


class AboutFile(NamedTuple):
    """What the notes say about a file, newest first. others: notes that name it and are in no other list."""

    path: str
    written: list[NoteRow]
    edits: list[NoteRow]
    failures: list[NoteRow]
    others: list[NoteRow]
    total: int

    @property
    def sessions(self) -> list[str]:
        """Return the ids of the sessions that touched it, newest first."""
        every = sorted((*self.edits, *self.failures, *self.others), key=lambda row: row.created, reverse=True)
        return list(dict.fromkeys(row.session for row in every if row.session))


def about(view: View, path: str, *, project: str = "", most: int = 100) -> AboutFile:
    """Return the notes about `path`, or about files whose path ends with it. most: maximum of each list."""
    tails = path_tails(path)
    about_file = view.notes("facet", f"file:{tails[0]}") if tails else set()
    about_file = decisions.of_project(view, about_file - view.internal - view.notes("facet", "kind:session"), project)
    failed = about_file & view.notes("facet", "is:failed")
    edits = solved.edits(view, about_file)
    written = about_file & view.of_kinds(note.WRITTEN)

    def newest_rows(numbers: set[int]) -> list[NoteRow]:
        return [rows.row(view, number) for number in rows.in_order(view, numbers)[::-1][:most]]

    others = newest_rows(about_file - failed - edits - written)
    return AboutFile(path, newest_rows(written), newest_rows(edits), newest_rows(failed), others, len(about_file))


def attachment(request: PageRequest) -> Response:
    """Return a file of the vault: a picture to show, anything else to save.

    Raises NotFoundError when there is no such file, or notes may not show files of its type.
    """
    path_or_name, base, config = request.parts["path"], request.query.get("from", ""), request.config
    paths = attachments.named(config.vault, path_or_name, base, config.settings) if base else (path_or_name,)
    for path in paths:
        kind = address.attachment_type(path)
        is_hidden = note.is_internal(path) or any(part.startswith(".") for part in path.split("/"))
        data = disk.read_path(config.vault, path) if kind and not is_hidden else None
        if data is not None:
            name = address.quoted(path.rpartition("/")[2])
            disposition = "inline" if kind.startswith("image/") else f"attachment; filename*=UTF-8''{name}"
            # An SVG may contain scripts, which would run if it were opened as a page.
            headers = {
                "content-disposition": disposition,
                "content-security-policy": "sandbox",
                "cache-control": "no-store",
            }
            return Response(data, media_type=kind, headers=headers)
    raise NotFoundError(f"There is no attachment {path_or_name!r:.80}.")
