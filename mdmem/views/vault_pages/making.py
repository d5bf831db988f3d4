"""Making the pages of a vault: which may have changed, and the generated part of each."""

from __future__ import annotations

import math
import os
import posixpath
from collections.abc import Iterable, Iterator, Set
from itertools import chain

from mdmem.config import Config
from mdmem.hashing import short
from mdmem.history import pages, past
from mdmem.learn.work import OpenItem
from mdmem.search.index.layout import digest
from mdmem.search.index.view import View
from mdmem.vault import DAYS, START_PAGE, disk, front_matter, generated, journal, layout, note, template
from mdmem.vault.unreadable import UnreadableFolders, is_elsewhere
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import day_page, listed, open_work, project_page, session_page, start_page
from mdmem.views.vault_pages.day_page import ListedDay
from mdmem.views.vault_pages.listed import Listing

_SLACK_SECONDS = 2.0


def make(
    config: Config, view: View, last_made: float, known_marks: Set[str], *, everything: bool
) -> tuple[list[str], Set[str]]:
    """Write the pages that may have changed; return the paths written, and marks of what need not be looked at again.

    These stand for pages that are up to date, and for notes that may be named.
    last_made: when pages were last made, in seconds since the epoch. known_marks: the marks returned then.
    """
    known = frozenset[str]() if everything else known_marks
    listing = listed.Listing(config, view, known)
    marks = _Marks(listing, known)
    listing.days -= _deleted_days(listing, last_made)
    changed = _changed(config, listing, marks)
    if listing.is_part:  # pages that list missing sessions are left to a machine that has them
        changed = ((path, lines) for path, lines in changed if journal.is_page(path))
    written: list[str] = []
    for path, lines in changed:
        old, new = _put(config, path, lines)
        if new != old:
            written.append(path)
        if new is not None:
            marks.keep(path, digest(new))
    return written, marks.kept | listing.leaving


class _Marks:
    """Marks of the sources and the content of pages: a page whose mark is known need not be made again.

    Sources are compared by content, not by time: files that another program brings keep the time of their last change.
    kept: the marks of the pages that are up to date now.
    """

    def __init__(self, listing: Listing, known: Set[str]) -> None:
        self.kept = set[str]()
        self._known = known
        self._rules = listing.rules
        self._sources: dict[str, str] = {}
        self._digests = listing.view.numbers("digest")

    def content(self, notes: Iterable[int]) -> int:
        """Return a mark of the content of notes, in this order."""
        return hash(tuple(map(self._digests.__getitem__, notes)))  # the same in each process, as it is for numbers

    def are_new(self, path: str, note: int | None, sources: Iterable[object]) -> bool:
        """Whether a page has other sources or another content than when it was made, or is new.

        note: the page's number in the index. sources: what it says about other notes and their places, and marks of
        their content. Deleted, renamed and new notes show up as changes in the pages that name them.
        """
        self._sources[path] = short("\0".join(map(str, (path, self._rules, *sources))), 14)
        if note is None or self._mark(path, self._digests[note]) not in self._known:
            return True
        self.leave(path, note)
        return False

    def leave(self, path: str, note: int | None) -> None:
        """Record that a page is up to date as it was indexed."""
        if note is not None:
            self.keep(path, self._digests[note])

    def keep(self, path: str, content: int) -> None:
        """Record that a page with this content is up to date."""
        if path in self._sources:
            self.kept.add(self._mark(path, content))
            del self._sources[path]

    def _mark(self, path: str, content: int) -> str:
        return short(f"{self._sources[path]} {content}", 14)


def _changed(config: Config, listing: Listing, marks: _Marks) -> Iterator[tuple[str, list[str]]]:
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
            yield from _sessions(listing, marks, sessions, open_items, has_page=listing.view.find(page) is not None)
            yield page, project_page.lines(listing, name, open_items)
    yield from _days(listing, marks)
    yield START_PAGE, start_page.lines(listing, open_work_items)


