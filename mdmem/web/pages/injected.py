"""Injected: what sessions were given, why, at what cost, and what they cited; and prompts that got nothing."""

from __future__ import annotations

import time
from typing import NamedTuple

from starlette.responses import Response

from mdmem import timestamps
from mdmem.agents import Event
from mdmem.agents.install.catalog import AGENTS
from mdmem.inject import context, occasion
from mdmem.inject.rendering import block
from mdmem.project import Project
from mdmem.search.index.view import View
from mdmem.vault import journal, layout, note, projects
from mdmem.views import injections, rows, sessions
from mdmem.views.injections import Injection
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

SIZE = 20
SECONDS_APART = 60
"""Maximum time between a prompt's note and its injection."""


class ShownInjection(NamedTuple):
    """One injection with its prompt, and its memories by id; a deleted note is None."""

    given: Injection
    session: SessionRow | None
    prompt: NoteRow | None
    memories: dict[str, NoteRow | None]


def _prompt(view: View, injection: Injection) -> NoteRow | None:
    """Return the prompt of an injection: the session's nearest in time."""
    if injection.event != "UserPromptSubmit":
        return None
    when, created = timestamps.epoch(injection.time), view.numbers("created")
    prompts = view.of_session(injection.session) & view.notes("facet", "kind:prompt")
    nearest = min(prompts, key=lambda number: abs(created[number] - when), default=None)
    if nearest is None or abs(created[nearest] - when) > SECONDS_APART:
        return None
    return rows.row(view, nearest)


def injected(request: PageRequest) -> Response:
    """Show what was given, newest first."""
    log = injections.log(request.config)
    misses_only = request.query.get("only") == "nothing"
    chosen = [row for row in reversed(log) if not misses_only or injections.is_miss(row)]
    part = shared.part(len(chosen), request.number("page"), SIZE)
    read = injections.read(request.view, chosen[part.start : part.end])
    table = {row.session: row for row in sessions.table(request.view)}
    with_memories = [row for row in log if row.get("ids")]
    return request.page(
        "injected",
        shown=[
            ShownInjection(given, table.get(given.session), _prompt(request.view, given), request.rows_by_id(given.ids))
            for given in read
        ],
        part_of=part,
        times=len(with_memories),
        memories=sum(len(row["ids"]) for row in with_memories),
        tokens=sum(map(injections.tokens, log)),
        nothing=sum(map(injections.is_miss, log)),
        misses_only=misses_only,
    )


MAX_PROMPT_CHARS = 4_000
_SECONDS = 60.0


def preview(request: PageRequest) -> Response:
    """Show what would be given, without recording it."""
    places = _places(request)
    project = request.query.get("project", "") or next(iter(places), "")
    place = places.get(project) or Project(project or "none", "/")
    agent = request.query.get("agent", "claude-code")
    agent = agent if agent in AGENTS else "claude-code"
    prompt = request.query.get("prompt", "")[:MAX_PROMPT_CHARS]
    started = Event(agent=agent, name="SessionStart", session="", cwd=place.root, source="startup")
    typed = Event(agent=agent, name="UserPromptSubmit", session="", cwd=place.root, prompt=prompt)
    now, deadline = time.time(), time.monotonic() + _SECONDS
    explanation = context.explain(request.config, typed, now, deadline, place) if prompt else None
    shown = explanation.block if explanation else context.at_start(request.config, started, now, deadline, place)
    return request.page(
        "preview",
        projects=list(places),
        project=project,
        assumed=occasion.Occasion(request.config, typed, now, deadline, place).project,
        agent=agent,
        agents=list(AGENTS),
        prompt=prompt,
        block=shown,
        explanation=explanation,
        grade=injections.GRADES[explanation.asked.grade] if explanation and explanation.asked else "no",
        triggered=injections.triggered(explanation, request.config.settings.inject.after_chars) if explanation else "",
        searched_for=injections.searched_for(explanation) if explanation else "",
        tokens=block.tokens(shown.text) if shown else 0,
    )


def _places(request: PageRequest) -> dict[str, Project]:
    """Return the journal's projects as hooks identify them, most notes first."""
    view = request.view
    counted = {term[8:]: len(view.notes("facet", term)) for term in view.starting_with("facet", "project:")}
    places: dict[str, Project] = {}
    for name in layout.projects(request.config.vault):
        meta = note.load(request.config.vault, journal.project_page(name)).meta
        remotes, roots = projects.remotes_and_roots(projects.identities(request.config, name))
        places[name] = Project(name, (roots or [str(meta.get("root") or "/")])[0], (remotes or [""])[0])
    return dict(sorted(places.items(), key=lambda item: (-counted.get(item[0].lower(), 0), item[0])))
