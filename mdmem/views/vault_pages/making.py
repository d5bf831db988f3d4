"""Making the pages of a vault: which may have changed, and the generated part of each."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Set
from itertools import chain

from mdmem.config import Config
from mdmem.hashing import short
from mdmem.history import pages, past
from mdmem.learn.work import OpenItem
from mdmem.search.index.view import View
from mdmem.vault import DAYS, disk, front_matter, generated, journal, layout, note, template
from mdmem.vault.unreadable import UnreadableFolders
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import day_page, listed, open_work, project_page, session_page, start_page
from mdmem.views.vault_pages.day_page import ListedDay
from mdmem.views.vault_pages.listed import Listing

_SLACK_SECONDS = 2.0


def make(
    config: Config, view: View, last_made: float, named_marks: Set[str], file_marks: Set[str], *, everything: bool
) -> tuple[list[str], Set[str], Set[str]]:
    """Write the pages that may have changed; return the paths written, and two sets of marks.

    The first marks stand for what each page of a session or day names, the second for the files as written.
    last_made: when pages were last made, in seconds since the epoch. named_marks, file_marks: the marks returned then.
    """
    listing = listed.Listing(config, view)
    nothing = frozenset[str]()
    fresh = _Fresh(listing, *((0.0, nothing, nothing) if everything else (last_made, named_marks, file_marks)))
    listing.days -= _deleted_days(listing, last_made)
    changed = _changed(config, listing, fresh)
    if listing.is_part:  # pages that list missing sessions are left to a machine that has them
        changed = ((path, lines) for path, lines in changed if journal.is_page(path))
    written: list[str] = []
    for path, lines in changed:
        if _put(config, path, lines):
            written.append(path)
            fresh.leave(path)
    return written, fresh.marks, fresh.left


class _Fresh:
    """What changed since pages were last made: written notes, and what pages name of other notes."""

    def __init__(self, listing: Listing, last_made: float, named_marks: Set[str], file_marks: Set[str]) -> None:
        self.marks = set[str]()
        self.left = set[str]()
        self._root = listing.root
        self._known = named_marks
        self._view = view = listing.view
        changed, folder_of = view.numbers("mtime_ns"), view.folder_of
        since = (last_made - _SLACK_SECONDS) * 1e9

        def is_new(number: int) -> bool:
            return changed[number] >= since or changed[number] < 0  # -1: not reliable

        pages = filter(is_new, view.notes("facet", "kind:session") if file_marks else ())
        as_left = {number for number in pages if self.leave(view.path(number)) in file_marks}
        self._folders = {folder_of[number] for number in view.all if is_new(number) and number not in as_left}
        written = filter(is_new, view.of_kinds(note.WRITTEN))
        self.days = set[str]().union(*(day_page.any_day(view.number("created", number)) for number in written))

    def has(self, session: SessionRow | None) -> bool:
        """Whether a note of a session was written since then, or somebody else wrote its page."""
        return session is not None and self._view.folders.find(session.page.rpartition("/")[0]) in self._folders

    def leave(self, path: str) -> str:
        """Record a page's current file, so that only a later change counts as new; return its mark."""
        try:
            status = os.lstat(f"{self._root}/{path}")
        except OSError:
            return ""
        mark = short(repr((path, status.st_mtime_ns, status.st_size, status.st_ino)), 14)
        self.left.add(mark)
        return mark

    def names_other(self, path: str, named: Iterable[object]) -> bool:
        """Whether a page names other things than when pages were last made, or is new.

        named: what it says about other notes and their places. Deleted, renamed and new notes show up as changes in
        the pages that name them.
        """
        mark = short(path, 8) + short("\0".join(map(str, named)), 6)
        self.marks.add(mark)
        return mark not in self._known


