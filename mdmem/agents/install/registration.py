"""Registration: adds, removes and checks mdmem's entries in an agent's settings.

Used only by commands; a hook never loads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from mdmem.agents.install import entries, json_text, launcher, plugin_file, settings_file, switches, trust
from mdmem.agents.install.catalog import ROWS, SCOPES, KnownAgent, located, row_of
from mdmem.agents.install.command_line import launcher_of, vault_of
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError, UsageError

_SHARED = "On a machine without mdmem, the commands do nothing."


class SettingsChange(NamedTuple):
    """What was done to one file.

    action: `created`, `updated`, `unchanged`, `removed` (mdmem's entries) or `deleted` (the file).
    backup: the copy of the file from before the first change, or "".
    note: what the user should know or do now, or "". diff: what a dry run would change.
    """

    agent: str
    title: str
    scope: str
    path: str
    action: str
    backup: str = ""
    note: str = ""
    diff: str = ""


class Status(NamedTuple):
    """How one agent is registered in one scope.

    state: `registered`, `outdated` (by an older or moved mdmem), `absent` or `unreadable`.
    vault: the vault that the registered commands name; "" if the settings decide.
    problem: why the file is unreadable, the agent ignores what is registered or it stores nothing.
    """

    agent: str
    title: str
    scope: str
    path: str
    state: str
    vault: str = ""
    problem: ConfigError | None = None

    @property
    def has_hooks(self) -> bool:
        """Whether mdmem's hooks are registered, perhaps by an older mdmem."""
        return self.state in ("registered", "outdated")


_NEVER: Mapping[str, float] = MappingProxyType({})


def register(agent: str, scope: str = "user", *, vault: str | None = None, dry_run: bool = False) -> SettingsChange:
    """Register mdmem's entries in the settings of `agent`, replacing older ones in place; repeating it changes nothing.

    scope: one of `SCOPES`; `project` and `local` mean the project in the current folder.
    vault: the vault that the commands name; by default none, and the user's settings decide.
    dry_run: change nothing; the result has the diff.

    Raises:
        UsageError: when there is no such agent or scope.
        ConfigError: when the settings cannot be parsed or written; they are left alone.
    """
    known_agent, file = open_settings(agent, scope)
    command_lines = _command_lines(known_agent, file)
    is_ours_alone = bool(command_lines) and _is_empty_without(known_agent, file)
    shared = scope == "project"
    text = _registered(known_agent, file.text or "", file.path, vault or "", shared=shared)
    renewed = ""
    if not dry_run:
        renewed = "" if not command_lines or launcher.is_current() else _RENEWED
        _use_launcher(file.path)
    earlier_vault = _vault(command_lines)
    moved_note = f"Before, it stored to {earlier_vault}." if earlier_vault and vault and earlier_vault != vault else ""
    note = " ".join(filter(None, [moved_note, known_agent.note, _SHARED if shared else ""]))
    change = SettingsChange(agent, known_agent.title, scope, file.path, "unchanged", note=note)
    try:
        change = put(change, file, text, keep_first=not is_ours_alone, dry_run=dry_run)
    except ConfigError:
        launcher.leave(file.path)
        raise
    notes = (switches.problem(known_agent, file.path, text), change.note, renewed)
    return change._replace(note=str(next(filter(None, notes), "")))


_RENEWED = "Its hooks start this mdmem from now on."


def put(change: SettingsChange, file: SettingsFile, text: str, *, keep_first: bool, dry_run: bool) -> SettingsChange:
    """Write `text` to a settings file, or show what that would change; return what was done.

    change: the agent, scope, file, and the note for the user once it is done.

    Raises ConfigError when the file cannot be written.
    """
    action = "unchanged" if text == file.text else "created" if file.text is None else "updated"
    if dry_run:
        preview = settings_file.diff(file.text or "", text, file.path)
        return change._replace(action=action, note="", diff=preview)
    file.write(text, keep_first=keep_first)
    note = "" if action == "unchanged" else change.note
    return change._replace(action=action, backup=file.backup(), note=note)


def unregister(agent: str, scope: str = "user") -> SettingsChange:
    """Remove mdmem's entries from the settings of `agent`; delete the file if mdmem created it and it is now empty.

    A file that is unchanged since `register` gets back its earlier content, byte for byte.

    Raises:
        UsageError: when there is no such agent or scope.
        ConfigError: when the settings cannot be parsed or written; they are left alone.
    """
    known_agent, file = open_settings(agent, scope)
    change = SettingsChange(agent, known_agent.title, scope, file.path, "removed")
    command_lines = _command_lines(known_agent, file)
    if not command_lines or file.text is None:
        return change._replace(action="unchanged", backup=file.backup())
    is_ours_alone = _is_empty_without(known_agent, file)
    change = _remove_entries(known_agent, file, change, _vault(command_lines))
    if is_ours_alone:
        trust.forget(known_agent.name, file.path)
    if change.action == "deleted":
        file.remove_empty_folders(known_agent.module.folder(os.environ))
    for place in {launcher.path(), *filter(None, map(launcher_of, command_lines))}:
        launcher.leave(file.path, place)
    return change


def _remove_entries(known_agent: KnownAgent, file: SettingsFile, change: SettingsChange, vault: str) -> SettingsChange:
    """Remove mdmem's entries from a file that has some."""
    if known_agent.plugin or file.text is None:
        file.delete()
        return change._replace(action="deleted")
    before = file.text_before()
    if before is not None and _registers_as(file, known_agent, before, vault, shared=change.scope == "project"):
        file.restore()
        return change
    if before is None and _is_empty_without(known_agent, file):
        file.delete()
        return change._replace(action="deleted")
    file.write(entries.merged(file.text, file.path, {}, {}))
    return change._replace(backup=file.backup())


def status(agent: str, scope: str = "user", heard: float = 0.0) -> Status:
    """Return how `agent` is registered in `scope`; an unreadable file is a state, not an error.

    heard: when its last event was, in seconds since the epoch.

    Raises UsageError when there is no such agent or scope.
    """
    path = _path(row_of(agent), scope)
    row = Status(agent, row_of(agent).title, scope, path, "absent")
    try:
        known_agent, file = open_settings(agent, scope)
        command_lines = _command_lines(known_agent, file)
        if not command_lines or file.text is None:
            return row
        named_vault = _vault(command_lines)
        text = _registered(known_agent, file.text, file.path, named_vault, shared=scope == "project")
    except ConfigError as error:
        return row._replace(state="unreadable", problem=error)
    gone = next((gone for place in map(launcher_of, command_lines) if place and (gone := launcher.missing(place))), "")
    problem = ConfigError(f"It stores nothing: its hooks start {gone}, which is gone.") if gone else None
    problem = (
        problem or switches.problem(known_agent, path, file.text) or trust.unreviewed(agent, path, file.text, heard)
    )
    is_current = text == file.text and launcher.is_current()
    return row._replace(state="registered" if is_current else "outdated", vault=named_vault, problem=problem)


def survey(heard: Mapping[str, float] = _NEVER) -> list[Status]:
    """Return how every agent is registered: in its user scope, and in other scopes with something to report.

    heard: when the last event of each agent was, in seconds since the epoch.
    """
    scopes = [(row.name, scope) for row in ROWS for scope in SCOPES if located(row.settings, scope)]
    rows = [status(agent, scope, heard.get(agent, 0.0)) for agent, scope in scopes]
    users = {os.path.realpath(row.path) for row in rows if row.scope == "user"}  # the same file in the home folder
    return [
        row for row in rows if row.scope == "user" or not (row.state == "absent" or os.path.realpath(row.path) in users)
    ]


def open_settings(agent: str, scope: str) -> tuple[KnownAgent, SettingsFile]:
    """Return an agent's row and its settings file.

    Raises:
        UsageError: when there is no such agent or scope.
        ConfigError: when the file cannot be read, or has comments or trailing commas that the agent does not accept.
    """
    known_agent = row_of(agent)
    file = SettingsFile(_path(known_agent, scope))
    found = [] if known_agent.plugin else json_text.extensions(file.text or "")
    if refused := " and ".join(one for one in found if one not in known_agent.mcp.extensions):
        raise ConfigError(f"{file.path} is not valid JSON: it has {refused}. It was not changed. Fix it and try again.")
    return known_agent, file


def _path(known_agent: KnownAgent, scope: str) -> str:
    path = located(known_agent.settings, scope)
    if not path:
        raise UsageError(f"{known_agent.title} has no settings for the scope {scope!r}.")
    return path


def _command_lines(known_agent: KnownAgent, file: SettingsFile) -> list[str]:
    """Return mdmem's command lines in the file."""
    if file.text is None:
        return []
    read = plugin_file.lines if known_agent.plugin else entries.lines
    return read(file.text, file.path)


def _is_empty_without(known_agent: KnownAgent, file: SettingsFile) -> bool:
    """Whether the file contains only mdmem's entries, so that mdmem has created it."""
    if known_agent.plugin:
        return True
    remaining = entries.merged(file.text or "", file.path, {}, {})
    return entries.parsed(remaining, file.path) in ({}, known_agent.skeleton)


def _use_launcher(path: str) -> None:
    try:
        launcher.use(path)
    except OSError as error:
        raise ConfigError(f"{launcher.path()} cannot be written ({error}). Nothing was registered.") from error


def _vault(command_lines: list[str]) -> str:
    return next((vault for line in command_lines if (vault := vault_of(line))), "")


def _registers_as(file: SettingsFile, known_agent: KnownAgent, before: str, vault: str, *, shared: bool) -> bool:
    """Whether `before` has no entries of mdmem's, and registering in it gives the file's text."""
    try:
        path = file.path
        return (
            not entries.lines(before, path)
            and _registered(known_agent, before, path, vault, shared=shared) == file.text
        )
    except ConfigError:
        return False


def _registered(known_agent: KnownAgent, text: str, path: str, vault: str, *, shared: bool) -> str:
    """Return `text` with mdmem registered."""
    if known_agent.plugin:
        return plugin_file.render(known_agent, vault, shared=shared)
    return entries.merged(text, path, entries.lists_for(known_agent, vault, shared=shared), known_agent.skeleton)
