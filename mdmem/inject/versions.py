"""Versions: recognizes answers that are versions of one another, of which one took the other back: no rivals."""

from __future__ import annotations

from mdmem.inject import evidence
from mdmem.search import overturned, replaced
from mdmem.search.text import analysis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.config import Config
    from mdmem.search.answering import Answer, Asker
    from mdmem.search.asking.shape import Shape


def in_force(
    config: Config, query: str, asker: Asker, shape: Shape | None, answers: Sequence[Answer]
) -> Sequence[Answer]:
    """Return answers without rivals of the best one that are other versions of it, or the same list if none is.

    These are notes that another one supersedes, and, if there is a shape, turns of a chain of changes.
    """
    kept = [answer.hits[0].path for answer in answers if not answer.folder]
    old = replaced.superseded(config, kept) if len(kept) > 1 else set()
    left = [answer for answer in answers if answer.hits[0].path not in old] if old else answers
    return left if shape is None else _without_changes(config, query, asker, shape, left)


def _without_changes(
    config: Config, query: str, asker: Asker, shape: Shape, answers: Sequence[Answer]
) -> Sequence[Answer]:
    """Return answers without turns of other sessions that changed the best one, or that it changed.

    They are looked for only if the best answer fails for nothing but its rivals.
    """
    best, rivals = evidence.failing_for_rivals(shape, answers)
    if best is None or not rivals:
        return answers
    terms = frozenset(analysis.query_terms(query))
    chain = overturned.of_one_chain(config, terms, asker, [best.hits[0], *(rival.hits[0] for rival in rivals)])
    others = [rival for rival in rivals if rival.hits[0].path in chain]
    return [answer for answer in answers if answer not in others] if others else answers
