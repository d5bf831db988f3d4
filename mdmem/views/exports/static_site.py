"""A site of plain files: one page per session and per note, relative links, and search without a server."""

from __future__ import annotations

import json
import os
import pickle
import posixpath
import re
import shutil
from array import array
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from mdmem import plural, timestamps
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.hashing import short
from mdmem.history.export import Exported
from mdmem.vault import attachments, disk, generated, is_in_journal, leftovers, links
from mdmem.views import markup, wording
from mdmem.views.exports import articles
from mdmem.views.exports.articles import ExportedSession, PageAnchor, Places
from mdmem.views.exports.text_buffer import TextBuffer

MAX_TEXT_CHARS = 600
"""Length of a note's text that can be searched."""
MAX_NAME_BYTES = 240
"""Maximum length of a page's name without its ending: a note's may have 252 bytes, and file systems take 255."""
UNFINISHED = ".mdmem-site-"
"""Beginning of the name of the folder in which a site is written first; then comes the process's id."""
SCRIPT = Path(__file__).with_name("search.js").read_text(encoding="utf-8")


def write(config: Config, notes: Iterable[Exported], target: Path) -> None:
    """Write the site into the folder `target`, which must be missing or empty. Only the user can read a new one.

    The pictures that notes show are copied into its folder `files`. A run that is killed leaves no part of a site that
    looks like all of it, and what it leaves is deleted by the next one.

    Raises:
        UsageError: when the folder is not empty.
        OSError: when it cannot be written.
    """
    leftovers.reap_folders(str(target), UNFINISHED)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty; nothing was written. Give a new folder.")
    is_new = not target.exists()
    target.mkdir(0o700, parents=True, exist_ok=True)  # as private as the vault and other exports
    try:
        folder = target / f"{UNFINISHED}{os.getpid()}"
        folder.mkdir()
        with TextBuffer() as held, TextBuffer() as rows:
            _Site(config, folder, held, rows).write(notes)
        for path in sorted(folder.iterdir(), key=lambda path: path.name == "index.html"):
            path.rename(target / path.name)
        folder.rmdir()
    except BaseException as error:
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = str(target)  # or it would be taken for an error of the vault's disk
        for path in target.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if is_new:
            target.rmdir()
        raise


class _ListedSession(NamedTuple):
    """A session for the list on the start page. numbers: of its held notes; its page, if any, comes first."""

    started: str
    folder: str
    title: str
    project: str
    numbers: list[int]
    has_page: bool


