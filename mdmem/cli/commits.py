"""`commit`, `log`, `why`, `diff`, `undo`: the vault's history."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem import plural, timestamps
from mdmem.cli import listing
from mdmem.cli.terminal import completions, extent, options, pager, progress, render, startup
from mdmem.cli.terminal.outcome import print_applied, print_result, status_of
from mdmem.cli.terminal.render import print_json, safe
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.progress import listeners
from mdmem.vault import journal, layout, note, projects
from mdmem.views.vault_pages import upkeep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.cli.terminal.render import Piece
    from mdmem.config import Config
    from mdmem.history.session_log import LoggedSession, Stat
    from mdmem.history.why import Origin


@click.command()
@options.value("--session", "ID", "Only what this session wrote: its id or its beginning.", completions.sessions)
@options.several("--accept", "PATH", "Commit this file even if the gate holds it back.")
@click.option("--quiet", is_flag=True, help="Print nothing unless it fails, and pack the repository when needed.")
@options.as_json("an object: commits, held_back, staged, left_out")
@options.with_config
def commit(config: Config, session: str, accept: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Commit the vault's new and changed notes: a commit for each session, and one for people's changes.

    Files beside notes are committed if they lie in notes/ or a note links to them, up to sync.max_file_mb; the
    others are listed. A file whose text the privacy rules would change is held back and listed (status 1).

    \b
    Example:  mdmem commit --session 00893aaf
    """
    from mdmem.capture.later import failing
    from mdmem.capture.later import upkeep as checking
    from mdmem.history import commit as work
    from mdmem.history.git import tidy
    from mdmem.history.scan import ScanMode
    from mdmem.views import conversation
    from mdmem.watcher import client

    if quiet:
        listeners.clear()
    bar = progress.ProgressBar("Reading transcripts", shown=not (quiet or as_json))
    with failing.recorded(config, "commit", time.time()), bar:
        projects.refuse_emptied(config)
        _catch_up(config, quiet=quiet)
        is_time = quiet and checking.look_after(config, time.time())
        if Path(config.vault).is_dir():
            bar.step("Making pages")
            upkeep.refresh(config, now=time.time(), background=quiet, may_wait=not quiet)
        mode = ScanMode(quiet, partial(client.touched, config))
        only = conversation.id_of(config, session) if session else None
        result = work.commit(config, session=only, accept=accept, mode=mode, report=bar.step)
    if quiet:
        tidy.tidy(config)
        if is_time:
            tidy.remove_abandoned(config)
            _update_index(config)
        return 1 if result.held_back else 0
    if as_json:
        print_json({key: getattr(result, key) for key in ("commits", "held_back", "staged", "left_out")})
        return 1 if result.held_back else 0
    if not (result.commits or result.held_back or result.staged):
        click.echo("Nothing to commit.")
    return print_result(result)


def _catch_up(config: Config, *, quiet: bool) -> None:
    """Import what is missing of the sessions that hooks have marked, and the agents' own memory."""
    from mdmem import log
    from mdmem.capture.later import transcript_queue
    from mdmem.transcripts import host_memory
    from mdmem.vault import exclusions

    if exclusions.is_off(config, "", os.environ):
        return
    folder = Path(transcript_queue.folder(config))
    if folder.is_dir() and any(folder.iterdir()):
        from mdmem.history import deletions
        from mdmem.transcripts import late

        late.catch_up(config, os.environ, deletions.find_all(config))
    if config.settings.capture.host_memory and Path(config.vault).is_dir():
        try:
            host_memory.follow(config, os.environ, startup.here() if quiet else "")
        except (MdmemError, OSError) as error:
            log.write(config, "the agent's own memory could not be read", error)


def _update_index(config: Config) -> None:
    """Index what is new: injection has no time to index a large vault that was just imported or cloned."""
    from mdmem.search import index

    try:
        index.update(config, wait_seconds=0)
    except (MdmemError, OSError):
        pass  # the next search does it, or reports why not


@click.command()
@options.project
@options.window
@click.option("--file", metavar="PATH", default="", help="Only sessions that changed a file whose path contains this.")
@options.one_session
@options.agent
@click.option("--failed", is_flag=True, help="Only sessions in which something failed.")
@options.offset
@options.limit(20)
@click.option("--oneline", is_flag=True, help="One line per session.")
@click.option("--stat", is_flag=True, help="List the vault's commits and how many files each touched.")
@options.as_json(
    f"an array of objects: {options.SESSION_KEYS}; with --stat: oid, time, subject, session, added, changed, deleted"
)
@options.in_vault
@pager.paged
def log(
    config: Config,
    /,
    offset: int,
    limit: int,
    oneline: bool,
    stat: bool,
    failed: bool,
    as_json: bool,
    **given: str,
) -> None:
    """Show the journal, newest session first: what was asked, how it ended, which files changed.

    \b
    Example:  mdmem log --since 1w --project acme-notes-app
    """
    span = options.span(given)
    filters = {key: given[key] for key in ("project", "file", "session", "agent")}
    if stat:
        commits = _within(_commits_of_sessions(config, filters, failed=failed, shown=not as_json), *span)
        _print_stats(commits, offset, limit, as_json=as_json)
        return
    shown, tell = listing.some_sessions(config, span, offset, limit, failed=failed, as_json=as_json, **filters)
    if as_json:
        print_json(shown)
    elif oneline:
        for session in shown:
            when = timestamps.readable(session.started)
            name = journal.session_tag(session.session)
            said = f"{safe(session.project)}: {safe(session.title)}"
            render.hanging([(f"{when} ", "dim"), (f"{name:8} ", "yellow")], [(said, "")])
    else:
        for lead, *rest in _journal(shown):
            render.hanging([lead], rest)
    tell()


