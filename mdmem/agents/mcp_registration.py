"""MCP registration: mdmem's server in the settings of a client, put in, taken out, looked at.

For people's commands only: a hook never loads this.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mdmem.agents import MODULES, claude_code, codex, cursor, entries, gemini, json_text, toml_text
from mdmem.agents.registration import Change, Status
from mdmem.agents.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError

SERVER = "mdmem"
"""What the server is called; its tools are then `mcp__mdmem__...`, which capture leaves out."""


class Client(NamedTuple):
    """A program that starts MCP servers.

    file: names the settings of a scope, "" when there is no such scope. place: the keys that lead to the servers.
    is_state: the file is the program's own, changed all the time: a copy of it would be old at once.
    """

    title: str
    file: Callable[[str, str, Mapping[str, str]], str]
    place: Callable[[str, str], tuple[str, ...]]
    extra: Mapping[str, str] = {}
    is_toml: bool = False
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


def _servers(scope: str, root: str) -> tuple[str, ...]:
    del scope, root
    return ("mcpServers",)


CLIENTS: dict[str, Client] = {
    "claude-code": Client(
        claude_code.TITLE,
        _claude_code_file,
        lambda scope, root: ("projects", root, "mcpServers") if scope == "local" else ("mcpServers",),
        extra={"type": "stdio"},
        is_state=lambda scope: scope != "project",
        note="New sessions have it; /mcp shows it.",
    ),
    "claude-desktop": Client("Claude Desktop", _desktop_file, _servers, note="Quit Claude Desktop and start it again."),
    "cursor": Client(cursor.TITLE, _cursor_file, _servers),
    "codex": Client(codex.TITLE, _codex_file, lambda _scope, _root: ("mcp_servers",), is_toml=True),
    "gemini": Client(gemini.TITLE, gemini.settings_file, _servers),
}
"""A client's name in commands -> what is known of it."""


