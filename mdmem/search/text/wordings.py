"""Wordings: finds sentences of a prompt that sound like a decision, a preference or a rule. They are only marked."""

from __future__ import annotations

import re

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search.asking import prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 300
MIN_WORDS = 3
_DECIDED = lazy(
    r"(?:(?:final )?decision|decided|agreed|entscheidung|décision|decisión|decisione)\s*[:\u2013\u2014-]\s*\w"
    r"|(?:ok(?:ay)?|yes|right|good|then|so)?[,.]?\s*let'?s (?:go with|stick (?:with|to)|settle on)\b"
    r"|we(?:'ve| have)? (?:decided|agreed) (?:to|on|that|against)\b",
    re.IGNORECASE,
)
_RULE = lazy(
    r"(?:please |you (?:should|must) |we (?:should |must )?|i want you to )?(?:always|never)\s+(?!mind\b)\w"
    r"|.{0,60}\b(?:from now on|going forward)\b"
    r"|(?:ab jetzt|ab sofort|von nun an|à partir de maintenant|a partir de ahora)\b",
    re.IGNORECASE,
)
_HINTS = (
    "decision", "decided", "agreed", "go with", "stick", "settle on", "always", "never", "from now on", "going forward",
    "entscheidung", "décision", "decisión", "decisione", "ab jetzt", "ab sofort", "von nun an", "partir de",
)  # fmt: skip


class WordedRule(NamedTuple):
    """A sentence that may be worth a note. kind: decision or preference."""

    kind: str
    sentence: str


def worded_rules(prompt: str) -> Iterator[WordedRule]:
    """Yield the sentences of a prompt that decide something or state a rule, except questions and code."""
    lower = prompt[:100_000].lower()
    if not any(hint in lower for hint in _HINTS):
        return
    for sentence, _ in prose.sentences(prose.prose(prompt)):
        bare = " ".join(sentence.split()).lstrip("-*> ").rstrip(";")
        if bare.endswith(("?", "？", "؟")) or len(bare) > MAX_CHARS or len(bare.split()) < MIN_WORDS:
            continue
        if _DECIDED.match(bare):
            yield WordedRule("decision", bare)
        elif _RULE.match(bare):
            yield WordedRule("preference", bare)
