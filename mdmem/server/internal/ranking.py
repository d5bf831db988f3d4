"""How well a memory answers a question, 0 to 1, reckoned from the memories of its own scope alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from mdmem.search.text import analysis
from mdmem.server.internal.memories import Memory

K = 1.2
B = 0.75
PIECE = 3
"""How many letters the pieces have by which likeness is measured."""


def relevance(memories: Sequence[Memory], query: str, alpha: float = 0.0) -> dict[str, float]:
    """Return each memory that has something of a question its relevance, by id: the share of the most it could have.

    alpha: what part of it is likeness of letters, which finds other spellings; the rest is words (BM25).
    """
    by_words = _by_words(memories, analysis.query_terms(query)) if alpha < 1 else {}
    by_letters = _by_letters(memories, query) if alpha > 0 else {}
    found = {}
    for memory in memories:
        share = round((1 - alpha) * by_words.get(memory.id, 0.0) + alpha * by_letters.get(memory.id, 0.0), 4)
        if share > 0:
            found[memory.id] = share
    return found


def _by_words(memories: Sequence[Memory], terms: Sequence[str]) -> dict[str, float]:
    having = {term: sum(term in memory.counts for memory in memories) for term in terms}
    rarity = {term: log(1 + (len(memories) + 1) / (count + 0.5)) for term, count in having.items()}
    most = sum(rarity.values())
    lengths = {memory.id: sum(memory.counts.values()) for memory in memories}
    average = sum(lengths.values()) / (len(lengths) or 1) or 1.0
    found = {}
    for memory in memories:
        flat = K * (1 - B + B * lengths[memory.id] / average)
        gains = (rarity[term] * times / (times + flat) for term in terms if (times := memory.counts.get(term)))
        found[memory.id] = sum(gains) / most if most else 0.0
    return found


def _by_letters(memories: Sequence[Memory], query: str) -> dict[str, float]:
    wanted = _pieces(query)
    texts = {memory.id: f" {memory.title} {memory.content} ".casefold() for memory in memories}
    return {name: sum(piece in text for piece in wanted) / (len(wanted) or 1) for name, text in texts.items()}


def _pieces(text: str) -> set[str]:
    found = set()
    for word in analysis.words(text.casefold()):
        padded = f" {word} "
        found |= {padded[at : at + PIECE] for at in range(len(padded) - PIECE + 1)}
    return found
