"""Searching internal memories: FILTERS, relevance to a query, and MODES of ordering."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from math import log
from typing import Any, NamedTuple

from mdmem import timestamps, when
from mdmem.errors import UsageError
from mdmem.search.text import analysis
from mdmem.server.internal.memories import FEEL, Memory, checked_share, share_of
from mdmem.vault import user_notes

SORT_ORDERS = ("asc", "desc")
FIELDS = ("weight", "trust", "version", "rating", "title", "created", "updated")
"""Fields that byProperty orders by, besides feelings and other keys of the front matter."""
BROAD_CHARS = 100
"""Characters that the broad view shows of the beginning, the middle and the end of a memory."""

_LINK = re.compile(r"\[\[[^\]\n]{1,200}\]\]|\]\([^)\s]{1,400}\)|\bmem:[0-9a-z]{10}\b")
_CITED = re.compile(r"\bmem:([0-9a-z]{10})\b|\[\[([0-9a-z]{10})\]\]")


class Ask(NamedTuple):
    """The memories to order. links: number of links from and to each memory, by id. field: for byProperty."""

    memories: Sequence[Memory]
    links: Mapping[str, int]
    descending: bool
    field: str


def arrange(memories: Sequence[Memory], mode: str, *, sort_order: str = "desc", sort_field: str = "") -> list[Memory]:
    """Return memories in the order of a mode.

    sort_order: `desc` puts the newest, highest or best first.

    Raises UsageError when there is no such mode, order or field.
    """
    if mode not in MODES:
        raise UsageError(f"There is no mode {mode!r:.40}. Modes: {', '.join(MODES)}.")
    if sort_order not in SORT_ORDERS:
        raise UsageError(f"sort_order must be asc or desc, not {sort_order!r:.40}.")
    is_known = (
        sort_field in FIELDS or sort_field.startswith(FEEL) or any(sort_field in memory.meta for memory in memories)
    )
    if mode == "byProperty" and not is_known:
        addition = f", not {sort_field!r:.40}" if sort_field else ""
        raise UsageError(f"byProperty needs sort_field: {', '.join(FIELDS)} or {FEEL}...{addition}.")
    return MODES[mode](Ask(memories, links(memories), sort_order == "desc", sort_field))


def links(memories: Sequence[Memory]) -> dict[str, int]:
    """Return, by memory id, the number of links in the memory and of links to it from the others."""
    counts = {memory.id: len(_LINK.findall(memory.content)) for memory in memories}
    for memory in memories:
        for cited in chain.from_iterable(_CITED.findall(memory.content)):
            if cited in counts and cited != memory.id:
                counts[cited] += 1
    return counts


def significance(memory: Memory, linked: int) -> float:
    """Return the importance of a memory, 0 to 1, from its weight, feelings and links."""
    feelings = [share_of(value, 0.0) for key, value in memory.meta.items() if key.startswith(FEEL)]
    felt = max(feelings, default=0.0)
    return 0.5 * share_of(memory.meta.get("weight"), 0.5) + 0.3 * felt + 0.2 * (1 - 1 / (1 + linked))


def rating(memory: Memory) -> float | None:
    """Return a person's rating in a memory's front matter, or None."""
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
    """Return an order by a key, then by age, so that pages stay stable."""
    return lambda ask: sorted(ask.memories, key=lambda memory: (key(ask, memory), memory.age), reverse=ask.descending)


def _by_value(value: Callable[[Ask, Memory], Any]) -> Callable[[Ask], list[Memory]]:
    """Return an order by a value; memories that have none come last."""

    def ordered(ask: Ask) -> list[Memory]:
        having = [memory for memory in ask.memories if value(ask, memory) is not None]
        without = [memory for memory in ask.memories if value(ask, memory) is None]
        return _by(value)(ask._replace(memories=having)) + without

    return ordered


def _by_discovery(ask: Ask) -> list[Memory]:
    """Alternate memories that are known to matter with ones that have no rating and no links."""
    fresh = [memory for memory in ask.memories if rating(memory) is None and not ask.links[memory.id]]
    names = {memory.id for memory in fresh}
    valued = [memory for memory in ask.memories if memory.id not in names]
    valued.sort(key=lambda memory: -significance(memory, ask.links[memory.id]))
    turns = chain.from_iterable(zip_longest(valued, fresh))
    ordered = [memory for memory in turns if memory is not None]
    return ordered if ask.descending else ordered[::-1]


def _property(ask: Ask, memory: Memory) -> tuple[bool, float, str] | None:
    """Return the sort key of one key of the front matter: numbers before texts; None for a memory without it."""
    value = _sort_key(memory.meta.get(ask.field))
    is_time = value is not None and ask.field in ("created", "updated")
    return _sort_key(getattr(memory, ask.field)) if is_time else value


def _sort_key(value: Any) -> tuple[bool, float, str] | None:
    if isinstance(value, str):
        return True, 0.0, value
    return (False, float(value), "") if isinstance(value, (bool, int, float)) else None


MODES: dict[str, Callable[[Ask], list[Memory]]] = {
    "byTime": _by(lambda _, memory: memory.created),
    "byDensity": _by(lambda ask, memory: ask.links[memory.id]),
    "byRating": _by_value(lambda _, memory: rating(memory)),
    "byDiscovery": _by_discovery,
    "byProperty": _by_value(_property),
    "bySignificance": _by(lambda ask, memory: significance(memory, ask.links[memory.id])),
    "byBroad": _by(lambda _, memory: memory.created),
    "byRandom": lambda ask: random.sample(ask.memories, len(ask.memories)),
}
"""Mode -> how it orders memories, which it gets newest first."""


Keep = Callable[[Memory], bool]


def parse_filters(filters: Mapping[str, Any]) -> Keep:
    """Return a function that tells whether a memory passes all filters; an empty filter is ignored.

    Raises UsageError when there is no such filter, or its value cannot be read.
    """
    conditions = []
    for name, value in filters.items():
        key = _SYNONYMS.get(name, name)
        if key not in FILTERS:
            raise UsageError(f"There is no filter {name!r:.40}. Filters: {', '.join(FILTERS)}.")
        if value not in (None, "", [], ()):
            conditions.append(FILTERS[key](key, value))
    return lambda memory: all(keep(memory) for keep in conditions)


def _types(key: str, value: Any) -> Keep:
    types = {name.lower() for name in _texts(key, value)}
    return lambda memory: bool(types & {str(memory.meta.get(name, "")).lower() for name in ("kind", "type")})


def _tags(key: str, value: Any) -> Keep:
    tags = set(user_notes.clean_tags(_texts(key, value)))
    return lambda memory: tags <= set(memory.tags)


def _from(key: str, value: Any) -> Keep:
    first = timestamps.iso_time(_span(key, value)[0])
    return lambda memory: memory.created >= first


def _to(key: str, value: Any) -> Keep:
    start, end = _span(key, value)
    last = timestamps.iso_time(end)
    return lambda memory: memory.created < last or (start == end and memory.created == last)


def _weight(key: str, value: Any) -> Keep:
    least = checked_share(f"The filter {key}", value)
    return lambda memory: share_of(memory.meta.get("weight"), 0.0) >= least


def _texts(key: str, value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"The filter {key} must be a list of strings, not {value!r:.40}.")
    return list(texts)


def _span(key: str, value: Any) -> tuple[float, float]:
    span = when.span(value, when.now()) if isinstance(value, str) else None
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
"""Filter -> the function that makes a condition from its value."""

_SYNONYMS = {"type": "types", "min_weight": "weight_min", "date_from": "created_from", "date_to": "created_to"}


K = 1.2
B = 0.75
PIECE = 3
"""Length of the letter n-grams that measure similar spelling."""


def relevance(memories: Sequence[Memory], query: str, alpha: float = 0.0) -> dict[str, float]:
    """Return the relevance of each memory that matches a query at all, by id: the share of the possible maximum.

    alpha: the weight of similar spelling; the rest is words (BM25).
    """
    by_words = _by_words(memories, analysis.query_terms(query)) if alpha < 1 else {}
    by_letters = _by_letters(memories, query) if alpha > 0 else {}
    relevances = {}
    for memory in memories:
        share = round((1 - alpha) * by_words.get(memory.id, 0.0) + alpha * by_letters.get(memory.id, 0.0), 4)
        if share > 0:
            relevances[memory.id] = share
    return relevances


def _by_words(memories: Sequence[Memory], terms: Sequence[str]) -> dict[str, float]:
    having = {term: sum(term in memory.counts for memory in memories) for term in terms}
    rarity = {term: log(1 + (len(memories) + 1) / (count + 0.5)) for term, count in having.items()}
    most = sum(rarity.values())
    lengths = {memory.id: sum(memory.counts.values()) for memory in memories}
    average = sum(lengths.values()) / (len(lengths) or 1) or 1.0
    scores = {}
    for memory in memories:
        flat = K * (1 - B + B * lengths[memory.id] / average)
        gains = (rarity[term] * times / (times + flat) for term in terms if (times := memory.counts.get(term)))
        scores[memory.id] = sum(gains) / most if most else 0.0
    return scores


def _by_letters(memories: Sequence[Memory], query: str) -> dict[str, float]:
    pieces = _pieces(query)
    texts = {memory.id: f" {memory.title} {memory.content} ".casefold() for memory in memories}
    return {name: sum(piece in text for piece in pieces) / (len(pieces) or 1) for name, text in texts.items()}


def _pieces(text: str) -> set[str]:
    pieces = set()
    for word in analysis.words(text.casefold()):
        padded = f" {word} "
        pieces |= {padded[at : at + PIECE] for at in range(len(padded) - PIECE + 1)}
    return pieces
