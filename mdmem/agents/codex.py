"""Codex CLI: Claude Code's dialect with turn ids, a strict schema for replies, and fewer events."""

from __future__ import annotations

import os

from mdmem.agents import BACKGROUND, Event, claude_code, mapping, reply_with, text
from mdmem.agents.dialect import decoded, exit_code, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "codex"
TITLE = "Codex CLI"

# Older versions ignore unknown events. SessionEnd hooks get three seconds at most.
HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "commit", "", 10),
    ("UserPromptSubmit", "hook", "", 10),
    ("PostToolUse", "hook", "", 10),
    ("Stop", "hook", "", 10),
    ("Stop", "commit", "", 10),
    ("StopFailure", "hook", "", 10),
    ("SubagentStop", "hook", "", 10),
    ("SessionEnd", "hook", "", 3),
    ("SessionEnd", "commit", "", 3),
)

_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUse"])


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload. Codex reports a failed command as PostToolUse; it becomes PostToolUseFailure."""
    del env
    event = claude_code.event(payload, NAME, text(payload.get("hook_event_name")))
    event.prompt_id = text(payload.get("turn_id"))
    if event.name == "PostToolUse":
        if event.tool.startswith(_HOUSEKEEPING) and event.tool != SPAWN:
            event.name = ""
        else:
            _read_outcome(event)
    return event


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return only fields in this event's schema: an unknown field invalidates the whole reply."""
    if event.name == "SessionEnd":  # its output is ignored
        return None
    name = "PostToolUse" if event.name == "PostToolUseFailure" else event.name
    return reply_with(name, context if name in _WITH_CONTEXT else None, message)


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    return env.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def _read_outcome(event: Event) -> None:
    """Mark a run as failed if its response or Codex's rollout file says so.

    A response is an object (or one in a string) with `output` and `metadata.exit_code`, or lines of facts before
    `Output:`, or only the output.
    """
    response = decoded(event.tool_response)
    code: Any = None
    if isinstance(response, dict) and type(response.get("output")) is str:
        metadata = response.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else response.get("exit_code")
        event.tool_response = response["output"]
    elif type(response) is str and response.startswith(_FACTS):
        header, _, output = response.partition("\nOutput:\n")
        code, event.tool_response = _code_in_header(header), output
        if code is None and _RUNNING in header:
            shell = header.partition(_RUNNING)[2].partition("\n")[0]
            event.tool_response = {"output": output, "status": BACKGROUND, "shell": shell}
            return
    elif event.tool == "Bash" and type(response) is str:
        code = _code_in_rollout(event)
    elif event.tool == SPAWN:
        event.tool_response = {"status": "async_launched", **mapping(response)}
        return
    else:
        return
    response_text = text(event.tool_response)
    event.error = failure(code, response_text)
    if event.error is not None:
        event.name = "PostToolUseFailure"
    elif type(code) is int:
        event.tool_response = {"output": response_text, "exit_code": code}


_RUNNING = "Process running with session ID "
_FACTS = ("Exit code: ", "Chunk ID: ", "Wall time: ", "Process exited with code ")


def _code_in_header(header: str) -> int | None:
    """Return the exit code in the lines before an output, or None."""
    for line in header.split("\n"):
        for prefix in ("Exit code: ", "Process exited with code "):
            if line.startswith(prefix) and (code := exit_code(line.removeprefix(prefix))) is not None:
                return code
    return None


def _code_in_rollout(event: Event) -> int | None:
    """Return the run's exit code from the rollout file; None if it is not there (yet)."""
    if not event.tool_use_id:
        return None
    from mdmem.agents import tail

    for line in tail.objects(event.transcript, f'"{event.tool_use_id}"'):
        item = mapping(mapping(line.get("payload")).get("item"))
        if item.get("id") == event.tool_use_id and type(item.get("exit_code")) is int:
            return int(item["exit_code"])
    return None


SPAWN = "collaborationspawn_agent"
_HOUSEKEEPING = ("collaboration",)
"""Prefix of the tools with which the agent only manages its own work."""
