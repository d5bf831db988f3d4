"""How much of a question notes have, by the weights of its words."""

from __future__ import annotations

from heapq import nlargest
from itertools import chain
from math import log
from operator import mul

from mdmem.search.all_but import in_all
from mdmem.search.text import analysis, numbers, stem
from mdmem.search.text.abbreviations import WEIGHT
from mdmem.search.units import JOINED, Unit
from mdmem.values import Value
from mdmem.vault import people
from mdmem.vault.note import PAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from mdmem.search.index.view import View
    from mdmem.search.text.numbers import Number

_MOST_READ, _MOST_NUMBERED = 20, 50
"""Number of notes that are read: the newest for an identifier which may be written in another form, and for all
numbers of a question those that may have one."""
_LEAST_JOINED = 6
"""Letters of an identifier that is hardly another word by chance."""
_MOST_ENDING = 5
"""Letters that a word may have after its stem: `configur`, `configuration`."""


class _WeighedWord(Value):
    """A word of a question, by its terms: an identifier's whole and its parts, or one term of another word.

    notes: for each term, the notes that have it, and how surely, 0 to 1. parts: the weight of each part of an
    identifier.
    is_part: whether it is only a part of a word. is_unknown: whether it is an identifier of which no note has a part.
    """

    weight: float
    notes: list[dict[int, float]]
    parts: list[float]
    is_part: bool
    is_unknown: bool

    def share(self, notes: Iterable[int]) -> float:
        """Return the share of the word that some notes have together; an identifier's parts make up half of it."""
        complete, *part_shares = (max(term.get(note, 0.0) for note in notes) for term in self.notes)
        return complete or sum(map(mul, part_shares, self.parts)) / (2 * sum(self.parts) or 1.0)


class Coverage:
    """Measures how much of a question notes have. A word's weight falls from 1, if one session or note has it, to 0.

    An identifier is one word. A turn's prompt and answer count as one note.

    without: notes that make no word commoner: the asking session's, and turns that only repeat words of earlier ones.
    name: the terms of the project's name, which a note of it has only if its text does, and need not have.
    foreign: the question is in a language with unknown endings, where a possible form of a word counts less. So do
    parts of an unknown word and similar words; two parts count as one word.
    """

    def __init__(
        self,
        view: View,
        root: str,
        text: str,
        known: Collection[Unit],
        asked: Iterable[Unit],
        without: Set[int],
        name: Set[str],
        *,
        foreign: bool,
    ) -> None:
        self._view, self._root, self._name, self._without, self._foreign = view, root, name, without, foreign
        self._all_notes = view.live + 1
        alone = sum(size for folder, size in enumerate(view.folder_sizes) if not view.is_session[folder])
        self._all_places = view.is_session.count(1) + alone + 1
        self._numbers_in: dict[int, set[Number]] = {}
        asked_numbers = numbers.of_question(text, foreign=foreign)
        self._numbers = dict(asked_numbers).keys()
        several = [one[0] for one in asked_numbers if numbers.may_be_several(*one)]
        lists = {number for number in several if not any(self._of_number(number).notes)}
        single = [one for one in asked_numbers if one[0] not in lists]
        spelled = frozenset(chain(map(numbers.joined, lists), *(numbers.spelling(*one) for one in single)))
        by_word = [units for units in _by_word(text, asked) if units[0].term not in spelled]
        weighed = [(units[0].term, self._weighed(units, known)) for units in by_word]
        self._words = [
            word for term, word in weighed if any(word.notes) or not (term in _CHANGES or analysis.is_across(term))
        ]
        self._naming = [word for term, word in weighed if term in name]
        for number in dict(single):  # a version identifies more than a decimal number
            self._words += [self._of_number(number)] * (1 if numbers.joined(number) else len(number) - 1)
        self._whole = sum(word.weight for word in self._words) or 1.0
        self.names_others = any(word.is_unknown for word in self._words)

    def _weighed(self, units: Sequence[Unit], known: Collection[Unit]) -> _WeighedWord:
        """Return the weight of one word; an identifier has units for the whole and its parts."""
        shares = [self._having(unit) if unit in known else {} for unit in units]
        if len(units) > 1 and not shares[0]:
            shares[0] = self._spelled_otherwise(units[0].terms[0][0], shares[1:])
        weights = [self._rarity(notes) for notes in shares]
        of_long_parts = [notes for unit, notes in zip(units, shares, strict=True) if len(unit.term) >= _LONG_PART]
        is_unknown = len(units) > 1 and not (shares[0] or any(of_long_parts))
        return _WeighedWord(weights[0], shares, weights[1:], units[0].weight < JOINED, is_unknown)

    def _spelled_otherwise(self, whole: str, parts: Sequence[Mapping[int, float]]) -> dict[int, float]:
        """Return the notes that have an identifier in another form: `vatRates` for `vat_rates`, `vat-rates`.

        Two words of a sentence are none, nor are two of a file name that is made of a sentence.
        """
        plain = whole.replace("_", "").removesuffix("i")  # the stem of `policy` ends so
        if len(plain) < _LEAST_JOINED:
            return {}
        import re  # most questions name no such identifier

        letters = "[-_.]?".join(map(re.escape, plain))
        form = re.compile(rf"(?<!\w)(?<!\w-){letters}[^\W\d_]{{0,{_MOST_ENDING}}}(?!-?\w)")
        newest = nlargest(_MOST_READ, in_all(map(set, parts)), key=self._view.numbers("created").__getitem__)
        texts = ((one, people.try_load_clean(self._root, self._view.path(one))) for one in newest)
        return {one: 1.0 for one, text in texts if form.search(f"{text.meta.get('title')}\n{text.body}".lower())}

    def _of_number(self, number: Number) -> _WeighedWord:
        """Return the weight of a number, of which the index has each group of digits alone."""
        whole = numbers.joined(number)
        as_one = self._having(Unit.of(whole)) if whole else {}
        groups = reversed(numbers.terms(number))  # the last is often the rarest
        with_all = in_all({one for term in group for one in self._having(Unit.of(term))} for group in groups)
        notes = dict.fromkeys(with_all.difference(as_one), 1.0)
        unread = notes.keys() - self._numbers_in.keys()
        if len(self._numbers_in) + len(unread) <= _MOST_NUMBERED:
            self._numbers_in |= {one: self._read_numbers(one) for one in unread}
            notes = {one: 1.0 for one in notes if number in self._numbers_in[one]}
        notes |= as_one
        return _WeighedWord(self._rarity(notes), [notes], parts=[], is_part=False, is_unknown=False)

    def _read_numbers(self, one: int) -> set[Number]:
        text = people.try_load_clean(self._root, self._view.path(one))
        return numbers.in_note(f"{text.meta.get('title')}\n{text.body}", self._numbers)

    def _having(self, unit: Unit) -> dict[int, float]:
        notes: dict[int, float] = {}
        is_weak = self._foreign or unit.weight < JOINED
        pages = self._view.of_kinds(PAGES if unit.term.isdigit() else PAGES[:1] if unit.term in _ON_PAGES else ())
        for term, share in sorted(unit.terms, key=lambda pair: pair[1]):
            surety = share if is_weak else 1.0 if share >= WEIGHT else SYNONYM
            for field in ("body", "title") if term in self._name else ("body", "title", "meta"):
                notes.update(dict.fromkeys(self._view.notes(field, term).difference(pages), surety))
        return notes

    def _rarity(self, having: Mapping[int, float]) -> float:
        others = {note: share for note, share in having.items() if note not in self._without}
        if not others:
            return 1.0
        # Synonyms do not make it commoner.
        notes = [note for note, share in others.items() if share > SYNONYM] or others
        folder_of, is_session = self._view.folder_of, self._view.is_session
        places = {folder if is_session[folder := folder_of[note]] else -1 - note for note in notes}
        return max(_weight(len(places), self._all_places), _weight(len(notes), self._all_notes))

    def of(self, notes: Sequence[int]) -> tuple[float, float, int, int]:
        """Return the coverage, weight and number of words of the best of a turn's notes, or of all that was said.

        The last is the number of words that were said, or are identifiers: these mean the same in an output.
        """
        kinds = {note: self._view.kind(note) for note in notes}
        said = [note for note in notes if kinds[note] in _SPOKEN]
        said = said or [note for note in notes if kinds[note] != "observation"]
        said_weight, said_words = self._together(said) if said else (0.0, 0)
        weight, words = max([(said_weight, said_words), *(self._together([note]) for note in notes)])
        identifiers = sum(bool(word.parts) and any(note in word.notes[0] for note in notes) for word in self._words)
        unsaid = sum(word.weight for word in self._naming if not word.share(notes))
        return weight / (self._whole - unsaid or 1.0), weight, words, max(said_words, identifiers)

    def _together(self, notes: Sequence[int]) -> tuple[float, int]:
        """Return the weight and the number of the words that some notes have together."""
        shares = [(word, share) for word in self._words if (share := word.share(notes))]
        parts = [share for word, share in shares if word.is_part or share < SYNONYM]
        return sum(word.weight * share for word, share in shares), len(shares) - len(parts) + round(sum(parts))


