"""GitHub Copilot CLI: two payload dialects, chosen by the spelling of the event's name when it is registered."""

from __future__ import annotations

import os

from mdmem.agents import BACKGROUND, Event, first_text, joined_text, mapping, message_of, text, texts
from mdmem.agents.dialect import decoded, exit_code, failure, made_id, mcp_name, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "copilot"
TITLE = "GitHub Copilot CLI"
MCP_PREFIX = "mdmem-"

# With Pascal case names, the payload names its event. The model's view of a prompt can be changed only in
# `userPromptTransformed`, which exists only in camel case.
HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "inject", "", 10),
    ("UserPromptSubmit", "hook", "", 10),
    ("userPromptTransformed", "inject", "", 10),
    ("PostToolUse", "hook", "", 10),
    ("PostToolUseFailure", "hook", "", 10),
    ("Stop", "hook", "", 10),
    ("Stop", "commit", "", 10),
    ("PreCompact", "hook", "", 10),
    ("SubagentStop", "hook", "", 10),
    ("SessionEnd", "hook", "", 10),
    ("SessionEnd", "commit", "", 10),
)

_EVENTS = frozenset(row[0] for row in HOOKS if row[1] == "hook")

# A camel case payload does not name its event: the first of these fields in it identifies the event.
_BY_FIELD = (
    ("errorContext", ""),
    ("transformedPrompt", "UserPromptSubmit"),
    ("toolResult", "PostToolUse"),
    ("error", "PostToolUseFailure"),
    ("toolName", ""),
    ("prompt", "UserPromptSubmit"),
    ("response", "SubagentStop"),
    ("customInstructions", "PreCompact"),
    ("stopReason", "Stop"),
    ("source", "SessionStart"),
    ("reason", "SessionEnd"),
)
_BACKGROUND = "<command started in background with shellId: "
_FAILED = frozenset(["failure", "error", "rejected", "denied", "timeout"])
_WITH_CONTEXT = frozenset(["SessionStart", "PostToolUse", "PostToolUseFailure"])
_USERS = frozenset(["UserPromptSubmit", "SessionStart", "SessionEnd", "Stop"])
_EXTRA = {"agentId": "agent_id", "agent_id": "agent_id", "agentType": "agent_type", "agent_type": "agent_type"}


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload of either dialect; a tool run without an id gets one made from its content."""
    name = _name(payload)
    extra = texts(payload, _EXTRA)
    transcript = first_text(payload, "transcriptPath", "transcript_path")
    if text(payload.get("transformedPrompt")):
        extra["transformed"] = payload["transformedPrompt"]
    parent = first_text(payload, "parentAgentId", "parent_agent_id")
    if parent and "agent_id" in extra and name in _USERS:
        name = ""  # a sub-agent's events look like those of a session of its own
    session = parent or first_text(payload, "sessionId", "session_id")
    event = Event(
        agent=NAME,
        name=name,
        session=session,
        cwd=text(payload.get("cwd")),
        transcript=transcript or _transcript(session, env),
        subagent=name == "SubagentStop" or "agent_id" in extra or "/subagents/" in transcript.replace("\\", "/"),
        source=first_text(payload, "source", "reason"),
        prompt=joined_text(payload.get("prompt")) or first_text(payload, "customInstructions", "custom_instructions"),
        message=first_text(payload, "response", "last_assistant_message"),
        extra=extra,
    )
    if name in ("PostToolUse", "PostToolUseFailure"):
        _add_tool(event, payload)
    elif name == "UserPromptSubmit":
        event.extra["asked_at"] = str(seconds(payload.get("timestamp")) or "")
    elif name == "Stop" and not event.message:
        event.message, event.extra["said_at"] = _last_answer(transcript)
    return event


def _transcript(session: str, env: Mapping[str, str]) -> str:
    """Return the path of a session's transcript, which most payloads leave out."""
    plain = session.replace("-", "").isalnum()
    return os.path.join(folder(env), "session-state", session, "events.jsonl") if plain else ""


def _last_answer(transcript: str) -> tuple[str, str]:
    """Return the agent's last message in the transcript and its time; payloads do not have it.

    It may be the answer to an earlier prompt, because Copilot writes the transcript shortly after its hooks have run.
    """
    from mdmem.agents import tail

    for line in tail.objects(transcript):
        data = line.get("data")
        if text(line.get("agentId")) or not isinstance(data, dict):
            continue  # a sub-agent's line
        if line.get("type") == "user.message":
            break
        if line.get("type") == "assistant.message" and text(data.get("content")).strip():
            words = "" if data.get("toolRequests") else text(data["content"])
            return words, str(seconds(line.get("timestamp")) or "")
    return "", ""


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return the reply with context; on a prompt, only if the model's version of it can be rewritten."""
    del message  # Copilot does not show hook messages to the user
    if not context:
        return None
    if event.name == "UserPromptSubmit" and "transformed" in event.extra:
        return {"modifiedTransformedPrompt": f"{event.extra['transformed']}\n\n{context}"}
    return {"additionalContext": context} if event.name in _WITH_CONTEXT else None


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    return env.get("COPILOT_HOME") or os.path.join(os.path.expanduser("~"), ".copilot")


def _name(payload: dict[str, Any]) -> str:
    name = text(payload.get("hook_event_name"))
    if name:
        return name if name in _EVENTS else ""
    return next((event for field, event in _BY_FIELD if field in payload), "")


def _add_tool(event: Event, payload: dict[str, Any]) -> None:
    result = payload.get("toolResult", payload.get("tool_result"))
    kind = first_text(mapping(result), "resultType", "result_type")
    if isinstance(result, dict):
        result = result.get("textResultForLlm", result.get("text_result_for_llm"))
    event.tool = mcp_name(first_text(payload, "toolName", "tool_name"), MCP_PREFIX)
    event.tool_input = decoded(payload.get("toolArgs", payload.get("tool_input")))
    event.tool_response = payload.get("tool_response") if result is None else result
    tool_use_id = first_text(payload, "toolUseId", "tool_use_id")
    event.tool_use_id = tool_use_id or made_id(payload.get("timestamp"), event.tool, event.tool_input)
    if event.name == "PostToolUseFailure":
        event.error = message_of(payload.get("error"))
    elif type(event.tool_response) is str:
        code, output = _exit_code(event.tool_response)
        event.error = failure(code, output)
        if event.error is None and kind in _FAILED:
            event.error = output
        event.tool_response = output if code is None else {"output": output, "exit_code": code}
        if output.startswith(_BACKGROUND):
            event.tool_response = {"output": output, "status": BACKGROUND}
    elif kind in _FAILED:
        event.error = ""
    if event.error is not None:
        event.name = "PostToolUseFailure"


def _exit_code(output: str) -> tuple[int | None, str]:
    """Split a command's output from the line with its exit code, `<... exit code 3>`, if it ends with one."""
    above, _, last_line = output.rstrip().rpartition("\n")
    code = exit_code(last_line.rpartition("exit code ")[2].removesuffix(">"))
    if len(last_line) > 120 or not last_line.startswith("<") or code is None:
        return None, output
    return code, above
