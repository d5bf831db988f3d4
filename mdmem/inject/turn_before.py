"""Turn before: finds what a prompt asks that only goes on with the turn before it, or points at it."""

from __future__ import annotations

from mdmem.inject import excerpts, recent, turns
from mdmem.search.asking import prose, shape
from mdmem.search.asking.english import POSSIBLE
from mdmem.search.asking.languages import LANGUAGES, is_unspaced, unspaced
from mdmem.search.asking.orders import word_set
from mdmem.search.asking.shape import Shape
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.inject.occasion import Occasion


def only_pointed_at(at: Occasion, asked: Shape, text: str) -> Shape | None:
    """Return what a prompt asks if it only points at what was said before: `why did we do it that way?`; else None.

    It asks about the session's last turn with a topic, which can be new work: so more evidence is needed, and the last
    sessions are no answer.
    """
    if asked.resumes or asked.language == "error" or not turns.only_points(asked.topic):
        return None
    said = at.turns.texts(current=text, limit=turns.LOOK_BACK)
    before = turns.topical(said[:-1])[-1:]
    topic = turns.query(before, at.config.settings.inject.query_turn_chars)
    return Shape(POSSIBLE, asked.language, asked.words, topic) if topic else None


def around(at: Occasion, asked: Shape, text: str) -> str:
    """Return what the turn before said about the one word or number that a prompt names: `why 15?`; "" for others.

    Its words tell which 15 is meant.
    """
    if asked.resumes or asked.language == "error" or len(text.split()) > _MOST_WORDS:
        return ""
    named = turns.own_words(asked.topic)
    said = turns.topical(at.turns.texts(current=text, limit=2)[:-1]) if len(named) == 1 else []
    if not said or not (session := recent.this_session(at)):
        return ""
    answer = session.read(session.of_kind("response")[-1]).body if session.of_kind("response") else ""
    told = (sentence for _, sentence in excerpts.sentences(at.gate.stored(answer)))
    naming = next((sentence for sentence in told if named <= turns.own_words(sentence)), "")
    return turns.query([*said, naming], at.config.settings.inject.query_turn_chars)


_MOST_WORDS = 4


def going_on(at: Occasion, asked: Shape, text: str) -> Shape | None:
    """Return what a prompt asks that names one word, together with what the turn before asked; None for others.

    `when did we raise it?`, `¿cuánto cuesta?`: but only behind a question that got what it asked for.
    """
    if asked.resumes or asked.language == "error" or len(turns.own_words(asked.topic)) != 1:
        return None
    before = at.turns.texts(current=text, limit=2)[:-1]
    if not before or journal.recalled_mark(before[-1]) not in at.given:
        return None
    earlier = shape.of(before[-1]) or shape.look_up(before[-1])
    if earlier is None or turns.only_points(earlier.topic):
        return None
    return Shape(asked.grade, asked.language, asked.words, f"{earlier.topic} {asked.topic}")


def points(asked: Shape) -> bool:
    """Whether a question has a pronoun for what was spoken of before: `who chose it?`, `warum sind wir davon weg?`."""
    if is_unspaced(asked.language):
        return any(part in asked.words for part in unspaced()[asked.language].points)
    words = prose.folds(prose.words(asked.words))
    known = LANGUAGES[asked.language].of("points") if asked.language in LANGUAGES else _IT
    return not known.isdisjoint(words)


_IT = word_set("it its they them that those")
