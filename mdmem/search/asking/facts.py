"""Facts: tells English questions for a single fact from those for an explanation."""

from __future__ import annotations

from mdmem.search.asking.orders import word_set

_FACTS = word_set("which who whom whose when")
DEGREES = word_set("big large small long short high low often fast far old wide slow hard expensive costly")
"""Words after `how` that are what is asked for, not the subject."""
_MUCH = DEGREES | {"many", "much"}


def asks_a_fact(words: list[str]) -> bool:
    """Whether a question asks for a single fact: `which`, `who`, `when`, `how big`, `how long`."""
    if not _FACTS.isdisjoint(words[:2]):
        return True
    return any(words[at] in ("how", "hows") and words[at + 1] in _MUCH for at in range(min(2, len(words) - 1)))
