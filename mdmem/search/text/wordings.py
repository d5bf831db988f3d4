"""Wordings: finds sentences of a prompt that sound like a decision, a preference or a rule. They are only marked."""

from __future__ import annotations

from itertools import islice

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search.asking import prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 300
MIN_WORDS = 3
MOST = 5
"""Maximum number of sentences of a prompt: a longer list is one that was pasted."""
_DECIDED = lazy(
    r"(?i)(?:(?:final )?decision|decided|agreed|entscheidung|décision|decisión|decisione)\s*[:\u2013\u2014-]\s*\w"
    r"|(?:ok(?:ay)?|yes|right|good|then|so)?[,.]?\s*let'?s (?:go with|stick (?:with|to)|settle on)\b"
    r"|we(?:'ve| have)? (?:decided|agreed) (?:to|on|that|against)\b"
)
_VERBS = (
    "add|ask|avoid|call|change|check|commit|create|delete|deploy|do|edit|format|import|keep|leave|let|log|make|merge|name"
    "|put|push|read|rebase|remove|return|review|run|skip|squash|start|store|tell|test|touch|update|use|validate|write"
)
"""Verbs as an instruction has them: "it works, and never stops" is none."""
_GERMAN_VERBS = (
    "ändere|benutze?|committe|formatiere|frage?|führe?|halte|lass|lösche|mach|nimm|nutze|prüfe?|pushe?|rufe?|schreibe?"
    "|setze?|speichere|starte?|teste?|verwende"
)
_SPANISH_VERBS = (
    "añade|comprueba|corre|deja|ejecuta|escribe|formatea|guarda|haz|mantén|pon|pregunta|prueba|revisa|usa|utiliza"
)
_RULE = lazy(
    r"(?i)(?:(?:also|and|but|no|ok(?:ay)?|yes),? )*(?:please,? |remember to |(?:be|make) sure (?:to |(?:that )?you )"
    r"|you (?:should|must) |we (?:should |must )?|i want you to )?(?:always|never)\s+(?!mind\b)\w"
    r"|(?:for|in|on) [^,.;:]{2,40}?(?:, | (?=we ))(?:please |we |you (?:must |should )?)?"
    rf"(?:always|never) (?:{_VERBS})\b"
    rf"|(?:{_VERBS}|fix|look|refactor|rename)\b.{{0,120}}[,;] (?:and |but )?(?:please )?(?:always|never) (?:{_VERBS})\b"
    r"|(?:and |but |please,? )?(?:don't|don\u2019t|do not) (?:you )?ever\s+\w"
    r"|remember(?: this)?\s*:\s*\w|remember to .{3,80} (?:before|after|for|on|with) (?:each|every)\b"
    r"|(?:i|we) prefer \S.{0,60} (?:over|rather than|instead of) \w|we use [^,.]{2,40}, (?:not|never) [^,.]{2,40}[.!]?$"
    rf"|by default,? (?:please )?(?:{_VERBS})\b"
    r"|.{0,60}\b(?:from now on|going forward)\b"
    r"|(?:ab jetzt|ab sofort|von nun an|à partir de maintenant|a partir de ahora|de ahora en adelante)\b"
    r"|(?:bitte )?(?:immer|nie|niemals) (?!das|dem|den|der|die|dies|mehr|noch|wenn|wieder)\w.{0,100}\w(?:e[lr]?n)[.!]*$"
    rf"|(?:und |aber |bitte )*(?:{_GERMAN_VERBS})\b[^,]{{0,40}}? (?:immer|nie|niemals)\b(?! (?:noch|wieder|mehr))"
    r"|(?:y |pero |por favor,? )*(?:(?:nunca|jamás) (?:me |lo |la )?\w+[ae]s\b"
    rf"|siempre (?:{_SPANISH_VERBS})\b|(?:{_SPANISH_VERBS}) siempre\b|no \w+[ae]s (?:nunca|jamás)\b)"
)
_HINTS = (
    "decision", "decided", "agreed", "go with", "stick", "settle on", "always", "ever", "from now on", "going forward",
    "remember", "prefer", "we use", "by default", "entscheidung", "décision", "decisión", "decisione", "ab jetzt",
    "ab sofort", "von nun an", "partir de", "immer", "nie", "siempre", "nunca", "jamás", "ahora en adelante",
)  # fmt: skip


class WordedRule(NamedTuple):
    """A sentence that may be worth a note. kind: decision or preference."""

    kind: str
    sentence: str


def worded_rules(prompt: str) -> Iterator[WordedRule]:
    """Yield the first sentences of a prompt that decide something or state a rule, except questions and code."""
    return islice(_worded_rules(prompt), MOST)


def _worded_rules(prompt: str) -> Iterator[WordedRule]:
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
