"""What a command changed and committed, as lines for people and an exit status."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from mdmem import plural
from mdmem.cli.terminal.render import safe, warn
from mdmem.history import gate
from mdmem.vault import layout

if TYPE_CHECKING:
    from mdmem.history.commit import CommitResult
    from mdmem.history.rewrite import Applied

STAGED_NAMED = 6
"""Maximum number of staged files that are named."""


def print_result(result: CommitResult) -> int:
    """Print the commits that were made and what was left out; return the exit status."""
    for commit in result.commits:
        click.echo(f"{commit.oid[:8]} {safe(commit.subject)}")
    for held_back in result.held_back:
        warn(str(held_back))
    for change in result.staying:
        if change.kind == "changed":
            text = f"{change.path} stays on this machine, but earlier commits contain it. To remove it from them:"
            warn(f"{text} mdmem purge --history-only {shlex.quote(change.path)} --apply")
            if layout.names_its_session(change.path):
                warn(gate.SO_NAMED)
    if result.staged:
        what = f"Not committed, because you staged it: {safe(plural.some(result.staged, STAGED_NAMED))}."
        names = shlex.join(result.staged) if len(result.staged) <= STAGED_NAMED else "."
        todo = f"Commit it with git in the vault, or unstage it there: git restore --staged {safe(names)}"
        click.secho(f"{what} {todo}", err=True, dim=True)
    for left_out in result.left_out:
        click.secho(f"Neither committed nor synced: {safe(str(left_out))}.", err=True, dim=True)
    return 1 if result.held_back else 0


def print_applied(applied: Applied) -> int:
    """Print what a rewrite did; return the exit status."""
    for path in applied.skipped:
        warn(f"Not changed, because it was edited in the meantime: {path}")
    print_result(applied.result)
    return status_of(applied)


def status_of(applied: Applied) -> int:
    """Return the exit status: 1 when a file was not changed, or not committed."""
    return 1 if applied.skipped or applied.result.held_back else 0
