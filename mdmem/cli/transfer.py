"""`sync`, `clone`, `export`, `backup`: memory on other machines and in other forms."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem import config, plural
from mdmem.cli.terminal import completions, options, progress
from mdmem.cli.terminal.render import print_json, safe, warn
from mdmem.errors import MdmemError, UsageError, VaultError
from mdmem.history.git import part as parts
from mdmem.vault import layout, projects
from mdmem.views import wording
from mdmem.views.vault_pages import upkeep
from mdmem.watcher import client

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.history.sync import Synced
    from mdmem.views.exports import ExportCounts


_REMOTE = "origin"


@click.command()
@click.argument("remote", default=_REMOTE)
@click.option("--every", metavar="TIME", help="Let the watcher sync this often: 10m, 2h; off: never.")
@click.option("--whole", is_flag=True, help="First fetch the rest of a vault that was cloned in part.")
@options.as_json("an object: received, sent, conflicts, held_back, private, refused, told, kept, undeleted, branch")
@options.with_config
def sync(config: Config, remote: str, every: str | None, whole: bool, as_json: bool) -> int:
    """Commit, fetch, merge and push, with any git remote. Nothing is lost: the remote's history is replaced only
    after a purge, and even then new notes from other machines are kept.

    Where two machines changed the same line, the note keeps both versions, and `mdmem review` asks which one stays
    (status 1).

    \b
    Example:  git -C ~/mdmem remote add origin git@example.org:me/memory.git
              mdmem sync
              mdmem sync --every 10m
    """
    from mdmem.capture.later import failing
    from mdmem.history import sync as work
    from mdmem.history.scan import ScanMode
    from mdmem.search import index
    from mdmem.search.index import completion

    if every is not None:
        minutes = 0 if every.lower() in ("off", "never", "0") else round(wording.seconds_of(every) / 60)
        _sync_every(config, minutes)
        return 0
    brought = _bring_rest(config, as_json=as_json) if whole else 0
    mode = ScanMode(touched=partial(client.touched, config))
    bar = progress.ProgressBar("Making pages", shown=not as_json)
    is_recorded = remote == _REMOTE  # the watcher syncs with no other
    with failing.recorded(config, "sync", time.time()) if is_recorded else nullcontext(), bar:
        projects.refuse_emptied(config)
        if Path(config.vault).is_dir():
            upkeep.refresh(config, now=time.time(), background=True, may_wait=True)
        synced = work.sync(config, remote, mode, bar.step)
        if index.takes_memory(config, len(synced.received)):
            from mdmem.system import memory  # slow to load, and not needed by every sync

            memory.release_free_memory()
            bar.step("Indexing")
            completion.run(config)
        if synced.received or brought:
            bar.step("Making pages")
            if upkeep.refresh(config, now=time.time()):
                later = work.sync(config, remote, mode, bar.step)  # so that other machines need not make them
                synced = synced.with_later(later)
    if as_json:
        fields = synced._asdict() | {"received": list(synced.received)}
        print_json({"told" if name == "remaining_advice" else name: value for name, value in fields.items()})
    else:
        _tell(synced, remote)
    return 1 if synced.conflicts or synced.held_back or synced.kept else 0


def _tell(synced: Synced, remote: str) -> None:
    """Print what a sync did, and what is left for the user to decide."""
    received, sent = plural.number(len(synced.received), "file"), plural.number(synced.sent, "commit")
    click.echo(safe(f"Received {received} from {remote}, sent {sent} to its branch {synced.branch}."))
    if synced.private:
        what = plural.number(synced.private, "note stays", "notes stay")
        click.secho(f"{what} on this machine (sync: false).", dim=True)
    for sentence in synced.remaining_advice:
        click.secho(safe(sentence), fg="yellow")
    for held_back in synced.held_back:
        warn(str(held_back))
    for place in synced.kept:
        what = f"Both machines changed {place.what} of {place.path}; both versions are kept."
        warn(f"{what} `mdmem review` asks which one stays.")
    for path in synced.undeleted:
        why = f"{path} was deleted on one machine and changed on the other, so it stays."
        warn(f"{why} To delete it all the same: mdmem forget {shlex.quote(path)}")
    for path in synced.conflicts:
        other_version = f"the other version is beside {path}, with .conflict- in its name"
        warn(f"Both machines changed {path}: {other_version}. Delete one.")
    for path in synced.refused:
        is_odd = parts.can_be(path)
        why = "it is not a regular file, as a link or a submodule" if is_odd else "this system does not allow its name"
        todo = " A merge on this machine drops it from the history: put the files themselves in its place there."
        warn(f"Skipped the remote's {path}: {why}.{todo if is_odd else ''}")


def _bring_rest(config: Config, *, as_json: bool) -> int:
    from mdmem.cli import indexing
    from mdmem.history.git import repository
    from mdmem.history.space import checkout

    with progress.ProgressBar("Fetching", shown=not as_json) as bar:
        count = checkout.complete(repository.open_vault(config.vault), config.state_dir, bar.step)
    if not as_json:
        click.echo(f"Fetched the rest of the vault: {plural.number(count, 'file')}.")
    indexing.leave_complete(config, quiet=as_json)
    return count


def _sync_every(loaded: Config, minutes: int) -> None:
    """Set in the user's own config.toml how often the watcher syncs, and print the effect."""
    from mdmem.cli.setup import config_file

    file = config.user_file(os.environ)
    config_file.change(file, "sync.every", minutes, "0")
    if not minutes:
        click.echo(f"The watcher no longer syncs (sync.every = 0 in {file}).")
        return
    click.echo(f"The watcher syncs every {plural.number(minutes, 'minute')} (sync.every = {minutes} in {file}).")
    if not client.status(loaded)["running"]:
        click.echo(
            "No watcher is running. `mdmem watch --background` starts one; `mdmem install service`, one at every login."
        )


