"""Overturned: finds the later turns in which a person took back what a turn did or decided.

Such a turn seldom repeats the question's words: `no, use time based splits instead`, `replace winston by pino`. In any
language, its edits remove the lines that the earlier turn added.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from itertools import chain, islice
from math import inf, sqrt

from mdmem.search import engine, freshness, replaced, turn_groups
from mdmem.search.answering import Asker
from mdmem.search.asking import at_hand, corrections
from mdmem.search.hits import hit_of
from mdmem.search.index.layout import REPLACED
from mdmem.search.index.view import cached_with_view
from mdmem.search.text import analysis
from mdmem.vault import journal, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
    from typing import Any

    from mdmem.config import Config
    from mdmem.search.engine import SearchOptions, SearchResult
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View
    from mdmem.search.query import Query
    from mdmem.search.staged import Place

    Among = Callable[[], Set[int] | None]
    """Returns the notes that may be shown (None: all), which are rarely needed."""

MAX_READ = 20
"""Maximum number of later notes that are read, the newest first."""
LOOKED_AT = 50
"""Number of the best notes among which turns stand after what took them back."""
MAX_MARKED = 5
"""Number of their best turns of which it is told what took them back."""
HALF = 0.5
"""Share of an outdated note's score that what took it back has, if the question does not say that it is about now."""
MAX_CHANGES = 6
"""Maximum number of changes that are followed, each of them a change of the one before."""
MAX_OF_FILE = 200
"""Maximum number of later notes about a file that are looked at."""
_MAX_CHARS, _MAX_DIFF_CHARS = 3_000, 20_000
_MAX_SENTENCE_CHARS = 200
_LEAST_LETTERS = 3
_LEAST_SESSIONS = 16
"""In a vault with fewer sessions, hardly any word is rare."""
_NOTES_EACH = 20
"""A term in more notes than this for each session that may have it is common."""
_SAID = ("prompt", "response")


def search(config: Config, query: Query, options: SearchOptions) -> SearchResult:
    """Search as `engine.search` does, for a reader: the best turns name what took them back later, and stand after it.

    The `superseded_by` of such a hit is then the id of a note of that turn. If an earlier time, a reason or a person is
    asked for, the order stays.
    """
    least = 0.0 if at_hand.says_now(query.words) else inf if at_hand.asks_of_then(query.words) else HALF
    arrange = partial(_arranged, config, options.here, least) if options.offset < LOOKED_AT else None
    return engine.search(config, query, options, arrange)


def _arranged(
    config: Config,
    here: Place | None,
    least: float,
    view: View,
    query: Query,
    scores: Mapping[int, float],
    order: Iterator[int],
) -> tuple[Iterator[int], dict[int, str]]:
    """Return ranked notes, of the best turns each after what took it back, with the id of a note that did.

    least: only what scores this share of the note that it took back. If only notes until a time are searched, what
    took it back until then counts.
    """
    terms = frozenset(analysis.query_terms(query.words))
    until = None if query.until is None else (0.0, query.until - 1)
    first = list(islice(order, LOOKED_AT))
    by_turn: dict[tuple[int, int], list[int]] = {}
    for note in first:
        if journal.numbers(view.name(note)):
            by_turn.setdefault(_turn_of(view, note), []).append(note)
    among = cache(lambda project, between: Asker(project or None, here=here, between=between).among(view))
    ids: dict[int, str] = {}
    for notes in list(by_turn.values())[:MAX_MARKED]:
        best = notes[0]
        project = str(view.facts(best).get("project", ""))
        change = _last_change(config, view, terms, partial(among, project, None), best)
        if change is None:
            continue
        newer = _answers_first(view, by_turn.get(_turn_of(view, change), []))
        ids |= dict.fromkeys(notes, str(view.facts((*newer, change)[0])["id"]))
        if until is not None:
            change = _last_change(config, view, terms, partial(among, project, until), best)
            newer = [] if change is None else _answers_first(view, by_turn.get(_turn_of(view, change), []))
        is_behind = newer and first.index(newer[0]) > first.index(best)
        if is_behind and max(scores[note] for note in newer) >= least * scores[best]:
            first.remove(newer[0])
            first.insert(first.index(best), newer[0])
    return chain(first, order), ids


def _turn_of(view: View, note: int) -> tuple[int, int]:
    """Return the number of a note's folder, and that of its turn, 0 for none."""
    return view.folder_of[note], (*journal.numbers(view.name(note)), 0)[0]


def _answers_first(view: View, notes: Iterable[int]) -> list[int]:
    """Return the notes of a turn in order, but answers before others."""
    return sorted(notes, key=lambda note: view.kind(note) != "response")


def later(config: Config, terms: Collection[str], asker: Asker, hit: SearchHit) -> SearchHit | None:
    """Return a note of the last turn that took back or changed again what the turn of `hit` did or decided, or None.

    What was taken back may have been taken back in turn: decisions change more than once. terms: the question's terms.
    """

    def in_view(view: View) -> SearchHit | None:
        note = view.find(hit.path)
        if note is None or not journal.numbers(view.name(note)):
            return None
        change = _last_change(config, view, terms, cache(partial(asker.replace(kinds=()).among, view)), note)
        return None if change is None else hit_of(view, config, change)

    return freshness.answered(config, in_view)