def _commits_of_sessions(config: Config, filters: dict[str, str], *, failed: bool, shown: bool) -> Iterator[Stat]:
    """Return the vault's commits, with filters only those of the sessions that they select. shown: with progress."""
    from mdmem.history import session_log
    from mdmem.views import sessions

    if not (failed or any(filters.values())):
        return session_log.stats(config)
    with progress.ProgressBar("Reading sessions", shown=shown):
        chosen = {session.session for session in sessions.logged(config, "", "", failed=failed, **filters)}
    return (commit for commit in session_log.stats(config) if commit.session in chosen)


def _within(stats: Iterator[Stat], first: str, last: str) -> Iterator[Stat]:
    start, end = (datetime.fromisoformat(text) if text else None for text in (first, last))
    times = ((commit, datetime.fromisoformat(commit.time)) for commit in stats)
    return (commit for commit, time in times if (start is None or time >= start) and (end is None or time < end))


def _print_stats(stats: Iterator[Stat], offset: int, limit: int, *, as_json: bool) -> None:
    shown, has_more = extent.part(stats, offset, limit)
    if as_json:
        print_json(shown)
    for one in () if as_json else shown:
        counts = [f"{sign}{count}" for sign, count in zip("+~-", one[4:], strict=True) if count]
        when = timestamps.readable(one.time)
        told = [(safe(one.subject), ""), *((f" {count}", "dim") for count in counts)]
        render.hanging([(f"{one.oid[:8]} ", "yellow"), (f"{when} ", "dim")], told)
    extent.print_extent("commit", len(shown), offset + len(shown) if shown and not has_more else None, offset=offset)


def _began(session: LoggedSession) -> tuple[str, str]:
    """Return the local day and time at which a session began; its folder's if it was not that day anywhere."""
    if layout.may_begin(session.folder, timestamps.epoch(session.started)):
        day, _, clock = timestamps.readable(session.started).partition(" ")
        return day, clock
    name = session.folder.rpartition("/")[2]
    return session.day, f"{name[:2]}:{name[2:4]}" if name[:4].isdigit() else session.started[11:16]


def _journal(sessions: Iterable[LoggedSession]) -> Iterator[list[Piece]]:
    """Yield the lines of the journal: each is what precedes it, and its text, which may be wrapped."""
    day = ""
    for session in sessions:
        began_on, clock = _began(session)
        if began_on != day:
            if day:
                yield [("", "")]
            day = began_on
            yield [("", ""), (day, "bold")]
        code = " at ".join(part for part in (session.branch, session.commit) if part)
        facts = " · ".join(part for part in (session.project, code, journal.session_tag(session.session)) if part)
        yield [(f"  {clock}  ", ""), (safe(session.title), "bold"), (f"  {safe(facts)}", "dim")]
        asks = session.asks[1:] if session.asks[:1] == [session.title] else session.asks
        yield from ([_BELOW, (safe(ask), "")] for ask in asks)
        if session.outcome:
            yield [("       → ", "green"), (safe(session.outcome), "green")]
        if session.commits:
            yield [_BELOW, (f"committed {safe(session.commits)}", "dim")]
        if session.files:
            yield [_BELOW, (safe(plural.some(session.files, 6)), "dim")]


_BELOW: Piece = (" " * 9, "")
"""What precedes a line that belongs to the session above."""


@click.command()
@click.argument("name", metavar="PATH[:LINE]|ID[:LINE]", shell_complete=completions.notes)
@options.as_json(
    "an object: path, line, text, id, kind, title, created, session, agent, project, ask, tool,"
    " branch, code_commit, made_commit, line_commit, steps"
)
@options.in_vault
def why(config: Config, name: str, as_json: bool) -> None:
    """Show where a note, or one of its lines, came from, and who has edited it since.

    \b
    Example:  mdmem why notes/decision.md:12
    """
    from mdmem.history import why as work
    from mdmem.search import index

    head, colon, line = name.rpartition(":") if name.rpartition(":")[2].isdigit() else (name, "", "")
    path = index.path_of_id(config, head)
    origin = work.why(config, f"{path}{colon}{line}" if path else name)
    if as_json:
        print_json(origin)
        return
    _print_origin(origin)


