"""Saved events: what every transcript is turned into, and a count of what was skipped."""

from __future__ import annotations

import heapq
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from mdmem import privacy
from mdmem.agents import Event

QUIET_SECONDS = 600
"""A session without any sign of life for this long counts as over."""

SPOKEN = frozenset(["prompt", "response", "summary"])
"""Kinds of notes whose ids may differ when a hook stored them, for every agent."""

Skipped = Counter[str]
"""Reason for skipping something -> number of times."""

NO_RESULT = "It has no result: the agent was ended while it ran."
"""Error of a command without a result in the transcript, although the session went on or is over."""

BytesCallback = Callable[[int], None]
"""Called with the number of bytes of the file read so far."""


def is_quiet(at: float, now: float) -> bool:
    """Whether `at` is more than `QUIET_SECONDS` ago, or, because of a wrong clock, as far in the future."""
    return abs(now - at) > QUIET_SECONDS


def ignore_bytes(_: int) -> None:
    """Ignore the report."""


class SavedEvent(NamedTuple):
    """An event, as a hook would have sent it.

    at: when it happened, in seconds since the epoch.
    branch, commit: the project's at that time, if the transcript names them.
    passed_over: the event is not stored, for example a prompt that was taken back, but its private text is remembered.
    """

    at: float
    event: Event
    branch: str = ""
    commit: str = ""
    passed_over: bool = False


class ReadOptions(NamedTuple):
    """How a transcript is read.

    skipped: counts what is skipped. now: the current time, to tell finished sessions from running ones.
    ended: a turn that was over by this time is known to be over (0.0: unknown). subagents: also read sub-agents'
    events.
    report: called with the progress. rules: also read sub-agents' files that may contain private tags.
    roots: the folders of known projects by their names, in lower case.
    """

    skipped: Skipped
    now: float
    ended: float = 0.0
    subagents: bool = False
    report: BytesCallback = ignore_bytes
    rules: privacy.Rules | None = None
    roots: Mapping[str, str] = MappingProxyType({})


def file_facts(path: Path) -> tuple[int, int]:
    """Return a file's size in bytes, and its mtime in nanoseconds.

    Raises OSError when it is missing or not a regular file: reading a pipe could wait forever.
    """
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise FileNotFoundError(str(path))
    return facts.st_size, facts.st_mtime_ns


class Source(NamedTuple):
    """An agent that saves transcripts, and how to read them. Each reader's module has one as `SOURCE`.

    find: yields the transcripts below a folder. read: yields a transcript's events, oldest first.
    place: where the transcripts are: a function that returns a folder, and a subfolder; None for exports, which a
    person names.
    is_one: whether a file's first lines are those of such a transcript. is_whole: the same for the first bytes of a
    file that is a single JSON value or a database.
    loose: the kinds of notes whose ids may differ when a hook stored them.
    facts: returns a transcript's size in bytes, and its mtime in nanoseconds since the epoch.
    is_retold: whether it retells sessions of other agents; those that the vault has from the agents are skipped.
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
    is_retold: bool = False


def below(pattern: str) -> Callable[[Path], Iterator[Path]]:
    """Return a function that finds the transcripts below a folder by their file names."""
    return lambda root: iter(sorted(root.rglob(pattern)))


_TELLING = frozenset(["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"])


def of_subagent(events: Iterator[SavedEvent], session: str) -> Iterator[SavedEvent]:
    """Yield the events of a sub-agent's file as events of its parent session."""
    for saved in events:
        if saved.event.name in _TELLING:
            saved.event.subagent, saved.event.session, saved.event.prompt_id = True, session, ""
            yield saved


