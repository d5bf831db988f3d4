"""`branch`: what waits on the code's branches; released when they are merged, or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import options, render
from mdmem.errors import NotFoundError, UsageError
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.rewrite import Applied
    from mdmem.search.index.view import View


class Waiting(NamedTuple):
    """The notes of a project that wait on one branch.

    paths: theirs, vault-relative. first, last: when the oldest and the newest was made.
    folders, commits: where they were made, and at which commits; the newest first.
    """

    project: str
    branch: str
    paths: list[str]
    first: str
    last: str
    folders: list[str]
    commits: list[str]


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
    found = [(one, fate(one)) for one in waiting(settings) if project in (None, one.project)]
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
            click.echo(_offer(one, state), err=True)


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


def _print_done(one: Waiting, done: Applied) -> int:
    render.print_json({"project": one.project, "branch": one.branch, "changed": done.changed})
    return 1 if done.skipped else 0


def waiting(settings: Config) -> list[Waiting]:
    """Find what waits, branch by branch, the one with the newest note first."""
    from mdmem.views import rows

    return rows.ask(settings, _in_view)


def hints(settings: Config) -> list[str]:
    """Return which branches have notes to be released, as far as the index knows without a look at the vault."""
    from mdmem.search import index

    try:
        view = index.current(settings)
    except index.DamagedError:
        return []  # the next search makes it anew
    return [_offer(one, state) for one in (_in_view(view) if view else ()) if (state := fate(one))]


def fate(one: Waiting) -> str:
    """Return what has become of a branch, where its code is on this machine; "" when nothing can be said."""
    from mdmem import project
    from mdmem.history import branches

    for folder in one.folders:
        found = project.identify(folder)
        if (found.branch or found.commit) and Path(found.root).is_dir():
            return branches.fate(found.root, one.branch, one.commits)
    return ""


def _offer(one: Waiting, state: str) -> str:
    count = plural.number(len(one.paths), "note")
    wait = f"{count} of {render.safe(one.project)} wait on {render.safe(one.branch)}, which is {state}"
    return f"{wait}: `mdmem branch merge {render.safe(one.branch)}` releases them, `drop` deletes them."


def _in_view(view: View) -> list[Waiting]:
    groups: dict[tuple[str, str], list[int]] = {}
    created = view.numbers("created")
    for number in sorted(view.notes("facet", "is:staged"), key=lambda number: (-created[number], view.path(number))):
        facts = view.facts(number)
        groups.setdefault((str(facts.get("project", "")), str(facts.get("staged", ""))), []).append(number)
    return [_group(view, *key, numbers) for key, numbers in groups.items()]


def _group(view: View, project: str, branch: str, numbers: list[int]) -> Waiting:
    facts = [view.facts(number) for number in numbers]
    paths = [view.path(number) for number in numbers]
    return Waiting(
        project,
        branch,
        sorted(paths),
        first=timestamps.iso_time(view.number("created", numbers[-1])),
        last=timestamps.iso_time(view.number("created", numbers[0])),
        folders=list(dict.fromkeys(str(Path(str(fact["cwd"])).expanduser()) for fact in facts if fact.get("cwd"))),
        commits=list(dict.fromkeys(str(fact["commit"]) for fact in facts if fact.get("commit"))),
    )


def _chosen(settings: Config, name: str, project: str) -> Waiting:
    """Find what waits on a branch."""
    from mdmem.search import staged

    found = [one for one in waiting(settings) if one.branch == name and project in ("", one.project)]
    if not found:
        raise NotFoundError(f"No notes wait on a branch {name!r:.80}. `mdmem branch list` shows what waits.")
    if len(found) > 1:
        here = staged.place(settings, str(Path.cwd())).projects
        found = [one for one in found if one.project in here] or found
    if len(found) > 1:
        names = ", ".join(render.safe(one.project) for one in found)
        raise UsageError(f"Several projects have a branch of that name ({names}). Choose one with --project NAME.")
    return found[0]
