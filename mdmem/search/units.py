"""Units: the words of a question with the terms that stand for them; a note scores by the best of these terms."""

from __future__ import annotations

from itertools import islice, pairwise

from mdmem.named_tuple import NamedTuple
from mdmem.search.text import abbreviations, analysis, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from typing import Protocol

    from mdmem.search.index.view import View

    class KnownWords(Protocol):
        """The words of some notes; a `View` is those of all."""

        def count(self, field: str, term: str) -> int:
            """Return the number of notes with a term."""
            ...

        def starting_with(self, field: str, prefix: str, limit: int = ...) -> Mapping[str, int]:
            """Return terms that begin with `prefix`, each with its number of notes."""
            ...


FORM = 0.6
"""Weight of a word that only begins like the one asked for, in a language with unknown endings."""
FORM_START, FORM_SHARE, FORM_ENDING = 4, 0.6, 4
"""Minimum number of letters and share of a word that its forms share, and maximum difference in length."""
MAX_FORMS = 200
MAX_WIDENED = 16
"""A question with more words than this is not widened by other forms: they would cost more than they find."""
PART, JOINED, NEAR = 0.7, 0.8, 0.6
"""Weights of a part of an unknown compound, of two words written as one, and of a word one typo away."""
MIN_PART_CHARS, MIN_NEAR_CHARS, MAX_NEAR_CHARS = 3, 5, 20
MAX_COMPOUND_CHARS = 30
MIN_SURE_CHARS = 6
"""Number of letters with which a mistyped word, or the beginning of one, is known."""
MAX_BEGINNING = 8
VERB = 0.5
"""Weight of a verb if some note has it and its particle as a noun."""
PARTICLES = frozenset(["up", "out", "off", "down", "over", "back", "in"])
"""What makes a noun of a verb: `rollout`, `setup`; `in` only of few verbs, as it stands after any."""
_IN_VERBS = frozenset(["log", "sign", "opt", "plug", "check"])


MAX_ALIKE = 6
"""A question of up to this many words is also searched by programmers' synonyms."""


class Unit(NamedTuple):
    """One word of a question: the terms that stand for it, with their weights. A note scores by the best of them.

    in_code: further terms that stand for it only in tool runs and quoted code; in people's own sentences they do not.
    """

    terms: tuple[tuple[str, float], ...]
    in_code: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, term: str, weight: float = 1.0) -> Unit:
        """Return a unit with no other term."""
        return cls(((term, weight),))

    @property
    def term(self) -> str:
        """Return the word's own term, which comes first."""
        return self.terms[0][0]

    @property
    def weight(self) -> float:
        """Return the weight of that term."""
        return self.terms[0][1]


class OtherNotes:
    """The words of all notes but a few: a prompt that is stored already makes no words known by its own."""

    def __init__(self, view: View, without: Set[int]) -> None:
        self._view = view
        self._without = without

    def count(self, field: str, term: str) -> int:
        """Return the number of the other notes with a term; if many have it, these few count as well."""
        count = self._view.count(field, term)
        return count if count > len(self._without) else len(self._view.notes(field, term) - self._without)

    def starting_with(self, field: str, prefix: str, limit: int = MAX_FORMS) -> Mapping[str, int]:
        """Return the first `limit` terms that begin with `prefix`, also those of only the few notes."""
        return self._view.starting_with(field, prefix, limit)


def units_of(view: KnownWords, text: str, *, foreign: bool = False, said: bool = False) -> list[Unit]:
    """Return the units of a question.

    foreign: it is known to be in a language that `analysis.is_foreign` detects. said: include people's synonyms.
    """
    units = _units_of(view, text, foreign=foreign)
    return [_with_said(view, unit) for unit in units] if said else units


