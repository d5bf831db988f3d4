"""RESOURCES: notes, sessions and projects by their address. PROMPTS: ready-made requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from mdmem import timestamps
from mdmem.server import entries, lookup, reading, safe_text, sessions
from mdmem.server.access import FOR_TEXT, FOR_TITLES, Access
from mdmem.server.internal.context import home, load_config


class Resource(NamedTuple):
    """One kind of address.

    function: takes an `Access` and the address's variable ("" if it has none), and returns lines.
    needs: the trust that an accessor needs.
    """

    address: str
    name: str
    title: str
    function: Callable[[Access, str], list[str]]
    needs: float = FOR_TITLES


class Prompt(NamedTuple):
    """One ready-made request. argument: name and description. function: returns the text.

    needs: the trust that an accessor needs. required: whether the argument is required.
    """

    name: str
    title: str
    description: str
    argument: tuple[str, str]
    function: Callable[[Access, str], str]
    needs: float = FOR_TITLES
    required: bool = False


def note(access: Access, id: str) -> list[str]:  # noqa: A002 - the address's variable
    """Read one note."""
    path, parsed = lookup.resolve(access, id)
    whole = reading.whole_note(access, path, parsed, 0, reading.MAX_CHARS)
    return reading.notes_text({"notes": [whole], "missing": [], "unread": []})


def session(access: Access, id: str) -> list[str]:  # noqa: A002 - the address's variable
    """Read one session."""
    return sessions.session_text(sessions.get_session(access, id, limit=reading.MAX_LIMIT))


def project(access: Access, slug: str) -> list[str]:
    """Read a project at a glance."""
    return sessions.context_text(sessions.project_context(access, slug))


def ghost(access: Access, _: str) -> list[str]:
    """Return the ghost's persona, in its owner's words, and the trust in this connection."""
    context = access.context()
    settings = load_config(access.config, home(access.config, context))
    persona = access.text(settings.persona) if settings.persona else "Its owner has not written a persona."
    return [persona, f"Trust in this connection's accessor: {access.trust:g} of 1."]


def _recall(access: Access, topic: str) -> str:
    page = reading.search(access, topic, limit=15)
    return (
        f"What do we know about {topic!r} from earlier sessions? Read what matters with `get_notes`, look around it"
        " with `timeline`, and answer with dates and [mem:ID] citations. If nothing fits, say so.\n\n"
        + safe_text.fenced(entries.lines(page))
    )


def _standup(access: Access, since: str) -> str:
    first = since or (datetime.now().astimezone() - timedelta(days=1)).strftime("%Y-%m-%d")
    asked = lookup.parsed(access, "", since=first)
    done = sessions.summaries(access, since=timestamps.iso_time(asked.since or 0), limit=30)
    return (
        f"Write a stand-up for the time since {first}: by project, what was done, was decided, failed, and is still"
        " open; one line each, with [mem:ID] where a note has the details (`get_session` reads a session).\n\n"
        + safe_text.fenced(sessions.summaries_text(done))
    )


def _handoff(access: Access, project: str) -> str:
    known = sessions.project_context(access, project)
    return (
        "Write a handoff for whoever continues this work: the goal, the state, what was decided and why, what is"
        " open, what to do next, which files matter. Show it to me, and save it with `add_note` (tag `handoff`) when"
        " I agree.\n\n" + safe_text.fenced(sessions.context_text(known))
    )


RESOURCES = (
    Resource("mdmem://note/{id}", "note", "A note", note, FOR_TEXT),
    Resource("mdmem://session/{id}", "session", "A session", session),
    Resource("mdmem://project/{slug}", "project", "A project", project),
    Resource("mdmem://ghost", "ghost", "Who this ghost is", ghost),
)

PROMPTS = (
    Prompt(
        "recall",
        "Recall",
        "What earlier sessions say about a topic.",
        ("topic", "What it is about."),
        _recall,
        required=True,
    ),
    Prompt(
        "standup",
        "Stand-up",
        "What was done since yesterday.",
        ("since", "Start of the period; default: yesterday."),
        _standup,
    ),
    Prompt("handoff", "Handoff", "Sum up the work for whoever continues it.", ("project", "Project name."), _handoff),
)
