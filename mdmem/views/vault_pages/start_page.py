"""The vault's start page, its README.md: projects, latest sessions, open work, decisions, pinned notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from mdmem import plural, timestamps
from mdmem.capture import page
from mdmem.inject.open_work import HEADING
from mdmem.learn.work import OpenItem
from mdmem.search.index.view import View
from mdmem.vault import disk, generated, journal, layout
from mdmem.views import review_queue
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import day_page, listed, open_work
from mdmem.views.vault_pages.listed import Listing

PATH = "README.md"
MAX_PROJECTS = 50
MAX_SESSIONS = 10
MAX_OPEN = 8
MAX_DAYS = 7
MAX_WAITING = 50
"""Notes to review are counted up to this: each is read to see whether it stays on this machine."""


def lines(found: Listing, left: list[OpenItem]) -> list[str]:
    """Return the generated part of the start page. left: the open work of all projects."""
    named = islice(found.named(found.sessions), MAX_SESSIONS)
    parts = [
        listed.section("Projects", list(islice(_projects(found), MAX_PROJECTS))),
        listed.section("Last sessions", [listed.session_line(one, project=True) for one in named]),
        listed.section("Last days", list(islice(_days(found), MAX_DAYS))),
        listed.section(HEADING, list(islice(_open(found, left), MAX_OPEN))),
        listed.section("Decisions", [listed.note_line(row) for row in found.notes(listed.DECISIONS)]),
        listed.section("Pinned", [listed.note_line(row) for row in found.notes(listed.PINNED)]),
        _review(found),
    ]
    made = [line for part in parts for line in part]
    return ["", *made] if made else []


def _projects(found: Listing) -> Iterator[str]:
    """Yield each project with its number of sessions, the most recent one first."""
    folders: dict[str, list[SessionRow]] = {}
    for one in found.sessions:
        if name := layout.project_of(one.page):
            folders.setdefault(name, []).append(one)
    for name, held in folders.items():
        path = f"journal/{name}/{journal.PROJECT_PAGE}"
        if found.leaves(path):
            counted = plural.number(len(held), "session")
            yield f"- {listed.link(name, path)}: {counted}, the last on {listed.day(held[0])}"


def _days(found: Listing) -> Iterator[str]:
    """Yield the days with sessions, newest first, with the number of sessions."""
    for name in sorted(found.days, reverse=True):
        held = [one for one in found.sessions if listed.day(one) == name]
        count = sum(1 for _ in found.named(held))
        yield f"- {listed.link(name, found.day_page(name))}: {plural.number(count, 'session')}"


def _review(found: Listing) -> list[str]:
    """Return how much is new since the last review.

    The time of that is taken from this machine's history or from the page, whichever is later: the page carries it to
    the other machines, so that all write the same.
    """
    old = generated.inside(disk.readable(found.root, PATH) or b"")
    seen = max(generated.last_review(old), review_queue.last_review(found.config), key=timestamps.epoch)
    mark = [generated.review_mark(seen), ""] if seen else []
    numbers = list(islice(review_queue.since(found, seen), MAX_WAITING + 1))
    waiting = f"More than {MAX_WAITING} notes" if len(numbers) > MAX_WAITING else asked(found.view, numbers)
    lines = [f"- {waiting}{f' since {seen[:10]}' if seen else ''}: `mdmem review`"] if waiting else []
    return [*listed.section("Review", lines), *mark]


def asked(view: View, numbers: Iterable[int]) -> str:
    """Return what a review of these notes asks about: `2 sessions and 1 note`; "" for nothing."""
    counts = zip(review_queue.screens(view, numbers), ("session", "note"), strict=True)
    return " and ".join(plural.number(count, noun) for count, noun in counts if count)


def _open(found: Listing, left: list[OpenItem]) -> Iterator[str]:
    """Yield the open work, newest first."""
    for item in open_work.in_order(found, left):
        number = found.view.find(item.path)
        day = day_page.date_of(found.root, item.path) if number is not None and found.created(number) else ""
        where = ", ".join(filter(None, (page.link_text(item.project), day)))
        yield f"- {open_work.LABELS[item.kind]}: {listed.link(item.text, item.path)}" + (f" ({where})" if where else "")
