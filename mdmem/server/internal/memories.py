"""The memories of one scope: create, change and read them. Each is a markdown file like any other note."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mdmem import log, timestamps
from mdmem.config import Config
from mdmem.errors import MdmemError, NotFoundError, UsageError, VaultError
from mdmem.search.text import analysis
from mdmem.server.internal.context import CONFIG_FILE, Scope, forges
from mdmem.vault import disk, editing, note, user_notes

MAX_MEMORIES = 5_000
"""In a larger scope, only the newest memories are read."""

DELETED = ("exclude", "include", "only")
"""What to do with memories that have `deleted: true` in their front matter."""

NUMBERS = ("weight", "trust")
FEEL = "feel_"
"""Prefix of the names of feelings."""

_MAX_FEELINGS = 40
_CACHE_ENTRIES = 20_000


class Memory(NamedTuple):
    """One memory, read from its file. counts: of its terms. version: 1, and one more for each change.

    sequence: orders memories of the same second; mtime_ns: the file's, for those without a sequence. shared: whether
    it was published to this space or group.
    """

    id: str
    path: str
    title: str
    content: str
    tags: tuple[str, ...]
    created: str
    updated: str
    version: int
    trust: float
    deleted: bool
    meta: Mapping[str, Any]
    counts: Mapping[str, int]
    mtime_ns: int = 0
    sequence: int = -1
    shared: bool = False

    @property
    def age(self) -> tuple[str, int, int, str]:
        """Return the key that sorts memories by age; the newest has the greatest."""
        return self.created, self.sequence, self.mtime_ns, self.id


def create(
    config: Config,
    scope: Scope,
    content: str,
    *,
    title: str = "",
    tags: Sequence[str] = (),
    numbers: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    now: float,
) -> user_notes.Written:
    """Create a memory. numbers: weight, trust and `feel_...`, each 0 to 1. extra: further keys of its front matter.

    Raises:
        UsageError: when there is nothing to store, a number is out of range, or a tag would forge a scope.
        VaultError, OSError: when it cannot be written.
    """
    meta: dict[str, Any] = {"version": 1, "sequence": _next_sequence(now), **shares(numbers or {}), **(extra or {})}
    if scope.accessor:
        meta["accessor"] = scope.accessor
    return user_notes.add(
        config,
        title,
        content,
        tags=[*scope.tags, *own_tags(config, tags)],
        kind=scope.kind,
        folder="/".join(scope.folder),
        now=now,
        **meta,
    )


_sequence_lock = threading.Lock()
_last_sequence = [0, -1]


def _next_sequence(now: float) -> int:
    """Return a number that grows with each memory of a second: its microsecond, or the last number plus one."""
    second = int(now)
    with _sequence_lock:
        last = _last_sequence[1] if _last_sequence[0] == second else -1
        _last_sequence[:] = second, max(last + 1, int((now - second) * 1_000_000))
        return _last_sequence[1]


def update(
    config: Config,
    scope: Scope,
    memory_id: str,
    *,
    content: str | None,
    title: str | None,
    tags: Sequence[str] | None,
    numbers: Mapping[str, Any] | None,
    now: float,
) -> Memory:
    """Change a memory; None leaves a value as it is. The old version is committed first, to keep it in history.

    tags: replace the memory's own; those of its scope stay.

    Raises:
        UsageError: when there is nothing to change, or a value is invalid.
        NotFoundError: when this scope has no such memory; it does not reveal whether another scope has.
        VaultError, BusyError, OSError: when it cannot be written.
    """
    memory = find(config, scope, memory_id)
    if memory.shared:
        raise UsageError("This memory was published here. Change the original, and publish it again.")
    changes: dict[str, Any] = shares(numbers or {})
    if title is not None:
        changes["title"] = note.one_line(str(user_notes.clean(config, title))) or memory.title
    mine = None if tags is None else own_tags(config, tags)
    body = None if content is None else user_notes.cleaned_body(config, content)
    if not changes and mine is None and body is None:
        raise UsageError("There is nothing to change: give content, title, tags, weight, trust or feel_...")

    def edit(data: bytes) -> bytes:
        present = _memory(scope, memory.path, note.parse(data), {})
        if present is None or present.id != memory.id:
            raise _unknown(memory_id)
        _commit(config, present)
        keys = {**changes, "version": present.version + 1, "updated": timestamps.note_time(now)}
        if mine is not None:  # the tags of its scope stay, its conversation included
            keys["tags"] = [*(tag for tag in present.tags if forges(tag)), *mine]
        written.append(editing.set_keys(data if body is None else editing.with_body(data, body), keys))
        return written[-1]

    written: list[bytes] = []
    user_notes.change(config, memory.path, edit, internal=True)
    # It may now need more trust than its accessor has: the change is still reported, once.
    return _memory(scope._replace(trust=1.0), memory.path, note.parse(written[-1]), {}) or memory


def _commit(config: Config, memory: Memory) -> None:
    """Commit a memory as it is. If the vault has no git or is busy, log that and go on."""
    from mdmem.history import commit

    try:
        commit.commit_paths(config, [memory.path], f"mdmem: {memory.meta['kind']} memory {memory.id}")
    except (MdmemError, OSError) as error:
        log.write(config, "an internal memory's last version is not committed", error)


def find(config: Config, scope: Scope, memory_id: str) -> Memory:
    """Return a memory of this scope by its id, an unambiguous beginning of it, a citation, or its path.

    Raises:
        NotFoundError: when this scope has none; it does not reveal whether another scope has.
        UsageError: when several ids of this scope begin with it.
    """
    reference = note.id_in_reference(memory_id)
    path, name = reference.removeprefix(f"{config.vault}/"), reference.lower()
    memories = load(config, scope, deleted="include")
    matching = [memory for memory in memories if memory.id.lower() == name or memory.path in (path, f"{path}.md")][:1]
    if not matching and len(name) >= note.MIN_PREFIX_CHARS:
        matching = [memory for memory in memories if memory.id.lower().startswith(name)]
    if len(matching) > 1:
        ids = ", ".join(memory.id for memory in matching[:5])
        raise UsageError(
            f"{len(matching)} memories have ids that begin with {reference!r:.40}: {ids}. Give more characters."
        )
    if not matching:
        raise _unknown(memory_id)
    return matching[0]


def _unknown(memory_id: str) -> NotFoundError:
    return NotFoundError(f"There is no memory {memory_id!r:.60} here. Search for it to get its id.")


def load(config: Config, scope: Scope, *, deleted: str, tags: Sequence[str] = ()) -> list[Memory]:
    """Return the memories of a scope that its accessor may see, newest first, at most `MAX_MEMORIES`.

    tags: a memory must have all of these too.

    Raises UsageError when `deleted` is not one of `DELETED`.
    """
    if deleted not in DELETED:
        raise UsageError(f"deleted_filter must be one of {', '.join(DELETED)}, not {deleted!r:.40}.")
    required = set(user_notes.clean_tags(tags))
    memories = []
    for part in filter(None, (scope, scope.published)):
        for path, stat in _files(config, part):
            memory = _read(config, part, path, stat)
            is_chosen = memory and deleted in ("include", "only" if memory.deleted else "exclude")
            if part is not scope and memory and memory.deleted:
                continue  # its publisher has withdrawn it
            if memory and is_chosen and required <= set(memory.tags):
                memories.append(memory._replace(shared=part is not scope))
    return sorted(memories, key=lambda memory: memory.age, reverse=True)


def _files(config: Config, scope: Scope) -> list[tuple[str, os.stat_result]]:
    """Return the files of a scope's folder and its month folders, newest first; other folders are other scopes."""
    try:
        with disk.open_folder(config.vault, scope.folder) as folder:
            every = _in_months(folder, "/".join(scope.folder))
            newest = sorted(every, key=lambda path: path.rpartition("/")[2], reverse=True)[:MAX_MEMORIES]
        return [(path, os.lstat(f"{config.vault}/{path}")) for path in newest]
    except FileNotFoundError:
        return []


