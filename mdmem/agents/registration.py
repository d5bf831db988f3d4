"""Registration: mdmem's entries in the settings of an agent, put in, taken out, looked at.

For people's commands only: a hook never loads this.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, cast

from mdmem.agents import MODULES, entries, plugin_file
from mdmem.agents.command_line import command, vault_of
from mdmem.agents.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError

__all__ = ["SCOPES", "Change", "Status", "command", "known", "register", "status", "survey", "unregister"]

SCOPES = ("user", "project", "local")

_SHARED = "The commands name this machine's Python: where it is not, they do nothing."


class Registrable(entries.Hooked, Protocol):
    """What an agent's module offers to the registration.

    PROGRAM: the agent's executable.
    NOTE: what the user should know or do after a registration, or "".
    """

    TITLE: str
    PROGRAM: str
    NOTE: str

    def folder(self, env: Mapping[str, str]) -> str:
        """Name the user's folder of settings."""
        ...

    def settings_file(self, scope: str, root: str, env: Mapping[str, str]) -> str:
        """Name the file of a scope; "" when there is no such scope."""
        ...


class Change(NamedTuple):
    """What was done to one file.

    action: `created`, `updated`, `unchanged`, `removed` (mdmem's entries) or `deleted` (the file).
    backup: the copy of the file as it was before the first change, or "".
    note: what the user should know or do now, or "".
    """

    agent: str
    title: str
    scope: str
    path: str
    action: str
    backup: str = ""
    note: str = ""


class Status(NamedTuple):
    """How one agent is registered in one scope.

    state: `registered`, `outdated` (by an older or moved mdmem), `absent` or `unreadable`.
    vault: the vault that the registered commands name, or "" when they leave it to the settings.
    problem: why the file is unreadable, or "".
    """

    agent: str
    title: str
    scope: str
    path: str
    state: str
    vault: str = ""
    problem: str = ""


def known(agent: str) -> Registrable:
    """Import what is known about the agent called `agent`.

    Raises:
        UsageError: when there is no such agent.
    """
    if agent not in MODULES:
        raise UsageError(f"There is no agent called {agent!r}; mdmem knows {', '.join(MODULES)}.")
    return cast("Registrable", importlib.import_module(f"mdmem.agents.{MODULES[agent]}"))


