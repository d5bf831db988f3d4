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
_AGREES = r"(?:(?:ok(?:ay)?|yes|no|right|good|fine|then|so|vale|gut|also|dann)[,.:!]? )*"
_NAMED = r"(?!(?:it|that|this|them|those|so|an|mal)\b)\w"
"""What was decided for or against: "go for it" and "nehmen wir an" decide nothing."""
_NO_CHOICE = r"as|because|how|i|if|like|no|since|than|that|there|what\w*|where\w*|who|why|yeah|yes|you"
"""Words before "it is" where it is not a choice, as in "Meilisearch it is"."""
_DECIDED = lazy(
    r"(?i)(?:(?:final )?decision|decided|agreed|entscheidung|décision|decisión|decisione)\s*[:\u2013\u2014-]\s*\w"
    rf"|{_AGREES}(?:let'?s |we(?:'ll| will) |i(?:'ll| will) )?(?:go (?:with|for)|stick (?:with|to)|settle on) {_NAMED}"
    rf"|{_AGREES}(?!\S* ?(?:{_NO_CHOICE})\b)(?:the )?\S+(?: \S+)? it is(?:[,.!]|$)"
    r"|we(?:'ve| have)? (?:decided|agreed) (?:to|on|that|against)\b"
    r"|(?:.{0,80}[,:] (?:so |and )?)?we(?: do(?:n't| not)| won't| no longer|(?:'re| are) (?:not|no longer)) "
    rf"(?:support|us|do|keep)(?:e|ing)? {_NAMED}"
    rf"|{_AGREES}(?:(?:nehmen|verwenden|nutzen|bleiben) wir|usemos|vamos con|nos quedamos con) {_NAMED}"
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
    r"|(?:wir \w.{2,40} )?(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft)\b"
    r"|(?:à partir de maintenant|a partir de ahora|de ahora en adelante)\b"
    r"|(?:bitte )?(?:immer|nie|niemals) (?!das|dem|den|der|die|dies|mehr|noch|wenn|wieder)\w.{0,100}\w(?:e[lr]?n)[.!]*$"
    rf"|(?:und |aber |bitte )*(?:{_GERMAN_VERBS})\b[^,]{{0,40}}? (?:immer|nie|niemals)\b(?! (?:noch|wieder|mehr))"
    r"|(?:y |pero |por favor,? )*(?:(?:nunca|jamás) (?:me |lo |la )?\w+[ae]s\b"
    rf"|siempre (?:{_SPANISH_VERBS})\b|(?:{_SPANISH_VERBS}) siempre\b|no \w+[ae]s (?:nunca|jamás)\b)"
)
_HINTS = (
    "decision", "decided", "agreed", "go with", "go for", "stick", "settle on", "it is", "we don't", "we do not",
    "we won't", "no longer", "we're not", "we are not", " wir", "usemos", "vamos con", "quedamos", "always", "ever",
    "from now on", "going forward", "remember", "prefer", "we use", "by default", "entscheidung", "décision",
    "decisión", "decisione", "ab jetzt", "ab sofort", "von nun an", "künftig", "zukunft", "partir de", "immer", "nie",
    "siempre", "nunca", "jamás", "ahora en adelante",
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
    quoted: list[str] = []
    for sentence, _ in prose.sentences(prose.prose(prompt, quoted)):
        marked = " ".join(sentence.split()).lstrip("-*> ").rstrip(";")
        bare = prose.with_quotations(marked, quoted)
        if bare.endswith(("?", "？", "؟")) or len(bare) > MAX_CHARS or len(bare.split()) < MIN_WORDS:
            continue
        if _DECIDED.match(marked):
            yield WordedRule("decision", bare)
        elif _RULE.match(marked):
            yield WordedRule("preference", bare)
