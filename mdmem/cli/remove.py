"""`forget`, `purge`, `archive`: delete notes, delete text from history, pack the notes of a past year."""

from __future__ import annotations

import re
import shlex
import time
from typing import TYPE_CHECKING

import click

from mdmem import plural
from mdmem.cli.terminal import completions, options, progress
from mdmem.cli.terminal.outcome import print_applied, status_of
from mdmem.cli.terminal.render import print_json, print_outcome, safe, warn
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.history import forget as forgetting
from mdmem.history.forget import Target
from mdmem.vault import note
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from mdmem.history.purging.purge import Purged, PurgePlan

SHOWN = 20


@click.command()
@click.argument("names", metavar="ID|PATH|SESSION", nargs=-1, shell_complete=completions.notes_and_sessions)
@click.option("--matching", metavar="WORDS", default="", help="Only notes that contain exactly these words.")
@options.window
@options.whole_project
@options.yes
@options.as_json("an object: forgotten, skipped, for_good, kept (needs --yes)")
@options.in_vault
def forget(
    config: Config,
    /,
    names: tuple[str, ...],
    matching: str,
    project: str,
    yes: bool,
    as_json: bool,
    **when: str,
) -> int:
    """Delete notes; naming a session deletes all of its notes. They stay in history until `mdmem purge`.

    A session page that you have written on is kept with only your words; name its path to delete it.

    \b
    Example:  mdmem forget 7gk2q9m4x1
              mdmem forget --project old-prototype --until 52w
              mdmem forget --matching 'the falcon project'
    """
    if not (names or matching or project or any(when.values())):
        raise UsageError("Name what to forget: an id, a path, a session, or --matching, --since, --until or --project.")
    options.refuse_to_ask(as_json=as_json, yes=yes)
    with progress.ProgressBar("Looking for notes", shown=not as_json):
        span, gone = options.span(when), list[str]()
        targets = forgetting.plan(config, names, span=span, project=project, matching=matching, gone=gone)
        worded = forgetting.worded_pages(config, targets)
    for sentence in gone:
        warn(sentence)
    if as_json:
        return _forget_as_json(config, targets, worded)
    if not targets:
        click.echo("No note matches; nothing was forgotten.")
        return 0
    for target in targets[:SHOWN]:
        name = target.id or note.id_of_path(target.path)
        click.echo(safe(f"{name:10} {wording.day(target.created):10} {target.title or target.path}"))
    if len(targets) > SHOWN:
        click.echo(f"and {len(targets) - SHOWN} more")
    for path in worded:
        click.echo(f"You have written on {safe(path)}: it is kept with only your words. Name its path to delete it.")
    if not yes:
        options.confirm(f"Forget {plural.number(len(targets), 'note')}?")
    return _forget(config, targets, yes=yes)


def _forget_as_json(config: Config, targets: list[Target], worded: list[str]) -> int:
    lost = forgetting.keep(config, [target.path for target in targets]) if targets else set()
    applied = forgetting.apply(config, targets, upkeep.updater(config)) if targets else None
    changed, skipped = (applied.changed, applied.skipped) if applied else ([], [])
    for_good = sorted(lost.intersection(changed))
    print_json({"forgotten": changed, "skipped": skipped, "for_good": for_good, "kept": worded})
    return status_of(applied) if applied else 0


def _forget(config: Config, targets: list[Target], *, yes: bool) -> int:
    """Delete notes, and print how to restore them; return the exit status."""
    with progress.ProgressBar("Committing") as bar:
        lost = forgetting.keep(config, [target.path for target in targets], bar.step)
    if lost:
        _warn_of_loss(sorted(lost), ask=not yes)
    with progress.ProgressBar("Deleting") as bar, progress.stoppable(bar.step, "Deleting") as report:
        applied = forgetting.apply(config, targets, upkeep.updater(config), report)
    status = print_applied(applied)
    if applied.result.commits and len(lost) < len(targets):
        undo = [f"`mdmem undo {commit.oid[:8]}`" for commit in reversed(applied.result.commits)]
        brings = f"bring{'s' * (len(undo) == 1)} {'it' if len(targets) == 1 else 'them'}"
        click.echo(f"{', '.join(undo)} {brings} back.")
    return status


def _warn_of_loss(paths: list[str], *, ask: bool) -> None:
    """Warn of notes that cannot be restored, because the privacy gate or a person keeps them out of history."""
    for path in paths[:SHOWN]:
        click.secho(
            f"{safe(path)} is not in history: it holds private text or a secret, or stays on this machine.", fg="yellow"
        )
    if ask:
        options.confirm(f"Delete {plural.number(len(paths), 'such note')} for good?")


