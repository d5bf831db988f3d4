"""MODES: the ways in which memories are laid out without a question, or beside one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from mdmem.errors import UsageError
from mdmem.server.internal.memories import FEEL, Memory, share_of

SORT_ORDERS = ("asc", "desc")
FIELDS = ("weight", "trust", "version", "rating", "title", "created", "updated")
"""What byProperty can order by, beside feelings and what else is in somebody's front matter."""
BROAD_CHARS = 100
"""Of each end and of the middle of a memory, so much is shown in broad view."""

_LINK = re.compile(r"\[\[[^\]\n]{1,200}\]\]|\]\([^)\s]{1,400}\)|\bmem:[0-9a-z]{10}\b")
_CITED = re.compile(r"\bmem:([0-9a-z]{10})\b|\[\[([0-9a-z]{10})\]\]")


class Ask(NamedTuple):
    """What is to be laid out. links: how many lead from and to each memory, by id. field: for byProperty."""

    memories: Sequence[Memory]
    links: Mapping[str, int]
    descending: bool
    field: str


def arrange(memories: Sequence[Memory], mode: str, *, sort_order: str = "desc", sort_field: str = "") -> list[Memory]:
    """Return memories in the order of a mode.

    sort_order: `desc` has the newest, the most, the best first.

    Raises:
        UsageError: when there is no such mode, order or field.
    """
    if mode not in MODES:
        raise UsageError(f"There is no mode {mode!r:.40}; there are {', '.join(MODES)}.")
    if sort_order not in SORT_ORDERS:
        raise UsageError(f"sort_order must be asc or desc, not {sort_order!r:.40}.")
    known = sort_field in FIELDS or sort_field.startswith(FEEL) or any(sort_field in each.meta for each in memories)
    if mode == "byProperty" and not known:
        said = f", not {sort_field!r:.40}" if sort_field else ""
        raise UsageError(f"byProperty needs sort_field: {', '.join(FIELDS)} or {FEEL}...{said}.")
    return MODES[mode](Ask(memories, links(memories), sort_order == "desc", sort_field))


def links(memories: Sequence[Memory]) -> dict[str, int]:
    """Count, by memory id, the links in each memory and those in the other memories that lead to it."""
    found = {memory.id: len(_LINK.findall(memory.content)) for memory in memories}
    for memory in memories:
        for cited in chain.from_iterable(_CITED.findall(memory.content)):
            if cited in found and cited != memory.id:
                found[cited] += 1
    return found


def significance(memory: Memory, linked: int) -> float:
    """Return how much a memory matters: its weight, its feelings and its links, 0 to 1."""
    feelings = [share_of(value, 0.0) for key, value in memory.meta.items() if key.startswith(FEEL)]
    felt = max(feelings, default=0.0)
    return 0.5 * share_of(memory.meta.get("weight"), 0.5) + 0.3 * felt + 0.2 * (1 - 1 / (1 + linked))


def rating(memory: Memory) -> float | None:
    """Return what a person rated a memory with, in its front matter, or None."""
    value = memory.meta.get("rating")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def outline(content: str) -> str:
    """Show the beginning, the middle and the end of a text."""
    text = " ".join(content.split())
    if len(text) <= 3 * BROAD_CHARS + 20:
        return text
    middle = (len(text) - BROAD_CHARS) // 2
    return " … ".join((text[:BROAD_CHARS], text[middle : middle + BROAD_CHARS], text[-BROAD_CHARS:]))


def _by(key: Callable[[Ask, Memory], Any]) -> Callable[[Ask], list[Memory]]:
    """Order by a key; equals by their age, so that pages hold still."""
    return lambda ask: sorted(ask.memories, key=lambda memory: (key(ask, memory), memory.age), reverse=ask.descending)


def _by_rating(ask: Ask) -> list[Memory]:
    rated = [memory for memory in ask.memories if rating(memory) is not None]
    ordered = _by(lambda _, memory: rating(memory))(ask._replace(memories=rated))
    return ordered + [memory for memory in ask.memories if rating(memory) is None]


def _by_discovery(ask: Ask) -> list[Memory]:
    """Take turns: one that matters and is known to, one that nobody rated or linked to yet."""
    fresh = [memory for memory in ask.memories if rating(memory) is None and not ask.links[memory.id]]
    names = {memory.id for memory in fresh}
    known = [memory for memory in ask.memories if memory.id not in names]
    known.sort(key=lambda memory: -significance(memory, ask.links[memory.id]))
    turns = chain.from_iterable(zip_longest(known, fresh))
    ordered = [memory for memory in turns if memory is not None]
    return ordered if ask.descending else ordered[::-1]


def _by_property(ask: Ask) -> list[Memory]:
    """Order by one key of the front matter: numbers before texts; memories without it come last."""
    having = [memory for memory in ask.memories if _plain(memory.meta.get(ask.field)) is not None]
    names = {memory.id for memory in having}
    ordered = _by(lambda _, memory: _plain(_value(memory, ask.field)))(ask._replace(memories=having))
    return ordered + [memory for memory in ask.memories if memory.id not in names]


def _value(memory: Memory, field: str) -> Any:
    return {"created": memory.created, "updated": memory.updated}.get(field, memory.meta.get(field))


def _plain(value: Any) -> tuple[bool, float, str] | None:
    if isinstance(value, str):
        return True, 0.0, value
    return (False, float(value), "") if isinstance(value, (bool, int, float)) else None


def _by_random(ask: Ask) -> list[Memory]:
    return random.sample(ask.memories, len(ask.memories))


MODES: dict[str, Callable[[Ask], list[Memory]]] = {
    "byTime": _by(lambda _, memory: memory.created),
    "byDensity": _by(lambda ask, memory: ask.links[memory.id]),
    "byRating": _by_rating,
    "byDiscovery": _by_discovery,
    "byProperty": _by_property,
    "bySignificance": _by(lambda ask, memory: significance(memory, ask.links[memory.id])),
    "byBroad": _by(lambda _, memory: memory.created),
    "byRandom": _by_random,
}
"""A mode's name -> how it orders memories, which come newest first."""
