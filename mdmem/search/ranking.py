"""The order of notes for a question: BM25F over four fields, and what stands around a note.

A note is rarely found by its own words alone. "In June!" answers a question whose words are in the note
before it, and a session is about something that no single note of it says. So a note's neighbours in a
numbered sequence count as a fifth field, and the folder it lies in adds what it scores as a whole. Both are
computed from the posting lists that are read anyway, and cost nothing in the index.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from heapq import nlargest
from itertools import chain, islice, repeat
from math import log
from typing import TYPE_CHECKING, NamedTuple

from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.search.units import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, MutableSequence, Sequence

    from mdmem.search.index.view import View

FIELDS = {"body": 1.0, "title": 0.3, "meta": 3.0, "date": 1.0}
"""What a match in each field counts. A title mostly repeats the body; people, tools and tags are named on purpose."""
TITLES = {"prompt": 1.0, "response": 1.0}
"""What a match in the title counts in notes of these kinds: there it says what the whole is about."""
K = 1.0
B = 0.85
CONTEXT = 0.4
PARENT = 0.8
"""What the folder of a note counts, whatever it is."""
SESSION_PARENT = 0.4
"""What the folder counts that is an agent's session: its notes repeat each other."""
COORDINATION = 0.5
"""The share of a note's score that depends on how many of the words it matches."""
REACH = 2
"""How many notes before and after count as context."""
POOL = 120
"""Of how many of the best notes the context is looked at."""
MIN_UNITS = 8
MAX_POSTINGS = 2000
"""Words are taken from the rarest on until their posting lists have this length; `MIN_UNITS` are always taken."""
MAX_KEPT, MAX_KEPT_NOTES = 100, 300
"""Where so many terms are found is kept, of those that no more notes have: some MB."""

RERANKED = 150
"""Number of the best notes that are reranked."""
AGAIN = (1.0, 0.7, 0.35)
"""What the score counts of the first, the second and each further note of an agent's session."""

MAX_TYPICAL = 20
"""Notes like another one are looked for by this many of its words."""


def affordable(view: View, asked: Iterable[Unit], max_postings: int = MAX_POSTINGS) -> list[Unit]:
    """Choose the words that say most for what they cost: the rarest. Words that no note has are left out."""
    costs = [(_cost(view, unit), place, unit) for place, unit in enumerate(asked)]
    taken: list[tuple[int, Unit]] = []
    spent = 0
    for cost, place, unit in sorted(item for item in costs if item[0]):
        if len(taken) >= MIN_UNITS and spent + cost > max_postings:
            break
        spent += cost
        taken.append((place, unit))
    return [unit for _, unit in sorted(taken)]


def _cost(view: View, unit: Unit) -> int:
    return sum(
        view.count("body", term) or view.count("meta", term) or view.count("title", term) or view.count("date", term)
        for term, _ in (*unit.terms, *(pair for pair in unit.in_code if pair[0] not in STOPWORDS))
    )


_MANY_MORE = 8
"""A list of so many times more notes than are looked for is not read through."""


class _Posting(NamedTuple):
    """A posting list, or a part of one: notes in ascending order, and how often each has the term (None: once).

    within: only these of the notes; None: all.
    """

    notes: Sequence[int]
    weights: bytes | None
    is_body: bool
    within: Container[int] | None = None

    def some(self, notes: set[int]) -> Iterable[int]:
        """Return those of a few notes that are in it."""
        own, within = self.notes, self.within
        if len(own) < _MANY_MORE * len(notes):
            found = notes.intersection(own)
        else:
            found = {note for note in notes if own[bisect_left(own, note, hi=len(own) - 1)] == note}
        return found if within is None else (note for note in found if note in within)


class _Match(NamedTuple):
    """Where one unit is found: what it gives each note and each folder, and the posting lists.

    Of a word that half of a large vault has, the lists take a tenth of the memory of what it gives each note.
    """

    notes: dict[int, float]
    folders: dict[int, float]
    lists: Sequence[_Posting]
    rarity: float

    def some(self, notes: set[int]) -> set[int]:
        """Return those of a few notes where it is found."""
        return {note for one in self.lists for note in one.some(notes)}

    def times(self, notes: set[int]) -> dict[int, int]:
        """Return how often it is in the bodies of a few notes, where it is."""
        found: dict[int, int] = {}
        for one in self.lists:
            for note in one.some(notes) if one.is_body else ():
                often = one.weights[bisect_left(one.notes, note)] if one.weights else 1
                found[note] = max(found.get(note, 0), often)
        return found


class Scores(dict[int, float]):
    """Notes and their scores. total: how many notes are found, of which it may have the best only."""

    total = 0


