"""Which notes a query allows at all: its filters, times, required words and exact phrases."""

from __future__ import annotations

import re
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import normalize

from mdmem.search import staged
from mdmem.search.index.all_but import AllBut
from mdmem.search.ranking import FIELDS
from mdmem.search.text import analysis
from mdmem.vault import disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from mdmem.search.index.view import View
    from mdmem.search.query import Filter, Query
    from mdmem.search.staged import Place

_EVERY_ONE = frozenset(["tag", "file"])
"""Filters that a note can satisfy several times: given twice, both must hold. Of the others, one."""
_BY_BEGINNING = frozenset(["session"])
_GLOB = re.compile(r"[*?]")
_PUNCTUATION = re.compile(r"\W+")
_MAX_PREFIX_TERMS = 200


def allowed(
    view: View, root: str, query: Query, *, internal: bool = False, here: Place | None = None
) -> Set[int] | None:
    """Return the notes that a query allows, or None when it allows every one.

    internal: look among the internal memories, and not, as else, among all other notes.
    here: where the query comes from; what waits on another code branch is left out, unless it is asked for.
    """
    conditions = list(_conditions(view, root, query))
    kept: set[int] | None = None
    for condition in conditions:
        kept = condition if kept is None else kept & condition
    if internal:
        kept = set(view.internal) if kept is None else kept & view.internal
    hidden = set[int]() if internal else set(view.internal)
    if not staged.are_asked_for(query):
        hidden |= staged.hidden(view, here)
    for unwanted in _exclusions(view, root, query):
        hidden |= unwanted
    if not hidden:
        return kept
    return AllBut(view, hidden) if kept is None else kept - hidden


def unmatched(view: View, query: Query) -> tuple[str, ...]:
    """Return a sentence for each filter that no note passes, as for a project whose name is misspelled."""
    none = [one for one in query.filters if one.wanted and not _filtered(view, one)]
    return tuple(f"No note has {' or '.join(f'{one.key}:{value}' for value in one.values)}." for one in none)


def _conditions(view: View, root: str, query: Query) -> Iterable[set[int]]:
    by_key: dict[str, list[set[int]]] = {}
    for wanted in query.filters:
        if wanted.wanted:
            by_key.setdefault(wanted.key, []).append(_filtered(view, wanted))
    for key, found in by_key.items():
        yield set.intersection(*found) if key in _EVERY_ONE else set.union(*found)
    if query.since is not None or query.until is not None:
        first = float("-inf") if query.since is None else query.since
        yield view.between(first, float("inf") if query.until is None else query.until)
    for word in query.must:
        yield with_word(view, word)
    for phrase in query.phrases:
        yield with_phrase(view, root, phrase)
    for prefix in query.prefixes:
        yield with_prefix(view, root, prefix)


def _exclusions(view: View, root: str, query: Query) -> Iterable[set[int]]:
    for unwanted in query.filters:
        if not unwanted.wanted:
            yield _filtered(view, unwanted)
    for text in query.must_not:
        yield with_phrase(view, root, text) if _PUNCTUATION.search(text.strip()) else with_word(view, text)


# -- front matter ------------------------------------------------------------------------------------


def _filtered(view: View, wanted: Filter) -> set[int]:
    found: set[int] = set()
    for value in wanted.values:
        found |= _with_facet(view, wanted.key, value)
    return found


def _with_facet(view: View, key: str, value: str) -> set[int]:
    value = value.strip("/") + ("/" if value.endswith("/") else "") if key == "file" else value
    if key == "file" and _GLOB.search(value):
        wanted = _glob(value)
        return view.with_facets("file:", lambda term: wanted.fullmatch(term, len("file:")))
    found = view.notes("facet", f"{key}:{value}")
    if found or key in ("kind", "is", "tag"):
        return found
    if key in _BY_BEGINNING:
        return view.with_facets(f"{key}:{value}", lambda _: True)
    return view.with_facets(f"{key}:", lambda term: value in term.partition(":")[2])


