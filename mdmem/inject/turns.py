"""Turns: what the user has said in this session, from its notes or, if that has more, from the transcript.

A turn is a prompt that a person typed: not a tool result, not a prompt of the host's own, and nothing private.
Turns are counted at every prompt, so only the session's record and the transcript's new bytes are read.
"""

from __future__ import annotations

import os

from mdmem import files
from mdmem.agents import payload, prompts, text
from mdmem.hashing import short
from mdmem.values import Value
from mdmem.vault import disk, front_matter, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.vault.journal import Record

    Clean = Callable[[str], str]

MAX_LINE_BYTES = 8 * 1024 * 1024
"""A longer line of a transcript holds images, not something typed."""

MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes read of a transcript, from its end."""

SAME_SECONDS = 10.0
"""A prompt without an id, stored within this time with the same words, is the current one."""

SEPARATOR = "\n---\n"


class UserTurns(Value):
    """The user's turns in a session up to the current prompt, that of `event`.

    clean: returns a prompt without its private parts, "" if it is wholly private. now: seconds since the epoch.
    """

    config: Config
    record: Record
    event: Event
    clean: Clean
    now: float

    def count(self, *, enough: int) -> int:
        """Count the turns, including the current prompt, up to `enough`."""
        stored_turns = len(self._stored().names) + 1
        if stored_turns >= enough:
            return stored_turns
        return max(stored_turns, _count_saved(self.record, self.event, self.clean) + 1)

    def texts(self, *, current: str, limit: int) -> list[str]:
        """Return the last `limit` turns, oldest first, ending with the current prompt (cleaned: `current`).

        Notes that a person has deleted do not count. The transcript is read if it has more turns.
        """
        stored = self._stored()
        saved = [turn for turn, _ in _read(self.event.transcript, 0) if turn is not None]
        if saved and _is_current(saved[-1], self.event):
            saved.pop()
        if len(saved) > len(stored.names):
            earlier = [turn for turn in (self.clean(turn.text) for turn in saved[-4 * limit :]) if turn]
        else:
            bodies = (_body(self.config, f"{stored.folder}/{name}") for name in stored.names[-limit:])
            earlier = [body for body in bodies if body]
        return [*earlier, current][-limit:] if limit else []

    def _stored(self) -> _Prompts:
        record = self.record
        parts = _folder(self.config, record)
        if record.folder:
            names = record.published_with("-000")
        else:
            names = disk.names_in(self.config.vault, "/".join(parts)) if parts else []
        names = sorted([name for name in names if journal.numbers(name)[1:] == (0,)], key=journal.numbers)
        stored = _Prompts("/".join(parts), names)
        current = self._current(stored)
        stored.names = [name for name in names if name != current]
        return stored

    def _current(self, stored: _Prompts) -> str:
        """Return the note of the current prompt, if the hook running in parallel has stored it; else ""."""
        event = self.event
        if event.prompt_id:
            identity = journal.event_identity(event.agent, self.record.id, event.prompt_id, "prompt")
            ending = f"-{short(chr(0).join(identity), 10)}.md"
            return next((name for name in stored.names if name.endswith(ending)), "")
        if not stored.names:
            return ""
        path = f"{stored.folder}/{stored.names[-1]}"
        try:
            fresh = abs(os.stat(os.path.join(self.config.vault, path)).st_mtime - self.now) <= SAME_SECONDS
        except OSError:
            return ""
        return stored.names[-1] if fresh and self._is_typed(_body(self.config, path)) else ""

    def _is_typed(self, stored: str) -> bool:
        """Whether a stored prompt, cleaned and perhaps cut, is the one that was typed."""
        marker = self.config.settings.privacy.marker
        stored_words = (stored.replace(marker, " ") if marker else stored).split()
        typed = prompts.typed(self.event.prompt)
        if len(typed) > self.config.settings.capture.prompt_chars:
            return stored_words[:_BEGINNING] == self.clean(typed).split()[:_BEGINNING]
        return stored_words == typed.split() or stored_words == self.clean(typed).split()


_BEGINNING = 10
"""Number of words compared to recognize a prompt that was cut when stored."""


LOOK_BACK = 3
"""Factor on the number of turns in a query: this many are searched for turns with a topic."""


def topical(turns: list[str]) -> list[str]:
    """Drop turns such as "go on with it" or "run the tests", which do not say what is worked on."""
    telling = [turn for turn in turns if len(own_words(turn)) > 1]
    return telling or turns


def only_points(topic: str) -> bool:
    """Whether a question's topic names nothing and only points at what was said before: `why … it that way?`"""
    return not own_words(topic)


def own_words(text: str) -> set[str]:
    """Return the words of a text, in lower case, that say what it is about."""
    from mdmem.search.text import analysis
    from mdmem.search.text.stopwords import FOREIGN, STOPWORDS

    return {word.lower() for word in analysis.words(text)} - STOPWORDS - FOREIGN - _FILLER


_FILLER_WORDS = """
go run rerun test tests testing try retry check look see fix continue proceed next step ok okay yes yep no nope sure
please thanks thank good great nice perfect cool fine right exactly commit push merge pull branch pr work works working
done ready wait stop undo revert make add remove change update rename move show print explain again finish start do
first second third last same better more less still back keep start use way thing things part bit file files code line
lines it's lint linter format build compile deploy review summary summarize pass passes fail fails failing passing
get gets getting so gemacht fait hecho
"""
_FILLER = frozenset(_FILLER_WORDS.split())


def query(turns: list[str], chars: int) -> str:
    """Join turns into one query, each cut to `chars` characters, with a line `---` between them."""
    return SEPARATOR.join([turn[:chars] for turn in turns])


