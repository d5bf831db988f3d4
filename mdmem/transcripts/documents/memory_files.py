"""Memory files: what memory servers keep in one JSON file, read as notes.

A knowledge graph, as MCP's server-memory and its successors write it, has one entity or relation per line; an entity
becomes a note, and its relations become links in it. mem0 and OpenMemory export a list, of which each memory becomes a
note. Beads keeps one issue per line (`.beads/issues.jsonl`, github.com/gastownhall/beads), each of which becomes a
task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from mdmem.agents import mapping, objects, text
from mdmem.hashing import short
from mdmem.transcripts.lines import HEAD_BYTES, head
from mdmem.transcripts.saved import Skipped
from mdmem.vault import disk

SUFFIXES = (".json", ".jsonl")
_LISTS = ("memories", "results")
_TEXTS = ("memory", "content")
_TAGS = ("tags", "categories", "labels")
_CREATED = ("created", "created_at", "createdAt")
_NOT_FACTS = frozenset([*_TEXTS, *_TAGS, *_CREATED, "type", "name", "entityType", "observations", "hash", "score"])
_NO_LINK = frozenset("[]|#^\n")


class SavedMemory(NamedTuple):
    """One memory. name: of its file, without suffix and unique in its source. meta: its front matter.

    A memory of a list has no title, which is made from its cleaned text, and its name stays when the text changes.
    kind: of its note.
    """

    name: str
    meta: dict[str, Any]
    body: str
    kind: str = "note"


def is_file_of(path: Path) -> bool:
    """Whether a file contains memories in a known format; of a long file, only the first lines are read.

    A list that is too long to be read counts as one, so that the import says so.
    """
    if path.suffix not in SUFFIXES:
        return False
    first = head(path)
    if path.stat().st_size > disk.MAX_READ_BYTES:
        return first.lstrip()[:1] in (b"[", b"{")
    if len(first) == HEAD_BYTES and read(first, Skipped()):
        return True
    return bool(read(head(path, disk.MAX_READ_BYTES), Skipped()))


def read(data: bytes, skipped: Skipped) -> list[SavedMemory]:
    """Return the memories in a file; [] if it is in no known format. Objects without a memory are counted."""
    decoded = data.decode("utf-8-sig", "replace")
    try:
        whole = json.loads(decoded)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and _is_issue(whole):
        return _named(_of_issues([whole], skipped))
    if isinstance(whole, dict) and whole.get("type") not in ("entity", "relation"):
        rows = next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), None)
        return _named(_of_list(rows, skipped)) if rows else _named(_of_graph(_as_lines(whole), skipped))
    if isinstance(whole, list):
        return _named(_of_list(whole, skipped))
    lines = list(_lines(decoded, skipped))
    return _named((_of_issues if any(map(_is_issue, lines)) else _of_graph)(lines, skipped))


def _as_lines(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of a graph that is one object, as server-memory's `read_graph` answers."""
    kinds = (("entity", "entities"), ("relation", "relations"))
    return [{**row, "type": kind} for kind, key in kinds for row in objects(graph.get(key))]


def _lines(decoded: str, skipped: Skipped) -> Iterator[dict[str, Any]]:
    for line in decoded.split("\n"):
        try:
            row = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield row
        else:
            skipped["unreadable line"] += 1


def _of_graph(lines: Iterable[dict[str, Any]], skipped: Skipped) -> Iterator[SavedMemory]:
    """Yield one memory per entity, and one for each name that only relations mention and that links to others."""
    entities: dict[str, dict[str, Any]] = {}
    lists: dict[str, list[str]] = {}
    ends: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        name = text(line.get("name")).strip()
        start, end, relation = (text(line.get(key)).strip() for key in ("from", "to", "relationType"))
        if line.get("type") == "entity" and name:
            entities[name] = {**line, **entities.get(name, {})}
            lists.setdefault(name, []).extend(_items(line.get("observations"), skipped))
        elif line.get("type") == "relation" and start and end:
            ends.setdefault(start, []).append((relation or "relates to", end))
        elif line and line.get("type") != "_aim":  # which mcp-knowledge-graph begins its files with
            skipped["object without a memory"] += 1
    named = {*lists, *ends}
    for name in dict.fromkeys([*lists, *ends]):
        items = lists.get(name, [])
        items += [f"- {relation} {_link(end) if end in named else end}" for relation, end in ends.get(name, ())]
        facts = entities.get(name, {})
        kind = "-".join(text(facts.get("entityType")).split())
        meta = {"title": name, **_facts(facts), "tags": [*([kind] if kind else []), *_tags(facts)]}
        yield SavedMemory(name, meta, "\n".join(dict.fromkeys(items)) + "\n" if items else "")