def pass_over(event: Event, at: float, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield an event that is not stored, if it may contain a private tag, or shows a secret that a person looked up."""
    texts = [event.prompt, event.message, event.tool_input, event.tool_response, event.error]
    is_shown = isinstance(event.tool_response, str)
    if options.rules and (
        privacy.may_hold_private(texts, options.rules) or (is_shown and privacy.may_name_secret(texts, options.rules))
    ):
        yield SavedEvent(at, event, passed_over=True)


def in_order(own: Iterator[SavedEvent], others: Iterable[Iterator[SavedEvent]]) -> Iterator[SavedEvent]:
    """Return the events of a session and its sub-agents, sorted by time."""
    return heapq.merge(own, *others, key=lambda saved: saved.at)


def may_hold_private(path: Path, rules: privacy.Rules | None) -> bool:
    """Whether a sub-agent's file may contain a private tag; hidden text is private in the whole session."""
    if rules is None:
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        return any(privacy.may_hold_private([line], rules) for line in lines)


_WHOLE = frozenset(["end_turn", "stop_sequence", "max_tokens", "refusal"])


class AnswerParts:
    """The text that is the turn's answer if the turn ends now.

    id: the message it is part of. at: when its last part came.
    """

    def __init__(self) -> None:
        self.clear()

    @property
    def text(self) -> str:
        """Return the parts joined by line breaks; "" if nothing was said since the last tool run."""
        return "\n".join(self._parts)

    @property
    def is_whole(self) -> bool:
        """Whether the agent ended its turn with this text."""
        return bool(self._parts) and self._reason in _WHOLE

    def clear(self) -> None:
        """Start over."""
        self.id = ""
        self.at = 0.0
        self._parts: list[str] = []
        self._reason = ""

    def add(self, message_id: str, part: str, at: float) -> None:
        """Add a part; a part of another message starts over."""
        if not part.strip():
            return
        if self._parts and message_id != self.id:
            self.clear()
        self.id, self.at = message_id, at
        self._parts.append(part)

    def stopped(self, reason: str) -> None:
        """Record why the message ended, if a line says so."""
        self._reason = reason or self._reason

    def finish(self, saved: Callable[..., SavedEvent], tokens: TurnTokens | SessionTokens) -> Iterator[SavedEvent]:
        """Yield the answer that is now complete, if any, and start over. saved: makes its event. tokens: the turn's."""
        if self._parts:
            answer = saved(last_assistant_message=self.text)._replace(at=self.at)
            tokens.put_into(answer.event)
            yield answer
        self.clear()


class TurnTokens:
    """The tokens of one turn's requests; a message written repeatedly or in parts counts once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def clear(self) -> None:
        """Begin a new turn."""
        self._known.clear()

    def add(self, message_id: str, tokens_in: int | None, tokens_out: int | None) -> None:
        """Add a message. tokens_in, tokens_out: what the model read and wrote."""
        if tokens_in or tokens_out:
            self._known[message_id] = (tokens_in or 0, tokens_out or 0)

    def put_into(self, event: Event) -> None:
        """Store the turn's tokens so far in an answer's event, if any are known."""
        if self._known:
            event.extra["tokens_in"] = str(sum(tokens_in for tokens_in, _ in self._known.values()))
            event.extra["tokens_out"] = str(sum(tokens_out for _, tokens_out in self._known.values()))


class SessionTokens:
    """A session's running token totals, for agents that write those; a turn costs the increase."""

    def __init__(self) -> None:
        self._now = self._before = (0, 0)

    def begin_turn(self) -> None:
        """Begin a new turn."""
        self._before = self._now

    def set(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Set the totals of tokens that the model read and wrote; they may start over."""
        if tokens_in is None or tokens_out is None:
            return
        if tokens_in < self._now[0] or tokens_out < self._now[1]:
            self._before = (0, 0)
        self._now = tokens_in, tokens_out

    def put_into(self, event: Event) -> bool:
        """Store the turn's tokens so far in an answer's event; return whether any are known."""
        tokens_in, tokens_out = (now - before for now, before in zip(self._now, self._before, strict=True))
        if tokens_in > 0 or tokens_out > 0:
            event.extra |= {"tokens_in": str(tokens_in), "tokens_out": str(tokens_out)}
        return tokens_in > 0 or tokens_out > 0


def moment(value: Any) -> float | None:
    """Parse a time in ISO 8601 (UTC by default); None for anything else, or a year outside 2000 to 2099."""
    if type(value) is not str or len(value) > 40:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return time.timestamp() if 2000 <= time.year < 2100 else None