# -- what is stored --------------------------------------------------------------------------------


class _Prompts(Value):
    """The session's stored prompts except the current one: their folder, relative to the vault, and file names."""

    folder: str
    names: list[str]


def _folder(config: Config, record: Record) -> tuple[str, ...]:
    if record.folder and os.path.isdir(os.path.join(config.vault, *record.folder)):
        return record.folder
    if record.lines("start") and not record.folder:
        return ()
    return journal.find_session(config, record.id, most=journal.MAX_DAYS)


def _body(config: Config, path: str) -> str:
    data = disk.read_path(config.vault, path)
    return front_matter.split(front_matter.text_of(data))[1].strip() if data else ""


# -- what the agent saved --------------------------------------------------------------------------


class UserTurn(Value):
    """A typed prompt in a transcript: its text, and its id or ""."""

    text: str
    prompt_id: str


def _is_current(turn: UserTurn, event: Event) -> bool:
    if turn.prompt_id and event.prompt_id:
        return turn.prompt_id == event.prompt_id
    return turn.text == prompts.typed(event.prompt)


def _count_saved(record: Record, event: Event, clean: Clean) -> int:
    """Count the turns in the transcript except the current one; only new bytes are read."""
    mark = record.flag("counted")
    offset, counted = _load(mark)
    end = offset
    last_turn: UserTurn | None = None
    for turn, after in _read(event.transcript, offset):
        end = after
        if turn is not None and ("private" not in turn.text.lower() or clean(turn.text)):
            last_turn = turn
            counted += 1
    if end != offset:
        files.try_replace(mark, f"{end} {counted}".encode())
    return counted - 1 if last_turn is not None and _is_current(last_turn, event) else counted


def _load(path: str) -> tuple[int, int]:
    try:
        offset, counted = files.read_own(path, 64).split()
        return int(offset), int(counted)
    except (OSError, ValueError):
        return 0, 0


def _read(path: str, offset: int) -> Iterator[tuple[UserTurn | None, int]]:
    """Yield what was typed on each complete line of a transcript from `offset` on, with the offset after the line.

    A last line that is still being written is left for later. An unreadable transcript counts as empty.
    """
    path = os.path.expanduser(path)
    if path.endswith(".json"):
        yield from _read_array(path, offset)
        return
    if not path.endswith(".jsonl"):
        return
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(fd, "rb") as file:
            size = os.fstat(fd).st_size
            offset = 0 if offset > size else offset
            file.seek(max(offset, size - MAX_TRANSCRIPT_BYTES))
            for line in file:
                if not line.endswith(b"\n"):
                    return
                offset = file.tell() if offset < size - MAX_TRANSCRIPT_BYTES else offset + len(line)
                yield _turn_of_line(line), offset
    except (OSError, ValueError):
        return


def _read_array(path: str, offset: int) -> Iterator[tuple[UserTurn | None, int]]:
    """Yield what was typed in a transcript that is one JSON array, or an object with one under `messages`.

    Offsets are positions in the array. A transcript that is being rewritten, or is too long to reread every time,
    counts as empty.
    """
    try:
        value = payload.scan(files.read_any(path, MAX_LINE_BYTES).decode("utf-8", "replace"))
    except (OSError, StopIteration, ValueError, RecursionError):
        return
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return
    offset = 0 if offset > len(messages) else offset
    for place, message in enumerate(messages[offset:], offset + 1):
        yield _turn_of_message(message), place


def _turn_of_line(line: bytes) -> UserTurn | None:
    """Return what a person typed on a line, or None."""
    if len(line) > MAX_LINE_BYTES or not any(sign in line for sign in _SIGNS) or b'"tool_result"' in line:
        return None
    try:
        value = payload.scan(line.decode("utf-8", "replace"))
    except (StopIteration, ValueError, RecursionError):
        return None
    return _turn_of_message(value)


def _turn_of_message(value: Any) -> UserTurn | None:
    """Return what a person typed in a message of a transcript, or None."""
    if not isinstance(value, dict):
        return None
    if value.get("role") == "user" and "message" not in value:  # the form of the models' own protocols
        value = {**value, "type": "user", "message": {"content": value.get("content")}}
    shape = _SHAPES.get(text(value.get("type")))
    typed = prompts.typed(shape(value)) if shape else ""
    return UserTurn(typed, text(value.get("promptId"))) if typed else None


_SIGNS = (b'"user"', b'"user_message"', b'"queued_command"')
"""A line without any of these has nothing typed."""

_HOSTS_OWN = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly", "teamName", "toolUseResult")


def _claude_prompt(line: dict[str, Any]) -> str:
    message = line.get("message")
    if any(line.get(key) for key in _HOSTS_OWN) or not isinstance(message, dict):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n".join([part for part in texts if prompts.is_typed(part)]).strip()


def _claude_queued(line: dict[str, Any]) -> str:
    """Return what was typed while the agent was working."""
    attachment = line.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return ""
    return text(attachment.get("prompt")).strip() if attachment.get("commandMode") == "prompt" else ""


def _codex_message(line: dict[str, Any]) -> str:
    inner = line.get("payload")
    if not isinstance(inner, dict) or inner.get("type") != "user_message":
        return ""
    return text(inner.get("message")).strip()


_SHAPES: dict[str, Callable[[dict[str, Any]], str]] = {
    "user": _claude_prompt,
    "attachment": _claude_queued,
    "event_msg": _codex_message,
}
"""Type of a transcript line -> the function that returns its typed text."""