def _units_of(view: KnownWords, text: str, *, foreign: bool) -> list[Unit]:
    words = analysis.query_words(text)
    is_short = sum(len(terms) for _, terms in words) <= MAX_WIDENED
    if is_short and (foreign or analysis.is_foreign(text)):
        return list(dict.fromkeys(one for word, terms in words for one in _foreign(view, word, terms)))
    widened = dict.fromkeys(
        widened_unit for word, terms in words for widened_unit in _widened(view, word, terms, with_typos=is_short)
    )
    verbs = _phrasal(view, text)
    meant = [_as_noun(verbs, one) for one in widened] if verbs else list(widened)
    units = map(_with_alike, meant) if len(words) <= MAX_ALIKE else meant
    return [*units, *dict.fromkeys(_written_as_one(view, words))]


def unit(term: str, weight: float = 1.0) -> Unit:
    """Return the unit of a term: the term and its abbreviations."""
    others = ((other, weight * abbreviations.WEIGHT) for other in abbreviations.SHORT.others(term))
    return Unit(((term, weight), *others))


def _with_said(view: KnownWords, unit: Unit) -> Unit:
    """Return a unit with people's synonyms added that some note has."""
    others = (other for other in _others(abbreviations.SAID, unit) if view.count("body", other))
    return unit._replace(terms=(*unit.terms, *((other, unit.weight * abbreviations.SAID_WEIGHT) for other in others)))


def _with_alike(unit: Unit) -> Unit:
    """Return a unit with programmers' synonyms added."""
    others = _others(abbreviations.ALIKE, unit)
    return unit._replace(in_code=tuple((other, unit.weight * abbreviations.WEIGHT) for other in others))


def _others(synonyms: abbreviations.WordGroups, unit: Unit) -> Iterator[str]:
    """Yield the synonyms of a unit's word that it lacks."""
    known = {term for term, _ in unit.terms}
    return (other for other in synonyms.others(unit.term) if other not in known)


def is_known(view: KnownWords, term: str) -> bool:
    """Whether any note has a term."""
    return any(view.count(field, term) for field in ("body", "title", "meta", "date"))


def _meaningful(view: KnownWords, terms: Sequence[str]) -> Sequence[str]:
    """Return the meaningful terms: an unknown name loses its numbers, and one with longer parts its single signs.

    A sign such as `q`, or the 8 of `utf8`, is in many notes and does not show what was asked for.
    """
    if len(terms) == 1:
        return terms
    whole, *parts = terms
    if not is_known(view, whole):
        parts = [part for part in parts if not part.isdigit()]
    return [whole, *([part for part in parts if len(part) > 1 or not part.isascii()] or parts)]


def _widened(view: KnownWords, word: str, terms: Sequence[str], *, with_typos: bool) -> Iterator[Unit]:
    term = terms[0]
    if len(terms) > 1 or not (term.isascii() and word.isalpha()) or is_known(view, term):
        yield from (unit(part) for part in _meaningful(view, terms))
        return
    parts = compound(view, word)
    if parts:
        yield from (unit(part, PART) for part in parts)
        return
    similar = _one_typo_away(view, word) if with_typos else []
    begun = [one for one in _beginning(view, word) if one not in similar]  # `interf` may be no typo of `intern`
    is_typo = len(similar) == 1 and not word.startswith(similar[0]) and not begun  # `longer` is a form of `long`
    weight = JOINED if is_typo and len(word) >= MIN_SURE_CHARS else NEAR
    similar_terms = [*((one, weight) for one in similar), *((one, PART) for one in begun)]
    yield Unit(tuple(similar_terms)) if similar_terms else unit(term)


def _beginning(view: KnownWords, word: str) -> list[str]:
    """Return the known terms that begin with an unknown word: its compounds, or a name half remembered."""
    begun = view.starting_with("body", word, MAX_BEGINNING) if len(word) >= MIN_SURE_CHARS else ()
    return [term for term in begun if view.count("body", term)]


def _phrasal(view: KnownWords, text: str) -> dict[str, str]:
    """Return for each verb that a particle follows, as a term, the noun that some note writes: `back up`, `backup`."""
    words = analysis.words(text.lower())
    nouns: dict[str, str] = {}
    for verb, particle in pairwise(words) if not PARTICLES.isdisjoint(words) else ():
        term = stem.stem(verb)
        if particle in PARTICLES or (particle == "in" and term in _IN_VERBS):
            noun = next((one for base in (term, verb) if view.count("body", one := stem.stem(base + particle))), "")
            nouns |= {term: noun} if noun else {}
    return nouns


