"""What `install` and `uninstall` do: change the settings of agents and clients, and print what was changed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from mdmem import config, launch, plural
from mdmem.agents.install import catalog, mcp_registration, offers, registration, settings_file, status_line
from mdmem.agents.install.catalog import AGENTS, CLIENTS, located
from mdmem.cli.setup import protocol
from mdmem.cli.terminal import options, progress, render
from mdmem.config import Config
from mdmem.errors import ConfigError, MdmemError
from mdmem.watcher import service


class InstallRequest(NamedTuple):
    """The options and arguments of `install`."""

    agents: tuple[str, ...]
    scope: str
    every: bool
    with_mcp: bool
    also: tuple[str, ...]
    with_line: bool
    now: bool
    dry_run: bool
    yes: bool
    as_json: bool


def install(vault: str | None, asked: InstallRequest) -> None:
    """Register mdmem with agents and MCP clients, and print what was changed."""
    from mdmem.agents.install import installation  # slow to load, like the others that are imported where they are used

    with_service = service.NAME in asked.agents
    asked = asked._replace(agents=tuple(name for name in asked.agents if name != service.NAME))
    names = list(asked.agents) if asked.agents or with_service else _detected(asked)
    loaded = config.load(vault)
    for name in asked.agents:  # check that all exist before changing anything
        mcp_registration.client_of(name) if asked.with_mcp else catalog.row_of(name)
    installation.require_files()
    if asked.with_mcp:
        installation.require_mcp()
    if not asked.dry_run:
        with progress.ProgressBar("Compiling the hooks", shown=not asked.as_json):
            launch.compile_all()  # hooks do not write bytecode themselves
    here = {row.agent for row in catalog.detect()}
    absent = [catalog.title(name) for name in names if name in catalog.AGENTS and name not in here]
    failed: list[MdmemError] = []
    changes = list(_changes(asked, names, loaded, loaded.vault if vault else None, failed))
    if with_service:
        changes.append(service.install(loaded.vault, os.environ, now=asked.now, dry_run=asked.dry_run))
    if asked.dry_run and not asked.as_json:
        _print_diffs(changes)
        _raise_first(failed)
        return
    _print_changes(changes, as_json=asked.as_json)
    if not asked.as_json and not Path(loaded.vault).is_dir():
        click.echo(f"There is no vault at {loaded.vault} yet: run `mdmem init`.", err=True)
    elif not asked.as_json and names and any(change.action in WORDS for change in changes):
        click.echo("Next: start a new session; `mdmem status` shows when it was heard from.", err=True)
    if warning := installation.temporary():
        click.echo(warning, err=True)
    if not asked.as_json and absent:
        text = f"Not found on this machine: {', '.join(absent)}. Hooks do nothing until their agent is installed."
        click.echo(text, err=True)
    if not asked.as_json and not vault:
        from mdmem.health import folders

        for finding in folders.without_variable(loaded):
            click.echo(f"{finding.text} {finding.todo}", err=True)
    _raise_first(failed)


def _raise_first(failed: list[MdmemError]) -> None:
    """Report why some agents' settings could not be changed, after the others have been."""
    for other in failed[1:]:
        click.echo(f"mdmem: {other}", err=True)
    if failed:
        raise failed[0]


def _detected(asked: InstallRequest) -> list[str]:
    """Return the agents and clients found on this machine, after asking unless --all is given."""
    found = [row.agent for row in catalog.detect() if catalog.located(catalog.row_of(row.agent).settings, asked.scope)]
    clients = set(mcp_registration.detect()) & set(mcp_registration.clients(asked.scope)) if asked.with_mcp else ()
    names = [*found, *sorted(clients)]
    if not names:
        raise ConfigError("No coding agent was found on this machine. Name one: `mdmem install claude-code`.")
    if not (asked.every or asked.yes or asked.dry_run):
        click.echo(f"Found: {', '.join(names)}.", err=True)
        options.confirm("Register the hooks with all of them?", err=True)
    return names


