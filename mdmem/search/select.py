"""Which notes a query allows at all: its filters, times, required words and exact phrases."""

from __future__ import annotations

import re
from array import array
from heapq import nlargest
from itertools import chain, compress
from typing import TYPE_CHECKING
from unicodedata import normalize

from mdmem.search import staged
from mdmem.search.index.all_but import AllBut
from mdmem.search.index.view import cached_with_view
from mdmem.search.matches import FIELDS
from mdmem.search.text import analysis
from mdmem.vault import disk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Set

    from mdmem.search.index.view import View
    from mdmem.search.query import Filter, Query
    from mdmem.search.staged import Place

_EVERY_ONE = frozenset(["tag", "file"])
"""Filters that a note can satisfy several times: given twice, both must hold. Of the others, one."""
_WIDE = frozenset(["agent", "kind", "is"])
"""Filters that many notes pass."""
_BY_BEGINNING = frozenset(["session"])
_GLOB = re.compile(r"[*?]")
_PUNCTUATION = re.compile(r"\W+")
_MAX_PREFIX_TERMS = 200
MAX_READ = 10_000
"""No more notes than this are read for a phrase or a beginning of a word: the newest that may have it."""


def allowed(
    view: View, root: str, query: Query, *, internal: bool = False, here: Place | None = None
) -> Set[int] | None:
    """Return the notes that a query allows, or None when it allows every one.

    internal: look among the internal memories, and not, as else, among all other notes.
    here: where the query comes from; what waits on another code branch is left out, unless it is asked for.
    """
    kept = _meeting(view, query)
    for candidates, text in _in_text(view, query):
        candidates = candidates if kept is None else kept.intersection(candidates)
        kept = _with_text(view, root, _newest(view, candidates), text)
    if internal:
        kept = set(view.internal) if kept is None else kept & view.internal
    hidden = set[int]() if internal else set(view.internal)
    if not staged.are_asked_for(query):
        hidden |= staged.hidden(view, here)
    for unwanted in _exclusions(view, root, query):
        hidden.update(unwanted)
    if kept is None:
        return AllBut(view, hidden) if hidden else None
    kept -= hidden
    return kept


def unmatched(view: View, query: Query) -> tuple[str, ...]:
    """Return a sentence for each filter that no note passes, as for a project whose name is misspelled."""
    none = [one for one in dict.fromkeys(query.filters) if one.wanted and not any(True for _ in _filtered(view, one))]
    return tuple(f"No note has {' or '.join(f'{one.key}:{value:.80}' for value in one.values)}." for one in none)


def unread(view: View, query: Query) -> tuple[str, ...]:
    """Return a sentence where more notes may have a phrase or a beginning of a word than are read."""
    if not (query.phrases or query.prefixes):
        return ()
    kept = _meeting(view, query)
    if all(len(found if kept is None else kept.intersection(found)) <= MAX_READ for found, _ in _in_text(view, query)):
        return ()
    texts = " and ".join([*(f'"{phrase}"' for phrase in query.phrases), *(f"{prefix}*" for prefix in query.prefixes)])
    return (f"Only the newest {MAX_READ:,} notes that may have {texts} were read. `until:DAY` looks at older ones.",)


def _meeting(view: View, query: Query) -> set[int] | None:
    """Return the notes that meet what the index alone can tell; None: all."""
    kept: set[int] | None = None
    for condition in _conditions(view, query):
        kept = set(condition) if kept is None else kept.intersection(condition)
    return kept


def _in_text(view: View, query: Query) -> Iterable[tuple[Collection[int], str]]:
    """Yield what must stand in a note's text, and the notes that may have it."""
    for phrase in query.phrases:
        yield _with_all(view, phrase), _wanted(phrase)
    for prefix in query.prefixes:
        yield _packed_with_terms(view, prefix_terms(view, prefix)), _flat(prefix).rstrip()


def _newest(view: View, notes: Collection[int]) -> Iterable[int]:
    """Return the notes that are read of those that may have a text: the newest, and all of the last second."""
    if len(notes) <= MAX_READ:
        return notes
    created = view.numbers("created")
    least = nlargest(MAX_READ, map(created.__getitem__, notes))[-1]
    return [note for note in notes if created[note] >= least]


