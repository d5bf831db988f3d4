"""Known: every agent and every client of MCP, a row each; mypy checks an agent's module against `agents.Agent` here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.agents import claude_code, codex, copilot, cursor, gemini, opencode
from mdmem.errors import UsageError

if TYPE_CHECKING:
    from mdmem.agents import Agent


class McpClient(NamedTuple):
    """A program that starts MCP servers.

    file: names the settings of a scope, "" when there is no such scope. place: the keys that lead to the servers.
    extra: what a server's entry has beside how it is started. is_one_list: program and arguments are one list.
    is_state: the file is the program's own, changed all the time: a copy of it would be old at once.
    """

    title: str
    file: Callable[[str, str, Mapping[str, str]], str]
    place: Callable[[str, str], tuple[str, ...]]
    extra: Mapping[str, Any] = {}
    is_toml: bool = False
    is_one_list: bool = False
    is_state: Callable[[str], bool] = lambda _: False
    note: str = ""


def _claude_code_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    own = env.get("CLAUDE_CONFIG_DIR") or os.path.dirname(claude_code.folder(env))
    state = os.path.join(own, ".claude.json")
    return {"user": state, "local": state, "project": os.path.join(root, ".mcp.json")}.get(scope, "")


def _desktop_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    del root
    home = os.path.expanduser("~")
    folder = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if sys.platform == "darwin":
        folder = os.path.join(home, "Library", "Application Support")
    return os.path.join(folder, "Claude", "claude_desktop_config.json") if scope == "user" else ""


def _cursor_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    places = {"user": cursor.folder(env), "project": os.path.join(root, ".cursor")}
    return os.path.join(places[scope], "mcp.json") if scope in places else ""


def _codex_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    places = {"user": codex.folder(env), "project": os.path.join(root, ".codex")}
    return os.path.join(places[scope], "config.toml") if scope in places else ""


def _copilot_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    del root
    return os.path.join(copilot.folder(env), "mcp-config.json") if scope == "user" else ""


def _opencode_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    folder = {"user": opencode.folder(env), "project": root}.get(scope, "")
    return os.path.join(folder, "opencode.json") if folder else ""


def _servers(scope: str, root: str) -> tuple[str, ...]:
    del scope, root
    return ("mcpServers",)


class KnownAgent(NamedTuple):
    """An agent: its module, and how it starts MCP servers."""

    module: Agent
    mcp: McpClient


ROWS = (
    KnownAgent(
        claude_code,
        McpClient(
            claude_code.TITLE,
            _claude_code_file,
            lambda scope, root: ("projects", root, "mcpServers") if scope == "local" else ("mcpServers",),
            extra={"type": "stdio"},
            is_state=lambda scope: scope != "project",
            note="New sessions load it; /mcp lists it.",
        ),
    ),
    KnownAgent(codex, McpClient(codex.TITLE, _codex_file, lambda _scope, _root: ("mcp_servers",), is_toml=True)),
    KnownAgent(gemini, McpClient(gemini.TITLE, gemini.settings_file, _servers)),
    KnownAgent(cursor, McpClient(cursor.TITLE, _cursor_file, _servers)),
    KnownAgent(copilot, McpClient(copilot.TITLE, _copilot_file, _servers, extra={"type": "local", "tools": ["*"]})),
    KnownAgent(
        opencode,
        McpClient(
            opencode.TITLE,
            _opencode_file,
            lambda _scope, _root: ("mcp",),
            extra={"type": "local", "enabled": True},
            is_one_list=True,
            note="OpenCode reads its settings when it starts: start it again.",
        ),
    ),
)
"""`agents.MODULES` has the same agents for hooks, which load one of them only."""

AGENTS: dict[str, Agent] = {row.module.NAME: row.module for row in ROWS}
"""An agent's name -> its module."""

CLIENTS: dict[str, McpClient] = {
    **{row.module.NAME: row.mcp for row in ROWS},
    "claude-desktop": McpClient("Claude Desktop", _desktop_file, _servers, note="Restart Claude Desktop."),
}
"""The name of a client of MCP in commands -> what is known of it; Claude Desktop has no hooks."""


def known(agent: str) -> Agent:
    """Return the module of the agent called `agent`.

    Raises:
        UsageError: when there is no such agent.
    """
    if agent not in AGENTS:
        raise UsageError(f"There is no agent called {agent!r}; mdmem knows {', '.join(AGENTS)}.")
    return AGENTS[agent]
