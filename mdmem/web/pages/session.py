"""Session: a conversation, turn by turn. Tool runs are folded, and read when they are opened."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from starlette.responses import Response

from mdmem.agents.install import catalog
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.search import solved
from mdmem.search.index.view import View
from mdmem.vault import generated, note
from mdmem.views import conversation, injections, sessions
from mdmem.views.injections import Injection
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow, SessionTurn
from mdmem.web import markdown
from mdmem.web.pages import shared
from mdmem.web.site import PageRequest

NOTES_ON_A_PAGE = 150


class ShownStep(NamedTuple):
    """A note of a turn. html: its text if it is shown at once; tool runs are read when they are opened."""

    row: NoteRow
    html: str


class OutlinedTurn(NamedTuple):
    """A prompt in the list beside a session. page: the part that shows it. failed: its turn was interrupted."""

    number: int
    title: str
    page: int
    failed: bool


class ShownTurn(NamedTuple):
    """A turn as shown. said: prompts, answers and summaries in order, each with the tool runs before it.

    first: whether the turn begins here; False for the rest of a turn that was split over two pages.
    """

    number: int
    first: bool
    said: list[tuple[list[NoteRow], ShownStep | None]]
    given: list[Injection]


def session(request: PageRequest) -> Response:
    """Show a session, or the part of a long one."""
    row, older, newer = _around(request)
    turns = sessions.turns(request.view, row.session)
    parts = _parts(turns)
    first = len(parts) if "last" in request.query else _part_of(parts, request.number("turn", 0))
    part = shared.part(len(parts), request.number("page", first), 1)
    log = [logged for logged in injections.log(request.config) if logged.get("session") == row.session]
    given_injections = injections.read(request.view, log)
    turns_shown = parts[part.start] if parts else []
    steps = [step for turn in turns for step in turn.rows]
    page = note.load(request.config.vault, row.page) if row.page else None
    shown = [_shown_turn(request.config, turn, _given_to(turn, turns, given_injections)) for turn in turns_shown]
    given_first = [injection for injection in given_injections if injection.event == "SessionStart"]
    given = chain(given_first, *(turn.given for turn in shown))
    return request.page(
        "session",
        session=row,
        older=older,
        newer=newer,
        turns=shown,
        given_first=given_first,
        memories=request.rows_by_id({name for injection in given for name in injection.ids}),
        part_of=part,
        outline=_outline(parts),
        resume=_resume(request.view, row, steps),
        files=_files(request.view, row),
        commits=_commits(request, steps),
        words=_own_words(page.body) if page else "",
        base=row.page.rpartition("/")[0],
    )


def _around(request: PageRequest) -> tuple[SessionRow, SessionRow | None, SessionRow | None]:
    """Return the requested session, and the sessions before and after it in its project."""
    table = sessions.table(request.view)
    name = request.parts["name"]
    term = conversation.only(conversation.candidates(request.view, name), name)
    row = next((row for row in table if conversation.term_of(row.session) == term), None)
    if row is None:
        raise NotFoundError(f"There is no session {name!r:.60}.")
    of_project = [session for session in table if session.project == row.project]
    place = of_project.index(row)
    older = of_project[place + 1] if place + 1 < len(of_project) else None
    return row, older, of_project[place - 1] if place else None


def _part_of(parts: list[list[SessionTurn]], number: int) -> int:
    """Return the number of the part, from 1, that shows the turn with this number; the first if none does."""
    return next((page for page, part in enumerate(parts, 1) if any(turn.number == number for turn in part)), 1)


def _parts(turns: list[SessionTurn]) -> list[list[SessionTurn]]:
    """Split a session into pages of whole turns; a turn longer than a page is split too."""
    parts: list[list[SessionTurn]] = []
    room = 0
    for turn in turns:
        for start in range(0, len(turn.rows), NOTES_ON_A_PAGE):
            piece = turn._replace(rows=turn.rows[start : start + NOTES_ON_A_PAGE])
            if len(piece.rows) > room:
                parts.append([])
                room = NOTES_ON_A_PAGE
            parts[-1].append(piece)
            room -= len(piece.rows)
    return parts


def _shown_turn(config: Config, turn: SessionTurn, injected: list[Injection]) -> ShownTurn:
    steps: list[tuple[list[NoteRow], ShownStep | None]] = []
    runs: list[NoteRow] = []
    for row in turn.rows:
        if row.kind == "observation":
            runs.append(row)
            continue
        parsed = note.load(config.vault, row.path)
        steps.append((runs, ShownStep(row, markdown.render(parsed.body, row.path.rpartition("/")[0]))))
        runs = []
    if runs:
        steps.append((runs, None))
    return ShownTurn(turn.number, any(row.kind == "prompt" for row in turn.rows), steps, injected)


def _outline(parts: list[list[SessionTurn]]) -> list[OutlinedTurn]:
    """Return the prompts of a session, each with the part that shows it."""
    outline: list[OutlinedTurn] = []
    for page, turns in enumerate(parts, 1):
        for turn in turns:
            prompt = next((row for row in turn.rows if row.kind == "prompt"), None)
            if prompt is not None:
                failed = any(row.kind == "response" and row.success is False for row in turn.rows)
                outline.append(OutlinedTurn(turn.number, prompt.title, page, failed))
    return outline


def _given_to(turn: SessionTurn, turns: list[SessionTurn], injected: list[Injection]) -> list[Injection]:
    """Return the injections of a turn: those between its prompt and the next one, whose number need not follow."""
    place = [each.number for each in turns].index(turn.number)
    first, last = turn.rows[0].created, turns[place + 1].rows[0].created if place + 1 < len(turns) else "~"
    return [injection for injection in injected if injection.event != "SessionStart" and first <= injection.time < last]


def _resume(view: View, row: SessionRow, steps: list[NoteRow]) -> str:
    """Return the command that resumes a session in its folder; "" if its agent has none."""
    first = view.find(steps[0].path) if steps else None
    cwd = view.facts(first).get("cwd", "") if first is not None else ""
    return catalog.resume_command(row.agent, row.session, str(cwd))


def _files(view: View, row: SessionRow) -> list[str]:
    numbers = solved.edits(view, view.of_session(row.session))
    names = (name for number in sorted(numbers) for name in view.facts(number).get("files", ()))
    return list(dict.fromkeys(map(str, names)))[:40]


def _commits(request: PageRequest, steps: list[NoteRow]) -> list[tuple[str, str, NoteRow]]:
    """Return id, subject and tool run of each commit. Only runs whose title mentions a commit are read."""
    likely = [row for row in steps if row.kind == "observation" and "commit" in row.title][:20]
    run_of_commit: dict[str, NoteRow] = {}
    for row in likely[::-1]:
        meta = note.load(request.config.vault, row.path).meta
        run_of_commit[str(meta.get("made_commit") or "")] = row
    return [(*text.partition(": ")[::2], row) for text, row in reversed(run_of_commit.items()) if text]


def _own_words(body: str) -> str:
    """Return the user's own text on the session's page, which is after the generated part."""
    return generated.parts_of(body)[2].strip().removeprefix("## Notes").strip()


def latest(request: PageRequest) -> Response:
    """Redirect to the latest session."""
    row = sessions.latest(request.view)
    return request.back(f"/session/{row.tag}" if row else "/")


def body(request: PageRequest) -> Response:
    """Return the text of one note, for a fold that was opened."""
    opened = request.note(request.parts["name"])
    step = conversation.ConversationStep(opened.path, opened.parsed.meta, opened.parsed.body)
    return request.page("body", note=opened, step=step, base=opened.path.rpartition("/")[0])
