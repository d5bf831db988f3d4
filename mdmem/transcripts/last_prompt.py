"""The last prompt of which something was kept out, read again from the agent's own transcript."""

from __future__ import annotations

import time
from pathlib import Path

from mdmem import privacy
from mdmem.agents import Event
from mdmem.agents.install.known import AGENTS
from mdmem.capture import keep, told
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.transcripts import sources
from mdmem.transcripts.saved import Reading, Skipped


def store(config: Config) -> str:
    """Store what private tags kept out of the last prompt; return the note's path in the vault.

    Raises:
        NotFoundError: nothing was kept out, or the transcript does not hold the prompt.
        UsageError: its note was edited since. OSError, VaultError: the vault cannot be written.
    """
    last = told.last(config)
    if last is None or last.agent not in AGENTS:
        raise NotFoundError("No prompt is known of which something was kept out.")
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
    """Find the prompt in its transcript: by its id, else the last one with a private section."""
    path = Path(last.transcript)
    source = sources.recognise(path) if last.transcript and path.is_file() else None
    if source is None:
        raise NotFoundError(
            f"{last.agent} keeps no transcript that mdmem can read{f' at {path}' if last.transcript else ''}."
            " Type the text again without its tags."
        )
    events = [one.event for one in source.read(path, Reading(Skipped(), time.time()))]
    prompts = [event for event in events if event.name == "UserPromptSubmit"]
    same = [event for event in prompts if last.prompt_id and event.prompt_id == last.prompt_id]
    hidden = [event for event in prompts if privacy.clean(privacy.as_typed(event.prompt), rules=rules).hidden.sections]
    if not same and not hidden:
        raise NotFoundError(f"{path} does not hold the prompt. Type the text again without its tags.")
    return (same or hidden)[-1]
