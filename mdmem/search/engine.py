"""Engine: finds notes for a query with filters and an order, and returns them as hits."""

from __future__ import annotations

import time
from functools import cache, partial
from heapq import nlargest
from itertools import groupby, islice

from mdmem.named_tuple import NamedTuple
from mdmem.search import duplicates, freshness, index, ranking, replaced, snippet, staged, turn_groups
from mdmem.search.all_but import Unranked
from mdmem.search.asking import shape
from mdmem.search.asking.english import SURE
from mdmem.search.hits import SNIPPET_CHARS, ManyHits, SearchHit, Shown, hits_of, read
from mdmem.search.index import completion, scan
from mdmem.search.index.layout import FLAGS, KIND_STEP, KINDS
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.search.units import Unit, is_known, units_of
from mdmem.vault.note import PAGES, WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from mdmem.config import Config
    from mdmem.search.index import Changes
    from mdmem.search.index.view import View
    from mdmem.search.query import Query
    from mdmem.search.staged import Place

    Arrange = Callable[[View, Query, Mapping[int, float], Iterator[int]], tuple[Iterator[int], Mapping[int, str]]]
    """Takes a query, the notes' scores and the ranked notes; returns them in another order, and the `Shown.later`."""

SORTS = ("relevance", "newest", "oldest")
PINNED, EDITED, RECENT = 0.15, 0.1, 0.05
"""Relative bonus of a note that a person pinned or edited, or that is from today (halved every month)."""
WORTH = {
    "prompt": 0.85, "response": 1.15, "summary": 1.15, **dict.fromkeys(WRITTEN, 1.25),
    "observation": 0.7, "session": 0.6, "project": 0.6,
}  # fmt: skip
"""Worth of a note to an agent, by kind; 1 for other kinds."""
MAX_DOUBTED = 8
"""Maximum number of a query's words, including pasted ones, that can trigger a check of every file."""
_MONTH_SECONDS = 30 * 86_400
_LOOK_AHEAD = 200
"""Number of notes after the last one shown that are still checked for duplicates of shown ones."""


class SearchResult(NamedTuple):
    """The result of a search. total: number of matching notes, including similar ones, however many are in `hits`.

    hints: sentences for the user. suggestion: the query with unknown words replaced, or None.
    changes: the result of updating the index.
    """

    hits: Sequence[SearchHit] = ()
    total: int = 0
    hints: tuple[str, ...] = ()
    suggestion: str | None = None
    changes: Changes = index.Changes()


class SearchOptions(NamedTuple):
    """Options of a search.

    sort: one of SORTS. limit, offset: the part of the results. collapse: equal notes count as one.
    snippet_chars: length of a snippet. now: a time other than the clock's.
    update: first update the index, checking every file only if a word is unknown or nothing is found; then check the
        files of all hits.
    check_shown, check_all: check these files even without `update`.
    guess: a text whose words are added to the query's, and count less.
    reads_days: words such as `last tuesday` are days, unless the query has a time.
    here: where the query comes from; notes staged on another code branch are found only by `branch:` or `is:staged`.
    """

    sort: str = "relevance"
    limit: int = 10
    offset: int = 0
    collapse: bool = True
    snippet_chars: int = SNIPPET_CHARS
    now: datetime | None = None
    update: bool = True
    check_shown: bool = False
    check_all: bool = False
    guess: str = ""
    here: Place | None = None
    reads_days: bool = True


_DEFAULTS = SearchOptions()


def search(
    config: Config,
    query: Query | str,
    options: SearchOptions = _DEFAULTS,
    arrange: Arrange | None = None,
    **filters: str | Iterable[str] | None,
) -> SearchResult:
    """Answer a query in the query language (see `query`); never fails because another process is writing.

    arrange: changes the order of ranked notes, before a part of them is taken.
    filters: kind, project, session, tool, file, tag, agent, branch, since, until, on, and `state` for `is:`.
    """
    from mdmem.search import query as language

    filters["is"] = filters.pop("state", None)
    parsed = language.parse(query, options.now) if isinstance(query, str) else query
    parsed = language.with_filters(parsed, filters, options.now)
    dated = _of_days(parsed, options.now) if options.reads_days else None
    if dated is None:
        return _search(config, parsed, options, arrange)
    of_days, days, typed = dated
    found = _search(config, of_days, options, arrange)
    if found.total:
        word = f'"{typed}"' if typed else "a day's name"
        hint = f"Only notes {days} were searched. To search for {word} as text, put it in quotes."
        return found._replace(hints=(*found.hints, hint))
    found = _search(config, parsed, options, arrange)
    return found._replace(hints=(*found.hints, f"Nothing {days} matches: all days were searched."))


