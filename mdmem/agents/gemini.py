"""Gemini CLI: events around the agent and its tools, timeouts in milliseconds."""

from __future__ import annotations

import os

from mdmem.agents import Event, first_text, text
from mdmem.agents.dialect import made_id, mcp_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "gemini"
TITLE = "Gemini CLI"
PROGRAM = "gemini"
NOTE = ""
GROUPED = True
SKELETON: dict[str, Any] = {}

HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "inject", "", 10),
    ("BeforeAgent", "hook", "", 10),
    ("BeforeAgent", "inject", "", 10),
    ("AfterTool", "hook", "*", 10),
    ("AfterAgent", "hook", "", 10),
    ("AfterAgent", "commit", "", 10),
    ("SessionEnd", "hook", "", 10),
    ("SessionEnd", "commit", "", 10),
)

_EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "SessionEnd": "SessionEnd",
}
_NATIVE = {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool", "PostToolUseFailure": "AfterTool"}
_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Understand a payload; AfterAgent brings the turn's prompt along, which is not a new one."""
    name = _EVENTS.get(text(payload.get("hook_event_name")), "")
    error, response = _result(payload.get("tool_response"))
    event = Event(
        agent=NAME,
        name=name,
        session=text(payload.get("session_id")) or env.get("GEMINI_SESSION_ID", ""),
        cwd=text(payload.get("cwd")) or env.get("GEMINI_CWD", ""),
        transcript=text(payload.get("transcript_path")),
        source=first_text(payload, "source", "reason"),
        prompt=text(payload.get("prompt")) if name == "UserPromptSubmit" else "",
        message=text(payload.get("prompt_response")),
    )
    if name == "PostToolUse":
        event.name = "PostToolUse" if error is None else "PostToolUseFailure"
        event.tool, event.tool_input = _tool(payload), payload.get("tool_input")
        event.tool_response, event.error = response, error
        event.tool_use_id = made_id(payload.get("timestamp"), event.tool, event.tool_input)
    return event


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Give the context to the model and the message to the user."""
    answer: dict[str, Any] = {}
    if context and event.name in _WITH_CONTEXT:
        name = _NATIVE.get(event.name, event.name)
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    return answer or None


def folder(env: Mapping[str, str]) -> str:
    """Name the user's folder of settings."""
    return os.path.join(env.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")


def settings_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    """Name the settings file of a scope; "" when there is no such scope."""
    places = {"user": folder(env), "project": os.path.join(root, ".gemini")}
    return os.path.join(places[scope], "settings.json") if scope in places else ""


def entry(command: str, verb: str, timeout: int) -> dict[str, Any]:
    """Make the handler of one hook."""
    return {"name": f"mdmem-{verb}", "type": "command", "command": command, "timeout": timeout * 1000}


def _tool(payload: dict[str, Any]) -> str:
    tool = text(payload.get("tool_name"))
    context = payload.get("mcp_context")
    server = text(context.get("server_name")) if isinstance(context, dict) else ""
    return mcp_name(tool, server, "mcp_") if server or tool.startswith("mcp_") else tool


def _result(response: Any) -> tuple[str | None, Any]:
    """Take the error (or None) and what the model saw out of a response."""
    if not isinstance(response, dict):
        return None, response
    error = response.get("error")
    shown = response.get("llmContent", response.get("returnDisplay"))
    if not error:
        return None, shown
    return text(error.get("message") if isinstance(error, dict) else error) or text(shown), shown
