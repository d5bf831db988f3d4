"""Parts: splits a question that asks two things at once: `which port does the proxy use and why did we leave nginx?`"""

from __future__ import annotations

from mdmem.search.asking import frames, prose, shape
from mdmem.search.asking.languages import LANGUAGES
from mdmem.search.asking.orders import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.asking.shape import Shape

MAX_CHARS = 240
"""A longer prompt tells a story around its question."""
MAX_PARTS = 3
_JOINING = word_set("and und et y e en och og i и а also")
_NOT = word_set("not nicht kein keine pas no non nao niet")
"""`why X and not Y` compares two things."""
_POINTS = word_set("it its that this they them their those these there one ones he she his her")
"""With one of these, a part speaks of what an earlier one names."""


def of(prompt: str, whole: Shape) -> list[Shape]:
    """Return the parts of a prompt, each with how it asks; [] if it is one question, or its parts need each other.

    whole: how the prompt asks. Every part names something of its own.
    """
    if len(prompt) > MAX_CHARS or whole.resumes or whole.language == "error":
        return []
    asks = frames.ASKS.union(LANGUAGES[whole.language].of("asks")) if whole.language in LANGUAGES else frames.ASKS
    texts = [text for sentence, _ in prose.sentences(prose.prose(prompt)) for text in _split(sentence, asks)]
    if not 1 < len(texts) <= MAX_PARTS:
        return []
    asked = [shape.of(text) or shape.look_up(text) for text in texts]
    parts = [part for part in asked if part is not None and part.topic and part.language == whole.language]
    return parts if len(parts) == len(texts) else []


def _split(sentence: str, asks: frozenset[str]) -> list[str]:
    """Split a sentence before each question word after a comma or an `and`."""
    words = sentence.split()
    begins = [0]
    for at in range(2, len(words)):
        before = words[at - 1]
        is_joined = prose.fold(before) in _JOINING or before.endswith((",", ";"))
        if is_joined and prose.fold(words[at].strip("¿?,.")) in asks:
            begins.append(at)
    texts = [" ".join(words[begin:end]) for begin, end in zip(begins, [*begins[1:], len(words)], strict=True)]
    return [sentence] if any(_POINTS.intersection(prose.folds(prose.words(text))) for text in texts[1:]) else texts


def named(whole: Shape) -> list[Shape]:
    """Return the parts of what a question names before and after an `and`: `the race in A and the misnomer of B`."""
    if whole.resumes or whole.language == "error":
        return []
    words = whole.topic.split()
    joins = [at for at in range(1, len(words) - 1) if prose.fold(words[at]) in _JOINING - {"also"}]
    begins = [at for at in joins if prose.fold(words[at + 1]) not in _NOT]
    if len(begins) != 1 or not _POINTS.isdisjoint(prose.folds(prose.words(whole.topic))):
        return []
    topics = [" ".join(part) for part in (words[: begins[0]], words[begins[0] + 1 :])]
    return [shape.Shape(whole.grade, whole.language, whole.words, topic) for topic in topics]
