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
from mdmem.vault import journal, layout, links
from mdmem.vault.note import PAGES
from mdmem.views import markup, wording
from mdmem.views.exports.text_buffer import TextBuffer

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


Place = tuple[str, str]
"""The path of a page below the top of the pages, with slashes, and an anchor on it, "" for none."""


class Places(NamedTuple):
    """The place of each note among the pages: by its path without ending, by its file name, and by its id.

    by_title: notes outside sessions, by title in the form of `links.as_compared`; None for the title of several notes.
    picture: returns the path of a picture among the pages, "" for none; it takes the address in the note, the note's
    folder, and whether a file name alone is enough.
    """

    by_path: dict[str, Place]
    by_name: dict[str, Place]
    by_id: dict[str, Place]
    by_title: dict[str, Place | None]
    picture: Callable[[str, str, bool], str] = lambda *_: ""


NOWHERE = Places({}, {}, {}, {})


def sealed(text: str) -> str:
    """Return the source that permits a style or a script in a page's policy: its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def document(title: str, body: str) -> str:
    """Return a whole page. It loads only pictures in the same folder, and runs no script."""
    before, after = around(title)
    return f"{before}{body}{after}"


def around(title: str, *, script: str = "") -> tuple[str, str]:
    """Return the parts of a page before and after its body; see `document`."""
    policy = f"default-src 'none'; img-src 'self' file:; style-src {sealed(STYLE)}" + (
        f"; script-src {sealed(script)}" if script else ""
    )
    ran = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    ), f"</main>\n{ran}</body>\n</html>\n"


class ExportedSession(NamedTuple):
    """A session to export: its folder, its page if there is one, and its other notes in order."""

    folder: str
    page: Exported | None
    notes: list[Exported]

    @property
    def title(self) -> str:
        """Return the page's title, else the first prompt's."""
        every = ([self.page] if self.page else []) + self.notes
        return next((str(one.parsed.meta["title"]) for one in every if one.parsed.meta.get("title")), self.folder)

    @property
    def started(self) -> str:
        """Return the time of its first note."""
        every = self.notes or ([self.page] if self.page else [])
        return min((created(one) for one in every if created(one)), default="")

    @property
    def project(self) -> str:
        """Return the name of its project."""
        return layout.project_of(self.folder)


def grouped(notes: Iterable[Exported]) -> Iterator[ExportedSession | Exported]:
    """Group notes, which come sorted by path, into sessions; yield those and the other notes in that order."""
    held: list[Exported] = []
    here = ""
    for one in notes:
        folder = layout.session_of(one.path)
        if not folder:
            yield one
            continue
        if held and folder != here:
            yield _session(here, held)
            held = []
        here = folder
        held.append(one)
    if held:
        yield _session(here, held)


def _session(folder: str, members: list[Exported]) -> ExportedSession:
    page = next((one for one in members if one.parsed.meta.get("kind") == "session"), None)
    rest = [one for one in members if one is not page]
    last = (1 << 30, 0)
    rest.sort(key=lambda one: (journal.numbers(one.path.rpartition("/")[2]) or last, created(one), one.path))
    return ExportedSession(folder, page, rest)


def created(one: Exported) -> str:
    """Return the creation time in a note's front matter, in UTC."""
    return timestamps.utc(str(one.parsed.meta.get("created") or ""))


def title_of(one: Exported) -> str:
    """Return a note's title, else its file name."""
    return str(one.parsed.meta.get("title") or one.path.rpartition("/")[2].removesuffix(".md"))


def session(one: ExportedSession, places: Places = NOWHERE, page: str = "") -> str:
    """Return a session as a conversation, followed by what a person wrote on its page."""
    parts = [
        f'<p class="facts">{escape(" · ".join(filter(None, [one.project, timestamps.readable(one.started)])))}</p>\n'
    ]
    parts += [
        _run(note, places, page) if _kind(note) == "observation" else said(note, places, page) for note in one.notes
    ]
    own = journal.outside(one.page.parsed.body).strip() if one.page else ""
    own = own.removeprefix(f"# {one.title}").strip()
    if own and own != "## Notes":
        parts.append(f'<article dir="auto">{html(own, places, one.folder, page)}</article>\n')
    return "".join(parts)


def is_page(one: Exported) -> bool:
    """Whether a note only links to others: the page of a project or a day."""
    return _kind(one) in PAGES


