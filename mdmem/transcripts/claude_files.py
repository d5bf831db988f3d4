"""Claude Code's files: a session's file, those of its sub-agents, and the copies that forks make."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdmem.agents import claude_code, text
from mdmem.transcripts.claude_code import ClaudeReader
from mdmem.transcripts.claude_lines import Branch
from mdmem.transcripts.lines import HEAD_BYTES, Lines, decode, head
from mdmem.transcripts.saved import (
    SPOKEN,
    ReadOptions,
    SavedEvent,
    Skipped,
    Source,
    ignore_bytes,
    in_order,
    may_hold_private,
)

_LOOK_BYTES = 1 << 20
"""How much of a file is searched for its first line with an id, if the usual head has none."""


def find(root: Path) -> Iterator[Path]:
    """Yield the sessions' files below `root`, without those of sub-agents, which belong to them."""
    for path in sorted(root.rglob("*.jsonl")):
        if "subagents" not in path.relative_to(root).parts and not path.name.startswith("agent-"):
            yield path


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Return a session's events, oldest first. Raises OSError when the file cannot be read."""
    files = sorted((path.with_suffix("") / "subagents").rglob("agent-*.jsonl"))
    to_read = [file for file in files if options.subagents or may_hold_private(file, options.rules)]
    quietly = options._replace(report=ignore_bytes)
    subagents = [_read(file, path, quietly, frozenset()) for file in to_read]
    return in_order(_read(path, path, options, _copied(path)), subagents)


def is_one(lines: list[dict[str, Any]]) -> bool:
    """Whether these are the first lines of a Claude Code transcript."""
    return any("sessionId" in line and "type" in line and "projectHash" not in line for line in lines)


def _read(path: Path, session: Path, options: ReadOptions, copied: frozenset[str]) -> Iterator[SavedEvent]:
    lines = Lines(path, options.skipped)
    subagent = path != session
    branch = None if subagent else Branch(lines)
    reader = ClaudeReader(session.stem, str(session), path.stat().st_mtime, options.skipped, subagent=subagent)
    for line in lines.telling(options.report):
        if "forkedFrom" in line or text(line.get("uuid")) in copied:
            options.skipped["line of the session that this one was forked from"] += 1
        elif branch is None or branch.has(line):
            events = list(reader.feed(line))
            yield from events
            yield from reader.pass_over(line, options, events)
        else:
            options.skipped["line on a dead branch"] += 1
            yield from reader.pass_over(line, options)
    yield from reader.finish(options.now)


def _copied(path: Path) -> frozenset[str]:
    """Return the ids of lines that an older session's file has too: resuming and forking copy lines."""
    with_same_beginning = _by_first_id(path.parent, path.parent.stat().st_mtime_ns).get(first_id(path), [])
    changed_ns = path.stat().st_mtime_ns
    older = [other for other in with_same_beginning if other != path and other.stat().st_mtime_ns < changed_ns]
    return frozenset(text(line.get("uuid")) for other in older for line in Lines(other, Skipped())) - {""}


@lru_cache(maxsize=64)
def _by_first_id(folder: Path, _changed: int) -> dict[str, list[Path]]:
    """Group a folder's files by the id of their first line. _changed: the folder's mtime, part of the cache key."""
    files: dict[str, list[Path]] = {}
    for path in folder.glob("*.jsonl"):
        line_id = first_id(path)
        if line_id:
            files.setdefault(line_id, []).append(path)
    return files


def first_id(path: Path) -> str:
    """Return the id of the first line that has one; "" if there is none or the file cannot be read."""
    beginning = head(path)
    if b'"uuid"' not in beginning and len(beginning) == HEAD_BYTES:
        beginning = head(path, _LOOK_BYTES)
    lines = (decode(line, Skipped()) or {} for line in beginning.splitlines() if b'"uuid"' in line)
    return next(filter(None, (text(line.get("uuid")) for line in lines)), "")


_PLACE = (claude_code.folder, "projects")
SOURCE = Source(claude_code.NAME, claude_code.TITLE, find, read, _PLACE, is_one, loose=SPOKEN)