def of_one_chain(config: Config, terms: Collection[str], asker: Asker, hits: Sequence[SearchHit]) -> set[str]:
    """Return the paths of those hits whose turn the turn of the first one took back, or that took this one back.

    Also of those that the same later turn took back. terms, asker: as for `later`.
    """

    def in_view(view: View) -> set[str]:
        among = cache(partial(asker.replace(kinds=()).among, view))
        last: dict[str, tuple[int, int]] = {}
        for hit in hits:
            note = view.find(hit.path)
            if note is not None and journal.numbers(view.name(note)):
                change = _last_change(config, view, terms, among, note)
                last[hit.path] = _turn_of(view, note if change is None else change)
        first = last.pop(hits[0].path, None)
        return {path for path, turn in last.items() if turn == first}

    return freshness.answered(config, in_view) or set()


def _last_change(config: Config, view: View, terms: Collection[str], among: Among, note: int) -> int | None:
    """Return what `later` returns, as a note of a view."""
    last, turn = None, _Later(config, view, note, among)
    followed = {turn.place}
    while len(followed) <= MAX_CHANGES:
        steps = (turn.corrected, turn.rewritten, partial(turn.ended, terms))
        change = next((found for step in steps if (found := step()) is not None), None)
        turn = turn if change is None else _Later(config, view, change, among)
        if change is None or turn.place in followed:  # turns of parallel sessions may each change the other
            break
        followed.add(turn.place)
        last = change
    return last


def superseding(config: Config, asker: Asker, hit: SearchHit) -> SearchHit | None:
    """Return the last of the notes that supersede `hit`, one after the other; None if there are none."""

    def in_view(view: View) -> SearchHit | None:
        number = view.find(hit.path)
        followed: list[int] = []
        while number is not None and number not in followed and len(followed) < MAX_READ:
            followed.append(number)
            number = replaced.successor(view, config.vault, number)
        if len(followed) < 2:
            return None  # as for most notes: the project's notes need not be collected
        among = asker.replace(kinds=(), without_session="").among(view)
        shown = [note for note in followed[1:] if among is None or note in among]
        return hit_of(view, config, shown[-1]) if shown else None

    return freshness.answered(config, in_view)


def is_run_taken_back(config: Config, view: View, note: int, among: Set[int] | None) -> bool:
    """Whether a person took back the turn of a run, which changed nothing. among: the notes that may be shown."""
    turn = _Later(config, view, note, lambda: among)
    return not turn.has_edits and turn.corrected() is not None


