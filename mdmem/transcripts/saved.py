"""What every transcript becomes: events with the time they happened at, and a count of what was passed over."""

from __future__ import annotations

import heapq
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from mdmem import privacy
from mdmem.agents import Event

QUIET_SECONDS = 600
"""A session of which nothing was heard for this long is over, as far as anybody can tell."""

SAID = frozenset(["prompt", "response", "summary"])
"""The kinds of notes whose ids may be others when a hook stored them, for every agent."""

Skipped = Counter[str]
"""Why something was passed over -> how often."""

NO_RESULT = "It has no result: the agent was ended while it ran."
"""The error of a command whose result the transcript does not have, though the session went on or is over."""

Tell = Callable[[int], None]
"""Is told how far into its file the reading is, in bytes."""


def is_quiet(at: float, now: float) -> bool:
    """Whether nothing was heard for `QUIET_SECONDS`. A time that far in the future is a wrong clock, and counts too."""
    return abs(now - at) > QUIET_SECONDS


def untold(_: int) -> None:
    """Ignore what is reported."""


class SavedEvent(NamedTuple):
    """An event, as a hook would have given it.

    at: when it happened, in seconds since the epoch.
    branch, commit: the project's at that time, where the transcript names them.
    passed_over: it is not stored, such as a prompt that the user took back; what it says in private stays known.
    """

    at: float
    event: Event
    branch: str = ""
    commit: str = ""
    passed_over: bool = False


class ReadOptions(NamedTuple):
    """How a transcript is read.

    skipped: counts what is passed over. now: the time, which tells a session that is over from one that may go on.
    ended: a turn that was over by then is known to be, 0.0 where nobody has said so. subagents: also what sub-agents
    did. tell: is told how far the reading is. rules: also what those sub-agents did whose files may hold private tags.
    """

    skipped: Skipped
    now: float
    ended: float = 0.0
    subagents: bool = False
    tell: Tell = untold
    rules: privacy.Rules | None = None


def file_facts(path: Path) -> tuple[int, int]:
    """Return the size of a file, and when it was last written to.

    Raises OSError when it is not there, or no file: a pipe would keep its reader waiting for ever.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise FileNotFoundError(str(path))
    return facts.st_size, facts.st_mtime_ns


class Source(NamedTuple):
    """An agent that saves transcripts, and what reads them; each reader's module has one as `SOURCE`.

    find: finds the transcripts below a folder. read: returns a transcript's events, oldest first.
    place: where the transcripts are: in a folder below what a function returns; None for exports, which a person names.
    is_one: whether a file's first lines are such a transcript's. is_whole: whether a file that is one JSON value, and
    begins so, is one.
    loose: the kinds of notes whose ids may be others when a hook stored them.
    facts: returns a transcript's size in bytes, and when it was last changed, in nanoseconds since the epoch.
    """

    agent: str
    title: str
    find: Callable[[Path], Iterator[Path]]
    read: Callable[[Path, ReadOptions], Iterator[SavedEvent]]
    place: tuple[Callable[[Mapping[str, str]], str], str] | None = None
    is_one: Callable[[list[dict[str, Any]]], bool] = lambda _: False
    is_whole: Callable[[bytes], bool] = lambda _: False
    loose: frozenset[str] = frozenset()
    facts: Callable[[Path], tuple[int, int]] = file_facts


def below(pattern: str) -> Callable[[Path], Iterator[Path]]:
    """Return what finds the transcripts below a folder by the names of their files."""
    return lambda root: iter(sorted(root.rglob(pattern)))


_TELLING = frozenset(["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"])


def of_subagent(events: Iterator[SavedEvent], session: str) -> Iterator[SavedEvent]:
    """Yield the events of a sub-agent's own file as events of the session that started it."""
    for saved in events:
        if saved.event.name in _TELLING:
            saved.event.subagent, saved.event.session, saved.event.prompt_id = True, session, ""
            yield saved


