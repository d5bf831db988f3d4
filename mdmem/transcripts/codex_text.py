"""Texts in Codex's rollouts: prompts, command lines, outputs, patches, and the runs in items."""

from __future__ import annotations

import json
from typing import Any

from mdmem.agents import mapping, message_of, objects, text
from mdmem.agents.dialect import decoded

_UNTYPED = (
    "# AGENTS.md instructions", "<INSTRUCTIONS>", "<environment_context>", "<hook_prompt", "<model_switch>",
    "<permissions instructions>", "<skill>", "<subagent_notification>", "<turn_aborted>", "<user_action>",
    "<user_instructions>", "<user_shell_command>",
)  # fmt: skip
"""Prefixes of the host's messages in the user's role, for rollouts that do not name each text's source."""


def joined(content: Any) -> str:
    """Return the texts of a message's items, joined by line breaks."""
    if not isinstance(content, list):
        return text(content)
    return "\n".join([text(item.get("text")) for item in objects(content)]).strip("\n")


def typed(payload: dict[str, Any]) -> str | None:
    """Return what the user typed in a message of the user's role; None if the host wrote all of it."""
    content = payload.get("content")
    origins = sources(payload)
    if isinstance(content, list) and len(origins) == len(content):
        typed_items = [item for item, source in zip(content, origins, strict=True) if source == "user"]
        return joined(typed_items) if typed_items else None
    words = joined(content)
    return None if words.lstrip().startswith(_UNTYPED) else words


def sources(payload: dict[str, Any]) -> list[str]:
    """Return the source of each text of a message (`user`, `harness`, ...); [] if one is not named."""
    items = objects(mapping(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata"))
    sources = [text(mapping(item.get("provenance")).get("type")) for item in items]
    return sources if all(sources) else []


def command_line(tool_input: Any) -> str:
    """Return a command line as hooks give it: what the shell was asked to run."""
    command = tool_input.get("command", tool_input.get("cmd")) if isinstance(tool_input, dict) else tool_input
    if isinstance(command, list):
        words = [str(word) for word in command]
        is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
        return words[2] if is_shell else " ".join(words)
    return text(command)


def summed_up(message: str) -> str:
    """Return a compaction's summary without the sentences before it that address the model."""
    head, _, summary = message.partition("\n")
    return summary if head.startswith("Another language model started to solve this problem") else message


def process_of(response: str) -> str:
    """Return a running command's process number, from the lines before its output; "" if it has ended."""
    header, _, _ = response.partition("\nOutput:")
    number = header.partition("Process running with session ID ")[2].split("\n")[0].strip()
    return number if number.isdecimal() else ""


_REFUSED = ("unsupported custom tool call", "patch rejected", "rejected by user", "aborted by user")


def is_refused(output: Any) -> bool:
    """Whether a call's output says that it never ran, so that no hook fired."""
    message = decoded(output)
    message = message.get("output", message.get("content")) if isinstance(message, dict) else message
    return text(message).lower().startswith(_REFUSED)


def patch_of(changes: Any, cwd: str) -> str:
    """Return changes of files as a patch in the model's form."""
    lines = ["*** Begin Patch"]
    for path, change in changes.items() if isinstance(changes, dict) else ():
        kind = text(change.get("type")) if isinstance(change, dict) else ""
        name = path.removeprefix(f"{cwd}/") if cwd else path
        if kind == "add":
            lines += [f"*** Add File: {name}", *(f"+{line}" for line in text(change.get("content")).splitlines())]
        elif kind == "delete":
            lines.append(f"*** Delete File: {name}")
        elif kind == "update":
            moved = text(change.get("move_path"))
            lines += [f"*** Update File: {name}", *([f"*** Move to: {moved}"] if moved else [])]
            lines += text(change.get("unified_diff")).splitlines()
    return "\n".join([*lines, "*** End Patch", ""])


def shell_response(output: Any) -> Any:
    """Return a command's output; if its exit code is in the text before it, as JSON with both."""
    if isinstance(output, dict):
        output = output.get("content", output)
    if isinstance(output, list):
        output = joined(output)
    if not isinstance(output, str):
        return output
    header, separator, command_output = output.partition("\nOutput:\n")
    code = header.rpartition("Process exited with code ")[2].split("\n")[0].strip() if separator else ""
    if "Process exited with code " in header and code.isdecimal() and len(code) < 10:
        return json.dumps({"output": command_output, "metadata": {"exit_code": int(code)}})
    return output


ItemRun = tuple[str, Any, dict[str, Any], str | None]
"""A tool, its input, its response, and its error (None if it succeeded)."""

RUNS = ("CommandExecution", "FileChange", "McpToolCall")
"""Types of completed items that are tool runs; others also come as messages."""


def run_of(item: dict[str, Any], tool_input: Any, cwd: str) -> ItemRun | None:
    """Return a completed item's tool run, or None. tool_input: the input of the call with the same id."""
    kind = text(item.get("type"))
    if kind == "CommandExecution":
        return _ran(item)
    return _patched(item, tool_input, cwd) if kind == "FileChange" else _served(item)


def _ran(item: dict[str, Any]) -> ItemRun | None:
    if text(item.get("source")) in ("user_shell", "unified_exec_interaction"):
        return None
    response = {"output": text(item.get("aggregated_output")), "exit_code": item.get("exit_code")}
    return "Bash", {"command": command_line(item)}, response, None


def _patched(item: dict[str, Any], tool_input: Any, cwd: str) -> ItemRun:
    patch = tool_input if isinstance(tool_input, str) else patch_of(item.get("changes"), cwd)
    error = text(item.get("stderr")) or "The patch was not applied." if item.get("status") == "failed" else None
    return "apply_patch", {"command": patch}, {"output": text(item.get("stdout"))}, error


def _served(item: dict[str, Any]) -> ItemRun:
    result, message = item.get("result"), message_of(item.get("error"))
    tool = f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}"
    failed = item.get("status") == "failed" or bool(message)
    return tool, item.get("arguments"), dict(result) if isinstance(result, dict) else {}, message if failed else None