def _by_word(text: str, units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Yield the units of each word of a question: for an identifier the whole, then its parts."""
    units = list(units)
    unit_of_term = {unit.term: unit for unit in units}
    words = {
        terms[0]: terms for word, terms in analysis.query_words(text) if word[0].isascii() and terms[0] in unit_of_term
    }
    parts = {part for terms in words.values() for part in terms[1:]} - words.keys()
    for unit in units:
        if unit.term not in parts:
            yield [unit, *(unit_of_term[part] for part in words.get(unit.term, ())[1:] if part in unit_of_term)]


_CHANGES = frozenset(
    map(
        stem.stem,
        """smaller bigger larger higher lower longer shorter faster slower fewer newer older
        geandert anderten verandert angepasst erhoht erhohten gesenkt senkten cambiado cambiamos subimos bajamos
        change changee modifie augmente baisse cambiato cambiata modificato mudamos mudado alteramos alterado
        veranderd gewijzigd aangepast verhoogd verlaagd""".split(),
    )
)
"""Where no note has one of these, it only says that something was changed, or which way: `why smaller batches`."""
_ON_PAGES = frozenset("utc begin end take min prompt answer tool note".split())
"""Terms of what mdmem writes on each session's page: `Began 2026-09-14 08:00 UTC`. run, work, file tell little."""
SYNONYM = 0.75
"""How surely a note has a word if it has only a synonym."""
_SPOKEN = ("prompt", "response", "summary")
"""Kinds of notes that hold what was said in a turn."""
_LONG_PART = 3
"""Number of letters of an identifier's part that identifies something."""
_LEAST = 0.05
"""Weight of a word that everything has."""


def _weight(having: int, of: int) -> float:
    """Return the weight of a word that so many have of all."""
    return max(log(of / max(having, 1)) / log(of), _LEAST)
