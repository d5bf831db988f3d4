"""What `import` shows: a preview, how far it is, and what came of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mdmem import timestamps
from mdmem.cli.terminal import render
from mdmem.views import wording
from mdmem.views.wording import number

if TYPE_CHECKING:
    from mdmem.transcripts.importer import Tally
    from mdmem.transcripts.markdown import MarkdownFolder
    from mdmem.transcripts.survey import Survey, SurveyRow

_SHOW_SECONDS = 0.1
_MANY = {"observation": "observations", "prompt": "prompts", "response": "answers", "summary": "summaries"}


def preview(surveys: list[Survey], folders: list[MarkdownFolder], files: int, known: int, *, as_json: bool) -> None:
    """Show what there is to import: projects, sessions, prompts, dates; `known` transcripts were imported before."""
    from mdmem.transcripts import survey

    rows = survey.rows(surveys)
    if as_json:
        projects = [
            {**row._asdict(), "first": timestamps.iso_time(row.first), "last": timestamps.iso_time(row.last)}
            for row in rows
        ]
        render.print_json({"projects": projects, "files": files, "known": known})
        return
    cells = [
        (row.project, row.agent, number(row.sessions, "session"), number(row.prompts, "prompt"), _days(row))
        for row in rows
    ]
    columns = (render.Column("bold"), render.PROJECT, render.NUMBER, render.NUMBER, render.WHEN)
    render.table(columns, cells)
    if rows:
        events = sum(one.events for one in surveys)
        click.echo(f"{number(len(surveys), 'session')}, at most {number(events, 'note')}.")
    for folder in folders:
        what = ", ".join(folder.files) if folder.follow and folder.files else "Markdown"
        click.echo(f"{what} in {render.safe(str(folder.root))} -> notes/imported/{folder.name}/")
    if files:
        click.echo(f"{number(files, 'markdown file')}.")
    if known:
        click.echo(f"{number(known, 'transcript')} imported before; --again imports them again.")
    if not (rows or files):
        click.echo("Nothing new to import.")


def _days(row: SurveyRow) -> str:
    first, last = wording.day(timestamps.iso_time(row.first)), wording.day(timestamps.iso_time(row.last))
    return first if first == last else f"{first} to {last}"


def summary(tally: Tally, before: int, *, as_json: bool, stopped: bool) -> None:
    """Show what came of an import; `before`: how many transcripts earlier runs had done."""
    if as_json:
        facts = {name: getattr(tally, name) for name in ("sessions", "known", "private", "failed")}
        skipped = {why: count for why, count in sorted(tally.skipped.items()) if count}
        facts |= {"added": dict(+tally.added), "skipped": skipped, "stopped": stopped, "before": before}
        render.print_json(facts)
        return
    if stopped:
        click.echo("Stopped. The next `mdmem import` continues from here.")
    click.echo(f"Imported {added(tally)}." if tally.added else "Nothing was new.")
    if tally.known:
        click.echo(f"{number(tally.known, 'note')} already stored.")
    if tally.private:
        click.echo(f"{number(tally.private, 'event')} of private turns left nothing.")
    if tally.failed:
        click.echo(f"{number(tally.failed, 'note')} could not be stored; `mdmem doctor` shows why.", err=True)
    passed = [(f"{count:,}", why) for why, count in tally.skipped.most_common() if count]
    if passed:
        click.echo("Passed over:")
        render.table((render.NUMBER, render.TITLE), passed)


def added(tally: Tally) -> str:
    """Return what is new: `2 sessions: 3 prompts, 14 observations`."""
    kinds = [
        f"{count:,} {_MANY[kind]}" if count > 1 and kind in _MANY else number(count, kind)
        for kind, count in sorted(tally.added.items())
        if count
    ]
    sessions = [number(tally.sessions, "session") + ":"] if tally.sessions else []
    return " ".join([*sessions, ", ".join(kinds)])


@contextmanager
def bar(what: str, size: int) -> Iterator[Callable[[int, str], None]]:
    """Show how far the work is, its rate and the time left, on stderr and only to a person."""
    if not sys.stderr.isatty() or not size:
        yield lambda _behind, _made: None
        return
    from rich import progress

    columns = (
        progress.TextColumn(what),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TransferSpeedColumn(),
        progress.TextColumn("{task.fields[made]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=render.console(stderr=True), transient=True) as shown_bar:
        task = shown_bar.add_task(what, total=size, made="")
        shown = 0.0

        def told(behind: int, made: str) -> None:
            nonlocal shown
            if time.monotonic() - shown > _SHOW_SECONDS:
                shown = time.monotonic()
                shown_bar.update(task, completed=behind, made=made)

        yield told
