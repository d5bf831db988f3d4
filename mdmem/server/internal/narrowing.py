"""FILTERS: conditions on memories, beyond the query: types, tags, when they were made, how much they weigh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from mdmem import timestamps
from mdmem.errors import UsageError
from mdmem.search import when
from mdmem.server.internal.memories import Memory, share_of
from mdmem.vault import user_notes

Keep = Callable[[Memory], bool]


def parse(filters: Mapping[str, Any]) -> Keep:
    """Return what says whether a memory passes all filters; an empty filter is none.

    Raises:
        UsageError: when there is no such filter, or its value cannot be read.
    """
    conditions = []
    for name, value in filters.items():
        key = _SYNONYMS.get(name, name)
        if key not in FILTERS:
            raise UsageError(f"There is no filter {name!r:.40}; there are {', '.join(FILTERS)}.")
        if value not in (None, "", [], ()):
            conditions.append(FILTERS[key](key, value))
    return lambda memory: all(keep(memory) for keep in conditions)


def _types(key: str, value: Any) -> Keep:
    wanted = {name.lower() for name in _texts(key, value)}
    return lambda memory: bool(wanted & {str(memory.meta.get(name, "")).lower() for name in ("kind", "type")})


def _tags(key: str, value: Any) -> Keep:
    wanted = set(user_notes.clean_tags(_texts(key, value)))
    return lambda memory: wanted <= set(memory.tags)


def _from(key: str, value: Any) -> Keep:
    first = timestamps.iso_time(_span(key, value)[0])
    return lambda memory: memory.created >= first


def _to(key: str, value: Any) -> Keep:
    start, end = _span(key, value)
    last = timestamps.iso_time(end)
    return lambda memory: memory.created < last or (start == end and memory.created == last)


def _weight(key: str, value: Any) -> Keep:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise UsageError(f"The filter {key} must be a number from 0 to 1, not {value!r:.40}.")
    return lambda memory: share_of(memory.meta.get("weight"), 0.0) >= value


def _texts(key: str, value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"The filter {key} must be a list of strings, not {value!r:.40}.")
    return list(texts)


def _span(key: str, value: Any) -> tuple[float, float]:
    span = when.span(value, datetime.now().astimezone()) if isinstance(value, str) else None
    if span is None:
        raise UsageError(f"Can't read {value!r:.40} as a time for {key}. Try 2w, yesterday, 2026-09-14.")
    return span


FILTERS: dict[str, Callable[[str, Any], Keep]] = {
    "types": _types,
    "tags": _tags,
    "created_from": _from,
    "created_to": _to,
    "weight_min": _weight,
}
"""A filter's name -> what makes a condition of its value."""

_SYNONYMS = {"type": "types", "min_weight": "weight_min", "date_from": "created_from", "date_to": "created_to"}
