"""Similarity of written notes: which have the same subject, and which say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault.note import Parsed

SUBJECT, SUBJECT_OF_FIRST = 0.5, 0.33
"""Share of common words at which titles have the same subject; the second if both begin with the same word."""
SAME = 0.85
"""Share of common words at which two notes say the same."""
_MAX_BODY_CHARS = 4_000


def key(parsed: Parsed) -> str:
    """Return the canonical key of a note: the sorted stems of its title, and its project."""
    project = parsed.fact("project")
    return "-".join(sorted(_terms(parsed.fact("title")))) + (f"@{project}" if project else "")


def pairs(notes: Sequence[Parsed]) -> Iterator[tuple[int, Parsed]]:
    """Yield notes that share subject and project with an earlier one: their index, and the earlier note.

    notes: newest first; each is paired with the latest earlier note that matches.
    """
    words = [_in_order(one.fact("title")) for one in notes]
    titles = [frozenset(terms) for terms in words]
    having: dict[tuple[str, str], list[int]] = {}
    for at, one in enumerate(notes):
        for term in titles[at]:
            having.setdefault((one.fact("project"), term), []).append(at)
    for at, one in enumerate(notes):
        project = one.fact("project")
        others = {other for term in titles[at] for other in having[project, term] if other > at}
        alike = (other for other in sorted(others) if _same_subject(words[at], words[other]))
        first = next(alike, None)
        if first is not None:
            yield at, notes[first]


def _same_subject(one: Sequence[str], other: Sequence[str]) -> bool:
    needed = SUBJECT_OF_FIRST if one[:1] == other[:1] else SUBJECT
    return _share(frozenset(one), frozenset(other)) >= needed


def says_the_same(one: Parsed, other: Parsed) -> bool:
    """Whether two notes share nearly all words."""
    return _share(_all_terms(one), _all_terms(other)) >= SAME


def _all_terms(parsed: Parsed) -> frozenset[str]:
    return _terms(f"{parsed.meta.get('title', '')}\n{parsed.body[:_MAX_BODY_CHARS]}")


def _terms(text: str) -> frozenset[str]:
    return frozenset(_in_order(text))


def _in_order(text: str) -> list[str]:
    words = " ".join(word for word in analysis.words(text) if word.lower() not in STOPWORDS)
    return list(analysis.counts(words))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
