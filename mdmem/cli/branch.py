"""`branch`: notes that wait on code branches, to be released or dropped."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem import plural
from mdmem.cli.terminal import completions, options, render
from mdmem.cli.terminal.outcome import print_applied, status_of
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.history import branches
from mdmem.history.rewrite import Applied
from mdmem.search.staged import place
from mdmem.views import staged, wording
from mdmem.views.vault_pages import upkeep


@click.group("branch")
def branch_group() -> None:
    """List, release or drop notes that wait on code branches.

    With capture.branches = "stage", notes made on any but the default branch are visible only there until
    they are released: when the branch is merged, or with `mdmem branch merge`.

    \b
    Example:  mdmem config set capture.branches stage
              mdmem branch list
    """


@branch_group.command("list")
@options.project
@options.as_json("an array of objects: project, branch, first, last, notes, state")
@options.in_vault
def list_branches(config: Config, project: str, as_json: bool) -> None:
    """List the branches on which notes wait.

    \b
    Example:  mdmem branch list
    """
    groups = [(group, staged.fate(group)) for group in staged.waiting(config) if project in ("", group.project)]
    if as_json:
        keys = ("project", "branch", "first", "last")
        objects = [
            {**{key: getattr(group, key) for key in keys}, "notes": len(group.paths), "state": state}
            for group, state in groups
        ]
        render.print_json(objects)
        return
    if not groups:
        click.echo("No notes wait on a branch.")
    columns = (render.Column("bold"), render.PROJECT, render.NUMBER, render.WHEN, render.Column("yellow"))
    rows = [
        (group.branch, group.project, plural.number(len(group.paths), "note"), wording.day(group.last), state)
        for group, state in groups
    ]
    render.table(columns, rows)
    for group, state in groups:
        if state:
            click.echo(render.safe(staged.offer(group, state)), err=True)


@branch_group.command("merge", short_help="Release the notes that wait on the branch NAME.")
@click.argument("name", shell_complete=completions.branches)
@options.project
@options.as_json("an object: project, branch, changed")
@options.in_vault
def merge(config: Config, name: str, project: str, as_json: bool) -> int:
    """Release the notes that wait on the branch NAME: every branch sees them from now on. One commit.

    \b
    Example:  mdmem branch merge feature/dates
    """
    group = _chosen(config, name, project)
    applied = branches.release(config, group.paths, group.branch)
    return _print_done(group, applied, "Released", ": all branches see them", as_json=as_json)


@branch_group.command("drop")
@click.argument("name", shell_complete=completions.branches)
@options.project
@options.yes
@options.as_json("an object: project, branch, changed (needs --yes)")
@options.in_vault
def drop(config: Config, name: str, project: str, yes: bool, as_json: bool) -> int:
    """Delete the notes that wait on the branch NAME. One commit; they stay in history until `mdmem purge`.

    \b
    Example:  mdmem branch drop experiment
    """
    options.refuse_to_ask(as_json=as_json, yes=yes)
    group = _chosen(config, name, project)
    count = plural.number(len(group.paths), "note")
    if not yes:
        options.confirm(f"Delete {count} of {render.safe(group.project)} that wait on {render.safe(name)}?")
    applied = branches.drop(config, group.paths, group.branch, upkeep.updater(config))
    return _print_done(group, applied, "Deleted", "", as_json=as_json)


def _print_done(group: staged.Waiting, applied: Applied, done: str, so: str, *, as_json: bool) -> int:
    """Print what was done with the notes, and so what; return the exit status."""
    if as_json:
        render.print_json({"project": group.project, "branch": group.branch, "changed": applied.changed})
        return status_of(applied)
    click.echo(f"{done} {plural.number(len(applied.changed), 'note')} of {render.safe(group.branch)}{so}.")
    return print_applied(applied)


def _chosen(config: Config, name: str, project: str) -> staged.Waiting:
    """Return the notes that wait on a branch."""
    groups = [group for group in staged.waiting(config) if group.branch == name and project in ("", group.project)]
    if not groups:
        raise NotFoundError(f"No notes wait on the branch {name!r:.80}. `mdmem branch list` shows the branches.")
    if len(groups) > 1:
        projects_here = place(config, str(Path.cwd())).projects
        groups = [group for group in groups if group.project in projects_here] or groups
    if len(groups) > 1:
        names = ", ".join(render.safe(group.project) for group in groups)
        raise UsageError(f"Several projects have a branch of that name ({names}). Choose one with --project NAME.")
    return groups[0]
