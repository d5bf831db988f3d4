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
from mdmem.vault import disk, front_matter, generated, journal, layout, note, template
from mdmem.vault.shut import ShutFolders
from mdmem.views.sessions import SessionRow
from mdmem.views.vault_pages import day_page, listed, open_work, project_page, session_page, start_page
from mdmem.views.vault_pages.day_page import ListedDay
from mdmem.views.vault_pages.listed import Listing

_SLACK_SECONDS = 2.0


def make(
    config: Config, view: View, seen: float, known: Set[str], left: Set[str], *, everything: bool
) -> tuple[list[str], Set[str], Set[str]]:
    """Write the pages that may have changed; return the paths written, and two sets of marks.

    The first marks stand for what each page of a session or day names, the second for the files as written.
    seen: when pages were last made, in seconds since the epoch. known, left: the marks that were returned then.
    """
    found = listed.Listing(config, view)
    nothing = frozenset[str]()
    fresh = _Fresh(found, *((0.0, nothing, nothing) if everything else (seen, known, left)))
    found.days -= _deleted_days(found, seen)
    changed = _changed(config, found, fresh)
    if found.is_part:  # pages that list missing sessions are left to a machine that has them
        changed = ((path, lines) for path, lines in changed if journal.is_page(path))
    written: list[str] = []
    for path, lines in changed:
        if _put(config, path, lines):
            written.append(path)
            fresh.leave(path)
    return written, fresh.marks, fresh.left


class _Fresh:
    """What changed since pages were last made: written notes, and what pages name of other notes."""

    def __init__(self, found: Listing, seen: float, known: Set[str], left: Set[str]) -> None:
        self.marks = set[str]()
        self.left = set[str]()
        self._root = found.root
        self._known = known
        self._view = view = found.view
        changed, folder_of = view.numbers("mtime_ns"), view.folder_of
        since = (seen - _SLACK_SECONDS) * 1e9

        def is_new(number: int) -> bool:
            return changed[number] >= since or changed[number] < 0  # -1: not reliable

        pages = filter(is_new, view.notes("facet", "kind:session") if left else ())
        as_left = {number for number in pages if self.leave(view.path(number)) in left}
        self._folders = {folder_of[one] for one in view.all if is_new(one) and one not in as_left}
        written = filter(is_new, view.of_kinds(note.WRITTEN))
        self.days = set[str]().union(*(day_page.any_day(view.number("created", number)) for number in written))

    def has(self, one: SessionRow | None) -> bool:
        """Whether a note of a session was written since then, or somebody else wrote its page."""
        return one is not None and self._view.folders.find(one.page.rpartition("/")[0]) in self._folders

    def leave(self, path: str) -> str:
        """Record a page's current file, so that only a later change counts as new; return its mark."""
        try:
            found = os.lstat(f"{self._root}/{path}")
        except OSError:
            return ""
        mark = short(repr((path, found.st_mtime_ns, found.st_size, found.st_ino)), 14)
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


def _changed(config: Config, found: Listing, fresh: _Fresh) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages that may need writing: of changed sessions and days, of all projects, and the start page."""
    by_project: dict[str, list[SessionRow]] = {name: [] for name in layout.folders(f"{config.vault}/journal")}
    for one in found.sessions:
        if layout.session_of(one.page):
            by_project.setdefault(layout.project_of(one.page), []).append(one)
    left = open_work.every(found)
    for name, held in by_project.items():
        with found.on_pages_of(name):
            page = f"journal/{name}/{journal.PROJECT_PAGE}"
            names = {one.lower() for one in project_page.called(found, name)}
            open_ = open_work.in_order(found, [item for item in left if item.project.lower() in names])
            yield from _sessions(found, fresh, held, open_, has_page=found.view.find(page) is not None)
            yield page, project_page.lines(found, name, open_)
    yield from _days(found, fresh)
    yield start_page.PATH, start_page.lines(found, left)


def _sessions(
    found: Listing, fresh: _Fresh, held: list[SessionRow], open_: list[OpenItem], *, has_page: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of a project's sessions that may differ. has_page: whether the project has one."""
    left_by: dict[str, list[OpenItem]] = {}
    for item in open_:
        left_by.setdefault(item.session, []).append(item)
    for one, around in _with_neighbors(held, {one.page for one in found.named(held)}):
        mine = left_by.get(one.session, [])
        left_open = ((item.kind, item.text, item.path) for item in mine)
        named = (has_page, *_named_by(found, one, around), *left_open)
        may_differ = fresh.names_other(one.page, named) or any(map(fresh.has, (one, *around)))
        if may_differ and not disk.is_packed(found.root, one.page):  # archived pages stay as they are
            was = generated.inside(disk.readable(found.root, one.page) or b"")
            yield one.page, session_page.lines(found, one, was, around, mine)


def _named_by(found: Listing, one: SessionRow, around: tuple[SessionRow | None, SessionRow | None]) -> Iterator[object]:
    """Yield what a session's page says about its day, its neighbors and its number of notes."""
    day = listed.day(one)
    yield from (one.notes, one.failed, found.day_page(day) if day in found.days else "")
    yield from ((other.page, listed.moment(other)) if other else "" for other in around)


