"""The tools that read sessions and projects: a whole session, a project at a glance, statistics."""

from __future__ import annotations

from collections.abc import Set
from itertools import islice
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import plural, timestamps
from mdmem.errors import NotFoundError
from mdmem.history import session_log
from mdmem.search import staged, withheld
from mdmem.search.all_but import AllBut
from mdmem.search.index.view import View
from mdmem.server import entries, lookup
from mdmem.server.access import Access
from mdmem.server.entries import FoundNotes, NoteLine
from mdmem.server.reading import Limit, Offset, ProjectName, page_of_hits
from mdmem.vault import journal, note
from mdmem.views import conversation
from mdmem.views.conversation import ConversationStep

MAX_SESSIONS = 5
MAX_PINNED = 10
MAX_DECISIONS = 10
MAX_ASKS = 12


class SessionView(TypedDict):
    """A session: its facts, and a page of its notes in order."""

    session: str
    title: str
    project: str
    agent: str
    branch: str
    started: str
    ended: str
    notes: FoundNotes


class Summary(TypedDict):
    """A summary of a session. asks: the titles of its prompts. outcome: as in `LoggedSession`."""

    session: str
    title: str
    started: str
    asks: list[str]
    outcome: str
    files: list[str]
    notes: int


_SEEN_ANYWAY = ("No note has is:pinned.", "No note has tag:decision.")
"""Hints that an empty list in a project's context makes redundant."""


class ProjectContext(TypedDict):
    """A project at a glance."""

    project: str
    pinned: list[NoteLine]
    sessions: list[Summary]
    decisions: list[NoteLine]
    hints: list[str]


class Stats(TypedDict):
    """Numbers of notes, without those that are hidden from this connection."""

    vault: str
    notes: int
    by_kind: dict[str, int]
    by_project: dict[str, int]
    sessions: int
    first: str
    last: str


def get_session(
    access: Access,
    session: Annotated[str, Field(description="Session id or its beginning, a note in it, or `latest`.")] = "latest",
    project: ProjectName = "",
    limit: Limit = 30,
    offset: Offset = 0,
) -> SessionView:
    """Read a session in order: what was asked, what was done, what was answered, one line each."""

    def read(view: View) -> SessionView | None:
        term = _term(access, view, session.strip(), project)
        paths = (view.path(number) for number in view.notes("facet", term))
        visible = ((path, parsed) for path in paths if (parsed := lookup.read(access, path)) is not None)
        log = conversation.of_notes(ConversationStep(path, parsed.meta, parsed.body) for path, parsed in visible)
        if not (log.page or log.steps):
            return None
        page = [entries.of_note(access, step) for step in log.steps[offset : offset + limit]]
        times = log.times or [timestamps.utc(log.fact("created"))]
        return {
            "session": access.line(log.session, 80),
            "title": access.line(log.title, 120),
            "project": access.line(log.fact("project"), 120),
            "agent": access.line(log.fact("agent"), 120),
            "branch": access.line(log.fact("branch"), 120),
            "started": access.line(times[0], 30),
            "ended": access.line(times[-1], 30),
            "notes": entries.paged(page, len(log.steps), offset, limit),
        }

    session_view, notices = lookup.ask(access, read, None)
    if session_view is None:
        raise NotFoundError(f"There is no session {session!r:.60}. `search` with kind:session finds them.")
    session_view["notes"]["hints"] += notices
    return session_view


def _term(access: Access, view: View, name: str, project: str) -> str:
    """Return the index's term for a session by its name; "" if there is none that this connection may see."""
    if name in ("", "latest"):
        hidden = staged.hidden(view, access.here)
        return conversation.latest(view, project, hidden=hidden, seen=lambda number: _reads(access, view, number))
    terms = [
        term
        for term in conversation.candidates(view, name)
        if any(_reads(access, view, number) for number in view.notes("facet", term))
    ]
    terms = terms or _of_note(access, name)
    return conversation.only(terms, name) if terms else ""


def _reads(access: Access, view: View, number: int) -> bool:
    return lookup.read(access, view.path(number)) is not None


def _of_note(access: Access, name: str) -> list[str]:
    try:
        _, parsed = lookup.resolve(access, name)
    except NotFoundError:
        return []
    session = parsed.fact("session")
    return [conversation.term_of(session)] if session else []


def project_context(
    access: Access, project: Annotated[str, Field(description="Default: the current one.")] = ""
) -> ProjectContext:
    """Show a project at a glance: pinned notes, the last sessions and how they ended, decisions."""
    name = project or access.project
    pins = lookup.parsed(access, "", project=name, **{"is": "pinned"})
    decisions = lookup.parsed(access, "", project=name, tag="decision")
    pinned = page_of_hits(access, pins, sort="newest", limit=MAX_PINNED, offset=0)
    decided = page_of_hits(access, decisions, sort="newest", limit=MAX_DECISIONS, offset=0)
    context: ProjectContext = {
        "project": access.line(name, 80),
        "pinned": pinned["entries"],
        "sessions": summaries(access, project=name),
        "decisions": decided["entries"],
        "hints": sorted({hint for hint in (*pinned["hints"], *decided["hints"]) if not hint.startswith(_SEEN_ANYWAY)}),
    }
    if name and not (context["pinned"] or context["sessions"] or context["decisions"]):
        projects = stats(access)["by_project"]
        if name.lower() not in projects:
            context["hints"].append(
                f"{context['project']} has no notes. Projects with notes: {', '.join(projects) or 'none'}."
            )
    return context


