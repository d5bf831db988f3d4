"""As of: what was in force at a time, for questions such as `what was the limit before August?`."""

from __future__ import annotations

from functools import partial

from mdmem.inject import evidence
from mdmem.lazy_pattern import lazy
from mdmem.search import answering, overturned
from mdmem.search.answering import Answer, Asker
from mdmem.search.asking import english, facts, prose
from mdmem.search.asking.english import LIKELY
from mdmem.search.asking.orders import word_set
from mdmem.search.asking.shape import Shape
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import STOPWORDS
from mdmem.vault import journal, layout, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mdmem.config import Config
    from mdmem.inject.occasion import Occasion

    LookedUp = tuple[Sequence[Answer], list[Answer], str]
    """What a query finds, the answers to show, and why the others are not."""

CHANGED_SINCE = "changed since: see the next entry"
_CLEARLY = 0.15
"""By so much more of the question, an answer from before a period is better than those of the period."""


def _span(asked: Shape, named: tuple[float, float]) -> tuple[float, float] | None:
    """Return the time whose last word on a question's subject was in force in the days that it names.

    None if it asks what happened in those days. named: when they begin and end.
    """
    question = english.without_leading(prose.folds(prose.words(asked.words)))
    is_of_state = question[:1] and question[0] not in _OF_EVENTS and facts.asks_a_fact(question)
    is_of_state = is_of_state or question[:2] in _WAS or facts.asks_what_held(question)
    return (_BEGIN, named[1]) if _is_open(named) or is_of_state else None


def found(
    look: Callable[[Asker], LookedUp],
    asker: Asker,
    shape: Shape | None,
    days: tuple[float, float] | None,
) -> tuple[Sequence[Answer], list[Answer], str, tuple[float, float] | None]:
    """Return what is found of the days that a prompt asks about, or else of any; and the time that decides, if any.

    That is all time until then if the prompt asks for what was in force.
    """
    here = look(asker.replace(between=days))
    until = _span(shape, days) if days is not None and shape is not None else None
    if until is not None and days is not None and not _is_open(days):
        earlier = look(asker.replace(between=until))
        here = earlier if _is_better(earlier[1], here[1]) else here
    if here[1] or days is None:
        return *here, until
    return *look(asker), None


def _is_better(earlier: Sequence[Answer], of_period: Sequence[Answer]) -> bool:
    """Whether what was said until the end of a period answers better than what was said in it."""
    most, best = (max((one.coverage for one in answers), default=0.0) for answers in (earlier, of_period))
    return bool(earlier) and (not of_period or most > best + _CLEARLY)


def changed_since(config: Config, terms: frozenset[str], then: Asker, first: Answer) -> Answer | None:
    """Return what took back an answer after the time that is asked about, or None. terms: the question's."""
    asker = then.replace(between=None)
    hit = first.hits[0]
    newer = overturned.later(config, terms, asker, hit) if first.folder else overturned.superseding(config, asker, hit)
    return Answer.of_hit(layout.folder_of(newer.path) if first.folder else "", newer) if newer else None


# -- times that an event tells ---------------------------------------------------------------------


def of_event(occasion: Occasion, asked: Shape) -> tuple[Shape, tuple[float, float]] | None:
    """Return what a question asks besides the event that it names, and the time until then; None if it names none.

    `what was raw_days before the GDPR audit?`, `which broker did we use at the time of release 1.4?`
    """
    if asked.grade < LIKELY or _WORDS.isdisjoint(prose.fold(asked.words).split()):
        return None
    found = _EVENT.search(asked.words)
    if found is None:
        return None
    event, _, rest = asked.words[found.end() :].partition(", ")
    question = english.without_leading(prose.folds(prose.words(asked.words if found.start() else rest)))
    if not (question[:1] == ["how"] or question[:2] in _WAS or facts.asks_a_fact(question)):
        return None
    of_event = {*event.split(), f"{event.rpartition(' ')[2]},", found["word"]}
    subject = " ".join(word for word in asked.topic.split() if word not in of_event)
    names = frozenset(analysis.query_terms(event)) - STOPWORDS
    if not names or all(word.lower() in STOPWORDS for word in analysis.words(subject)):
        return None
    since = _time_of(occasion, asked.topic, names)
    if since is None:
        return None
    until = since - 1 if found["word"] else since + _DAY_SECONDS
    return Shape(asked.grade, asked.language, asked.words, subject), (_BEGIN, until)


def _time_of(occasion: Occasion, text: str, names: frozenset[str]) -> float | None:
    """Return when the session began that has most of an event's words, and at least half; None if there is none."""
    asker = Asker(
        project=occasion.project, without_session=occasion.record.id, here=occasion.here, closed=occasion.closed
    )
    look = partial(answering.answers, occasion.config, text, asker, limit=evidence.MAX_ANSWERS)
    found = [one for one in look(budget_seconds=occasion.seconds_left / 3) if one.folder]

    def having(answer: Answer) -> int:
        texts = (f"{hit.title}\n{people.load_clean(occasion.config.vault, hit.path).body}" for hit in answer.hits)
        return len(names & analysis.counts("\n".join(texts)).keys())

    best = max(found, key=having, default=None)
    if best is None or 2 * having(best) < len(names):
        return None
    return layout.begin_time(best.folder, journal.began(occasion.config.vault, best.folder))


def _is_open(named: tuple[float, float]) -> bool:
    return named[0] <= _BEGIN


_DAY_SECONDS = 86_400.0
_BEGIN = 2 * _DAY_SECONDS
_WAS = (["what", "was"], ["what", "were"], ["how", "was"], ["was", "war"], ["wie", "war"])
_OF_EVENTS = word_set("when who whom whose wann wer wen wem quand qui quien cuando quem quando chi")
"""With these, a question in the past asks for what happened in the days that it names."""
_WORDS = word_set("before prior time vor zeit avant antes prima voor")
_EVENT = lazy(
    r"(?i)\b(?:(?P<word>before|prior to|vor|avant|antes|prima|voor)|at the time|zur zeit)(?: (?:of|von|des?|del|di|d))?"
    r" +(?!(?:in|on|at)\b)(?=\w)"
)
