"""claude-mem's memory: its SQLite database, which is opened read-only, or a JSON file that its export script wrote.

A session's prompts become prompts, and the summary and the observations of a turn its answer. A session's path is that
of the database followed by the number of its row, as if it were a file in a folder.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import Event, mapping, number, objects, text
from mdmem.agents.dialect import made_id, seconds
from mdmem.transcripts.lines import document, in_databases, is_database, rows
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Source, is_quiet

NAME, TITLE = "claude-mem", "claude-mem"
_DATABASE = "claude-mem.db"
_EXPORT = b'"totalObservations"'
_MAX_EXPORT_BYTES = 1 << 30
_MAX_ID_CHARS = 64

_SESSIONS = "SELECT id FROM sdk_sessions ORDER BY started_at_epoch, id"
_SESSION = "SELECT * FROM sdk_sessions WHERE id = ?"
_PROMPTS = "SELECT * FROM user_prompts WHERE content_session_id = ? ORDER BY created_at_epoch, id"
_OBSERVATIONS = "SELECT * FROM observations WHERE memory_session_id = ? ORDER BY created_at_epoch, id"
_SUMMARIES = "SELECT * FROM session_summaries WHERE memory_session_id = ? ORDER BY created_at_epoch, id"
_PLACE = "SELECT cwd FROM tool_uses WHERE content_session_id = ? AND cwd <> '' ORDER BY id LIMIT 1"
_FACTS = """SELECT total(size), max(at) FROM (
SELECT length(prompt_text) AS size, created_at_epoch AS at FROM user_prompts WHERE content_session_id = :content
UNION ALL SELECT coalesce(length(narrative), 0) + 500, created_at_epoch FROM observations WHERE memory_session_id = :own
UNION ALL SELECT 500, created_at_epoch FROM session_summaries WHERE memory_session_id = :own)"""

_OLD_NAMES = {"content_session_id": "claude_session_id", "memory_session_id": "sdk_session_id"}
"""Column -> its name in databases and exports of earlier versions of claude-mem."""

Row = dict[str, Any]


class RetoldSession(NamedTuple):
    """What claude-mem stored about one session, as rows of its tables. id: the agent's own id of the session."""

    id: str
    began: float
    cwd: str
    prompts: list[Row]
    observations: list[Row]
    summaries: list[Row]


find = in_databases(_DATABASE, _SESSIONS, TITLE)


def newest(env: Mapping[str, str]) -> Path | None:
    """Return the newest session in the database on this machine; None without one that can be read."""
    base = Path(env.get("CLAUDE_MEM_DATA_DIR") or Path.home() / ".claude-mem", _DATABASE)
    is_there = os.path.isfile(base)  # noqa: PTH113 - it raises nothing in an unreadable folder
    return next(reversed(list(find(base))), None) if is_there else None


def facts(path: Path) -> tuple[int, int]:
    """Return a session's approximate size in bytes, and its mtime in nanoseconds since the epoch.

    Raises OSError when it does not exist.
    """
    found = _of(path.parent, _SESSION, path.name)
    if not found:
        raise FileNotFoundError(str(path))
    session = found[0]
    ids = {"content": _content_id(session), "own": _own_id(session)}
    (sizes,) = _of(path.parent, _FACTS, ids)
    last = max(_at(session.get("started_at_epoch")), _at(sizes["max(at)"]))
    return int(sizes["total(size)"]), int(last * 1000) * 1_000_000


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield a session's events, oldest first. Raises OSError when the database cannot be read."""
    base = path.parent
    for session in _of(base, _SESSION, path.name) if base.is_file() else ():
        session_id, own_id = _content_id(session), _own_id(session)
        known = RetoldSession(
            session_id,
            _at(session.get("started_at_epoch")),
            _cwd(base, session_id) or _folder(session, options),
            _of(base, _PROMPTS, session_id),
            _of(base, _OBSERVATIONS, own_id),
            _of(base, _SUMMARIES, own_id),
        )
        yield from _events(known, options.now)