def summaries(access: Access, *, project: str = "", since: str = "", limit: int = MAX_SESSIONS) -> list[Summary]:
    """Return summaries of the latest sessions, of one project or of all."""
    logged = session_log.sessions(access.config, access.sees, project=project, since=since)
    waiting, _ = lookup.ask(access, lambda view: staged.folders(view, access.here), frozenset[str]())
    visible = (
        session
        for session in logged
        if session.folder not in waiting
        and access.sees(journal.page_paths(session.folder)[0], {"project": session.project})
    )
    return [_summary(access, session) for session in islice(visible, limit)]


def _summary(access: Access, session: session_log.LoggedSession) -> Summary:
    return {
        "session": access.line(session.session, 80),
        "title": access.line(session.title),
        "started": timestamps.readable(session.started),
        "asks": [access.line(ask) for ask in session.asks[:MAX_ASKS]],
        "outcome": access.line(session.outcome, 240),
        "files": [] if access.titles_only else [access.line(file, 120) for file in session.files[:MAX_ASKS]],
        "notes": session.notes,
    }


def stats(access: Access) -> Stats:
    """Return how much is remembered, of what kind, about which projects, and since when."""

    def count(view: View) -> Stats:
        hidden = view.internal | view.of_kinds(note.PAGES) | withheld.from_project(view, access.project)
        for name in access.hidden:
            hidden |= view.of_project(name)
        visible, created = AllBut(view, hidden), view.numbers("created")
        times = [bound(map(created.__getitem__, visible)) for bound in (min, max)] if visible else []
        return {
            "vault": access.config.vault,
            "notes": len(visible),
            "by_kind": _counts(access, view, "kind", hidden),
            "by_project": _counts(access, view, "project", hidden),
            "sessions": len(_counts(access, view, "session", hidden, limit=1_000_000)),
            "first": timestamps.iso_time(times[0]) if times else "",
            "last": timestamps.iso_time(times[1]) if times else "",
        }

    nothing: Stats = {
        "vault": access.config.vault, "notes": 0, "by_kind": {}, "by_project": {}, "sessions": 0,
        "first": "", "last": "",
    }  # fmt: skip
    return lookup.ask(access, count, nothing)[0]


def _counts(access: Access, view: View, key: str, hidden: Set[int], limit: int = 30) -> dict[str, int]:
    counted = {
        term.partition(":")[2]: sum(number not in hidden for number in view.each("facet", term))
        for term in view.starting_with("facet", f"{key}:")
    }
    most = sorted(((name, number) for name, number in counted.items() if name and number), key=lambda item: -item[1])
    return {access.line(name, 80): number for name, number in most[:limit]}


# -- as text ---------------------------------------------------------------------------------------


def session_text(view: SessionView) -> list[str]:
    """Return a session as text."""
    facts = [view[key] for key in ("project", "agent", "branch", "session") if view[key]]
    head = f"{view['title']} ({timestamps.readable(view['started'])} to {timestamps.readable(view['ended'])})"
    return [head, ", ".join(facts), *entries.lines(view["notes"])]


def context_text(context: ProjectContext) -> list[str]:
    """Return a project at a glance as text."""
    lines = [f"Project {context['project']}" if context["project"] else "All projects"]
    for heading, part in (("Pinned", context["pinned"]), ("Decisions", context["decisions"])):
        if part:
            lines += ["", f"## {heading}", *entries.rows(part)]
    lines += ["", "## Last sessions", *summaries_text(context["sessions"])]
    return lines + context["hints"]


def summaries_text(summaries: list[Summary]) -> list[str]:
    """Return summaries of sessions as text."""
    lines = []
    for summary in summaries:
        notes = plural.number(summary["notes"], "note")
        lines.append(f"- {summary['started']} {summary['title']} (session {summary['session']}, {notes})")
        lines += [f"  asked: {ask}" for ask in summary["asks"][1:]]
        if summary["outcome"]:
            lines.append(f"  outcome: {summary['outcome']}")
        if summary["files"]:
            lines.append(f"  files: {', '.join(summary['files'])}")
    return lines or ["None."]


def stats_text(stats: Stats) -> list[str]:
    """Return the numbers as text."""
    if not stats["notes"]:
        return ["No notes yet."]
    kinds = ", ".join(f"{count} {kind}" for kind, count in stats["by_kind"].items())
    projects = ", ".join(f"{name} {count}" for name, count in stats["by_project"].items())
    first, last = (timestamps.readable(end)[:10] for end in (stats["first"], stats["last"]))
    notes, sessions = plural.number(stats["notes"], "note"), plural.number(stats["sessions"], "session")
    return [
        f"{notes} of {sessions}, {first} to {last}: {kinds}.",
        f"Projects: {projects or 'none'}.",
    ]
