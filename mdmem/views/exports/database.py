"""Notes as an SQLite database with full-text search: sessions, notes, files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mdmem.agents import aliases
from mdmem.history.export import Exported
from mdmem.vault import generated, links
from mdmem.views.exports import articles
from mdmem.views.exports.articles import ExportedSession

SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def write(notes: Iterable[Exported], target: Path) -> None:
    """Write the database to `target`, a new file. Raises OSError when it cannot be written."""
    try:
        with closing(sqlite3.connect(target)) as base:
            base.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {SCHEMA}")

            def each_added() -> Iterator[Exported]:
                for count, note in enumerate(notes, 1):
                    _add(base, count, note)
                    yield note

            sessions = (entry for entry in articles.grouped(each_added()) if isinstance(entry, ExportedSession))
            rows = sorted(((session.started, session.folder), _row(session)) for session in sessions)
            values = (row for _, row in rows)
            base.executemany("INSERT OR IGNORE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?)", values)
            base.execute("INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')")
            base.commit()
            base.execute("PRAGMA optimize")
    except sqlite3.Error as error:
        raise OSError(f"The database could not be written ({error}).") from error


def _add(base: sqlite3.Connection, number: int, note: Exported) -> None:
    meta = note.parsed.meta
    body = _text(generated.unmarked(note.parsed.body))
    tags = meta.get("tags") or []
    tag_names = map(str, tags if isinstance(tags, list) else [tags])
    texts = {key: _text(meta.get(key)) for key in ("session", "tool")}
    numbers = {key: _as_int(meta.get(key)) for key in ("prompt", "sequence", "success")}
    row = {
        **{key: _text(fact) for key, fact in note.facts.items()},
        **texts,
        **numbers,
        "number": number,
        "path": _text(note.path),
        "pinned": int(bool(meta.get("pinned"))),
        "tags": _text(" ".join(tag_names)),
        "meta": _text(json.dumps(meta, ensure_ascii=False, default=str)),
        "body": body,
    }
    columns = ", ".join(row)
    places = ", ".join(f":{key}" for key in row)
    base.execute(f"INSERT INTO notes ({columns}) VALUES ({places})", row)  # noqa: S608 - our own names only
    files = meta.get("files")
    changed = int(aliases.changes_files(str(meta.get("tool", ""))))
    base.executemany(
        "INSERT INTO files VALUES (?,?,?)",
        [(_text(file), number, changed) for file in (files if isinstance(files, list) else ())],
    )
    base.executemany(
        "INSERT INTO links VALUES (?,?,?)", [(number, _text(link.target), link.how) for link in links.written(body)]
    )


def _row(session: ExportedSession) -> tuple[Any, ...]:
    notes = session.page_and_notes
    times = sorted(filter(None, map(articles.created, session.notes))) or [session.started]
    facts = [next((str(n.parsed.meta[key]) for n in notes if n.parsed.meta.get(key)), "") for key in _KEYS]
    failed = sum(note.parsed.meta.get("success") is False for note in session.notes)
    counts = (times[0], times[-1], len(session.notes), failed)
    return (*map(_text, facts), _text(session.title), *counts, _text(session.folder))


_KEYS = ("session", "project", "agent", "branch")


def _text(value: object) -> str:
    """Return a value as text that any program can read: no lone surrogates."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def _as_int(value: object) -> int | None:
    return int(value) if isinstance(value, int) else None
