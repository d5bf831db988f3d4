"""Taken up: whether a later turn worked on what an answer, a list or a prompt without an answer left to do."""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from typing import Protocol

from mdmem.search import turn_groups
from mdmem.search.index.view import View
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal, layout

_PROMPT, _SAID = ("prompt",), ("prompt", "response")

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
    created = view.numbers("created")

    @cache
    def worked(folder: int) -> frozenset[int]:
        names = (view.name(note) for note in view.members[folder] if note in notes)
        runs = (name for name in names if journal.numbers(name) and _is_work(name))
        return frozenset(journal.numbers(name)[0] for name in runs)

    def is_taken_up(number: int, text: str, *, asked: bool = False) -> bool:
        terms = frozenset(analysis.query_terms(text)) - STOPWORDS
        home, own = layout.project_of(view.path(number)), view.folder_of[number]
        said: dict[_Turn, set[str]] = {}
        for term in terms:
            for note in (view.notes("body", term) | view.notes("title", term)) & notes:
                if created[note] > created[number] and (turn := _turn_of(view, note, _PROMPT if asked else _SAID)):
                    said.setdefault(turn, set()).add(term)
        if asked:
            taking = [turn for turn, has in said.items() if turn[0] != own and turn_groups.is_asked_for(terms, has)]
        else:
            taking = [turn for turn, has in said.items() if len(has) >= turn_groups.SHARE * len(terms)]
        near = (turn for turn in taking if layout.project_of(f"{view.folders[turn[0]]}/") == home)
        return any(number in worked(folder) for folder, number in near)

    return is_taken_up


def _is_work(name: str) -> bool:
    return turn_groups.is_edit(name) or turn_groups.is_shell(name)


def _turn_of(view: View, note: int, sources: tuple[str, ...]) -> _Turn | None:
    """Return the turn of a prompt or an answer, one of `sources`; None for other notes."""
    name = view.name(note)
    place = journal.numbers(name)
    return (view.folder_of[note], place[0]) if place and turn_groups.source(name) in sources else None