def read_export(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield the events of all sessions in an export. Raises OSError when the file cannot be read."""
    export = mapping(document(path, _MAX_EXPORT_BYTES, options.skipped))
    sessions = objects(export.get("sessions"))
    agents_ids = {_own_id(session): _content_id(session) for session in sessions if _own_id(session)}
    by_id: dict[str, RetoldSession] = {}

    def of(row: Row) -> RetoldSession:
        session_id = _content_id(row) or agents_ids.get(_own_id(row), "") or _own_id(row)
        if session_id not in by_id:
            by_id[session_id] = RetoldSession(session_id, 0.0, _folder(row, options), [], [], [])
        return by_id[session_id]

    for table in ("prompts", "observations", "summaries"):
        for row in objects(export.get(table)):
            getattr(of(row), table).append(row)
    for session in by_id.values():
        yield from _events(session, options.now)


def _id(column: str, row: Row) -> str:
    return text(row.get(column)) or text(row.get(_OLD_NAMES[column]))


_content_id, _own_id = partial(_id, "content_session_id"), partial(_id, "memory_session_id")


def _cwd(base: Path, session_id: str) -> str:
    """Return the folder of a session's first tool run; "" in databases that do not record it."""
    try:
        return next((text(row["cwd"]) for row in _of(base, _PLACE, session_id)), "")
    except OSError:
        return ""


def _folder(row: Row, options: ReadOptions) -> str:
    """Return the folder of a row's project, or its bare name: claude-mem has only the names of folders.

    A work tree's name follows that of its repository, after a slash.
    """
    name = text(row.get("project")).partition("/")[0]
    return options.roots.get(name.casefold(), name)


def _at(milliseconds: Any) -> float:
    return seconds(milliseconds) or 0.0


def _of(base: Path, query: str, values: Any = None) -> list[Row]:
    given = (values,) if isinstance(values, str) else values or ()
    try:
        return rows(base, query, given, TITLE)
    except OSError as error:
        if "no such column" not in str(error):
            raise
    for column, old in _OLD_NAMES.items():
        query = query.replace(column, old)
    return rows(base, query, given, TITLE)


class _Record(NamedTuple):
    """An observation or a summary: its time, the number of its prompt (0: unknown), its order, text and files."""

    at: float
    prompt: int
    order: int
    words: str
    files: list[str]


def _events(session: RetoldSession, now: float) -> Iterator[SavedEvent]:
    """Yield a session's events: each prompt, followed by what was recorded about its turn.

    What is recorded about a last turn that may still go on is left for a later import.
    """
    prompts = [row for row in session.prompts if text(row.get("prompt_text")).strip()]
    prompts.sort(key=lambda row: (_prompt(row), _at(row.get("created_at_epoch"))))
    records = _records(session)
    if not prompts and not records:
        return
    times = [_at(row.get("created_at_epoch")) for row in prompts] + [record.at for record in records]
    at = session.began or min(filter(None, times), default=now)  # a row without a time is as old as the one before
    session_id = session.id[:_MAX_ID_CHARS] or made_id(NAME, at)

    def event(name: str, **facts: Any) -> SavedEvent:
        return SavedEvent(at, Event(NAME, name, session=session_id, cwd=session.cwd, **facts))

    yield event("SessionStart", source="startup")
    by_turn = _by_turn(records, prompts)
    for place, row in enumerate([{}, *prompts]):
        prompt_id = ""
        if row:
            at = max(at, _at(row.get("created_at_epoch")))
            prompt_id = f"{_prompt(row)}-{row.get('created_at_epoch')}"
            yield event("UserPromptSubmit", prompt_id=prompt_id, prompt=text(row["prompt_text"]))
        of_turn = by_turn[place]
        is_last = place == len(prompts)
        if of_turn and not (is_last and not is_quiet(max(times), now)):
            last = max(record.at for record in of_turn)
            if not is_last:  # a record is written later, sometimes after the next prompt
                last = min(last, _at(prompts[place].get("created_at_epoch")))
            at = max(at, last)
            yield event("Stop", prompt_id=prompt_id, message=_answer(of_turn))
    if is_quiet(max(times), now):
        yield event("SessionEnd", source="as claude-mem's record ends")


def _records(session: RetoldSession) -> list[_Record]:
    """Return what was recorded about a session, the summaries first."""
    tables = ((session.summaries, summed_up), (session.observations, observed))
    found = [
        _Record(_at(row.get("created_at_epoch")), _prompt(row), order, words, _list(row.get("files_modified")))
        for order, (table, render) in enumerate(tables)
        for row in table
        if (words := render(row))
    ]
    return sorted(found, key=lambda record: (record.order, record.at))


def _answer(records: list[_Record]) -> str:
    """Return what was recorded about a turn as Markdown, with the files that it changed."""
    files = ", ".join(dict.fromkeys(f"`{path}`" for record in records for path in record.files))
    return _joined([*(record.words for record in records), f"Files: {files}" if files else ""])


def _by_turn(records: list[_Record], prompts: list[Row]) -> dict[int, list[_Record]]:
    """Return the records of each turn: 1 for that of the first prompt, 0 for before it."""
    by_number = {_prompt(row): place for place, row in reversed(list(enumerate(prompts, 1))) if _prompt(row)}
    times = sorted(_at(row.get("created_at_epoch")) for row in prompts)
    by_turn: dict[int, list[_Record]] = defaultdict(list)
    for record in records:
        by_turn[by_number.get(record.prompt) or bisect_right(times, record.at)].append(record)
    return by_turn


def _prompt(row: Row) -> int:
    return number(row.get("prompt_number")) or 0


def observed(row: Row) -> str:
    """Return an observation as Markdown: title, what happened, facts; "" if it is empty.

    The title is a sentence in bold and no heading, because headings are left out of what agents are given.
    """
    title, kind = text(row.get("title")).strip(), text(row.get("type")).strip()
    titled = f"{kind.capitalize()}: {title}" if kind and title else title
    titled += "" if not titled or titled[-1] in ".!?:" else "."
    narrative = text(row.get("narrative")) or text(row.get("text")) or text(row.get("subtitle"))
    facts = "\n".join(f"- {fact}" for fact in _list(row.get("facts")))
    return _joined([f"**{titled}**" if titled else "", narrative, facts])


_SUMMARY = (("learned", "Learned"), ("investigated", "Investigated"), ("next_steps", "Next steps"), ("notes", "Notes"))


def summed_up(row: Row) -> str:
    """Return a turn's summary as Markdown, what was completed first; "" if it is empty."""
    parts = [text(row.get("completed"))]
    parts += [f"{label}: {words}" for key, label in _SUMMARY if (words := text(row.get(key)).strip())]
    return _joined(parts)


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _list(value: Any) -> list[str]:
    """Return a list of strings, which the database contains as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = [value]
    return [part.strip() for part in value if isinstance(part, str) and part.strip()] if isinstance(value, list) else []


def is_export(first: bytes) -> bool:
    """Whether a JSON file begins like an export of claude-mem."""
    return first.lstrip().startswith(b"{") and _EXPORT in first


_NOWHERE: Callable[[Path], Iterator[Path]] = lambda _: iter(())  # noqa: E731 - an export has any name

SOURCES = (
    Source(NAME, TITLE, find, read, is_whole=is_database, facts=facts, is_retold=True),
    Source(NAME, TITLE, _NOWHERE, read_export, is_whole=is_export, is_retold=True),
)