def _in_months(folder: disk.Folder, home: str, digits: int = 4) -> Iterator[str]:
    """Yield the paths of the memories in a folder and in its month folders, such as `2026/09`.

    home: its path. digits: in the names of subfolders to enter: 4 for years, 2 for months, 0 for none.
    """
    for name in folder.names():
        if name.endswith(".md") and name[0] != "." and name != CONFIG_FILE:
            yield f"{home}/{name}"
        elif digits and len(name) == digits and name.isdecimal():
            # deleted in the meantime, or a file or a link of that name
            with suppress(FileNotFoundError, VaultError), folder.below(name) as subfolder:
                yield from _in_months(subfolder, f"{home}/{name}", 2 if digits == 4 else 0)


_cache: dict[tuple[str, str], tuple[tuple[int, int, int], note.Parsed, dict[str, int]]] = {}


def _read(config: Config, scope: Scope, path: str, stat: os.stat_result) -> Memory | None:
    key, state = (config.vault, path), (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    cached = _cache.get(key)
    if cached is None or cached[0] != state:
        parsed = note.load(config.vault, path)
        counts = analysis.counts(f"{parsed.meta.get('title', '')}\n{parsed.body}")
        if len(_cache) >= _CACHE_ENTRIES:
            _cache.clear()
        cached = _cache[key] = (state, parsed, counts)
    memory = _memory(scope, path, cached[1], cached[2])
    return memory and memory._replace(mtime_ns=stat.st_mtime_ns)


def _memory(scope: Scope, path: str, parsed: note.Parsed, counts: Mapping[str, int]) -> Memory | None:
    """Return the memory in a file; None if it lacks a mark of this scope, or needs more trust."""
    meta = parsed.meta
    tags = tuple(user_notes.tags_of(meta.get("tags")))
    required_trust = share_of(meta["trust"], 1.0) if "trust" in meta else 0.0  # an invalid value must not reveal more
    in_scope = meta.get("kind") == scope.kind and str(meta.get("accessor", "")) == scope.accessor
    if not in_scope or not set(scope.tags) <= set(tags) or required_trust > scope.trust or not meta.get("id"):
        return None
    version, sequence = meta.get("version"), meta.get("sequence")
    return Memory(
        id=str(meta["id"]),
        path=path,
        title=str(meta.get("title", "")),
        content=parsed.body,
        tags=tags,
        created=timestamps.utc(str(meta.get("created", ""))),
        updated=timestamps.utc(str(meta.get("updated", meta.get("created", "")))),
        version=version if type(version) is int and version > 0 else 1,
        trust=required_trust,
        deleted=meta.get("deleted") not in (None, False, "", "false"),
        meta=meta,
        counts=counts,
        sequence=sequence if type(sequence) is int else -1,
    )


# -- checking arguments ----------------------------------------------------------------------------


def own_tags(config: Config, tags: Sequence[str]) -> list[str]:
    """Return the caller's tags, as they will be stored.

    Raises UsageError when one would forge a scope, before or after private parts are removed.
    """
    stored = user_notes.clean_tags(user_notes.clean(config, list(tags)))
    for tag in [*tags, *stored]:
        if forges(tag):
            raise UsageError(
                f"The tag {tag!r:.60} is reserved: only the connection decides whose memory this is. Leave it out."
            )
    return stored


def shares(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Return weights, trust and feelings as numbers from 0 to 1; those that are None are left out.

    Raises UsageError when one is out of range, or has another name.
    """
    given: dict[str, float] = {}
    for name, value in numbers.items():
        feeling = name.removeprefix(FEEL)
        plain = feeling.replace("_", "a").isalnum() and feeling.isascii() and len(name) <= 60
        if name not in NUMBERS and not (name.startswith(FEEL) and plain):
            raise UsageError(f"There is no number {name!r:.60}. Give weight, trust or feel_..., such as feel_joy.")
        if value is not None:
            given[name] = checked_share(name, value)
    if len(given) > _MAX_FEELINGS:
        raise UsageError(f"A memory takes at most {_MAX_FEELINGS} numbers.")
    return given


def checked_share(name: str, value: Any) -> float:
    """Return a number from 0 to 1. Raises UsageError for any other value. name: for the message."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1, not {value!r:.40}.")
    return float(value)


def share_of(value: Any, default: float) -> float:
    """Return a number from a memory's front matter; `default` if it is invalid."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    return float(value) if good else default