def _of_days(query: Query, now: datetime | None) -> tuple[Query, str, str] | None:
    """Return a query for the days that its words name, these days, and the words that name them.

    None if it names none, or has a filter.
    """
    if not query.words or query.since is not None or query.until is not None:
        return None
    from mdmem import when
    from mdmem.search import days

    dated = days.in_search(query.words, now or when.now())
    if dated is None:
        return None
    return query._replace(words=dated.words, since=dated.since, until=dated.until), dated.days, dated.typed


def _search(config: Config, parsed: Query, options: SearchOptions, arrange: Arrange | None) -> SearchResult:
    """Answer a parsed query from an index that is as fresh as the options demand."""
    parsed = parsed._replace(words=_topic(parsed.words))
    changes, notices = _up_to_date(config, update=options.update)
    memory_view, notices = freshness.past_writers(config, changes, notices)
    is_partial = not changes.complete and (changes is not freshness.BUSY or completion.is_running(config))
    words_of = cache(partial(_units, query=parsed))

    def answer(view: View) -> SearchResult:
        return _answer(view, config, parsed, options, words_of(view), arrange, is_partial=is_partial)

    checks_shown = (options.update or options.check_shown) and memory_view is None
    may_check_all = checks_shown and (options.update or options.check_all) and not is_partial
    if may_check_all and freshness.answered(config, lambda view: _has_unknown(view, words_of(view))):
        notices += freshness.check_all(config)
        checks_shown = may_check_all = False
    result = freshness.answered(config, answer, memory_view)
    if result is not None and may_check_all and not result.total:
        notices += freshness.check_all(config)
        result = freshness.answered(config, answer)
    elif result is not None and checks_shown:
        result = _again_if_stale(config, result, answer)
    result = result or SearchResult(hints=parsed.hints)
    return result._replace(hints=(*result.hints, *notices, *freshness.untold(config)), changes=changes)


def _answer(
    view: View,
    config: Config,
    query: Query,
    options: SearchOptions,
    words: list[Unit],
    arrange: Arrange | None,
    *,
    is_partial: bool,
) -> SearchResult:
    """Return what a view has for a query. words: its units. is_partial: not all notes are in the index."""
    from mdmem.search import select, spelling

    is_ranked = options.sort == "relevance"
    most = _needed(options) if is_ranked else None
    guesses = guessed(view, config, options.guess)
    scores = _find(view, config.vault, query, words, here=options.here, now=options.now, guesses=guesses, most=most)
    order = in_order(view, scores, options.sort)
    later: Mapping[int, str] = {}
    if is_ranked and query.words:
        order = replaced.newest_first(view, config.vault, turn_groups.echoes_last(view, config.vault, order))
        order, later = arrange(view, query, scores, order) if arrange is not None else (order, later)
    page = _part(view, order, options)
    hidden, chars = select.withheld_by(view, query), options.snippet_chars
    shown = Shown(page, scores, words, chars, answers=True, withheld=hidden, successors=True, later=later)
    hits = hits_of(view, config, shown)
    is_whole = not is_partial and not completion.is_running(config)
    hints = select.unmatched(view, query) if not scores and is_whole else select.unread(view, query)
    total = scores.total if isinstance(scores, ranking.Scores) else len(scores)
    return SearchResult(hits, total, (*query.hints, *hints), spelling.suggest(view, config.vault, query))


def _has_unknown(view: View, units: list[Unit]) -> bool:
    """Whether a word is in no note: somebody may just have written it into an old one."""
    return not all(any(is_known(view, term) for term, _ in unit.terms) for unit in units[:MAX_DOUBTED])