def _changes(
    asked: InstallRequest, names: list[str], config: Config, vault: str | None, failed: list[MdmemError]
) -> Iterator[registration.SettingsChange]:
    """Register hooks and server, the status line, the advice on notes, and further settings that the user wants.

    failed: collects the errors, so that what else can be registered is, and is printed.
    """
    with_line = status_line.supported(names) if asked.with_line else []
    registered = []
    for name in names:
        with _collected(failed):
            yield from _register(name, asked.scope, vault, with_mcp=asked.with_mcp, dry_run=asked.dry_run)
            registered.append(name)
    for name in with_line:
        if name in registered:
            with _collected(failed):
                yield status_line.register(name, asked.scope, vault=vault, dry_run=asked.dry_run)
    for name in registered:
        with _collected(failed):
            yield from protocol.of_agent(name, wanted=config.settings.learn.protocol, dry_run=asked.dry_run)
    asks = not (asked.yes or asked.dry_run or asked.as_json) and sys.stdin.isatty()
    for name in registered:
        with _collected(failed):
            yield from _accept(name, asked.scope, asked.also, asks=asks, dry_run=asked.dry_run)


def _print_diffs(changes: list[registration.SettingsChange]) -> None:
    for change in changes:
        click.echo(change.diff or f"Nothing to change in {change.path}.\n", nl=False)


def _register(
    name: str, scope: str, vault: str | None, *, with_mcp: bool, dry_run: bool
) -> Iterator[registration.SettingsChange]:
    """Register one agent; without `vault`, a vault that was registered before is kept."""
    is_client = with_mcp and name in CLIENTS
    if name in AGENTS or not is_client:
        given = vault or registration.status(name, scope).vault or None
        yield registration.register(name, scope, vault=given, dry_run=dry_run)
    if is_client:
        given = vault or mcp_registration.status(name, scope).vault or None
        yield mcp_registration.register(name, scope, vault=given, dry_run=dry_run)


def _accept(
    name: str, scope: str, also: tuple[str, ...], *, asks: bool, dry_run: bool
) -> Iterator[registration.SettingsChange]:
    """Add the further settings that `--also` names; with `asks`, ask about the others."""
    for offer in offers.OFFERS.get(name, ()):
        wanted = offer.name in also
        if not wanted and asks and offers.accept(name, offer, scope, dry_run=True).action != "unchanged":
            wanted = click.confirm(offer.question, default=False, err=True)
        if wanted:
            yield offers.accept(name, offer, scope, dry_run=dry_run)


def _print_changes(
    changes: list[registration.SettingsChange], *, as_json: bool, unchanged: str = "already up to date in"
) -> None:
    if as_json:
        render.print_json(changes)
        return
    for change in changes:
        click.echo(f"{change.title}: {WORDS.get(change.action, unchanged)} {change.path}")
        if change.action == "updated" and change.backup:
            click.echo(f"  Backup: {change.backup}")
        if change.note:
            click.echo(f"  {change.note}")


WORDS = {
    "created": "registered in the new file",
    "updated": "registered in",
    "removed": "removed from",
    "deleted": "removed, with the now empty file",
}