def pass_over(event: Event, at: float, how: ReadOptions) -> Iterator[SavedEvent]:
    """Yield an event that is not stored, if it may contain a private tag."""
    said = [event.prompt, event.message, event.tool_input, event.tool_response, event.error]
    if how.rules and privacy.may_hold_private(said, how.rules):
        yield SavedEvent(at, event, passed_over=True)


def in_order(own: Iterator[SavedEvent], others: Iterable[Iterator[SavedEvent]]) -> Iterator[SavedEvent]:
    """Return the events of a session and those of its sub-agents by their times."""
    return heapq.merge(own, *others, key=lambda saved: saved.at)


def may_hold_private(path: Path, rules: privacy.Rules | None) -> bool:
    """Whether a sub-agent's file may contain a private tag; what that hides is private in the whole session."""
    if rules is None:
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        return any(privacy.may_hold_private([line], rules) for line in lines)


_WHOLE = frozenset(["end_turn", "stop_sequence", "max_tokens", "refusal"])


class AnswerParts:
    """The text that would be the turn's answer if the turn ended now.

    id: of the message it is part of; at: when its last part came.
    """

    def __init__(self) -> None:
        self.clear()

    @property
    def text(self) -> str:
        """Return its parts, one after the other; "" when nothing was said since the last tool run."""
        return "\n".join(self._parts)

    @property
    def is_whole(self) -> bool:
        """Whether the agent ended its turn with it."""
        return bool(self._parts) and self._reason in _WHOLE

    def clear(self) -> None:
        """Start over."""
        self.id = ""
        self.at = 0.0
        self._parts: list[str] = []
        self._reason = ""

    def add(self, message_id: str, part: str, at: float) -> None:
        """Add a part; one of another message starts over."""
        if not part.strip():
            return
        if self._parts and message_id != self.id:
            self.clear()
        self.id, self.at = message_id, at
        self._parts.append(part)

    def stopped(self, reason: str) -> None:
        """Keep why the message ended, where a line says so."""
        self._reason = reason or self._reason


class TurnTokens:
    """What the requests of one turn cost; a message that is written again, or in parts, counts once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def clear(self) -> None:
        """Begin a new turn."""
        self._known.clear()

    def add(self, message_id: str, given: int | None, made: int | None) -> None:
        """Add a message: the tokens that the model read for it, and those that it wrote."""
        if given or made:
            self._known[message_id] = (given or 0, made or 0)

    def put_into(self, event: Event) -> None:
        """Put what the turn cost so far into an answer's event, if anything is known of it."""
        if self._known:
            event.extra["tokens_in"] = str(sum(given for given, _ in self._known.values()))
            event.extra["tokens_out"] = str(sum(made for _, made in self._known.values()))


class SessionTokens:
    """What a session has cost so far, where an agent writes down sums; a turn costs what they have grown by."""

    def __init__(self) -> None:
        self._now = self._before = (0, 0)

    def begin_turn(self) -> None:
        """Begin a new turn."""
        self._before = self._now

    def set(self, given: int | None, made: int | None) -> None:
        """Take the sums of the tokens that the model read, and of those that it wrote; they may start over."""
        if given is None or made is None:
            return
        if given < self._now[0] or made < self._now[1]:
            self._before = (0, 0)
        self._now = given, made

    def put_into(self, event: Event) -> bool:
        """Put what the turn cost so far into an answer's event; return whether anything is known of it."""
        given, made = (now - before for now, before in zip(self._now, self._before, strict=True))
        if given > 0 or made > 0:
            event.extra |= {"tokens_in": str(given), "tokens_out": str(made)}
        return given > 0 or made > 0


def moment(value: Any) -> float | None:
    """Read a time as transcripts write it, ISO 8601 in UTC; None for anything else, or outside 2000 to 2100."""
    if type(value) is not str or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return found.timestamp() if 2000 <= found.year < 2100 else None
