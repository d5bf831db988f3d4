"""`status`: which agents are registered and were heard from, and what was lost or left out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import moved, plural, timestamps
from mdmem.cli.terminal import options, render
from mdmem.config import Config
from mdmem.timestamps import iso_time

if TYPE_CHECKING:
    from mdmem.agents.install.registration import Status
    from mdmem.views.storing import LastEvent


@click.command()
@click.option("--line", is_flag=True, help="Print one line, for a status bar or a prompt.")
@options.as_json("an array of objects: agent, title, scope, path, state, vault, problem, last_seen, last_event")
@options.with_config
def status(config: Config, line: bool, as_json: bool) -> None:
    """Show for each agent whether it is registered and when it was last heard from; which clients have the
    MCP server; whether storing is paused; and which notes are queued or lost.

    \b
    Example:  mdmem status --json
    """
    from mdmem.agents.install import mcp_registration
    from mdmem.agents.install.catalog import CLIENTS
    from mdmem.views import storing
    from mdmem.watcher import client

    if line:
        from mdmem.capture import status_line

        click.echo(status_line.line(config, time.time()))
        return
    heard = storing.last_heard(config)
    rows = [{**_facts(row), **_last_seen(heard.get(row.agent))} for row in storing.registrations(config)]
    servers = [_facts(mcp_registration.status(client)) for client in CLIENTS]
    servers = [row for row in servers if row["state"] != "absent"]
    if as_json:
        render.print_json([*rows, *servers])
        return
    watcher = client.status(config)
    _print_vault(config, watcher)
    for row in rows:
        event = f" ({row['last_event']})" if row["last_event"] else ""
        last = timestamps.readable(row["last_seen"] or "")
        seen = f"last heard from {last}{event}" if last else "not heard from yet"
        _tell(row, seen, f"--scope {row['scope']}")
    for row in servers:
        _tell(row, "", "--mcp")
    _print_undone(config, watcher)


def _print_vault(config: Config, watcher: dict[str, Any]) -> None:
    """Print what is wrong with storing, if anything, and where the vault is. watcher: as `client.status` returns it."""
    from mdmem.history.git import part
    from mdmem.views import storing

    silent, outdated = storing.silent_watcher(watcher), storing.outdated_watcher(watcher)
    renew = [f"{outdated} `mdmem watch --stop`, then `mdmem watch --background` renews it."] if outdated else []
    for alarm in (*storing.alarms(config), *storing.paused_sessions(config), *filter(None, [silent]), *renew):
        render.write([[(alarm, "yellow")]])
    todo = "`mdmem doctor` says what to do" if moved.was_there(config.state_dir) else "run `mdmem init`"
    click.echo(f"vault: {config.vault}{'' if Path(config.vault).is_dir() else f'  (missing: {todo})'}")
    if here := part.of(config.vault):
        click.echo(f"  only a part of it is here: {render.safe(str(here))}; `mdmem sync --whole` fetches the rest")


def _print_undone(config: Config, watcher: dict[str, Any]) -> None:
    """Print what waits for the next commit or for a decision, and what is neither committed nor synced."""
    from mdmem.history import other_files
    from mdmem.history.merging import undecided
    from mdmem.views import staged, storing

    missing = storing.missing_watcher(config, watcher)
    start = [f"{missing} `mdmem watch --background` starts one."] if missing else []
    undone = [*filter(None, [undecided.hint(config)]), *other_files.received(config)]
    for hint in (*staged.hints(config), *undone, *start):
        render.write([[(render.safe(hint), "")]])
    left = other_files.left_out(config)
    if left:
        count = plural.number(len(left), "file")
        text = f"{count} of the vault neither committed nor synced, such as {left[0]}; see"
        render.write([[(f"{render.safe(text)} `mdmem doctor --only history`.", "")]])


_LEAST_FOR_COLUMNS = 64
"""Width of a terminal from which agents are shown in columns."""


def _tell(row: dict[str, Any], seen: str, options: str) -> None:
    state = row["state"] if row["scope"] == "user" else f"{row['state']} ({row['scope']})"
    screen = render.terminal()
    if screen is None or screen.width >= _LEAST_FOR_COLUMNS:
        render.hanging([(f"{row['title']:<20} ", "")], [(f"{state:<22} {seen}".rstrip(), "")])
    else:
        render.write([[(f"{row['title']}: {', '.join(filter(None, (state, seen)))}", "")]])
    if row["problem"]:
        render.write([[(f"  {render.safe(row['problem'])}", "")]])
    if row["state"] == "outdated":
        render.write([[(f"  `mdmem install {row['agent']} {options}` updates it.", "")]])


def _facts(row: Status) -> dict[str, str | None]:
    return {**row._asdict(), "problem": str(row.problem or "")}


def _last_seen(last: LastEvent | None) -> dict[str, str | None]:
    return {"last_seen": iso_time(last.when) if last else None, "last_event": last.name or None if last else None}
