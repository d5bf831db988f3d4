"""The user's prompts that match a query, best or newest first, each with its session and number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mdmem.search import engine, ranking
from mdmem.search import query as filters
from mdmem.search.index.view import View
from mdmem.search.prompts import language
from mdmem.search.prompts.language import PromptQuery
from mdmem.search.prompts.matching import PromptMatcher, TitleMatcher, body
from mdmem.search.query import Query
from mdmem.search.select import allowed
from mdmem.search.staged import Place
from mdmem.search.units import Unit, units_of
from mdmem.views import rows

ORDERS = engine.SORTS


class FoundPrompt(NamedTuple):
    """One prompt. prompt: its number in its session. created: ISO 8601 in UTC. text: all of it."""

    id: str
    path: str
    session: str
    prompt: int
    project: str
    created: str
    title: str
    score: float
    text: str


class PromptSlice(NamedTuple):
    """The requested part of an answer. order: one of `ORDERS`. limit: 0 for no limit."""

    order: str = "relevance"
    limit: int = 0
    offset: int = 0


class MatchedPrompts(NamedTuple):
    """The prompts that match a query. shown: the requested part, in order. total: number of matches."""

    shown: list[int]
    scores: dict[int, float]
    total: int
    hints: tuple[str, ...]


def read(text: str, given: Mapping[str, str | None]) -> tuple[PromptQuery, Query]:
    """Parse a query and its filters; a value that cannot be read is reported as a problem."""
    parsed = language.parse(text)
    narrowed = filters.with_filters(filters.Query(), {"kind": "prompt", **given})
    for key, value, is_wanted in parsed.filters:
        if key == "kind":  # another kind would widen the search: filters by kind are alternatives
            if ("prompt" in value.lower().split(",")) != is_wanted:
                return parsed._replace(problem=f"Only prompts are searched here. {_OTHER_KINDS}"), narrowed
            continue
        condition = filters.parse(f'{"" if is_wanted else "-"}{key}:"{value}"')
        if condition.hints or condition.words:
            return parsed._replace(
                problem=" ".join(condition.hints) or f"Can't read the filter {key}:{value:.40}."
            ), narrowed
        narrowed = narrowed._replace(
            filters=narrowed.filters + condition.filters,
            since=max((at for at in (narrowed.since, condition.since) if at is not None), default=None),
            until=min((at for at in (narrowed.until, condition.until) if at is not None), default=None),
        )
    if narrowed.hints:
        parsed = parsed._replace(problem=" ".join(narrowed.hints))
    return parsed, narrowed


_OTHER_KINDS = "`search` finds notes of other kinds."


def match(
    view: View,
    root: str,
    parsed: PromptQuery,
    narrowed: Query,
    part: PromptSlice,
    *,
    here: Place | None,
    titles_only: bool = False,
) -> MatchedPrompts:
    """Return the prompts that match a parsed query. titles_only: search their titles, not their texts."""
    if parsed.problem:
        return MatchedPrompts([], {}, 0, (parsed.problem,))
    permitted = allowed(view, root, narrowed, here=here)
    among = set(view.all if permitted is None else permitted)
    matched, hints = _matched((TitleMatcher if titles_only else PromptMatcher)(view, root, among), parsed)
    units = [] if titles_only else _units(view, parsed)
    scores = dict.fromkeys(matched, 0.0) | (ranking.scores(view, units, among=matched) if units else {})
    ordered = list(engine.in_order(view, scores, part.order))
    shown = ordered[part.offset :][: part.limit or None]
    return MatchedPrompts(shown, scores, len(ordered), (*parsed.hints, *hints))


def _matched(matcher: PromptMatcher, parsed: PromptQuery) -> tuple[set[int], Sequence[str]]:
    if parsed.tree is None:
        return set(matcher.among), ()
    words = [leaf.text for leaf in language.leaves(parsed.tree)]
    if not parsed.plain:
        return matcher.matching(parsed.tree), ()
    with_all = matcher.every(words)
    if with_all or len(words) < 2:
        return with_all, ()
    with_some = matcher.some(words)
    return with_some, ("No prompt has all of these words; these have some of them.",) if with_some else ()


def _units(view: View, parsed: PromptQuery) -> list[Unit]:
    words = " ".join(leaf.text for leaf in language.leaves(parsed.tree) if leaf.op != "prefix")
    return ranking.affordable(view, units_of(view, words)) if words else []


def read_prompt(view: View, root: str, number: int, score: float, *, with_text: bool = True) -> FoundPrompt:
    """Return a prompt that matched. with_text: read its text too."""
    row = rows.row(view, number)
    text = body(root, row.path) if with_text else ""
    return FoundPrompt(row.id, row.path, row.session, row.prompt, row.project, row.created, row.title, score, text)
