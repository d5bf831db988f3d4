"""Echoes: separates answers that only repeat what was recalled for them from those that say something new.

An agent that was given notes and ran no tool mostly repeats them; but it may also decide something with the person.
"""

from __future__ import annotations

from mdmem.search.answering import Answer
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdmem.search.hits import SearchHit

_CHARS = 20_000
"""How much of a note is read."""


def told_apart(root: str, answers: Sequence[Answer], query: str) -> Sequence[Answer]:
    """Return answers in which an echo is none if it says a word of the query that nobody said or asked before."""
    if not any(answer.is_echo for answer in answers):
        return answers
    wanted = frozenset(sought(query))
    known = in_hits(root, (hit for answer in answers if not answer.is_echo for hit in answer.hits), wanted)

    def is_new(answer: Answer) -> bool:
        said = in_hits(root, (hit for hit in answer.hits if hit.kind == "response"), wanted - known)
        return bool(said and said - in_hits(root, (hit for hit in answer.hits if hit.kind == "prompt"), said))

    return [answer.replace(is_echo=False) if answer.is_echo and is_new(answer) else answer for answer in answers]


def sought(query: str) -> Iterator[str]:
    """Yield the terms of a query's words, and its numbers and versions as they are written, such as `2.17`."""
    for word in query.split():
        typed = word.strip(".,:;?!()[]'\"`").lower()
        if any(map(str.isdigit, typed)):
            yield typed
        else:
            yield from (term for term in analysis.query_terms(word) if term not in STOPWORDS)


def in_hits(root: str, hits: Iterable[SearchHit], wanted: frozenset[str]) -> frozenset[str]:
    """Return what is in the titles and the beginnings of the texts of some notes."""
    return in_texts((f"{hit.title}\n{people.load_clean(root, hit.path).body}" for hit in hits), wanted)


def in_texts(texts: Iterable[str], wanted: frozenset[str]) -> frozenset[str]:
    """Return what is in the beginnings of some texts."""
    found: set[str] = set()
    for text in texts if wanted else ():
        text = text[:_CHARS]
        numbers = {one for one in wanted if one[-1:].isdigit() and _has_number(text.lower(), one)}
        found |= (wanted & analysis.counts(text).keys()) | numbers
    return frozenset(found)


def _has_number(text: str, number: str) -> bool:
    """Whether a text has a number or version that is not part of a longer one."""
    before, found, after = text.partition(number)
    return bool(found) and not before[-1:].isalnum() and not after[:1].isalnum()
