"""MCP registration: adds, removes and checks mdmem's server in a client's settings.

Used only by commands; a hook never loads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mdmem.agents.install import entries, json_text, launcher, settings_file, toml_text
from mdmem.agents.install.catalog import AGENTS, CLIENTS, McpClient, located
from mdmem.agents.install.registration import SettingsChange, Status, put
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError

SERVER = "mdmem"
"""The server's name. Its tools are `mcp__mdmem__...`, which capture leaves out."""


def register(client: str, scope: str = "user", *, vault: str | None = None, dry_run: bool = False) -> SettingsChange:
    """Register mdmem's server in a client's settings, replacing an older entry; repeating it changes nothing.

    scope: `project` and `local` mean the project in the current folder.
    vault: the vault to serve; by default none is named, and the user's settings decide.
    dry_run: change nothing; the result has the diff.

    Raises:
        UsageError: when there is no such client or scope.
        ConfigError: when the settings cannot be parsed or written; they are left alone.
    """
    mcp_client, place, file = _open(client, scope)
    _present(mcp_client, file, place)  # raises for somebody else's server
    text = _registered(mcp_client, file.text or "", file.path, place, vault)
    keep_first = not (mcp_client.is_state(scope) or _is_ours_alone(mcp_client, file, place))
    change = SettingsChange(client, f"{mcp_client.title} (MCP)", scope, file.path, "unchanged", note=mcp_client.note)
    return put(change, file, text, keep_first=keep_first, dry_run=dry_run)


def unregister(client: str, scope: str = "user") -> SettingsChange:
    """Remove mdmem's server from a client's settings; delete the file if mdmem created it and it is now empty.

    Raises:
        UsageError: when there is no such client or scope.
        ConfigError: when the settings cannot be parsed or written; they are left alone.
    """
    mcp_client, place, file = _open(client, scope)
    change = SettingsChange(client, f"{mcp_client.title} (MCP)", scope, file.path, "removed", file.backup())
    present = _present(mcp_client, file, place)
    if file.text is None or present is None:
        return change._replace(action="unchanged")
    before = file.text_before()
    if before is not None and _registered(mcp_client, before, file.path, place, vault_of(present)) == file.text:
        file.restore()
        return change._replace(backup="")
    text = _without(mcp_client, file.text, file.path, place)
    if before is None and _loads(mcp_client, text, file.path) == {}:
        file.delete()
        file.remove_empty_folders(_folder(client))
        return change._replace(action="deleted")
    file.write(text, keep_first=False)
    return change


def status(client: str, scope: str = "user") -> Status:
    """Return how mdmem's server is registered; an unreadable file is a state, not an error.

    Raises UsageError when there is no such client or scope.
    """
    path = _path(client_of(client), scope)
    row = Status(client, f"{client_of(client).title} (MCP)", scope, path, "absent")
    try:
        mcp_client, place, file = _open(client, scope)
        present = _present(mcp_client, file, place)
        if present is None:
            return row
        named_vault = vault_of(present)
        text = _registered(mcp_client, file.text or "", file.path, place, named_vault)
    except ConfigError as error:
        return row._replace(state="unreadable", problem=error)
    program = next(iter(_program_and_arguments(present)), "")
    is_gone = os.path.isabs(program) and not os.path.exists(program)
    problem = ConfigError(f"It cannot start: {program} is gone.") if is_gone else None
    state = "registered" if text == file.text else "outdated"
    return row._replace(state=state, vault=named_vault or "", problem=problem)


def entry(vault: str | None, registered: str) -> dict[str, Any]:
    """Return the command that starts the server: this interpreter, by absolute path.

    registered: a name to keep for this interpreter, if it is one.
    """
    vault_arguments = ["--vault", vault] if vault else []
    return {"command": launcher.interpreter(registered), "args": ["-P", "-m", "mdmem", *vault_arguments, "mcp"]}


def vault_of(present: Mapping[str, Any]) -> str | None:
    """Return the vault that a registered server serves, or None."""
    arguments = _program_and_arguments(present)
    at = arguments.index("--vault") + 1 if "--vault" in arguments else len(arguments)
    return str(arguments[at]) if at < len(arguments) else None


def _program_and_arguments(present: Mapping[str, Any]) -> list[str]:
    """Return the program and arguments of a registered server."""
    command, args = present.get("command"), present.get("args")
    parts = [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [])]
    return [part for part in parts if isinstance(part, str)]


def detect() -> list[str]:
    """Return the clients without hooks on this machine, found by their settings folders."""
    without_hooks = [name for name in CLIENTS if name not in AGENTS]
    return [name for name in without_hooks if os.path.isdir(_folder(name))]


def clients(scope: str) -> list[str]:
    """Return the clients that have MCP settings in a scope."""
    return [name for name, client in CLIENTS.items() if located(client.file, scope)]


def _folder(client: str) -> str:
    """Return the folder that exists where the client is installed."""
    if client in AGENTS:
        return AGENTS[client].module.folder(os.environ)
    return os.path.dirname(located(CLIENTS[client].file, "user"))


