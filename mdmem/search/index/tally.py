"""Tally: totals of a segment's notes, counted when it is written; a vault's figures are their sums."""

from __future__ import annotations

from collections import Counter

from mdmem.agents import aliases
from mdmem.named_tuple import NamedTuple
from mdmem.search.index.layout import FLAGS, KIND_STEP, KINDS
from mdmem.vault import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mdmem.search.index.folders import Leaf
    from mdmem.search.index.layout import IndexRow

QUARTER_SECONDS = 900
"""Every time zone begins its days at a multiple of this."""


_PAGES = frozenset(map(KINDS.index, note.PAGES))


class NoteCounts(NamedTuple):
    """Counts of notes, without pages and internal memories.

    sums: pinned notes and, for what was hidden, the number of notes, private texts and secrets. quarters: by
    quarter-hour of creation, since 1970. failures: by tool, else by kind. files: number of changes of each.
    """

    sums: dict[str, int]
    kinds: dict[str, int]
    projects: dict[str, int]
    quarters: dict[int, int]
    tools: dict[str, int]
    failures: dict[str, int]
    files: dict[str, int]


def of(rows: Iterable[IndexRow], *, internal: bool = False) -> NoteCounts:
    """Return the counts of some rows. internal: include internal memories."""
    counts = NoteCounts(*(Counter() for _ in NoteCounts._fields))
    for row in rows:
        if internal or not note.is_internal(row.path, row.facts["kind"]):
            _add(counts, row)
    return counts


def _add(counts: NoteCounts, row: IndexRow) -> None:
    facts = row.facts
    if facts.get("private") or facts.get("redacted"):
        counts.sums["notes"] += 1
        for key in ("private", "redacted"):
            counts.sums[key] += facts[key] if type(facts.get(key)) is int else 0
    if facts["kind"] in note.PAGES:
        return
    counts.sums["pinned"] += bool(row.flags & FLAGS["pinned"])
    counts.kinds[facts["kind"]] += 1
    counts.projects[str(facts.get("project", ""))] += 1
    counts.quarters[row.created // QUARTER_SECONDS] += 1
    tool = str(facts.get("tool", ""))
    if tool:
        counts.tools[tool] += 1
    if facts.get("success") is False:
        counts.failures[tool or facts["kind"]] += 1
    elif tool and aliases.changes_files(tool):
        for file in facts.get("files", ()):
            counts.files[file] += 1


def deleted(leaf: Leaf) -> list[int]:
    """Return a segment's deleted rows that are in its counts: no pages, unless something was hidden in them."""
    flags = leaf.table.numbers("flags") if leaf.deleted else []
    lists = [leaf.terms.postings("facet", f"is:{state}") for state in ("private", "redacted")] if leaf.deleted else []
    with_hidden = {row for postings in lists if postings for row in leaf.deleted.intersection(postings[0])}
    return sorted(row for row in leaf.deleted if flags[row] // KIND_STEP not in _PAGES or row in with_hidden)


def total(parts: Iterable[NoteCounts], without: NoteCounts) -> NoteCounts:
    """Return the sum of segments' counts, minus those of deleted notes."""
    sums: list[Counter[Any]] = [Counter() for _ in NoteCounts._fields]
    for part in parts:
        for counter, counts in zip(sums, _each(part), strict=True):
            counter.update(counts)
    for counter, counts in zip(sums, _each(without), strict=True):
        counter.subtract(counts)
    return NoteCounts(*({key: count for key, count in counter.items() if count} for counter in sums))


def _each(counts: NoteCounts) -> tuple[dict[Any, int], ...]:
    return tuple(counts)
