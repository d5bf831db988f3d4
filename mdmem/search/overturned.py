"""Overturned: finds the later turns in which a person took back what a turn did or decided.

Such a turn seldom repeats the question's words: `no, use time based splits instead`, `replace winston by pino`.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from mdmem.search import engine, freshness, turn_groups
from mdmem.search.asking import corrections
from mdmem.search.hits import Shown, hits_of
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import FOREIGN, STOPWORDS
from mdmem.vault import journal, people

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Set

    from mdmem.config import Config
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View
    from mdmem.search.recall import Asker

MAX_READ = 20
"""Maximum number of later notes that are read, the newest first."""
_MAX_CHARS = 3_000
_LEAST_LETTERS = 3
_LEAST_SESSIONS = 16
"""In a vault with fewer sessions, hardly any word is rare."""
_NOTES_EACH = 20
"""A term in more notes than this for each session that may have it is common."""
_SAID = tuple(map(KINDS.index, ("prompt", "response")))


def later(config: Config, terms: Collection[str], asker: Asker, hit: SearchHit) -> SearchHit | None:
    """Return a note of the last turn that took back what the turn of `hit` did or decided, or None.

    terms: the question's terms.
    """

    def in_view(view: View) -> SearchHit | None:
        note = view.find(hit.path)
        if note is None or not journal.numbers(view.name(note)):
            return None
        among = engine.for_agent(view, asker.project, asker.without_session, asker.here)
        found = _Later(config, view, note, among)
        last = found.corrected()
        last = last if last is not None else found.replaced(terms)
        return None if last is None else hits_of(view, config, Shown({last: 0}, {last: 0.0}, ()))[0]

    return freshness.answered(config, in_view)


class _Later:
    """What was said after a turn. among: the notes that may be shown (None: all)."""

    def __init__(self, config: Config, view: View, note: int, among: Set[int] | None) -> None:
        self._config, self._view, self._among = config, view, among
        self._folder = view.folder_of[note]
        self._turn = journal.numbers(view.name(note))[0]
        flags = view.numbers("flags")
        members = view.members[self._folder] if turn_groups.session_folder(view, note) else ()
        self._spoken = [one for one in members if flags[one] // KIND_STEP in _SAID and self._is_shown(one)]

    def corrected(self) -> int | None:
        """Return the prompt of the last of the turns that, one after the other, took back the turn before."""
        prompts = {journal.numbers(self._view.name(note))[0]: note for note in self._spoken if self._is_prompt(note)}
        found = None
        turn = self._turn + 1
        while turn in prompts and corrections.corrects(self._text(prompts[turn])):
            found = prompts[turn]
            turn += 1
        return found

    def replaced(self, terms: Collection[str]) -> int | None:
        """Return the last note of another session that says that something the turn was about is replaced."""
        view = self._view
        own = [note for note in self._spoken if journal.numbers(view.name(note))[:1] == (self._turn,)]
        names = set(self._names("\n".join(map(self._text, own)), terms))
        created, flags = view.numbers("created"), view.numbers("flags")
        since = max((created[note] for note in own), default=0)
        notes = {
            note
            for name in names
            for note in view.each("body", name)
            if created[note] > since and flags[note] // KIND_STEP in _SAID and self._is_shown(note)
        }
        kind_of = turn_groups.Kinds(view, self._config.vault)
        for note in sorted(notes, key=created.__getitem__, reverse=True)[:MAX_READ]:
            is_elsewhere = view.folder_of[note] != self._folder and turn_groups.session_folder(view, note) != ""
            if is_elsewhere and kind_of(note) == turn_groups.WORK:
                words = analysis.words(self._text(note).partition("```")[0])
                if corrections.replaces(words, lambda word: not names.isdisjoint(analysis.terms(word))):
                    return note
        return None

    def _names(self, text: str, terms: Collection[str]) -> Iterator[str]:
        """Yield the rare terms that a turn is about: those that it repeats, and the question's."""
        view, folder_of = self._view, self._view.folder_of
        most = sqrt(max(view.is_session.count(1), _LEAST_SESSIONS))
        for term, count in analysis.counts(text).items():
            if term in STOPWORDS or term in FOREIGN:
                continue
            if (count > 1 or term in terms) and len(term) >= _LEAST_LETTERS and not term.isdigit():
                is_rare = view.count("body", term) <= _NOTES_EACH * most
                if is_rare and len({folder_of[note] for note in view.each("body", term)}) <= most:
                    yield term

    def _text(self, note: int) -> str:
        parsed = people.readable(self._config.vault, self._view.path(note))
        return "" if people.keeps_private(parsed.meta) else parsed.body[:_MAX_CHARS]

    def _is_prompt(self, note: int) -> bool:
        return self._view.numbers("flags")[note] // KIND_STEP == _SAID[0]

    def _is_shown(self, note: int) -> bool:
        return self._among is None or note in self._among
