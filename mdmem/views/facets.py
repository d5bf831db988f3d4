"""Facets of a search: among all notes that match, how many are of each kind, project, tool, file and time."""

from __future__ import annotations

import heapq
import time
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from mdmem.search import ranking, select, staged
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.units import units_of

if TYPE_CHECKING:
    from mdmem.search.index.view import View
    from mdmem.search.query import Query

MOST = 8
_FILES_OF = 300
"""Number of the newest notes in which files are counted: each has to be unpacked."""


def count(view: View, root: str, query: Query) -> dict[str, dict[str, int]]:
    """Count what a query matches, by kind, project, tool and file; most first, at most `MOST` of each."""
    found = matching(view, root, query)
    made = {key: _by_term(view, key, found) for key in ("project", "tool", "agent")}
    return {"kind": _by_kind(view, found), **made, "file": _by_file(view, found), "time": _by_age(view, found)}


def matching(view: View, root: str, query: Query) -> set[int]:
    """Return every note that a query matches."""
    permitted = select.allowed(view, root, query, here=staged.ANYWHERE)
    units = ranking.affordable(view, units_of(view, query.text))
    if not units or query.must or query.phrases or query.prefixes:
        return set(view.all) if permitted is None else permitted
    found = set().union(*(select.with_term(view, term) for unit in units for term, _ in unit.terms))
    return found if permitted is None else found & permitted


def _most(counted: Counter[str]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST])


def _by_kind(view: View, found: set[int]) -> dict[str, int]:
    flags = view.numbers("flags")
    places = Counter(flags[number] // KIND_STEP for number in found)
    counted = Counter({KINDS[place]: total for place, total in places.items() if KINDS[place]})
    if places[0]:  # kinds that have no place of their own among the flags
        known = {f"kind:{kind}" for kind in KINDS}
        others = (term for term in view.starting_with("facet", "kind:") if term not in known)
        counted.update({term[5:]: len(view.notes("facet", term) & found) for term in others})
    return _most(+counted)


def _by_term(view: View, key: str, found: set[int]) -> dict[str, int]:
    terms = (term for term in view.starting_with("facet", f"{key}:") if len(term) > len(key) + 1)
    return _most(+Counter({term[len(key) + 1 :]: len(view.notes("facet", term) & found) for term in terms}))


def _by_file(view: View, found: set[int]) -> dict[str, int]:
    created = view.numbers("created")
    newest = heapq.nlargest(_FILES_OF, found, key=created.__getitem__)
    return _most(Counter(name for number in newest for name in view.facts(number).get("files", ())))


def _by_age(view: View, found: set[int]) -> dict[str, int]:
    created, now = view.numbers("created"), time.time()
    ages = {"since:1d": 1, "since:7d": 7, "since:30d": 30, "since:365d": 365}
    times = sorted(map(created.__getitem__, found))
    counted = {name: len(times) - bisect_left(times, now - days * 86_400) for name, days in ages.items()}
    return {name: total for name, total in counted.items() if total}
