"""The order of notes for a question: BM25F over four fields, and what stands around a note.

A note is rarely found by its own words alone. "In June!" answers a question whose words are in the note
before it, and a session is about something that no single note of it says. So a note's neighbours in a
numbered sequence count as a fifth field, and the folder it lies in adds what it scores as a whole. Both are
computed from the posting lists that are read anyway, and cost nothing in the index.
"""

from __future__ import annotations

from array import array
from collections import Counter
from heapq import nlargest
from itertools import chain, islice, repeat
from math import log
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.search.units import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

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
MAX_KEPT, MAX_KEPT_NOTES = 400, 300
"""Where so many terms are found is kept, of those that no more notes have: some MB."""
MAX_PLAIN = 4_096
"""Where a word of more notes is found is packed until it is needed: of a hundred thousand it is 1 MB and not 11."""

RERANKED = 150
"""Number of the best notes that are reranked."""
AGAIN = (1.0, 0.7, 0.35)
"""What the score counts of the first, the second and each further note of an agent's session."""

MAX_TYPICAL = 20
"""Notes like another one are looked for by this many of its words."""

_Number = TypeVar("_Number", int, float)


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


class _Packed(Generic[_Number]):
    """A number of each of many notes, in an eighth of a dictionary's memory. It can only be gone through."""

    def __init__(self, found: Mapping[int, _Number], code: Literal["d", "I"]) -> None:
        self._notes = array("I", found)
        self._values: Sequence[_Number] = array(code, found.values())

    def __len__(self) -> int:
        return len(self._notes)

    def keys(self) -> Iterable[int]:
        """Return the notes, in the dictionary's order."""
        return self._notes

    def items(self) -> Iterator[tuple[int, _Number]]:
        """Yield the notes with their numbers."""
        return zip(self._notes, self._values, strict=True)


_Numbers = dict[int, _Number] | _Packed[_Number]


class _Match(NamedTuple):
    """Where one unit is found: what it gives each note and each folder, and how often it is in each note's body."""

    notes: _Numbers[float]
    folders: dict[int, float]
    body: _Numbers[int]
    rarity: float

    def packed(self) -> _Match:
        """Return the same, packed where it is much: a question may have many words that many notes have."""
        if isinstance(self.notes, _Packed) or len(self.notes) <= MAX_PLAIN:
            return self
        return self._replace(notes=_Packed(self.notes, "d"), body=_Packed(dict(self.body.items()), "I"))


def _some(found: _Numbers[_Number], wanted: Collection[int]) -> dict[int, _Number]:
    """Return a number of each note, of those that are wanted at least."""
    if isinstance(found, dict):
        return found
    return {note: value for note, value in found.items() if note in wanted}


def scores(
    view: View,
    asked: Collection[Unit],
    *,
    among: Collection[int] | None = None,
    prior: Callable[[int], float] = lambda _: 1.0,
    surroundings: bool = True,
) -> dict[int, float]:
    """Return every note that has one of the words a score; other notes are not in the answer.

    among: only these notes are in the answer. prior: what a note's score is multiplied by, whatever was asked; of
    the best `POOL` notes only. surroundings: whether neighbours and folders count.
    """
    matches = _matches(view, asked)
    total: dict[int, float] = {}
    covered: Counter[int] = Counter()
    folders: dict[int, float] = {}
    for match in matches:
        _add(total, match.notes)
        covered.update(match.notes.keys())
        if surroundings:
            _add(folders, match.folders)
    if among is not None:
        total = {note: score for note, score in total.items() if note in among}
    share = COORDINATION / max(len(asked), 1)
    folder_of, is_session = view.folder_of_many(len(total)), view.is_session
    folders = {folder: score * (SESSION_PARENT if is_session[folder] else PARENT) for folder, score in folders.items()}

    coordinated = [1 - COORDINATION + share * times for times in range(len(asked) + 1)]

    def whole(notes: Iterable[int]) -> dict[int, float]:
        of_folder = folders.get
        return {note: total[note] * coordinated[covered[note]] + of_folder(folder_of[note], 0.0) for note in notes}

    result = whole(total)
    pool = sorted(result, key=result.__getitem__, reverse=True)[:POOL]
    if surroundings:
        _add_context(view, matches, pool, total, covered)
    result.update((note, score * prior(note)) for note, score in whole(pool).items())
    return result


def _add(total: dict[int, float], more: _Numbers[float]) -> None:
    if not total:
        total.update(more.items())
        return
    known = total.get
    pairs = iter(more.items())
    while some := {key: known(key, 0.0) + score for key, score in islice(pairs, MAX_PLAIN)}:
        total.update(some)


