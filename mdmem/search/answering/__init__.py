"""Answering: finds the turns and notes that answer a question about earlier work."""

from __future__ import annotations

from itertools import islice

from mdmem.search import engine, freshness, index, ranking, staged, turn_groups, withheld
from mdmem.search.all_but import AllBut
from mdmem.search.answering.coverage import Coverage
from mdmem.search.hits import Shown, hits_of
from mdmem.search.text import analysis, numbers
from mdmem.search.units import OtherNotes, units_of
from mdmem.values import Value
from mdmem.vault import journal, people, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Set
    from datetime import datetime

    from mdmem.config import Config
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View
    from mdmem.search.staged import Place
    from mdmem.search.turn_groups import Group, Kinds

POOL = 150
"""Number of best notes whose sessions are considered."""
SNIPPET_CHARS = 300
MAX_CHECKED = 50
"""Number of best notes whose turns are checked for only repeating others: each check reads a file."""
MAX_HITS = 3
"""Maximum number of notes returned per turn, besides the page of its session."""


class Answer(Value):
    """A turn, or a note outside sessions, that may answer.

    folder: the session's folder, "" for a note outside. hits: its notes, best first. coverage: the share of the
    question that its best note has, with rare words counting more. weight: the sum of the weights of those words, 1 for
    a word that no other session has. words: how many of the question's words it has. is_talk: whether it is a question
    with no change. is_said: whether it changed no file. said: number of the words that were said or are identifiers.
    is_echo: whether it was answered from an injection, without any tool run. is_of_others: whether the question names
    something by an identifier that no note has, and so asks about something else.
    """

    folder: str
    score: float
    is_talk: bool
    is_said: bool
    hits: tuple[SearchHit, ...]
    coverage: float
    weight: float
    words: int
    said: int = 1
    is_echo: bool = False
    is_of_others: bool = False

    @classmethod
    def of_hit(cls, folder: str, hit: SearchHit, score: float = 0.0) -> Answer:
        """Return the answer of one note that is not judged by the question's words."""
        return cls(folder, score, is_talk=False, is_said=False, hits=(hit,), coverage=0.0, weight=0.0, words=0)


class Asker(Value):
    """Who asks, and when.

    project: only its notes and those of no project (None: all). without_session: exclude this session's notes, which
    the agent already knows. here: where the question comes from; notes staged on another code branch are not found.
    now: a time other than the clock's. kinds: only notes of these kinds (none: of any).
    between: only notes of this time, both ends included (None: of any).
    closed: projects, in lower case, none of whose notes are found. withheld_from: exclude the notes that agents in this
    project are not shown; "" if they are in another than `project` (None: include them).
    """

    project: str | None = None
    without_session: str = ""
    here: Place | None = None
    now: datetime | None = None
    kinds: tuple[str, ...] = ()
    between: tuple[float, float] | None = None
    closed: Collection[str] = ()
    withheld_from: str | None = None

    def among(self, view: View) -> Set[int] | None:
        """Return the notes that may be found (None: all)."""
        limits: list[set[int]] = []
        if self.project is not None:
            # Not former names, which another project may have now.
            names = {"", self.project, *(self.here.projects if self.here else ())}
            limits.append(view.with_any(f"project:{name}".lower() for name in names))
        if self.kinds:
            limits.append(view.of_kinds(self.kinds))
        if self.between is not None:
            limits.append(view.between(*self.between))
        hidden: Set[int] = view.internal | staged.hidden(view, self.here)
        hidden |= view.with_any(f"project:{name}" for name in self.closed)
        if self.without_session:
            hidden |= view.of_session(self.without_session)
        if self.withheld_from is not None:
            hidden |= withheld.from_project(view, self.withheld_from)
        if limits:
            return set.intersection(*limits) - hidden
        return AllBut(view, hidden) if hidden else None


def answers(
    config: Config,
    text: str,
    asker: Asker,
    *,
    limit: int = 8,
    budget_seconds: float = 0.3,
    guess: str = "",
    foreign: bool = False,
    seen: View | None = None,
) -> tuple[Answer, ...]:
    """Return what answers `text`, best first. It is plain words, and questions about earlier work are never answers.

    What was said and decided counts more than tool output. Internal memories are never found.

    limit: maximum number of answers. budget_seconds: time limit for updating the index if much is new; a little is kept
    in memory, and another writing process is not waited for. guess: a text whose words are added to the question's, and
    count less. foreign: the question was in a language that `analysis.is_foreign` detects, which `text` may no longer
    show. seen: search this view, as `seen_everywhere` returns it.
    """
    foreign = foreign or analysis.is_foreign(text)
    text, seen = numbers.spelled(text, foreign=foreign), seen or freshness.glance(config, asker.without_session)
    if seen is None:
        make_ready(config, budget_seconds)

    def in_view(view: View) -> tuple[Answer, ...]:
        return _answers_in(view, config, text, asker, limit=limit, guess=guess, foreign=foreign)

    return freshness.answered(config, in_view, seen) or ()


