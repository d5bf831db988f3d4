"""What agents were given, when, why and at what cost, and what of it their answers cited."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.config import Config
from mdmem.inject import injection_log
from mdmem.search.asking.english import SURE
from mdmem.search.index.view import View
from mdmem.views import citations

if TYPE_CHECKING:
    from mdmem.inject.context import Explanation

REASONS = {
    "recent": "last sessions",
    "pinned": "pinned",
    "open": "open work",
    "compacted": "after a compaction",
    "recall": "asked to recall",
    "turns": "many turns",
    "chars": "a long prompt",
    "durable": "notes that stay true",
    "failure": "a failure",
    "read": "before a file was read",
    "edit": "before a file was changed",
}
"""Reason in the log -> its wording."""

GRADES = (
    "only if a person's note, or a command that it asks for, answers it",
    "only if a note answers it fully",
    "if a note answers it",
    "yes",
)
"""Wording of the grades: how surely a prompt asks for the past."""


def searched_for(explanation: Explanation) -> str:
    """Return what was searched for on one line, or why nothing was."""
    shape = explanation.asked
    reason = "it asks for the latest work" if shape and shape.grade == SURE else "it names nothing"
    reason = "it asks for the sessions of some days" if explanation.by_days else reason
    return " ".join(explanation.query.split()) or f"nothing, because {reason}"


def triggered(explanation: Explanation, long: int) -> str:
    """Return why a prompt triggers the search that a session gets once, or no. long: as `inject.after_chars`."""
    reasons = {"chars": f"yes, it is longer than {long} characters", "turns": "yes, by the number of turns"}
    return reasons.get(explanation.trigger, "no")


_CHARS_PER_TOKEN = 4
"""For older lines of the log, which have no tokens."""


class Injection(NamedTuple):
    """What was injected at one event.

    ids: the memories; () if nothing was found, or the session had already been given them. cited: those that an
    answer of the session cites. tokens: the approximate size of the block.
    """

    time: str
    session: str
    agent: str
    event: str
    why: str
    project: str
    tokens: int
    ids: tuple[str, ...]
    cited: tuple[str, ...]

    @property
    def is_miss(self) -> bool:
        """Whether the prompt asked for the past and was given nothing at all."""
        return not self.ids and not self.tokens


def tokens(row: dict[str, Any]) -> int:
    """Return the approximate number of tokens of a logged block."""
    count, chars = row.get("tokens"), row.get("chars")
    if isinstance(count, int):
        return count
    return chars // _CHARS_PER_TOKEN if isinstance(chars, int) else 0


def is_miss(row: dict[str, Any]) -> bool:
    """Whether a line of the log is about a prompt that asked for the past and was given nothing at all."""
    return not row.get("ids") and not tokens(row)


def reasons(row: dict[str, Any]) -> str:
    """Return the reasons of a line of the log in words."""
    return ", ".join(REASONS.get(str(reason), str(reason)) for reason in row.get("why", ()))


def log(config: Config) -> tuple[dict[str, Any], ...]:
    """Return the log of injections and misses, oldest first; it is read again only after a change."""
    names = (f"{injection_log.LOG}.1", injection_log.LOG)
    return _log(config, tuple(stamp(str(Path(config.state_dir) / name)) for name in names))


@lru_cache(maxsize=2)
def _log(config: Config, stamps: tuple[object, ...]) -> tuple[dict[str, Any], ...]:  # noqa: ARG001 - the cache's key
    return tuple(injection_log.read_log(config, misses=True))


def stamp(path: str) -> tuple[int, int, int]:
    """Return a file's mtime, size and inode, to detect changes; zeros if there is no file."""
    try:
        status = Path(path).stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def read(view: View, rows: Iterable[dict[str, Any]]) -> list[Injection]:
    """Return lines of the log as injections, with what was cited, in the same order."""
    rows = list(rows)
    cited = citations.cited_by_session(view, {str(name) for row in rows for name in row.get("ids", ())})
    return [_injection(row, cited.get(str(row.get("session", "")), ())) for row in rows]


def _injection(row: dict[str, Any], cited: Collection[str]) -> Injection:
    ids = tuple(map(str, row.get("ids", ())))
    texts = {key: str(row.get(key, "")) for key in ("time", "session", "agent", "event", "project")}
    cited_ids = tuple(name for name in ids if name in cited)
    return Injection(**texts, why=reasons(row), tokens=tokens(row), ids=ids, cited=cited_ids)
