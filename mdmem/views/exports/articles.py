"""Exported notes as HTML: sessions as conversations with folded tool runs, other notes one by one."""

from __future__ import annotations

import base64
import hashlib
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote, unquote

from mdmem import plural, timestamps
from mdmem.history.export import Exported
from mdmem.vault import generated, layout, links, turns
from mdmem.vault.note import PAGES
from mdmem.views import markup, wording
from mdmem.views.exports.text_buffer import TextBuffer

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


PageAnchor = tuple[str, str]
"""The path of a page below the top of the pages, with slashes, and an anchor on it, "" for none."""


class Places(NamedTuple):
    """The place of each note among the pages: by its path without ending, by its file name, and by its id.

    by_title: notes outside sessions, by title in the form of `links.as_compared`; None for the title of several notes.
    picture: returns the path of a picture among the pages, "" for none; it takes the address in the note, the note's
    folder, and whether a file name alone is enough.
    """

    by_path: dict[str, PageAnchor]
    by_name: dict[str, PageAnchor]
    by_id: dict[str, PageAnchor]
    by_title: dict[str, PageAnchor | None]
    picture: Callable[[str, str, bool], str] = lambda *_: ""


NO_PLACES = Places({}, {}, {}, {})


def policy_source(text: str) -> str:
    """Return the source that permits a style or a script in a page's policy: its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def document(title: str, body: str) -> str:
    """Return a whole page. It loads only pictures in the same folder, and runs no script."""
    before, after = around(title)
    return f"{before}{body}{after}"


def around(title: str, *, script: str = "") -> tuple[str, str]:
    """Return the parts of a page before and after its body; see `document`."""
    policy = f"default-src 'none'; img-src 'self' file:; style-src {policy_source(STYLE)}"
    script_tag = ""
    if script:
        policy += f"; script-src {policy_source(script)}"
        script_tag = f"<script>{script}</script>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    ), f"</main>\n{script_tag}</body>\n</html>\n"


class ExportedSession(NamedTuple):
    """A session to export: its folder, its page if there is one, and its other notes in order."""

    folder: str
    page: Exported | None
    notes: list[Exported]

    @property
    def page_and_notes(self) -> list[Exported]:
        """Return its page, if there is one, and its other notes."""
        return [*([self.page] if self.page else []), *self.notes]

    @property
    def title(self) -> str:
        """Return the page's title, else the first prompt's."""
        titles = (str(note.parsed.meta["title"]) for note in self.page_and_notes if note.parsed.meta.get("title"))
        return next(titles, self.folder)

    @property
    def started(self) -> str:
        """Return the time of its first note."""
        times = map(created, self.notes or self.page_and_notes)
        return min(filter(None, times), default="")

    @property
    def project(self) -> str:
        """Return the name of its project."""
        return layout.project_of(self.folder)


def grouped(notes: Iterable[Exported]) -> Iterator[ExportedSession | Exported]:
    """Group notes, which come sorted by path, into sessions; yield those and the other notes in that order.

    A file in a folder of a session's own may come between its notes and those of its next part.
    """
    members: list[Exported] = []
    open_folder = ""
    for note in notes:
        folder = layout.session_of(note.path)
        if not folder:
            yield note
            continue
        if members and folder != open_folder:
            yield _session_of(open_folder, members)
            members = []
        open_folder = folder
        members.append(note)
    if members:
        yield _session_of(open_folder, members)


def _session_of(folder: str, members: list[Exported]) -> ExportedSession:
    page = next((note for note in members if note.parsed.meta.get("kind") == "session"), None)
    in_turns = turns.numbered((note for note in members if note is not page), _place)
    return ExportedSession(folder, page, [note for _, turn in in_turns for note in turn])


def _place(note: Exported) -> turns.NotePlace:
    return turns.place(note.path, created(note), _kind(note))


def created(note: Exported) -> str:
    """Return when a note was created, in ISO 8601 in UTC."""
    return note.facts["created"]


def title_of(note: Exported) -> str:
    """Return a note's title, also of one without front matter."""
    return note.facts["title"]


def session_article(session: ExportedSession, places: Places = NO_PLACES, page: str = "") -> str:
    """Return a session as a conversation, followed by what a person wrote on its page."""
    facts = " · ".join(filter(None, [session.project, timestamps.readable(session.started)]))
    parts = [f'<p class="facts">{escape(facts)}</p>\n']
    for note in session.notes:
        article = _tool_run_article if _kind(note) == "observation" else note_article
        parts.append(article(note, places, page))
    written = generated.outside(session.page.parsed.body).strip() if session.page else ""
    written = written.removeprefix(f"# {session.title}").strip()
    if written and written != "## Notes":
        parts.append(f'<article dir="auto">{html(written, places, session.folder, page)}</article>\n')
    return "".join(parts)


def is_page(note: Exported) -> bool:
    """Whether a note only links to others: the page of a project or a day."""
    return _kind(note) in PAGES


def _kind(note: Exported) -> str:
    return str(note.parsed.meta.get("kind") or "note")


