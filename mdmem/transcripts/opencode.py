"""OpenCode's sessions: rows of its SQLite database, which is opened read-only.

A session's path is that of the database followed by the session's id, as if it were a file in a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import mapping, number, opencode, text
from mdmem.transcripts.lines import in_databases, is_database, rows
from mdmem.transcripts.saved import (
    NO_RESULT,
    SPOKEN,
    ReadOptions,
    SavedEvent,
    Skipped,
    Source,
    TurnTokens,
    in_order,
    is_quiet,
    pass_over,
)

_SESSIONS = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created, id"
_FACTS = "SELECT time_updated, (SELECT total(length(data)) FROM part WHERE session_id = s.id) FROM session s WHERE id=?"
_SESSION = "SELECT directory, time_created FROM session WHERE id = ? AND parent_id IS NULL"
_SUBAGENTS = """WITH RECURSIVE sent(id, directory, time_created) AS (
SELECT id, directory, time_created FROM session WHERE parent_id = ?
UNION SELECT s.id, s.directory, s.time_created FROM session s JOIN sent ON s.parent_id = sent.id) SELECT * FROM sent"""
_MESSAGES = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT time_updated, data FROM part WHERE message_id = ? ORDER BY id"


find = in_databases("opencode*.db", _SESSIONS, opencode.TITLE)


def facts(path: Path) -> tuple[int, int]:
    """Return a session's size in bytes, and its mtime in nanoseconds since the epoch.

    Raises OSError when it does not exist.
    """
    rows = _rows(path.parent, _FACTS, path.name)
    if not rows:
        raise FileNotFoundError(str(path))
    return int(rows[0][1] or 0), int(rows[0][0] or 0) * 1_000_000


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Return a session's events, oldest first; from sub-agents only what may be private, as passed-over events.

    Raises OSError when the database cannot be read.
    """
    sessions = _rows(path.parent, _SESSION, path.name) if path.parent.is_file() else []
    if not sessions:
        return iter(())
    quietly = options._replace(skipped=Skipped())
    subagent_rows = _rows(path.parent, _SUBAGENTS, path.name) if options.rules else []
    subagent_events = [
        _events(path.with_name(text(subagent_id)), folder, since, quietly)
        for subagent_id, folder, since in subagent_rows
    ]
    folder, since = sessions[0]
    return in_order(
        _events(path, folder, since, options), [_of_subagent(events, path, options) for events in subagent_events]
    )


def _events(path: Path, folder: Any, since: Any, options: ReadOptions) -> Iterator[SavedEvent]:
    reader = OpenCodeReader(path, text(folder), _seconds(since), options)
    messages = [
        (message_id, created, _object(data, options.skipped))
        for message_id, created, data in _rows(path.parent, _MESSAGES, path.name)
    ]
    for place, (message_id, created, message) in enumerate(messages):
        parts = [
            MessagePart(_seconds(changed), _object(part, options.skipped))
            for changed, part in _rows(path.parent, _PARTS, message_id)
        ]
        yield from reader.feed(text(message_id), _seconds(created), message, parts, is_last=place + 1 == len(messages))
    yield from reader.finish()


