"""The review queue, from the index alone: notes added or changed since the last review, and other notes to check."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.history import past, review
from mdmem.history.git import checked_out, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.learn import decisions
from mdmem.search import duplicates
from mdmem.search.index.layout import FLAGS, KIND_STEP, KINDS
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import note
from mdmem.views import injections, rows
from mdmem.views.rows import NoteRow
from mdmem.views.vault_pages.listed import Listing

UNUSED_DAYS = 60
MOST_PAIRS, MOST_UNUSED = 10, 20
_AT_ONCE = 2_000
"""Maximum number of paths held in memory at once."""
_RUN = KINDS.index("observation")


class ReviewQueue(NamedTuple):
    """Notes that wait for a decision. head: the last commit considered. numbers: notes of the index, oldest first."""

    head: str
    numbers: Sequence[int]


def waiting(config: Config, view: View) -> ReviewQueue:
    """Return the undecided notes that were added or changed since the last review, including uncommitted ones.

    Raises VaultError when the vault is not a repository.
    """
    repo = repository.open_vault(config.vault)
    head = checked_out.tip(repo)
    base = writer.tip(repo, review.REF)
    unseen = _unseen(view, repo, base, head)
    return ReviewQueue(head, [number for number in unseen if not is_decided(config, view, number)])


@cached_with_view
def _unseen(view: View, repo: Repository, base: str, head: str) -> array[int]:
    terms = ("is:internal", *(f"is:{state}" for state in review.AS_PROPOSALS), *(f"kind:{kind}" for kind in note.PAGES))
    hidden = view.with_any(terms)
    seen = _unchanged(repo, base, head)
    if seen:
        for first in range(0, view.size, _AT_ONCE):
            paths = view.some_paths(first, min(first + _AT_ONCE, view.size))
            hidden.update(number for number, path in enumerate(paths, first) if _has(seen, hash(path)))
    unseen = array("I", (number for number in view.newest() if number not in hidden))
    unseen.reverse()
    return unseen


@lru_cache(maxsize=1)
def _unchanged(repo: Repository, base: str, head: str) -> array[int]:
    """Return the notes that are unchanged since the last review, as sorted hashes of their paths.

    A server keeps them in memory, where the paths of a large vault would take thirty times as much.
    """
    if not base or not head:
        return array("q")
    before = array("q", sorted(hash(entry) for entry in past.notes(repo, base))) if base != head else None
    unchanged = (entry for entry in past.notes(repo, head) if before is None or _has(before, hash(entry)))
    return array("q", sorted(hash(path) for path, _ in unchanged))


def _has(hashes: array[int], value: int) -> bool:
    place = bisect_left(hashes, value)
    return place < len(hashes) and hashes[place] == value


def since(listing: Listing, seen: str) -> Iterator[int]:
    """Yield the newer undecided notes that a page may name, newest first.

    A note without a creation time is left out: each machine would count it differently.
    """
    view, created, first = listing.view, listing.view.numbers("created"), timestamps.epoch(seen)
    hidden = view.of_kinds(note.PAGES) | view.internal
    for number in takewhile(lambda number: created[number] > first, view.newest()):
        if (
            number not in hidden
            and listing.created(number) > first
            and listing.leaves(view.path(number))
            and not is_decided(listing.config, view, number)
        ):
            yield number


def screens(view: View, numbers: Iterable[int]) -> tuple[int, int]:
    """Return the numbers of sessions and of single notes that a review of these notes asks about.

    A session with only tool runs among them is not asked about.
    """
    flags, folder_of = view.numbers("flags"), view.folder_of
    folders: set[int] = set()
    single = 0
    for number in numbers:
        if not flags[number] & FLAGS["numbered"]:
            single += 1
        elif flags[number] // KIND_STEP != _RUN:
            folders.add(folder_of[number])
    return len(folders), single


def is_decided(config: Config, view: View, number: int) -> bool:
    """Whether a person has decided about a note since it changed; only notes that were touched are read."""
    if not view.number("flags", number) & FLAGS["edited"]:
        return False
    return bool(decisions.marks_of(config, view, number).get("reviewed"))


def written(view: View) -> set[int]:
    """Return the notes that people and agents wrote on purpose."""
    return view.of_kinds(note.WRITTEN) - view.internal


def doubled(view: View) -> list[tuple[NoteRow, NoteRow]]:
    """Return pairs of written notes that say the same, the earlier one first."""
    ordered = rows.in_order(view, written(view))
    pairs = ((same, number) for number, same in duplicates.collapse(view, ordered) if same is not None)
    return [(rows.row(view, first), rows.row(view, second)) for first, second in islice(pairs, MOST_PAIRS)]


def unused(config: Config, view: View) -> list[NoteRow]:
    """Return written notes that were neither changed nor given to an agent for `UNUSED_DAYS`, oldest first."""
    before = time.time() - UNUSED_DAYS * 86_400
    since = timestamps.iso_time(before)
    used = {str(name) for row in injections.log(config) if str(row.get("time", "")) >= since for name in row["ids"]}
    created, changed = view.numbers("created"), view.numbers("mtime_ns")
    pinned = view.notes("facet", "is:pinned")
    old_notes = (n for n in written(view) - pinned if created[n] < before and changed[n] < before * 1e9)
    candidates = (rows.row(view, number) for number in rows.in_order(view, old_notes))
    return list(islice((row for row in candidates if row.id not in used), MOST_UNUSED))
