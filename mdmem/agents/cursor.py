"""Cursor: camel case events, JSON inside strings, and no context with a prompt."""

from __future__ import annotations

import os

from mdmem.agents import Event, first_text, joined_text, number, objects, text, texts
from mdmem.agents.dialect import decoded, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "cursor"
TITLE = "Cursor"

HOOKS = (
    ("sessionStart", "hook", "", 10),
    ("beforeSubmitPrompt", "hook", "", 10),
    ("postToolUse", "hook", "", 10),
    ("postToolUseFailure", "hook", "", 10),
    ("afterAgentResponse", "hook", "", 10),
    ("stop", "hook", "", 10),
    ("stop", "commit", "", 10),
    ("subagentStop", "hook", "", 10),
    ("sessionEnd", "hook", "", 10),
    ("sessionEnd", "commit", "", 10),
)

# When Cursor runs Claude Code's hooks, it may use their names, in Pascal case.
_EVENTS = {
    "sessionstart": "SessionStart",
    "beforesubmitprompt": "UserPromptSubmit",
    "userpromptsubmit": "UserPromptSubmit",
    "posttooluse": "PostToolUse",
    "posttoolusefailure": "PostToolUseFailure",
    "afteragentresponse": "Stop",
    "stop": "Stop",
    "subagentstop": "SubagentStop",
    "sessionend": "SessionEnd",
}
_WITH_CONTEXT = frozenset(["SessionStart", "PostToolUse", "PostToolUseFailure"])
_EXTRA = {
    "model": "model",
    "subagent_id": "agent_id",
    "subagent_type": "agent_type",
    "agent_transcript_path": "agent_transcript",
    "failure_type": "failure_type",
}
_OF_SUBAGENT = ("task", "description", "subagent_type", "error_message", "modified_files")
"""What a sub-agent was told to do, and what it did: not stored, but its private text is remembered."""


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload.

    `stop` comes without the answer. That is in afterAgentResponse, which fires for each message of a turn and becomes a
    Stop with `partial` in its `extra`.
    """
    native = text(payload.get("hook_event_name")).lower()
    name = _EVENTS.get(native, "")
    extra = texts(payload, _EXTRA)
    if native == "afteragentresponse":
        extra["partial"] = "true"
    if payload.get("is_interrupt") is True:
        extra["interrupted"] = "true"
    session = first_text(payload, "conversation_id", "session_id")
    parent = text(payload.get("parent_conversation_id"))
    if parent and parent != session:
        extra["parent_session"] = parent
    attached = payload.get("attachments")
    if isinstance(attached, list):
        paths = [first_text(attachment, "file_path", "filePath") for attachment in objects(attached)]
        extra["attached"] = "\0".join(filter(None, paths))
    tool_input = decoded(payload.get("tool_input"))
    if name == "SubagentStop":
        tool_input = {key: payload[key] for key in _OF_SUBAGENT if key in payload}
    response = decoded(payload.get("tool_output", payload.get("tool_response")))
    event = Event(
        agent=NAME,
        name=name,
        session=session,
        prompt_id=text(payload.get("generation_id")),
        cwd=_cwd(payload, env),
        transcript=text(payload.get("transcript_path")),
        subagent=name == "SubagentStop" or bool(parent and parent != session),
        source=first_text(payload, "source", "reason", "status"),
        prompt=joined_text(payload.get("prompt")),
        message=first_text(payload, "text", "last_assistant_message", "summary"),
        tool=_tool(payload),
        tool_input=tool_input,
        tool_response=response,
        error=first_text(payload, "error_message", "error") if name == "PostToolUseFailure" else None,
        tool_use_id=text(payload.get("tool_use_id")),
        duration_ms=number(payload.get("duration", payload.get("duration_ms"))),
        extra=extra,
    )
    if name == "PostToolUse" and isinstance(response, dict):
        event.error = failure(response.get("exitCode", response.get("exit_code")), text(response.get("output")))
        event.name = "PostToolUse" if event.error is None else "PostToolUseFailure"
    return event


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return the reply with context at session start and after a tool, and with a message on a prompt."""
    if event.name == "UserPromptSubmit" and message:
        return {"continue": True, "user_message": message}
    return {"additional_context": context} if context and event.name in _WITH_CONTEXT else None


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    del env
    return os.path.join(os.path.expanduser("~"), ".cursor")


def _cwd(payload: dict[str, Any], env: Mapping[str, str]) -> str:
    roots = payload.get("workspace_roots")
    root = text(roots[0]) if isinstance(roots, list) and roots else ""
    return text(payload.get("cwd")) or root or env.get("CURSOR_PROJECT_DIR", "")


def _tool(payload: dict[str, Any]) -> str:
    tool = text(payload.get("tool_name"))
    server = text(payload.get("mcp_server_name"))
    return f"mcp__{server}__{tool.removeprefix('MCP:')}" if server and tool.startswith("MCP:") else tool