def _glob(value: str) -> re.Pattern[str]:
    """Read a glob over a file's path, or over any end of it: `*` and `?` stay within a folder, `**` does not."""
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", value)
    return re.compile("".join(meant.get(part) or re.escape(part) for part in parts))


# -- text --------------------------------------------------------------------------------------------


def with_terms(view: View, terms: Iterable[str]) -> set[int]:
    """Return the notes that have one of these terms in any field."""
    return set(chain.from_iterable(view.each(field, term) for term in terms for field in FIELDS))


def with_term(view: View, term: str) -> set[int]:
    """Return the notes that have a term in any field."""
    return with_terms(view, (term,))


def with_word(view: View, word: str) -> set[int]:
    """Return the notes that have a word, in any form that has its stem; of an identifier, itself or all its parts."""
    found = [_with_raw_word(view, raw) for raw in analysis.words(word)]
    return set.intersection(*found) if found else set()


def _with_raw_word(view: View, raw: str) -> set[int]:
    whole, *rest = analysis.terms(raw)
    every_part = set.intersection(*(with_term(view, term) for term in rest)) if rest else set()
    if analysis.is_unspaced(raw):
        return with_term(view, whole) & every_part if rest else with_term(view, whole)
    return with_term(view, whole) | every_part


def with_phrase(view: View, root: str, phrase: str) -> set[int]:
    """Return the notes in whose text these words follow each other, whatever punctuation is between them."""
    return _with_text(view, root, _with_all(view, phrase), _wanted(phrase))


def newest_with_phrase(view: View, root: str, phrase: str, among: set[int] | None, most: int) -> set[int]:
    """Return the notes in whose text these words follow each other.

    among: only these; None: all. most: how many of those that have the words are read, the newest first.
    """
    candidates = _with_all(view, phrase)
    candidates = candidates if among is None else candidates & among
    newest = nlargest(most, candidates, key=view.numbers("created").__getitem__)
    return _with_text(view, root, newest, _wanted(phrase))


def _with_all(view: View, phrase: str) -> set[int]:
    """Return the notes that have every term of a phrase, in whatever order."""
    found: set[int] | None = None
    for term in dict.fromkeys(analysis.terms(phrase)):
        own = with_term(view, term)
        found = own if found is None else found & own
    return found or set()


def with_prefix(view: View, root: str, prefix: str) -> set[int]:
    """Return the notes that have a word which begins with `prefix`."""
    candidates = with_terms(view, prefix_terms(view, prefix))
    return _with_text(view, root, candidates, _flat(prefix).rstrip())


def prefix_terms(view: View, prefix: str) -> list[str]:
    """Return the most frequent terms of the words that begin with `prefix`.

    The index has stems: `connecti*` is also looked for under `connect`, and the texts decide.
    """
    start = prefix.lower()
    found: dict[str, int] = {}
    for field in FIELDS:
        for term, count in view.starting_with(field, start).items():
            found[term] = found.get(term, 0) + count
    shorter = [start[:size] for size in range(max(3, len(start) // 2), len(start))]
    found |= {term: 1 for term in [*shorter, *analysis.terms(start)] if view.count("body", term)}
    return sorted(found, key=lambda term: (-found[term], term))[:_MAX_PREFIX_TERMS]


def _with_text(view: View, root: str, notes: Iterable[int], wanted: str) -> set[int]:
    """Keep the notes whose text on disk has `wanted`: words in lower case, single spaces between."""
    kept = set()
    for note in notes:
        data = disk.readable(root, view.path(note))
        if data is not None and wanted in _flat(data.decode("utf-8", "replace")):
            kept.add(note)
    return kept


def _wanted(phrase: str) -> str:
    wanted = _flat(phrase)
    return wanted.strip() if analysis.is_unspaced(wanted.strip()) else wanted


def _flat(text: str) -> str:
    return f" {_PUNCTUATION.sub(' ', normalize('NFKC', text).lower()).strip()} "
