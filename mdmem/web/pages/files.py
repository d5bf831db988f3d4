"""File and project: all that is known about a code file, and the start page of a project."""

from __future__ import annotations

import time
from typing import NamedTuple

from starlette.responses import Response

from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.history import pages
from mdmem.learn import decisions, work
from mdmem.learn.work import OpenItem
from mdmem.search import replaced, solved
from mdmem.search.index.document import path_tails
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import attachments, disk, journal, note
from mdmem.views import rows, sessions
from mdmem.views.rows import NoteRow
from mdmem.views.vault_pages import listed, open_work
from mdmem.web import address, markdown
from mdmem.web.pages import shared
from mdmem.web.pages.timeline import calendar
from mdmem.web.site import PageRequest

MOST_FILES = 12
MOST_DECISIONS = 10
MOST_OPEN = 10
MOST_WRITTEN = 10
SESSIONS_SHOWN = 15
_EDITS = 1_000
"""Number of newest edits from which the most changed files are counted."""


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


def project(request: PageRequest) -> Response:
    """Show a project: decisions, open work, sessions, files."""
    name = sessions.project_called(request.view, request.config.vault, request.parts["name"])
    session_rows = [row for row in sessions.table(request.view) if row.project == name]
    view = request.view
    of_project = view.of_project(name)
    if not of_project:
        raise NotFoundError(f"There is no project {name!r:.60}.")
    page = journal.project_page(name)
    days = sessions.by_day(view, name)
    return request.page(
        "project",
        name=name,
        sessions=session_rows[:SESSIONS_SHOWN],
        total=len(session_rows),
        pinned=shared.newest(view, view.notes("facet", "is:pinned"), project=name),
        decisions=_decisions(request.config, view, name),
        open=_open_work(view, request.config, name),
        open_kinds=open_work.LABELS,
        lessons=shared.newest(view, view.of_kinds(("lesson", "preference")), project=name),
        failed=shared.newest(view, view.notes("facet", "is:failed"), project=name, most=5),
        files=sessions.files_changed_most(view, of_project, edits=_EDITS, most=MOST_FILES),
        calendar=calendar(days),
        written=shared.newest(view, _written(view), project=name, most=MOST_WRITTEN),
        written_total=len(_written(view) & of_project),
        words=_own_words(request, page),
        page_path=page if disk.read_path(request.config.vault, page) is not None else "",
        notes=sum(days.values()),
    )


@cached_with_view
def _open_work(view: View, config: Config, name: str) -> list[OpenItem]:
    return work.in_view(config, view, name, time.time())[:MOST_OPEN]


def _decisions(config: Config, view: View, name: str) -> list[NoteRow]:
    """Return the decisions in force: those that no other decision supersedes."""
    candidates = shared.newest(view, view.with_any(listed.DECISIONS), project=name, most=3 * MOST_DECISIONS)
    metas = {row.id: note.load(config.vault, row.path).meta for row in candidates}
    superseded = {old for row in candidates for old in replaced.targets(metas[row.id].get("supersedes"), row.path)}
    return [
        row
        for row in candidates
        if not metas[row.id].get("superseded_by") and superseded.isdisjoint(replaced.names(row.path, row.id, row.title))
    ][:MOST_DECISIONS]


def _written(view: View) -> set[int]:
    """Return the written notes that no other list of a project shows."""
    return view.of_kinds(("note",)) - view.with_any((*listed.DECISIONS, *listed.PINNED)) - view.internal


def _own_words(request: PageRequest, page: str) -> str:
    """Return what a person wrote on the project's page, without its heading and the generated part."""
    data = disk.read_path(request.config.vault, page) or b""
    if not pages.is_worded(request.config.vault, data):
        return ""
    body = journal.outside(note.parse(data).body).lstrip()
    return markdown.render(body.partition("\n")[2] if body.startswith("# ") else body, page.rpartition("/")[0])


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

    Raises:
        NotFoundError: when there is no such file, or notes may not show files of its type.
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
