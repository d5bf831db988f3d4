"""Parse times as people type them: `2w`, `yesterday`, `monday`, `last week`, `2026-09-14`, `2026-09`, `17 nov`."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, tzinfo

from mdmem import timestamps
from mdmem.lazy_pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_AGO = lazy(r"(\d{1,5})\s*(h|d|w|m|mo|y|hours?|days?|weeks?|months?|years?)(?:\s+ago)?")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_DAY = lazy(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_YEAR = lazy(r"(?:19|20)\d{2}")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REST = "(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?"
_MONTH = lazy(rf"(?:(\d{{1,2}})\s+)?({'|'.join(_MONTHS)}){_REST}(?:\s+(\d{{1,2}}))?(?:,?\s+(\d{{4}}))?")
"""`november`, `nov 2025`, `17 nov`, `nov 17, 2025`."""
_NAMED_DAYS = {"today": 0, "yesterday": 1}
_PERIOD = lazy(r"(this|last)\s+(week|month|year)")
UNREAD = "Can't read {0!r:.42} as a time. Try 2w, 3d, yesterday, 2026-09-14."
"""The message about a text that is not a time."""


class _LocalZone(tzinfo):
    """The system's local time, with the offset of each moment: `astimezone()` gives one that is fixed for all."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the offset at a moment; today's where the system has no time, as in the year 1."""
        try:
            return moment.replace(tzinfo=None).astimezone().utcoffset() if moment else None
        except (ValueError, OverflowError, OSError):
            return datetime.now(UTC).astimezone().utcoffset()

    def dst(self, _: datetime | None) -> timedelta | None:
        """Return None: the system does not report it."""
        return None

    def tzname(self, _: datetime | None) -> str:
        """Return a name for all moments."""
        return "local"

    def fromutc(self, moment: datetime) -> datetime:
        """Return a moment in local time; `fold` marks the second of two equal hours."""
        local = moment.replace(tzinfo=UTC).astimezone()
        first = local.replace(tzinfo=self)
        return first if first.utcoffset() == local.utcoffset() else first.replace(fold=1)


LOCAL = _LocalZone()


def now() -> datetime:
    """Return the time in a zone in which each day begins at its own midnight, also where clocks change.

    MDMEM_NOW sets it.
    """
    return datetime.fromtimestamp(timestamps.now(os.environ), LOCAL)


def span(text: str, now: datetime) -> tuple[float, float] | None:
    """Return the span that a time names, as start and end (exclusive) in seconds since 1970; None: it is not a time.

    Days, months and years are whole ones in the zone of `now`. A weekday is the latest one, today included, and `last
    monday` the one before today; weeks begin on Monday. `2w`, `2w ago` and exact times are moments: start and end are
    the same.
    """
    text = text.strip().lower()
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            start = (now.astimezone(UTC) - timedelta(hours=int(ago[1]) * _HOURS[ago[2][0]])).timestamp()
            return start, start
        return _calendar(text, now) or _exact(text, now)
    except (ValueError, OverflowError, OSError):
        return None


def day_of(seconds: float, now: datetime) -> tuple[float, float]:
    """Return the day of a moment, from midnight to midnight in the zone of `now`."""
    moment = datetime.fromtimestamp(seconds, now.tzinfo)
    return _days(moment.replace(hour=0, minute=0, second=0, microsecond=0))


def _calendar(text: str, now: datetime) -> tuple[float, float] | None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in _NAMED_DAYS:
        return _days(midnight - timedelta(days=_NAMED_DAYS[text]))
    period = _PERIOD.fullmatch(text)
    if period:
        return _period(midnight, period[2], back=period[1] == "last")
    is_last, name = text.startswith("last "), text.removeprefix("last ").strip()
    if name in _WEEKDAYS:
        days_ago = (now.weekday() - _WEEKDAYS.index(name)) % 7
        return _days(midnight - timedelta(days=days_ago or 7 * is_last))
    named = _MONTH.fullmatch(text)
    if named:
        return _in_month(midnight, named)
    if _YEAR.fullmatch(text):
        start, end = (midnight.replace(year=int(text) + years, month=1, day=1) for years in (0, 1))
        return start.timestamp(), end.timestamp()
    day = _DAY.fullmatch(text)
    if not day:
        return None
    year, month = int(day[1]), int(day[2])
    if day[3]:
        return _days(midnight.replace(year=year, month=month, day=int(day[3])))
    start = midnight.replace(year=year, month=month, day=1)
    return start.timestamp(), midnight.replace(year=year + month // 12, month=month % 12 + 1, day=1).timestamp()


def _in_month(midnight: datetime, named: re.Match[str]) -> tuple[float, float] | None:
    """Return the month or the day of one; without a year, the latest."""
    before, name, after, year = named.groups()
    if before and after:
        return None
    month = _MONTHS.index(name) + 1
    day = int(before or after or 1)
    is_ahead = (month, day) > (midnight.month, midnight.day)
    start = midnight.replace(year=int(year or midnight.year - is_ahead), month=month, day=day)
    if before or after:
        return _days(start)
    return start.timestamp(), start.replace(year=start.year + month // 12, month=month % 12 + 1).timestamp()


def _period(midnight: datetime, unit: str, *, back: bool) -> tuple[float, float]:
    """Return this week, month or year, or the previous one."""
    if unit == "week":
        start = midnight - timedelta(days=midnight.weekday() + 7 * back)
        return start.timestamp(), (start + timedelta(days=7)).timestamp()
    months = 12 if unit == "year" else 1
    first = midnight.year * 12 + (0 if unit == "year" else midnight.month - 1) - months * back
    start, end = (midnight.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + months))
    return start.timestamp(), end.timestamp()


def _days(start: datetime) -> tuple[float, float]:
    # Until the next midnight, which is not always 24 hours: clocks change.
    end = (start.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=start.tzinfo)
    return start.timestamp(), end.timestamp()


def _exact(text: str, now: datetime) -> tuple[float, float]:
    moment = datetime.fromisoformat(text.upper())
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).timestamp()
    return seconds, seconds
