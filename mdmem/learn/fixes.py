"""Fixes: what solved an error before. Callers bring the index up to date first."""

from __future__ import annotations

import re

from mdmem.config import Config
from mdmem.search import engine, freshness, withheld
from mdmem.search.all_but import AllBut
from mdmem.search.index.view import View
from mdmem.search.solved import Finder, Fix
from mdmem.search.text import entities, errors

_NEAR = 40


def fixes(
    config: Config, error: str = "", *, project: str = "", limit: int = 5, reader: str | None = None
) -> list[Fix]:
    """Return what solved an error before, the same error first, then the latest; without an error, the latest fixes.

    error: output, a line of it, or just a name such as `KeyError`. project: only this one; "" for all.
    reader: the project of the agent that reads them, which is not shown every note; None for a person.
    """
    signatures = errors.signatures(error) or list(filter(None, map(errors.normalized, error.splitlines())))
    if error.strip() and not signatures:
        return []
    similar_runs = _similar_runs(config, error) if signatures else []

    def answer(view: View) -> list[Fix]:
        hidden = view.internal if reader is None else view.internal | withheld.from_project(view, reader)
        among = view.of_project(project) - hidden if project else AllBut(view, hidden)
        finder = Finder(config, view, among, by_runs=bool(signatures))
        named = view.notes("facet", *entities.facets([error])) & among if len(error.split()) == 1 else set()
        return finder.around(named, limit) or finder.find(signatures, similar_runs, limit)

    return freshness.ask(config, answer)


def _similar_runs(config: Config, error: str) -> list[str]:
    """Return the paths of failed runs that share words with an error."""
    words = " ".join(re.findall(r"\w+", "\n".join(list(errors.telling(error))[:5]) or error[:500]))
    options = engine.SearchOptions(limit=_NEAR, collapse=False, update=False, reads_days=False)
    result = engine.search(config, words, options, state="failed")
    if not result.hits and " " not in words:
        result = engine.search(config, f"{words}*", options, state="failed")  # the start of a name: `onSave`
    return [hit.path for hit in result.hits]