class _Later:
    """What was said and changed after a turn.

    place: folder and number of the turn.
    """

    def __init__(self, config: Config, view: View, note: int, among: Among) -> None:
        self._config, self._view, self._among = config, view, among
        self.place = self._folder, self._turn = self._turn_of(note)
        members = view.members[self._folder] if turn_groups.session_folder(view, note) else ()
        self._spoken = [one for one in members if view.kind(one) in _SAID]
        self._edits = [one for one in members if self._is_edit(one) and self._turn_of(one) == self.place]

    @property
    def has_edits(self) -> bool:
        """Whether the turn changed a file."""
        return bool(self._edits)

    def corrected(self) -> int | None:
        """Return the prompt of the last of the turns that, one after the other, took back the turn before."""
        prompts = {journal.numbers(self._view.name(note))[0]: note for note in self._spoken if self._is_prompt(note)}
        found = None
        turn = self._turn + 1
        while turn in prompts and corrections.corrects(self._text(prompts[turn])) and self._is_shown(prompts[turn]):
            found = prompts[turn]
            turn += 1
        return found

    def rewritten(self) -> int | None:
        """Return the last edit whose turn removed at least half of the lines that the turn added."""
        view, created = self._view, self._view.numbers("created")
        own = sorted(self._edits, key=lambda one: journal.numbers(view.name(one)))
        since = max((created[note] for note in own), default=0)
        file_of = {
            note: file
            for file in dict.fromkeys(chain.from_iterable(map(self._files, own)))
            for note in view.each("facet", f"file:{file}".lower())
            if created[note] >= since and (created[note] > since or self._is_behind(note)) and self._is_shown(note)
        }
        newest = sorted(file_of, key=created.__getitem__, reverse=True)[:MAX_OF_FILE]
        edits = (note for note in newest if self._is_edit(note) and file_of[note] in self._files(note))
        added: dict[str, set[str]] = {}
        for note in own if newest else ():
            lines_removed, lines_added = self._changes(note)
            for file in self._files(note):
                added[file] = (added.get(file, set()) - lines_removed) | lines_added
        removed: dict[tuple[int, int], int] = {}
        for note in islice(edits, MAX_READ):
            turn = self._turn_of(note)
            removed[turn] = removed.get(turn, 0) + len(added[file_of[note]] & self._changes(note)[0])
            if turn != self.place and 2 * removed[turn] >= sum(map(len, added.values())) > 0:
                return note
        return None

    def ended(self, terms: Collection[str]) -> int | None:
        """Return the last note of another session that says that something the turn was about is replaced."""
        view = self._view
        if not _replaced(view)[0]:
            return None
        of_turn = (note for note in self._spoken if journal.numbers(view.name(note))[:1] == (self._turn,))
        own = list(filter(self._is_shown, of_turn))
        said = [self._text(note) for note in sorted(own, key=self._is_prompt)]
        ended = analysis.terms(f"{said[0] if said else ''} ".partition(". ")[0][:_MAX_SENTENCE_CHARS])
        names = set(self._names("\n".join(said), {*terms, *ended}))
        created = view.numbers("created")
        since = max((created[note] for note in own), default=0)
        saying = view.with_any(f"{REPLACED}{name}" for name in names)
        notes = (note for note in saying if created[note] > since and self._is_shown(note))
        kind_of = turn_groups.Kinds(view, self._config.vault)
        for note in sorted(notes, key=created.__getitem__, reverse=True)[:MAX_READ]:
            is_elsewhere = view.folder_of[note] != self._folder and turn_groups.session_folder(view, note) != ""
            is_work = is_elsewhere and kind_of(note) == turn_groups.WORK
            if is_work and not names.isdisjoint(corrections.replaced(self._text(note))):
                return note
        return None

    def _names(self, text: str, terms: Collection[str]) -> Iterator[str]:
        """Yield the rare terms that a turn is about, those that it repeats and `terms`, if any note replaces them."""
        replaced, finder = _replaced(self._view)
        counts = Counter(term for _, _, found in finder.places(text) for term in found if term in replaced)
        for term, count in counts.items():
            if (count > 1 or term in terms) and self._is_rare(term):
                yield term

    def _is_rare(self, term: str) -> bool:
        view, folder_of = self._view, self._view.folder_of
        most = sqrt(max(view.is_session.count(1), _LEAST_SESSIONS))
        is_rare = view.count("body", term) <= _NOTES_EACH * most
        return is_rare and len({folder_of[note] for note in view.each("body", term)}) <= most

    def _text(self, note: int) -> str:
        texts = _texts(self._view)
        text = texts.get(note)
        if text is None:
            _make_room(texts, _MAX_TEXTS)
            text = texts[note] = self._read(note)[:_MAX_CHARS]
        return text

    def _read(self, note: int) -> str:
        parsed = people.try_load_clean(self._config.vault, self._view.path(note))
        return "" if people.keeps_private(parsed.meta) else parsed.body

    def _changes(self, edit: int) -> tuple[set[str], set[str]]:
        """Return the lines that an edit removed, and those that it added, without short ones such as brackets."""
        known = _changed_lines(self._view)
        changes = known.get(edit)
        if changes is None:
            _make_room(known, _MAX_TEXTS)
            lines = self._read(edit)[:_MAX_DIFF_CHARS].splitlines()
            long = [line for line in lines if sum(map(str.isalnum, line)) >= _LEAST_LETTERS]
            removed, added = (
                {line[1:].strip() for line in long if line[:1] == sign and line[:3] != 3 * sign} for sign in "-+"
            )
            changes = known[edit] = removed, added
        return changes

    def _files(self, note: int) -> list[str]:
        return [str(file) for file in self._view.facts(note).get("files", [])[:1]]

    def _turn_of(self, note: int) -> tuple[int, int]:
        return _turn_of(self._view, note)

    def _is_behind(self, note: int) -> bool:
        """Whether a note is of a later turn of the same session, maybe in the same second."""
        folder, turn = self._turn_of(note)
        return folder == self._folder and turn > self._turn

    def _is_edit(self, note: int) -> bool:
        name = self._view.name(note)
        return bool(journal.numbers(name)) and turn_groups.is_edit(name)

    def _is_prompt(self, note: int) -> bool:
        return self._view.kind(note) == "prompt"

    def _is_shown(self, note: int) -> bool:
        among = self._among()
        return among is None or note in among


# -- what is known of a view: searches as one types are about the same turns -------------------------


@cached_with_view
def _texts(_view: View) -> dict[int, str]:
    """Return the beginnings of the notes that were read, for adding those of others."""
    return {}


@cached_with_view
def _changed_lines(_view: View) -> dict[int, tuple[set[str], set[str]]]:
    """Return the lines that edits removed and added, as far as they were read, for adding those of others."""
    return {}


@cached_with_view
def _replaced(view: View) -> tuple[frozenset[str], analysis.WordFinder]:
    """Return the terms that prompts and answers say are replaced, and what finds them in texts."""
    terms = frozenset(term.removeprefix(REPLACED) for term in view.starting_with("facet", REPLACED))
    return terms, analysis.WordFinder(terms)


_MAX_TEXTS = 512


def _make_room(known: dict[Any, Any], most: int) -> None:
    """Keep a cache small; another thread may read it."""
    if len(known) >= most:
        known.clear()
