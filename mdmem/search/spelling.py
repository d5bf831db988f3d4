"""Spelling: suggests the nearest known word for one that no note has ("did you mean")."""

from __future__ import annotations

from mdmem.search.text import analysis
from mdmem.search.units import is_known
from mdmem.vault import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.index.view import View
    from mdmem.search.query import Query

MIN_CHARS = 4
MAX_WORDS = 8
MAX_TERMS = 20_000
"""Maximum number of a segment's terms, beginning with the same letter, that are compared."""


def suggest(view: View, root: str, query: Query) -> str | None:
    """Return the query with each unknown word replaced by the nearest known one; None if nothing can be replaced.

    Long queries are skipped: they are pasted text, which has unknown words.
    """
    words = dict.fromkeys(analysis.words(query.text))
    if len(words) > MAX_WORDS:
        return None
    better = query.typed or query.text
    for word in words:
        nearest = _nearest(view, word)
        if nearest is not None:
            import re  # few words are misspelled

            better = re.sub(rf"\b{re.escape(word)}\b", _as_written(view, root, nearest), better)
    return better if better != (query.typed or query.text) else None


def _nearest(view: View, word: str) -> str | None:
    """Return the known term nearest to an unknown word, the most frequent if several are equally near."""
    if len(word) < MIN_CHARS or not word.isalpha():
        return None
    term = analysis.terms(word)[0]
    if is_known(view, term):
        return None
    slips_allowed = 1 if len(term) < 6 else 2
    letters = set(term)  # a typo removes a letter, adds one, or both
    candidates: list[tuple[int, int, str]] = []
    lengths = range(len(term) - slips_allowed, len(term) + slips_allowed + 1)
    for candidate in view.words_of_length(term[0], lengths, MAX_TERMS):
        if len(letters.symmetric_difference(candidate)) <= 2 * slips_allowed and candidate.isalpha():
            slips = distance(term, candidate, slips_allowed)
            if slips <= slips_allowed:
                candidates.append((slips, -view.count("body", candidate), candidate))
    return min(candidates)[2] if candidates else None


def distance(a: str, b: str, limit: int) -> int:
    """Return the number of typos between two words (letters missing, added, replaced, swapped), up to `limit` + 1."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def _as_written(view: View, root: str, term: str) -> str:
    """Return a word as some note spells it, since the index has only its stem."""
    for notes, _ in view.postings("body", term):
        text = (disk.readable(root, view.path(notes[0])) or b"").decode("utf-8", "replace")
        for word in analysis.words(text):
            if term in analysis.terms(word)[:1]:
                return word.lower()
    return term