def _with_neighbors(
    held: list[SessionRow], named: set[str]
) -> Iterator[tuple[SessionRow, tuple[SessionRow | None, SessionRow | None]]]:
    """Yield sessions, newest first, each with the sessions before and after it that its page may name."""
    after: SessionRow | None = None
    for place, one in enumerate(held):
        earlier = (held[at] for at in range(place + 1, len(held)) if held[at].page in named)
        yield one, (next(earlier, None), after)
        after = one if one.page in named else after


def _days(found: Listing, fresh: _Fresh) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages of days with changes, and of the days before and after them."""
    days = [day for day in day_page.days(found) if day.name in found.days]
    changed = [day.name in fresh.days or any(map(fresh.has, day.sessions)) for day in days]
    for place, day in enumerate(days):
        path = found.day_page(day.name)
        around = (days[place + 1] if place + 1 < len(days) else None, days[place - 1] if place else None)
        beside = (found.day_page(other.name) if other else "" for other in around)
        named = (*beside, *map(_said, day.sessions), *day_page.may_be_written(found.view, day.name))
        if fresh.names_other(path, named) or any(changed[max(place - 1, 0) : place + 2]):
            yield path, day_page.lines(found, day, around)
    for name in sorted(generated.day_pages(found.root).keys() - {day.name for day in days}):  # no sessions now
        yield found.day_page(name), day_page.lines(found, day_page.ListedDay(name, []), (None, None))


def _said(one: SessionRow) -> tuple[object, ...]:
    return one.page, listed.moment(one), one.project, one.title, one.prompts, one.edits, one.failed


def _deleted_days(found: Listing, seen: float) -> set[str]:
    """Return the days whose page the user has deleted and that have no newer note: they get no new page.

    seen: when pages were last made; if 0 (unknown), deletions are looked up in history.
    """
    there = generated.day_pages(found.root)
    missing = [day for day in day_page.days(found) if day.name not in there]
    deleted = past.deletions(found.root, f"{generated.DAYS}/") if missing and not seen else {}
    gone = {path.rpartition("/")[2]: when for path, when in sorted(deleted.items(), key=lambda one: one[1])}
    since = {day.name: gone.get(f"{day.name}.md", seen - _SLACK_SECONDS) for day in missing}
    known = [day for day in missing if since[day.name] >= 0]
    return {day.name for day in known if _latest(found, day, here=bool(seen)) <= since[day.name]}


def _latest(found: Listing, day: ListedDay, *, here: bool) -> float:
    """Return the time of a day's newest note, in seconds since the epoch. here: count its arrival on this machine."""
    view = found.view
    folders = (one.page.rpartition("/")[0] for one in day.sessions)
    pages = view.notes("facet", "kind:session")
    numbers = {number for folder in folders for number in view.members_of(folder)} - pages
    numbers.update(number for row in day_page.written(found, day.name) if (number := view.find(row.path)) is not None)
    made, came = view.numbers("created"), view.numbers("mtime_ns")
    return max((max(made[one], came[one] / 1e9 if here else 0) for one in numbers), default=0.0)


def _put(config: Config, path: str, lines: list[str]) -> bool:
    """Write the generated part of a page; a change that the user saves at the same moment wins."""
    *parts, name = path.split("/")
    old = disk.readable(config.vault, path)
    lines = listed.to_archives(config.vault, "/".join(parts), lines)
    if old is None and path.startswith(f"{generated.DAYS}/"):
        new = generated.replaced(day_page.first(name.removesuffix(".md")), lines)
        with disk.open_folder(config.vault, tuple(parts), create=True) as folder:
            return disk.create(folder, name, new, durable=config.durable)
    if old is None or len(old) >= disk.MAX_READ_BYTES:
        return False
    new = generated.replaced(_with_markers(path, _united(old)), lines)
    if new == old or _drops_what_is_shut(config.vault, path, old, lines):
        return False
    with disk.open_folder(config.vault, tuple(parts)) as folder:
        return disk.replace(folder, name, old, new, durable=config.durable)


def _drops_what_is_shut(root: str, path: str, old: bytes, lines: list[str]) -> bool:
    """Whether a page would lose links to notes in folders that cannot be read; it then stays as it is."""
    folder = path.rpartition("/")[0]
    shut = ShutFolders(root)
    was, now = (set(chain.from_iterable(map(pages.TARGET.findall, some))) for some in (generated.inside(old), lines))
    targets = (posixpath.normpath(posixpath.join(folder, one or other)) for one, other in was - now)
    return any(map(shut.hold, targets))


def _united(data: bytes) -> bytes:
    """Return a page with valid front matter, if a merge by plain git has left keys twice."""
    header = front_matter.split(data.decode("utf-8", "surrogateescape"))[0] or ""
    old, new = (text.encode("utf-8", "surrogateescape") for text in (header, front_matter.united(header)))
    return data.replace(old, new, 1)


def _with_markers(path: str, data: bytes) -> bytes:
    """Return a page with the missing markers, if it is unchanged since an earlier version created it."""
    shape = {start_page.PATH: "vault/README.md", journal.PROJECT_PAGE: "notes/project.md"}.get(path.rpartition("/")[2])
    if shape is None or generated.BEGIN.encode() in data:
        return data
    parsed = note.parse(data)
    made = template.fill(template.load(shape), {"title": str(parsed.meta.get("title", ""))})
    marks = f"\n{generated.BEGIN}\n{generated.END}\n"
    return data.rstrip() + b"\n" + marks.encode() if parsed.body.strip() == made.removesuffix(marks).strip() else data
