"""`install`, `uninstall`: register hooks, remove them."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.terminal import completions, options

SCOPES = click.Choice(["user", "project", "local"])


@click.command()
@click.argument("agents", nargs=-1, shell_complete=completions.agents)
@click.option("--scope", type=SCOPES, default="user", show_default=True, help="Which settings file.")
@click.option("--all", "every", is_flag=True, help="Every agent found on this machine.")
@click.option("--mcp", "with_mcp", is_flag=True, help="Register the MCP server too: memory as tools.")
@click.option(
    "--also",
    multiple=True,
    type=click.Choice(["reading", "one-memory"]),
    help="reading: mdmem's reading commands run without asking. one-memory: switch the agent's own memory off.",
)
@click.option(
    "--status-line",
    "with_line",
    is_flag=True,
    help="Also show today's notes, pauses and losses in Claude Code's status line.",
)
@click.option("--now", is_flag=True, help="With `service`: also start it now.")
@click.option("--dry-run", is_flag=True, help="Show the diff of every file, and change nothing.")
@options.yes
@options.as_json("an array of objects: agent, title, scope, path, action, backup, note, diff")
@click.pass_obj
def install(vault: str | None, /, **given: Any) -> None:
    """Register the hooks with AGENTS; without one, with those found on this machine, after asking.

    Everything else in the agent's settings file is kept; the first time, a copy is saved beside it.
    On a terminal you are asked about the settings that `--also` names; `mdmem uninstall` takes them out again.
    Claude Desktop has no hooks: `mdmem install claude-desktop --mcp` adds the tools.
    `mdmem install service` lets systemd, launchd or the Task Scheduler run `mdmem watch` for this vault.

    \b
    Example:  mdmem install claude-code --mcp
              mdmem install --all --yes
    """
    from mdmem.cli.setup import registering  # slow to load, and needed only to do it

    registering.install(vault, registering.InstallRequest(**given))


@click.command()
@click.argument("agents", nargs=-1, shell_complete=completions.agents)
@click.option("--scope", type=SCOPES, default="user", show_default=True, help="Which settings file.")
@click.option("--all", "every", is_flag=True, help="Every agent that mdmem is registered with.")
@click.option("--mcp", "only_mcp", is_flag=True, help="Remove only the MCP server.")
@click.option("--now", is_flag=True, help="With `service`: also stop the running watcher.")
@click.option("--dry-run", is_flag=True, help="Show the diff of every file, and change nothing.")
@options.as_json("an array of objects: agent, title, scope, path, action, backup, note, diff")
@click.pass_obj
def uninstall(vault: str | None, /, **given: Any) -> None:
    """Remove the hooks of AGENTS and the MCP server from their settings. The vault and its notes stay.

    Index, state and log stay as well: `mdmem config path` prints where they are, and they can be deleted.

    `mdmem uninstall service` removes the watcher of this vault from what starts it at login.

    \b
    Example:  mdmem uninstall claude-code
              mdmem uninstall --all --dry-run
    """
    from mdmem.cli.setup import registering

    registering.uninstall(vault, **given)
