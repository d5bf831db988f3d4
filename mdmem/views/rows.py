"""Notes as rows, from the index, without reading files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Set
from itertools import chain, islice
from typing import NamedTuple, TypeVar

import click

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.search import freshness, index, staged
from mdmem.search import select as allowing
from mdmem.search.index.layout import FLAGS, KIND_STEP, KINDS
from mdmem.search.index.view import View
from mdmem.search.query import Query
from mdmem.search.text import analysis
from mdmem.vault import links, note
from mdmem.watcher import client

_FEW = 2_000
"""Up to this number, notes are sorted directly; above it, the order of all notes is filtered."""
_Answer = TypeVar("_Answer")
_Rest = TypeVar("_Rest")


class NoteRow(NamedTuple):
    """One note. created: ISO 8601 in UTC. success: whether a tool run succeeded; None for other notes."""

    id: str
    path: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    agent: str
    tool: str
    prompt: int
    sequence: int
    success: bool | None
    pinned: bool
    files: list[str]


def refresh(config: Config) -> None:
    """Update the index; in a large vault without one, index the newest notes. Print hints on stderr.

    A watcher knows what has changed; without one, each folder is checked.
    """
    if client.has_indexed_all(config):
        return
    for notice in freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)[1]:
        click.echo(f"mdmem: {notice}", err=True)


def is_empty(config: Config) -> bool:
    """Whether the vault has no note. An index that has notes is not updated first."""
    if not _has_notes(config):
        refresh(config)
    return not _has_notes(config)


def _has_notes(config: Config) -> bool:
    view = index.opened(config)
    return view is not None and view.live > 0


def ask(config: Config, answer: Callable[[View], _Answer]) -> _Answer:
    """Return the result of `answer` on the index, after `refresh`.

    Raises BusyError when there is no index yet, because another process is building it.
    """
    refresh(config)
    return freshness.ask(config, answer)


AT_ONCE = 1_000
"""Number of notes held in memory at a time when a command may list the whole vault."""


def each(
    config: Config, choose: Callable[[View], tuple[list[int], _Rest]], make: Callable[[View, int], _Answer]
) -> tuple[Iterator[_Answer], _Rest]:
    """Return an iterator of `make` over the notes that `choose` returns, and the rest of what it returns.

    Only a part of the notes is held in memory at a time.

    Raises BusyError as `ask`; also during iteration, when the index turns out to be damaged.
    """
    view, (numbers, rest) = ask(config, lambda view: (view, choose(view)))

    def part(start: int) -> list[_Answer]:
        def answer(again: View) -> list[_Answer]:
            if again is not view:
                raise BusyError("The index was damaged and has been rebuilt. Run the command again.")
            return [make(view, number) for number in numbers[start : start + AT_ONCE]]

        return freshness.answered(config, answer, view) or []

    return chain.from_iterable(map(part, range(0, len(numbers), AT_ONCE))), rest


def select(view: View, root: str, query: Query) -> list[int]:
    """Return the numbers of the notes that match a query, newest first.

    The pages of sessions, projects and days are left out unless the query asks for their kind.
    """
    matching, excluded_kinds = _matching(view, root, query)
    return list(_newest(view, matching, excluded_kinds))


def matching_notes(view: View, root: str, query: Query, *, pages: bool = False) -> Set[int]:
    """Return what `select` does, but unsorted: sorting is slow in a large vault. pages: include all pages."""
    matching, excluded_kinds = _matching(view, root, query, pages=pages)
    return (set(view.all) if matching is None else matching) - view.of_kinds(excluded_kinds)


def newest(view: View, root: str, query: Query, *, limit: int | None, oldest: bool) -> tuple[list[int], int]:
    """Return the newest notes that match a query, at most `limit`, and the number of matches.

    oldest: return the oldest instead. The cost depends on `limit`, not on the size of the vault.
    """
    matching, excluded_kinds = _matching(view, root, query)
    if oldest:
        newest_first = list(_newest(view, matching, excluded_kinds))
        return newest_first[::-1][:limit], len(newest_first)
    pages = view.of_kinds(excluded_kinds)
    total = view.live - len(pages) if matching is None else len(matching) - len(pages & matching)
    return list(islice(_newest(view, matching, excluded_kinds), limit)), total


def _matching(view: View, root: str, query: Query, *, pages: bool = False) -> tuple[Set[int] | None, tuple[str, ...]]:
    """Return the notes that match a query, None for all, and the kinds to leave out of them."""
    kinds = {value for condition in query.filters if condition.key == "kind" for value in condition.values}
    internal = bool(kinds) and kinds <= set(note.INTERNAL)
    chosen = allowing.allowed(view, root, query, internal=internal, here=staged.ANYWHERE)
    return chosen, () if kinds or pages else note.PAGES


def _newest(view: View, matching: Set[int] | None, excluded_kinds: tuple[str, ...]) -> Iterator[int]:
    """Yield the matching notes, None for all, without those of some kinds, newest first."""
    if matching is not None and len(matching) <= _FEW:
        newest_first: Iterable[int] = reversed(in_order(view, matching))
    else:
        newest_first = view.newest() if matching is None else filter(matching.__contains__, view.newest())
    if not excluded_kinds:
        return iter(newest_first)
    flags = view.numbers("flags")
    excluded = {KINDS.index(kind) for kind in excluded_kinds}
    return (number for number in newest_first if flags[number] // KIND_STEP not in excluded)


def in_order(view: View, numbers: Iterable[int]) -> list[int]:
    """Sort notes by time; those of the same second, by the order of their files."""
    created = view.numbers("created")
    return sorted(numbers, key=lambda number: (created[number], view.path(number)))


def around(view: View, numbers: Iterable[int], anchor: int, before: int, after: int) -> list[int]:
    """Return a note and the given number of notes before and after it, in the order of `in_order`."""
    created = view.numbers("created")
    ordered = sorted({*numbers, anchor}, key=created.__getitem__)
    times = [created[number] for number in ordered]
    # Notes of the same second are in the order of their paths; only those near the anchor are sorted.
    place = bisect_left(times, created[anchor])
    first = bisect_left(times, times[max(place - before, 0)])
    last = bisect_right(times, times[min(bisect_right(times, created[anchor]) + after, len(times)) - 1])
    neighbors = in_order(view, ordered[first:last])
    position = neighbors.index(anchor)
    return neighbors[max(position - before, 0) : position + after + 1]


def row(view: View, number: int) -> NoteRow:
    """Return one note as a row."""
    facts = view.facts(number)
    return NoteRow(
        id=facts["id"],
        path=view.path(number),
        kind=facts["kind"],
        title=facts["title"],
        created=timestamps.iso_time(view.number("created", number)),
        project=str(facts.get("project", "")),
        session=str(facts.get("session", "")),
        agent=str(facts.get("agent", "")),
        tool=str(facts.get("tool", "")),
        prompt=note.number(facts, "prompt"),
        sequence=note.number(facts, "sequence"),
        success=facts.get("success") if isinstance(facts.get("success"), bool) else None,
        pinned=bool(view.number("flags", number) & FLAGS["pinned"]),
        files=facts.get("files", []),
    )


MOST = 100
"""Maximum number of notes listed, newest first."""


def titled(view: View, title: str) -> list[NoteRow]:
    """Return the notes with a title, newest first: written ones, or else captured ones."""
    terms = sorted(analysis.counts(title), key=lambda term: view.count("title", term))
    with_words = view.notes("title", terms[0]) - view.internal if terms else set()
    for term in terms[1:]:
        with_words &= view.notes("title", term)
    compared_title = links.as_compared(title)
    written = with_words & view.of_kinds(note.WRITTEN)
    for numbers in (written, with_words - written):
        candidates = (row(view, number) for number in in_order(view, numbers)[::-1][:_LOOKED_AT])
        if alike := [candidate for candidate in candidates if links.as_compared(candidate.title) == compared_title]:
            return alike[:MOST]
    return []


_LOOKED_AT = 1_000


def backlinks(view: View, path: str, name: str) -> list[NoteRow]:
    """Return the notes that link to the note at `path` with the id `name`, or to its title, newest first.

    The generated lists on pages of sessions and projects do not count as links.
    """
    stem, number = links.stem(path.lower()), view.find(path)
    title = str(view.facts(number)["title"]).lower() if number is not None else ""
    terms = {name.lower(), stem, stem.rpartition("/")[2], links.stem(title)} - {""}
    linking = view.with_any(f"link:{term}" for term in terms) - view.internal
    candidates = [row(view, number) for number in in_order(view, linking)[::-1][: MOST + 1]]
    return [candidate for candidate in candidates if candidate.path != path][:MOST]
