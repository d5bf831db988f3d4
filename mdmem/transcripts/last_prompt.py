"""Last prompt: rereads the last prompt with a hidden section from the agent's own transcript."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from mdmem import privacy
from mdmem.agents import Event, cursor, mapping, objects, text
from mdmem.agents.install.known import AGENTS
from mdmem.capture import keep, notices
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.transcripts import sources
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Skipped

_QUERY = ("<user_query>", "</user_query>")


def store(config: Config) -> str:
    """Store what private tags hid in the last prompt; return the note's path in the vault.

    Raises:
        NotFoundError: nothing was hidden, or the transcript does not contain the prompt.
        UsageError: its note was edited since. OSError, VaultError: the vault cannot be written.
    """
    last = notices.last(config)
    if last is None or last.agent not in AGENTS:
        raise NotFoundError("Nothing was kept out of any recent prompt.")
    typed = _typed(last, privacy.Rules.of(config.settings))
    event = Event(
        agent=last.agent,
        name="UserPromptSubmit",
        session=last.session,
        prompt_id=last.prompt_id,
        cwd=last.cwd,
        transcript=last.transcript,
        prompt=typed.prompt,
        extra=typed.extra,
    )
    path = keep.prompt(config, event, last.at, last.note)
    notices.forget_last(config)
    return path


def _typed(last: notices.LastHidden, rules: privacy.Rules) -> Event:
    """Return the saved prompt: that with its id, else the one with a private section nearest in time.

    The agent may have saved later prompts that no hook received.
    """
    prompts = _prompts(last)
    with_id = [saved.event for saved in prompts if last.prompt_id and saved.event.prompt_id == last.prompt_id]
    if with_id:
        return with_id[-1]
    hidden = [
        saved for saved in prompts if privacy.clean(privacy.as_typed(saved.event.prompt), rules=rules).hidden.sections
    ]
    if not hidden:
        place = f" at {last.transcript}" if last.transcript else ""
        raise NotFoundError(
            f"What {last.agent} saved{place} does not contain the prompt. Type the text again without its tags."
        )
    return min(reversed(hidden), key=lambda saved: abs(saved.at - last.at)).event


def _prompts(last: notices.LastHidden) -> list[SavedEvent]:
    path = Path(last.transcript)
    if last.agent == cursor.NAME:
        return [SavedEvent(last.at, event) for event in _of_cursor(path)] if last.transcript and path.is_file() else []
    source = sources.recognize(path) if last.transcript and sources.file_of(path).is_file() else None
    if source is None:
        raise NotFoundError(
            f"{last.agent} keeps no transcript that mdmem can read{f' at {path}' if last.transcript else ''}."
            " Type the text again without its tags."
        )
    saved = source.read(path, ReadOptions(Skipped(), time.time()))
    return [saved_event for saved_event in saved if saved_event.event.name == "UserPromptSubmit"]


def _of_cursor(path: Path) -> Iterator[Event]:
    """Yield a conversation's prompts from the transcript that Cursor's hook named."""
    for line in Lines(path, Skipped()):
        for part in objects(mapping(line.get("message")).get("content") if line.get("role") == "user" else None):
            words = text(part.get("text"))
            head, tag, after_tag = words.partition(_QUERY[0])
            words = after_tag.rpartition(_QUERY[1])[0].strip("\n") if tag and not head.strip() else words
            if words:
                yield cursor.read({"hook_event_name": "beforeSubmitPrompt", "prompt": words}, {})
