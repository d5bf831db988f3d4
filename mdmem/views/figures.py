"""What is in a vault, counted: from the index where it knows, from files, state and logs where it does not."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.agents import aliases
from mdmem.search.expansion import ledger
from mdmem.vault import disk, note
from mdmem.views import rows, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.search.query import Query
    from mdmem.views.rows import NoteRow

MOST_FILES = 10


def count(config: Config, query: Query) -> dict[str, Any]:
    """Count the notes that a query allows, and what mdmem's own folders and logs hold; ready for JSON."""

    def answer(view: View) -> tuple[list[NoteRow], list[str]]:
        chosen = rows.select(view, config.vault, query, pages=True)
        cleaned = view.notes("facet", "is:private") | view.notes("facet", "is:redacted")
        return [rows.row(view, number) for number in chosen], [view.path(number) for number in cleaned & set(chosen)]

    found, cleaned = rows.ask(config, answer)
    notes = [row for row in found if row.kind not in note.PAGES]
    return {
        **_whole(notes),
        "kinds": _ranked(row.kind for row in notes),
        "projects": _ranked(row.project or "(none)" for row in notes),
        "days": _days(notes),
        "tools": _ranked(row.tool for row in notes if row.tool),
        "failures": _ranked(row.tool or row.kind for row in notes if row.success is False),
        "files": dict(list(_ranked(_touched(notes)).items())[:MOST_FILES]),
        "kept_out": _kept_out(config.vault, cleaned),
        "storage": _storage(config, found),
        "injections": injections(config, query, found),
        "model_calls": len(ledger.read(config)),
    }


def _whole(notes: list[NoteRow]) -> dict[str, Any]:
    return {
        "notes": len(notes),
        "sessions": len({row.session for row in notes if row.session}),
        "pinned": sum(row.pinned for row in notes),
        "first": notes[-1].created if notes else None,
        "last": notes[0].created if notes else None,
    }


def _ranked(names: Iterable[str]) -> dict[str, int]:
    counted = Counter(names)
    return {name: counted[name] for name in sorted(counted, key=lambda name: (-counted[name], name))}


def _days(notes: list[NoteRow]) -> dict[str, int]:
    """Count by local day, oldest first."""
    counted = Counter(wording.day(row.created) for row in notes)
    return {day: counted[day] for day in sorted(counted)}


def _touched(notes: list[NoteRow]) -> Iterator[str]:
    return (file for row in notes if row.success is not False and aliases.changes_files(row.tool) for file in row.files)


def _kept_out(root: str, paths: list[str]) -> dict[str, int]:
    """Add up what the notes say was removed from them."""
    counts = {"notes": len(paths), "private": 0, "redacted": 0}
    for path in paths:
        meta = note.parse(disk.read_path(root, path) or b"").meta
        for key in ("private", "redacted"):
            value = meta.get(key)
            counts[key] += value if type(value) is int else 0
    return counts


def _storage(config: Config, found: list[NoteRow]) -> dict[str, int]:
    """Return the size of each part, in bytes, and the number of files of notes."""
    root = Path(config.vault)
    return {
        "files": len(found),
        "notes": sum(entry.size for entry in disk.walk(config.vault)),
        "git": folder_bytes(root / ".git"),
        "index": folder_bytes(Path(config.index_dir)),
        "state": folder_bytes(Path(config.state_dir)),
    }


def folder_bytes(folder: Path) -> int:
    """Add up the sizes of the files in and below a folder; one that is not there is empty."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(where) / name).lstat().st_size
            except OSError:
                continue
    return total


def injections(config: Config, query: Query, notes: list[NoteRow]) -> dict[str, Any]:
    """Return how often memories were given, how many, and which of them the agent then cited in an answer, most first.

    A memory counts once a session. notes: where the titles of memories are looked up.
    """
    from mdmem.inject import citations, given

    first = "" if query.since is None else disk.iso_time(query.since)
    last = "~" if query.until is None else disk.iso_time(query.until)
    log = [row for row in given.read_log(config) if first <= str(row.get("time", "")) < last]
    offered: dict[str, set[str]] = {}
    for row in log:
        offered.setdefault(str(row.get("session", "")), set()).update(map(str, row.get("ids", ())))
    cited = citations.cited_by_session(config) if log else {}
    times = _ranked(name for session, ids in offered.items() for name in ids & cited.get(session, set()))
    titles = {row.id: row.title for row in notes if row.id in times}
    return {
        "times": len(log),
        "memories": sum(len(row.get("ids", ())) for row in log),
        "chars": sum(row["chars"] for row in log if isinstance(row.get("chars"), int)),
        "tokens": sum(row["tokens"] for row in log if isinstance(row.get("tokens"), int)),
        "cited": sum(times.values()),
        "used": [
            {
                "id": name,
                "title": titles.get(name, ""),
                "given": sum(name in ids for ids in offered.values()),
                "cited": count,
            }
            for name, count in times.items()
        ],
    }
