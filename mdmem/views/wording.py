"""Sentences for people that several places need, and times, durations and sizes as text; times are local."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.lazy_pattern import lazy
from mdmem.vault import layout, note, projects


def none_yet(config: Config) -> str:
    """Return the message for a vault without notes.

    Its disk may not be mounted, or a folder of other files may have been named by mistake.
    """
    vault = config.vault
    if projects.is_emptied(config):
        return str(projects.emptied(vault))
    if layout.is_vault(vault):
        return "No notes yet. `mdmem status` shows which agents are registered."
    import shlex

    return (
        f"{vault} has no notes and is not set up as a vault. Name yours with --vault, MDMEM_VAULT or `vault` in your"
        f" config.toml, or set this one up: `mdmem init {shlex.quote(vault)}`."
    )


def cause(error: Exception | None) -> str:
    """Return why something failed, as the end of a sentence: `No space left on device (/v/journal)`."""
    if isinstance(error, OSError):
        name = str(error.filename or "")
        where = f" ({name})" if name and not name.endswith(".tmp") else ""  # a temporary file's name says nothing
        return f"{str(error.strerror or error).rstrip('.')}{where}"
    return str(error or "another process may be writing them").rstrip(".")


def superseded(named: str) -> str:
    """Return the remark that cites a newer note, or that has the words in its place: `its source was deleted`."""
    note_id = note.id_in_reference(named)
    is_id = note_id.replace("-", "").replace("_", "").isalnum()
    return f"superseded by [mem:{note_id}]" if is_id else f"superseded: {named}"


def day(iso: str) -> str:
    """Return the day of a note's time as `2026-09-14`."""
    return timestamps.readable(iso)[:10]


def clock(iso: str) -> str:
    """Return the time of day as `08:00`; "" if it cannot be read."""
    text = timestamps.readable(iso)[11:]
    return text if text[2:3] == ":" else ""


def between(start: str, end: str) -> str:
    """Return the duration between the times of two notes; "" if one cannot be read."""
    first, last = timestamps.epoch(start), timestamps.epoch(end)
    return duration(last - first) if 0 < first < last else ""


def worked(seconds: float) -> str:
    """Return the time worked in a session as text; "" for none."""
    return duration(seconds) if seconds >= 1 else ""


def duration(seconds: float) -> str:
    """Return a duration as text: `450 ms`, `12 s`, `8 min`, `2 h 05 min`, `3 days`."""
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours // 24} days"


def size(count: int) -> str:
    """Return a number of bytes as text: `312 B`, `4.2 kB`, `1.3 MB`."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


_EVERY = lazy(r"([0-9]{1,5})\s*(m|min|h|d|w)")
_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def seconds_of(text: str) -> float:
    """Parse a duration (`30m`, `1h`, `2d`) into seconds. Raises UsageError when it cannot be read."""
    found = _EVERY.fullmatch(text.strip().lower())
    if found is None or not int(found[1]):
        raise UsageError(f"Can't read {text!r:.42} as a duration. Try 30m, 1h, 2d.")
    return float(int(found[1]) * _SECONDS[found[2]])


def begin_of(text: str) -> str:
    """Parse a time (`2w`, `yesterday`, `2026-09-14`); return its beginning, as notes write times.

    Raises UsageError when it cannot be read.
    """
    from mdmem import when

    found = when.span(text, when.now())
    if found is None:
        raise UsageError(when.UNREAD.format(text))
    return timestamps.iso_time(found[0])
