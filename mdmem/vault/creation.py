"""When a note was created and what it is, by its front matter, or else by its path, text and file."""

from __future__ import annotations

from datetime import datetime

from mdmem import timestamps
from mdmem.lazy_pattern import lazy
from mdmem.vault import disk, layout, links, note, titles

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


NUMBERED = lazy(r"(?!(?:19|20)\d\d(?!\d))\d{1,5}(?!\d)")
"""Begins the name of a file that is part of a numbered sequence."""


def name_words(path: str, note_id: str) -> str:
    """Return the words in a file name that a person chose; "" if it has none or is part of a numbered sequence."""
    name = links.stem(path.rpartition("/")[2]).removesuffix(f"-{note_id}")
    if NUMBERED.match(name):
        return ""
    words = DATE.sub(" ", name).replace("-", " ").replace("_", " ").split()
    return " ".join(words) if any(len(word) > 2 and word.isalpha() for word in words) else ""


def described(root: str, path: str, parsed: note.Parsed) -> dict[str, str]:
    """Return id, kind, title, created and project of a note, also of one without front matter, as lists show them.

    Front matter that is not text, such as an empty `title:`, counts as missing.
    created: ISO 8601 in UTC; the file's mtime if nothing tells, and "" if there is no file either.
    """
    meta = parsed.meta
    facts = {key: value for key in ("id", "title") if isinstance(value := meta.get(key), str)}
    note_id, kind = facts.get("id", ""), note.kind_of(meta)
    moment = when_made(meta, path)
    named = "" if "digest" in meta or kind in note.PAGES else name_words(path, note_id)
    title = " ".join(facts.get("title", "").split()) or titles.heading(parsed.body)
    title = title or named or titles.body_line(parsed.body)
    return {
        "id": note_id or note.id_of_path(path),
        "kind": kind,
        "title": title or links.stem(path.rpartition("/")[2]),
        "created": timestamps.iso_time(int(moment.timestamp())) if moment else _changed(root, path),
        "project": layout.project_named(path, meta),
    }


def _changed(root: str, path: str) -> str:
    try:
        return timestamps.iso_time(int(disk.lstat(root, path).st_mtime))
    except (OSError, ValueError):
        return ""