def _items(observations: Any, skipped: Skipped) -> Iterator[str]:
    """Yield an entity's observations as items of a list; what is not text is counted."""
    for observation in observations if isinstance(observations, list) else filter(None, [observations]):
        words = text(observation).strip()
        if words:
            yield "- " + words.replace("\n", "\n  ")
        skipped["observation that is not text"] += not isinstance(observation, str)


def _link(name: str) -> str:
    return name if _NO_LINK & set(name) else f"[[{name}]]"


_SECTIONS = ("design", "acceptance_criteria", "notes", "close_reason")
_DEPENDS = {
    "blocks": "blocked by", "parent-child": "part of", "discovered-from": "discovered from", "related": "related to",
}  # fmt: skip
_STATUS = {"closed": "done"}
"""Status of an issue -> that of its task, if they differ."""


def _is_issue(row: dict[str, Any]) -> bool:
    return all(text(row.get(key)) for key in ("id", "title", "status")) and "priority" in row and "created_at" in row


def _of_issues(rows: Iterable[dict[str, Any]], skipped: Skipped) -> Iterator[SavedMemory]:
    for row in filter(None, rows):
        if not _is_issue(row) or row["status"] == "tombstone":
            skipped["issue that was deleted" if row.get("status") == "tombstone" else "object without a memory"] += 1
            continue
        parts = [text(row.get("description")).strip()]
        parts += [f"## {key.replace('_', ' ').capitalize()}\n\n{row[key]}" for key in _SECTIONS if text(row.get(key))]
        parts += [f"> {text(one.get('text'))}".replace("\n", "\n> ") for one in objects(row.get("comments"))]
        ends = ((text(one.get("type")), text(one.get("depends_on_id"))) for one in objects(row.get("dependencies")))
        parts.append("\n".join(f"- {_DEPENDS.get(kind, kind)} {_link(end)}" for kind, end in ends if end))
        facts = {key: row[key] for key in ("id", "priority", "issue_type", "assignee", "closed_at") if row.get(key)}
        meta = {**_facts({**facts, "created_at": row["created_at"]}), "title": row["title"], "tags": _tags(row)}
        meta["status"] = _STATUS.get(row["status"], row["status"])
        yield SavedMemory(row["id"], meta, "\n\n".join(filter(None, parts)) + "\n", "task")


def _of_list(rows: list[Any], skipped: Skipped) -> Iterator[SavedMemory]:
    for row in rows:
        item = mapping(row)
        words = "" if "role" in item else next((item[key] for key in _TEXTS if text(item.get(key)).strip()), "")
        if not words:
            skipped["object without a memory"] += 1
            continue
        more = mapping(item.get("metadata")) or mapping(item.get("metadata_"))
        meta = {**_facts(more), **_facts(item), "tags": [*_tags(item), *_tags(more)]}
        known_as = item.get("id")
        own_id = str(known_as) if isinstance(known_as, (str, int)) and known_as != "" else words
        yield SavedMemory(f"memory-{short(own_id, 8)}", meta, words)


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return the plain values that a memory has besides its text, and when it was created."""
    facts = {key: value for key, value in row.items() if key not in _NOT_FACTS and isinstance(value, (str, int, float))}
    created = next((row[key] for key in _CREATED if row.get(key)), None)
    if isinstance(created, (int, float)):
        created = _moment(float(created))
    return {**facts, "created": created} if isinstance(created, str) else facts


def _moment(seconds: float) -> str | None:
    """Return a time in seconds, or milliseconds, since 1970 as ISO 8601."""
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def _tags(row: dict[str, Any]) -> list[str]:
    values = (row.get(key) for key in _TAGS)
    return [tag for value in values if isinstance(value, list) for tag in value if isinstance(tag, str)]


def _named(memories: Iterable[SavedMemory]) -> list[SavedMemory]:
    """Return the memories with names that are unique and are not paths."""
    named: dict[str, SavedMemory] = {}
    for memory in memories:
        name = plain = memory.name.replace("/", "-")
        count = 1
        while name in named:
            count += 1
            name = f"{plain}-{count}"
        named[name] = memory._replace(name=name)
    return list(named.values())
