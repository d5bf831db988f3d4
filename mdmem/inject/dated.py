"""Dated: the sessions of the days that a prompt asks about, as in `what did we do last Tuesday?`."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from mdmem.inject import recent
from mdmem.inject.rendering.block import Section
from mdmem.search import days
from mdmem.search.asking.english import SURE
from mdmem.search.asking.shape import Shape
from mdmem.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.inject.occasion import Occasion
    from mdmem.inject.session_folder import SessionFolder
    from mdmem.search.asking.periods import Period

MAX_SESSIONS = 8
_DAY_SECONDS = 86_400
NONE = "No session of this project was worked on then."


def section(occasion: Occasion, text: str, asked: Shape) -> Section | None:
    """Return the sessions of the days that a prompt names, newest first; None if it asks for something else.

    text: the prompt, cleaned. Sessions that the agent has seen are named only if there is no other.
    """
    period = _period(occasion, text, asked)
    if period is None or days.has_topic(_topic(occasion, asked), asked.language, period):
        return None
    items = [
        item for session in islice(_sessions(occasion, period), MAX_SESSIONS) if (item := recent.session_item(session))
    ]
    new = [item for item in items if not occasion.has_seen(item.id)]
    given_above = ", ".join(f"[mem:{item.id}]" for item in items)
    heading = f"Sessions {days.named(period)}"
    if not items:
        return Section(heading, [], NONE) if asked.grade == SURE and not _has_days(occasion, period) else None
    return Section(heading, new, f"Given above: {given_above}." if given_above and not new else "")


def without_days(occasion: Occasion, text: str, asked: Shape) -> tuple[Shape, tuple[float, float] | None]:
    """Return a question without the words for days and for work, and when these days begin and end, or None.

    text: as in `section`.
    """
    period = _period(occasion, text, asked)
    if period is None or not days.has_topic(topic := _topic(occasion, asked), asked.language, period):
        return asked, None
    topic = days.without(topic, period)
    return Shape(asked.grade, asked.language, asked.words, topic, resumes=asked.resumes), days.seconds(period)


def _topic(occasion: Occasion, asked: Shape) -> str:
    """Return what a question is about; in a project, its own name only says where."""
    from mdmem.inject import elsewhere  # few prompts name days

    return elsewhere.without_own(asked.topic, {occasion.project, *occasion.names})


def _period(occasion: Occasion, text: str, asked: Shape) -> Period | None:
    if asked.language == "error":
        return None
    return days.period_of(text, datetime.fromtimestamp(occasion.now).date(), asked.language)  # noqa: DTZ006 - days are the user's


def _sessions(occasion: Occasion, period: Period) -> Iterator[SessionFolder]:
    """Yield the sessions of a period that are worth showing, newest first, also one that was resumed in it."""
    begin, end = days.seconds(period)
    worked = recent.worked_on(occasion, begin, end)
    sessions = recent.sessions(occasion, (begin - _DAY_SECONDS, end + 1), worked)  # one may have run past midnight
    for session in islice(sessions, recent.MOST_LOOKED_AT):
        is_of_period = session.began() >= begin or session.folder in worked or begin <= session.ended() <= end
        if is_of_period and session.is_worth_showing() and not session.waits_elsewhere(occasion.here.branch):
            yield session


def _has_days(occasion: Occasion, period: Period) -> bool:
    """Whether anything is stored on these days, such as an archive, which is not read here."""
    first, last = period.first.isoformat(), period.last.isoformat()
    return any(first <= day <= last for day, _ in layout.days(occasion.config.vault, occasion.project))