@click.command()
@click.argument("target", metavar="TARGET")
@click.option("--regex", "kind", flag_value="regex", help="TARGET is a regular expression.")
@click.option("--id", "kind", flag_value="id", help="TARGET is a note's id.")
@click.option(
    "--history-only", "kind", flag_value="path", help="TARGET is a file or folder; remove it from history only."
)
@click.option("--apply", "really", is_flag=True, help="Make the changes; without this, they are only shown.")
@options.yes
@options.as_json(
    "an object: files, objects, caches, other_case; with --apply: files, commits, objects_searched, left, elsewhere"
)
@options.with_config
def purge(config: Config, target: str, kind: str | None, really: bool, yes: bool, as_json: bool) -> int:
    """Remove TARGET, a text, from the notes, the caches and every commit, and prove that it is gone.

    Shows what would be done; --apply does it. Rewriting history needs the extra: pip install 'mdmem[purge]'.

    With `-` as TARGET, it is asked for, or read from stdin, and so in neither the shell's history nor the list of
    processes.

    \b
    Example:  mdmem purge 'the old password' --apply
              mdmem purge - --apply
    """
    from mdmem.history.purging import purge as work

    if target == "-":
        target = options.hidden_text("What to purge")
    with progress.ProgressBar("Searching", shown=not as_json) as bar:
        planned = work.plan(config, target, kind=kind or "text", report=bar.step)
    found = planned.found
    if not as_json:
        _print_plan(planned)
        if found.other_case:
            pattern = shlex.quote(f"(?i){re.escape(target)}")
            places = plural.number(found.other_case, "file or object contains", "files and objects contain")
            click.echo(f"{places} it in other letter case: mdmem purge --regex {safe(pattern)} finds these too.")
    is_found = any((found.files, found.objects, found.caches, planned.drop, planned.rename))
    if not really or not is_found:
        text = "Nothing was changed. --apply does it." if is_found else "Found nowhere: there is nothing to purge."
        print_outcome(text, work.Purged([], 0, 0, [], []) if really else found, as_json=as_json)
        return 1 if yes and not really else 0  # --yes without --apply: the caller expected a change
    if not yes:
        options.confirm("This rewrites every commit and cannot be undone. Continue?")
    with progress.ProgressBar("Rewriting history", shown=not as_json) as bar:
        purged = work.apply(config, planned, bar.step)
    if as_json:
        print_json(purged)
    else:
        _print_purged(purged)
    return 1 if purged.left else 0


def _print_plan(planned: PurgePlan) -> None:
    found = planned.found
    for path, count in found.files.items():
        click.echo(f"{count:6}  {safe(path)}")
    for path in planned.drop:
        click.echo(f"delete  {safe(path)}")
    for old, new in _renames(planned.rename).items():
        click.echo(f"rename  {safe(old)} → {safe(new)}")
    objects, caches = plural.number(found.objects, "object"), plural.number(len(found.caches), "state file")
    click.echo(f"Found in {objects} in git and {caches}.")


def _renames(paths: dict[str, str]) -> dict[str, str]:
    """Return the new name of each folder and file that is renamed; a whole path where the depth changes."""
    new_names: dict[str, str] = {}
    for old, new in paths.items():
        before, after = old.split("/"), new.split("/")
        if len(before) != len(after):
            new_names[old] = new
            continue
        for depth, (old_part, new_part) in enumerate(zip(before, after, strict=True), 1):
            if old_part != new_part:
                new_names["/".join(before[:depth])] = new_part
    return new_names


def _print_purged(purged: Purged) -> None:
    click.echo(
        f"Changed {plural.number(len(purged.files), 'file')} and rewrote {plural.number(purged.commits, 'commit')}."
    )
    if purged.left:
        for sentence in purged.left:
            click.secho(safe(sentence), fg="red", err=True)
    else:
        click.secho(
            f"Proof: searched {plural.number(purged.objects_searched, 'object')}; none contains it.", fg="green"
        )
    for sentence in purged.elsewhere:
        click.echo(safe(sentence))


@click.command()
@click.argument("year", type=options.WholeNumber(1970, 9999), metavar="YEAR")
@click.option("--undo", is_flag=True, help="Unpack the year: every note becomes a file again.")
@click.option("--dry-run", "dry", is_flag=True, help="Only show what would be packed.")
@options.project
@options.as_json("an object: sessions, notes, left, commits")
@options.in_vault
def archive(config: Config, year: int, undo: bool, dry: bool, project: str, as_json: bool) -> int:
    """Pack the sessions of a past YEAR, each into one Markdown file, and commit that.

    Notes keep their ids and paths: search, show, links and citations find each one as before, and no byte of them
    changes. Changing a packed note unpacks its session first. A session stays as it is when part of it is not
    committed, or when it holds other files.

    \b
    Example:  mdmem archive 2024
              mdmem archive 2024 --project notes-app --dry-run
              mdmem archive --undo 2024
    """
    from mdmem.cli import indexing
    from mdmem.history import commit
    from mdmem.history.space import archive as work

    with progress.ProgressBar("Unpacking" if undo else "Packing", shown=not as_json) as bar:
        if undo:
            result = work.unpack(config, year, project=project, report=bar.step)
        else:
            result = work.pack(config, year, project=project, now=time.time(), dry=dry, report=bar.step)
    if result.commits:
        indexing.leave_complete(config, quiet=as_json, goes_on=True)
        with progress.ProgressBar("Making pages", shown=not as_json) as bar:
            if upkeep.refresh(config, now=time.time()):  # links must point to where the notes are now
                commit.commit(config, report=bar.step)
    status = 1 if undo and result.left else 0  # only a damaged archive stays packed
    if as_json:
        print_json(result)
        return status
    counted = f"{plural.number(result.notes, 'note')} of {plural.number(result.sessions, 'session')}"
    if not (result.sessions or result.left):
        click.echo(f"No session of {year} {'is packed' if undo else 'can be packed'}; nothing was changed.")
    elif undo:
        click.echo(f"Unpacked {counted} of {year}.")
    else:
        click.echo(f"{'Would pack' if dry else 'Packed'} {counted} into {plural.number(result.sessions, 'file')}.")
    for session in result.left[:SHOWN]:
        click.secho(safe(f"{session.folder} stays as it is: {session.why.removesuffix('.')}."), dim=not undo)
    if len(result.left) > SHOWN:
        click.secho(f"and {len(result.left) - SHOWN} more", dim=True)
    return status
