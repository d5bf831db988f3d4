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
from mdmem.vault import journal, links
from mdmem.views.exports import articles
from mdmem.views.exports.articles import ExportedSession

SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def write(notes: Iterable[Exported], target: Path) -> None:
    """Write the database to `target`, a new file.

    Raises OSError when it cannot be written.
    """
    try:
        with closing(sqlite3.connect(target)) as base:
            base.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {SCHEMA}")

            def added() -> Iterator[Exported]:
                for count, one in enumerate(notes, 1):
                    _add(base, count, one)
                    yield one

            sessions = (one for one in articles.grouped(added()) if isinstance(one, ExportedSession))
            rows = sorted(((one.started, one.folder), _row(one)) for one in sessions)
            made = (row for _, row in rows)
            base.executemany("INSERT OR IGNORE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?)", made)
            base.execute("INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')")
            base.commit()
            base.execute("PRAGMA optimize")
    except sqlite3.Error as error:
        raise OSError(f"{target} could not be written ({error}).") from error


def _add(base: sqlite3.Connection, number: int, one: Exported) -> None:
    meta = one.parsed.meta
    body = _text(journal.unmarked(one.parsed.body))
    tags = meta.get("tags")
    named = [str(tag) for tag in tags] if isinstance(tags, list) else [str(tags)] if tags else []
    texts = {key: _text(meta.get(key)) for key in ("id", "project", "session", "tool")}
    numbers = {key: _whole(meta.get(key)) for key in ("prompt", "sequence", "success")}
    row = {
        **texts,
        "created": _text(articles.created(one)),
        **numbers,
        "number": number,
        "path": _text(one.path),
        "kind": _text(meta.get("kind") or "note"),
        "title": _text(articles.title_of(one)),
        "pinned": int(bool(meta.get("pinned"))),
        "tags": _text(" ".join(named)),
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


def _row(one: ExportedSession) -> tuple[Any, ...]:
    every = [*([one.page] if one.page else []), *one.notes]
    times = sorted(filter(None, map(articles.created, one.notes))) or [one.started]
    facts = [next((str(n.parsed.meta[key]) for n in every if n.parsed.meta.get(key)), "") for key in _KEYS]
    failed = sum(note.parsed.meta.get("success") is False for note in one.notes)
    session, project, agent, branch = map(_text, facts)
    place = (_text(one.title), times[0], times[-1], len(one.notes), failed, _text(one.folder))
    return session, project, agent, branch, *place


_KEYS = ("session", "project", "agent", "branch")


def _text(value: object) -> str:
    """Return a value as text that any program can read: no lone surrogates."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int) else None
