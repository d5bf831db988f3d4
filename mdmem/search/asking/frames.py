"""Frames: finds the question inside an English frame: `could you tell me which …`, `I wonder why …`, `not sure we …`.

People wrap a question in politeness or doubt; what they ask is the clause behind it.
"""

from __future__ import annotations

from mdmem.search.asking.orders import word_set

_KNOWS = word_set(
    "know knows me wonder wondering wondered sure certain idea clue curious remember recall understand bother ask"
)
"""The last word of a frame."""
_NOT_ALONE = word_set("me bother remember recall understand ask")
"""Those that are no frame by themselves."""
_FRAME = _KNOWS | word_set(
    "so and but also hey hi hello ok okay hmm well wait quick question btw now then actually again just oh ah um hm uh "
    "erm sorry maybe thanks could can may would will do does dont you i we im id ive am is was are not no any if "
    "kindly happen to tell like want wanted need have has still really anyone anybody someone here for the by chance "
    "quite too never help mind telling explain let"
)
_PASSED = word_set("please anymore exactly though")
_LINKS = word_set("if whether that")
MAX_WORDS = 12


def clause(words: list[str], asks: frozenset[str], before: frozenset[str]) -> list[str]:
    """Return the words of the clause that a frame asks for, or [] if the sentence has no frame.

    words: folded. asks: question words. before: prepositions that may precede one.
    """
    last = ""
    for at, word in enumerate(words[:MAX_WORDS]):
        if last in _KNOWS and (at > 1 or last not in _NOT_ALONE):
            rest = words[at + (word in _LINKS) :]
            is_question = rest[:1] and (rest[0] in asks or (rest[0] in before and not asks.isdisjoint(rest[1:2])))
            if is_question or rest[:1] == ["we"] or (word in _LINKS and rest):
                return rest
        if word not in _FRAME and word not in _PASSED:
            return []
        last = last if word in _PASSED else word
    return []
