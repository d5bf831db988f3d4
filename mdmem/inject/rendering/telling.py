"""Telling: judges how informative a sentence of an answer is."""

from __future__ import annotations

from mdmem.search.text import analysis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_CUES = frozenset(
    [
        "because", "cause", "caused", "fixed", "fix", "fixes", "decision", "decided", "now", "pinned", "switched",
        "changed", "added", "removed", "replaced", "moved", "came", "instead", "root", "solved", "resolved", "left",
        "next", "open", "remaining", "fails", "failed", "failing", "use", "uses", "chose", "picked", "dropped",
        "must", "never", "always", "since", "still", "missing", "yet",
    ]
)  # fmt: skip
"""Words in sentences that say what was found out, changed, or left to do."""
_ANNOUNCED = (
    " i will ", " i'll ", " let's ", " let us ", " we will ", " we'll ", " you can now ", " we can now ", " if you ",
    " if you're ", " if you'd ", " next step would ", " next logical step ", " next steps would ",
    " next best step ", " next action ", " it's important to ", " final step would ", " would you like ",
    " do you want ", " let me know ", " shall i ", " tell me which ", " tell me whether ",
)  # fmt: skip
"""Phrases in sentences that say what may be done, not what was done."""
_UNSURE = frozenset(["would", "could", "might", "may", "should", "if", "assume", "assuming", "ideal"])
_MANY = 3
"""With this many of the question's words, such a sentence is shown after all."""
_FILLER = frozenset(["done", "ok", "okay", "great", "sure", "perfect", "thanks", "summary", "pass", "passes", "tests"])

NOTHING_SAID = -1.0
"""Worth of a sentence such as "Done.", shown only if an answer has no other."""


def worth(sentence: str, labeled: str, terms: Collection[str], at: int, count: int) -> float:
    """Return how informative a sentence is. labeled: the sentence after its label, if it is its section's first."""
    words = [word.strip(".,:;!?()`'\"*_").lower() for word in sentence.split()]
    is_opening = sentence.rstrip("*_").endswith(":")
    if (len(words) < 4 and (_FILLER.intersection(words) or is_opening)) or (is_opening and words[0] in _HERE):
        return NOTHING_SAID
    matched = len(terms & analysis.counts(labeled).keys()) if terms else 0
    spoken = f" {' '.join(words)} ".replace(" let's encrypt ", " ")  # the authority
    is_ahead = words[:1] == ["before"] and bool(words[1:2]) and (words[1] in _NEXT or words[1].endswith("ing"))
    if is_ahead or any(announced in spoken for announced in _ANNOUNCED):
        return NOTHING_SAID if matched < _MANY else 0.0
    cues = len(_CUES.intersection(words))
    names = sum("_" in word or "(" in word or "`" in word or "." in word[:-1] for word in sentence.split())
    is_row, is_end = " | " in sentence, at == count - 1 and not points_back(sentence)
    place = (0.0 if matched else -0.5) if is_row else 0.6 if at == 0 else 0.3 if is_end else 0.0
    unsure = 0.0 if _UNSURE.isdisjoint(words) else 0.5
    return matched + min(cues, 2) * 0.7 + min(names, 3) * 0.3 + place - unsure


_NEXT = ("you", "we", "i", "that", "this")
"""Behind `before`, these say what may be done next; `before: 1812 µA` says how it was."""
_HERE = ("here", "here's", "here’s")
_POINTING = ("until", "otherwise", "that", "then", "they", "these", "those", "both")


def is_offer(sentence: str) -> bool:
    """Whether a sentence says what may be done, not what was done or is left to do."""
    return any(announced in f" {sentence.lower()} " for announced in _ANNOUNCED)


def points_back(sentence: str) -> bool:
    """Whether a sentence is not understood without the one before it: `Until then it costs money.`"""
    return sentence.partition(" ")[0].strip("*_,").lower() in _POINTING
