"""Entries: notes as one line each, from which a model chooses which ones to read whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.search import replaced
from mdmem.search.hits import SearchHit
from mdmem.server import safe_text
from mdmem.server.access import Access
from mdmem.vault import generated, layout, note
from mdmem.views.conversation import ConversationStep

NAME_CHARS = 60


class NoteLine(TypedDict):
    """A note on one line. score: relevance, 0 if nothing was ranked. line: the best part of its text."""

    id: str
    date: str
    kind: str
    title: str
    project: str
    score: float
    line: str


class FoundNotes(TypedDict):
    """A page of an answer. total: number of matching notes. next_offset: start of the next page, or null.

    hints: what the user should know, or try instead.
    """

    entries: list[NoteLine]
    total: int
    next_offset: int | None
    hints: list[str]


def of_hit(access: Access, hit: SearchHit, meta: Mapping[str, Any]) -> NoteLine:
    """Return an entry for a hit. meta: its file's current front matter."""
    alike = f"({hit.similar} more say the same) " if hit.similar else ""
    return {
        "id": access.line(hit.id, NAME_CHARS),
        "date": timestamps.readable(hit.created),
        "kind": access.line(hit.kind, NAME_CHARS),
        "title": access.line(hit.title, safe_text.TITLE_CHARS),
        "project": access.line(hit.project, NAME_CHARS),
        "score": 0.0 if access.titles_only else round(hit.score, 2),
        "line": _outdated(access, meta, hit.superseded_by) + alike + _text(access, hit.snippet, hit.title),
    }


def of_note(access: Access, read: ConversationStep) -> NoteLine:
    """Return an entry for a note that was read."""
    meta = read.meta
    title = str(meta.get("title", "")) or read.path.rpartition("/")[2].removesuffix(".md")
    return {
        "id": access.line(str(meta.get("id", "")), NAME_CHARS),
        "date": access.line(timestamps.readable(str(meta.get("created", ""))), NAME_CHARS),
        "kind": access.line(str(meta.get("kind", "note")), NAME_CHARS),
        "title": access.line(title, safe_text.TITLE_CHARS),
        "project": access.line(layout.project_named(read.path, meta), NAME_CHARS),
        "score": 0.0,
        "line": _outdated(access, meta) + _text(access, generated.unmarked(read.body[:1_000]), title),
    }


def _outdated(access: Access, meta: Mapping[str, Any], successor: str = "") -> str:
    """Return what a note's line begins with if it no longer holds. successor: id of a visible note that replaces it."""
    newer, status = successor or next(replaced.written(meta.get("superseded_by")), ""), meta.get("status")
    state = f"({status}) " if status in note.WITHHELD else ""
    return f"{state}(superseded by {access.line(newer, NAME_CHARS)}) " if newer else state


def _text(access: Access, text: str, title: str) -> str:
    """Return the best part of a note's text without its title; "" if only titles may be shown, or if it has no more."""
    line = "" if access.titles_only else access.line(text)
    return "" if line.rstrip("…").strip() in title else line.removeprefix(f"{title} ")


def lines(page: FoundNotes) -> Iterator[str]:
    """Return a page of an answer as text."""
    yield from rows(page["entries"])
    if not page["entries"] and not page["total"]:
        yield "Nothing found."
        yield from page["hints"]
        return
    yield f"{extent(len(page['entries']), page)}. `get_notes` reads them whole."
    yield from page["hints"]


def rows(entries: Iterable[NoteLine]) -> Iterator[str]:
    """Yield the lines of entries as text."""
    for entry in entries:
        project = f" ({entry['project']})" if entry["project"] else ""
        score = f" {entry['score']:g}" if entry["score"] else ""
        yield f"- {entry['date']} {entry['kind']} [mem:{entry['id']}]{score} {entry['title']}{project}"
        if entry["line"]:
            yield f"  > {entry['line']}"


def extent(count: int, page: Mapping[str, Any], what: str = "") -> str:
    """Return how much of an answer a page has, and how to get the next. what: a noun with a space before it."""
    next_page = f"; continue with offset {page['next_offset']}" if page["next_offset"] is not None else ""
    return f"{count} of {page['total']}{what}{next_page}"


def paged(entries: list[NoteLine], total: int, offset: int, limit: int, hints: Iterable[str] = ()) -> FoundNotes:
    """Return one page of an answer. total: of all pages. limit: of notes per page."""
    return {"entries": entries, "total": total, "next_offset": next_offset(total, offset, limit), "hints": list(hints)}


def next_offset(total: int, offset: int, limit: int) -> int | None:
    """Return the start of the next page; None if this is the last one."""
    return offset + limit if offset + limit < total else None
