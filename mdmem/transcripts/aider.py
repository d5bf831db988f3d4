"""Aider's chat histories: `.aider.chat.history.md`, Markdown in a project's folder with all sessions of that project.

Its `aider/io.py` (github.com/Aider-AI/aider) writes the time at which a session began as a heading. Lines of a prompt
begin with `#### ` and those of aider's own messages with `> `; both end with two spaces, which those of an answer that
look alike do not. Nothing else has a time, so every note of a session has the time at which it began.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mdmem.agents import Event
from mdmem.agents.dialect import made_id, seconds
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Source, is_quiet

_BEGIN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_END, _PROMPT, _MESSAGE = "  ", "#### ", "> "
_DONE = ("Applied edit to ", "Commit ")
"""Messages that say what became of an answer, and are kept with it."""
_COMMAND = re.compile(r"/(?:ask|code|architect|help)\s+(?=\S)")
"""Commands behind which the prompt stands; others are orders to aider itself, as are `!` and a blank line."""


class AiderTurn(NamedTuple):
    """A prompt, "" for what aider said before the first one, and the lines of its answer."""

    prompt: str
    answer: list[str]


def is_history(head: bytes) -> bool:
    """Whether a file begins like a chat history of aider."""
    return bool(_BEGIN.match(head.decode("utf-8", "replace").lstrip().partition("\n")[0]))


def read(path: Path, options: ReadOptions) -> Iterator[SavedEvent]:
    """Yield the events of all sessions in a history, oldest first. Raises OSError when the file cannot be read."""
    is_over = is_quiet(path.stat().st_mtime, options.now)
    before: tuple[str, list[AiderTurn]] | None = None
    for session in _sessions(path):
        if before:
            yield from _events(path, *before, is_over=True)
        before = session
    if before:
        yield from _events(path, *before, is_over=is_over)


def _sessions(path: Path) -> Iterator[tuple[str, list[AiderTurn]]]:
    """Yield each session's beginning, as written, and its turns."""
    began, turns, in_prompt = "", [AiderTurn("", [])], False
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in (line.rstrip("\r\n") for line in lines):
            begin = _BEGIN.match(line)
            is_own = line.endswith(_END)
            if begin:
                if began:
                    yield began, turns
                began, turns = begin[1], [AiderTurn("", [])]
            elif is_own and line.startswith(_PROMPT):
                words = line.removeprefix(_PROMPT).removesuffix(_END)
                if in_prompt:
                    turns[-1] = turns[-1]._replace(prompt=f"{turns[-1].prompt}\n{words}")
                else:
                    turns.append(AiderTurn(words, []))
            elif not (is_own and line.startswith(_MESSAGE)):
                turns[-1].answer.append(line)
            elif line.startswith(_DONE, len(_MESSAGE)):
                turns[-1].answer.append(line[len(_MESSAGE) :].removesuffix(_END))
            in_prompt = is_own and line.startswith(_PROMPT)
    if began:
        yield began, turns


def _events(path: Path, began: str, turns: list[AiderTurn], *, is_over: bool) -> Iterator[SavedEvent]:
    """Yield a session's events. is_over: whether its last answer is complete; it may take several steps."""
    at = seconds(began)
    asked = [turn._replace(prompt=_COMMAND.sub("", turn.prompt, count=1).strip()) for turn in turns]
    asked = [turn for turn in asked if turn.prompt and turn.prompt[0] not in "/!" and turn.prompt != "<blank>"]
    if not asked or at is None:
        return
    session = made_id("aider", began, asked[0].prompt)
    make = partial(Event, "aider", session=session, cwd=str(path.parent.absolute()))
    yield SavedEvent(at, make("SessionStart", source="startup"))
    for number, turn in enumerate(asked):
        prompt = made_id(session, number, turn.prompt)
        yield SavedEvent(at, make("UserPromptSubmit", prompt_id=prompt, prompt=turn.prompt))
        answer = "\n".join(turn.answer).strip()
        if answer and (is_over or turn is not asked[-1]):
            yield SavedEvent(at, make("Stop", prompt_id=prompt, message=answer))
    if is_over:
        yield SavedEvent(at, make("SessionEnd", source="as the history goes on"))


SOURCES = (Source("aider", "Aider", lambda _: iter(()), read, is_whole=is_history),)
"""Only a file that a person names: a folder that has one may be of notes."""