def uninstall(
    vault: str | None,
    agents: tuple[str, ...],
    scope: str,
    *,
    every: bool,
    only_mcp: bool,
    now: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove mdmem from the settings of agents and MCP clients, and print what was changed.

    dry_run: change nothing, and print what would change.
    """
    if not agents and not every:
        raise click.UsageError("Name an agent, or use --all.")
    root = config.load(vault).vault
    with_service = service.NAME in agents or (every and not only_mcp and service.is_installed(root, os.environ))
    agents = tuple(name for name in agents if name != service.NAME)
    for name in agents:  # check that all exist before changing anything
        if name not in CLIENTS:
            catalog.row_of(name)
    hooked = [row.agent for row in registration.survey() if row.scope == scope and row.state != "absent"]
    names = agents or (dict.fromkeys([*hooked, *mcp_registration.clients(scope)]) if every else ())
    failed: list[MdmemError] = []
    removals = _removals(names, scope, only_mcp=only_mcp, failed=failed)
    if dry_run:
        with settings_file.rehearsal() as planned:
            changes = _with_diffs(list(removals), planned)
    else:
        changes = list(removals)
    if with_service:
        with _collected(failed):
            changes.append(service.uninstall(root, os.environ, now=now, dry_run=dry_run))
    said = [one for one in changes if not every or one.action != "unchanged"]
    if dry_run and not as_json:
        _print_diffs(said)
    else:
        _print_changes(said, as_json=as_json, unchanged="not registered in")
    if not (said or failed or as_json):
        click.echo(f"mdmem is not registered with any agent in the {scope} settings; nothing was changed.")
    if not (as_json or dry_run) and any(change.action in ("removed", "deleted") for change in said):
        _tell_what_stays(config.load(vault))
    _raise_first(failed)


def _removals(
    names: Iterable[str], scope: str, *, only_mcp: bool, failed: list[MdmemError]
) -> Iterator[registration.SettingsChange]:
    """Remove each agent and client. failed: collects the errors of those whose settings cannot be changed."""
    for name in names:
        with _collected(failed):
            yield from _unregister(name, scope, only_mcp=only_mcp)


@contextmanager
def _collected(failed: list[MdmemError]) -> Iterator[None]:
    """Add an error of the block to `failed`, so that what else is changed is still printed."""
    try:
        yield
    except MdmemError as error:
        failed.append(error)


def _with_diffs(
    changes: list[registration.SettingsChange], planned: dict[str, bytes | None]
) -> list[registration.SettingsChange]:
    """Return one change for each file, with the diff between the file and what is planned for it.

    The diff also has other files of the agent in the same folder, but not mdmem's own beside them.
    """
    by_path: dict[str, registration.SettingsChange] = {}
    for change in changes:
        real = os.path.realpath(change.path)
        if change.action != "unchanged" or real not in by_path:
            by_path[real] = change._replace(backup="")
    for real, content in planned.items():
        if by_path and not real.endswith(_OWN_SUFFIXES):
            beside = (one for one in by_path if Path(one).parent == Path(real).parent)
            file = real if real in by_path else next(beside, next(reversed(by_path)))
            before, after = (data.decode("utf-8-sig") for data in (Path(real).read_bytes(), content or b""))
            name = by_path[file].path if file == real else real
            diff = settings_file.diff(before, after, name)
            by_path[file] = by_path[file]._replace(diff=by_path[file].diff + diff)
    return list(by_path.values())


_OWN_SUFFIXES = (settings_file.BACKUP_SUFFIX, offers.RECORD_SUFFIX)


def _tell_what_stays(config: Config) -> None:
    """Print where mdmem's own files are once no agent uses it any more, and how to delete them."""
    from mdmem.capture import retry_queue

    if any(row.state != "absent" for row in registration.survey()) or any(_has_mcp(name, "user") for name in CLIENTS):
        return
    folders = [folder for folder in (config.index_dir, config.state_dir) if Path(folder).is_dir()]
    click.echo(f"No agent is registered any more. Your notes stay in {config.vault}.", err=True)
    if waiting := retry_queue.waiting(config):
        what = plural.number(len(waiting), "note is still", "notes are still")
        click.echo(f"{what} queued: `mdmem index` writes them.", err=True)
    elif folders:
        paths = " ".join(map(shlex.quote, map(str, folders)))
        click.echo(f"To delete index, state and log as well: rm -r {paths}", err=True)


def _unregister(name: str, scope: str, *, only_mcp: bool) -> Iterator[registration.SettingsChange]:
    if not only_mcp:
        yield from offers.withdraw(name, scope)
    if _has_mcp(name, scope):
        yield mcp_registration.unregister(name, scope)
    if not only_mcp and (name in AGENTS or name not in CLIENTS):
        had_line = status_line.unregister(name, scope)
        change = registration.unregister(name, scope)
        yield change._replace(action="removed") if had_line and change.action == "unchanged" else change
        yield from protocol.of_agent(name, wanted=False)  # last: an unreadable text must not keep the hooks


def _has_mcp(name: str, scope: str) -> bool:
    """Whether mdmem's MCP server may be in the settings of a client."""
    client = CLIENTS.get(name)
    if client is None or not located(client.file, scope):
        return False
    return mcp_registration.status(name, scope).state not in ("absent", "unreadable")
