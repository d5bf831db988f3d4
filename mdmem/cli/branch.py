"""`branch`: notes that wait on code branches, to be released or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem import plural
from mdmem.cli.terminal import options, render
from mdmem.errors import NotFoundError, UsageError
from mdmem.views import staged, wording
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import Applied


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
@options.as_json("an array of objects with project, branch, notes, first, last, state")
@options.in_vault
def list_branches(settings: Config, project: str | None, as_json: bool) -> None:
    """List the branches on which notes wait.

    \b
    Example:  mdmem branch list
    """
    found = [(one, staged.fate(one)) for one in staged.waiting(settings) if project in (None, one.project)]
    if as_json:
        keys = ("project", "branch", "first", "last")
        objects = [
            {**{key: getattr(one, key) for key in keys}, "notes": len(one.paths), "state": state}
            for one, state in found
        ]
        render.print_json(objects)
        return
    if not found:
        click.echo("No notes wait on a branch.")
    columns = (render.Column("bold"), render.PROJECT, render.NUMBER, render.WHEN, render.Column("yellow"))
    rows = [
        (one.branch, one.project, plural.number(len(one.paths), "note"), wording.day(one.last), state)
        for one, state in found
    ]
    render.table(columns, rows)
    for one, state in found:
        if state:
            click.echo(render.safe(staged.offer(one, state)), err=True)


@branch_group.command("merge", short_help="Release the notes that wait on the branch NAME.")
@click.argument("name", shell_complete=options.branches)
@options.project
@options.as_json("an object: project, branch, changed")
@options.in_vault
def merge(settings: Config, name: str, project: str | None, as_json: bool) -> int:
    """Release the notes that wait on the branch NAME: every branch sees them from now on. One commit.

    \b
    Example:  mdmem branch merge feature/dates
    """
    from mdmem.cli.commits import print_applied
    from mdmem.history import branches

    one = _chosen(settings, name, project or "")
    done = branches.release(settings, one.paths, one.branch)
    if as_json:
        return _print_done(one, done)
    click.echo(
        f"Released {plural.number(len(done.changed), 'note')} of {render.safe(one.branch)}: all branches see them."
    )
    return print_applied(done)


@branch_group.command("drop")
@click.argument("name", shell_complete=options.branches)
@options.project
@options.yes
@options.as_json("an object: project, branch, changed; needs --yes")
@options.in_vault
def drop(settings: Config, name: str, project: str | None, yes: bool, as_json: bool) -> int:
    """Delete the notes that wait on the branch NAME. One commit; they stay in history until `mdmem purge`.

    \b
    Example:  mdmem branch drop experiment
    """
    from mdmem.cli.commits import print_applied
    from mdmem.history import branches

    options.refuse_to_ask(as_json=as_json, yes=yes)
    one = _chosen(settings, name, project or "")
    count = plural.number(len(one.paths), "note")
    if not yes:
        options.confirm(f"Delete {count} of {render.safe(one.project)} that wait on {render.safe(name)}?")
    done = branches.drop(settings, one.paths, one.branch, upkeep.updater(settings))
    if as_json:
        return _print_done(one, done)
    click.echo(f"Deleted {plural.number(len(done.changed), 'note')} of {render.safe(one.branch)}.")
    return print_applied(done)


def _print_done(one: staged.Waiting, done: Applied) -> int:
    render.print_json({"project": one.project, "branch": one.branch, "changed": done.changed})
    return 1 if done.skipped else 0


def _chosen(settings: Config, name: str, project: str) -> staged.Waiting:
    """Return the notes that wait on a branch."""
    from mdmem.search.staged import place

    found = [one for one in staged.waiting(settings) if one.branch == name and project in ("", one.project)]
    if not found:
        raise NotFoundError(f"No notes wait on the branch {name!r:.80}. `mdmem branch list` shows the branches.")
    if len(found) > 1:
        here = place(settings, str(Path.cwd())).projects
        found = [one for one in found if one.project in here] or found
    if len(found) > 1:
        names = ", ".join(render.safe(one.project) for one in found)
        raise UsageError(f"Several projects have a branch of that name ({names}). Choose one with --project NAME.")
    return found[0]