def _sessions(
    listing: Listing, marks: _Marks, sessions: list[SessionRow], open_items: list[OpenItem], *, has_page: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of a project's sessions that may differ. has_page: whether the project has one."""
    items_of: dict[str, list[OpenItem]] = {}
    for item in open_items:
        items_of.setdefault(item.session, []).append(item)
    for session, neighbors in _with_neighbors(sessions, {session.page for session in listing.nameable(sessions)}):
        own_items = items_of.get(session.session, [])
        folder, _, page_name = session.page.rpartition("/")
        notes = sorted(listing.view.members_of(folder))
        note_of = dict(sorted(zip(listing.view.names(notes), notes, strict=True)))  # numbers change with the index
        own = note_of.pop(page_name, None)
        left_open = ((item.kind, item.text, item.path, listing.is_archived(item.path)) for item in own_items)
        named = _named_by(listing, session, neighbors)
        is_archived = listing.is_archived(session.page)  # then it gets its changes once it is unpacked
        sources = (has_page, is_archived, *note_of, marks.content(note_of.values()), *named, *left_open)
        if not marks.are_new(session.page, own, sources):
            continue
        if disk.is_packed(listing.root, session.page):  # archived pages stay as they are
            marks.leave(session.page, own)
            continue
        lines = generated.inside(disk.readable(listing.root, session.page) or b"")
        yield session.page, session_page.lines(listing, session, lines, neighbors, own_items)


def _named_by(
    listing: Listing, session: SessionRow, neighbors: tuple[SessionRow | None, SessionRow | None]
) -> Iterator[object]:
    """Yield what a session's page says about its day, its neighbors and its number of notes."""
    day = listed.day(session)
    yield from (session.notes, session.failed, listing.day_page(day) if day in listing.days else "")
    is_archived = listing.is_archived
    yield from ((other.page, listed.moment(other), is_archived(other.page)) if other else "" for other in neighbors)


def _with_neighbors(
    sessions: list[SessionRow], named: set[str]
) -> Iterator[tuple[SessionRow, tuple[SessionRow | None, SessionRow | None]]]:
    """Yield sessions, newest first, each with the sessions before and after it that its page may name."""
    later: SessionRow | None = None
    for place, session in enumerate(sessions):
        earlier = (sessions[at] for at in range(place + 1, len(sessions)) if sessions[at].page in named)
        yield session, (next(earlier, None), later)
        later = session if session.page in named else later


def _days(listing: Listing, marks: _Marks) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of days that may differ."""
    view = listing.view
    days = [day for day in day_page.days(listing) if day.name in listing.days]
    has_start = os.path.lexists(f"{listing.root}/{START_PAGE}")
    for place, day in enumerate(days):
        path = listing.day_page(day.name)
        around = (days[place + 1] if place + 1 < len(days) else None, days[place - 1] if place else None)
        neighbor_pages = (listing.day_page(other.name) if other else "" for other in around)
        notes = day_page.possibly_written(view, day.name)
        written = list(map(view.path, notes))
        archived = filter(listing.is_archived, (*written, *(session.page for session in day.sessions)))
        listed_facts = map(_listed_facts, day.sessions)
        sources = (has_start, *neighbor_pages, *listed_facts, *written, marks.content(notes), *archived)
        if marks.are_new(path, view.find(path), sources):
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
    if count_arrival and any(arrived[number] < 0 for number in numbers):
        return math.inf  # it arrived a moment ago
    return max((max(created[number], arrived[number] / 1e9 if count_arrival else 0) for number in numbers), default=0.0)


def _put(config: Config, path: str, lines: list[str]) -> tuple[bytes | None, bytes | None]:
    """Write the generated part of a page; return its content before and after, the same if nothing was written.

    None: there is or was no such page, or it is to be tried again. A change that the user saves at the same moment
    wins.
    """
    parent, _, name = path.rpartition("/")
    old = disk.readable(config.vault, path)
    lines = listed.to_archives(config.vault, parent, lines)
    if old is None and path.startswith(f"{DAYS}/"):
        new = generated.replaced(day_page.first(name.removesuffix(".md")), lines)
        with disk.open_parent(config.vault, path, create=True) as folder:
            return None, new if disk.create(folder, name, new, durable=config.durable) else None
    if old is None or len(old) >= disk.MAX_READ_BYTES:
        return old, old
    new = generated.replaced(_with_markers(path, _with_valid_front_matter(old)), lines)
    if new == old:
        return old, old
    if _drops_unreadable(config.vault, path, old, lines):
        return None, None
    with disk.open_parent(config.vault, path) as folder:
        is_written = disk.replace(folder, name, old, new, durable=config.durable)
    return (old, new) if is_written else (None, None)


def _drops_unreadable(root: str, path: str, old: bytes, lines: list[str]) -> bool:
    """Whether a page would lose links to notes that cannot be read or are elsewhere; it then stays as it is.

    Notes may be elsewhere for good, so for those it stays only while it would get no new link.
    """
    folder = path.rpartition("/")[0]
    folders = UnreadableFolders(root)
    old_targets = set(chain.from_iterable(map(pages.targets, generated.inside(old))))
    new_targets = set(chain.from_iterable(map(pages.targets, lines)))
    lost = [posixpath.normpath(posixpath.join(folder, target)) for target in old_targets - new_targets]
    return any(map(folders.contain, lost)) or (
        new_targets <= old_targets and any(is_elsewhere(root, place) for place in lost)
    )


def _with_valid_front_matter(data: bytes) -> bytes:
    """Return a page with valid front matter, if a merge by plain git has left keys twice."""
    header = front_matter.split(data.decode("utf-8", "surrogateescape"))[0] or ""
    old, new = (
        text.encode("utf-8", "surrogateescape") for text in (header, front_matter.without_repeated_keys(header))
    )
    return data.replace(old, new, 1)


def _with_markers(path: str, data: bytes) -> bytes:
    """Return a page with the missing markers, if it is unchanged since an earlier version created it."""
    templates = {START_PAGE: "vault/README.md", journal.PROJECT_PAGE: "notes/project.md"}
    template_name = templates.get(path.rpartition("/")[2])
    if template_name is None:
        return data
    parsed = note.parse(data)
    original = template.fill(template.load(template_name), {"title": parsed.fact("title")})
    marks = f"\n{generated.BEGIN}\n{generated.END}\n"
    is_unchanged = parsed.body.strip() == original.removesuffix(marks).strip()
    return data.rstrip() + b"\n" + marks.encode() if is_unchanged else data
