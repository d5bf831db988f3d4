"""Claude Code: the agent whose names of events, tools and fields mdmem uses for all agents."""

from __future__ import annotations

import os

from mdmem import files
from mdmem.agents import Event, first_text, joined_text, load, number, objects, reply_with, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

NAME = "claude-code"
TITLE = "Claude Code"

# Event, verb, matcher, timeout in seconds. For SessionEnd, the timeout replaces a default of 1.5 s for all hooks.
# PostCompact is left out, because Claude Code shows its commands to the user; the summary comes as a SubagentStop.
# PreCompact is shown too, and only needed for what the user typed after `/compact`.
HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "commit", "", 10),
    ("UserPromptSubmit", "hook", "", 10),
    ("UserPromptExpansion", "hook", "", 10),
    ("PostToolUse", "hook", "*", 10),
    ("PostToolUseFailure", "hook", "*", 10),
    ("Stop", "hook", "", 10),
    ("Stop", "commit", "", 60),
    ("StopFailure", "hook", "", 10),
    ("PreCompact", "hook", "manual", 10),
    ("SubagentStop", "hook", "", 10),
    ("SessionEnd", "hook", "", 10),
    ("SessionEnd", "commit", "", 10),
)

# A value of `inject.on` -> the hook that it adds.
ON_REQUEST = {
    "edit": ("PreToolUse", "inject", "Edit|MultiEdit|Write|NotebookEdit", 10),
    "read": ("PreToolUse", "inject", "Read", 10),
}

_EVENTS = frozenset(["PostCompact", *(row[0] for row in (*HOOKS, *ON_REQUEST.values()))])
_WORDS = {"UserPromptSubmit": "prompt", "Stop": "last_assistant_message"}
_MAX_CRONS = 50
_MAX_SETTINGS_BYTES = 1024 * 1024
_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"])
_EXTRA = {
    "agent_id": "agent_id",
    "agent_type": "agent_type",
    "agent_transcript_path": "agent_transcript",
    "error": "error",
    "command_name": "command_name",
    "command_args": "command_args",
    "command_source": "command_source",
    "expansion_type": "expansion_type",
    "error_details": "error_details",
    "model": "model",
    "session_title": "title",
}


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload, also if another agent runs the hooks registered for Claude Code."""
    sender = _sender(payload, env)
    if sender != NAME:
        return load(sender).read(payload, env)
    return event(payload, NAME, text(payload.get("hook_event_name")))


def event(payload: dict[str, Any], agent: str, name: str) -> Event:
    """Return the event of a payload in Claude Code's dialect; `name` is the event's."""
    transcript = text(payload.get("transcript_path"))
    error = first_text(payload, "error", "tool_error")
    if name == "PostToolUse" and text(payload.get("tool_error")):
        name = "PostToolUseFailure"
    elif name == "SubagentStop" and _is_compaction(payload):
        name = "PostCompact"
    return Event(
        agent=agent,
        name=name if name in _EVENTS else "",
        session=text(payload.get("session_id")),
        prompt_id=text(payload.get("prompt_id")),
        cwd=text(payload.get("cwd")),
        transcript=transcript,
        subagent=name == "SubagentStop" or (name != "PostCompact" and is_subagent(payload, transcript)),
        source=first_text(payload, "source", "trigger", "reason"),
        prompt=joined_text(payload.get("prompt")) or text(payload.get("custom_instructions")),
        message=joined_text(payload.get("last_assistant_message")) or joined_text(payload.get("compact_summary")),
        tool=text(payload.get("tool_name")),
        tool_input=payload.get("tool_input"),
        tool_response=payload.get("tool_response", payload.get("tool_output")),
        error=error if name == "PostToolUseFailure" else None,
        tool_use_id=text(payload.get("tool_use_id")),
        duration_ms=_duration(payload),
        extra=_extra(payload) | _unread(payload, name),
    )


def _unread(payload: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return as `unread` the key of a prompt or answer that is not empty but has no readable text."""
    key = _WORDS.get(name, "")
    is_known = not payload.get(key) or isinstance(payload[key], list) or joined_text(payload[key])
    return {} if is_known else {"unread": key}


