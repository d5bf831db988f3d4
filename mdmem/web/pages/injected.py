"""Injected: what each session was given, why, at what cost, what of it was cited; and who asked and got nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mdmem import timestamps
from mdmem.views import injections, rows, sessions
from mdmem.web.pages import shared

if TYPE_CHECKING:
    from starlette.responses import Response

    from mdmem.search.index.view import View
    from mdmem.views.injections import Injection
    from mdmem.views.rows import NoteRow
    from mdmem.views.sessions import SessionRow
    from mdmem.web.site import PageRequest

SIZE = 20
SECONDS_APART = 60
"""A prompt's note and what was given with it are no further apart than this."""


class ShownInjection(NamedTuple):
    """One injection with the prompt that it came with and the notes that were given; a note that is gone is None."""

    given: Injection
    session: SessionRow | None
    prompt: NoteRow | None
    notes: list[tuple[str, NoteRow | None]]


def _shown(request: PageRequest, one: Injection, session: SessionRow | None) -> ShownInjection:
    return ShownInjection(one, session, _prompt(request.view, one), [(name, request.row(name)) for name in one.ids])


def _prompt(view: View, one: Injection) -> NoteRow | None:
    """Return the prompt that was being sent: the one of the session that came nearest in time."""
    if one.event != "UserPromptSubmit":
        return None
    when, created = timestamps.epoch(one.time), view.numbers("created")
    prompts = view.of_session(one.session) & view.notes("facet", "kind:prompt")
    nearest = min(prompts, key=lambda number: abs(created[number] - when), default=None)
    near = nearest is not None and abs(created[nearest] - when) <= SECONDS_APART
    return rows.row(view, nearest) if near and nearest is not None else None


def injected(request: PageRequest) -> Response:
    """Show what was given, the last first."""
    log = injections.log(request.config)
    misses_only = request.query.get("only") == "nothing"
    wanted = [row for row in reversed(log) if not misses_only or injections.is_miss(row)]
    part = shared.part(len(wanted), request.number("page"), SIZE)
    read = injections.read(request.view, wanted[part.start : part.end])
    table = {row.session: row for row in sessions.table(request.view)}
    given = [row for row in log if row.get("ids")]
    return request.page(
        "injected",
        shown=[_shown(request, one, table.get(one.session)) for one in read],
        part_of=part,
        times=len(given),
        memories=sum(len(row["ids"]) for row in given),
        tokens=sum(map(injections.tokens, log)),
        nothing=sum(map(injections.is_miss, log)),
        misses_only=misses_only,
    )
