"""OpenCode: has no hooks; mdmem's plugin sends payloads in a dialect of its own."""

from __future__ import annotations

import os

from mdmem.agents import Event, claude_code, mapping, number, text
from mdmem.agents.dialect import failure, mcp_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "opencode"
TITLE = "OpenCode"

HOOKS = (("plugin", "hook", "", 10), ("plugin", "inject", "", 10), ("plugin", "commit", "", 10))

_WITH_CONTEXT = frozenset(["SessionStart", "UserPromptSubmit", "PostToolUseFailure"])


def read(payload: dict[str, Any], env: Mapping[str, str]) -> Event:
    """Return the event of a payload in Claude Code's dialect; `parent_id` is set in a sub-agent's session.

    With `answer`, the plugin waits for the storing process to return context; earlier plugins start a second process.
    """
    event = claude_code.event(payload, NAME, text(payload.get("hook_event_name")))
    parent = text(payload.get("parent_id"))
    if parent:
        event.subagent, event.extra["parent_session"] = True, parent
    event.prompt = _unquoted(event.prompt)
    if event.session.replace("_", "").isalnum():
        event.transcript = os.path.join(database(env), event.session)
    event.tool = mcp_name(event.tool, "mdmem_")
    if payload.get("answer") is True:
        event.extra["answer"] = "yes"
    if event.tool in _SILENT:
        event.name = ""
    for key in ("tokens_in", "tokens_out") if event.name == "Stop" else ():
        if number(payload.get(key)):
            event.extra[key] = str(number(payload[key]))
    if event.name == "PostToolUse" and isinstance(event.tool_response, dict):
        _read_response(event, event.tool_response)
    if event.tool == _INVALID and isinstance(event.tool_input, dict):
        _read_invalid(event, event.tool_input)
    return event


_INVALID = "invalid"
"""The tool that OpenCode runs, successfully, in place of an unknown tool or one called with invalid input."""


def _read_invalid(event: Event, tool_input: dict[str, Any]) -> None:
    event.name, event.tool = "PostToolUseFailure", text(tool_input.get("tool")) or _INVALID
    event.error = text(tool_input.get("error")) or "The tool does not exist or was called with invalid input."
    event.tool_input, event.tool_response = {}, None


_SILENT = frozenset(["todoread"])
"""Tools with which the agent only manages its own work."""


def _read_response(event: Event, response: dict[str, Any]) -> None:
    """Extract output, exit code and diff from a response, without the elements that OpenCode puts around an output."""
    facts = mapping(response.get("metadata"))
    output = response.get("output")
    shown = _unwrapped(event.tool, output) if type(output) is str else output
    code, diff = facts.get("exit"), text(facts.get("diff"))
    event.error = failure(code, text(shown))
    event.name = "PostToolUse" if event.error is None else "PostToolUseFailure"
    event.tool_response = shown
    if diff:
        event.tool_response = {"output": shown, "metadata": {"diff": diff}}
    elif type(code) is int and event.error is None:
        event.tool_response = {"output": shown, "exit_code": code}


def _unwrapped(tool: str, output: str) -> str:
    """Return a file's text without line numbers, or a sub-agent's answer, without OpenCode's elements around them."""
    if tool == "task" and "<task_result>" in output:
        return output.partition("<task_result>")[2].rpartition("</task_result>")[0].strip("\n")
    if tool != "read" or "\n<content>\n" not in output[:2000]:
        return output
    body = output.partition("<content>\n")[2].rpartition("\n</content>")[0]
    lines = body.rpartition("\n\n(")[0].split("\n") if body.endswith(")") else body.split("\n")
    numbered = [line.partition(": ") for line in lines]
    if not all(number.strip().isdecimal() for number, _, _ in numbered):
        return body
    return "\n".join(line for _, _, line in numbered) + "\n"


def reply(event: Event, context: str | None, message: str | None) -> dict[str, Any] | None:
    """Return what the plugin passes on: context for the model, and a message shown as a notice."""
    answer: dict[str, Any] = {}
    if context and event.name in _WITH_CONTEXT:
        answer["context"] = context
    if message:
        answer["message"] = message
    return answer or None


def folder(env: Mapping[str, str]) -> str:
    """Return the user's folder of settings."""
    base = env.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return env.get("OPENCODE_CONFIG_DIR") or os.path.join(base, "opencode")


def database(env: Mapping[str, str]) -> str:
    """Return the path of OpenCode's session database."""
    base = env.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "opencode", env.get("OPENCODE_DB") or "opencode.db")


def _unquoted(prompt: str) -> str:
    r"""Return a prompt as typed: `opencode run "a b"` sends it with the quotes, and inner ones as `\"`."""
    inner = prompt.strip()[1:-1].replace('\\"', "")
    is_quoted = len(prompt) > 2 and prompt.strip()[:1] == prompt.strip()[-1:] == '"'
    if not is_quoted or '"' in inner or " " not in inner or inner.endswith("\\"):
        return prompt
    return prompt.strip()[1:-1].replace('\\"', '"')
