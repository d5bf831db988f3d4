"""`archive`: the sessions of a past year, packed."""

from __future__ import annotations

import time

import click

from mdmem.cli import indexing
from mdmem.cli.terminal import options, progress
from mdmem.cli.terminal.render import print_json, safe
from mdmem.views import wording

SHOWN = 20


@click.command()
@click.argument("year", type=click.IntRange(1970, 9999), metavar="YEAR")
@click.option("--undo", is_flag=True, help="Unpack the year: every note becomes a file again.")
@click.option("--dry-run", "dry", is_flag=True, help="Only show what would be packed.")
@options.project
@options.as_json("an object: sessions, notes, left, commits")
@click.pass_obj
def archive(vault: str | None, year: int, undo: bool, dry: bool, project: str | None, as_json: bool) -> None:
    """Pack the sessions of a past YEAR, each into one Markdown file, and commit that.

    Notes keep their ids and paths: search, show, links and citations find each one as before, and no byte of them
    changes. Changing a packed note unpacks its session first. A session stays as it is when part of it is not
    committed, or when it holds other files.

    \b
    Example:  mdmem archive 2024
              mdmem archive 2024 --project notes-app --dry-run
              mdmem archive --undo 2024
    """
    from mdmem.history import commit
    from mdmem.history.space import archive as work
    from mdmem.views.vault_pages import upkeep as refreshing

    settings = options.settings(vault)
    with progress.ProgressBar("Unpacking" if undo else "Packing") as bar:
        if undo:
            done = work.unpack(settings, year, project=project or "", tell=bar.tell)
        else:
            done = work.pack(settings, year, project=project or "", now=time.time(), dry=dry, tell=bar.tell)
    if done.commits:
        indexing.leave_complete(settings)
        if refreshing.refresh(settings, now=time.time()):  # links lead to where the notes are now
            commit.commit(settings)
    if as_json:
        print_json({**done._asdict(), "left": [one._asdict() for one in done.left]})
        return
    counted = f"{wording.number(done.notes, 'note')} of {wording.number(done.sessions, 'session')}"
    if undo:
        click.echo(f"Unpacked {counted} of {year}.")
    else:
        click.echo(f"{'Would pack' if dry else 'Packed'} {counted} into {wording.number(done.sessions, 'file')}.")
    for one in done.left[:SHOWN]:
        click.secho(safe(f"{one.folder} stays as it is: {one.why}."), dim=True)
    if len(done.left) > SHOWN:
        click.secho(f"and {len(done.left) - SHOWN} more", dim=True)
