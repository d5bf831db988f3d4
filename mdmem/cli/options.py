"""What several commands take: the filters of the query language as options, `--limit`, `--json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

    from mdmem.config import Config
    from mdmem.recall.query import Query

    Function = Callable[..., Any]


def filters(command: Function) -> Function:
    """Add the filters to a command; it gets them as keyword arguments, for `query`."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def query(given: Mapping[str, Any], text: str = "") -> Query:
    """Read what was asked in words, and add the filters that a command was given as options.

    Raises:
        UsageError: when the value of an option cannot be read; in the words, that is a hint.
    """
    from mdmem.errors import UsageError
    from mdmem.recall import query as language

    asked = language.parse(text)
    found = language.with_filters(asked, **{key.rstrip("_"): value for key, value in given.items() if value})
    refused = found.hints[len(asked.hints) :]
    if refused:
        raise UsageError(refused[0].replace("`", "").replace(":", " ", 1))
    return found


def settings(given_vault: str | None) -> Config:
    """Load the settings of a vault that must be there; what is wrong with them is said on stderr.

    Raises:
        VaultError: when there is no vault.
    """
    from mdmem import config
    from mdmem.errors import VaultError

    found = config.load(given_vault)
    if not Path(found.vault).is_dir():
        raise VaultError(f"No vault at {found.vault}. Run `mdmem init`, or point MDMEM_VAULT at an existing one.")
    for warning in found.warnings:
        click.echo(f"mdmem: {warning}", err=True)
    return found


def as_json(what: str) -> Callable[[Function], Function]:
    """Add `--json`; `what` says what is printed."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what}.")


def limit(default: int) -> Callable[[Function], Function]:
    """Add `--limit`; 0 is no limit."""
    return click.option(
        "--limit", "-n", type=click.IntRange(min=0), default=default, show_default=True, help="At most so many; 0: all."
    )


def _vault(ctx: click.Context) -> str:
    from mdmem import config

    return config.load(ctx.find_root().params.get("vault")).vault


def projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Complete the name of a project from the journal's folders."""
    from click.shell_completion import CompletionItem

    from mdmem import journal

    names = journal.folders(str(Path(_vault(ctx)) / "journal"))
    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Complete a kind of note."""
    from click.shell_completion import CompletionItem

    from mdmem.note import KINDS

    return [CompletionItem(name) for name in KINDS if name.startswith(incomplete)]


project = click.option("--project", metavar="NAME", shell_complete=projects, help="Only this project.")
since = click.option("--since", metavar="TIME", help="From then on: 2w, yesterday, monday, 2026-09-14, 2026-09.")
until = click.option("--until", metavar="TIME", help="Until the end of then.")

STATES = ("pinned", "edited", "failed", "private", "redacted", "staged")

_FILTERS = (
    click.option("--kind", multiple=True, metavar="KIND", shell_complete=kinds, help="prompt, response, note, …"),
    click.option("--project", multiple=True, metavar="NAME", shell_complete=projects, help="Of this project."),
    click.option("--session", multiple=True, metavar="ID", help="Of this session, or one that begins so."),
    click.option("--tool", multiple=True, metavar="NAME", help="Runs of this tool."),
    click.option("--file", multiple=True, metavar="PATH", help="About this file: a name or the end of a path."),
    click.option("--tag", multiple=True, metavar="TAG", help="With this tag; again: with both."),
    click.option("--agent", multiple=True, metavar="NAME", help="From this agent."),
    click.option("--branch", multiple=True, metavar="NAME", help="Made on this branch."),
    since,
    until,
    click.option("--on", metavar="TIME", help="On that day, or in that month."),
    click.option("--is", "is_", multiple=True, metavar="STATE", help=f"{', '.join(STATES)}."),
)
