"""Taken up: whether a later turn worked on what an answer, a list or a prompt without an answer left to do."""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from math import ceil
from typing import Protocol

from mdmem.search import turn_groups
from mdmem.search.index.view import View
from mdmem.search.text import analysis
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
    change or a command, takes up nothing.
    """
    created, folder_of = view.numbers("created"), view.folder_of
    prompts = view.notes("facet", "kind:prompt") & notes
    said = prompts | (view.notes("facet", "kind:response") & notes)

    @cache
    def worked(folder: int) -> frozenset[int]:
        names = (view.name(note) for note in view.members[folder] if note in notes)
        runs = (name for name in names if journal.numbers(name) and _is_work(name))
        return frozenset(journal.numbers(name)[0] for name in runs)

    @cache
    def having(term: str) -> frozenset[int]:
        return frozenset(view.notes("body", term) & said)  # a title is made of the first words

    @cache
    def turn_of(note: int) -> _Turn | None:
        return _turn_of(view, note)

    @cache
    def is_at(folder: int, project: str) -> bool:
        return layout.project_of(f"{view.folders[folder]}/") == project

    def is_taken_up(number: int, text: str, *, asked: bool = False) -> bool:
        terms = sorted(frozenset(analysis.query_terms(text)) - STOPWORDS, key=len, reverse=True)  # rare ones first
        home, own = layout.project_of(view.path(number)), folder_of[number]
        least = max(ceil(turn_groups.SHARE * len(terms)), turn_groups.LEAST_ASKED if asked else 0)
        found: dict[_Turn, int] = {}
        for left, term in zip(reversed(range(len(terms))), terms, strict=True):
            turns = set()
            for note in having(term) & prompts if asked else having(term):
                folder = folder_of[note]
                is_later = created[note] > created[number] and not (asked and folder == own) and is_at(folder, home)
                if is_later and (turn := turn_of(note)):
                    turns.add(turn)
            counts = ((turn, found.get(turn, 0) + (turn in turns)) for turn in found.keys() | turns)
            found = {turn: count for turn, count in counts if count + left >= least}
            if not found:
                return False
        return any(number in worked(folder) for folder, number in found)

    return is_taken_up


def _is_work(name: str) -> bool:
    return turn_groups.is_edit(name) or turn_groups.is_shell(name)


def _turn_of(view: View, note: int) -> _Turn | None:
    """Return the turn of a prompt or an answer; None for one that is not a captured note."""
    place = journal.numbers(view.name(note))
    return (view.folder_of[note], place[0]) if place else None
