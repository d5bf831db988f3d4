"""Ranking: orders notes for a question with BM25F over four fields, and the context of a note.

A note is rarely found by its own words alone. "In June!" answers a question whose words are in the note before it, and
a session is about something that no single note of it says. So a note's neighbors in a numbered sequence count as a
fifth field, and its folder adds its score as a whole. Both come from the posting lists that are read anyway, and cost
nothing in the index.
"""

from __future__ import annotations

from array import array
from collections import Counter
from functools import partial
from heapq import nlargest
from itertools import chain, compress, islice, starmap

from mdmem.named_tuple import NamedTuple
from mdmem.search.matches import FIELDS, B, K, Match, add, idf, joined, known_match, match_term, of_units, score_notes
from mdmem.search.text import analysis, numbers
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.search.units import Unit
from mdmem.vault import people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence

    from mdmem.search.index.view import View

CONTEXT = 0.4
PARENT = 0.8
"""Weight of a note's folder."""
SESSION_PARENT = 0.4
"""Weight of the folder if it is an agent's session, whose notes repeat each other."""
COORDINATION = 0.5
"""Share of a note's score that depends on how many of the words it matches, and how rare they are."""
_ALONE = 1 - COORDINATION
NEIGHBORS = {-2: 1.0, -1: 1.0, 1: 0.75, 2: 0.5}
"""Factors on how often the notes before and after have a word: an answer has the words of its question before it."""
REACH = max(NEIGHBORS)
POOL = 120
"""Number of best notes whose context is considered."""
MIN_UNITS = 8
MAX_POSTINGS = 2000
"""Words are used from the rarest on until their posting lists reach this length; `MIN_UNITS` are always used."""
COMMON, COMMON_NOTES = 8, 4_000
"""A word is common if more than one in COMMON notes has it, and more than COMMON_NOTES."""
TRIED = 3
"""Factor on the number of wanted notes: this many are scored by their bodies first."""
MAX_ABOVE = 100
"""Maximum number of high-scoring folders whose notes with only a common word are considered."""
_ROUNDED = 1 - 1e-6
"""Tolerance for rounding, applied to thresholds."""
RERANKED = 150
"""Number of best notes that are reranked."""
AGAIN = (1.0, 0.7, 0.35)
"""Factors on the scores of the first, the second and each further note of an agent's session."""

NUMBER = 2.0
"""What the numbers of a query add to the score of a note that has them all, as a share of it."""

MAX_TYPICAL = 20
"""Number of a note's words that similar notes are searched by."""


def affordable(view: View, units: Iterable[Unit], max_postings: int = MAX_POSTINGS) -> list[Unit]:
    """Return the rarest words that together stay within `max_postings`; at least `MIN_UNITS`, if notes have so many."""
    costs = [(_cost(view, unit), place, unit) for place, unit in enumerate(units)]
    chosen: list[tuple[int, Unit]] = []
    spent = 0
    for cost, place, unit in sorted(item for item in costs if item[0]):
        if len(chosen) >= MIN_UNITS and spent + cost > max_postings:
            break
        spent += cost
        chosen.append((place, unit))
    return [unit for _, unit in sorted(chosen)]


def _cost(view: View, unit: Unit) -> int:
    return sum(
        view.count("body", term) or view.count("meta", term) or view.count("title", term) or view.count("date", term)
        for term, _ in (*unit.terms, *(pair for pair in unit.in_code if pair[0] not in STOPWORDS))
    )


class Scores(dict[int, float]):
    """Notes and their scores, possibly only the best. total: number of matching notes."""

    total = 0