def scores(
    view: View,
    asked: Collection[Unit],
    *,
    among: Collection[int] | None = None,
    prior: Callable[[int], float] = lambda _: 1.0,
    surroundings: bool = True,
    most: int | None = None,
) -> Scores:
    """Return every note that has one of the words a score; other notes are not in the answer.

    among: only these notes are in the answer. prior: what a note's score is multiplied by, whatever was asked; of
    the best `POOL` notes only. surroundings: whether neighbours and folders count. most: of more notes, only so many of
    the best, and their equals, are in the answer: before neighbours count, and `prior`, which changes `POOL` of them.
    """
    matches: list[_Match] = []
    total = array("d", [0.0]) * view.size  # a dictionary of all that are found would take ten times as much
    covered = array("H", [0]) * view.size  # by how many words but the first
    notes = array("I")
    folders: dict[int, float] = {}
    for match in _matches(view, asked):
        _take(match.notes, among, total, covered, notes)
        if surroundings:
            _add(folders, match.folders)
        matches.append(match._replace(notes={}, folders={}))
        del match  # or it is held while the next is looked for
    share = COORDINATION / max(len(asked), 1)
    coordinated = [1 - COORDINATION + share * (1 + times) for times in range(len(asked))]
    folder_of, is_session = view.numbers_of("folder_of", notes), view.is_session
    of_folder = [0.0] * len(is_session)
    for folder, score in folders.items():
        of_folder[folder] = score * (SESSION_PARENT if is_session[folder] else PARENT)

    def whole(score: Sequence[float] | dict[int, float], notes: Iterable[int]) -> list[float]:
        return [score[note] * coordinated[covered[note]] + of_folder[folder_of[note]] for note in notes]

    every = whole(total, notes)
    least = nlargest(most, every)[-1] if most is not None and most < len(every) else 0.0
    scored = Scores({note: score for note, score in zip(notes, every, strict=True) if score >= least})
    scored.total = len(every)
    best = {note: total[note] for note in largest(POOL, scored)}
    if surroundings:
        _add_context(view, matches, best, covered)
    scored.update((note, score * prior(note)) for note, score in zip(best, whole(best, best), strict=True))
    return scored


def _take(
    found: Mapping[int, float],
    among: Collection[int] | None,
    total: MutableSequence[float],
    covered: MutableSequence[int],
    notes: array[int],
) -> None:
    """Add what a word gives to what notes score in all; notes: those that have one of the words, in order."""
    if among is not None:
        found = {note: score for note, score in found.items() if note in among}
    if not notes:
        notes.extend(found)
        for note, score in found.items():
            total[note] = score
        return
    for note, score in found.items():
        before = total[note]
        if before:
            covered[note] += 1
        else:
            notes.append(note)
        total[note] = before + score


def largest(count: int, scores: Mapping[int, float]) -> list[int]:
    """Return the notes with the highest scores, so many, the best first; equals stay in their order."""
    least = min(nlargest(count, scores.values()), default=0.0)  # a heap of notes takes twice as long
    above = sorted((note for note, score in scores.items() if score > least), key=scores.__getitem__, reverse=True)
    return [*above, *islice((note for note, score in scores.items() if score == least), count - len(above))]


def _add(total: dict[int, float], more: Mapping[int, float]) -> None:
    if not total:
        total.update(more)
        return
    known = total.get
    for key, score in more.items():
        total[key] = known(key, 0.0) + score


def _matches(view: View, asked: Collection[Unit]) -> Iterator[_Match]:
    """Yield where each unit is found. What code calls the same thing finds no note: it orders those that are found."""
    matches = (_joined(_known_match(view, term, weight) for term, weight in unit.terms) for unit in asked)
    if not any(unit.in_code for unit in asked):
        yield from matches
        return
    every = list(matches)
    found = set().union(*(match.notes for match in every))
    for unit, match in zip(asked, every, strict=True):
        yield _joined(chain([match], (_in_code(view, term, weight, found) for term, weight in unit.in_code)))


def _joined(matches: Iterable[_Match]) -> _Match:
    """Return one match for what stands for the same word; one after the other is held, as there may be hundreds."""
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
        first = _Match(notes, folders, lists, max(first.rarity, other.rarity))
    return first


def _take_larger(into: dict[int, float], more: Mapping[int, float]) -> None:
    for key, value in more.items():
        if value > into.get(key, 0):
            into[key] = value


def _known_match(view: View, term: str, weight: float) -> _Match:
    """Return where a term is found; a process that answers many questions is asked for the same words again."""
    found: _Match | None = view.matches.get((term, weight))
    if found is None:
        found = _match_term(view, term, weight)
        if len(found.notes) <= MAX_KEPT_NOTES:
            if len(view.matches) >= MAX_KEPT:
                view.matches.clear()
            view.matches[term, weight] = found
    return found


_OBSERVATION = KINDS.index("observation")


def _in_code(view: View, term: str, weight: float, among: Collection[int]) -> _Match:
    """Return where a term is found in what tools were given and printed; a function word tells something in names."""
    found = _match_term(view, term, weight, ["title"]) if term in STOPWORDS else _known_match(view, term, weight)
    flags = view.numbers("flags")
    notes = {
        note: score for note, score in found.notes.items() if note in among and flags[note] // KIND_STEP == _OBSERVATION
    }
    return _Match(notes, {}, [one._replace(within=notes) for one in found.lists], found.rarity)