@click.command()
@click.argument("url")
@click.argument("path", required=False, type=click.Path(file_okay=False))
@click.option("--since", metavar="TIME", help="Only sessions since this time: 2026, 2026-09-14, 52w.")
@options.several(
    "--project projects", "NAME", "Only sessions of this project: its name or a part of it.", completions.projects
)
@options.as_json("an object: vault, since, projects")
@click.pass_obj
def clone(
    vault: str | None, url: str, path: str | None, since: str | None, projects: tuple[str, ...], as_json: bool
) -> None:
    """Set up this machine with a vault from a remote, at PATH (default: the vault in use, else ~/mdmem).

    With --since or --project, it checks out only a part of the vault: those sessions, and all notes. That part syncs
    both ways, and the rest is not deleted elsewhere; `mdmem sync --whole` fetches it.

    \b
    Example:  mdmem clone git@example.org:me/memory.git
              mdmem clone git@example.org:me/memory.git --since 2026 --project app
    """
    from mdmem.agents.install import catalog
    from mdmem.cli import indexing
    from mdmem.history import other_files
    from mdmem.history.merging import join
    from mdmem.history.space import clone as work

    root = Path(config.load(path or vault).vault)
    day = wording.day(wording.begin_of(since)) if since else ""
    part = parts.VaultPart(day, projects)
    with progress.ProgressBar("Fetching", shown=not as_json) as bar:
        repo = work.clone(url, root, part if any(part) else None, bar.step)
    part = parts.of(str(root)) or part  # with the projects' whole names
    is_empty = {entry.name for entry in root.iterdir()} == {".git"}
    if not (is_empty or layout.is_vault(str(root))):
        place = shlex.quote(str(root))
        raise VaultError(
            f"The repository was cloned to {root}, but is not a vault: it has neither mdmem.toml nor a journal. If its"
            f" files are notes, run `mdmem init --inside {place}`; else delete that folder."
        )
    loaded = config.load(str(root))
    received = () if is_empty else (name for name, _ in join.files(repo, "HEAD"))
    for sentence in other_files.of_programs(received, loaded.settings):
        warn(sentence)
    indexing.leave_complete(loaded, quiet=as_json)
    if as_json:
        print_json({"vault": str(root), "since": day, "projects": part.projects})
        return
    if is_empty:
        begin = f"mdmem init {shlex.quote(str(root))}"
        click.echo(f"The remote is empty. Run `mdmem sync` where the notes are, then here; or start with `{begin}`.")
        return
    click.echo(f"The vault is at {root}. Next: {catalog.advice()} registers the hooks here.")
    if any(part):
        click.echo(safe(f"This is only a part of it ({part}); `mdmem sync --whole` fetches the rest."))


