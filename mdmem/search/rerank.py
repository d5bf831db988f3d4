"""Rerank: the best notes looked at again, as an answer and not one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdmem.search.index.view import View

POOL = 150
"""Number of the best notes that are reranked."""
AGAIN = (1.0, 0.7, 0.35)
"""What the score counts of the first, the second and each further note of an agent's session."""


def rerank(view: View, found: dict[int, float]) -> dict[int, float]:
    """Return the scores of all notes; among the best, each further note of a session counts less (`AGAIN`).

    An agent's session holds many notes on one thing, which would fill the first ten places.
    """
    best = sorted(found, key=found.__getitem__, reverse=True)[:POOL]
    return found | _spread(view, found, best)


def _spread(view: View, found: dict[int, float], best: list[int]) -> dict[int, float]:
    seen: dict[int, int] = {}
    spread: dict[int, float] = {}
    for note in best:
        folder = view.folder_of[note]
        if view.is_session[folder]:
            before = seen.get(folder, 0)
            spread[note] = found[note] * AGAIN[min(before, len(AGAIN) - 1)]
            seen[folder] = before + 1
    return spread
