"""The last prompt of which something was kept out, read again from the agent's own transcript."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from mdmem import privacy
from mdmem.agents import Event, cursor, mapping, objects, text
from mdmem.agents.install.known import AGENTS
from mdmem.capture import keep, told
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.transcripts import sources
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import Reading, Skipped

_QUERY = ("<user_query>", "</user_query>")


def store(config: Config) -> str:
    """Store what private tags kept out of the last prompt; return the note's path in the vault.

    Raises:
        NotFoundError: nothing was kept out, or the transcript does not hold the prompt.
        UsageError: its note was edited since. OSError, VaultError: the vault cannot be written.
    """
    last = told.last(config)
    if last is None or last.agent not in AGENTS:
        raise NotFoundError("Nothing was kept out of any recent prompt.")
    found = _typed(last, privacy.Rules.of(config.settings))
    event = Event(
        agent=last.agent,
        name="UserPromptSubmit",
        session=last.session,
        prompt_id=last.prompt_id,
        cwd=last.cwd,
        transcript=last.transcript,
        prompt=found.prompt,
        extra=found.extra,
    )
    path = keep.prompt(config, event, last.at, last.note)
    told.forget_last(config)
    return path


def _typed(last: told.LastHidden, rules: privacy.Rules) -> Event:
    """Find the prompt where the agent saved it: by its id, else the last one with a private section."""
    prompts = _prompts(last)
    same = [event for event in prompts if last.prompt_id and event.prompt_id == last.prompt_id]
    hidden = [event for event in prompts if privacy.clean(privacy.as_typed(event.prompt), rules=rules).hidden.sections]
    if not same and not hidden:
        where = f" at {last.transcript}" if last.transcript else ""
        raise NotFoundError(
            f"What {last.agent} saved{where} does not hold the prompt. Type the text again without its tags."
        )
    return (same or hidden)[-1]


def _prompts(last: told.LastHidden) -> list[Event]:
    path = Path(last.transcript)
    if last.agent == cursor.NAME:
        return list(_of_cursor(path)) if last.transcript and path.is_file() else []
    source = sources.recognize(path) if last.transcript and sources.file_of(path).is_file() else None
    if source is None:
        raise NotFoundError(
            f"{last.agent} keeps no transcript that mdmem can read{f' at {path}' if last.transcript else ''}."
            " Type the text again without its tags."
        )
    events = [one.event for one in source.read(path, Reading(Skipped(), time.time()))]
    return [event for event in events if event.name == "UserPromptSubmit"]


def _of_cursor(path: Path) -> Iterator[Event]:
    """Yield the prompts of a conversation, from the lines of the transcript that Cursor's hook named."""
    for line in Lines(path, Skipped()):
        for part in objects(mapping(line.get("message")).get("content") if line.get("role") == "user" else None):
            said = text(part.get("text"))
            head, found, rest = said.partition(_QUERY[0])
            said = rest.rpartition(_QUERY[1])[0].strip("\n") if found and not head.strip() else said
            if said:
                yield cursor.read({"hook_event_name": "beforeSubmitPrompt", "prompt": said}, {})
