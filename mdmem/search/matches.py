"""Matches: finds the notes and folders that have a word and scores them with BM25F over four fields."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import chain, groupby, repeat
from math import log
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.text.stopwords import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from mdmem.search.index.view import View
    from mdmem.search.units import Unit

FIELDS = {"body": 1.0, "title": 0.3, "meta": 3.0, "date": 1.0}
"""Weight of a match by field. A title mostly repeats the body; people, tools and tags are named on purpose."""
TITLES = {"prompt": 1.0, "response": 1.0}
"""Weight of a match in the title for notes of these kinds, whose titles say what they are about."""
K = 1.0
B = 0.85
MAX_KEPT, MAX_KEPT_NOTES = 100, 300
"""Number of cached matches, and maximum number of notes of a cached match: some MB in all."""


_MANY_MORE = 8
"""A posting list longer than this many times the wanted notes is searched, not read through."""


class Posting(NamedTuple):
    """A posting list, or a part of one: notes in ascending order, and their term frequencies (None: all 1).

    field: the field of the term. within: only these of the notes (None: all).
    """

    notes: Sequence[int]
    weights: bytes | None
    field: str
    within: Container[int] | None = None

    def some(self, notes: set[int]) -> Iterable[int]:
        """Return which of a few notes are in the list."""
        own, within = self.notes, self.within
        if len(own) < _MANY_MORE * len(notes):
            found = notes.intersection(own)
        else:
            found = {note for note in notes if own[bisect_left(own, note, hi=len(own) - 1)] == note}
        return found if within is None else (note for note in found if note in within)

    def only(self, notes: Sequence[int]) -> Posting:
        """Return the part of the list for a few notes in ascending order."""
        own, place, places = self.notes, 0, []
        for note in notes[bisect_left(notes, own[0]) : bisect_right(notes, own[-1])]:
            place = bisect_left(own, note, place)
            if own[place] == note:
                places.append(place)
        weights = self.weights and bytes([self.weights[place] for place in places])
        return self._replace(notes=[own[place] for place in places], weights=weights)


class Match(NamedTuple):
    """The matches of one unit: the scores it gives to notes and folders, and its posting lists.

    For a word that half of a large vault has, the lists take a tenth of the memory of the notes' scores.
    """

    notes: dict[int, float]
    folders: dict[int, float]
    lists: Sequence[Posting]
    rarity: float

    def some(self, notes: set[int]) -> set[int]:
        """Return which of a few notes match."""
        return {note for one in self.lists for note in one.some(notes)}

    def times(self, notes: set[int]) -> dict[int, int]:
        """Return the term frequency in the bodies of those of a few notes that match."""
        found: dict[int, int] = {}
        for one in self.lists:
            for note in one.some(notes) if one.field == "body" else ():
                often = one.weights[bisect_left(one.notes, note)] if one.weights else 1
                found[note] = max(found.get(note, 0), often)
        return found


def add(total: dict[int, float], more: Mapping[int, float]) -> None:
    """Add scores to those of the same notes or folders, in place."""
    if not total:
        total.update(more)
        return
    known = total.get
    for key, score in more.items():
        total[key] = known(key, 0.0) + score


def of_units(view: View, asked: Collection[Unit]) -> Iterator[Match]:
    """Yield the match of each unit. Terms `in_code` add no notes: they only score those found by other terms."""
    matches = (joined(known_match(view, term, weight) for term, weight in unit.terms) for unit in asked)
    if not any(unit.in_code for unit in asked):
        yield from matches
        return
    every = list(matches)
    found = set().union(*(match.notes for match in every))
    for unit, match in zip(asked, every, strict=True):
        yield joined(chain([match], (_in_code(view, term, weight, found) for term, weight in unit.in_code)))


def joined(matches: Iterable[Match]) -> Match:
    """Return one match for alternative terms, with each note's best score; holds one at a time, of maybe hundreds."""
    several = iter(matches)
    first = next(several)
    lists = list(first.lists)
    notes: dict[int, float] | None = None
    for other in several:
        if notes is None:
            notes, folders = dict(first.notes), dict(first.folders)
        _take_larger(notes, other.notes)
        _take_larger(folders, other.folders)
        lists += other.lists
        first = Match(notes, folders, lists, max(first.rarity, other.rarity))
    return first


def _take_larger(into: dict[int, float], more: Mapping[int, float]) -> None:
    for key, value in more.items():
        if value > into.get(key, 0):
            into[key] = value


