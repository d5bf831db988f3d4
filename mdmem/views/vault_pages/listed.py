"""What generated pages list: notes that may leave this machine, as lines of links."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections.abc import Container, Iterable, Iterator, Set
from contextlib import contextmanager
from functools import cached_property

from mdmem import __version__, plural, privacy
from mdmem.capture import page
from mdmem.config import Config
from mdmem.errors import GitError, VaultError
from mdmem.hashing import short
from mdmem.history import pages, past, private
from mdmem.history.git import part, repository
from mdmem.search.index.view import View
from mdmem.vault import DAYS, JOURNAL, creation, disk, generated, is_in_journal, journal, layout, note, people
from mdmem.views import rows, sessions
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow

MAX_NOTES = 20
"""Maximum number of decisions, and of pinned notes, listed."""
MAX_CACHED_NOTES = 2_000
"""Number of cached answers whether a note may be named, besides those for session pages."""
_COARSE_NS = 2_000_000_000
"""Resolution of the times of files, where it is coarsest."""


class Listing:
    """The notes that generated pages may list: those in the index, without notes that stay on this machine.

    Pages are committed and synced, so they must not name notes that are not. The page of a project that stays on this
    machine also stays, and names such notes (`on_pages_of`).
    """

    def __init__(self, config: Config, view: View, known: Set[str] = frozenset()) -> None:
        """known: `leaving` of an earlier listing; files that have not changed since then are not read again."""
        self.leaving = set[str]()
        """Marks of the files of sessions' pages, and of the notes that give their titles, that may be named."""
        self._known = known
        self.config = config
        self.view = view
        self.root = config.vault
        self.is_part = part.of(config.vault) is not None
        self._private = private.projects(config.vault)
        self._rules = privacy.Rules.of(config.settings)
        of_privacy = sorted(entry for entry in config.settings.values.items() if entry[0].startswith("privacy."))
        self.rules = short(repr((__version__, of_privacy, sorted(self._private))), 14)
        """A digest of the rules that decide which notes may be named, and of the version, whose code may differ."""
        self._staying = ""
        self._internal = view.internal
        self._page_leaves: dict[str, bool] = {}
        self._unread = set[str]()
        self._note_leaves: dict[str, bool] = {}
        self._has_date: dict[str, bool] = {}
        self._staying_titles: dict[str, str] = {}  # session page -> the note that gives its title; "" if that may leave
        self.sessions = sorted(map(_without_facts, sessions.each(view)), key=lambda row: row.started, reverse=True)
        self.days = frozenset(day(session) for session in self.nameable(self.sessions))
        """The days with sessions that may be named."""
        self._day_pages = generated.places_of_days(self.root, self.days)

    def day_page(self, name: str) -> str:
        """Return the vault-relative path of a day's page, whether or not it exists yet."""
        return self._day_pages.get(name, f"{DAYS}/{name}.md")

    @contextmanager
    def on_pages_of(self, folder: str) -> Iterator[None]:
        """Within the block, list for a project's pages: one that stays on this machine may name others that stay."""
        self._staying = folder if folder in self._private else ""
        try:
            yield
        finally:
            self._staying = ""

    @property
    def uncounted(self) -> Set[int]:
        """The notes that stay on this machine, whose files a page must not name unless it stays here too."""
        return frozenset() if self._staying else self.view.notes("facet", "is:local")

    def leaves(self, path: str) -> bool:
        """Whether a note may be named: it may leave this machine, or the page stays here too."""
        if self._staying and path.startswith(f"{JOURNAL}/{self._staying}/"):
            return True
        return self._travels(path) or (bool(self._staying) and self._is_of(path, self._staying))

    def _travels(self, path: str, *, gives_title: bool = False) -> bool:
        """Whether a note and its name may leave this machine. gives_title: it is one that every listing asks about."""
        answers = self._page_leaves if journal.is_page(path) else self._note_leaves
        if path not in answers:
            if len(self._note_leaves) >= MAX_CACHED_NOTES:
                self._note_leaves.clear()
            mark = self._mark(path) if gives_title or answers is self._page_leaves else ""
            answers[path] = mark in self._known or self._may_travel(path)
            if mark and answers[path] and path not in self._unread:
                self.leaving.add(mark)
        return answers[path]

    def _may_travel(self, path: str) -> bool:
        try:
            data = disk.read_path(self.root, path)
        except PermissionError:
            self._unread.add(path)
            return path in self._committed  # whatever it says now, its name has left already
        leaves = data is not None and not private.stays(path, data, self._private)
        return leaves and not self._hides_name(path, data or b"")

    def _mark(self, path: str) -> str:
        """Return a mark of the present file of a note, or of its archive; "" if it may still change without a trace."""
        try:
            status = os.lstat(f"{self.root}/{path}")
        except FileNotFoundError:
            try:
                status = os.lstat(f"{self.root}/{layout.archive_of(layout.folder_of(path))}")
            except OSError:
                return ""
        except OSError:
            return ""
        if time.time_ns() - status.st_mtime_ns < _COARSE_NS:
            return ""
        return short(repr((path, status.st_mtime_ns, status.st_size, status.st_ino, self.rules)), 10)

    def is_archived(self, path: str) -> bool:
        """Whether a note has no file of its own, so that links lead to the archive of its session."""
        return layout.folder_of(path) in self._archived and not os.path.lexists(f"{self.root}/{path}")

    @cached_property
    def _archived(self) -> Set[str]:
        """The folders of sessions that have an archive."""
        return {layout.archived_in(path) for path in layout.archives(self.root)}

    def _hides_name(self, path: str, data: bytes) -> bool:
        """Whether a note's name is private. That of a captured note is clean, until its words are marked later."""
        if is_in_journal(path) and not privacy.may_hold_private([data.decode("utf-8", "replace")], self._rules):
            return False
        return people.clean_path(self._rules, path, data) != path

    @cached_property
    def _committed(self) -> Container[str]:
        """The notes of the last commit; of a vault without a repository, none can leave."""
        try:
            repo = repository.open_vault(self.root)
            return past.tree(repo, "HEAD")
        except (VaultError, GitError):
            return ()

    def _is_of(self, path: str, project: str) -> bool:
        """Whether a note outside the project's folder belongs to it."""
        return note.parse(disk.readable(self.root, path) or b"").meta.get("project") == project

    def nameable(self, sessions: Iterable[SessionRow]) -> Iterable[SessionRow]:
        """Return the sessions that may be named: they have a page, and it and the note of its title may leave."""
        return (
            session
            for session in sessions
            if session.page and self.leaves(session.page) and self._title_may_leave(session)
        )

    def _title_may_leave(self, session: SessionRow) -> bool:
        """Whether the note that gives a session its title, a prompt or an answer, may be named."""
        if session.page not in self._staying_titles:
            folder = session.page.rpartition("/")[0]
            names = self.view.names(self.view.members_of(folder))
            titling = (name for name in names if "-000-prompt-" in name or "-response-" in name)
            first = min(titling, key=lambda name: ("-000-prompt-" not in name, journal.numbers(name)), default="")
            path = f"{folder}/{first}"
            self._staying_titles[session.page] = path if first and not self._travels(path, gives_title=True) else ""
        title_note = self._staying_titles[session.page]
        return not title_note or self.leaves(title_note)

    def notes(self, terms: Iterable[str], project: str = "", most: int = MAX_NOTES) -> list[NoteRow]:
        """Return the notes that have one of these facets, newest first."""
        numbers = self.view.with_any(terms) - self._internal
        if project:
            numbers &= self.view.of_project(project)
        listed_rows: list[NoteRow] = []
        for number in sorted(numbers, key=lambda number: (self.created(number), self.view.path(number)), reverse=True):
            if len(listed_rows) < most and self.leaves(self.view.path(number)):
                listed_rows.append(rows.row(self.view, number))
        return listed_rows

    def created(self, number: int) -> int:
        """Return the creation time in a note's front matter, in seconds, 0 for none: the same on every machine.

        For a note without one, the index has the time of the file, which differs between machines.
        """
        indexed = self.view.number("created", number)
        if indexed != self.view.number("mtime_ns", number) // 10**9 and self.view.number("mtime_ns", number) >= 0:
            return indexed
        path = self.view.path(number)
        if path not in self._has_date:
            parsed = note.parse(disk.readable(self.root, path) or b"")
            self._has_date[path] = creation.when_made(parsed.meta, path) is not None
        return indexed if self._has_date[path] else 0


