"""Codex CLI: Claude Code's dialect with turns, a strict schema for replies, and fewer events."""

from __future__ import annotations

import os

from mdmem.agents import Event, claude_code, text
from mdmem.agents.dialect import decoded, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "codex"
TITLE = "Codex CLI"
PROGRAM = "codex"
NOTE = "Codex runs new or changed hooks only once you have reviewed them: type /hooks in Codex."
GROUPED = True
SKELETON: dict[str, Any] = {}

# Older versions pass over an event that they do not know. Those of SessionEnd get three seconds at most.
HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "inject", "", 10),
    ("UserPromptSubmit", "hook", "", 10),
    ("UserPromptSubmit", "inject", "", 10),
    ("PostToolUse", "hook", "", 10),
    ("Stop", "hook", "", 10),
    ("Stop", "commit", "", 10),
    ("StopFailure", "hook", "", 10),
    ("SubagentStop", "hook", "", 10),
    ("SessionEnd", "hook", "", 3),
    ("SessionEnd", "commit", "", 3),
)

_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUse"])
_WITH_NOTHING = frozenset(["SessionEnd"])  # what is printed there goes nowhere


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Understand a payload. A command that failed comes as PostToolUse and leaves as PostToolUseFailure."""
    del env
    event = claude_code.event(payload, NAME, text(payload.get("hook_event_name")))
    event.prompt_id = text(payload.get("turn_id"))
    if event.name == "PostToolUse":
        _tell_failure(event)
    return event


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Give only what the schema of this event knows: an unknown field spoils the whole reply."""
    if event.name in _WITH_NOTHING:
        return None
    name = "PostToolUse" if event.name == "PostToolUseFailure" else event.name
    answer: dict[str, Any] = {}
    if context and name in _WITH_CONTEXT:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    return answer or None


def folder(env: Mapping[str, str]) -> str:
    """Name the user's folder of settings."""
    return env.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def settings_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    """Name the hooks file of a scope; "" when there is no such scope."""
    places = {"user": folder(env), "project": os.path.join(root, ".codex")}
    return os.path.join(places[scope], "hooks.json") if scope in places else ""


def entry(command: str, verb: str, timeout: int) -> dict[str, Any]:
    """Make the handler of one hook; `async` is skipped by older versions, so a commit detaches itself."""
    del verb
    return {"type": "command", "command": command, "timeout": timeout}


def _tell_failure(event: Event) -> None:
    """Take output and exit code out of a command's response, in either of the two forms they come in.

    An object (or one in a string) with `output` and `metadata.exit_code`, or lines of facts before `Output:`.
    """
    response = decoded(event.tool_response)
    if isinstance(response, dict) and type(response.get("output")) is str:
        metadata = response.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else response.get("exit_code")
        event.tool_response = response["output"]
    elif type(response) is str and response.startswith("Exit code: "):
        facts, _, output = response.partition("\nOutput:\n")
        first = facts.partition("\n")[0].removeprefix("Exit code: ").strip()
        code = int(first) if first.isdecimal() and len(first) < 10 else None
        event.tool_response = output
    else:
        return
    event.error = failure(code, event.tool_response)
    if event.error is not None:
        event.name = "PostToolUseFailure"