_TIMES = range(256)
"""How often a posting list can say that a note has a term."""


def _match_term(view: View, term: str, weight: float, fields: Iterable[str] = FIELDS) -> _Match:
    notes: dict[int, float] = {}
    every: list[_Posting] = []
    folders: dict[int, float] = {}
    rarity = 0.0
    for field in fields:
        lists = view.postings(field, term)
        if not lists:
            continue
        rarity_here = weight * _idf(view.live, sum(len(rows) for rows, _ in lists))
        gain = FIELDS[field] * rarity_here * (K + 1)
        # of bodies they are asked for again
        lengths = view.lengths(field) if field == "body" else view.numbers_of(f"length_{field}", *_notes(lists))
        flat, slope = K * (1 - B), K * B / view.average_length(field)
        gains, flats = [gain * times for times in _TIMES], [times + flat for times in _TIMES]
        found = {
            note: gains[times] / (flats[times] + slope * lengths[note])
            for rows, weights in lists
            for note, times in zip(rows, weights or repeat(1), strict=False)
        }
        if field == "title" and weight == 1:  # a word that only stands for the one asked for names no subject
            _weigh_titles(view, found)
        if notes:
            _add(notes, found)
        else:
            notes = found
        every += [_Posting(rows, weights, field == "body") for rows, weights in lists]
        if field == "body":
            rarity = rarity_here
        if field in ("body", "date"):
            _add(folders, _match_folders(view, _notes(lists), weight))
    return _Match(notes, folders, every, rarity)


def _notes(lists: Iterable[tuple[Sequence[int], bytes | None]]) -> list[Sequence[int]]:
    return [notes for notes, _ in lists]


def _weigh_titles(view: View, found: dict[int, float]) -> None:
    """Weigh titles more in notes whose kind is in `TITLES`."""
    more = [TITLES.get(kind, FIELDS["title"]) / FIELDS["title"] for kind in KINDS]
    flags = view.numbers("flags")
    for note in found:
        found[note] *= more[flags[note] // KIND_STEP]


def _match_folders(view: View, lists: Collection[Collection[int]], weight: float) -> dict[int, float]:
    """Score folders as if each were one long note, in which a word occurs once for every note that has it."""
    counts: Counter[int] = Counter()
    folder_of = view.numbers_of("folder_of", *lists)
    for rows in lists:
        counts.update(map(folder_of.__getitem__, rows))
    counts.pop(view.root, None)
    gain = weight * _idf(len(view.folders), len(counts)) * (K + 1)
    flat, slope = K * (1 - B), K * B / view.average_members
    sizes = view.folder_sizes
    return {folder: gain * times / (times + flat + slope * sizes[folder]) for folder, times in counts.items()}


def _add_context(view: View, matches: list[_Match], pool: dict[int, float], covered: array[int]) -> None:
    """Add to the scores of the pool's notes what stands before and after them."""
    lengths = view.lengths("body")
    beside: dict[int, list[int]] = {}
    norm: dict[int, float] = {}
    flat, slope = K * (1 - B), K * B / (2 * REACH * view.average_length("body"))
    for note in pool:
        near = view.neighbours(note, REACH)
        norm[note] = flat + slope * sum(lengths[other] for other in near)
        for other in near:
            beside.setdefault(other, []).append(note)
    of_pool, near_pool = set(pool), set(beside)
    for match in matches:
        times: dict[int, int] = {}
        for other, often in match.times(near_pool).items():
            for note in beside[other]:
                times[note] = times.get(note, 0) + often
        gain = CONTEXT * match.rarity * (K + 1)
        having = match.some(of_pool)
        for note, often in times.items():
            pool[note] += gain * often / (often + norm[note])
            covered[note] += note not in having


def rerank(view: View, found: Scores) -> Scores:
    """Change the scores and return them: among the best, each further note of a session counts less (`AGAIN`).

    An agent's session holds many notes on one thing, which would fill the first ten places.
    """
    seen: Counter[int] = Counter()
    spread: dict[int, float] = {}
    for note in largest(RERANKED, found):
        folder = view.folder_of[note]
        if view.is_session[folder]:
            spread[note] = found[note] * AGAIN[min(seen[folder], len(AGAIN) - 1)]
            seen[folder] += 1
    found.update(spread)
    return found


def typical(view: View, text: str) -> list[Unit]:
    """Choose the words that tell a text from others: often in it, and rarely elsewhere."""
    worth = {
        term: times * rarity(view, term)
        for term, times in analysis.counts(text).items()
        if term not in STOPWORDS and 1 < view.count("body", term) <= view.live / 4 + 2
    }
    return [Unit(((term, 1.0),)) for term in nlargest(MAX_TYPICAL, worth, key=worth.__getitem__)]


def rarity(view: View, term: str) -> float:
    """Return how much a term tells: the rarer, the more."""
    return _idf(view.live, view.count("body", term))


def _idf(notes: int, having: int) -> float:
    return log(max(notes, 1) / (having + 1)) + 1
