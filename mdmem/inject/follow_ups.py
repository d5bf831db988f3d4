"""Follow-ups: what a question in the middle of a session has to do with the session itself.

It may be about what the session's agent just said, go on with the turn before it, ask about a word or number in that,
or only point at it.
"""

from __future__ import annotations

from mdmem.inject import echoes, session_folder, turns
from mdmem.inject.rendering import excerpts
from mdmem.search.asking import english, shape
from mdmem.search.asking.english import POSSIBLE, SURE
from mdmem.search.asking.languages import LANGUAGES, is_unspaced, unspaced
from mdmem.search.asking.orders import word_set
from mdmem.search.asking.prose import folds, words
from mdmem.search.asking.shape import Shape
from mdmem.vault import journal
from mdmem.vault.note import PAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.inject.occasion import Occasion
    from mdmem.search.answering import Answer

SAID_HERE = "this session says as much of it"
_MAX_ANSWERS = 10
"""Number of the session's last answers that are read."""


def is_of_this_session(occasion: Occasion, asked: Shape, best: Answer) -> bool:
    """Whether a question is about what this session's agent just said, rather than about the best answer of others.

    The session names at least as many of the question's words, and one that the answer does not name. A question that
    surely asks about the past, about what "we" did or about another project, and an error, are answered all the same.
    """
    if not (occasion.record.folder and occasion.is_of(occasion.project)):
        return False
    if asked.grade == SURE or asked.language == "error" or _asks_of_us(asked):
        return False
    session = session_folder.session_in(occasion, "/".join(occasion.record.folder))
    wanted = frozenset(echoes.sought(asked.topic))
    said = (session.read(name).body for name in session.of_kind("response")[-_MAX_ANSWERS:])
    here = echoes.in_texts(said, wanted)
    there = echoes.in_hits(occasion.config.vault, (hit for hit in best.hits if hit.kind not in PAGES), wanted)
    return len(here) >= len(there) and not here <= there


def _asks_of_us(asked: Shape) -> bool:
    typed = [word.lower() for word in words(asked.words)]
    known = LANGUAGES.get(asked.language)
    return known.speaks_of_us(folds(typed), typed)[0] if known else not english.WE.isdisjoint(folds(typed))


def only_pointed_at(occasion: Occasion, asked: Shape, text: str) -> Shape | None:
    """Return what a prompt asks if it only points at what was said before: `why did we do it that way?`; else None.

    It asks about the session's last turn with a topic, which can be new work: so more evidence is needed, and the last
    sessions are not an answer.
    """
    if asked.resumes or asked.language == "error" or not turns.only_points(asked.topic):
        return None
    said = occasion.turns.texts(current=text, limit=turns.LOOK_BACK)
    before = turns.topical(said[:-1])[-1:]
    topic = turns.query(before, occasion.config.settings.inject.query_turn_chars)
    return Shape(POSSIBLE, asked.language, asked.words, topic) if topic else None


def around(occasion: Occasion, asked: Shape, text: str) -> str:
    """Return what the turn before said about the one word or number that a prompt names: `why 15?`; "" for others.

    Its words tell which 15 is meant.
    """
    if asked.resumes or asked.language == "error" or len(text.split()) > _MOST_WORDS:
        return ""
    named = turns.own_words(asked.topic)
    said = turns.topical(occasion.turns.texts(current=text, limit=2)[:-1]) if len(named) == 1 else []
    if not said:
        return ""
    if not (session := session_folder.this_session(occasion)):
        return ""
    answer = session.read(session.of_kind("response")[-1]).body if session.of_kind("response") else ""
    told = (sentence for _, sentence in excerpts.sentences(occasion.gate.stored(answer)))
    naming = next((sentence for sentence in told if named <= turns.own_words(sentence)), "")
    return turns.query([*said, naming], occasion.config.settings.inject.query_turn_chars)


_MOST_WORDS = 4


def names_number(asked: Shape) -> bool:
    """Whether a question names nothing but a small number, which other sessions have by chance."""
    return all(word.isdecimal() and len(word) <= _SMALL for word in turns.own_words(asked.topic))


_SMALL = 3
"""Maximum number of digits."""


def going_on(occasion: Occasion, asked: Shape, text: str) -> Shape | None:
    """Return what a prompt asks that names one word, together with what the turn before asked; None for others.

    `when did we raise it?`, `¿cuánto cuesta?`: but only after a question that got what it asked for.
    """
    if asked.resumes or asked.language == "error" or len(turns.own_words(asked.topic)) != 1:
        return None
    before = occasion.turns.texts(current=text, limit=2)[:-1]
    if not before or journal.recalled_mark(before[-1]) not in occasion.given:
        return None
    earlier = shape.of(before[-1]) or shape.look_up(before[-1])
    if earlier is None or turns.only_points(earlier.topic):
        return None
    return Shape(asked.grade, asked.language, asked.words, f"{earlier.topic} {asked.topic}")


def points(asked: Shape) -> bool:
    """Whether a question has a pronoun for what was spoken of before: `who chose it?`, `warum sind wir davon weg?`."""
    if is_unspaced(asked.language):
        return any(part in asked.words for part in unspaced()[asked.language].points)
    typed = folds(words(asked.words))
    known = LANGUAGES[asked.language].of("points") if asked.language in LANGUAGES else _IT
    return not known.isdisjoint(typed)


_IT = word_set("it its they them that those")