def _of_subagent(events: Iterator[SavedEvent], path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    for saved in events:
        saved.event.session = path.name
        yield from pass_over(saved.event, saved.at, options)


class MessagePart(NamedTuple):
    """A part of a message. at: when it last changed, in seconds since the epoch."""

    at: float
    data: dict[str, Any]


class OpenCodeReader:
    """Turns the messages of one session into events, through payloads like the plugin's."""

    def __init__(self, path: Path, cwd: str, since: float, options: ReadOptions) -> None:
        self._path, self._cwd, self._options = path, cwd, options
        self._at = self._since = since or options.now
        self._prompt = ""
        self._begun = False
        self._answer: SavedEvent | None = None
        self._tokens = TurnTokens()

    def feed(
        self, message_id: str, created: float, message: dict[str, Any], parts: list[MessagePart], *, is_last: bool
    ) -> Iterator[SavedEvent]:
        """Process one message; yield the events that it completes."""
        created = created or self._at
        self._at = max(self._at, created)
        if not self._begun:
            self._begun = True
            yield self._saved(self._since, "SessionStart", source="startup")
        if message.get("role") == "user":
            yield from self._user(message_id, created, parts)
        elif message.get("role") == "assistant" and message.get("summary") is not True:
            yield from self._assistant(message_id, message, parts, is_last=is_last)

    def finish(self) -> Iterator[SavedEvent]:
        """Yield the events that the end of the session completes."""
        if self._is_over():
            yield from self._finish_answer()
        if self._begun and is_quiet(self._at, self._options.now):
            yield self._saved(self._at, "SessionEnd", reason="as the transcript ends")

    def _user(self, message_id: str, created: float, parts: list[MessagePart]) -> Iterator[SavedEvent]:
        words = _typed(parts)
        if not words.strip():
            self._options.skipped["prompt that nobody typed"] += 1
            return
        yield from self._finish_answer()
        self._tokens.clear()
        self._prompt = message_id
        yield self._saved(created, "UserPromptSubmit", prompt=words)

    def _assistant(
        self, message_id: str, message: dict[str, Any], parts: list[MessagePart], *, is_last: bool
    ) -> Iterator[SavedEvent]:
        tokens = message.get("tokens")
        if isinstance(tokens, dict):
            cache = mapping(tokens.get("cache"))
            read_tokens = [number(count) or 0 for count in (tokens.get("input"), cache.get("read"), cache.get("write"))]
            self._tokens.add(message_id, sum(read_tokens), number(tokens.get("output")))
        self._answer = None  # earlier text is not the answer
        saved = self._saved(self._at, "Stop", last_assistant_message=_typed(parts))
        yield from pass_over(saved.event, saved.at, self._options)
        for part in parts:
            self._at = max(self._at, part.at)
            yield from self._tool(part, is_over=not is_last or self._is_over())
        completed = number(mapping(message.get("time")).get("completed"))
        if completed and not message.get("error") and message.get("finish") != "tool-calls":
            self._at = max(self._at, _seconds(completed))
            self._answer = self._saved(_seconds(completed), "Stop", last_assistant_message=_typed(parts))

    def _tool(self, part: MessagePart, *, is_over: bool) -> Iterator[SavedEvent]:
        state = part.data.get("state")
        if part.data.get("type") != "tool" or not isinstance(state, dict):
            return
        times, status = mapping(state.get("time")), state.get("status")
        began, ended = number(times.get("start")), number(times.get("end"))
        fields: dict[str, Any] = {
            "tool_name": text(part.data.get("tool")),
            "tool_input": state.get("input"),
            "tool_use_id": text(part.data.get("callID")),
            "duration_ms": ended - began if began and ended and ended >= began else None,
        }
        at = _seconds(ended) or part.at or self._at
        if status == "completed":
            response = {"output": state.get("output"), "metadata": state.get("metadata")}
            yield self._saved(at, "PostToolUse", tool_response=response, **fields)
        elif status == "error":
            yield self._saved(at, "PostToolUseFailure", error=text(state.get("error")), **fields)
        elif is_over:
            yield self._saved(at, "PostToolUseFailure", error=NO_RESULT, **fields)

    def _finish_answer(self) -> Iterator[SavedEvent]:
        """Yield the turn's answer, if any."""
        if self._answer and self._answer.event.message.strip():
            self._tokens.put_into(self._answer.event)
            yield self._answer
        self._answer = None

    def _is_over(self) -> bool:
        return self._at <= self._options.ended or is_quiet(self._at, self._options.now)

    def _saved(self, at: float, name: str, **fields: Any) -> SavedEvent:
        """Return an event made from a payload, as in a hook."""
        payload = {"hook_event_name": name, "session_id": self._path.name, "cwd": self._cwd, **fields}
        event = opencode.read({**payload, "prompt_id": self._prompt}, {})
        event.transcript = str(self._path)
        return SavedEvent(at, event)


def _typed(parts: list[MessagePart]) -> str:
    """Return what a person or the model wrote, without OpenCode's insertions."""
    texts = [
        part.data
        for part in parts
        if part.data.get("type") == "text" and not (part.data.get("synthetic") or part.data.get("ignored"))
    ]
    return "\n".join(text(data.get("text")) for data in texts)


def _seconds(milliseconds: Any) -> float:
    return (number(milliseconds) or 0) / 1000


def _object(data: Any, skipped: Skipped) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (TypeError, ValueError, RecursionError):
        value = None
    skipped["unreadable line"] += not isinstance(value, dict)
    return value if isinstance(value, dict) else {}


def _rows(base: Path, query: str, *values: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows(base, query, values, opencode.TITLE)]


_PLACE = (lambda env: str(Path(opencode.database(env)).parent), "")
SOURCE = Source(opencode.NAME, opencode.TITLE, find, read, _PLACE, is_whole=is_database, loose=SPOKEN, facts=facts)