def _up_to_date(config: Config, *, update: bool) -> tuple[Changes, tuple[str, ...]]:
    """Update the index if wanted, but do not index a whole large vault while somebody waits."""
    return freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE) if update else (index.Changes(), ())


def _again_if_stale(
    config: Config, result: SearchResult, answer: Callable[[View], SearchResult]
) -> SearchResult | None:
    """Return the result, or a new one if a file that it shows has changed since the short scan."""
    view = index.current(config)
    changed = view and scan.at_notes(config.vault, view, _shown_notes(view, result.hits))
    if not changed:
        return result
    paths = [*changed.gone, *(entry.path for entry in changed.files)]
    freshness.bring_up_to_date(config, quick=False, paths=paths)
    return freshness.answered(config, answer)


def _shown_notes(view: View, hits: Sequence[SearchHit]) -> Iterable[int]:
    if isinstance(hits, ManyHits):
        return hits.notes
    return {note for hit in hits if (note := view.find(hit.path)) is not None}


def _topic(words: str) -> str:
    """Return the subject of a question about earlier work: `what did we decide about X` searches for X."""
    question = shape.of(words) if " " in words else None
    if question is None or question.grade < SURE or set(analysis.words(question.topic.lower())) <= STOPWORDS:
        return words
    return question.topic