def _changed(config: Config, listing: Listing, fresh: _Fresh) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages that may need writing: of changed sessions and days, of all projects, and the start page."""
    by_project: dict[str, list[SessionRow]] = {name: [] for name in layout.projects(config.vault)}
    for session in listing.sessions:
        if layout.session_of(session.page):
            by_project.setdefault(layout.project_of(session.page), []).append(session)
    open_work_items = open_work.all_items(listing)
    for name, sessions in by_project.items():
        with listing.on_pages_of(name):
            page = journal.project_page(name)
            names = {name.lower() for name in project_page.names_of(listing, name)}
            open_items = open_work.in_order(
                listing, [item for item in open_work_items if item.project.lower() in names]
            )
            yield from _sessions(listing, fresh, sessions, open_items, has_page=listing.view.find(page) is not None)
            yield page, project_page.lines(listing, name, open_items)
    yield from _days(listing, fresh)
    yield start_page.PATH, start_page.lines(listing, open_work_items)


def _sessions(
    listing: Listing, fresh: _Fresh, sessions: list[SessionRow], open_items: list[OpenItem], *, has_page: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of a project's sessions that may differ. has_page: whether the project has one."""
    items_of: dict[str, list[OpenItem]] = {}
    for item in open_items:
        items_of.setdefault(item.session, []).append(item)
    for session, neighbors in _with_neighbors(sessions, {session.page for session in listing.nameable(sessions)}):
        own_items = items_of.get(session.session, [])
        left_open = ((item.kind, item.text, item.path) for item in own_items)
        named = (has_page, *_named_by(listing, session, neighbors), *left_open)
        may_differ = fresh.names_other(session.page, named) or any(map(fresh.has, (session, *neighbors)))
        if may_differ and not disk.is_packed(listing.root, session.page):  # archived pages stay as they are
            lines = generated.inside(disk.readable(listing.root, session.page) or b"")
            yield session.page, session_page.lines(listing, session, lines, neighbors, own_items)


def _named_by(
    listing: Listing, session: SessionRow, neighbors: tuple[SessionRow | None, SessionRow | None]
) -> Iterator[object]:
    """Yield what a session's page says about its day, its neighbors and its notes, of which it gives the file names."""
    notes = sorted(listing.view.members_of(session.page.rpartition("/")[0]))
    yield from sorted(listing.view.names(notes))
    day = listed.day(session)
    yield from (session.notes, session.failed, listing.day_page(day) if day in listing.days else "")
    yield from ((other.page, listed.moment(other)) if other else "" for other in neighbors)


def _with_neighbors(
    sessions: list[SessionRow], named: set[str]
) -> Iterator[tuple[SessionRow, tuple[SessionRow | None, SessionRow | None]]]:
    """Yield sessions, newest first, each with the sessions before and after it that its page may name."""
    later: SessionRow | None = None
    for place, session in enumerate(sessions):
        earlier = (sessions[at] for at in range(place + 1, len(sessions)) if sessions[at].page in named)
        yield session, (next(earlier, None), later)
        later = session if session.page in named else later