def register(
    client: str,
    scope: str = "user",
    *,
    root: str | None = None,
    vault: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Change:
    """Put mdmem's server into the settings of a client, in the place of an older one; again changes nothing.

    root: the project's folder, for the scopes `project` and `local`. vault: the vault that the server shall serve;
    by default none is named, so that the user's settings decide.

    Raises:
        UsageError: when there is no such client or scope.
        ConfigError: when the settings cannot be understood or not be written; they are left alone.
    """
    found, place, file = _open(client, scope, root, env)
    _present(found, file, place)  # which refuses somebody else's
    text = _registered(found, file.text or "", file.path, place, vault)
    action = "unchanged" if text == file.text else "created" if file.text is None else "updated"
    file.write(text, keep_first=not (found.is_state(scope) or _is_ours_alone(found, file, place)))
    note = found.note if action != "unchanged" else ""
    return Change(client, f"{found.title} (MCP)", scope, file.path, action, file.backup(), note)


def unregister(
    client: str, scope: str = "user", *, root: str | None = None, env: Mapping[str, str] | None = None
) -> Change:
    """Take mdmem's server out of the settings of a client; a file that mdmem made and that is empty then goes.

    Raises:
        UsageError: when there is no such client or scope.
        ConfigError: when the settings cannot be understood or not be written; they are left alone.
    """
    found, place, file = _open(client, scope, root, env)
    change = Change(client, f"{found.title} (MCP)", scope, file.path, "removed", file.backup())
    present = _present(found, file, place)
    if file.text is None or present is None:
        return change._replace(action="unchanged")
    before = file.text_before()
    if before is not None and _registered(found, before, file.path, place, vault_of(present)) == file.text:
        file.restore()
        return change._replace(backup="")
    text = _without(found, file.text, file.path, place)
    if before is None and not found.is_state(scope) and _loads(found, text, file.path) == {}:
        file.delete()
        return change._replace(action="deleted")
    file.write(text, keep_first=False)
    return change


def status(
    client: str, scope: str = "user", *, root: str | None = None, env: Mapping[str, str] | None = None
) -> Status:
    """Say how mdmem's server is registered; a file that cannot be read is a state, not an error.

    Raises:
        UsageError: when there is no such client or scope.
    """
    path = _path(known(client), scope, root, env)
    row = Status(client, f"{known(client).title} (MCP)", scope, path, "absent")
    try:
        found, place, file = _open(client, scope, root, env)
        present = _present(found, file, place)
        if present is None:
            return row
        named = vault_of(present)
        text = _registered(found, file.text or "", file.path, place, named)
    except ConfigError as error:
        return row._replace(state="unreadable", problem=str(error))
    return row._replace(state="registered" if text == file.text else "outdated", vault=named or "")


def entry(vault: str | None = None) -> dict[str, Any]:
    """Say how the server is started: by this interpreter, which is not looked for, and not in the folder it is in."""
    named = ["--vault", vault] if vault else []
    return {"command": sys.executable, "args": ["-P", "-m", "mdmem", *named, "mcp"]}


def vault_of(present: Mapping[str, Any]) -> str | None:
    """Read the vault that a registered server is to serve, or None."""
    args = present.get("args")
    words = args if isinstance(args, list) else []
    at = words.index("--vault") + 1 if "--vault" in words else len(words)
    return str(words[at]) if at < len(words) else None


def detect(env: Mapping[str, str] | None = None) -> list[str]:
    """Name the clients on this machine that have no hooks, by their settings folders."""
    env = os.environ if env is None else env
    without_hooks = [name for name in CLIENTS if name not in MODULES]
    return [name for name in without_hooks if os.path.isdir(os.path.dirname(CLIENTS[name].file("user", "", env)))]


def known(client: str) -> Client:
    """Say what is known of a client.

    Raises:
        UsageError: when there is no such client.
    """
    if client not in CLIENTS:
        raise UsageError(f"mdmem cannot register its MCP server with {client!r}; it can with {', '.join(CLIENTS)}.")
    return CLIENTS[client]


def _path(found: Client, scope: str, root: str | None, env: Mapping[str, str] | None) -> str:
    path = found.file(scope, os.path.abspath(root or os.getcwd()), os.environ if env is None else env)
    if not path:
        raise UsageError(f"{found.title} has no MCP settings for the scope {scope!r}.")
    return path


def _open(
    client: str, scope: str, root: str | None, env: Mapping[str, str] | None
) -> tuple[Client, tuple[str, ...], SettingsFile]:
    found = known(client)
    place = found.place(scope, os.path.abspath(root or os.getcwd()))
    return found, place, SettingsFile(_path(found, scope, root, env))


def _present(found: Client, file: SettingsFile, place: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Give mdmem's server as it stands in the file, or None."""
    value: Any = _loads(found, file.text or "", file.path)
    for key in (*place, SERVER):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return None
    args = value.get("args") if isinstance(value, dict) else None
    if not isinstance(args, list) or "mcp" not in args or "mdmem" not in f"{value.get('command')} {args}":
        raise ConfigError(f"{file.path} has another server called {SERVER!r}. It is left alone; rename it first.")
    return dict(value)


def _is_ours_alone(found: Client, file: SettingsFile, place: tuple[str, ...]) -> bool:
    """Whether nothing is in the file but mdmem's hooks and server, so that mdmem has made it."""
    if file.text is None or found.is_toml:
        return False
    try:
        rest = json_text.loads(entries.merged(file.text, file.path, {}, {}))
    except (ConfigError, ValueError):
        return False
    return _others(rest, place) == {}


def _registered(found: Client, text: str, path: str, place: tuple[str, ...], vault: str | None) -> str:
    """What the file shall be when the server is registered, coming from `text`."""
    wanted = entry(vault)
    before = _loads(found, text, path)
    try:
        if found.is_toml:
            changed = toml_text.with_table(text, (*place, SERVER), wanted)
        else:
            changed = _json_with(text if text.strip() else "{}\n", place, {**found.extra, **wanted})
        after = _decoded(found, changed)
        made = _at(after, (*place, SERVER))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ConfigError(f"{path} cannot be changed in place: {error}. It is left alone.") from error
    if _others(after, place) != _others(before, place) or any(made[key] != value for key, value in wanted.items()):
        raise ConfigError(f"{path} cannot be changed without touching what is not mdmem's. It is left alone.")
    return changed


def _without(found: Client, text: str, path: str, place: tuple[str, ...]) -> str:
    before = _loads(found, text, path)
    if found.is_toml:
        changed = toml_text.without_table(text, (*place, SERVER))
    else:
        changed = json_text.remove(text, (*place, SERVER))
        for depth in range(len(place), 0, -1):
            if _at(json_text.loads(changed), place[:depth]) == {}:
                changed = json_text.remove(changed, place[:depth])
    if _others(_loads(found, changed, path), place) != _others(before, place):
        raise ConfigError(f"{path} cannot be changed without touching what is not mdmem's. It is left alone.")
    return changed


def _json_with(text: str, place: tuple[str, ...], wanted: dict[str, Any]) -> str:
    for depth, key in enumerate(place):
        if key not in _at(json_text.loads(text), place[:depth]):
            text = json_text.append(text, place[:depth], {}, key)
        if not isinstance(_at(json_text.loads(text), place[: depth + 1]), dict):
            raise TypeError(f"{key} is no object")
    present = _at(json_text.loads(text), place).get(SERVER)
    if present is None:
        return json_text.append(text, place, wanted, SERVER)
    kept = {**present, **wanted}  # an `env` or a time limit that a person added stays
    return text if kept == present else json_text.replace(text, (*place, SERVER), kept)


def _at(data: Any, place: tuple[str, ...]) -> Any:
    for key in place:
        data = data[key]
    return data


def _others(data: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """What is not mdmem's; objects on the way that it leaves empty do not count."""
    if not place:
        return {key: value for key, value in data.items() if key != SERVER}
    rest = dict(data)
    inner = rest.pop(place[0], {})
    kept = _others(inner, place[1:]) if isinstance(inner, dict) else inner
    return rest if kept == {} else {**rest, place[0]: kept}


def _loads(found: Client, text: str, path: str) -> dict[str, Any]:
    """Decode the settings in `text`, the content of `path`.

    Raises:
        ConfigError: when they cannot be read, or are no object.
    """
    try:
        data = _decoded(found, text)
    except ValueError as error:
        form = "TOML" if found.is_toml else "JSON"
        raise ConfigError(f"{path} is not valid {form}: {error}. It is left alone; mend it and try again.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} does not have the shape of a settings file. It is left alone.")
    return data


def _decoded(found: Client, text: str) -> Any:
    return toml_text.loads(text) if found.is_toml else json_text.loads(text if text.strip() else "{}")