def batch(config: Config, queries: Iterable[tuple[str, str]], *, limit: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the results of many questions, each a name and plain words, as the name and paths of notes.

    The index is updated once, before the first.
    """
    from mdmem.search.query import Query

    freshness.bring_up_to_date(config)
    for name, text in queries:
        query = Query(words=_topic(text))

        def answer(view: View, query: Query = query) -> list[str]:
            scores = _find(view, config.vault, query, _units(view, query))
            return [view.path(note) for note in islice(in_order(view, scores), limit)]

        yield name, freshness.answered(config, answer) or []


def prior_by_kind(view: View, now: datetime | None) -> Callable[[int], float]:
    """Return the function for a note's worth to an agent, whatever the question, including that of its kind."""
    worth, flags = prior(view, now), view.numbers("flags")
    worth_by_kind = [WORTH.get(kind, 1.0) for kind in KINDS]
    return lambda note: worth(note) * worth_by_kind[flags[note] // KIND_STEP]


def related(
    config: Config,
    reference: str,
    *,
    limit: int = 10,
    here: Place | None = None,
    update: bool = True,
) -> SearchResult:
    """Return notes similar to one, by its most characteristic words; no pages of sessions, days and projects.

    reference: an id, its beginning, or a path; see `index.resolve`. here: as for `search`.

    Raises NotFoundError when no note, or more than one, matches.
    """
    changes, notices = _up_to_date(config, update=update)
    path = index.resolve(config, reference)
    text = snippet.body_of(read(config.vault, path))

    def answer(view: View) -> SearchResult:
        units = ranking.typical(view, text)
        scores = ranking.scores(view, units, surroundings=False)
        itself = view.find(path)
        hidden = view.internal | view.of_kinds(PAGES) | staged.hidden(view, here)
        for note in {*hidden, *([] if itself is None else [itself])}:
            scores.pop(note, None)
        scores = ranking.with_enough(view, units, scores)
        page = _part(view, in_order(view, scores), SearchOptions(limit=limit))
        hits = hits_of(view, config, Shown(page, scores, units, successors=True))
        return SearchResult(hits, len(scores), notices, None, changes)

    return freshness.answered(config, answer) or SearchResult(hints=notices, changes=changes)


# -- what matches ------------------------------------------------------------------------------------


def _find(
    view: View,
    root: str,
    query: Query,
    units: list[Unit],
    *,
    here: Place | None = None,
    now: datetime | None = None,
    guesses: Iterable[Unit] = (),
    most: int | None = None,
) -> Mapping[int, float]:
    """Return the notes that match a query with their scores, 0 if nothing is ranked. units: the query's.

    guesses: further units that only rank. most: as for `ranking.scores`.
    """
    from mdmem.search import select

    permitted = select.allowed(view, root, query, here=here)
    if not units:
        return Unranked(view.all if permitted is None else permitted)
    ranked_units = [*ranking.affordable(view, units), *guesses]
    required = permitted if query.must or query.phrases or query.prefixes else None
    most = most if required is None else None
    scores = ranking.scores(view, ranked_units, among=permitted, prior=prior(view, now), most=most)
    scores = ranking.rerank(view, ranking.with_numbers(view, root, query.text, scores))
    if required is not None:
        return dict.fromkeys(required, 0.0) | scores
    return scores


def _units(view: View, query: Query) -> list[Unit]:
    from mdmem.search import select

    terms_by_prefix = [select.prefix_terms(view, prefix) for prefix in query.prefixes]
    return units_of(view, query.text) + [
        Unit(tuple((term, 1.0) for term in terms)) for terms in terms_by_prefix if terms
    ]


def guessed(view: View, config: Config, guess: str) -> list[Unit]:
    """Return the units of a guess's words, each with less weight than a word of the query."""
    weight = config.settings.expand.weight
    units = ranking.affordable(view, units_of(view, guess), ranking.MAX_POSTINGS // 2) if guess and weight else []
    return [Unit(tuple((term, share * weight) for term, share in unit.terms)) for unit in units]


def prior(view: View, now: datetime | None) -> Callable[[int], float]:
    """Return the function for a note's bonus, whatever the question: pinned, edited or reviewed, and recent notes."""
    created, flags = view.numbers_of("created"), view.numbers("flags")
    today = now.timestamp() if now is not None else time.time()

    def worth(note: int) -> float:
        months = max(0.0, today - created[note]) / _MONTH_SECONDS
        return (
            1.0
            + (PINNED if flags[note] & FLAGS["pinned"] else 0.0)
            + (EDITED if flags[note] & FLAGS["edited"] else 0.0)
            + (RECENT * 0.5**months if months < 24 else 0.0)
        )

    return worth


# -- in which order ----------------------------------------------------------------------------------


def in_order(view: View, scores: Mapping[int, float], sort: str = "relevance") -> Iterator[int]:
    """Yield the notes best first (or newest, or oldest), equal ones by path, so that the order is deterministic.

    Paths of notes of the same second are in the order of events; with the newest first, the last comes first.
    """
    ranked = sort == "relevance" and not isinstance(scores, Unranked) and any(scores.values())
    key: Callable[[int], float] = scores.__getitem__ if ranked else view.numbers("created").__getitem__
    for _, equals in groupby(_by_key(scores, key, falls=sort != "oldest"), key=key):
        group = list(equals)
        yield from group if len(group) == 1 else sorted(group, key=view.path, reverse=not ranked and sort != "oldest")


def _needed(options: SearchOptions) -> int:
    """Return how many of the best notes a result may need, including those that are moved down later."""
    return options.offset + 4 * options.limit + _LOOK_AHEAD + ranking.RERANKED + turn_groups.LOOKED_AT


_FIRST = 250
"""Number of notes sorted before the others, which are rarely needed."""


def _by_key(notes: Collection[int], key: Callable[[int], float], *, falls: bool) -> Iterator[int]:
    """Yield notes sorted by key, the first _FIRST without sorting all."""
    remaining = notes
    if falls and len(notes) > 2 * _FIRST:
        first = nlargest(_FIRST, notes, key=key)
        lowest = key(first[-1])
        yield from (note for note in first if key(note) != lowest)
        remaining = [note for note in notes if key(note) <= lowest]
    yield from sorted(remaining, key=key, reverse=falls)


def _part(view: View, order: Iterator[int], options: SearchOptions) -> dict[int, int]:
    """Return the notes of the requested part, each with the number of later notes that say the same."""
    end = options.offset + options.limit
    if not options.collapse:
        return dict.fromkeys(islice(order, options.offset, end), 0)
    similar: dict[int, int] = {}
    for note, same in duplicates.collapse(view, islice(order, end + 3 * options.limit + _LOOK_AHEAD)):
        if same is not None:
            similar[same] += 1
        elif len(similar) == end:
            break
        else:
            similar[note] = 0
    return dict(islice(similar.items(), options.offset, None))
