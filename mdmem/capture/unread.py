"""Unread: an event whose payload cannot be read. It is lost, unless nothing of it would have been stored."""

from __future__ import annotations

import re

from mdmem import agents
from mdmem.capture import pending
from mdmem.hashing import short
from mdmem.vault import exclusions, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.agents import Agent, Event
    from mdmem.capture.pending import Outcome
    from mdmem.config import Config


_LOOKED_AT_BYTES = 256 * 1024
"""The size of the payload's beginning and of its end that are searched for the event's name and session."""

_WITHOUT_NOTE = frozenset(["SessionStart", "SubagentStart", "PreCompact", "SessionEnd"])
"""Events that leave no note, so that nothing is lost with them."""

_FIELD = re.compile(
    rb'"(hook_event_name|hookEventName|session_id|sessionId|conversation_id|agent_id|cwd)"\s*:\s*"([^"\\]{1,4096})"'
)


def event(agent: Agent, data: bytes, env: Mapping[str, str]) -> Event:
    """Return what can be read of an event: its name ("unknown" if not even that), session, sub-agent and folder."""
    ends = data[:_LOOKED_AT_BYTES] + b"\n" + data[max(len(data) - _LOOKED_AT_BYTES, _LOOKED_AT_BYTES) :]
    fields: dict[str, str] = {}
    for key, value in _FIELD.findall(ends):  # the first one counts: the agent's own come before those of a tool
        fields.setdefault(key.decode(), value.decode("utf-8", "replace"))
    try:
        partial = agent.read(fields, env)
    except Exception:  # noqa: BLE001 - a payload of a few fields may be more than the agent's module can take
        partial = agents.Event(agent=agent.NAME, name="")
    partial.name = partial.name or "unknown"
    partial.extra["unread"] = "payload"
    return partial


def outcome(config: Config, event: Event, data: bytes, error: Exception, env: Mapping[str, str]) -> Outcome:
    """Log the event; return that it is lost, or why nothing of it would have been stored."""
    from mdmem import log

    if not data.strip():
        result = pending.Outcome("no payload")
    elif exclusions.is_off(config, short(journal.session_id(event), 16), env):
        result = pending.Outcome(pending.SWITCHED_OFF)
    elif event.subagent and not config.settings.capture.subagents:
        result = pending.Outcome(pending.SUBAGENT)
    elif event.name in _WITHOUT_NOTE:
        result = pending.Outcome(pending.IN_STATE)
    elif event.cwd and _is_excluded(config, event):
        result = pending.Outcome(pending.EXCLUDED)
    else:
        result = pending.Outcome()
    result.error = type(error).__name__
    log.write(config, f"{len(data)} bytes are not a payload", error)
    return result


def _is_excluded(config: Config, event: Event) -> bool:
    """Whether the settings or an `.mdmemignore` exclude the event's project."""
    capture = pending.Capture(config, event, 0.0)
    return not exclusions.takes_project(config, capture.project, event.cwd)
