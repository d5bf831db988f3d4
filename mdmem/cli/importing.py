"""`import`: memory from before the first hook, and from agents without hooks."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import completions, options, progress, render
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.transcripts import claude_mem, host_memory, markdown, sources, survey
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import, Tally
from mdmem.transcripts.markdown import MarkdownFolder
from mdmem.transcripts.sources import Transcript, Watched
from mdmem.transcripts.survey import Survey, SurveyRow
from mdmem.vault import exclusions, projects

POLL_SECONDS = 2.0
"""Seconds between checks for new transcripts with `--follow`."""


class ImportRequest(NamedTuple):
    """The options and arguments of an import.

    first, last: the bounds in time, 0.0 for none. limit: maximum number of sessions (0: no limit).
    """

    paths: tuple[Path, ...] = ()
    project: str = ""
    first: float = 0.0
    last: float = 0.0
    limit: int = 0
    dry_run: bool = False
    again: bool = False
    follow: bool = False
    yes: bool = False
    as_json: bool = False

    @property
    def chooses(self) -> bool:
        """Whether only some sessions are selected."""
        return bool(self.project or self.first or self.last or self.limit)

    @property
    def looks(self) -> bool:
        """Whether transcripts are surveyed before they are imported: for a preview or a selection."""
        return self.dry_run or self.chooses or not self.yes


class ImportPlan(NamedTuple):
    """What an import will read.

    surveys: what the transcripts contain, if they were surveyed. files: number of files in the folders. known:
    number of transcripts imported before. found, at: all transcripts on this machine, and when they were listed.
    """

    transcripts: list[Transcript]
    surveys: list[Survey]
    folders: list[MarkdownFolder]
    files: int
    known: int
    found: list[Transcript]
    at: float


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@options.value("--project", "NAME", "Only this project; globs allowed.", completions.projects, default="")
@options.window
@options.limit(0, "sessions")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and store nothing.")
@click.option("--again", is_flag=True, help="Import everything again, including sessions that you deleted.")
@click.option("--follow", is_flag=True, help="Keep running and store what agents save, until Ctrl-C.")
@options.yes
@options.as_json(
    "an object: sessions, completed, known, private, failed, added, skipped, stopped, before;"
    " with --dry-run: projects, files, known, deleted"
)
@options.in_vault
def import_(config: Config, /, **values: Any) -> None:
    """Import transcripts that agents saved, or folders of markdown, at PATH (default: all that this machine has).

    Without PATH, it also imports the agents' own memory files and the CLAUDE.md, AGENTS.md and GEMINI.md of you and
    your projects, and follows them from then on (`mdmem config set capture.host_memory false` turns that off).

    Transcripts of Claude Code, Codex, Gemini CLI, Copilot CLI and OpenCode become the notes that hooks would have
    stored, with their original times; sessions that hooks stored are completed. A folder of markdown, such as an
    Obsidian vault, is copied to notes/imported/. PATH may also be an unpacked export from ChatGPT or Claude.ai,
    claude-mem's memory (~/.claude-mem), or the JSON file of another memory tool (`mdmem help import` lists them).
    Private sections and secrets are removed from everything. --since, --until and --on select sessions by their last
    event.

    \b
    Example:  mdmem import --dry-run
              mdmem import --project notes-app --since 4w
              mdmem import ~/Documents/obsidian
    """
    when = {name: values.pop(name) for name in ("since", "until", "on")}
    first, last = (timestamps.epoch(bound) if bound else 0.0 for bound in options.span(when))
    request = ImportRequest(**values, first=first, last=last)
    if request.as_json and not (request.yes or request.dry_run):
        raise UsageError("--json cannot ask: add --yes or --dry-run.")
    _refuse_when_off(config)
    imported = ImportedFiles(config, again=request.again)
    plan = _plan(config, imported, request)
    _refuse_the_vault(config, plan.folders)
    if request.dry_run or not request.yes:
        _preview(plan, _deleted(config, imported, plan), as_json=request.as_json)
    if not (request.paths or request.as_json):
        _tell_of_claude_mem(imported)
    is_empty = not (plan.transcripts or plan.files)
    if request.dry_run or (is_empty and not request.yes and not request.follow):
        return
    if not request.yes and not is_empty:
        options.confirm("Import this?", default=True, err=True)
    from mdmem.cli import indexing
    from mdmem.history import review

    with progress.presses_of_ctrl_c() as stopped:
        before = None if is_empty else review.begin_import(config)
        tally = _import(config, imported, request, plan, stopped)
        indexing.leave_complete(config)
        review.end_import(config, before)
        _summary(config, tally, plan.known, as_json=request.as_json, stopped=bool(stopped()))
        if request.follow:
            _follow(config, imported, request, plan, stopped)
        elif stopped():
            sys.exit(130)
        elif tally.failed:
            sys.exit(1)


def _refuse_when_off(config: Config) -> None:
    if exclusions.is_off(config, "", os.environ):
        raise UsageError("Storing is switched off. Run `mdmem resume` to end a pause, or unset MDMEM_DISABLED.")


def _refuse_the_vault(config: Config, folders: list[MarkdownFolder]) -> None:
    vault = Path(config.vault)
    for folder in folders:
        root = folder.root.resolve()
        if root.is_relative_to(vault) or (vault.is_relative_to(root) and not folder.files):
            raise UsageError(f"{root} and the vault contain each other, so its notes are in the vault already.")


# -- what there is ---------------------------------------------------------------------------------


def _plan(config: Config, imported: ImportedFiles, request: ImportRequest) -> ImportPlan:
    """Find what there is to import; survey transcripts for a preview or a selection."""
    at = time.time()
    try:
        source = sources.find(request.paths, os.environ)
    except NotFoundError:
        if not request.follow or not all(path.expanduser().is_dir() for path in request.paths):
            raise
        source = sources.TranscriptSource([], [])  # the first session may appear later
    todo = [
        transcript
        for transcript in source.transcripts
        if not imported.has(transcript.path, transcript.size, transcript.changed_ns)
    ]
    already_imported = len(source.transcripts) - len(todo)
    surveys: list[Survey] = []
    if request.looks:
        surveys = _selected_surveys(config, todo, request)
        todo = [survey.transcript for survey in surveys]
    folders = _memory_folders(config, request, (survey.cwd for survey in surveys), source.folders)
    files = {
        folder: sum(not imported.has_now(folder.root / name) for name in markdown.files(folder)) for folder in folders
    }
    folders = [folder for folder, count in files.items() if count]
    if request.chooses and folders:
        click.echo(
            "mdmem: --project, --limit and times select sessions only, so folders of markdown are skipped.", err=True
        )
        folders = []
    return ImportPlan(
        todo, surveys, folders, sum(files[folder] for folder in folders), already_imported, source.transcripts, at
    )


def _memory_folders(
    config: Config, request: ImportRequest, places: Iterable[str], named: Iterable[MarkdownFolder] = ()
) -> list[MarkdownFolder]:
    """Return the agents' own memory: of this folder, of the sessions' folders, and what is followed already.

    named: folders given on the command line, which replace all that.
    """
    record = host_memory.FollowRecord(config)
    if request.paths:
        return host_memory.apart(record, named)
    is_followed = config.settings.capture.host_memory
    return host_memory.offered(config, os.environ, record, [str(Path.cwd()), *places]) if is_followed else []


def _selected_surveys(config: Config, transcripts: list[Transcript], request: ImportRequest) -> list[Survey]:
    """Survey the transcripts that changed since the first time, and return those that a request selects."""
    recent = [transcript for transcript in transcripts if transcript.changed_ns / 1e9 >= request.first]
    total_bytes = sum(transcript.size for transcript in recent)
    now, read_bytes = time.time(), 0
    roots = projects.roots(config)
    surveys = []
    with progress.ProgressBar("Looking", in_bytes=True) as bar:
        for transcript in recent:
            surveyed = survey.survey(transcript, now, roots)
            surveys += [surveyed] if surveyed else []
            read_bytes += transcript.size
            bar.report(read_bytes, total_bytes)
    return survey.choose(surveys, request.project, (request.first, request.last), request.limit)


# -- importing -------------------------------------------------------------------------------------


def _import(
    config: Config, imported: ImportedFiles, request: ImportRequest, plan: ImportPlan, stopped: Callable[[], int]
) -> Tally:
    size = sum(transcript.size for transcript in plan.transcripts)
    with progress.ProgressBar("Importing", in_bytes=True) as bar:
        run = _start_run(config, imported, stopped)
        run.report_bytes = lambda behind: bar.report(behind, size, plural.number(sum(run.tally.added.values()), "note"))
        run.transcripts(plan.transcripts, time.time())
    folders = plan.folders
    if not (request.paths or request.looks):
        folders = _memory_folders(config, request, run.places)  # the sessions' folders are known only now
    with progress.ProgressBar("Importing files") as bar:
        run.folders(folders, bar.step)
    if not stopped():
        host_memory.remember(host_memory.FollowRecord(config), folders)
    return run.tally


def _start_run(config: Config, imported: ImportedFiles, stopped: Callable[[], int]) -> Import:
    """Start a run that leaves out what history records as deleted or purged."""
    from mdmem.history import deletions
    from mdmem.history.purging import purge_record

    deleted = None if imported.again else deletions.find_all(config)
    return Import(
        config, imported, os.environ, stopped=stopped, deleted=deleted, purged=purge_record.was_purged(config),
        imported_before=tuple if imported.again else partial(deletions.imported_before, config),
    )  # fmt: skip


def _follow(
    config: Config, imported: ImportedFiles, request: ImportRequest, plan: ImportPlan, stopped: Callable[[], int]
) -> None:
    """Import changed transcripts, checking every `POLL_SECONDS`, until stopped."""
    watched = Watched(plan.found, plan.at)
    click.echo("Following. Press Ctrl-C to stop.", err=True)
    while not stopped():
        _wait(stopped)
        now = time.time()
        changed = watched.changed(_transcripts_at(request.paths), now)
        if changed and request.project:
            roots = projects.roots(config)
            surveys = [surveyed for transcript in changed if (surveyed := survey.survey(transcript, now, roots))]
            changed = [chosen.transcript for chosen in survey.choose(surveys, request.project)]
        if not changed:
            continue
        run = _start_run(config, imported, stopped)
        run.transcripts(changed, now)
        if run.tally.added:
            click.echo(f"{time.strftime('%H:%M:%S')}  {_added(run.tally)}")
        _warn_of_failed(config, run.tally)


def _transcripts_at(paths: tuple[Path, ...]) -> list[Transcript]:
    try:
        return sources.find(paths, os.environ).transcripts
    except NotFoundError:
        return []  # it may appear later


def _wait(stopped: Callable[[], int]) -> None:
    deadline = time.monotonic() + POLL_SECONDS
    while not stopped() and time.monotonic() < deadline:
        time.sleep(0.1)


_MANY = {"response": "answers", "summary": "summaries"}


def _deleted(config: Config, imported: ImportedFiles, plan: ImportPlan) -> tuple[int, int]:
    """Return how many sessions, and notes of files, a person has deleted, so that they stay away."""
    if imported.again or not (plan.surveys or plan.folders):
        return 0, 0
    run = _start_run(config, imported, lambda: 0)
    sessions = survey.count_deleted(plan.surveys, run.deleted.sessions if run.deleted else {})
    return sessions, run.count_gone(plan.folders)


def _preview(plan: ImportPlan, deleted: tuple[int, int], *, as_json: bool) -> None:
    """Print what would be imported: projects, sessions, prompts, dates. deleted: as `_deleted` returns it."""
    rows = survey.rows(plan.surveys)
    if as_json:
        projects = [
            {**row._asdict(), "first": timestamps.iso_time(row.first), "last": timestamps.iso_time(row.last)}
            for row in rows
        ]
        render.print_json({"projects": projects, "files": plan.files, "known": plan.known, "deleted": sum(deleted)})
        return
    columns = (render.Column("bold"), render.PROJECT, render.NUMBER, render.NUMBER, render.WHEN)
    render.table(columns, map(_row, rows))
    if rows:
        events = sum(survey_of.events for survey_of in plan.surveys)
        click.echo(
            f"{plural.number(sum(row.sessions for row in rows), 'session')}, at most {plural.number(events, 'note')}."
        )
    for folder in plan.folders:
        is_named = folder.holds_memories or (folder.follow and folder.files)
        names = ", ".join(folder.files) if is_named else "Markdown"
        click.echo(f"{names} in {render.safe(str(folder.root))} -> notes/imported/{folder.name}/")
    if plan.files:
        only = not any(folder.holds_memories for folder in plan.folders)
        click.echo(f"{plural.number(plan.files, 'markdown file' if only else 'file')}.")
    gone = [plural.number(count, what) for count, what in zip(deleted, ("session", "note"), strict=True) if count]
    if gone:
        click.echo(f"You deleted or moved {' and '.join(gone)} of these, which will stay away; --again imports them.")
    if plan.known:
        _tell_known(plan.known)
    if not (rows or plan.files):
        where = "" if plan.known else " `mdmem help import` says what it finds."
        click.echo(f"Nothing new to import.{where}")


def _tell_of_claude_mem(imported: ImportedFiles) -> None:
    """Print how to import claude-mem's memory if it has more than was imported: only a person knows if it is wanted."""
    path = claude_mem.newest(os.environ)
    session = sources.transcript_of(claude_mem.SOURCES[0], path) if path else None
    if session and not imported.has(session.path, session.size, session.changed_ns):
        folder = shlex.quote(str(session.path.parent.parent))
        click.echo(f"claude-mem's memory is imported only by name: mdmem import {folder}", err=True)