class _Site:
    """A site being written. held: the notes, in the order read. rows: the searchable facts of each."""

    def __init__(self, config: Config, target: Path, held: TextBuffer, rows: TextBuffer) -> None:
        self._target, self._held, self._rows = target, held, rows
        self._places = Places({}, {}, {}, {}, _Pictures(config, target).place)
        self._sessions: list[_ListedSession] = []
        self._others: list[int] = []
        self._other_names: set[str] = set()
        self._written: list[tuple[str, str]] = []
        self._arriving: dict[str, int] = {}  # path -> position in the order read, until the note is held
        self._arrival = array("L")
        self._created: list[str] = []
        self._row_arrival = array("L")

    def write(self, notes: Iterable[Exported]) -> None:
        """Write all pages."""
        for entry in articles.grouped(self._counted(notes)):
            if isinstance(entry, ExportedSession):
                self._hold_session(entry)
            else:
                self._other_names.add(links.stem(entry.path.lower()).rpartition("/")[2])
                self._others.append(self._hold(entry, (_page_of(links.stem(entry.path)), ""), is_other=True))
        self._sessions.sort()
        for listed in self._sessions:
            self._put_session(listed)
        for number in self._others:
            self._put_other(number)
        text = articles.document("Memory", self._index())
        (self._target / "index.html").write_text(text, encoding="utf-8", errors="replace")
        self._put_search()

    def _counted(self, notes: Iterable[Exported]) -> Iterator[Exported]:
        for number, note in enumerate(notes):
            self._arriving[note.path] = number
            yield note

    def _hold_session(self, session: ExportedSession) -> None:
        """Hold the notes of a session, its page first."""
        page = _page_of(session.folder)
        page_numbers = [self._hold(session.page, (page, ""))] if session.page else []
        numbers = [self._hold(note, (page, articles.anchor(note))) for note in session.notes]
        self._sessions.append(
            _ListedSession(
                session.started,
                session.folder,
                session.title,
                session.project,
                page_numbers + numbers,
                bool(session.page),
            )
        )

    def _hold(self, note: Exported, place: PageAnchor, *, is_other: bool = False) -> int:
        """Hold a note until the places of all notes are known. is_other: whether it belongs to no session."""
        stem = links.stem(note.path.lower())
        self._places.by_path[stem] = place
        if is_other:
            title = links.as_compared(articles.title_of(note))
            self._places.by_title[title] = None if title in self._places.by_title else place
            self._places.by_name.update(dict.fromkeys(links.endings(stem), place))
        elif stem.rpartition("/")[2] not in self._other_names:
            self._places.by_name[stem.rpartition("/")[2]] = place
        self._arrival.append(self._arriving.pop(note.path))
        if note.parsed.meta.get("id"):
            self._places.by_id[str(note.parsed.meta["id"])] = place
        return self._held.add(pickle.dumps(note._replace(data=b"")))

    def _note(self, number: int) -> Exported:
        held: Exported = pickle.loads(self._held.read(number))  # noqa: S301 - our own data, in an unnamed temporary file
        return held

    def _put_session(self, listed: _ListedSession) -> None:
        notes = [self._note(number) for number in listed.numbers]
        session = ExportedSession(listed.folder, notes[0] if listed.has_page else None, notes[listed.has_page :])
        place = _page_of(listed.folder)
        _put(self._target, place, listed.title, articles.session_article(session, self._places, place))
        for number, note in zip(listed.numbers, notes, strict=True):
            self._put_row(number, note)

    def _put_other(self, number: int) -> None:
        note = self._note(number)
        to = self._places.by_path[links.stem(note.path.lower())]
        _put(self._target, to[0], articles.title_of(note), articles.note_article(note, self._places, to[0]))
        if not articles.is_page(note):
            self._written.append((articles.title_of(note), articles.relative(to, "index.html")))
        self._put_row(number, note)

    def _put_row(self, number: int, note: Exported) -> None:
        """Hold the searchable facts of a note: title, address, facts, the start of its text."""
        created = articles.created(note)
        to = articles.relative(self._places.by_path[links.stem(note.path.lower())], "search.html")
        facts = [wording.day(created), note.facts["project"], note.facts["kind"]]
        text = " ".join(generated.unmarked(note.parsed.body)[: 2 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
        row = (articles.title_of(note).replace("`", ""), to, " · ".join(filter(None, facts)), text)
        text_of_row = json.dumps(row, ensure_ascii=False).replace("<", "\\u003c")
        self._created.append(created)
        self._row_arrival.append(self._arrival[number])
        self._rows.add(text_of_row.encode("utf-8", "replace"))

    def _index(self) -> str:
        parts = ['<nav><a href="search.html">Search</a></nav>\n<h1>Memory</h1>\n']
        if self._written:
            self._written.sort(key=lambda listed: _by_number(listed[0]))
            items = (f'<li><a href="{escape(to)}">{markup.line(title)}</a></li>\n' for title, to in self._written)
            parts.append(f"<h2>Notes</h2>\n<ul>\n{''.join(items)}</ul>\n")
        months: dict[str, list[str]] = {}
        for session in reversed(self._sessions):
            notes = plural.number(len(session.numbers) - session.has_page, "note")
            facts = f"{timestamps.readable(session.started)} · {session.project} · {notes}"
            to = articles.relative((_page_of(session.folder), ""), "index.html")
            link = f'<a href="{escape(to)}">{markup.line(session.title)}</a>'
            item = f"<li>{link} <small>{escape(facts)}</small></li>\n"
            months.setdefault(wording.day(session.started)[:7], []).append(item)
        parts += [f"<h2>{escape(month)}</h2>\n<ul>\n{''.join(rows)}</ul>\n" for month, rows in months.items()]
        return "".join(parts)

    def _put_search(self) -> None:
        before, after = articles.around("Search", script=SCRIPT)
        order = sorted(range(len(self._rows)), key=self._row_arrival.__getitem__)
        order.sort(key=self._created.__getitem__, reverse=True)
        with (self._target / "search.html").open("wb") as file:
            file.write(
                f'{before}<nav><a href="index.html">Start</a></nav>\n<h1>Search</h1>\n'
                '<label>Words <input type="search" autofocus></label>\n'
                '<p><output></output></p>\n<ol></ol>\n<script type="application/json" id="notes">['.encode()
            )
            for place, number in enumerate(order):
                file.write(b", " * bool(place) + self._rows.read(number))
            file.write(f"]</script>\n{after}".encode())


class _Pictures:
    """Copies the pictures of a vault to the pages that show them."""

    def __init__(self, config: Config, target: Path) -> None:
        self._config, self._target = config, target
        self._copied: dict[str, str] = {}

    def place(self, source: str, folder: str, by_name: bool) -> str:
        """Return the path of a picture among the pages; "" if the vault does not have it."""
        parts = markup.split(source)
        if parts.scheme or parts.netloc or not parts.path:
            return ""
        name = unquote(parts.path)
        config = self._config
        beside = (posixpath.normpath(posixpath.join(folder, name)),)
        paths = attachments.named(config.vault, name, folder, config.settings) if by_name else beside
        return next(filter(None, map(self._copy, paths)), "")

    def _copy(self, path: str) -> str:
        if path in self._copied:
            return self._copied[path]
        data = disk.read_file(self._config.vault, path) if _is_picture(path) else None
        if data is not None:
            to = self._target / "files" / path
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
        return self._copied.setdefault(path, f"files/{path}" if data is not None else "")


def _is_picture(path: str) -> bool:
    """Whether a path is a picture that people put beside their notes; files in the journal were captured."""
    if (
        is_in_journal(path)
        or path.startswith(("/", "..", "internal/"))
        or any(part[:1] == "." for part in path.split("/"))
    ):
        return False
    return path.rpartition(".")[2].lower() in attachments.PICTURES


def _page_of(place: str) -> str:
    """Return the page of a session's folder or of a note without its ending; a name that is too long is cut."""
    above, slash, name = place.rpartition("/")
    data = os.fsencode(name)
    if len(data) > MAX_NAME_BYTES:
        name = f"{data[: MAX_NAME_BYTES - 11].decode('utf-8', 'ignore')}-{short(name, 10)}"
    return f"pages/{above}{slash}{name}.html"


def _by_number(title: str) -> str:
    """Return the sort key of a title: its words, with numbers compared by value."""
    return re.sub(r"\d+", lambda number: number[0].zfill(20), title.casefold())


def _put(target: Path, page: str, title: str, body: str) -> None:
    up = articles.relative(("index.html", ""), page)
    head = (
        f'<nav><a href="{up}">Start</a> · <a href="{articles.relative(("search.html", ""), page)}">Search</a></nav>\n'
    )
    path = target / page
    path.parent.mkdir(parents=True, exist_ok=True)
    text = articles.document(title, f'{head}<h1 dir="auto">{markup.line(title)}</h1>\n{body}')
    path.write_text(text, encoding="utf-8", errors="replace")
