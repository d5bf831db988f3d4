"""Frames: finds the question inside an English frame: `could you tell me which …`, `I wonder why …`, `not sure we …`.

People wrap a question in politeness or doubt; what they ask is the clause after it.
"""

from __future__ import annotations

from mdmem.search.asking import references
from mdmem.search.asking.orders import word_set

ASKS = word_set("what whats which when whens where wheres why whys how hows who whos whom whose whatever")
BEFORE_ASKS = word_set("since for in on at by with from to until of under down up behind through")
"""Words before a question word: `since when`, `for how long`, `down to how many`."""

_KNOWS = word_set(
    "know knows me wonder wondering wondered sure certain idea clue curious remember recall understand bother ask "
    "impression"
)
"""The last word of a frame."""
_NOT_ALONE = word_set("me bother remember recall understand ask")
"""Those that are not a frame by themselves."""
_LEARNS = word_set(
    "found figured worked learned learnt realized realised saw knew understood forgot told explained showed"
)
"""Before a last question word, these tell that something is known, as `we found out why` does."""
_FRAME = _KNOWS | word_set(
    "so and but also hey hi hello ok okay hmm well wait quick question btw now then actually again just oh ah um hm uh "
    "erm sorry maybe thanks could can may would will do does dont you i we im id ive am is was are not no any if "
    "kindly happen to tell like want wanted need have has still really anyone anybody someone here for the by chance "
    "quite too never help mind telling explain let "
    "trying it be possible had"
)
_PASSED = word_set("please anymore exactly though you")
_IN_GENERAL = word_set("work works do does mean means internally")
"""Ends of clauses that ask for an explanation: `how signals work`, `what isotonic calibration does`."""
_LINKS = word_set("if whether that")
MAX_WORDS = 12


def is_story(words: list[str]) -> bool:
    """Whether a sentence tells something vaguely known or wondered about. words: folded."""
    return references.is_hearsay(words) or bool(clause(words))


def clause(words: list[str]) -> list[str]:
    """Return the words of the clause that a frame asks for, or [] if the sentence has no frame. words: folded."""
    last = ""
    for at, word in enumerate(words[:MAX_WORDS]):
        if last in _KNOWS and (at > 1 or last not in _NOT_ALONE):
            rest = words[at + (word in _LINKS) :]
            is_question = rest[:1] and (rest[0] in ASKS or (rest[0] in BEFORE_ASKS and not ASKS.isdisjoint(rest[1:2])))
            if not _IN_GENERAL.isdisjoint(rest[-2:]) and "we" not in rest:
                return []
            if is_question or rest[:1] == ["we"] or (word in _LINKS and rest):
                return rest
        if word not in _FRAME and word not in _PASSED:
            return []
        last = last if word in _PASSED else word
    return []


def asks_last(words: list[str], first: str) -> bool:
    """Whether words end as `we solved it how`, but not as `we moved it, no idea where` and `we know why`."""
    if first != "we" or words[-1] not in ASKS:
        return False
    verb = words[-3] if words[-2] == "out" else words[-2]
    return verb not in (_KNOWS - _NOT_ALONE) | _LEARNS
