"""Dated: the sessions of the days that a prompt asks about, as in `what did we do last Tuesday?`."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice

from mdmem.inject import recent
from mdmem.inject.block import Section
from mdmem.search.asking import periods
from mdmem.search.asking.english import SURE
from mdmem.search.asking.languages import UNSPACED
from mdmem.search.asking.prose import fold
from mdmem.search.asking.shape import Shape
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import FOREIGN, STOPWORDS
from mdmem.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.inject.occasion import Occasion
    from mdmem.search.asking.periods import Period

MAX_SESSIONS = 8
NONE = "No session of this project was worked on then."


def section(at: Occasion, text: str, asked: Shape) -> Section | None:
    """Return the sessions of the days that a prompt names, newest first; None if it asks for something else.

    text: the prompt, cleaned. Sessions that the agent has seen are named only if there is no other.
    """
    period = _period(at, text, asked)
    if period is None or _has_topic(asked, period):
        return None
    items = [item for session in islice(_sessions(at, period), MAX_SESSIONS) if (item := recent.session_item(session))]
    new = [item for item in items if not at.has_seen(item.id)]
    given_above = ", ".join(f"[mem:{item.id}]" for item in items)
    days = f"from {period.first} to {period.last}" if period.last > period.first else f"on {period.first}"
    heading = f"Sessions {days}"
    if not items:
        return Section(heading, [], NONE) if asked.grade == SURE and not _has_days(at, period) else None
    return Section(heading, new, f"Given above: {given_above}." if given_above and not new else "")


def without_days(at: Occasion, text: str, asked: Shape) -> tuple[Shape, tuple[float, float] | None]:
    """Return a question without the words for days and for work, and when these days begin and end, or None.

    text: as in `section`.
    """
    period = _period(at, text, asked)
    if period is None or not _has_topic(asked, period):
        return asked, None
    named = period.words | _GENERAL
    topic = " ".join(word for word in asked.topic.split() if named.isdisjoint(analysis.words(fold(word))))
    return Shape(asked.grade, asked.language, asked.words, topic, resumes=asked.resumes), _seconds(period)


def _period(at: Occasion, text: str, asked: Shape) -> Period | None:
    if asked.language == "error":
        return None
    return periods.period_in(text, datetime.fromtimestamp(at.now).date(), asked.language)  # noqa: DTZ006 - days are the user's


def _has_topic(asked: Shape, period: Period) -> bool:
    """Whether a question names more than the period."""
    topic = fold(asked.topic)
    for word in sorted(period.words, key=len, reverse=True):
        topic = topic.replace(word, " ")
    if asked.language in UNSPACED:
        return sum(letter.isalnum() for letter in topic) > _MOST_UNSPACED
    general = STOPWORDS | FOREIGN | period.words | periods.EVERY_WORD | _GENERAL
    return any(word not in general and not word.isdecimal() for word in map(fold, analysis.words(topic)))


_MOST_UNSPACED = 5
"""A Chinese or Japanese question that has no more letters besides the period asks for nothing else."""

_GENERAL = frozenset(
    [
        "achieved", "change", "changed", "changes", "did", "do", "does", "doing", "done", "finished", "get", "got",
        "happen", "happened", "made", "news", "work", "worked", "working", "gearbeitet", "geandert", "gemacht",
        "geschafft", "passiert", "war", "fait", "travaille", "passe", "hicimos", "hecho", "paso", "trabajamos",
    ]
)  # fmt: skip
"""Words about work of any kind."""


def _sessions(at: Occasion, period: Period) -> Iterator[recent.SessionFolder]:
    """Yield the sessions of a period that are worth showing, newest first, also one that was resumed in it."""
    first, last = _days(period)
    before = (period.first - timedelta(days=1)).isoformat()  # one may have run past midnight
    worked = recent.worked_on(at, *_seconds(period))
    sessions = recent.sessions(at.config, at.gate, at.project, without=at.record, days=(before, last), worked=worked)
    for session in islice(sessions, recent.MOST_LOOKED_AT):
        is_of_period = layout.day_of("/".join(session.parts)) >= first or session.last_day() >= first
        if is_of_period and session.is_worth_showing() and not session.waits_elsewhere(at.here.branch):
            yield session


def _seconds(period: Period) -> tuple[float, float]:
    """Return the first and last second of a period."""
    begin, end = (datetime(day.year, day.month, day.day) for day in (period.first, period.last + timedelta(days=1)))  # noqa: DTZ001 - days are the user's
    return begin.timestamp(), end.timestamp() - 1


def _days(period: Period) -> tuple[str, str]:
    return period.first.isoformat(), period.last.isoformat()


def _has_days(at: Occasion, period: Period) -> bool:
    """Whether anything is stored on these days, such as an archive, which is not read here."""
    first, last = _days(period)
    return any(first <= day <= last for day, _ in layout.days(at.config.vault, at.project))
