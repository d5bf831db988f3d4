"""Matches: finds the notes and folders that have a word and scores them with BM25F over four fields."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import chain, groupby, repeat
from math import log, sqrt
from operator import attrgetter

from mdmem.named_tuple import NamedTuple
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.text.stopwords import STOPWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from mdmem.search.index.view import View
    from mdmem.search.units import Unit

FIELDS = {"body": 1.0, "title": 0.3, "meta": 5.0, "date": 1.0}
"""Weight of a match by field. A title mostly repeats the body; people, tools and tags are named on purpose."""
TITLES = {"prompt": 1.0, "response": 1.0}
"""Weight of a match in the title for notes of these kinds, whose titles say what they are about."""
K = 1.0
B = 0.85
_UNWRITTEN = 2.0
"""Rarity, for its share, of a word that is only in titles, dates and front matter."""
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
        listed, within = self.notes, self.within
        if len(listed) < _MANY_MORE * len(notes):
            common = notes.intersection(listed)
        else:
            common = {note for note in notes if listed[bisect_left(listed, note, hi=len(listed) - 1)] == note}
        return common if within is None else (note for note in common if note in within)

    def only(self, notes: Sequence[int]) -> Posting:
        """Return the part of the list for a few notes in ascending order."""
        listed, place, places = self.notes, 0, []
        for note in notes[bisect_left(notes, listed[0]) : bisect_right(notes, listed[-1])]:
            place = bisect_left(listed, note, place)
            if listed[place] == note:
                places.append(place)
        weights = self.weights and bytes([self.weights[place] for place in places])
        return self._replace(notes=[listed[place] for place in places], weights=weights)


class Match(NamedTuple):
    """The matches of one unit: the scores it gives to notes and folders, and its posting lists.

    For a word that half of a large vault has, the lists take a tenth of the memory of the notes' scores.

    rarity: 0 if no body has it.
    """

    notes: dict[int, float]
    folders: dict[int, float]
    lists: Sequence[Posting]
    rarity: float

    @property
    def share(self) -> float:
        """Return how much the word counts among those of a question that a note should have: a rare one more."""
        return sqrt(self.rarity or _UNWRITTEN)

    def some(self, notes: set[int]) -> set[int]:
        """Return which of a few notes match."""
        return {note for posting in self.lists for note in posting.some(notes)}

    def times(self, notes: set[int]) -> dict[int, int]:
        """Return the term frequency in the body of each of a few notes that matches there."""
        frequencies: dict[int, int] = {}
        for posting in self.lists:
            for note in posting.some(notes) if posting.field == "body" else ():
                frequency = posting.weights[bisect_left(posting.notes, note)] if posting.weights else 1
                frequencies[note] = max(frequencies.get(note, 0), frequency)
        return frequencies


def add(total: dict[int, float], more: Mapping[int, float]) -> None:
    """Add scores to those of the same notes or folders, in place."""
    if not total:
        total.update(more)
        return
    current = total.get
    for key, score in more.items():
        total[key] = current(key, 0.0) + score


def of_units(view: View, units: Collection[Unit]) -> Iterator[Match]:
    """Yield the match of each unit. Terms `in_code` add no notes: they only score those found by other terms."""
    matches = (joined(known_match(view, term, weight) for term, weight in unit.terms) for unit in units)
    if not any(unit.in_code for unit in units):
        yield from matches
        return
    every = list(matches)
    notes = set().union(*(match.notes for match in every))
    for unit, match in zip(units, every, strict=True):
        yield joined(chain([match], (_in_code(view, term, weight, notes) for term, weight in unit.in_code)))


def joined(matches: Iterable[Match]) -> Match:
    """Return one match for alternative terms, with each note's best score; holds one at a time, of maybe hundreds."""
    remaining = iter(matches)
    merged = next(remaining)
    lists = list(merged.lists)
    notes: dict[int, float] | None = None
    for other in remaining:
        if notes is None:
            notes, folders = dict(merged.notes), dict(merged.folders)
        _take_larger(notes, other.notes)
        _take_larger(folders, other.folders)
        lists += other.lists
        merged = Match(notes, folders, lists, max(merged.rarity, other.rarity))
    return merged


