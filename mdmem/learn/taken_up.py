"""Taken up: whether a later turn worked on what an answer said was left to do."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cache

from mdmem.search import turn_groups
from mdmem.search.index.view import View
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal

SHARE = 0.7
"""Share of an item's words that the prompt and answer of a later turn must have together."""
_SAID = ("prompt", "response")

_Turn = tuple[int, int]
"""A session's folder, and the number of the turn."""


def finder(view: View, notes: Set[int]) -> Callable[[int, str], bool]:
    """Return the function that tells whether a later turn took up what a note leaves to do, by the item's words.

    notes: those of the project. A turn that only answered a question, without a change or a command, takes up nothing.
    """
    created = view.numbers("created")

    @cache
    def worked(folder: int) -> frozenset[int]:
        names = (view.name(note) for note in view.members[folder] if note in notes)
        runs = (name for name in names if journal.numbers(name) and _is_work(name))
        return frozenset(journal.numbers(name)[0] for name in runs)

    def is_taken_up(number: int, text: str) -> bool:
        terms = frozenset(analysis.query_terms(text)) - STOPWORDS
        found: dict[_Turn, set[str]] = {}
        for term in terms:
            for note in (view.notes("body", term) | view.notes("title", term)) & notes:
                if created[note] > created[number] and (turn := _turn_of(view, note)) is not None:
                    found.setdefault(turn, set()).add(term)
        return any(len(has) >= SHARE * len(terms) and turn[1] in worked(turn[0]) for turn, has in found.items())

    return is_taken_up


def _is_work(name: str) -> bool:
    return turn_groups.is_edit(name) or turn_groups.is_shell(name)


def _turn_of(view: View, note: int) -> _Turn | None:
    """Return the turn of a prompt or an answer; None for other notes."""
    name = view.name(note)
    place = journal.numbers(name)
    return (view.folder_of[note], place[0]) if place and turn_groups.source(name) in _SAID else None
