"""Catalog: the table of all agents, and the other MCP clients."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.agents import claude_code, codex, copilot, cursor, gemini, opencode
from mdmem.agents.install import json_text
from mdmem.errors import UsageError

if TYPE_CHECKING:
    from mdmem.agents import Agent, HookRow


SCOPES = ("user", "project", "local")

SettingsPlace = Callable[[str, str, Mapping[str, str]], str]
"""A function that returns a scope's file, given the scope, the project's folder and the environment; "" if none."""


def located(place: SettingsPlace, scope: str) -> str:
    """Return a scope's file, of the user or of the project in the current folder; "" if there is none."""
    return place(scope, os.getcwd(), os.environ)


class McpClient(NamedTuple):
    """A program that starts MCP servers.

    file: returns the settings file of a scope, "" if there is no such scope.
    place: returns the keys that lead to the servers of a scope in a project's folder.
    extra: further keys of a server's entry. is_one_list: program and arguments are one list.
    is_state: whether the program keeps rewriting this file, so that a backup would soon be outdated.
    extensions: what its JSON may have, as `json_text.extensions` returns it.
    """

    title: str
    file: SettingsPlace
    place: Callable[[str, str], tuple[str, ...]] = lambda _scope, _root: ("mcpServers",)
    extra: Mapping[str, Any] = {}
    is_toml: bool = False
    is_one_list: bool = False
    is_state: Callable[[str], bool] = lambda _: False
    extensions: tuple[str, ...] = ()
    note: str = ""


def _claude_code_file(scope: str, root: str, env: Mapping[str, str]) -> str:
    own = env.get("CLAUDE_CONFIG_DIR") or os.path.dirname(claude_code.folder(env))
    state = os.path.join(own, ".claude.json")
    return {"user": state, "local": state, "project": os.path.join(root, ".mcp.json")}.get(scope, "")


def _desktop_folder(env: Mapping[str, str]) -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "Claude")
    return os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "Claude")


def _below(user: Callable[[Mapping[str, str]], str], project: str | None, *name: str) -> SettingsPlace:
    """Return a function for a file below the user's folder, or below `project` in a project (None: user scope only)."""

    def file(scope: str, root: str, env: Mapping[str, str]) -> str:
        if scope == "user":
            return os.path.join(user(env), *name)
        return os.path.join(root, project, *name) if scope == "project" and project is not None else ""

    return file


def _entry(command: str, verb: str, timeout: int) -> dict[str, Any]:
    del verb
    return {"type": "command", "command": command, "timeout": timeout}


_gemini_file = _below(gemini.folder, ".gemini", "settings.json")
_opencode_file = _below(opencode.folder, "", "opencode.json")


class SettingsOffer(NamedTuple):
    """Further settings of an agent, which the user can accept as one offer.

    place: the keys that lead to a list that gets `items`, an object of rules that gets `entries`, or a setting that
    gets `value`. whole: instead of these, the text of a file of mdmem's own.
    question: what the user is asked. done: what the user is told afterwards.
    file: returns the settings file of a scope, "" if there is no such scope; None for the file with the hooks.
    """

    name: str
    place: tuple[str, ...]
    question: str
    done: str
    items: tuple[str, ...] = ()
    value: Any = None
    entries: tuple[tuple[str, str], ...] = ()
    whole: str = ""
    file: SettingsPlace | None = None


class OffSwitch(NamedTuple):
    """A setting of an agent that switches hooks off.

    place: the keys that lead to it. off: the value that switches hooks off; for a list of switched-off hooks, the
    start of the names of mdmem's hooks. file: its settings file; "" for the one with the hooks.
    """

    place: tuple[str, ...]
    off: bool | str
    file: str = ""


class KnownAgent(NamedTuple):
    """All that mdmem knows about an agent.

    module: reads its payloads and writes its replies. program: its executable.
    settings: returns the settings file with the hooks of a scope. mcp: how it starts MCP servers.
    entry: builds a hook's settings entry from its command, verb and timeout in seconds.
    is_grouped: whether an event's entries are in groups with a matcher, instead of a plain list.
    skeleton: what the settings file needs besides the hooks.
    plugin: its plugin among the templates; "" if hooks are entries of a JSON file.
    note: what the user should know or do after a registration.
    transcripts: the module of `mdmem.transcripts` that reads its transcripts; "" for none.
    instructions: the instruction files that it loads, relative to the project's folder.
    own_instructions: the user's own instruction file, relative to the agent's folder; "" for none.
    own_memory: the agent's own memory file, which it loads; "" for none.
    offers: further settings that `mdmem install` offers.
    resume: the command that resumes a session, without the session's id; () for none.
    on_request: a value of `inject.on` -> the row of `HOOKS` that it adds.
    switches: the settings that switch its hooks off.
    """

    module: Agent
    program: str
    settings: SettingsPlace
    mcp: McpClient
    entry: Callable[[str, str, int], dict[str, Any]] = _entry
    is_grouped: bool = False
    skeleton: Mapping[str, Any] = {}
    plugin: str = ""
    note: str = ""
    transcripts: str = ""
    instructions: tuple[str, ...] = ()
    own_instructions: str = ""
    own_memory: str = ""
    offers: tuple[SettingsOffer, ...] = ()
    resume: tuple[str, ...] = ()
    on_request: Mapping[str, HookRow] = {}
    switches: tuple[OffSwitch, ...] = ()

    @property
    def name(self) -> str:
        """Return the agent's name in commands and notes."""
        return self.module.NAME

    @property
    def title(self) -> str:
        """Return the agent's usual name, for people."""
        return self.module.TITLE