def scores(
    view: View,
    units: Collection[Unit],
    *,
    among: Collection[int] | None = None,
    prior: Callable[[int], float] = lambda _: 1.0,
    surroundings: bool = True,
    most: int | None = None,
) -> Scores:
    """Return the score of every note with one of the words.

    among: only these notes. prior: factor on a note's score, whatever the question; applied to the best `POOL` notes
    only.
    surroundings: whether neighbors and folders count. most: if more notes match, return only this many of the best and
    those with equal scores, determined before neighbors and `prior`, which change `POOL` of them.
    """
    matches: list[Match] = []
    total = array("d", [0.0]) * view.size  # a dictionary would take ten times the memory
    covered = array("f", [0.0]) * view.size  # sum of the shares of matching words
    notes = array("I")
    folders: dict[int, float] = {}
    candidates = _without_hopeless(view, units, among, most if surroundings else None)
    for match in candidates.matches:
        _add_scores(match, candidates.notes, total, covered, notes)
        if surroundings:
            add(folders, match.folders)
        matches.append(match._replace(notes={}, folders={}))
        del match  # free it before the next is looked up
    every_word = sum(match.share for match in matches)
    slope = COORDINATION / every_word if every_word else 0.0
    folder_of, of_folder = view.numbers_of("folder_of", notes), _folder_shares(view, folders)

    def complete(score: Sequence[float] | dict[int, float], notes: Iterable[int]) -> list[float]:
        return [score[note] * (_ALONE + slope * covered[note]) + of_folder[folder_of[note]] for note in notes]

    all_scores = complete(total, notes)
    cutoff = nlargest(most, all_scores)[-1] if most is not None and most < len(all_scores) else 0.0
    scored = Scores({note: score for note, score in zip(notes, all_scores, strict=True) if score >= cutoff})
    scored.total = len(all_scores) if candidates.total is None else candidates.total
    pool = {note: total[note] for note in largest(POOL, scored)}
    if surroundings:
        _add_context(view, matches, pool, covered)
    scored.update((note, score * prior(note)) for note, score in zip(pool, complete(pool, pool), strict=True))
    return scored


def _folder_shares(view: View, scores: Mapping[int, float]) -> list[float]:
    """Return each folder's contribution to the scores of its notes."""
    is_session = view.is_session
    shares = [0.0] * len(is_session)
    for folder, score in scores.items():
        shares[folder] = score * (SESSION_PARENT if is_session[folder] else PARENT)
    return shares


class _Candidates(NamedTuple):
    """The matches of units. notes: only these are in the result (None: all). total: how many notes match, if known."""

    matches: Iterable[Match]
    notes: Collection[int] | None
    total: int | None = None


def _is_common(view: View, unit: Unit) -> bool:
    number = view.count("body", unit.term) if len(unit.terms) == 1 else 0
    return number > COMMON_NOTES and COMMON * number > view.live


def _without_hopeless(
    view: View, units: Collection[Unit], among: Collection[int] | None, most: int | None
) -> _Candidates:
    """Return the matches of units, without notes that cannot be among the `most` best (None: return all).

    A common word adds little, and the maximum score of a body with it is known in advance. If enough notes score
    higher by titles, folders and other words, no other bodies are scored.
    """
    common = [unit for unit in units if most is not None and _is_common(view, unit)]
    if most is None or len(common) != 1 or any(unit.in_code for unit in units):
        return _Candidates(of_units(view, units), among)
    [(term, weight)] = common[0].terms
    match = match_term(view, term, weight, unscored="body")
    others = [joined(starmap(partial(known_match, view), unit.terms)) for unit in units if unit is not common[0]]
    promising = _promising(view, weight, match, others, among, most)
    match = match._replace(notes=score_notes(view, match.lists, weight, promising))
    remaining = iter(others)
    ordered = [match if unit is common[0] else next(remaining) for unit in units]
    if promising is None:
        return _Candidates(ordered, among)
    return _Candidates(ordered, set(promising), _count(view, ordered, among))