def _answers_in(
    view: View, config: Config, text: str, asker: Asker, *, limit: int, guess: str, foreign: bool
) -> tuple[Answer, ...]:
    """Return what a view has to answer `text`, best first."""
    own_notes = view.of_session(asker.without_session) if asker.without_session else set()
    units = units_of(OtherNotes(view, own_notes), text, foreign=foreign, said=True)
    words, guessed = ranking.affordable(view, units), engine.guessed(view, config, guess)
    if not words and not guessed:
        return ()
    prior, most = engine.prior_by_kind(view, asker.now), POOL + ranking.POOL
    scores = ranking.scores(view, words + guessed, among=asker.among(view), prior=prior, most=most)
    in_order = engine.in_order(view, scores)
    here = (note for note in in_order if not unreadable.is_elsewhere(config.vault, view.path(note)))
    order = list(islice(here, POOL))  # without its text, a note that a sync program has answers nothing
    kind_of = turn_groups.Kinds(view, config.vault)
    only_asked, echoes = _questions_and_echoes(config, view, kind_of, order)
    without, name = own_notes | only_asked | echoes, frozenset(analysis.terms(asker.project or ""))
    cover = Coverage(view, config.vault, text, set(words), units, without, name, foreign=foreign)

    def answer_of(group: Group) -> Answer:
        notes = dict.fromkeys([*group.notes[:MAX_HITS], *(() if group.page is None else (group.page,))], 0)
        hits = tuple(hits_of(view, config, Shown(notes, scores, words, SNIPPET_CHARS)))
        score = group.score / (turn_groups.TALK_WORTH if group.is_talk and group.is_said else 1.0)
        measures = cover.of(group.notes)
        is_echo, is_of_others = group.notes[0] in echoes, cover.names_others
        return Answer(group.folder, score, group.is_talk, group.is_said, hits, *measures, is_echo, is_of_others)

    answers = []
    for group in turn_groups.by_turn(view, kind_of, scores, order, limit=limit):
        answer = answer_of(group)
        if not (answer.is_echo and group.is_retold) and not _is_generated(config, answer.hits[0], text):
            answers.append(answer)
    return tuple(answers)


def _is_generated(config: Config, first: SearchHit, text: str) -> bool:
    """Whether a hit is a project's page on which only what mdmem wrote has a question's words."""
    return first.kind == "project" and not is_written_on(config, first, frozenset(analysis.query_terms(text)))


def is_written_on(config: Config, page: SearchHit, terms: Set[str]) -> bool:
    """Whether what people wrote on a page of mdmem's has at least half of a question's terms."""
    written = people.on_page(config.vault, people.try_load_clean(config.vault, page.path))
    return 2 * len(terms & analysis.counts(written).keys()) >= len(terms) > 0


def seen_everywhere(config: Config, asker: Asker, budget_seconds: float) -> View | None:
    """Return a view that includes notes edited in place, checking every note; None if unchanged or too many."""
    view = index.opened(config)
    if view is None or view.size > freshness.MOST_AT_ONCE:
        return None
    seen = freshness.glance(config, asker.without_session, index.EVERY)
    if seen is None:
        make_ready(config, budget_seconds)
        seen = index.current(config)
    return None if seen is view else seen


def _questions_and_echoes(
    config: Config, view: View, kind_of: Kinds, notes: Iterable[int]
) -> tuple[set[int], set[int]]:
    """Return the notes of turns that only asked about earlier work, and of turns answered from an injection alone.

    Both repeat the words of what they ask about.
    """
    only_asked, echoes = set(), set()
    marks_given: dict[str, frozenset[str]] = {}

    def was_given(path: str) -> bool:
        folder = path.rpartition("/")[0]
        if marks_given.get(folder) == frozenset():
            return False  # nothing was injected into the session
        prompt = people.try_load_clean(config.vault, path)
        if folder not in marks_given:
            marks_given[folder] = journal.Record(config, prompt.fact("session")).given()
        return journal.recalled_mark(prompt.body) in marks_given[folder]

    for note in islice(notes, MAX_CHECKED):
        if not turn_groups.session_folder(view, note):
            continue
        if kind_of(note) in (turn_groups.UNANSWERED, turn_groups.ECHO, turn_groups.RETOLD):
            only_asked.add(note)
        prompts = kind_of.prompts(note)
        if prompts and all(map(was_given, prompts)):  # stops at the first that was not
            echoes.add(note)
    return only_asked, echoes


def make_ready(config: Config, budget_seconds: float) -> None:
    """Update the index within a prompt's time limit; another process does the rest."""
    freshness.bring_up_to_date(config, budget_seconds=budget_seconds, wait_seconds=0.0, most=freshness.MOST_AT_ONCE)
