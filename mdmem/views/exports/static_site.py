"""A site of plain files: a page a session and a page a note, relative links, and a search without a server."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history.export import Exported
from mdmem.vault import attachments, disk, journal, links
from mdmem.views import wording
from mdmem.views.exports import articles
from mdmem.views.exports.articles import ExportedSession, Places

MAX_TEXT_CHARS = 600
"""So much of a note's text can be searched."""
SCRIPT = Path(__file__).with_name("search.js").read_text(encoding="utf-8")


def write(config: Config, notes: Iterable[Exported], target: Path) -> int:
    """Write the site into the folder `target`, which must be missing or empty; return the number of notes.

    The pictures that notes show are copied into its folder `files`.

    Raises:
        UsageError: when there is something in it.
        OSError: when it cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty; nothing was written. Give a new folder.")
    target.mkdir(parents=True, exist_ok=True)
    kept = list(notes)
    sessions, others = articles.grouped(kept)
    places = _places(sessions, others)._replace(picture=_Pictures(config, target).place)
    for one in sessions:
        _put(target, _page_of(one), one.title, articles.session(one, places, _page_of(one)))
    for note in others:
        page = places.by_path[links.stem(note.path.lower())]
        _put(target, page, articles.title_of(note), articles.said(note, places, page))
    (target / "index.html").write_text(articles.document("Memory", _index(sessions, others, places)), encoding="utf-8")
    rows = json.dumps(list(_rows(kept, places)), ensure_ascii=False).replace("<", "\\u003c")
    body = (
        '<nav><a href="index.html">Start</a></nav>\n<h1>Search</h1>\n'
        '<label>Words <input type="search" autofocus></label>\n'
        f'<p><output></output></p>\n<ol></ol>\n<script type="application/json" id="notes">{rows}</script>\n'
    )
    (target / "search.html").write_text(articles.document("Search", body, script=SCRIPT), "utf-8", errors="replace")
    return len(kept)


class _Pictures:
    """The pictures beside the notes of a vault, copied beside the pages that show them."""

    def __init__(self, config: Config, target: Path) -> None:
        self._config, self._target = config, target
        self._copied: dict[str, str] = {}

    def place(self, source: str, folder: str, by_name: bool) -> str:
        """Return where a picture lies, from the top of the pages; "" when the vault has none there."""
        try:
            parts = urlsplit(source)
        except ValueError:
            return ""
        if parts.scheme or parts.netloc or not parts.path:
            return ""
        return next(filter(None, map(self._copy, self._candidates(unquote(parts.path), folder, by_name))), "")

    def _candidates(self, text: str, folder: str, by_name: bool) -> Iterator[str]:
        yield posixpath.normpath(posixpath.join(folder, text))
        if by_name:
            yield posixpath.normpath(text)
            if "/" not in text:
                named = attachments.named(self._config.vault, text, self._config.settings)
                yield from (path for path in named if path.rpartition("/")[2] == text)

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
    """Whether a path names a picture that people put beside their notes; what lies in the journal was captured."""
    if path.startswith(("/", "..", "journal/", "internal/")) or any(part[:1] == "." for part in path.split("/")):
        return False
    return path.rpartition(".")[2].lower() in attachments.PICTURES


def _page_of(one: ExportedSession) -> str:
    return f"pages/{one.folder}.html"


def _places(sessions: list[ExportedSession], others: list[Exported]) -> Places:
    """Return where every note is shown: those of a session on its page."""
    found = Places({}, {}, {})
    rows = [(note, f"{_page_of(one)}#{articles.anchor(note)}") for one in sessions for note in one.notes]
    rows += [(one.page, _page_of(one)) for one in sessions if one.page]
    rows += [(note, f"pages/{links.stem(note.path)}.html") for note in others]
    for note, place in rows:
        stem = links.stem(note.path.lower())
        found.by_path[stem] = found.by_name[stem.rpartition("/")[2]] = place
        if note.parsed.meta.get("id"):
            found.by_id[str(note.parsed.meta["id"])] = place
    return found


def _put(target: Path, page: str, title: str, body: str) -> None:
    up = articles.relative("index.html", page)
    head = f'<nav><a href="{up}">Start</a> · <a href="{articles.relative("search.html", page)}">Search</a></nav>\n'
    path = target / page
    path.parent.mkdir(parents=True, exist_ok=True)
    text = articles.document(title, f"{head}<h1>{escape(title)}</h1>\n{body}")
    path.write_text(text, encoding="utf-8", errors="replace")


def _index(sessions: list[ExportedSession], others: list[Exported], places: Places) -> str:
    parts = ['<nav><a href="search.html">Search</a></nav>\n<h1>Memory</h1>\n']
    written = [one for one in others if not articles.is_page(one)]
    if written:
        parts.append(f"<h2>Notes</h2>\n<ul>\n{''.join(_item(one, places) for one in written)}</ul>\n")
    months: dict[str, list[str]] = {}
    for one in reversed(sessions):
        facts = f"{wording.date_and_time(one.started)} · {one.project} · {wording.number(len(one.notes), 'note')}"
        link = f'<a href="{escape(articles.relative(_page_of(one), "index.html"))}">{escape(one.title)}</a>'
        months.setdefault(wording.day(one.started)[:7], []).append(f"<li>{link} <small>{escape(facts)}</small></li>\n")
    parts += [f"<h2>{escape(month)}</h2>\n<ul>\n{''.join(rows)}</ul>\n" for month, rows in months.items()]
    return "".join(parts)


def _item(one: Exported, places: Places) -> str:
    to = articles.relative(places.by_path[links.stem(one.path.lower())], "index.html")
    return f'<li><a href="{escape(to)}">{escape(articles.title_of(one))}</a></li>\n'


def _rows(notes: list[Exported], places: Places) -> Iterator[tuple[str, str, str, str]]:
    """Yield what is searched of each note: title, address, facts, the beginning of its text."""
    for one in sorted(notes, key=articles.created, reverse=True):
        meta = one.parsed.meta
        to = articles.relative(places.by_path[links.stem(one.path.lower())], "search.html")
        facts = [wording.day(articles.created(one)), str(meta.get("project") or ""), str(meta.get("kind") or "note")]
        text = " ".join(journal.unmarked(one.parsed.body)[: 2 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
        yield articles.title_of(one), to, " · ".join(filter(None, facts)), text
