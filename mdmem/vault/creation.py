"""When a note was created: by its front matter, or a date in its path."""

from __future__ import annotations

from datetime import datetime

from mdmem.lazy_pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KEYS = (
    "created", "created_at", "created-at", "date", "datetime", "timestamp", "time", "started", "published", "updated",
    "modified",
)  # fmt: skip
"""Front matter keys that may say it; the first one that can be read counts."""
DATE = lazy(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")


def read_time(text: str) -> datetime | None:
    """Parse a date or time in ISO 8601, in the machine's zone if it names none; None for anything else.

    A person who writes a date means a day of their own, and sees notes' days in the machine's zone.
    """
    text = text.strip()
    if not "0" <= text[:1] <= "9":  # parsing errors are slower
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return moment if 1 < moment.year < 9999 else None


def when_made(meta: Mapping[str, Any], path: str) -> datetime | None:
    """Return when a note was created, by its front matter or a date in its path, or None."""
    for key in KEYS:
        value = meta.get(key)
        moment = read_time(value) if isinstance(value, str) else None
        if moment:
            return moment
    for parts in reversed(DATE.findall(path)):
        moment = read_time("-".join(parts))
        if moment:
            return moment
    return None
