"""`index`: update, rebuild or verify the index."""

from __future__ import annotations

import click

from mdmem import plural
from mdmem.capture import queued, retry_queue
from mdmem.capture.queued import Flush
from mdmem.cli.terminal import options, progress, render
from mdmem.config import Config
from mdmem.errors import MdmemError, VaultError
from mdmem.search import index as engine
from mdmem.search.index import NEW, Changes, Report, completion
from mdmem.vault import projects
from mdmem.views import wording

WAIT_SECONDS = 600.0
"""How long an update waits for another process that writes the index: one that builds it takes minutes."""


@click.command()
@click.option("--rebuild", is_flag=True, help="Delete the index and rebuild it.")
@click.option("--verify", is_flag=True, help="Compare it with every file, and repair what differs.")
@options.as_json(
    "an object: added, changed, removed, rebuilt, reason, complete, written, waiting;"
    " with --verify: notes, missing, extra, stale, doubled, damage, agrees, written, waiting"
)
@options.in_vault
def index(config: Config, rebuild: bool, verify: bool, as_json: bool) -> None:
    """Update the index from the files. Every search does this by itself.

    It first writes queued notes: those that could not be written to the vault before.

    \b
    Example:  mdmem index --verify
    """
    projects.refuse_emptied(config)  # the index of its notes is still good
    with progress.ProgressBar("Writing queued notes", shown=not as_json):
        home = queued.flush(config)
    with progress.ProgressBar("Verifying" if verify else "Indexing", shown=not as_json) as bar:
        if verify:
            report = engine.verify(config, progress=bar.report)
            text, value = _of_report(report), {**report._asdict(), "agrees": report.agrees}
        else:
            if rebuild:
                changes = engine.rebuild(config, progress=bar.report)
            else:
                changes = engine.update(config, progress=bar.report, wait_seconds=WAIT_SECONDS)
            text, value = _of_changes(changes), changes._asdict()
    completion.record_complete(config)
    if as_json:
        render.print_json({**value, "written": home.written, "waiting": len(retry_queue.waiting(config))})
    else:
        if home.written:
            click.echo(f"{plural.number(home.written, 'note')} written from the retry queue.")
        click.echo(text)
    _refuse_rest(config, home)


def _refuse_rest(config: Config, home: Flush) -> None:
    """Raise VaultError when queued notes could not be written."""
    folder = retry_queue.folder(config)
    waiting = len(retry_queue.waiting(config))
    problems = []
    if home.damaged:
        count = plural.number(home.damaged, "queued note is", "queued notes are")
        problems.append(f"{count} damaged, and lost: see the files that end in .damaged in {folder}.")
    if waiting and home.problem:
        count = plural.number(waiting, "note still waits", "notes still wait")
        problems.append(
            f"{count} in the retry queue, because the vault cannot take them: {wording.cause(home.problem)}. "
            "`mdmem doctor` names what to do; then run `mdmem index` again."
        )
    if problems:
        raise VaultError(" ".join(problems))


def leave_complete(config: Config, *, quiet: bool = False, goes_on: bool = False) -> None:
    """Index what a command added to the vault, so that the next prompt finds it.

    goes_on: the command has more to do; in a large vault another process indexes, so that the memory is freed.
    """
    with progress.ProgressBar("Indexing", shown=not quiet) as bar:
        try:
            if goes_on:
                engine.update_in_process(config)
            else:
                engine.update(config, progress=bar.report)
        except (MdmemError, OSError) as error:
            click.echo(f"mdmem: The index is incomplete ({error}); `mdmem index` finishes it.", err=True)


def _of_changes(changes: Changes) -> str:
    if not (changes.added or changes.changed or changes.removed or changes.rebuilt):
        return "The index is up to date."
    is_news = changes.rebuilt and changes.reason != NEW
    counts = ((changes.added, "added"), (changes.changed, "changed"), (changes.removed, "removed"))
    parts = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "no notes"
    return f"Indexed: {parts}." + (f" Rebuilt the index: {changes.reason}." if is_news else "")


def _of_report(report: Report) -> str:
    if report.agrees:
        return f"The index matches the vault: {plural.number(report.notes, 'file')}, all hashes match."
    if report.damage:
        return f"The index could not be read ({report.damage}) and was rebuilt."
    kinds = ("missing", "extra", "stale", "doubled")
    parts = ", ".join(f"{len(getattr(report, kind))} {kind}" for kind in kinds if getattr(report, kind))
    return f"The index differed from the vault ({parts}) and was rebuilt."
