"""At hand: recognizes questions about how things are now; in languages other than English, also by their form."""

from __future__ import annotations

from mdmem.search.asking import english, prose, shape
from mdmem.search.asking.languages import LANGUAGES, is_participle, is_unspaced, unspaced
from mdmem.search.asking.orders import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.asking.shape import Shape


_PAST_ENDS = {"de": ("te", "ten"), "nl": ("te", "ten", "de", "den"), "fr": ("ait", "aient")}
"""Language -> how its past verbs may end; after a question word, few other words do."""
_SHORT = 4


def asks_why(asked: Shape) -> bool:
    """Whether a question asks why something is so, and not why it was done: `warum ist der Test rot?`."""
    return _asks_of_now(asked, "why")


def counts(asked: Shape) -> bool:
    """Whether a question asks how many there are now: `quanti fogli ha il file?`."""
    return _asks_of_now(asked, "counts")


def is_of_the_present(asked: Shape) -> bool:
    """Whether a question in any language says that it is about the present: `what do we use now`."""
    if is_unspaced(asked.language):
        return any(part in asked.words for part in unspaced()[asked.language].now)
    known = LANGUAGES[asked.language].of("now") if asked.language in LANGUAGES else english.NOW
    return not known.isdisjoint(prose.folds(prose.words(asked.words)))


def says_now(text: str) -> bool:
    """Whether a search or question says that it is about the present: `cpu load now`."""
    asked = shape.of(text)
    return not english.NOW.isdisjoint(prose.folds(prose.words(text))) if asked is None else is_of_the_present(asked)


def asks_of_then(text: str) -> bool:
    """Whether a search or question says that it is about an earlier time, or asks for what happened, why or who."""
    asked, words = shape.of(text), prose.folds(prose.words(text))
    if asked is not None and asked.language in LANGUAGES:
        known, typed = LANGUAGES[asked.language], [word.lower() for word in prose.words(text)]
        return any(known.has(name, words) for name in ("why", "back")) or known.speaks_of_us(words, typed)[1]
    triples = zip(["", *words], words, words[1:], strict=False)
    used_to = any(triple[1:] == ("used", "to") and triple[0] not in _BE for triple in triples)
    return used_to or not _OF_THEN.isdisjoint(words)


_OF_THEN = english.PAST | english.BACK | word_set("why who whom whose when first old older until since")
_BE = word_set("is are be being")
"""Before what is used now: `the key that is used to sign`."""


def _asks_of_now(asked: Shape, name: str) -> bool:
    if is_unspaced(asked.language):
        parts, text = unspaced()[asked.language], asked.words
        asks = parts.why if name == "why" else parts.counts
        of_past = shape.is_past_unspaced(text, parts) or any(part in text for part in (*parts.back, *parts.we))
        return any(part in text for part in asks) and not of_past
    if asked.language not in LANGUAGES:
        return False
    known, typed = LANGUAGES[asked.language], [word.lower() for word in prose.words(asked.words)]
    folded = prose.folds(typed)
    if not known.has(name, folded) or known.has("back", folded) or any(known.speaks_of_us(folded, typed)):
        return False
    is_perfect = asked.language == "de" and is_participle(folded[-1])  # `warum ist er nicht aufgewacht?`
    ends = _PAST_ENDS.get(asked.language, "-")
    return not is_perfect and not any(len(word) > _SHORT and word.endswith(ends) for word in folded[1:3])
