"""Claude Code's files: a session's file, those of its sub-agents, and the copies that forks make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from mdmem.agents import claude_code, text
from mdmem.transcripts.claude_code import ClaudeReader
from mdmem.transcripts.claude_lines import Branch
from mdmem.transcripts.lines import HEAD_BYTES, Lines, decode, head
from mdmem.transcripts.saved import (
    SAID,
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


def read(path: Path, how: ReadOptions) -> Iterator[SavedEvent]:
    """Return a session's events, oldest first. Raises OSError when the file cannot be read."""
    own = _read(path, path, how, _copied(path))
    sent = sorted((path.with_suffix("") / "subagents").rglob("agent-*.jsonl"))
    wanted = [other for other in sent if how.subagents or may_hold_private(other, how.rules)]
    return in_order(own, [_read(other, path, how._replace(report=ignore_bytes), frozenset()) for other in wanted])


def is_one(lines: list[dict[str, Any]]) -> bool:
    """Whether these are the first lines of a Claude Code transcript."""
    return any("sessionId" in line and "type" in line and "projectHash" not in line for line in lines)


def _read(path: Path, session: Path, how: ReadOptions, copied: frozenset[str]) -> Iterator[SavedEvent]:
    lines = Lines(path, how.skipped)
    subagent = path != session
    branch = None if subagent else Branch(lines)
    reader = ClaudeReader(session.stem, str(session), path.stat().st_mtime, how.skipped, subagent=subagent)
    for line in lines.telling(how.report):
        if "forkedFrom" in line or text(line.get("uuid")) in copied:
            how.skipped["line of the session that this one was forked from"] += 1
        elif branch is None or branch.has(line):
            yield from list(reader.feed(line)) or reader.pass_over(line, how)
        else:
            how.skipped["line on a dead branch"] += 1
            yield from reader.pass_over(line, how)
    yield from reader.finish(how.now)


def _copied(path: Path) -> frozenset[str]:
    """Return the ids of lines that an older session's file has too: resuming and forking copy lines."""
    alike = _alike(path.parent, path.parent.stat().st_mtime_ns).get(first_id(path), [])
    mine = path.stat().st_mtime_ns
    older = [other for other in alike if other != path and other.stat().st_mtime_ns < mine]
    return frozenset(text(line.get("uuid")) for other in older for line in Lines(other, Skipped())) - {""}


@lru_cache(maxsize=64)
def _alike(folder: Path, _changed: int) -> dict[str, list[Path]]:
    """Group a folder's files by the id of their first line. _changed: the folder's mtime, part of the cache key."""
    found: dict[str, list[Path]] = {}
    for path in folder.glob("*.jsonl"):
        root = first_id(path)
        if root:
            found.setdefault(root, []).append(path)
    return found


def first_id(path: Path) -> str:
    """Return the id of the first line that has one; "" if there is none or the file cannot be read."""
    first = head(path)
    if b'"uuid"' not in first and len(first) == HEAD_BYTES:
        first = head(path, _LOOK_BYTES)
    return next(_ids(first.splitlines()), "")


def _ids(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        if b'"uuid"' in line:
            uuid = text((decode(line, Skipped()) or {}).get("uuid"))
            if uuid:
                yield uuid


_PLACE = (claude_code.folder, "projects")
SOURCE = Source(claude_code.NAME, claude_code.TITLE, find, read, _PLACE, is_one, loose=SAID)