READING = ("search", "show", "timeline")
"""mdmem's read-only commands that agents are told to run."""


def _reading(title: str, place: tuple[str, ...], **what: Any) -> SettingsOffer:
    question = f"Let {title} run mdmem's reading commands ({', '.join(READING)}) without asking?"
    return SettingsOffer("reading", place, question, "Reading commands of mdmem run without asking.", **what)


def _each(form: str) -> tuple[str, ...]:
    return tuple(form.format(verb) for verb in READING)


ROWS = (
    KnownAgent(
        claude_code,
        "claude",
        claude_code.settings_file,
        McpClient(
            claude_code.TITLE,
            _claude_code_file,
            lambda scope, root: ("projects", root, "mcpServers") if scope == "local" else ("mcpServers",),
            extra={"type": "stdio"},
            is_state=lambda scope: scope != "project",
            note="New sessions load it; /mcp lists it.",
        ),
        # a commit may continue after the event
        entry=lambda *given: _entry(*given) | ({"async": True} if given[1] == "commit" else {}),
        is_grouped=True,
        transcripts="claude_files",
        instructions=("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
        own_instructions="CLAUDE.md",
        own_memory="MEMORY.md",
        offers=(
            _reading(claude_code.TITLE, ("permissions", "allow"), items=_each("Bash(mdmem {}:*)")),
            SettingsOffer(
                "one-memory",
                ("autoMemoryEnabled",),
                "Switch Claude Code's own auto memory off, so that there is one memory?",
                "Claude Code's auto memory is off; `mdmem uninstall` restores it.",
                value=False,
            ),
        ),
        resume=("claude", "--resume"),
        on_request=claude_code.ON_REQUEST,
        switches=(OffSwitch(("disableAllHooks",), off=True),),
    ),
    KnownAgent(
        codex,
        "codex",
        _below(codex.folder, ".codex", "hooks.json"),
        McpClient(
            codex.TITLE,
            _below(codex.folder, ".codex", "config.toml"),
            lambda _scope, _root: ("mcp_servers",),
            is_toml=True,
        ),
        is_grouped=True,
        note="Codex runs new or changed hooks only after you review them: type /hooks in Codex.",
        transcripts="codex",
        instructions=("AGENTS.md",),
        own_instructions="AGENTS.md",
        offers=(
            _reading(
                codex.TITLE,
                (),
                whole=f'prefix_rule(pattern=["mdmem", {json.dumps(READING)}], decision="allow")\n',
                file=_below(codex.folder, ".codex", "rules", "mdmem.rules"),
            ),
        ),
        resume=("codex", "resume"),
        switches=(
            OffSwitch(("features", "hooks"), off=False, file="config.toml"),
            OffSwitch(("features", "codex_hooks"), off=False, file="config.toml"),
        ),
    ),
    KnownAgent(
        gemini,
        "gemini",
        _gemini_file,
        McpClient(gemini.TITLE, _gemini_file, extensions=(json_text.COMMENTS,)),
        entry=lambda command, verb, timeout: {"name": f"mdmem-{verb}", **_entry(command, verb, timeout * 1000)},
        is_grouped=True,
        transcripts="gemini",
        instructions=("GEMINI.md",),
        own_instructions="GEMINI.md",
        offers=(_reading(gemini.TITLE, ("tools", "allowed"), items=_each("run_shell_command(mdmem {})")),),
        resume=("gemini", "--resume"),
        switches=(
            OffSwitch(("hooksConfig", "enabled"), off=False),
            OffSwitch(("hooksConfig", "disabled"), off="mdmem-"),
        ),
    ),
    KnownAgent(
        cursor,
        "cursor-agent",
        _below(cursor.folder, ".cursor", "hooks.json"),
        McpClient(cursor.TITLE, _below(cursor.folder, ".cursor", "mcp.json")),
        entry=lambda command, _, timeout: {"command": command, "timeout": timeout},
        skeleton={"version": 1},
        note="Cursor takes context only when a session starts; `mdmem install cursor --mcp` gives it tools for later.",
        instructions=("AGENTS.md", "CLAUDE.md"),
    ),
    KnownAgent(
        copilot,
        "copilot",
        _below(copilot.folder, ".github", "hooks", "mdmem.json"),
        McpClient(
            copilot.TITLE, _below(copilot.folder, None, "mcp-config.json"), extra={"type": "local", "tools": ["*"]}
        ),
        entry=lambda command, _, timeout: {"type": "command", "bash": command, "timeoutSec": timeout},
        skeleton={"version": 1},
        transcripts="copilot",
        instructions=("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"),
        own_instructions="copilot-instructions.md",
        resume=("copilot", "--resume"),
    ),
    KnownAgent(
        opencode,
        "opencode",
        _below(opencode.folder, ".opencode", "plugin", "mdmem.js"),  # every version reads `plugin`
        McpClient(
            opencode.TITLE,
            _opencode_file,
            lambda _scope, _root: ("mcp",),
            extra={"type": "local", "enabled": True},
            is_one_list=True,
            extensions=(json_text.COMMENTS, json_text.TRAILING_COMMA),
            note="OpenCode reads its settings when it starts: restart it.",
        ),
        plugin="opencode/mdmem.js",
        note="OpenCode loads plugins at startup: restart it.",
        transcripts="opencode",
        instructions=("AGENTS.md", "CLAUDE.md"),
        own_instructions="AGENTS.md",
        offers=(
            _reading(
                opencode.TITLE,
                ("permission", "bash"),
                entries=tuple((pattern, "allow") for pattern in _each("mdmem {} *")),
                file=_opencode_file,
            ),
        ),
        resume=("opencode", "--session"),
    ),
)
"""All agents, one row each; mypy checks each module against `agents.Agent`."""

AGENTS = {row.name: row for row in ROWS}
"""An agent's name -> its row. Its module has that name in `mdmem.agents`, and a hook loads only that one."""


def name_meant(words: str) -> str:
    """Return the name of the agent with this name, title or part of a name; `words` if it is unclear."""
    low = words.lower()
    alike = [row.name for row in ROWS if low in (row.name, row.title.lower())]
    alike = alike or [row.name for row in ROWS if low and low in row.name]
    return alike[0] if len(alike) == 1 else words


CLIENTS: dict[str, McpClient] = {
    **{row.name: row.mcp for row in ROWS},
    "claude-desktop": McpClient(
        "Claude Desktop", _below(_desktop_folder, None, "claude_desktop_config.json"), note="Restart Claude Desktop."
    ),
}
"""An MCP client's name in commands -> what is known about it; Claude Desktop has no hooks."""


_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


def resume_command(agent: str, session: str, cwd: str) -> str:
    """Return the shell command that resumes a session in its folder; "" if the agent has none.

    It will be pasted into a terminal, which obeys control characters even between quotation marks.
    """
    words = AGENTS[agent].resume if agent in AGENTS else ()
    shown = re.sub(r"[\xa0\u2000-\u200a\u202f\u205f\u3000]", "", cwd)  # spaces, which Python calls not printable
    if not words or not _PLAIN_ID.fullmatch(session) or not shown.isprintable():
        return ""
    home, tail = ("~/", cwd[2:]) if cwd.startswith("~/") else ("", cwd)
    start = f"cd {home}{shlex.quote(tail)} && " if tail else ""
    return f"{start}{shlex.join([*words, session])}"


def title(agent: str) -> str:
    """Return the usual name of the agent called `agent`, for people."""
    return AGENTS[agent].title if agent in AGENTS else agent


def row_of(agent: str) -> KnownAgent:
    """Return the row of the agent called `agent`. Raises UsageError when there is no such agent."""
    if agent not in AGENTS and agent in CLIENTS:
        tip = f"`mdmem install {agent} --mcp` registers the MCP server with it."
        raise UsageError(f"{CLIENTS[agent].title} has no hooks. {tip}")
    if agent not in AGENTS:
        import difflib

        similar = difflib.get_close_matches(agent, CLIENTS, 1)
        tip = f" Did you mean {similar[0]}?" if similar else " Others can have memory as tools: `mdmem help mcp`."
        raise UsageError(f"There is no agent called {agent!r}; mdmem knows {', '.join(AGENTS)}.{tip}")
    return AGENTS[agent]


class DetectedAgent(NamedTuple):
    """An agent on this machine, with its settings folder and its program, each "" if missing."""

    agent: str
    title: str
    folder: str
    program: str


def advice() -> str:
    """Return the command that registers the hooks; without a known agent on this machine, one must be named."""
    return "`mdmem install`" if detect() else "`mdmem install claude-code`"


def detect() -> list[DetectedAgent]:
    """Find the agents with a settings folder or a program on PATH, without starting anything."""
    agents = []
    for row in ROWS:
        folder = row.module.folder(os.environ)
        program = shutil.which(row.program) or ""
        agents.append(DetectedAgent(row.name, row.title, folder if os.path.isdir(folder) else "", program))
    return [agent for agent in agents if agent.folder or agent.program]