def _promising(
    view: View, weight: float, common: Match, others: list[Match], among: Collection[int] | None, most: int
) -> list[int] | None:
    """Return the notes that can be among the best, in order; None if that excludes no note.

    common: the match of a common word, without scores of bodies.
    """
    sure_scores, folders = dict[int, float](), dict[int, float]()
    for match in (common, *others):
        add(sure_scores, match.notes)
        add(folders, match.folders)
    if among is not None:
        sure_scores = {note: score for note, score in sure_scores.items() if note in among}
    if len(sure_scores) < TRIED * most:
        return None
    shares, of_folder = [match.share for match in (common, *others)], _folder_shares(view, folders)
    least_factor, alone_factor = (
        _ALONE + COORDINATION * share / sum(shares) * rounded
        for share, rounded in ((min(shares), _ROUNDED), (common.share, 1 / _ROUNDED))
    )
    folder_of = view.numbers("folder_of")
    high_score = nlargest(TRIED * most, sure_scores.values())[-1]
    candidates = sorted([note for note, score in sure_scores.items() if score >= high_score])
    bodies = score_notes(view, [posting for posting in common.lists if posting.field == "body"], weight, candidates)
    lower_bounds = [
        (sure_scores[note] + bodies.get(note, 0.0)) * least_factor + of_folder[folder_of[note]] for note in candidates
    ]
    threshold = nlargest(most, lower_bounds)[-1] * _ROUNDED
    body = FIELDS["body"] * common.rarity * (K + 1)
    high_folders = [folder for folder, score in enumerate(of_folder) if score + body * alone_factor >= threshold]
    if len(high_folders) > MAX_ABOVE:
        return None
    with_others, reachable = set().union(*(match.notes for match in others)), threshold - body - max(of_folder)
    promising = {
        note
        for note, score in sure_scores.items()
        if score >= reachable
        and (score + body) * (1.0 if note in with_others else alone_factor) + of_folder[folder_of[note]] >= threshold
    }
    promising.update(chain.from_iterable(view.members[folder] for folder in high_folders))
    return sorted(promising if among is None else (note for note in promising if note in among))


def _count(view: View, matches: Iterable[Match], among: Collection[int] | None) -> int:
    """Return the number of matching notes."""
    is_found = bytearray(view.size)
    for posting in chain.from_iterable(match.lists for match in matches):
        for note in posting.notes:
            is_found[note] = 1
    if among is None:
        return is_found.count(1)
    return sum(1 for note in compress(range(view.size), is_found) if note in among)


def _add_scores(
    match: Match,
    permitted: Collection[int] | None,
    total: MutableSequence[float],
    covered: MutableSequence[float],
    notes: array[int],
) -> None:
    """Add a word's scores to the notes' totals. notes: collects those with one of the words, in order."""
    word_scores, share = match.notes, match.share
    if permitted is not None:
        word_scores = {note: score for note, score in word_scores.items() if note in permitted}
    if not notes:
        notes.extend(word_scores)
        for note, score in word_scores.items():
            total[note] = score
            covered[note] = share
        return
    for note, score in word_scores.items():
        before = total[note]
        if not before:
            notes.append(note)
        covered[note] += share
        total[note] = before + score


def largest(count: int, scores: Mapping[int, float]) -> list[int]:
    """Return the `count` notes with the highest scores, best first; equal ones keep their order."""
    cutoff = min(nlargest(count, scores.values()), default=0.0)  # a heap of notes would take twice as long
    above = sorted((note for note, score in scores.items() if score > cutoff), key=scores.__getitem__, reverse=True)
    return [*above, *islice((note for note, score in scores.items() if score == cutoff), count - len(above))]