def known_match(view: View, term: str, weight: float) -> Match:
    """Return the match of a term, cached for a process that answers many questions."""
    found: Match | None = view.matches.get((term, weight))
    if found is None:
        found = match_term(view, term, weight)
        if len(found.notes) <= MAX_KEPT_NOTES:
            if len(view.matches) >= MAX_KEPT:
                view.matches.clear()
            view.matches[term, weight] = found
    return found


_OBSERVATION = KINDS.index("observation")


def _in_code(view: View, term: str, weight: float, among: Collection[int]) -> Match:
    """Return the match of a term in tool runs `among` the notes; a function word counts only in titles."""
    found = match_term(view, term, weight, ["title"]) if term in STOPWORDS else known_match(view, term, weight)
    flags = view.numbers("flags")
    notes = {
        note: score for note, score in found.notes.items() if note in among and flags[note] // KIND_STEP == _OBSERVATION
    }
    return Match(notes, {}, [one._replace(within=notes) for one in found.lists], found.rarity)


_TIMES = range(256)
"""The possible term frequencies in a posting list."""


def match_term(view: View, term: str, weight: float, fields: Iterable[str] = FIELDS, *, unscored: str = "") -> Match:
    """Return the match of a term. unscored: a field that is left out of the notes' scores."""
    lists = [Posting(*found, field) for field in fields for found in view.postings(field, term)]
    folders: dict[int, float] = {}
    for field in ("body", "date"):
        if having := [one.notes for one in lists if one.field == field]:
            add(folders, _match_folders(view, having, weight))
    rarity = weight * idf(view.live, found) if (found := _having(lists, "body")) else 0.0
    notes = score_notes(view, [one for one in lists if one.field != unscored], weight)
    return Match(notes, folders, lists, rarity)


def _having(lists: Iterable[Posting], field: str) -> int:
    return sum(len(one.notes) for one in lists if one.field == field)


def score_notes(
    view: View, lists: Sequence[Posting], weight: float, some: Sequence[int] | None = None
) -> dict[int, float]:
    """Return the score that a term gives to the notes that have it. some: only these, in ascending order."""
    notes: dict[int, float] = {}
    for field, found in groupby(lists, key=attrgetter("field")):
        every = list(found)
        gain = FIELDS[field] * (weight * idf(view.live, _having(every, field))) * (K + 1)
        own = every if some is None else [one.only(some) for one in every]
        # lengths of bodies are used repeatedly
        lengths = view.lengths(field) if field == "body" else view.numbers_of(f"length_{field}", *_notes(own))
        flat, slope = K * (1 - B), K * B / view.average_length(field)
        gains, flats = [gain * times for times in _TIMES], [times + flat for times in _TIMES]
        given = {
            note: gains[times] / (flats[times] + slope * lengths[note])
            for one in own
            for note, times in zip(one.notes, one.weights or repeat(1), strict=False)
        }
        if field == "title" and weight == 1:  # a synonym in the title does not name the subject
            _weigh_titles(view, given)
        if notes:
            add(notes, given)
        else:
            notes = given
    return notes


def _notes(lists: Iterable[Posting]) -> list[Sequence[int]]:
    return [one.notes for one in lists]


def _weigh_titles(view: View, found: dict[int, float]) -> None:
    """Raise the scores of notes whose kind is in `TITLES`."""
    flags = view.numbers("flags")
    more = [TITLES.get(kind, FIELDS["title"]) / FIELDS["title"] for kind in KINDS for _ in range(KIND_STEP)]
    for note in found:
        found[note] *= more[flags[note]]


def _match_folders(view: View, lists: Iterable[Sequence[int]], weight: float) -> dict[int, float]:
    """Score folders as if each were one long note with one occurrence for every note that has the word."""
    counts: Counter[int] = Counter()
    for rows in lists:
        counts.update(view.in_folders(rows))
    counts.pop(view.root, None)
    gain = weight * idf(len(view.folders), len(counts)) * (K + 1)
    flat, slope = K * (1 - B), K * B / view.average_members
    sizes = view.folder_sizes
    return {folder: gain * times / (times + flat + slope * sizes[folder]) for folder, times in counts.items()}


def idf(notes: int, having: int) -> float:
    """Return the inverse document frequency of a word that `having` of `notes` have."""
    return log(max(notes, 1) / (having + 1)) + 1