@click.command()
@click.argument("target", metavar="FILE|site DIR", nargs=-1, required=True)
@click.option(
    "--format", "form", type=click.Choice(["zip", "jsonl", "html", "sqlite"]), help="Default: from FILE's ending."
)
@options.project
@options.window
@click.option("--local", is_flag=True, help="Include notes with `sync: false`, for use on this machine.")
@options.as_json("an object: path, notes, pages, private")
@options.in_vault
def export(
    config: Config,
    /,
    target: tuple[str, ...],
    form: str | None,
    project: str,
    local: bool,
    as_json: bool,
    **when: str,
) -> None:
    """Write notes to FILE: a page to read (.html), a database (.db), lines of JSON (.jsonl) or an archive (.zip).
    With `-` as FILE and --format, write to stdout.

    `mdmem export site DIR` writes a searchable site of plain files: open its index.html; no server is needed.
    Only you can read a folder that it makes; an empty folder that you made keeps its permissions.

    Notes that stay on this machine, as their front matter or their project's page has `sync: false` or `private: true`,
    are left out and counted.

    \b
    Example:  mdmem export week.html --since 1w
              mdmem export site ~/memory-site --project notes-app
              mdmem export vault.db
              mdmem export - --format jsonl | jq .title
    """
    start, end = options.span(when)
    to_stdout = target == ("-",)
    if to_stdout and as_json:
        raise UsageError("--json does not go with `-`: the notes themselves are written to stdout.")
    with progress.ProgressBar("Writing", shown=not as_json) as bar:
        count, message = _export(
            config, target, form, project=project, since=start, until=end, local=local, report=bar.step
        )
    if as_json:
        print_json({"path": str(Path(target[-1])), **count._asdict()})
        return
    click.echo(message, err=to_stdout)
    if count.private:
        left_out = plural.number(count.private, "note that stays", "notes that stay")
        how = "" if local else " `--local` includes those with `sync: false`."
        warn(f"Left out {left_out} on this machine.{how}")


def _export(config: Config, target: tuple[str, ...], form: str | None, **filters: Any) -> tuple[ExportCounts, str]:
    """Write the export; return how much it has, and the message."""
    from mdmem.views import exports

    with suppress(MdmemError, OSError):  # a vault that cannot be written or indexed is still exported
        upkeep.refresh(config, now=time.time())
    path = Path(target[-1]).absolute()
    if target[0] == "site" and len(target) == 2 and form is None:
        count = exports.site(config, path, **filters)
        return count, f"{plural.number(count.notes, 'note')}: open {path / 'index.html'}"
    if len(target) > 1:
        raise UsageError("Name one file, or `site` and a folder.")
    if target[0] == "site" and form is None:
        raise UsageError("Name the folder for the site: mdmem export site DIR")
    if target == ("-",):
        if form is None:
            raise UsageError("Name the format for stdout: mdmem export - --format jsonl")
        count = exports.write(config, path, form, stdout=sys.stdout.buffer, **filters)
        return count, f"{_counted(count, form)}."
    ending = path.suffix[1:].lower()
    form = form or exports.FORMS.get(ending, ending)
    count = exports.write(config, path, form, **filters)
    return count, f"{_counted(count, form)} in {path}."


def _counted(count: ExportCounts, form: str) -> str:
    """Return how much a file has. A page to read has no pages of sessions: it is made like them."""
    pages = f" and {plural.number(count.pages, 'page')}" if count.pages and form != "html" else ""
    return f"{plural.number(count.notes, 'note')}{pages}"


MOST_MISSING = 10
"""Number of files that a backup lists as not included; a project that stays here may have thousands."""


@click.command()
@click.argument("target", metavar="PATH", type=click.Path(dir_okay=False, path_type=Path))
@options.as_json("an object: path, bytes, commits, missing")
@options.with_config
def backup(config: Config, target: Path, as_json: bool) -> None:
    """Write the whole history into one verified file. `git clone PATH` restores it.

    \b
    Example:  mdmem backup ~/memory-2026-09-14.bundle
    """
    from mdmem.history import export as work

    with progress.ProgressBar("Writing the history", shown=not as_json):
        written = work.backup(config, target)
    if as_json:
        print_json(written)
        return
    count = plural.number(written.commits, "commit is", "commits are")
    click.echo(f"{count} in {written.path} ({written.bytes:,} bytes), verified.")
    for path in written.missing[:MOST_MISSING]:
        warn(f"Not included, because it is not committed: {path}")
    if more := len(written.missing[MOST_MISSING:]):
        warn(f"{plural.number(more, 'more file is', 'more files are')} not included; --json lists all.")
