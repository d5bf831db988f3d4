"""`forget` and `purge`: deleting notes, and truly deleting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mdmem import config
from mdmem.cli import wording
from mdmem.cli.history import page_of, print_applied, print_json
from mdmem.cli.render import safe
from mdmem.errors import UsageError

if TYPE_CHECKING:
    from mdmem.history.purge import Plan, Purged

SHOWN = 20


@click.command()
@click.argument("names", metavar="ID|PATH|SESSION", nargs=-1)
@click.option("--matching", metavar="WORDS", default="", help="Only what holds these very words.")
@click.option("--before", metavar="WHEN", default="", help="Only what is older: 2026-01-01, 52w.")
@click.option("--project", metavar="NAME", default="", help="Only this project's.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def forget(vault: str | None, names: tuple[str, ...], matching: str, before: str, project: str, yes: bool) -> int:
    """Delete notes; a session takes its notes along. They stay in history until `mdmem purge`.

    \b
    Example:  mdmem forget 7gk2q9m4x1
              mdmem forget --project old-prototype --before 52w
              mdmem forget --matching 'the falcon project'
    """
    from mdmem.history import forget as work

    if not (names or matching or before or project):
        raise UsageError("Say what to forget: an id, a path, a session, or --matching, --before and --project.")
    settings = config.load(vault)
    start = wording.begin_of(before) if before else ""
    targets = work.plan(settings, names, before=start, project=project, matching=matching)
    if not targets:
        click.echo("No note fits, so nothing was forgotten.")
        return 0
    for target in targets[:SHOWN]:
        click.echo(f"{target.id or '-':10} {target.created[:10]:10} {safe(target.title or target.path)}")
    if len(targets) > SHOWN:
        click.echo(f"and {len(targets) - SHOWN} more")
    if not yes:
        click.confirm(f"Forget {wording.number(len(targets), 'note')}?", abort=True)
    return print_applied(work.apply(settings, targets, page_of(settings)))


@click.command()
@click.argument("target", metavar="TEXT|REGEX|ID|PATH")
@click.option("--regex", "kind", flag_value="regex", help="TARGET is a regular expression.")
@click.option("--id", "kind", flag_value="id", help="TARGET is a note's id.")
@click.option("--history-only", "kind", flag_value="path", help="TARGET, a file or folder, leaves only history.")
@click.option("--apply", "really", is_flag=True, help="Do it; without this, only what would be done is shown.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
@click.pass_obj
def purge(vault: str | None, target: str, kind: str | None, really: bool, yes: bool, as_json: bool) -> int:
    """Remove a text from the notes, the caches and every commit, and prove that it is gone.

    Shows what would be done; --apply does it. Rewriting history needs the extra: pip install 'mdmem[purge]'.

    \b
    Example:  mdmem purge 'the old password' --apply
    """
    from mdmem.history import purge as work

    settings = config.load(vault)
    planned = work.plan(settings, target, kind=kind or "text")
    if not as_json:
        _print_plan(planned)
    if not really:
        if as_json:
            print_json({"files": planned.files, "objects": planned.objects, "caches": planned.caches})
        else:
            click.echo("Nothing was changed. --apply does it.")
        return 0
    if not yes:
        click.confirm("This rewrites every commit and cannot be undone. Go on?", abort=True)
    done = work.apply(settings, planned)
    if as_json:
        print_json(done._asdict())
    else:
        _print_purged(done)
    return 1 if done.left else 0


def _print_plan(planned: Plan) -> None:
    for path, count in planned.files.items():
        click.echo(f"{count:5}  {safe(path)}")
    for path in planned.drop:
        click.echo(f" goes  {safe(path)}")
    for old, new in planned.rename.items():
        click.echo(f"named  {safe(old)} → {safe(new)}")
    click.echo(f"{planned.objects} objects of git and {len(planned.caches)} files of state hold it.")


def _print_purged(done: Purged) -> None:
    click.echo(f"{len(done.files)} files were changed and {done.commits} commits rewritten.")
    if done.left:
        for sentence in done.left:
            click.secho(safe(sentence), fg="red", err=True)
    else:
        click.secho(f"Proof: {done.objects_searched} objects were unpacked and searched; it is in none.", fg="green")
    for sentence in done.elsewhere:
        click.echo(safe(sentence))