def _matches(view: View, asked: Collection[Unit]) -> list[_Match]:
    """Return where each unit is found. What code calls the same thing finds no note: it orders those that are found."""
    matches = [_joined(_known_match(view, term, weight) for term, weight in unit.terms).packed() for unit in asked]
    if any(unit.in_code for unit in asked):
        found = set[int]().union(*(match.notes.keys() for match in matches))
        for place, unit in enumerate(asked):
            others = (_in_code(view, term, weight, found) for term, weight in unit.in_code)
            matches[place] = _joined(chain([matches[place]], others)).packed()
    return matches


def _joined(matches: Iterable[_Match]) -> _Match:
    """Return one match for what stands for the same word; one after the other is held, as there may be hundreds."""
    several = iter(matches)
    first = next(several)
    notes: dict[int, float] | None = None
    for other in several:
        if notes is None:
            notes, folders, body = dict(first.notes.items()), dict(first.folders), dict(first.body.items())
        _take_larger(notes, other.notes)
        _take_larger(folders, other.folders)
        _take_larger(body, other.body)
        first = _Match(notes, folders, body, max(first.rarity, other.rarity))
    return first


def _take_larger(into: dict[int, _Number], more: _Numbers[_Number]) -> None:
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
    return _Match(notes, {}, {note: times for note, times in found.body.items() if note in notes}, found.rarity)


def _match_term(view: View, term: str, weight: float, fields: Iterable[str] = FIELDS) -> _Match:
    notes: dict[int, float] = {}
    body: dict[int, int] = {}
    folders: dict[int, float] = {}
    rarity = 0.0
    for field in fields:
        lists = view.postings(field, term)
        if not lists:
            continue
        rarity_here = weight * _idf(view.live, sum(len(rows) for rows, _ in lists))
        gain = FIELDS[field] * rarity_here * (K + 1)
        lengths = view.lengths(field)
        flat, slope = K * (1 - B), K * B / view.average_length(field)
        found = {
            note: gain * times / (times + flat + slope * lengths[note])
            for rows, weights in lists
            for note, times in zip(rows, weights or repeat(1), strict=False)
        }
        if field == "title" and weight == 1:  # a word that only stands for the one asked for names no subject
            _weigh_titles(view, found)
        if notes:
            _add(notes, found)
        else:
            notes = found
        if field == "body":
            rarity = rarity_here
            for rows, weights in lists:
                body.update(zip(rows, weights or repeat(1), strict=False))
        if field in ("body", "date"):
            _add(folders, _match_folders(view, [rows for rows, _ in lists], weight))
    return _Match(notes, folders, body, rarity)


def _weigh_titles(view: View, found: dict[int, float]) -> None:
    """Weigh titles more in notes whose kind is in `TITLES`."""
    more = [TITLES.get(kind, FIELDS["title"]) / FIELDS["title"] for kind in KINDS]
    flags = view.numbers("flags")
    for note in found:
        found[note] *= more[flags[note] // KIND_STEP]


def _match_folders(view: View, lists: Iterable[Collection[int]], weight: float) -> dict[int, float]:
    """Score folders as if each were one long note, in which a word occurs once for every note that has it."""
    counts: Counter[int] = Counter()
    for rows in lists:
        counts.update(map(view.folder_of_many(len(rows)).__getitem__, rows))
    counts.pop(view.root, None)
    gain = weight * _idf(len(view.folders), len(counts)) * (K + 1)
    flat, slope = K * (1 - B), K * B / view.average_members
    sizes = view.folder_sizes
    return {folder: gain * times / (times + flat + slope * sizes[folder]) for folder, times in counts.items()}


def _add_context(
    view: View, matches: list[_Match], pool: list[int], total: dict[int, float], covered: dict[int, int]
) -> None:
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
    for match in matches:
        body, known = _some(match.body, beside), _some(match.notes, norm)
        times: dict[int, int] = {}
        for other in body.keys() & beside.keys():
            for note in beside[other]:
                times[note] = times.get(note, 0) + body[other]
        gain = CONTEXT * match.rarity * (K + 1)
        for note, count in times.items():
            total[note] += gain * count / (count + norm[note])
            covered[note] += note not in known


def rerank(view: View, found: dict[int, float]) -> dict[int, float]:
    """Return the scores, changed in place: among the best notes, each further note of a session counts less (`AGAIN`).

    An agent's session holds many notes on one thing, which would fill the first ten places.
    """
    seen: Counter[int] = Counter()
    spread: dict[int, float] = {}
    for note in sorted(found, key=found.__getitem__, reverse=True)[:RERANKED]:
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
