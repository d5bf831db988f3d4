"""Aliases: other agents' names of Claude Code's tools and of their input fields."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = {"filePath": "file_path", "path": "file_path", "absolute_path": "file_path", "target_file": "file_path"}
_WRITE = {**_FILE, "file_text": "content", "contents": "content", "code_edit": "content"}
_EDIT = {
    **_FILE,
    "old_str": "old_string",
    "oldString": "old_string",
    "new_str": "new_string",
    "newString": "new_string",
    "replaceAll": "replace_all",
    "allow_multiple": "replace_all",
}
_SHELL = {"cmd": "command", "is_background": "run_in_background", "background": "run_in_background"}
_GLOB = {"glob_pattern": "pattern", "query": "pattern", "dir_path": "path", "target_directory": "path"}
_GREP = {"query": "pattern", "dir_path": "path", "include": "glob", "include_pattern": "glob"}
_PATCH = {"input": "patch", "command": "patch", "patchText": "patch", "patch_text": "patch"}
_AGENT = {
    "task": "prompt",
    "message": "prompt",
    "objective": "prompt",
    "task_name": "description",
    "agent_name": "subagent_type",
    "agent_type": "subagent_type",
}
_SKILL = {"name": "skill", "command": "skill"}
_PLAN = {"plan_filename": "planFilePath"}
_NONE: dict[str, str] = {}

# Lower case; after each row, the agents that need it. Claude Code's own names are listed
# if another agent uses the same name with other keys.
ALIASES: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read", _FILE),  # OpenCode, Cursor
    "read_file": ("Read", _FILE),  # Gemini CLI
    "view": ("Read", _FILE),  # Copilot
    "write": ("Write", _WRITE),  # OpenCode, Cursor
    "write_file": ("Write", _WRITE),  # Gemini CLI
    "create": ("Write", _WRITE),  # Copilot
    "create_file": ("Write", _WRITE),
    "edit": ("Edit", _EDIT),  # OpenCode, Copilot
    "edit_file": ("Edit", _EDIT),
    "replace": ("Edit", _EDIT),  # Gemini CLI
    "str_replace": ("Edit", _EDIT),  # Copilot
    "strreplace": ("Edit", _EDIT),  # Cursor
    "search_replace": ("Edit", _EDIT),
    "multiedit": ("MultiEdit", _EDIT),
    "notebookedit": ("NotebookEdit", _NONE),
    "apply_patch": ("Patch", _PATCH),  # Codex CLI, Copilot, OpenCode
    "applypatch": ("Patch", _PATCH),
    "patch": ("Patch", _PATCH),
    "bash": ("Bash", _SHELL),  # Copilot, OpenCode
    "shell": ("Bash", _SHELL),  # Codex CLI, Cursor
    "local_shell": ("Bash", _SHELL),
    "exec_command": ("Bash", _SHELL),
    "unified_exec": ("Bash", _SHELL),
    "run_shell_command": ("Bash", _SHELL),  # Gemini CLI
    "run_terminal_cmd": ("Bash", _SHELL),
    "powershell": ("PowerShell", _SHELL),  # Copilot
    "glob": ("Glob", _GLOB),
    "file_search": ("Glob", _GLOB),
    "grep": ("Grep", _GREP),
    "rg": ("Grep", _GREP),  # Copilot
    "grep_search": ("Grep", _GREP),  # Gemini CLI
    "search_file_content": ("Grep", _GREP),  # Gemini CLI, older
    "webfetch": ("WebFetch", _NONE),  # OpenCode
    "web_fetch": ("WebFetch", _NONE),  # Gemini CLI, Copilot
    "fetch": ("WebFetch", _NONE),
    "websearch": ("WebSearch", {"search_term": "query"}),
    "web_search": ("WebSearch", {"search_term": "query"}),
    "google_web_search": ("WebSearch", _NONE),  # Gemini CLI
    "agent": ("Agent", _AGENT),  # Copilot, of hooks
    "task": ("Agent", _AGENT),  # OpenCode, Copilot, Claude Code before 2.1.63
    "collaborationspawn_agent": ("Agent", _AGENT),  # Codex CLI
    "invoke_agent": ("Agent", _AGENT),  # Gemini CLI
    "ask_user": ("AskUserQuestion", _NONE),  # Gemini CLI, Copilot
    "question": ("AskUserQuestion", _NONE),  # OpenCode
    "exit_plan_mode": ("ExitPlanMode", _PLAN),  # Gemini CLI
    "activate_skill": ("Skill", _SKILL),  # Gemini CLI
    "skill": ("Skill", _SKILL),  # OpenCode
    "write_todos": ("TodoWrite", _NONE),  # Gemini CLI
    "update_todo": ("TodoWrite", _NONE),  # Copilot
    "todowrite": ("TodoWrite", _NONE),  # OpenCode
    "todo_write": ("TodoWrite", _NONE),  # Copilot
    "update_plan": ("TodoWrite", {"plan": "todos"}),  # Codex CLI
}
"""A tool's name in lower case -> Claude Code's name, which `TOOLS` uses, and the agent's keys -> Claude Code's keys."""


_CHANGING = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Patch", "Write"])


def changes_files(tool: str) -> bool:
    """Whether a tool, by any agent's name for it, changes the files that it names."""
    return ALIASES.get(tool.lower(), (tool, _NONE))[0] in _CHANGING


def resolve(tool: str, tool_input: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a tool and its input under Claude Code's names; unknown tools and keys stay as they are."""
    name, keys = ALIASES.get(tool.lower(), (tool, _NONE))
    renamed = {
        ours: tool_input[theirs] for theirs, ours in keys.items() if theirs in tool_input and ours not in tool_input
    }
    return name, {**tool_input, **renamed} if renamed else tool_input
