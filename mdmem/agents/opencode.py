"""OpenCode: no hooks of its own; mdmem's plugin there sends these payloads, so their dialect is ours."""

from __future__ import annotations

import os

from mdmem.agents import Event, claude_code, text
from mdmem.agents.dialect import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "opencode"
TITLE = "OpenCode"
PROGRAM = "opencode"
NOTE = "OpenCode loads plugins when it starts: start it again."
GROUPED = False
SKELETON: dict[str, Any] = {}
PLUGIN = "opencode/mdmem.js"  # among the templates

HOOKS = (("plugin", "hook", "", 10), ("plugin", "inject", "", 10), ("plugin", "commit", "", 10))

_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit"])


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Understand a payload: Claude Code's dialect, with `parent_id` for a sub-agent's session."""
    del env
    event = claude_code.event(payload, NAME, text(payload.get("hook_event_name")))
    event.subagent = event.subagent or bool(text(payload.get("parent_id")))
    event.tool = _mcp(event.tool)
    response = event.tool_response
    if event.name == "PostToolUse" and isinstance(response, dict):
        metadata = response.get("metadata")
        event.tool_response = response.get("output")
        code = metadata.get("exit") if isinstance(metadata, dict) else None
        event.error = failure(code, text(event.tool_response))
        event.name = "PostToolUse" if event.error is None else "PostToolUseFailure"
    return event


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Give what the plugin passes on: context for the model, a message that it shows as a notice."""
    answer: dict[str, Any] = {}
    if context and event.name in _WITH_CONTEXT:
        answer["context"] = context
    if message:
        answer["message"] = message
    return answer or None


def folder(env: Mapping[str, str]) -> str:
    """Name the user's folder of settings."""
    base = env.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return env.get("OPENCODE_CONFIG_DIR") or os.path.join(base, "opencode")


def settings_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    """Name the plugin file of a scope; "" when there is no such scope. Every version looks into `plugin`."""
    places = {"user": folder(env), "project": os.path.join(root, ".opencode")}
    return os.path.join(places[scope], "plugin", "mdmem.js") if scope in places else ""


def entry(command: str, verb: str, timeout: int) -> dict[str, Any]:
    """Make one of the plugin's command lines."""
    return {"verb": verb, "command": command, "timeout": timeout}


def _mcp(tool: str) -> str:
    """Spell mdmem's own MCP tools, `mdmem_<tool>` there, so that they are told apart from the others."""
    return f"mcp__mdmem__{tool.removeprefix('mdmem_')}" if tool.startswith("mdmem_") else tool