def _take_larger(into: dict[int, float], more: Mapping[int, float]) -> None:
    for key, value in more.items():
        if value > into.get(key, 0):
            into[key] = value


def known_match(view: View, term: str, weight: float) -> Match:
    """Return the match of a term, cached for a process that answers many questions."""
    match: Match | None = view.matches.get((term, weight))
    if match is None:
        match = match_term(view, term, weight)
        if len(match.notes) <= MAX_KEPT_NOTES:
            if len(view.matches) >= MAX_KEPT:
                view.matches.clear()
            view.matches[term, weight] = match
    return match


_OBSERVATION = KINDS.index("observation")


def _in_code(view: View, term: str, weight: float, among: Collection[int]) -> Match:
    """Return the match of a term in tool runs `among` the notes; a function word counts only in titles."""
    match = match_term(view, term, weight, ["title"]) if term in STOPWORDS else known_match(view, term, weight)
    flags = view.numbers("flags")
    notes = {
        note: score for note, score in match.notes.items() if note in among and flags[note] // KIND_STEP == _OBSERVATION
    }
    return Match(notes, {}, [posting._replace(within=notes) for posting in match.lists], match.rarity)


_TIMES = range(256)
"""The possible term frequencies in a posting list."""


def match_term(view: View, term: str, weight: float, fields: Iterable[str] = FIELDS, *, unscored: str = "") -> Match:
    """Return the match of a term. unscored: a field that is left out of the notes' scores."""
    lists = [Posting(*postings, field) for field in fields for postings in view.postings(field, term)]
    folders: dict[int, float] = {}
    for field in ("body", "date"):
        if having := [posting.notes for posting in lists if posting.field == field]:
            add(folders, _match_folders(view, having, weight))
    in_bodies = _having(lists, "body")
    rarity = weight * idf(view.live, in_bodies) if in_bodies else 0.0
    notes = score_notes(view, [posting for posting in lists if posting.field != unscored], weight)
    return Match(notes, folders, lists, rarity)


def _having(lists: Iterable[Posting], field: str) -> int:
    return sum(len(posting.notes) for posting in lists if posting.field == field)


def score_notes(
    view: View, lists: Sequence[Posting], weight: float, only: Sequence[int] | None = None
) -> dict[int, float]:
    """Return the score that a term gives to the notes that have it. only: score only these, in ascending order."""
    scores: dict[int, float] = {}
    for field, group in groupby(lists, key=attrgetter("field")):
        postings = list(group)
        gain = FIELDS[field] * (weight * idf(view.live, _having(postings, field))) * (K + 1)
        used = postings if only is None else [posting.only(only) for posting in postings]
        notes = (posting.notes for posting in used)
        # lengths of bodies are used repeatedly
        lengths = view.lengths(field) if field == "body" else view.numbers_of(f"length_{field}", *notes)
        flat, slope = K * (1 - B), K * B / view.average_length(field)
        gains, flats = [gain * times for times in _TIMES], [times + flat for times in _TIMES]
        field_scores = {
            note: gains[times] / (flats[times] + slope * lengths[note])
            for posting in used
            for note, times in zip(posting.notes, posting.weights or repeat(1), strict=False)
        }
        if field == "title" and weight == 1:  # a synonym in the title does not name the subject
            _weigh_titles(view, field_scores)
        if scores:
            add(scores, field_scores)
        else:
            scores = field_scores
    return scores


def _weigh_titles(view: View, scores: dict[int, float]) -> None:
    """Raise the scores of notes whose kind is in `TITLES`."""
    flags = view.numbers("flags")
    factors = [TITLES.get(kind, FIELDS["title"]) / FIELDS["title"] for kind in KINDS for _ in range(KIND_STEP)]
    for note in scores:
        scores[note] *= factors[flags[note]]


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