def client_of(client: str) -> McpClient:
    """Return the row of a client. Raises UsageError when there is no such client."""
    if client not in CLIENTS:
        raise UsageError(f"mdmem cannot register its MCP server with {client!r}; it can with {', '.join(CLIENTS)}.")
    return CLIENTS[client]


def _path(mcp_client: McpClient, scope: str) -> str:
    path = located(mcp_client.file, scope)
    if not path:
        raise UsageError(f"{mcp_client.title} has no MCP settings for the scope {scope!r}.")
    return path


def _open(client: str, scope: str) -> tuple[McpClient, tuple[str, ...], SettingsFile]:
    mcp_client = client_of(client)
    return mcp_client, mcp_client.place(scope, os.getcwd()), SettingsFile(_path(mcp_client, scope))


def _present(mcp_client: McpClient, file: SettingsFile, place: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return mdmem's server entry in the file, or None. Raises ConfigError for somebody else's."""
    value = json_text.at(_loads(mcp_client, file.text or "", file.path), (*place, SERVER))
    if value is None:
        return None
    arguments = _program_and_arguments(value) if isinstance(value, dict) else []
    if "mcp" not in arguments[1:] or "mdmem" not in " ".join(arguments):
        raise ConfigError(f"{file.path} has another server called {SERVER!r}. Nothing was changed. Rename it first.")
    return dict(value)


def _is_ours_alone(mcp_client: McpClient, file: SettingsFile, place: tuple[str, ...]) -> bool:
    """Whether the file contains only mdmem's hooks or server, so that mdmem has created it."""
    if file.text is None or mcp_client.is_toml:
        return False
    try:
        parsed = json_text.loads(file.text)
        without_hooks = json_text.loads(entries.merged(file.text, file.path, {}, {}))
    except (ConfigError, ValueError):
        return False
    return _others(without_hooks, place) == {} and (
        without_hooks != parsed or _present(mcp_client, file, place) is not None
    )


def _registered(mcp_client: McpClient, text: str, path: str, place: tuple[str, ...], vault: str | None) -> str:
    """Return `text` with the server registered."""
    before = _loads(mcp_client, text, path)
    present = json_text.at(before, (*place, SERVER))
    server = entry(vault, next(iter(_program_and_arguments(present)), "") if isinstance(present, dict) else "")
    if mcp_client.is_one_list:
        server = {"command": [server["command"], *server["args"]]}
    with settings_file.changing(path):
        if mcp_client.is_toml:
            changed = toml_text.with_table(text, (*place, SERVER), server)
        else:
            changed = _json_with(text if text.strip() else "{}\n", place, {**mcp_client.extra, **server})
        after = _decoded(mcp_client, changed)
        registered = json_text.at(after, (*place, SERVER))
    if _others(after, place) != _others(before, place) or any(
        registered[key] != value for key, value in server.items()
    ):
        raise settings_file.touches_others(path)
    return changed


def _without(mcp_client: McpClient, text: str, path: str, place: tuple[str, ...]) -> str:
    before = _loads(mcp_client, text, path)
    if mcp_client.is_toml:
        changed = toml_text.without_table(text, (*place, SERVER))
    else:
        changed = json_text.remove(text, (*place, SERVER))
        for depth in range(len(place), 0, -1):
            if json_text.at(json_text.loads(changed), place[:depth]) == {}:
                changed = json_text.remove(changed, place[:depth])
    if _others(_loads(mcp_client, changed, path), place) != _others(before, place):
        raise settings_file.touches_others(path)
    return changed


def _json_with(text: str, place: tuple[str, ...], server: dict[str, Any]) -> str:
    text, _ = json_text.with_containers(text, place, {})
    present = json_text.at(json_text.loads(text), place).get(SERVER)
    if present is None:
        return json_text.append(text, place, server, SERVER)
    merged = {**present, **server}  # keep an `env` or a time limit that a person added
    return text if merged == present else json_text.replace(text, (*place, SERVER), merged)


def _others(data: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings without mdmem's entry and the objects that this empties."""
    if not place:
        return {key: value for key, value in data.items() if key != SERVER}
    others = dict(data)
    inner = others.pop(place[0], {})
    inner_others = _others(inner, place[1:]) if isinstance(inner, dict) else inner
    return others if inner_others == {} else {**others, place[0]: inner_others}


def _loads(mcp_client: McpClient, text: str, path: str) -> dict[str, Any]:
    """Parse the settings in `text`, the content of `path`."""
    try:
        data = _decoded(mcp_client, text)
    except ValueError as error:
        form = "TOML" if mcp_client.is_toml else "JSON"
        raise ConfigError(f"{path} is not valid {form}: {error}. It was not changed. Fix it and try again.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} does not have the structure of a settings file. It was not changed.")
    return data


def _decoded(mcp_client: McpClient, text: str) -> Any:
    if mcp_client.is_toml:
        return toml_text.loads(text)
    if refused := [one for one in json_text.extensions(text) if one not in mcp_client.extensions]:
        raise ValueError(f"it has {' and '.join(refused)}")
    return json_text.loads(text if text.strip() else "{}")