def _add_context(view: View, matches: list[Match], pool: dict[int, float], covered: array[float]) -> None:
    """Add to the scores of the pool's notes what their neighbors contribute."""
    lengths = view.lengths("body")
    notes_by_neighbor: dict[int, list[tuple[int, float]]] = {}
    norm: dict[int, float] = {}
    flat, slope = K * (1 - B), K * B / (len(NEIGHBORS) * view.average_length("body"))
    for note in pool:
        neighbors = view.neighbors(note, REACH)
        norm[note] = flat + slope * sum(lengths[neighbor] for _, neighbor in neighbors)
        for offset, neighbor in neighbors:
            notes_by_neighbor.setdefault(neighbor, []).append((note, NEIGHBORS[offset]))
    pool_notes, neighbors_of_pool = set(pool), set(notes_by_neighbor)
    for match in matches:
        times: dict[int, float] = {}
        for neighbor, frequency in match.times(neighbors_of_pool).items():
            for note, factor in notes_by_neighbor[neighbor]:
                times[note] = times.get(note, 0.0) + factor * frequency
        gain, share = CONTEXT * match.rarity * (K + 1), match.share
        having = match.some(pool_notes)
        for note, weighted in times.items():
            pool[note] += gain * weighted / (weighted + norm[note])
            if note not in having:
                covered[note] += share


def rerank(view: View, scored: Scores) -> Scores:
    """Rerank the best notes in place: each further note of a session counts less (`AGAIN`). Return the scores.

    An agent's session has many notes on the same subject, which would otherwise fill the first ten places.
    """
    times_seen: Counter[int] = Counter()
    lowered: dict[int, float] = {}
    for note in largest(RERANKED, scored):
        folder = view.folder_of[note]
        if view.is_session[folder]:
            lowered[note] = scored[note] * AGAIN[min(times_seen[folder], len(AGAIN) - 1)]
            times_seen[folder] += 1
    scored.update(lowered)
    return scored


def with_numbers(view: View, root: str, text: str, scored: Scores) -> Scores:
    """Raise in place the best notes that have the decimal numbers and versions of a query. Return the scores.

    The index has the digits of `17.2` apart, so that a note with `5.2` scores for one of them.
    """
    asked = {number for number, _ in numbers.of_question(text) if _is_split(number)}
    wanted = {number: [_having(view, terms) for terms in numbers.terms(number)] for number in asked}
    for note in largest(RERANKED, scored) if asked else ():
        likely = [number for number, having in wanted.items() if all(note in notes for notes in having)]
        if likely:
            read = people.try_load_clean(root, view.path(note))
            count = len(numbers.in_note(f"{read.meta.get('title')}\n{read.body}", likely))
            scored[note] *= 1 + NUMBER * count / len(asked)
    return scored


def _having(view: View, terms: Iterable[str]) -> set[int]:
    return {note for term in terms for field in ("body", "title") for note in view.notes(field, term)}


def _is_split(number: numbers.Number) -> bool:
    return not number[0].endswith(":") and not numbers.joined(number)


def typical(view: View, text: str) -> list[Unit]:
    """Return the words that distinguish a text: frequent in it, and rare elsewhere."""
    worth = {
        term: times * rarity(view, term)
        for term, times in analysis.counts(text).items()
        if term not in STOPWORDS and 1 < view.count("body", term) <= view.live / 4 + 2
    }
    return list(map(Unit.of, nlargest(MAX_TYPICAL, worth, key=worth.__getitem__)))


def with_enough(view: View, units: list[Unit], scored: Scores) -> Scores:
    """Return the scores of the notes that share enough of a text's typical words: a rare one, or several.

    In a vault of a few notes hardly any word is rare.
    """
    worth = {term: rarity(view, term) for unit in units for term, _ in unit.terms}
    if min(worth.values(), default=_RARE) >= _RARE:
        return scored
    shared = dict.fromkeys(scored, 0.0)
    for term, value in worth.items():
        for note in shared.keys() & set(chain.from_iterable(view.each(field, term) for field in FIELDS)):
            shared[note] += value
    return Scores({note: score for note, score in scored.items() if shared[note] >= _RARE})


_RARE = idf(4, 0)
"""The rarity of a word that a quarter of many notes have."""


def rarity(view: View, term: str) -> float:
    """Return the weight of a term: the rarer, the higher."""
    return idf(view.live, view.count("body", term))