def _tell_known(count: int) -> None:
    what = plural.number(count, "transcript")
    click.echo(f"{what} imported before; --again imports them again, as after the vault was restored from a backup.")


def _row(row: SurveyRow) -> tuple[str, ...]:
    first, last = (timestamps.local_day(at) for at in (row.first, row.last))
    days = first if first == last else f"{first} to {last}"
    return row.project, row.agent, plural.number(row.sessions, "session"), plural.number(row.prompts, "prompt"), days


def _summary(config: Config, tally: Tally, before: int, *, as_json: bool, stopped: bool) -> None:
    """Print the result of an import. before: number of transcripts that earlier runs imported."""
    if as_json:
        facts = {name: getattr(tally, name) for name in ("sessions", "completed", "known", "private", "failed")}
        skipped = {why: count for why, count in sorted(tally.skipped.items()) if count}
        facts |= {"added": dict(+tally.added), "skipped": skipped, "stopped": stopped, "before": before}
        render.print_json(facts)
        return
    if stopped:
        click.echo("Stopped. The next `mdmem import` continues from here.")
    is_new = any(tally.added.values())
    if tally.completed:
        click.echo(f"Completed {plural.number(tally.completed, 'note')}.")
    if is_new or not (tally.failed or tally.completed or stopped):
        click.echo(f"Imported {_added(tally)}." if is_new else "Nothing new to import.")
    if before and not is_new:
        _tell_known(before)
    if tally.known > tally.completed:
        click.echo(f"{plural.number(tally.known - tally.completed, 'note')} already stored.")
    if tally.private:
        click.echo(f"{plural.number(tally.private, 'event')} of private turns skipped.")
    _warn_of_failed(config, tally)
    passed = [(f"{count:,}×", why) for why, count in tally.skipped.most_common() if count]
    if passed:
        click.echo("Passed over:")
        render.table((render.NUMBER, render.TITLE), passed)


def _warn_of_failed(config: Config, tally: Tally) -> None:
    if tally.unremembered:
        render.warn(
            f"{plural.number(tally.unremembered, 'event')} not stored: what is private in them cannot be remembered"
            f" in {config.state_dir}. `mdmem doctor` shows why; then run the import again."
        )
    if others := tally.failed - tally.unremembered:
        render.warn(f"{plural.number(others, 'note')} could not be stored; `mdmem doctor` shows why.")


def _added(tally: Tally) -> str:
    """Return what is new: `2 sessions: 3 prompts, 14 observations`."""
    kinds = [plural.number(count, kind, _MANY.get(kind, "")) for kind, count in sorted(tally.added.items()) if count]
    sessions = [plural.number(tally.sessions, "session") + ":"] if tally.sessions else []
    return " ".join([*sessions, ", ".join(kinds)])