def _conditions(view: View, query: Query) -> Iterable[Iterable[int]]:
    """Yield the notes that meet each condition; those that the most notes may meet come last."""
    for word in query.must:
        yield with_word(view, word)
    by_key: dict[str, list[Filter]] = {}
    for wanted in query.filters:
        if wanted.wanted:
            by_key.setdefault(wanted.key, []).append(wanted)
    for key in sorted(by_key, key=_WIDE.__contains__):
        found = (_filtered(view, one) for one in by_key[key])
        if key in _EVERY_ONE:
            yield from found
        else:
            yield chain.from_iterable(found)
    if query.since is not None or query.until is not None:
        first = float("-inf") if query.since is None else query.since
        yield view.within(first, float("inf") if query.until is None else query.until)


def _exclusions(view: View, root: str, query: Query) -> Iterable[Iterable[int]]:
    for unwanted in query.filters:
        if not unwanted.wanted:
            yield _filtered(view, unwanted)
    for text in query.must_not:
        yield with_phrase(view, root, text) if _PUNCTUATION.search(text.strip()) else with_word(view, text)


# -- front matter ------------------------------------------------------------------------------------


def _filtered(view: View, wanted: Filter) -> Iterable[int]:
    """Yield the notes that pass a filter, some of them several times."""
    return chain.from_iterable(_with_facet(view, wanted.key, value) for value in wanted.values)


def _with_facet(view: View, key: str, value: str) -> Iterable[int]:
    value = value.strip("/") + ("/" if value.endswith("/") else "") if key == "file" else value
    if key == "file" and _GLOB.search(value):
        wanted = _glob(value)
        return view.with_facets("file:", lambda own: wanted.fullmatch(own.decode("utf-8", "replace")))
    found = view.postings("facet", f"{key}:{value}")
    if found or key in ("kind", "is", "tag"):
        return chain.from_iterable(notes for notes, _ in found)
    if key in _BY_BEGINNING:
        return view.with_facets(f"{key}:{value}", lambda _: True)
    return _with_part(view, f"{key}:", value.encode("utf-8", "surrogatepass"))


@cached_with_view
def _with_part(view: View, start: str, part: bytes) -> array[int]:
    """Return the notes that have a facet which begins so and has `part` in what follows."""
    return array("I", view.with_facets(start, lambda own: part in own, part))


def _glob(value: str) -> re.Pattern[str]:
    """Read a glob over a file's path, or over any end of it: `*` and `?` stay within a folder, `**` does not.

    What stands between two wildcards is taken where it is found first: trying other places could only find it later.
    """
    first, *rest = re.split(r"((?<![^/])(?:\*\*/)+|\*\*+)", value)
    *groups, last = [
        _within_folder(first),
        *(_folders(run) + _within_folder(part) for run, part in zip(rest[::2], rest[1::2], strict=True)),
    ]
    return re.compile("".join([*(f"(?>{group})" for group in groups), last]))


def _folders(run: str) -> str:
    """Write `**`, or `**/` where a folder's name may begin, as a regular expression."""
    return "(?:.*?/)??" if run.endswith("/") else ".*?"


def _within_folder(part: str) -> str:
    """Write a part of a glob without `**` as a regular expression."""
    first, *rest = (re.escape(text).replace(r"\?", "[^/]") for text in part.split("*"))
    found = [f"[^/]*?{text}" for text in rest]
    return "".join([first, *(f"(?>{text})" for text in found[:-1]), *found[-1:]])


# -- text --------------------------------------------------------------------------------------------


def with_terms(view: View, terms: Iterable[str]) -> set[int]:
    """Return the notes that have one of these terms in any field."""
    return set(chain.from_iterable(view.each(field, term) for term in terms for field in FIELDS))


def _packed_with_terms(view: View, terms: Iterable[str]) -> array[int]:
    """Return what `with_terms` does, in order: a set of nearly all notes takes ten times the memory."""
    has_one = bytearray(view.size)
    for note in chain.from_iterable(view.each(field, term) for term in terms for field in FIELDS):
        has_one[note] = 1
    return array("I", compress(range(view.size), has_one))


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
    for note in sorted(notes):  # those of a folder after each other: a packed session is read once
        data = disk.readable(root, view.path(note))
        if data is not None and wanted in _flat(data.decode("utf-8", "replace")):
            kept.add(note)
    return kept


def _wanted(phrase: str) -> str:
    wanted = _flat(phrase)
    return wanted.strip() if analysis.is_unspaced(wanted.strip()) else wanted


def _flat(text: str) -> str:
    return f" {_PUNCTUATION.sub(' ', normalize('NFKC', text).lower()).strip()} "