def _days(listing: Listing, fresh: _Fresh) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of days with changes, and of the days before and after them."""
    days = [day for day in day_page.days(listing) if day.name in listing.days]
    changed = [day.name in fresh.days or any(map(fresh.has, day.sessions)) for day in days]
    for place, day in enumerate(days):
        path = listing.day_page(day.name)
        around = (days[place + 1] if place + 1 < len(days) else None, days[place - 1] if place else None)
        neighbor_pages = (listing.day_page(other.name) if other else "" for other in around)
        named = (*neighbor_pages, *map(_listed_facts, day.sessions), *day_page.possibly_written(listing.view, day.name))
        if fresh.names_other(path, named) or any(changed[max(place - 1, 0) : place + 2]):
            yield path, day_page.lines(listing, day, around)
    for name in sorted(generated.day_pages(listing.root).keys() - {day.name for day in days}):  # no sessions now
        yield listing.day_page(name), day_page.lines(listing, day_page.ListedDay(name, []), (None, None))


def _listed_facts(session: SessionRow) -> tuple[object, ...]:
    return (
        session.page,
        listed.moment(session),
        session.project,
        session.title,
        session.prompts,
        session.edits,
        session.failed,
    )


def _deleted_days(listing: Listing, last_made: float) -> set[str]:
    """Return the days whose page the user has deleted and that have no newer note: they get no new page.

    last_made: when pages were last made; if 0 (unknown), deletions are looked up in history.
    """
    existing = generated.day_pages(listing.root)
    missing = [day for day in day_page.days(listing) if day.name not in existing]
    deleted = past.deletions(listing.root, f"{DAYS}/") if missing and not last_made else {}
    oldest_first = sorted(deleted.items(), key=lambda deletion: deletion[1])
    deletion_times = {path.rpartition("/")[2]: when for path, when in oldest_first}
    since = {day.name: deletion_times.get(f"{day.name}.md", last_made - _SLACK_SECONDS) for day in missing}
    comparable = [day for day in missing if since[day.name] >= 0]
    return {day.name for day in comparable if _latest(listing, day, count_arrival=bool(last_made)) <= since[day.name]}


def _latest(listing: Listing, day: ListedDay, *, count_arrival: bool) -> float:
    """Return the time of a day's newest note, in seconds since the epoch.

    count_arrival: a note is at least as new as its arrival on this machine.
    """
    view = listing.view
    folders = (session.page.rpartition("/")[0] for session in day.sessions)
    pages = view.notes("facet", "kind:session")
    numbers = {number for folder in folders for number in view.members_of(folder)} - pages
    numbers.update(number for row in day_page.written(listing, day.name) if (number := view.find(row.path)) is not None)
    created, arrived = view.numbers("created"), view.numbers("mtime_ns")
    return max((max(created[number], arrived[number] / 1e9 if count_arrival else 0) for number in numbers), default=0.0)


def _put(config: Config, path: str, lines: list[str]) -> bool:
    """Write the generated part of a page; return whether it was.

    A change that the user saves at the same moment wins.
    """
    parent, _, name = path.rpartition("/")
    old = disk.readable(config.vault, path)
    lines = listed.to_archives(config.vault, parent, lines)
    if old is None and path.startswith(f"{DAYS}/"):
        new = generated.replaced(day_page.first(name.removesuffix(".md")), lines)
        with disk.open_parent(config.vault, path, create=True) as folder:
            return disk.create(folder, name, new, durable=config.durable)
    if old is None or len(old) >= disk.MAX_READ_BYTES:
        return False
    new = generated.replaced(_with_markers(path, _with_valid_front_matter(old)), lines)
    if new == old or _drops_unreadable(config.vault, path, old, lines):
        return False
    with disk.open_parent(config.vault, path) as folder:
        return disk.replace(folder, name, old, new, durable=config.durable)


def _drops_unreadable(root: str, path: str, old: bytes, lines: list[str]) -> bool:
    """Whether a page would lose links to notes in folders that cannot be read; it then stays as it is."""
    folder = path.rpartition("/")[0]
    unreadable = UnreadableFolders(root)
    old_targets = set(chain.from_iterable(map(pages.targets, generated.inside(old))))
    lost = old_targets.difference(*map(pages.targets, lines))
    return any(unreadable.contain(posixpath.normpath(posixpath.join(folder, target))) for target in lost)


def _with_valid_front_matter(data: bytes) -> bytes:
    """Return a page with valid front matter, if a merge by plain git has left keys twice."""
    header = front_matter.split(data.decode("utf-8", "surrogateescape"))[0] or ""
    old, new = (
        text.encode("utf-8", "surrogateescape") for text in (header, front_matter.without_repeated_keys(header))
    )
    return data.replace(old, new, 1)


def _with_markers(path: str, data: bytes) -> bytes:
    """Return a page with the missing markers, if it is unchanged since an earlier version created it."""
    templates = {start_page.PATH: "vault/README.md", journal.PROJECT_PAGE: "notes/project.md"}
    template_name = templates.get(path.rpartition("/")[2])
    if template_name is None:
        return data
    parsed = note.parse(data)
    original = template.fill(template.load(template_name), {"title": parsed.fact("title")})
    marks = f"\n{generated.BEGIN}\n{generated.END}\n"
    is_unchanged = parsed.body.strip() == original.removesuffix(marks).strip()
    return data.rstrip() + b"\n" + marks.encode() if is_unchanged else data
