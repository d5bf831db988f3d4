"""Gemini CLI: events around the agent and its tools; its timeouts are in milliseconds."""

from __future__ import annotations

import os

from mdmem.agents import BACKGROUND, Event, first_text, mapping, message_of, reply_with, text
from mdmem.agents.dialect import exit_code, failure, made_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "gemini"
TITLE = "Gemini CLI"

HOOKS = (
    ("SessionStart", "hook", "", 10),
    ("SessionStart", "commit", "", 10),
    ("BeforeAgent", "hook", "", 10),
    ("BeforeTool", "hook", "invoke_agent", 10),
    ("AfterTool", "hook", "*", 10),
    ("AfterAgent", "hook", "", 10),
    ("AfterAgent", "commit", "", 10),
    ("SessionEnd", "hook", "", 10),
    ("SessionEnd", "commit", "", 10),
)

_EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "SubagentStart",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "SessionEnd": "SessionEnd",
}
_NATIVE = {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool", "PostToolUseFailure": "AfterTool"}
_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])


_AGENT_TOOL = "invoke_agent"
_CONTEXT = ("<hook_context>", "</hook_context>")
_WRAPPER = ("<untrusted_context>", "</untrusted_context>")


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload; the prompt that AfterAgent repeats is only checked for private text.

    A sub-agent's runs look like the user's: they come between BeforeTool and AfterTool of the tool that starts it.
    """
    name = _EVENTS.get(text(payload.get("hook_event_name")), "")
    event = Event(
        agent=NAME,
        name=name,
        session=text(payload.get("session_id")) or env.get("GEMINI_SESSION_ID", ""),
        cwd=text(payload.get("cwd")) or env.get("GEMINI_CWD", ""),
        transcript=text(payload.get("transcript_path")),
        source=first_text(payload, "source", "reason"),
        prompt=typed(text(payload.get("prompt"))) if name == "UserPromptSubmit" else "",
    )
    if name in ("PostToolUse", "SubagentStart"):
        event.tool, event.tool_input = _tool(payload), payload.get("tool_input")
    if name == "Stop":
        event.extra["asked"] = typed(text(payload.get("prompt")))
        event.message = _last_answer(text(payload.get("prompt_response")), event.transcript)
    elif name == "PostToolUse":
        event.error, event.tool_response = result(event.tool, payload.get("tool_response"))
        event.name = "PostToolUse" if event.error is None else "PostToolUseFailure"
        event.tool_use_id = made_id(payload.get("timestamp"), event.tool, event.tool_input)
        if event.tool == _AGENT_TOOL:
            event.extra["ends_subagent"] = "true"
    elif name == "SubagentStart" and event.tool != _AGENT_TOOL:
        event.name = ""
    return event


def typed(prompt: str) -> str:
    """Return a prompt without the hooks' context, which Gemini CLI escapes and puts around it."""
    begin, end = _CONTEXT
    prompt = prompt.strip() if begin in prompt else prompt
    while prompt.startswith(begin) and end in prompt:
        prompt = prompt.partition(end)[2].lstrip()
    while prompt.endswith(end) and begin in prompt:
        prompt = prompt.rpartition(begin)[0].rstrip()
    return prompt


def _last_answer(messages: str, transcript: str) -> str:
    """Return the agent's last message of a turn; `messages` are all of them, joined by line breaks."""
    if "\n" not in messages:
        return messages
    from mdmem.agents import tail

    for line in tail.objects(transcript):
        words = line.get("content")
        if line.get("type") == "user" and not _is_answer(words):
            break
        if line.get("type") == "gemini" and type(words) is str and words.strip():
            return words if messages.rstrip().endswith(words.strip()) else messages
    return messages


def _is_answer(content: Any) -> bool:
    """Whether a transcript line of the user's role only passes tool results to the model."""
    return isinstance(content, list) and all(isinstance(part, dict) and "functionResponse" in part for part in content)


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return the reply with context for the model and a message for the user."""
    name = _NATIVE.get(event.name, event.name)
    return reply_with(name, context if event.name in _WITH_CONTEXT else None, message)


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    return os.path.join(env.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")


def _tool(payload: dict[str, Any]) -> str:
    """Return an MCP tool's name as `mcp__<server>__<tool>`; some payloads give the server only as a prefix."""
    tool = text(payload.get("tool_name"))
    name = tool.removeprefix("mcp_")
    server = text(mapping(payload.get("mcp_context")).get("server_name"))
    if server:
        return f"mcp__{server}__{name.removeprefix(f'{server}_')}"
    server, underscore, name = name.partition("_")
    return f"mcp__{server}__{name}" if underscore and tool.startswith("mcp_") else tool


def result(tool: str, response: Any) -> tuple[str | None, Any]:
    """Return a run's error (or None) and what the model saw of its result, without the host's additions."""
    if not isinstance(response, dict):
        return _outcome(tool, unwrapped(response))
    error = response.get("error")
    shown = unwrapped(response.get("llmContent", response.get("returnDisplay")))
    if not error:
        return _outcome(tool, shown)
    return message_of(error) or text(shown), shown


def unwrapped(shown: Any) -> Any:
    """Return a string or a list of text parts without the wrapper element that marks untrusted content."""
    if isinstance(shown, list):
        return [unwrapped(part) for part in shown]
    if isinstance(shown, dict):
        return {**shown, "text": unwrapped(shown["text"])} if type(shown.get("text")) is str else shown
    begin, end = _WRAPPER
    if type(shown) is str and shown.lstrip().startswith(begin) and shown.rstrip().endswith(end):
        return shown.strip()[len(begin) : -len(end)].strip("\n")
    return shown


def _outcome(tool: str, shown: Any) -> tuple[str | None, Any]:
    """Return a run's error, recognized by the wording of its result, and the result."""
    if tool == "run_shell_command" and type(shown) is str:
        return _shell(shown)
    first = shown[0].get("text") if isinstance(shown, list) and shown and isinstance(shown[0], dict) else shown
    if tool == _AGENT_TOOL and type(first) is str and "\nTermination Reason: ERROR" in first[:400]:
        return first, shown
    return None, shown


_FACTS = ("Exit Code: ", "Signal: ", "Process Group PGID: ", "Background PIDs: ", "Error: (none)")
_NOTHING = ("", "0", "(none)")
_BACKGROUND = "Command moved to background (PID: "


def _shell(response: str) -> tuple[str | None, Any]:
    """Return a command's error and output, without the facts that Gemini CLI adds below the output."""
    facts: dict[str, str] = {}
    output = response
    while output:
        above, _, last_line = output.rpartition("\n")
        fact = next((fact for fact in _FACTS if last_line.startswith(fact.rstrip())), "")
        if not fact:
            break
        facts[fact] = last_line[len(fact) :].strip()
        output = above
    if output.startswith("Command: "):
        output = output.partition("\nOutput: ")[2]
    output = output.removeprefix("Output: ")
    output = "" if output == "(empty)" else output
    if output.startswith(_BACKGROUND):
        return None, {"output": output, "status": BACKGROUND}
    code, signal = exit_code(facts.get("Exit Code: ", "")), facts.get("Signal: ", "")
    if code:
        return failure(code, output), output
    return (f"Ended by signal {signal}\n{output}" if signal not in _NOTHING else None), output
