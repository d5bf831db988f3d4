"""`init`, `install`, `uninstall`, `status`: from nothing to a working memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import config, project
from mdmem.capture import template
from mdmem.cli import render
from mdmem.errors import ConfigError, VaultError
from mdmem.vault import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.agents import registration

VAULT_FILES = {"README.md": "README.md", ".gitignore": "gitignore", ".gitattributes": "gitattributes"}
"""A file of a new vault -> its template."""


@click.command()
@click.argument("path", required=False, type=click.Path(file_okay=False))
@click.option("--inside", is_flag=True, help="Allow a folder in another git repository's work tree.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as an object.")
@click.pass_obj
def init(vault: str | None, path: str | None, inside: bool, as_json: bool) -> None:
    """Make a vault at PATH (default: the vault in use, else ~/mdmem). Safe to run again.

    \b
    Example:  mdmem init ~/notes/memory
    """
    from mdmem.history import repository

    settings = config.load(path or vault)
    root = Path(settings.vault)
    if root.exists() and not root.is_dir():
        raise VaultError(f"{root} is a file. Name a folder: `mdmem init PATH`.")
    other = repository.is_inside_other_repository(root)
    if other and not inside:
        raise VaultError(
            f"{root} lies inside the git repository {other}. A vault is a repository of its own: choose a folder"
            " outside, or say --inside if you mean it."
        )
    if _is_foreign(root) and not inside:
        raise VaultError(
            f"{root} is a git repository with a history of its own, and no vault. Choose another folder, or say"
            " --inside if its files are notes."
        )
    made = make_vault(settings)
    named = _remember_vault(root) if path else False
    if as_json:
        click.echo(json.dumps({"vault": str(root), "made": made, "named_in_config": named}))
        return
    if made:
        click.echo(f"The vault is at {root} (made {', '.join(made)}).")
    else:
        click.echo(f"The vault at {root} is complete; nothing was changed.")
    if named:
        click.echo(f"{config.user_file(os.environ)} names it from now on.")
    click.echo("Next: `mdmem install claude-code` registers the hooks.")


def _is_foreign(root: Path) -> bool:
    found = project.identify(str(root))
    return bool(found.commit) and Path(found.worktree) == root and not (root / "mdmem.toml").exists()


def make_vault(settings: config.Config) -> list[str]:
    """Make a vault's folders, files, repository and first commit where they are missing; give the files made."""
    from mdmem.history import commit, repository

    root = Path(settings.vault)
    for folder in (root, root / "journal", root / "notes"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    texts = {name: template.load(f"vault/{source}") for name, source in VAULT_FILES.items()}
    texts["mdmem.toml"] = settings_text()
    made = [name for name, text in texts.items() if _make(root / name, text)]
    repository.init(root)
    if made:
        commit.commit(settings)
    return made


def settings_text() -> str:
    """Write `mdmem.toml` with every setting that a vault may hold, commented out, at its default."""
    lines = [
        "# What this vault stores and shows. Every line is a default: take its `#` away to change it.",
        "# What sends data, starts a program or widens who may read is set in your own config.toml only.",
    ]
    section = ""
    for setting in config.SETTINGS:
        if setting.user_only:
            continue
        head, _, name = setting.key.partition(".")
        if head != section:
            lines += ["", f"[{head}]"]
            section = head
        lines += [f"# {setting.meaning}", f"#{name} = {render.toml(setting.default)}"]
    return "\n".join(lines) + "\n"


def _make(path: Path, text: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _remember_vault(root: Path) -> bool:
    """Name the vault in the user's config.toml, unless it is found without, or something is named already."""
    if Path(config.load().vault) == root:
        return False
    path = Path(config.user_file(os.environ))
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if any(line.partition("=")[0].strip() == "vault" for line in text.splitlines()) or os.environ.get("MDMEM_VAULT"):
        click.echo(f"Another vault is in use by MDMEM_VAULT or {path}: say `--vault {root}`, or change that.", err=True)
        return False
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text(f"vault = {render.toml(str(root))}\n{text}", encoding="utf-8")
    return True


SCOPES = click.Choice(["user", "project", "local"])


@click.command()
@click.argument("agents", nargs=-1)
@click.option("--scope", type=SCOPES, default="user", show_default=True, help="Whose settings file.")
@click.option("--all", "every", is_flag=True, help="Every agent found on this machine.")
@click.option("--mcp", "with_mcp", is_flag=True, help="Register the MCP server too: memory as tools.")
@click.option("--now", is_flag=True, help="With `service`: start it, too.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as an array.")
@click.pass_obj
def install(
    vault: str | None,
    agents: tuple[str, ...],
    scope: str,
    every: bool,
    with_mcp: bool,
    now: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Register the hooks with AGENTS; without one, with those found on this machine, after a question.

    The agent's settings file keeps everything else that is in it; a copy is put beside it the first time.
    Claude Desktop has no hooks: `mdmem install claude-desktop --mcp` gives it the tools.
    `mdmem install service` lets systemd, or launchd, run `mdmem watch` for this vault from login to logout.

    \b
    Example:  mdmem install claude-code --mcp
              mdmem install --all --yes
    """
    from mdmem.agents import detect, mcp_registration
    from mdmem.cli import unit

    with_unit = unit.NAME in agents
    agents = tuple(name for name in agents if name != unit.NAME)
    names = list(agents)
    if not names and not with_unit:
        names = [found.agent for found in detect.detect()] + (mcp_registration.detect() if with_mcp else [])
        if not names:
            raise ConfigError("No coding agent was found on this machine. Name one: `mdmem install claude-code`.")
        if not every and not yes:
            click.echo(f"Found: {', '.join(names)}.", err=True)
            click.confirm("Register the hooks with all of them?", abort=True, err=True)
    settings = config.load(vault)
    for name in agents if with_mcp else ():
        mcp_registration.known(name)
    named = settings.vault if vault else None
    changes = [change for name in names for change in _register(name, scope, named, with_mcp=with_mcp)]
    if with_unit:
        changes.append(unit.install(settings.vault, os.environ, now=now))
    _print_changes(changes, as_json=as_json)
    if not as_json and not Path(settings.vault).is_dir():
        click.echo(f"There is no vault at {settings.vault} yet: run `mdmem init`.", err=True)


def _register(name: str, scope: str, vault: str | None, *, with_mcp: bool) -> Iterator[registration.Change]:
    """Register one agent; without `vault`, one that was registered before stays registered."""
    from mdmem.agents import MODULES, mcp_registration, registration

    is_client = with_mcp and name in mcp_registration.CLIENTS
    if name in MODULES or not is_client:
        yield registration.register(name, scope, vault=vault or registration.status(name, scope).vault or None)
    if is_client:
        yield mcp_registration.register(name, scope, vault=vault or mcp_registration.status(name, scope).vault or None)


def _print_changes(changes: list[registration.Change], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([change._asdict() for change in changes]))
        return
    for change in changes:
        click.echo(f"{change.title}: {WORDS[change.action]} {change.path}")
        if change.action == "updated" and change.backup:
            click.echo(f"  The file as it was: {change.backup}")
        if change.note:
            click.echo(f"  {change.note}")


WORDS = {
    "created": "registered in the new file",
    "updated": "registered in",
    "unchanged": "nothing to change in",
    "removed": "taken out of",
    "deleted": "taken out, and nothing was left of",
}


@click.command()
@click.argument("agents", nargs=-1)
@click.option("--scope", type=SCOPES, default="user", show_default=True, help="Whose settings file.")
@click.option("--all", "every", is_flag=True, help="Every agent that mdmem is registered with.")
@click.option("--mcp", "only_mcp", is_flag=True, help="Take out the MCP server alone.")
@click.option("--now", is_flag=True, help="With `service`: end the watcher that runs, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as an array.")
@click.pass_obj
def uninstall(
    vault: str | None, agents: tuple[str, ...], scope: str, every: bool, only_mcp: bool, now: bool, as_json: bool
) -> None:
    """Take the hooks of AGENTS, and the MCP server, out of their settings. The vault and its notes stay.

    `mdmem uninstall service` takes the watcher of this vault out of systemd, or launchd.

    \b
    Example:  mdmem uninstall claude-code
    """
    from mdmem.agents import MODULES, mcp_registration, registration
    from mdmem.cli import unit

    if not agents and not every:
        raise click.UsageError("Name an agent, or say --all.")
    root = config.load(vault).vault
    with_unit = unit.NAME in agents or (every and not only_mcp and unit.installed(root, os.environ))
    agents = tuple(name for name in agents if name != unit.NAME)
    hooked = [row.agent for row in registration.survey() if row.scope == scope and row.state != "absent"]
    changes = []
    for name in agents or (dict.fromkeys([*hooked, *mcp_registration.CLIENTS]) if every else ()):
        if _has_mcp(name, scope):
            changes.append(mcp_registration.unregister(name, scope))
        if not only_mcp and (name in MODULES or name not in mcp_registration.CLIENTS):
            changes.append(registration.unregister(name, scope))
    if with_unit:
        changes.append(unit.uninstall(root, os.environ, now=now))
    _print_changes([one for one in changes if not every or one.action != "unchanged"], as_json=as_json)


def _has_mcp(name: str, scope: str) -> bool:
    """Say whether mdmem's MCP server may be in the settings of a client."""
    from mdmem.agents import mcp_registration

    client = mcp_registration.CLIENTS.get(name)
    return (
        client is not None
        and bool(client.file(scope, str(Path.cwd()), os.environ))
        and (mcp_registration.status(name, scope).state not in ("absent", "unreadable"))
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the rows as an array.")
@click.pass_obj
def status(vault: str | None, as_json: bool) -> None:
    """Show for each agent whether it is registered, and what was last heard of it; and who has the MCP server.

    \b
    Example:  mdmem status --json
    """
    from mdmem.agents import mcp_registration, registration
    from mdmem.cli import branch

    settings = config.load(vault)
    rows = [{**row._asdict(), **_last_seen(settings, row.agent)} for row in registration.survey()]
    servers = [mcp_registration.status(client)._asdict() for client in mcp_registration.CLIENTS]
    servers = [row for row in servers if row["state"] != "absent"]
    if as_json:
        click.echo(json.dumps([*rows, *servers]))
        return
    click.echo(f"vault: {settings.vault}{'' if Path(settings.vault).is_dir() else '  (missing: run `mdmem init`)'}")
    for row in rows:
        event = f" ({row['last_event']})" if row["last_event"] else ""
        seen = f"last heard of {row['last_seen']}{event}" if row["last_seen"] else "nothing heard of yet"
        _tell(row, seen, f"--scope {row['scope']}")
    for row in servers:
        _tell(row, "", "--mcp")
    for hint in branch.hints(settings):
        click.echo(hint)


def _tell(row: dict[str, Any], seen: str, options: str) -> None:
    state = row["state"] if row["scope"] == "user" else f"{row['state']} ({row['scope']})"
    click.echo(f"{row['title']:<20} {state:<22} {seen}".rstrip())
    if row["problem"]:
        click.echo(f"  {row['problem']}")
    if row["state"] == "outdated":
        click.echo(f"  `mdmem install {row['agent']} {options}` brings it up to date.")


def _last_seen(settings: config.Config, agent: str) -> dict[str, str | None]:
    try:
        when, _, event = (Path(settings.state_dir) / "seen" / agent).read_text(encoding="utf-8").partition(" ")
        return {"last_seen": iso_time(float(when)), "last_event": event or None}
    except (OSError, ValueError):
        return {"last_seen": None, "last_event": None}