def register(
    agent: str,
    scope: str = "user",
    *,
    root: str | None = None,
    vault: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Change:
    """Put mdmem's entries into the settings of `agent`, in the places of older ones; again changes nothing.

    root: the project's folder, for the scopes `project` and `local`; the current one by default.
    vault: the vault that the commands shall name; by default none, so that the user's settings decide.

    Raises:
        UsageError: when there is no such agent or scope.
        ConfigError: when the settings cannot be understood or not be written; they are left alone.
    """
    module, file = _open(agent, scope, root, env)
    is_ours_alone = bool(_lines(module, file)) and _is_empty_without(module, file)
    text = _registered(module, file.text or "", file.path, vault or "")
    action = "unchanged" if text == file.text else "created" if file.text is None else "updated"
    file.write(text, keep_first=not is_ours_alone)
    notes = [module.NOTE, _SHARED if scope == "project" else ""] if action != "unchanged" else []
    note = " ".join(filter(None, notes))
    return Change(agent, module.TITLE, scope, file.path, action, file.backup(), note)


def unregister(
    agent: str, scope: str = "user", *, root: str | None = None, env: Mapping[str, str] | None = None
) -> Change:
    """Take mdmem's entries out of the settings of `agent`; a file that mdmem made and that is empty then goes.

    A file that is still as `register` left it gets the very bytes back that it had before.

    Raises:
        UsageError: when there is no such agent or scope.
        ConfigError: when the settings cannot be understood or not be written; they are left alone.
    """
    module, file = _open(agent, scope, root, env)
    change = Change(agent, module.TITLE, scope, file.path, "removed")
    own = _lines(module, file)
    if not own or file.text is None:
        return change._replace(action="unchanged", backup=file.backup())
    if _is_plugin(module):
        file.delete()
        return change._replace(action="deleted")
    before = file.text_before()
    if before is not None and _leads_to(file.text, module, before, file.path, _vault(own)):
        file.restore()
        return change
    if before is None and _is_empty_without(module, file):
        file.delete()
        return change._replace(action="deleted")
    file.write(entries.merged(file.text, file.path, {}, {}))
    return change._replace(backup=file.backup())


def status(
    agent: str,
    scope: str = "user",
    *,
    root: str | None = None,
    vault: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Status:
    """Say how `agent` is registered in `scope`; a file that cannot be read is a state, not an error.

    vault: the vault that the commands should name; by default the one that they do.

    Raises:
        UsageError: when there is no such agent or scope.
    """
    path = _path(known(agent), scope, root, env)
    row = Status(agent, known(agent).TITLE, scope, path, "absent")
    try:
        module, file = _open(agent, scope, root, env)
        own = _lines(module, file)
        if not own or file.text is None:
            return row
        named = _vault(own)
        text = _registered(module, file.text, file.path, named if vault is None else vault)
    except ConfigError as error:
        return row._replace(state="unreadable", problem=str(error))
    return row._replace(state="registered" if text == file.text else "outdated", vault=named)


def survey(root: str | None = None, env: Mapping[str, str] | None = None) -> list[Status]:
    """Say how every agent is registered: in its user scope, and in others where there is something to say."""
    scopes = [(agent, scope) for agent in MODULES for scope in SCOPES if _settings(agent, scope, root, env)]
    rows = [status(agent, scope, root=root, env=env) for agent, scope in scopes]
    return [row for row in rows if row.scope == "user" or row.state != "absent"]


def _open(agent: str, scope: str, root: str | None, env: Mapping[str, str] | None) -> tuple[Registrable, SettingsFile]:
    module = known(agent)
    return module, SettingsFile(_path(module, scope, root, env))


def _path(module: Registrable, scope: str, root: str | None, env: Mapping[str, str] | None) -> str:
    path = _settings(module.NAME, scope, root, env)
    if not path:
        raise UsageError(f"{module.TITLE} has no settings for the scope {scope!r}.")
    return path


def _settings(agent: str, scope: str, root: str | None, env: Mapping[str, str] | None) -> str:
    folder = os.path.abspath(root or os.getcwd())
    return known(agent).settings_file(scope, folder, os.environ if env is None else env)


def _is_plugin(module: Registrable) -> bool:
    return hasattr(module, "PLUGIN")


def _lines(module: Registrable, file: SettingsFile) -> list[str]:
    """mdmem's command lines in the file."""
    if file.text is None:
        return []
    read = plugin_file.lines if _is_plugin(module) else entries.lines
    return read(file.text, file.path)


def _is_empty_without(module: Registrable, file: SettingsFile) -> bool:
    """Whether nothing but mdmem's entries is in the file, which mdmem then has made."""
    if _is_plugin(module):
        return True
    rest = entries.merged(file.text or "", file.path, {}, {})
    return entries.parsed(rest, file.path) in ({}, module.SKELETON)


def _vault(own: list[str]) -> str:
    return next((vault for line in own if (vault := vault_of(line))), "")


def _leads_to(text: str, module: Registrable, before: str, path: str, vault: str) -> bool:
    """Whether registering in `before`, which has nothing of mdmem's, gives `text`."""
    try:
        return not entries.lines(before, path) and _registered(module, before, path, vault) == text
    except ConfigError:
        return False


def _registered(module: Registrable, text: str, path: str, vault: str) -> str:
    """What the file shall be when mdmem is registered, coming from `text`."""
    if _is_plugin(module):
        return plugin_file.render(cast("Any", module), vault)
    return entries.merged(text, path, entries.wanted(module, vault), module.SKELETON)
