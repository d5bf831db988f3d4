"""Facts: tells questions for a single fact from those for an explanation."""

from __future__ import annotations

from mdmem.search.asking.orders import word_set

_FACTS = word_set(
    "which who whom whose when wer wen wem wann welche welcher welches welchen wieviel wieviele qui quand quel quelle "
    "quels quelles combien quien cuando cual cuales cuanto cuanta cuantos cuantas quem quando qual quanto quantos chi "
    "quale quali quanti"
)
"""In several languages, without words that mean something else in another one."""
DEGREES = word_set(
    "big large small long short high low often fast far old young wide narrow deep thick thin tall heavy light hot "
    "cold warm loud bright strong dense slow hard expensive costly cheap"
)
"""Words after `how` that are what is asked for, not the subject."""
_HOW = word_set("how hows wie")
_MUCH = DEGREES | word_set("many much viel viele hoch gross lange oft schnell weit")


def asks_a_fact(words: list[str]) -> bool:
    """Whether a question asks for a single fact: `which`, `who`, `when`, `how big`, `name of the server?`."""
    if not _FACTS.isdisjoint(words[:2]) or words[1:2] == ["of"]:
        return True
    return any(words[at] in _HOW and words[at + 1] in _MUCH for at in range(min(2, len(words) - 1)))
