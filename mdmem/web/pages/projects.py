"""Projects: the list of all, and the start page of each."""

from __future__ import annotations

import time
from datetime import date

from starlette.responses import Response

from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.history import pages
from mdmem.learn import work
from mdmem.learn.work import OpenItem
from mdmem.search import replaced
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import disk, generated, journal, note
from mdmem.views import sessions, wording
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import listed, open_work
from mdmem.web import markdown
from mdmem.web.pages import shared
from mdmem.web.pages.timeline import calendar
from mdmem.web.site import PageRequest

SESSIONS_SHOWN = 15
MOST_FILES = 12
MOST_DECISIONS = 10
MOST_OPEN = 10
MOST_WRITTEN = 10
_EDITS = 1_000
"""Number of newest edits from which the most changed files are counted."""
_SPARK_WEEKS = 26


def weeks(counts: dict[str, int], today: date | None = None) -> list[int]:
    """Return the number of notes in each of the last `_SPARK_WEEKS` weeks, oldest first."""
    last = today or date.today()  # noqa: DTZ011 - days are the user's
    totals = [0] * _SPARK_WEEKS
    for day, count in counts.items():
        weeks_ago = (last - date.fromisoformat(day)).days // 7
        if 0 <= weeks_ago < _SPARK_WEEKS:
            totals[-1 - weeks_ago] += count
    return totals


def projects(request: PageRequest) -> Response:
    """Show every project with its number of notes, and when it was last worked on."""
    sessions_of: dict[str, list[SessionRow]] = {}
    for row in sessions.table(request.view):
        sessions_of.setdefault(row.project, []).append(row)
    view = request.view
    written = view.of_kinds(note.WRITTEN)
    projects = [
        {
            "name": name,
            "sessions": len(sessions_of.get(name, ())),
            "notes": sum(days.values()),
            "newest": max(days),
            "last": sessions_of[name][0] if name in sessions_of else None,
            "written": [] if name in sessions_of else shared.newest(view, written, project=name, most=1),
            "weeks": weeks(days),
        }
        for name in sessions.projects(view)
        if (days := sessions.by_day(view, name))
    ]
    projects.sort(key=lambda project: str(project["newest"]), reverse=True)
    return request.page("projects", projects=projects, day=wording.day)


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
    body = generated.outside(note.parse(data).body).lstrip()
    return markdown.render(body.partition("\n")[2] if body.startswith("# ") else body, page.rpartition("/")[0])
