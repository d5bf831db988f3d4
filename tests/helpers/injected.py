"""Injected: sends events to the injection in this process, at a tenth of the cost of `Talk.inject`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.inject import process
from tests.conftest import PATIENT_SECONDS
from tests.helpers.talk import Talk


def new_session(past: Talk, number: int, cwd: Path | None = None) -> Talk:
    """Start another session of the same project, `number` days after the moment of `past`."""
    fresh = Talk(past.vault, cwd or past.cwd, f"{number:08d}-0000-4000-8000-000000000000")
    fresh.now = past.now + 86_400 * number
    fresh.start()
    return fresh


def after_sessions(first: Talk, sessions: Iterable[tuple[str, str, str]]) -> Talk:
    """Return a new session of a project after some earlier ones.

    sessions: of each, what was asked, the file that was edited, and the answer.
    """
    talk = first
    for number, (asked, file, answer) in enumerate(sessions, 1):
        talk.says(asked)
        talk.edits(file)
        talk.answers(answer)
        talk = new_session(talk, number)
    return talk


def entries(text: str) -> list[str]:
    """Split a block into its entries."""
    return text.split("\n- ")[1:]


def answered(vault: Path, data: bytes, agent: str = "claude-code", **env: str) -> bytes:
    """Answer a payload as a watcher does that is asked with patience."""
    start = time.monotonic()
    env = {"MDMEM_INJECT_DEADLINE_SECONDS": PATIENT_SECONDS, **env}
    given = process.answer(config.load(str(vault)), [agent, str(start), str(start + 60)], env, data)
    assert given is not None
    return given


def ask(talk: Talk, prompt: str, **fields: Any) -> str:
    """Send a new prompt, which no hook has stored yet, as `Talk.asks` does, but in this process; return the context."""
    talk.prompts += 1
    return occur(talk, "UserPromptSubmit", prompt=prompt, **fields)


def occur(talk: Talk, event: str, *, env: Mapping[str, str] | None = None, **fields: Any) -> str:
    """Send an event as `Talk.inject` does, but in this process; return the context, "" for none."""
    payload = json.dumps(talk.payload(event, **fields)).encode()
    reply = answered(talk.vault, payload, **{"MDMEM_NOW": str(talk.now + 60), **(env or {})})
    return str(json.loads(reply)["hookSpecificOutput"]["additionalContext"]) if reply else ""
