"""The vault's start page, its README.md: projects, last sessions, open ends, decisions, pinned notes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from mdmem.capture import page
from mdmem.vault import disk, generated, journal
from mdmem.views import listed, review_queue, sessions, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.search.index.view import View
    from mdmem.views.listed import Listing
    from mdmem.views.rows import NoteRow
    from mdmem.views.sessions import SessionRow

PATH = "README.md"
MAX_PROJECTS = 50
MAX_SESSIONS = 10
OPEN_AMONG = 20
"""Open ends are looked for in so many of the last sessions."""
MAX_OPEN = 8
MAX_DAYS = 7
MAX_WAITING = 50
"""Notes that wait for a review are counted up to here: each is read to see whether it stays on this machine."""


def lines(found: Listing) -> list[str]:
    """Return what lies between the markers of the start page."""
    named = list(islice(found.named(found.sessions), OPEN_AMONG))
    parts = [
        listed.section("Projects", list(islice(_projects(found), MAX_PROJECTS))),
        listed.section("Last sessions", [listed.session_line(one, project=True) for one in named[:MAX_SESSIONS]]),
        listed.section("Last days", list(islice(_days(found), MAX_DAYS))),
        listed.section("Open ends", list(islice(_open(found, named), MAX_OPEN))),
        listed.section("Decisions", [listed.note_line(row) for row in found.notes(listed.DECISIONS)]),
        listed.section("Pinned", [listed.note_line(row) for row in found.notes(listed.PINNED)]),
        _review(found),
    ]
    made = [line for part in parts for line in part]
    return ["", *made] if made else []


def _projects(found: Listing) -> Iterator[str]:
    """Write each project with its sessions, the one that was worked on last first."""
    folders: dict[str, list[SessionRow]] = {}
    for one in found.sessions:
        if one.page.count("/") > 1:
            folders.setdefault(one.page.split("/")[1], []).append(one)
    for name, held in folders.items():
        path = f"journal/{name}/{journal.PROJECT_PAGE}"
        if found.leaves(path):
            counted = wording.number(len(held), "session")
            yield f"- {listed.link(name, path)}: {counted}, the last on {listed.day(held[0])}"


def _days(found: Listing) -> Iterator[str]:
    """Write the days on which somebody worked, the last one first, with the number of sessions."""
    for name in sorted(found.days, reverse=True):
        held = [one for one in found.sessions if listed.day(one) == name]
        count = sum(1 for _ in found.named(held))
        yield f"- {listed.link(name, f'{generated.DAYS}/{name}.md')}: {wording.number(count, 'session')}"


def _review(found: Listing) -> list[str]:
    """Write how much came since the last review.

    When that was, is taken from this machine's history or from the page, whichever is later: the page brings it to the
    other machines, so that all of them write the same.
    """
    old = generated.inside(disk.read_path(found.root, PATH) or b"")
    seen = max(generated.last_review(old), review_queue.last_review(found.config), key=disk.epoch)
    mark = [generated.review_mark(seen), ""] if seen else []
    numbers = list(islice(review_queue.since(found, seen), MAX_WAITING + 1))
    waiting = f"More than {MAX_WAITING} notes" if len(numbers) > MAX_WAITING else asked(found.view, numbers)
    lines = [f"- {waiting}{f' since {seen[:10]}' if seen else ''}: `mdmem review`"] if waiting else []
    return [*listed.section("Review", lines), *mark]


def asked(view: View, numbers: Iterable[int]) -> str:
    """Say what a review of these notes asks about: `2 sessions and 1 note`; "" for nothing."""
    counts = zip(review_queue.screens(view, numbers), ("session", "note"), strict=True)
    return " and ".join(wording.number(count, noun) for count, noun in counts if count)


def _open(found: Listing, named: list[SessionRow]) -> Iterator[str]:
    """Write what was not finished when the last sessions ended."""
    for one in named:
        for row, why in open_ends(found.view, one):
            if found.leaves(row.path):
                yield f"- {listed.link(row.title, row.path)} ({page.link_text(one.project)}, {listed.day(one)}): {why}"


def open_ends(view: View, one: SessionRow) -> Iterator[tuple[NoteRow, str]]:
    """Yield the notes with which a session was left unfinished, and why: no answer, a failed turn or run."""
    made = [turn for turn in sessions.turns(view, one.session) if any(row.kind == "prompt" for row in turn.rows)]
    if not made:
        return
    last = made[-1].rows
    answers = [row for row in last if row.kind == "response"]
    runs = [row for row in last if row.kind == "observation"]
    if not answers:
        yield next(row for row in last if row.kind == "prompt"), "no answer"
    elif answers[-1].success is False:
        yield answers[-1], "the turn failed"
    if runs and runs[-1].success is False:
        yield runs[-1], "failed, and nothing was run after it"
