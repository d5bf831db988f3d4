"""The tools of ghosts and agents for their own memories. Only the connection decides whose these are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.errors import NotFoundError, UsageError
from mdmem.server import entries, lookup
from mdmem.server.access import Access
from mdmem.server.internal import finding, memories, publishing
from mdmem.server.internal.context import Scope, scope
from mdmem.server.internal.memories import Memory
from mdmem.server.writing import MAX_TEXT_CHARS

ROOM_CHARS = 24_000
"""Characters for all memories of an answer; each gets an equal share, and at least this many:"""
LEAST_CHARS = 400

Tags = Annotated[tuple[str, ...], Field(description="Tags of your own.")]
MemoryWords = Annotated[str, Field(max_length=4_000)]
Share = Annotated[float | None, Field(ge=0, le=1)]
MemoryLimit = Annotated[int, Field(ge=1, le=100)]
MemoryOffset = Annotated[int, Field(ge=0)]
Filters = Annotated[
    dict[str, Any], Field(description="types, tags (lists); created_from, created_to (dates); weight_min.")
]
DeletedFilter = Annotated[str, Field(description="Deleted memories: exclude, include or only.")]


class Memories(TypedDict):
    """A page of an answer. next_offset: start of the next page, or null."""

    memories: list[dict[str, Any]]
    total: int
    next_offset: int | None


class StoredMemory(TypedDict):
    """A memory that was written."""

    memory_id: str
    version: int
    tags: list[str]
    done: str


def remember_create_internal_memory(
    access: Access,
    content: Annotated[str, Field(description="Markdown.", max_length=MAX_TEXT_CHARS)],
    title: str = "",
    tags: Tags = (),
    weight: Share = None,
    trust: Share = None,
    feelings: dict[str, Any] | None = None,
) -> StoredMemory:
    """Remember something for yourself. Give feelings as `feel_...` numbers from 0 to 1, such as feel_joy."""
    scope = _scope(access)
    numbers = {"weight": weight, "trust": trust, **(feelings or {})}
    mine = memories.own_tags(access.config, tags)
    memory = memories.create(access.config, scope, content, title=title, tags=mine, numbers=numbers, now=time.time())
    return _stored(scope, memory.id, 1, mine, "Remembered.")


def remember_update_internal_memory(
    access: Access,
    memory_id: Annotated[str, Field(description="As a search returns it.")],
    content: Annotated[str | None, Field(max_length=MAX_TEXT_CHARS)] = None,
    title: str | None = None,
    tags: Tags | None = None,
    weight: Share = None,
    trust: Share = None,
    feelings: dict[str, Any] | None = None,
) -> StoredMemory:
    """Change one of your memories; what you leave out stays. `feel_...` numbers as in create. The version increases."""
    scope = _scope(access)
    numbers = {"weight": weight, "trust": trust, **(feelings or {})}
    try:
        memory = memories.update(
            access.config, scope, memory_id, content=content, title=title, tags=tags, numbers=numbers, now=time.time()
        )
    except NotFoundError:
        _refuse_other_type(access, scope, memory_id)
        raise
    return _stored(scope, memory.id, memory.version, [tag for tag in memory.tags if tag not in scope.tags], "Changed.")


def _refuse_other_type(access: Access, scope: Scope, memory_id: str) -> None:
    """Raise UsageError when an id is that of an ordinary note. Reveal nothing of other internal memories."""
    try:
        _, parsed = lookup.resolve(access, memory_id)
    except NotFoundError:
        return
    kind = access.line(str(parsed.meta.get("kind", "note")), 40)
    raise UsageError(f"{memory_id!r:.60} is a {kind}; this tool changes only memories of the kind {scope.kind}.")


def remember_search_internal_memory(
    access: Access,
    query: MemoryWords,
    tags: Annotated[tuple[str, ...], Field(description="Only memories with all of these.")] = (),
    limit: MemoryLimit = 10,
    offset: MemoryOffset = 0,
    alpha: Annotated[float, Field(ge=0, le=1, description="0: by words; 1: by similar spelling.")] = 0.0,
    filters: Filters | None = None,
    deleted_filter: DeletedFilter = "exclude",
) -> Memories:
    """Search your memories. An empty query lists the newest."""
    loaded = _load(access, deleted_filter, filters, tags)
    if not query.strip():
        return _part(access, loaded, {}, offset, limit)
    relevance = finding.relevance(loaded, query, alpha)
    return _part(access, _best(loaded, relevance), relevance, offset, limit)


def remember_query_internal_memory(
    access: Access,
    query: MemoryWords,
    limit: MemoryLimit = 5,
    min_relevance: Annotated[float, Field(ge=0, le=1, description="Leave out less relevant memories.")] = 0.0,
    filters: Filters | None = None,
    deleted_filter: DeletedFilter = "exclude",
) -> Memories:
    """Ask your memories a question; returns the best matches, in full as far as they fit."""
    loaded = _load(access, deleted_filter, filters)
    relevance = {name: share for name, share in finding.relevance(loaded, query).items() if share >= min_relevance}
    return _part(access, _best(loaded, relevance), relevance, 0, limit)


def remember_search_internal_memory_by(
    access: Access,
    mode: Annotated[str, Field(description=", ".join(finding.MODES))],
    query: MemoryWords = "",
    sort_order: Annotated[str, Field(description="asc or desc.")] = "desc",
    sort_field: Annotated[str, Field(description="For byProperty: weight, trust, version, created, feel_...")] = "",
    limit: MemoryLimit = 10,
    offset: MemoryOffset = 0,
    filters: Filters | None = None,
    deleted_filter: DeletedFilter = "exclude",
) -> Memories:
    """List your memories in one of eight orders; with `query`, those that contain a word of it."""
    loaded = _load(access, deleted_filter, filters)
    relevance = finding.relevance(loaded, query) if query.strip() else {}
    chosen = [memory for memory in loaded if memory.id in relevance] if query.strip() else loaded
    ordered = finding.arrange(chosen, mode, sort_order=sort_order, sort_field=sort_field)
    page = _part(access, ordered, relevance, offset, limit)
    if mode == "byBroad":
        for entry, memory in zip(page["memories"], ordered[offset:], strict=False):
            entry["content"] = access.line(finding.outline(memory.content), 400)
            entry["truncated"] = len(memory.content) > 3 * finding.BROAD_CHARS
    return page


def remember_publish(
    access: Access,
    memory_id: str,
    to: Annotated[str, Field(description="space:NAME or group:NAME.")],
    withdraw: Annotated[bool, Field(description="Withdraw the copy.")] = False,
) -> StoredMemory:
    """Publish a copy of your memory to a space or group, for everyone who talks to its ghost. Repeat to refresh it."""
    memory = publishing.publish(access.config, access.context(), memory_id, to, withdraw=withdraw, now=time.time())
    done = f"{'Withdrawn from' if withdraw else 'Published to'} {to}."
    return {"memory_id": memory.id, "version": memory.version, "tags": list(memory.tags), "done": done}


def _load(access: Access, deleted: str, filters: Mapping[str, Any] | None, tags: Sequence[str] = ()) -> list[Memory]:
    keep = finding.parse_filters(filters or {})
    return [each for each in memories.load(access.config, _scope(access), deleted=deleted, tags=tags) if keep(each)]


def _scope(access: Access) -> Scope:
    return scope(access.config, access.context())


def _best(loaded: Sequence[Memory], relevance: dict[str, float]) -> list[Memory]:
    return sorted((memory for memory in loaded if memory.id in relevance), key=lambda memory: -relevance[memory.id])


def _part(access: Access, ordered: Sequence[Memory], relevance: dict[str, float], offset: int, limit: int) -> Memories:
    page = ordered[offset : offset + limit]
    chars = max(ROOM_CHARS // (len(page) or 1), LEAST_CHARS)
    return {
        "memories": [_as_object(access, memory, relevance.get(memory.id), chars) for memory in page],
        "total": len(ordered),
        "next_offset": entries.next_offset(len(ordered), offset, limit),
    }


def _as_object(access: Access, memory: Memory, relevance: float | None, chars: int) -> dict[str, Any]:
    """Return a memory as a tool shows it. relevance: 0 to 1, None without a query."""
    content = access.text(memory.content.strip("\n"))
    weight = memory.meta.get("weight")
    feelings = {key: value for key, value in memory.meta.items() if key.startswith(memories.FEEL)}
    return {
        "memory_id": access.line(memory.id, 60),
        **access.values(memory._asdict(), ("title", "created", "updated", "version", "trust", "deleted")),
        "content": content[:chars],
        "truncated": len(content) > chars,
        "tags": [access.line(tag, 100) for tag in memory.tags],
        "weight": memories.share_of(weight, 0.0) if weight is not None else None,
        "feelings": {access.line(key, 60): memories.share_of(value, 0.0) for key, value in feelings.items()},
        "relevance": relevance,
    }


def _stored(scope: Scope, memory_id: str, version: int, tags: Sequence[str], done: str) -> StoredMemory:
    return {"memory_id": memory_id, "version": version, "tags": [*scope.tags, *tags], "done": done}


def memories_text(page: Memories) -> list[str]:
    """Return memories as text."""
    lines: list[str] = []
    for memory in page["memories"]:
        relevance = f" (relevance {memory['relevance']:.2f})" if memory["relevance"] is not None else ""
        deleted = ", deleted" if memory["deleted"] else ""
        facts = f"{memory['memory_id']}, {timestamps.readable(memory['created'])}, version {memory['version']}{deleted}"
        lines += ["", f"## {memory['title']}{relevance}", facts]
        lines += [memory["content"], *(["(continues)"] if memory["truncated"] else [])]
    return [*lines, "", f"{entries.extent(len(page['memories']), page, ' memories')}."]


def stored_text(stored: StoredMemory) -> list[str]:
    """Return what was stored as text."""
    return [f"{stored['done']} Memory {stored['memory_id']}, version {stored['version']}."]