def _print_origin(origin: Origin) -> None:
    rows = [
        ("note", origin.title),
        ("file", origin.path),
        (
            "captured" if layout.session_of(origin.path) else "written",
            f"{timestamps.readable(origin.created)} {origin.agent}".strip(),
        ),
        ("project", origin.project),
        ("session", origin.session),
        ("asked", origin.ask),
        ("tool", origin.tool),
        ("code", " at ".join(part for part in (origin.branch, origin.code_commit) if part)),
        ("committed", origin.made_commit),
    ]
    if origin.line:
        last_commit = origin.line_commit
        rows += [(f"line {origin.line}", origin.text)]
        last_change = "not committed yet"
        if last_commit:
            last_change = f"{timestamps.readable(last_commit.time)} {last_commit.author}: {last_commit.subject}"
        rows += [("last changed", last_change)]
    for name, value in rows:
        if value:
            render.hanging([(f"{name:>12}  ", "dim")], [(safe(value), "")])
    for step in origin.steps:
        who = "captured" if step.session else f"by {step.author}"
        said = f"{timestamps.readable(step.time)} {safe(who)}: {safe(step.subject)}"
        render.hanging([(f"{step.oid[:8]:>12}  ", "yellow")], [(said, "")])


@click.command()
@click.argument("span", metavar="[A..B]", default="")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@options.as_json("an array of objects: path, patch")
@options.with_config
def diff(config: Config, span: str, paths: tuple[str, ...], as_json: bool) -> None:
    """Show what changed in the vault, or in files of it: since the last commit, since A, or from A to B (commits or
    dates).

    \b
    Example:  mdmem diff 2026-09-01..2026-09-14
              mdmem diff 3d notes/plan.md
              mdmem diff 6drpz9va77
    """
    from mdmem.history import past

    if _is_file(config, span) or _path_of_id(config, span):
        span, paths = "", (span, *paths)
    paths = tuple(_path_of_id(config, path) or layout.typed_path(config.vault, path) or path for path in paths)
    lines = past.diff(config, span, paths=paths)
    if as_json:
        print_json(past.patches(lines))
        return
    count = 0
    for count, data in enumerate(lines, 1):  # noqa: B007 - used after the loop
        line = data.decode("utf-8", "replace").removesuffix("\r")
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.secho(safe(line), fg=color, bold=line.startswith(("diff ", "+++", "---")) or None)
    if not count:
        where = f" in {safe(', '.join(paths))}" if paths else ""
        click.echo(f"Nothing has changed{where}.", err=True)


def _is_file(config: Config, typed: str) -> bool:
    path = Path(config.vault, layout.typed_path(config.vault, typed) if typed else "")
    return path.is_file() or (path.is_dir() and "/" in typed)


def _path_of_id(config: Config, typed: str) -> str:
    """Return the path of the note with this whole id, "" if there is none, or if a commit or time is named so."""
    from mdmem.history import find
    from mdmem.history.git import repository

    if not note.is_made_id(note.id_in_reference(typed)):
        return ""
    try:
        find.commit_of(repository.open_vault(config.vault), typed)
    except UsageError:
        with suppress(NotFoundError):
            return find.path_of(config, typed)
    return ""


@click.command()
@click.argument("target", metavar="SESSION|COMMIT", shell_complete=completions.sessions)
@options.yes
@options.as_json("an object: changed, skipped, kept, deleted (needs --yes)")
@options.with_config
def undo(config: Config, target: str, yes: bool, as_json: bool) -> int:
    """Undo a session or a commit. Later changes are kept and listed. `latest` is the last session.

    \b
    Example:  mdmem undo 00893aaf
              mdmem undo latest
    """
    from mdmem.history import undo as work
    from mdmem.views import conversation

    options.refuse_to_ask(as_json=as_json, yes=yes)
    if target in conversation.LATEST:
        target = conversation.id_of(config, target)
    with progress.ProgressBar("Reading commits", shown=not as_json) as bar:
        planned = work.plan(config, target, bar.step)
    if as_json:
        applied = work.apply(config, planned, upkeep.updater(config)) if planned.steps else None
        changed, skipped = (applied.changed, applied.skipped) if applied else ([], [])
        print_json({"changed": changed, "skipped": skipped, "kept": planned.kept, "deleted": [*planned.deleted]})
        return status_of(applied) if applied else 0
    for oid, subject in planned.commits:
        click.echo(f"{oid[:8]} {safe(subject)}")
    gone = sum(step.after is None for step in planned.steps)
    counted = f"{plural.number(gone, 'file')} to delete, {len(planned.steps) - gone} to restore."
    click.echo(counted if planned.steps else "Nothing of it is left to undo.")
    for path in planned.kept:
        click.secho(f"Kept, because you wrote or changed it: {safe(path)}", fg="yellow")
    for path in planned.deleted:
        click.secho(f"Not restored, because it was deleted: {safe(path)}", fg="yellow")
    if not planned.steps:
        return 0
    if not yes:
        options.confirm("Undo this?")
    with progress.ProgressBar("Undoing") as bar, progress.stoppable(bar.step, "Undoing") as report:
        applied = work.apply(config, planned, upkeep.updater(config), report)
    return print_applied(applied)