def _kind(one: Exported) -> str:
    return str(one.parsed.meta.get("kind") or "note")


def said(one: Exported, places: Places = NOWHERE, page: str = "") -> str:
    """Return a note as HTML, with its author and time."""
    meta, kind = one.parsed.meta, _kind(one)
    who = {"prompt": "you", "response": str(meta.get("agent") or "agent")}.get(kind, kind)
    facts = " · ".join(filter(None, [who, timestamps.readable(created(one)), str(meta.get("id") or "")]))
    style = kind if kind in ("prompt", "response") else "note"
    text = markup.without_title(one.parsed.body, title_of(one))
    body = html(text, places, one.path.rpartition("/")[0], page)
    about = f'<p class="facts">{escape(facts)}</p>\n'
    return f'<article class="{style}" id="{anchor(one)}" dir="auto">{about}{body}</article>\n'


def _run(one: Exported, places: Places, page: str) -> str:
    failed = one.parsed.meta.get("success") is False
    error = str(one.parsed.meta.get("error") or "") if failed else ""
    title = f"{'✗ ' if failed else ''}{title_of(one)}" + (f": {error}" if error and error not in title_of(one) else "")
    body = html(one.parsed.body, places, one.path.rpartition("/")[0], page)
    opening = '<details class="failed"' if failed else "<details"
    return f'{opening} id="{anchor(one)}" dir="auto"><summary>{markup.line(title[:300])}</summary>\n{body}</details>\n'


def anchor(one: Exported) -> str:
    """Return a note's anchor on a page."""
    name = str(one.parsed.meta.get("id") or "")
    if name.isalnum() and name.isascii():
        return name
    return f"n-{hashlib.sha256(os.fsencode(one.path)).hexdigest()[:10]}"


def write(notes: Iterable[Exported], file: BinaryIO) -> None:
    """Write all notes as one page, by day, sessions as conversations."""
    order: list[tuple[str, bool, str, str, int]] = []
    shown = sessions = 0
    with TextBuffer() as held:
        for one in grouped(notes):
            if isinstance(one, ExportedSession):
                shown += len(one.notes)
                sessions += 1
                number = held.add(_encoded(f'<h3 dir="auto">{markup.line(one.title)}</h3>\n{session(one)}'))
                order.append((wording.day(one.started), False, one.started, one.folder, number))
                continue
            if not is_page(one):
                shown += 1
                number = held.add(_encoded(f'<h3 dir="auto">{markup.line(title_of(one))}</h3>\n{said(one)}'))
                order.append((wording.day(created(one)) or "Without a date", True, "", "", number))
        before, after = around("mdmem")
        counted = f"{plural.number(shown, 'note')}, {plural.number(sessions, 'session')}"
        file.write(_encoded(f"{before}<h1>What happened</h1>\n<p>{counted}.</p>\n"))
        last: str | None = None
        for day, *_, number in sorted(order):
            if day != last:
                file.write(_encoded(f"<h2>{escape(day)}</h2>\n"))
                last = day
            file.write(held.read(number))
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
        said = name.partition("#")[0].strip()
        stem, places = links.stem(said.lower()), self.places
        titled = places.by_title.get(links.as_compared(said))
        return self._to(places.by_name.get(stem) or places.by_path.get(stem) or titled)

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the relative address of a picture beside the pages; "" when only its text can be shown."""
        place = self.places.picture(source, self.folder, by_name)
        return relative((place, ""), self.page) if place else ""

    def _to(self, place: Place | None) -> str:
        return relative(place, self.page) if place else ""


def html(text: str, places: Places = NOWHERE, folder: str = "", page: str = "") -> str:
    """Return a text as HTML.

    folder: of the note, vault-relative, for its links. page: the path of the page that shows it.
    """
    level = 2 if page else 4  # below the title of its own page, or of its section on a common page
    return markup.html(text, FileLinks(places, folder, page), level=level, most=MAX_CHARS)


def relative(place: Place, page: str) -> str:
    """Return the relative address of a place for a link on `page`, a path below the top of the pages."""
    path, anchor = place
    address = (
        quote(os.fsencode(posixpath.relpath(path, posixpath.dirname(page) or ".")))
        if path != page or not anchor
        else ""
    )
    return f"{address}#{quote(anchor)}" if anchor else address
