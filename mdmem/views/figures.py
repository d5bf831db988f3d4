"""Statistics of a vault: from the index where possible, else from files, state and logs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any

from mdmem import timestamps
from mdmem.config import Config
from mdmem.search import freshness
from mdmem.search.expansion import ledger
from mdmem.search.index import tally
from mdmem.search.index.view import View
from mdmem.search.query import Query
from mdmem.vault import note
from mdmem.views import citations, rows
from mdmem.views import injections as injections_view

MOST_FILES = 10


def count(config: Config, query: Query) -> dict[str, Any]:
    """Return the statistics of the notes that match a query, and of mdmem's own folders and logs, ready for JSON.

    For the whole vault, most were counted when the index was written.
    """
    return rows.ask(config, lambda view: _counted(view, config, query)) | {
        "injections": injections(config, query),
        "model_calls": len(ledger.read(config)),
    }


def _counted(view: View, config: Config, query: Query) -> dict[str, Any]:
    chosen = None if query == Query() else rows.matching_notes(view, config.vault, query, pages=True)
    counts = view.counts(chosen)
    return {
        "notes": sum(counts.kinds.values()),
        "sessions": _sessions(view, chosen),
        "pinned": counts.sums.get("pinned", 0),
        "first": _moment(view, chosen, min, counts.quarters),
        "last": _moment(view, chosen, max, counts.quarters),
        "kinds": ranked(counts.kinds),
        "projects": ranked({name or "(none)": total for name, total in counts.projects.items()}),
        "days": days(counts.quarters),
        "tools": ranked(counts.tools),
        "failures": ranked(counts.failures),
        "files": ranked(counts.files, MOST_FILES),
        "kept_out": {key: counts.sums.get(key, 0) for key in ("notes", "private", "redacted")},
        "storage": {
            "files": view.live if chosen is None else len(chosen),
            "notes": view.bytes(chosen),
            "git": folder_bytes(Path(config.vault) / ".git"),
            "index": folder_bytes(Path(config.index_dir)),
            "state": folder_bytes(Path(config.state_dir)),
        },
    }


def ranked(counts: Mapping[str, int], most: int | None = None) -> dict[str, int]:
    """Return counts with the highest first, equal ones by name. most: only this many (None: all)."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])


def _moment(
    view: View, chosen: Set[int] | None, choose: Callable[[Iterable[int]], int], quarters: dict[int, int]
) -> str | None:
    """Return the time of the first or the last note, looked up in the first or last quarter of an hour."""
    if not quarters:
        return None
    begin = choose(quarters) * tally.QUARTER_SECONDS
    in_quarter = view.between(begin, begin + tally.QUARTER_SECONDS)
    counted = in_quarter - view.of_kinds(note.PAGES) - view.internal
    if chosen is not None:
        counted &= chosen
    created = view.numbers("created")
    return timestamps.iso_time(choose(created[number] for number in counted))


def _sessions(view: View, chosen: Set[int] | None) -> int:
    if chosen is not None:
        facts_of_notes = (view.facts(number) for number in chosen)
        of_sessions = (facts for facts in facts_of_notes if facts.get("session") and facts["kind"] not in note.PAGES)
        return len({facts["session"] for facts in of_sessions})
    return len(view.remaining("facet", "session:") - {"session:"})


def days(quarters: dict[int, int]) -> dict[str, int]:
    """Return counts by local day, oldest first. quarters: counts by quarter of an hour since 1970."""
    counted: Counter[int] = Counter()
    a_day = 86_400 // tally.QUARTER_SECONDS
    offsets: dict[int, tuple[int, int]] = {}
    for quarter, total in quarters.items():
        day = quarter // a_day
        if day not in offsets:
            offsets[day] = (_offset(day * 86_400), _offset((day + 1) * 86_400))
        at_start, at_end = offsets[day]
        begin = quarter * tally.QUARTER_SECONDS
        offset = at_start if at_start == at_end else _offset(begin)
        counted[(begin + offset) // 86_400] += total
    return {timestamps.iso_time(day * 86_400)[:10]: counted[day] for day in sorted(counted)}


def _offset(seconds: int) -> int:
    """Return local time's offset from UTC, in seconds."""
    return time.localtime(seconds).tm_gmtoff


def folder_bytes(folder: Path) -> int:
    """Return the total size of the files in and below a folder; 0 if it does not exist."""
    total = 0
    for folder_path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(folder_path) / name).lstat().st_size
            except OSError:
                continue
    return total


def injections(config: Config, query: Query) -> dict[str, Any]:
    """Return the numbers of injections and memories given, and the memories cited in answers, most cited first.

    A memory counts once per session. With filters, only the sessions that have such notes count.
    """
    from mdmem.inject import injection_log

    since = "" if query.since is None else timestamps.iso_time(query.since)
    until = "~" if query.until is None else timestamps.iso_time(query.until)
    log = [row for row in injection_log.read_log(config) if since <= str(row.get("time", "")) < until]
    if query.filters:
        sessions = {str(row.get("session", "")) for row in log}
        with_notes = rows.ask(config, lambda view: _with_notes(view, config, Query(filters=query.filters), sessions))
        log = [row for row in log if str(row.get("session", "")) in with_notes]
    offered: dict[str, set[str]] = {}
    for row in log:
        offered.setdefault(str(row.get("session", "")), set()).update(map(str, row.get("ids", ())))
    given_ids = set[str]().union(*offered.values())
    cited = freshness.answered(config, lambda view: citations.cited_by_session(view, given_ids)) or {}
    times = ranked(Counter(name for session, ids in offered.items() for name in ids & cited.get(session, set())))
    titles = freshness.answered(config, lambda view: {name: _title(view, name) for name in times}) or {}
    return {
        "times": len(log),
        "memories": sum(len(row.get("ids", ())) for row in log),
        "chars": sum(row["chars"] for row in log if isinstance(row.get("chars"), int)),
        "tokens": sum(map(injections_view.tokens, log)),
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


def _with_notes(view: View, config: Config, query: Query, sessions: Iterable[str]) -> set[str]:
    """Return those of these sessions that have notes which match a query."""
    chosen = rows.matching_notes(view, config.vault, query, pages=True)
    return {session for session in sessions if not chosen.isdisjoint(view.of_session(session))}


def _title(view: View, name: str) -> str:
    numbers = view.notes("facet", f"id:{name}".lower())
    return str(view.facts(min(numbers))["title"]) if numbers else ""