def _as_noun(verbs: Mapping[str, str], verb: Unit) -> Unit:
    noun = verbs.get(verb.term)
    return Unit(((noun, 1.0), *((term, weight * VERB) for term, weight in verb.terms))) if noun else verb


def compound(view: KnownWords, word: str) -> list[str]:
    """Return the terms that an unknown word is composed of, if the index knows them all; else []."""
    if len(word) > MAX_COMPOUND_CHARS:
        return []
    best: list[str] = []
    for end in range(MIN_PART_CHARS, len(word) - MIN_PART_CHARS + 1):
        first = stem.stem(word[:end])
        if view.count("body", first) < 2:
            continue
        second = stem.stem(word[end:])
        tail = [second] if view.count("body", second) > 1 else compound(view, word[end:])
        if tail and (not best or len(tail) < len(best) - 1):
            best = [first, *tail]
    return best


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _one_typo_away(view: KnownWords, word: str) -> list[str]:
    """Return the known terms of words one typo away: a letter missing, added, replaced or swapped."""
    if not MIN_NEAR_CHARS <= len(word) <= MAX_NEAR_CHARS:
        return []
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    shorter = (a + b[1:] for a, b in splits if b)
    swapped = (a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1)
    others = (a + letter + end for a, b in splits for letter in _LETTERS for end in {b, b[1:]})
    for words in ((*shorter, *swapped), others):
        known_terms = [term for term in dict.fromkeys(map(stem.stem, words)) if view.count("body", term)]
        if known_terms:
            return known_terms
    return []


def _written_as_one(view: KnownWords, words: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Unit]:
    """Yield units for two or three adjacent words that some note writes as one."""
    for size in (2, 3):
        for parts in zip(*(islice(words, start, None) for start in range(size)), strict=False):
            as_one = "".join([word for word, _ in parts])
            if as_one.isalpha() and as_one.isascii() and view.count("body", term := stem.stem(as_one)):
                yield Unit.of(term, JOINED)


def _foreign(view: KnownWords, word: str, terms: Sequence[str]) -> list[Unit]:
    """Return the units of a word with unknown endings; one that no note has in any form may be known by its parts."""
    units = [_with_forms(view, term) for term in terms]
    is_word = len(terms) == len(units[0].terms) == 1 and word.isascii()
    parts = compound(view, word) if is_word and not is_known(view, terms[0]) else []
    return [unit(part, PART) for part in parts] or units


def _with_forms(view: KnownWords, term: str) -> Unit:
    """Return the unit of a term that was stemmed as if it were English: the term and its possible other forms."""
    if len(term) < FORM_START or not (term.isalpha() and term.isascii()):
        return unit(term)
    start = term[: max(FORM_START, int(FORM_SHARE * len(term)))]
    own_terms = dict(unit(term).terms)
    begun = [form for form in view.starting_with("body", start, MAX_FORMS) if form not in own_terms and form.isalpha()]
    forms = [form for form in begun if abs(len(form) - len(term)) <= FORM_ENDING]
    if len(term) >= MIN_SURE_CHARS and len(forms) < MAX_BEGINNING:  # more cost more than they find
        compounds = [form for form in begun if form.startswith(term) and form not in forms]  # `Trübungssonde`
        forms += sorted(compounds, key=len)[:MAX_BEGINNING]
    return Unit((*own_terms.items(), *((form, JOINED if _is_inflected(form, term) else FORM) for form in forms)))


def _is_inflected(form: str, term: str) -> bool:
    """Whether two words differ only by an ending of case or number: `fehlern`, whose singular has lost its `er`."""
    shorter, longer = sorted((form, term), key=len)
    return len(shorter) >= MIN_NEAR_CHARS and longer.startswith(shorter) and longer[len(shorter) :] in _INFLECTIONS


_INFLECTIONS = frozenset(["e", "n", "s", "en", "es", "er", "em", "ern"])
"""Endings of nouns and adjectives in Germanic languages; some are also plurals in Romance ones."""