def _without_facts(row: SessionRow) -> SessionRow:
    """Return a row without the facts that no page lists, to save memory: there may be very many rows."""
    return row._replace(agent="", branch="", outcome="", ended="")


DECISIONS = ("kind:decision", "tag:decision")
PINNED = ("is:pinned",)


def link(title: str, path: str, folder: str = "") -> str:
    """Return a link to a note from a page in `folder`, both vault-relative."""
    place = os.path.relpath(path, folder or ".").replace(os.sep, "/")
    return f"[{page.link_text(title)}]({generated.target(place)})"


def to_archives(root: str, folder: str, lines: Iterable[str]) -> list[str]:
    """Return a page's lines with links to archived notes changed to the files that contain them, for any program.

    folder: that of the page.
    """

    def to_archive(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, generated.path_of(match[2] or match[3])))
        if not disk.is_packed(root, target):
            return match[0]
        place = posixpath.relpath(layout.archive_of(layout.folder_of(target)), folder or ".")
        return f"{match[1]}({generated.target(place)})"

    return [pages.TARGET.sub(to_archive, line) if "](" in line else line for line in lines]


def day(session: SessionRow) -> str:
    """Return the day on which a session began, from its folder, else in UTC: the same on every machine."""
    return layout.day_of(session.page) or session.started[:10]


def moment(session: SessionRow) -> str:
    """Return the day and time at which a session began, from its page or its folder; a person may rename both."""
    folder, _, page_name = session.page.rpartition("/")
    names = [page_name, journal.page_name(folder)]
    name = next(filter(journal.is_like_a_page, names), "") or next(filter(_has_time, names), "")
    return f"{day(session)} {name[:2]}:{name[2:4]}" if name else day(session)


def _has_time(name: str) -> bool:
    """Whether a name that a person gave begins with a time, and not with a day."""
    return name[:4].isdigit() and name[4:5] == "-" and not layout.is_day(name[:10])


def session_line(session: SessionRow, folder: str = "", *, project: bool = False) -> str:
    """Return a session as a line of a list: time, title, and how much was done."""
    facts = [
        session.project if project else "",
        plural.number(session.prompts, "prompt"),
        plural.number(session.edits, "edit") if session.edits else "",
        f"{session.failed} failed" if session.failed else "",
    ]
    counts = page.link_text(", ".join(filter(None, facts)))
    return f"- {moment(session)} {link(session.title, session.page, folder)} ({counts})"


def note_line(row: NoteRow, folder: str = "") -> str:
    """Return a note as a line of a list."""
    return f"- {link(row.title, row.path, folder)}"


def section(heading: str, lines: list[str]) -> list[str]:
    """Return a heading with its list; nothing for an empty list."""
    return [f"## {heading}", "", *lines, ""] if lines else []
