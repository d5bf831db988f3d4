"""Taken up: whether a later turn worked on what an answer, a list or a prompt without an answer left to do."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import chain
from math import ceil
from typing import Protocol

from mdmem.search import turn_groups
from mdmem.search.index.document import mentioned_files, path_tails
from mdmem.search.index.view import View
from mdmem.search.text import analysis, undone
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal, layout

_Turn = tuple[int, int]
"""A session's folder, and the number of the turn."""


class TakenUpTest(Protocol):
    """Tells whether a later turn took up what a note leaves to do, by the item's words.

    asked: only a prompt of another session counts, not an answer; its own session would have ticked it.
    """

    def __call__(self, number: int, text: str, *, asked: bool = False) -> bool:
        """Return whether it was. number: the note. text: the item."""


def finder(view: View, notes: Set[int]) -> TakenUpTest:
    """Return the function that tells whether something was taken up.

    notes: those to look at; only turns of the same project count. A turn that only answered a question, without a
    change or a command, takes up nothing. One that changed a file which the item names needs fewer of its words.
    """
    created, folder_of = view.numbers("created"), view.folder_of
    prompts = view.notes("facet", "kind:prompt") & notes
    responses = view.notes("facet", "kind:response") & notes

    @cache
    def worked(folder: int) -> frozenset[int]:
        names = view.names([note for note in view.members[folder] if note in notes])
        runs = (name for name in names if journal.numbers(name) and turn_groups.is_work(name))
        return frozenset(journal.numbers(name)[0] for name in runs)

    @cache
    def project_at(folder: int) -> str:
        return layout.project_of(f"{view.folders[folder]}/")

    def changed_in(text: str) -> set[_Turn]:
        """Return the turns that changed a file which the text names."""
        tails = (tails[0] for name in mentioned_files(text) if (tails := path_tails(name)))
        named = ((note, view.name(note)) for note in view.with_any(f"file:{tail}" for tail in tails) & notes)
        return {
            (folder_of[note], place[0])
            for note, name in named
            if (place := journal.numbers(name)) and turn_groups.is_edit(name)
        }

    @cache
    def said_in(project: str, *, asked: bool) -> _Said:
        every = prompts if asked else prompts | responses
        return _Said(view, [note for note in every if project_at(folder_of[note]) == project])

    def is_taken_up(number: int, text: str, *, asked: bool = False) -> bool:
        own = folder_of[number]
        said = said_in(project_at(own), asked=asked)
        terms = frozenset(analysis.query_terms(undone.subject(text))) - STOPWORDS
        fewest = turn_groups.LEAST_ASKED if asked else 1
        least, half = (max(ceil(share * len(terms)), fewest) for share in (turn_groups.SHARE, 0.5))
        changed = changed_in(text)
        for turn in said.turns_with(terms, half if changed else least):
            later = [note for note in said.turns[turn] if created[note] > created[number]]
            enough = half if turn in changed else least
            if said.count(terms, later) >= enough and not (asked and turn[0] == own) and turn[1] in worked(turn[0]):
                return True
        return False

    return is_taken_up


class _Said:
    """Some prompts and answers by turn, and which of them have a term; segments without any of them are not read."""

    def __init__(self, view: View, notes: Sequence[int]) -> None:
        numbered = zip(notes, map(journal.numbers, view.names(notes)), strict=True)
        self._turn_of = {note: (view.folder_of[note], place[0]) for note, place in numbered if place}
        self._parts = [(leaf, rows, frozenset(rows)) for leaf, rows in view.in_leaves(self._turn_of)]
        self._having: dict[str, frozenset[int]] = {}
        self.turns: dict[_Turn, list[int]] = {}
        for note, turn in self._turn_of.items():
            self.turns.setdefault(turn, []).append(note)
        self._most = max(map(len, self.turns.values()), default=0)

    def turns_with(self, terms: Set[str], least: int) -> set[_Turn]:
        """Return the turns that may have `least` of the terms, without looking for the others once none may."""
        counts: Counter[int] = Counter()
        may_lack = len(terms) - least
        for seen, term in enumerate(sorted(terms, key=lambda term: (term not in self._having, -len(term))), 1):
            counts.update(self._notes(term))
            if seen > may_lack and not any(count * self._most >= seen - may_lack for count in counts.values()):
                return set()
        return {self._turn_of[note] for note, count in counts.items() if count * self._most >= least}

    def count(self, terms: Set[str], notes: Sequence[int]) -> int:
        """Return how many of the terms these notes have between them."""
        return sum(not self._notes(term).isdisjoint(notes) for term in terms)

    def _notes(self, term: str) -> frozenset[int]:
        """Return the notes with a term in the body; a title is made of its first words."""
        if term not in self._having:
            self._having[term] = frozenset(chain.from_iterable(self._found(term)))
        return self._having[term]

    def _found(self, term: str) -> Iterator[Iterable[int]]:
        """Yield the notes with a term in each segment; only between the first and last of the notes in its list."""
        for leaf, rows, own in self._parts:
            if postings := leaf.terms.postings("body", term):
                first = bisect_left(postings[0], rows[0])
                between = postings[0][first : bisect_right(postings[0], rows[-1], first)]
                yield map(leaf.start.__add__, own.intersection(between))