def note_article(note: Exported, places: Places = NO_PLACES, page: str = "") -> str:
    """Return a note as HTML, with its author and time."""
    meta, kind = note.parsed.meta, _kind(note)
    who = {"prompt": "you", "response": str(meta.get("agent") or "agent")}.get(kind, note.facts["kind"])
    facts = " · ".join(filter(None, [who, timestamps.readable(created(note)), note.facts["id"]]))
    style = kind if kind in ("prompt", "response") else "note"
    text = markup.without_title(note.parsed.body, title_of(note))
    body = html(text, places, note.path.rpartition("/")[0], page)
    about = f'<p class="facts">{escape(facts)}</p>\n'
    return f'<article class="{style}" id="{anchor(note)}" dir="auto">{about}{body}</article>\n'


def _tool_run_article(note: Exported, places: Places, page: str) -> str:
    failed = note.parsed.meta.get("success") is False
    error = str(note.parsed.meta.get("error") or "") if failed else ""
    title = f"{'✗ ' if failed else ''}{title_of(note)}" + (
        f": {error}" if error and error not in title_of(note) else ""
    )
    body = html(note.parsed.body, places, note.path.rpartition("/")[0], page)
    opening = '<details class="failed"' if failed else "<details"
    return f'{opening} id="{anchor(note)}" dir="auto"><summary>{markup.line(title[:300])}</summary>\n{body}</details>\n'


def anchor(note: Exported) -> str:
    """Return a note's anchor on a page."""
    name = str(note.parsed.meta.get("id") or "")
    if name.isalnum() and name.isascii():
        return name
    return f"n-{hashlib.sha256(os.fsencode(note.path)).hexdigest()[:10]}"


def write(notes: Iterable[Exported], file: BinaryIO) -> None:
    """Write all notes as one page, by day, sessions as conversations."""
    order: list[tuple[str, bool, str, str, int]] = []
    note_count = session_count = 0
    with TextBuffer() as texts:
        for entry in grouped(notes):
            if isinstance(entry, ExportedSession):
                note_count += len(entry.notes)
                session_count += 1
                title, article = entry.title, session_article(entry)
                place = (wording.day(entry.started), False, entry.started, entry.folder)
            elif is_page(entry):
                continue
            else:
                note_count += 1
                title, article = title_of(entry), note_article(entry)
                place = (wording.day(created(entry)) or "Without a date", True, "", "")
            number = texts.add(_encoded(f'<h3 dir="auto">{markup.line(title)}</h3>\n{article}'))
            order.append((*place, number))
        before, after = around("mdmem")
        counted = f"{plural.number(note_count, 'note')}, {plural.number(session_count, 'session')}"
        file.write(_encoded(f"{before}<h1>What happened</h1>\n<p>{counted}.</p>\n"))
        current_day: str | None = None
        for day, *_, number in sorted(order):
            if day != current_day:
                file.write(_encoded(f"<h2>{escape(day)}</h2>\n"))
                current_day = day
            file.write(texts.read(number))
        file.write(_encoded(after))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


MAX_CHARS = 64 * 1024
"""Only this much of a text is shown."""


class FileLinks(NamedTuple):
    """The link targets of a note on a page. folder: of the note, vault-relative. page: path below the top."""

    places: Places
    folder: str
    page: str

    def target(self, href: str) -> str:
        """Return the relative address of the page that a link leads to, or the outside address."""
        to, parts = markup.outside(href), markup.split(href)
        if to or parts.scheme or parts.netloc or not parts.path:
            return to
        path = posixpath.normpath(posixpath.join(self.folder, unquote(parts.path)))
        return self._to(self.places.by_path.get(links.stem(path.lower())))

    def cited(self, name: str) -> str:
        """Return the relative address of the note with this id."""
        return self._to(self.places.by_id.get(name))

    def named(self, name: str) -> str:
        """Return the relative address of a wikilink's note."""
        title = name.partition("#")[0].strip()
        stem, places = links.stem(title.lower()), self.places
        with_title = places.by_title.get(links.as_compared(title))
        return self._to(places.by_path.get(stem) or places.by_name.get(stem) or with_title)

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the relative address of a picture beside the pages; "" when only its text can be shown."""
        place = self.places.picture(source, self.folder, by_name)
        return relative((place, ""), self.page) if place else ""

    def _to(self, place: PageAnchor | None) -> str:
        return relative(place, self.page) if place else ""


def html(text: str, places: Places = NO_PLACES, folder: str = "", page: str = "") -> str:
    """Return a text as HTML.

    folder: of the note, vault-relative, for its links. page: the path of the page that shows it.
    """
    level = 2 if page else 4  # below the title of its own page, or of its section on a common page
    return markup.html(text, FileLinks(places, folder, page), level=level, most=MAX_CHARS)


def relative(place: PageAnchor, page: str) -> str:
    """Return the relative address of a place for a link on `page`, a path below the top of the pages."""
    path, anchor = place
    address = (
        quote(os.fsencode(posixpath.relpath(path, posixpath.dirname(page) or ".")))
        if path != page or not anchor
        else ""
    )
    return f"{address}#{quote(anchor)}" if anchor else address
