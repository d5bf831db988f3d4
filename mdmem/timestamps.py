"""Times of notes as text: in UTC, with an offset, and for people.

Without `datetime` and `calendar`, which are slow to import.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_END = 1 << 37
"""A time in seconds that no note can have: it is in the year 6325."""


def now(env: Mapping[str, str]) -> float:
    """Return the current time in seconds since the epoch, or MDMEM_NOW if that is a time a note can have."""
    try:
        return seconds_of(env.get("MDMEM_NOW", ""))
    except ValueError:
        return time.time()


def seconds_of(text: str) -> float:
    """Parse a time in seconds since the epoch. Raises ValueError when no note can have it."""
    seconds = float(text)
    if not 0 <= seconds < _END:
        raise ValueError("This is not a time that a note can have.")
    return seconds


def iso_time(seconds: float) -> str:
    """Return a time in ISO 8601, UTC, whole seconds: this form is compared, sorted and given to programs."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def note_time(seconds: float) -> str:
    """Return a time as notes have it: like `iso_time`, but in the local time zone with its offset."""
    try:
        local = time.localtime(seconds)
    except (OverflowError, OSError, ValueError):
        return iso_time(seconds)
    minutes, extra_seconds = divmod(abs(local.tm_gmtoff), 60)
    if extra_seconds or not minutes:
        return iso_time(seconds)
    sign = "-" if local.tm_gmtoff < 0 else "+"
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', local)}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def utc(created: str) -> str:
    """Return a note's time in the form of `iso_time`, for comparison; any other text is returned as it is."""
    seconds = 0.0 if created[-1:] == "Z" else epoch(created)
    return iso_time(seconds) if seconds else created


def worked(moments: Iterable[float]) -> float:
    """Return the seconds from the first to the last moment of a session, without pauses longer than an hour."""
    ordered = sorted(moments)
    steps = (later - earlier for earlier, later in zip(ordered, ordered[1:], strict=False))  # noqa: RUF007 - slow to import
    return sum(step for step in steps if step <= _PAUSE_SECONDS)


_PAUSE_SECONDS = 3600


def is_clock_set_back(first: float, page: float) -> bool:
    """Whether a session's oldest note is so much older than its page that the clock was wrong when it was written.

    A page is as old as the note that came first. An import may add older ones, but not of years before. The same
    goes for a session's last note and an earlier one.
    """
    return first < page - 366 * 86_400


def is_impossible(seconds: float, now: float) -> bool:
    """Whether the clock was years wrong when an event got this time; `now` may be wrong, too, by less."""
    return not _FIRST_AGENTS < seconds < now + 2 * 365 * 86_400


_FIRST_AGENTS = 1_577_836_800
"""2020-01-01: no agent ran before."""


def local_time(seconds: float) -> str:
    """Return a time for people, in the local time zone: 2026-09-14 08:00."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def local_day(seconds: float) -> str:
    """Return the day of a time in the local time zone: 2026-09-14."""
    return local_time(seconds)[:10]


def of_local_clock(seconds: float) -> float:
    """Return the time, in seconds since the epoch, when clocks here show what clocks in UTC show at `seconds`."""
    try:
        return time.mktime((*time.gmtime(seconds)[:8], -1))
    except (OverflowError, OSError, ValueError):  # on Windows, before 1970
        return seconds


def readable(created: str) -> str:
    """Return a note's time for people, in the local time zone; a time in another form is only shortened."""
    seconds = epoch(created)
    return local_time(seconds) if seconds else created[:16].replace("T", " ")


def epoch(iso: str) -> float:
    """Parse a note's time, in UTC or with an offset; 0 for anything else."""
    if not iso.isascii():  # `isdigit` is also true for digits that `int` cannot read
        return 0.0
    if len(iso) == 25 and iso[19] in "+-" and (iso[20:22] + iso[23:]).isdigit():
        offset = (int(iso[20:22]) * 60 + int(iso[23:])) * (60 if iso[19] == "+" else -60)
        local = epoch(f"{iso[:19]}Z")
        return local - offset if local else 0.0
    if len(iso) != 20 or not (iso[:4] + iso[5:7] + iso[8:10] + iso[11:13] + iso[14:16] + iso[17:19]).isdigit():
        return 0.0
    year, month, day = int(iso[:4]), int(iso[5:7]), int(iso[8:10])
    # Days from a civil date, proleptic Gregorian: `calendar.timegm` would import datetime.
    year -= month <= 2
    shifted = (month + 9) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * shifted + 2) // 5 + day - 719469
    return days * 86400.0 + int(iso[11:13]) * 3600 + int(iso[14:16]) * 60 + int(iso[17:19])