def _is_compaction(payload: Mapping[str, Any]) -> bool:
    """Whether the sub-agent that ended was Claude Code's own one for compaction: it has no type."""
    answer = joined_text(payload.get("last_assistant_message"))
    return payload.get("agent_type") == "" and "<summary>" in answer and "</summary>" in answer


def _duration(payload: Mapping[str, Any]) -> int | None:
    """Return a run's duration in milliseconds, as given or from its start and end times."""
    duration_ms = number(payload.get("duration_ms"))
    if duration_ms is not None or "ended_at" not in payload:
        return duration_ms
    from mdmem.agents.dialect import seconds  # needed by few payloads

    began, ended = seconds(payload.get("started_at")), seconds(payload["ended_at"])
    return None if began is None or ended is None or ended < began else round((ended - began) * 1000)


def is_subagent(payload: Mapping[str, Any], transcript: str) -> bool:
    """Whether a payload comes from a sub-agent, judged by its agent id or the folder of its transcript.

    Not by `agent_type`: `claude --agent NAME` sets that for the main agent too.
    """
    return bool(text(payload.get("agent_id")).strip()) or "/subagents/" in transcript.replace("\\", "/")


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return the reply with context for the model and a message for the user.

    Context is left out on Stop, where it would make the conversation continue.
    """
    if event.agent != NAME:
        return load(event.agent).reply(event, context, message)
    return reply_with(event.name, context if event.name in _WITH_CONTEXT else None, message)


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    return env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


def settings_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    """Return the settings file of a scope, or "" if there is no such scope."""
    return {
        "user": os.path.join(folder(env), "settings.json"),
        "project": os.path.join(root, ".claude", "settings.json"),
        "local": os.path.join(root, ".claude", "settings.local.json"),
    }.get(scope, "")


def is_registered(marks: Sequence[str], cwd: str, env: Mapping[str, str]) -> bool:
    """Whether a settings file contains one of `marks`, so that the plugin must leave the event to the user's own hooks.

    Only searches the text of the files, because this runs at every event of the plugin.
    """
    root = env.get("CLAUDE_PROJECT_DIR") or cwd
    return any(_mentions(settings_file(scope, root, env), marks) for scope in ("user", "project", "local"))


def _mentions(path: str, marks: Sequence[str]) -> bool:
    settings = files.try_read_any(path, _MAX_SETTINGS_BYTES)
    return any(mark.encode() in settings for mark in marks)


def _extra(payload: dict[str, Any]) -> dict[str, str]:
    """Return the event's extra facts. `crons`: the prompts that the host will send by itself, separated by NUL."""
    extra = texts(payload, _EXTRA)
    if payload.get("is_interrupt") is True:
        extra["interrupted"] = "true"
    crons = payload.get("session_crons")
    if isinstance(crons, list):
        prompts = [text(cron.get("prompt")) for cron in objects(crons[:_MAX_CRONS])]
        extra["crons"] = "\0".join([prompt for prompt in prompts if prompt])
    return extra


_CODEX = {"model", "permission_mode"}
"""Fields that Codex sends with every event of a session; Claude Code never sends both."""


def _sender(payload: dict[str, Any], env: Mapping[str, str]) -> str:
    """Return the agent that sent a payload.

    Copilot and Cursor run hooks registered in `.claude/`, Gemini CLI migrates them, and Codex takes them from plugins.
    Unambiguous signs are checked first, and Claude Code's own before signs that it may adopt one day.
    """
    if "cursor_version" in payload or "conversation_id" in payload:
        return "cursor"
    transcript = payload.get("transcript_path", "")
    is_own = any(key in payload for key in ("prompt_id", "scratchpad_dir", "effort"))
    is_of_codex = transcript is None and (payload.get("hook_event_name") == "SessionEnd" or payload.keys() >= _CODEX)
    if "turn_id" in payload or (is_of_codex and not is_own) or "/.codex/" in text(transcript):
        return "codex"
    if "sessionId" in payload or "tool_result" in payload:
        return "copilot"
    if is_own or "permission_mode" in payload or "timestamp" not in payload or "/.claude/" in text(transcript):
        return NAME
    native = text(payload.get("hook_event_name")).startswith(("Before", "After", "PreCompress"))
    return "gemini" if native or "GEMINI_SESSION_ID" in env else "copilot"
