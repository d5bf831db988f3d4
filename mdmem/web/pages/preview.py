"""Preview: what an agent sees when a session starts in a project, and for a prompt that is typed here; and why."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mdmem.agents import Event
from mdmem.agents.install.known import AGENTS
from mdmem.inject import block, context, occasion
from mdmem.project import Project
from mdmem.vault import journal, note
from mdmem.views import injections

if TYPE_CHECKING:
    from starlette.responses import Response

    from mdmem.web.site import PageRequest

MAX_PROMPT_CHARS = 4_000
_SECONDS = 60.0


def preview(request: PageRequest) -> Response:
    """Show what would be given; nothing is remembered of it."""
    places = _places(request)
    project = request.query.get("project", "") or next(iter(places), "")
    place = places.get(project) or Project(project or "none", "/")
    agent = request.query.get("agent", "claude-code")
    agent = agent if agent in AGENTS else "claude-code"
    prompt = request.query.get("prompt", "")[:MAX_PROMPT_CHARS]
    started = Event(agent=agent, name="SessionStart", session="", cwd=place.root, source="startup")
    typed = Event(agent=agent, name="UserPromptSubmit", session="", cwd=place.root, prompt=prompt)
    now, deadline = time.time(), time.monotonic() + _SECONDS
    found = context.explain(request.config, typed, now, deadline, place) if prompt else None
    shown = found.block if found else context.at_start(request.config, started, now, deadline, place)
    return request.page(
        "preview",
        projects=list(places),
        project=project,
        assumed=occasion.Occasion(request.config, typed, now, deadline, place).project,
        agent=agent,
        agents=list(AGENTS),
        prompt=prompt,
        block=shown,
        found=found,
        grade=injections.GRADES[found.asked.grade if found and found.asked else 0],
        long=request.config.settings.inject.after_chars,
        tokens=block.tokens(shown.text) if shown else 0,
    )


def _places(request: PageRequest) -> dict[str, Project]:
    """Return the projects of the journal as hooks know them, those with most notes first."""
    view = request.view
    counted = {term[8:]: len(view.notes("facet", term)) for term in view.starting_with("facet", "project:")}
    made: dict[str, Project] = {}
    for name in journal.folders(f"{request.config.vault}/journal"):
        meta = note.load(request.config.vault, f"journal/{name}/{journal.PROJECT_PAGE}").meta
        known = journal.identities(request.config, name)
        remote = next((one for one in known if not one.startswith("path:")), "")
        root = next(
            (one.removeprefix("path:") for one in known if one.startswith("path:")), str(meta.get("root") or "/")
        )
        made[name] = Project(name, root, remote)
    return dict(sorted(made.items(), key=lambda item: (-counted.get(item[0].lower(), 0), item[0])))
