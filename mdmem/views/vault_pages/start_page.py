"""The vault's start page, its README.md: projects, latest sessions, open work, decisions, pinned notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from mdmem import plural, timestamps
from mdmem.capture import page
from mdmem.history import review
from mdmem.inject.open_work import HEADING
from mdmem.learn.work import OpenItem
from mdmem.search.index.view import View
from mdmem.vault import START_PAGE, disk, generated, journal, layout
from mdmem.views import review_queue
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import day_page, listed, open_work
from mdmem.views.vault_pages.listed import Listing

MAX_PROJECTS = 50
MAX_SESSIONS = 10
MAX_OPEN = 8
MAX_DAYS = 7
MAX_WAITING = 50
"""Notes to review are counted up to this: each is read to see whether it stays on this machine."""


def lines(listing: Listing, open_items: list[OpenItem]) -> list[str]:
    """Return the generated part of the start page. open_items: the open work of all projects."""
    latest = islice(listing.nameable(listing.sessions), MAX_SESSIONS)
    parts = [
        listed.section("Projects", list(islice(_projects(listing), MAX_PROJECTS))),
        listed.section("Last sessions", [listed.session_line(session, project=True) for session in latest]),
        listed.section("Last days", list(islice(_days(listing), MAX_DAYS))),
        listed.section(HEADING, list(islice(_open(listing, open_items), MAX_OPEN))),
        listed.section("Decisions", [listed.note_line(row) for row in listing.notes(listed.DECISIONS)]),
        listed.section("Pinned", [listed.note_line(row) for row in listing.notes(listed.PINNED)]),
        _review(listing),
    ]
    generated_lines = [line for part in parts for line in part]
    return ["", *generated_lines] if generated_lines else []


def _projects(listing: Listing) -> Iterator[str]:
    """Yield each project with its number of sessions, the most recent one first."""
    folders: dict[str, list[SessionRow]] = {}
    for session in listing.sessions:
        if name := layout.project_of(session.page):
            folders.setdefault(name, []).append(session)
    for name, sessions in folders.items():
        path = journal.project_page(name)
        if listing.leaves(path):
            counted = plural.number(len(sessions), "session")
            yield f"- {listed.link(name, path)}: {counted}, the last on {listed.day(sessions[0])}"


def _days(listing: Listing) -> Iterator[str]:
    """Yield the days with sessions, newest first, with the number of sessions."""
    for name in sorted(listing.days, reverse=True):
        sessions = [session for session in listing.sessions if listed.day(session) == name]
        count = sum(1 for _ in listing.nameable(sessions))
        yield f"- {listed.link(name, listing.day_page(name))}: {plural.number(count, 'session')}"


def _review(listing: Listing) -> list[str]:
    """Return how much is new since the last review.

    The time of that is taken from this machine's history or from the page, whichever is later: the page carries it to
    the other machines, so that all write the same.
    """
    old = generated.inside(disk.readable(listing.root, START_PAGE) or b"")
    last_review = max(generated.last_review(old), review.last_review(listing.config), key=timestamps.epoch)
    mark = [generated.review_mark(last_review), ""] if last_review else []
    numbers = list(islice(review_queue.since(listing, last_review), MAX_WAITING + 1))
    waiting = f"More than {MAX_WAITING} notes" if len(numbers) > MAX_WAITING else review_size(listing.view, numbers)
    lines = [f"- {waiting}{f' since {last_review[:10]}' if last_review else ''}: `mdmem review`"] if waiting else []
    return [*listed.section("Review", lines), *mark]


def review_size(view: View, numbers: Iterable[int]) -> str:
    """Return what a review of these notes asks about: `2 sessions and 1 note`; "" for nothing."""
    counts = zip(review_queue.screens(view, numbers), ("session", "note"), strict=True)
    return " and ".join(plural.number(count, noun) for count, noun in counts if count)


def _open(listing: Listing, open_items: list[OpenItem]) -> Iterator[str]:
    """Yield the open work, newest first."""
    for item in open_work.in_order(listing, open_items):
        number = listing.view.find(item.path)
        day = day_page.date_of(listing.root, item.path) if number is not None and listing.created(number) else ""
        project_and_day = ", ".join(filter(None, (page.link_text(item.project), day)))
        line = f"- {open_work.LABELS[item.kind]}: {listed.link(item.text, item.path)}"
        yield f"{line} ({project_and_day})" if project_and_day else line
