"""`stats`: what is in the vault, as bars, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import click

from mdmem import plural, timestamps
from mdmem.cli.terminal import options, render
from mdmem.config import Config
from mdmem.errors import UsageError
from mdmem.search.expansion import ledger
from mdmem.views import figures, wording

MOST_DAYS = 14
MOST_ROWS = 8
BAR_CHARS, NARROW_BAR_CHARS = 24, 12
"""Length of the longest bar, normally and on a terminal narrower than `NARROW` columns."""
NARROW = 60


@click.command()
@options.filters
@click.option("--model", is_flag=True, help="Show each model call instead (none is made unless you enable it).")
@click.option("--hours", is_flag=True, help="With --model: sum the calls by hour instead of by day.")
@options.as_json(
    "an object: notes, sessions, pinned, first, last, kinds, projects, days, tools,"
    " failures, files, kept_out, storage, injections, model_calls"
)
@options.in_vault
def stats(config: Config, /, model: bool, hours: bool, as_json: bool, **given: Any) -> None:
    """Count notes by kind, project and day; files, failures, what was kept out, what was injected, storage.

    The pages of sessions and projects are files, and not counted as notes.

    \b
    Example:  mdmem stats --since 1w --project notes-app
    """
    if hours and not model:
        raise UsageError("--hours needs --model.")
    if model:
        other_options = [f"--{key.rstrip('_')}" for key, value in given.items() if value]
        if other_options:
            raise UsageError(f"--model lists every call; it does not go with {other_options[0]}.")
        _print_ledger(ledger.read(config), hours=hours, as_json=as_json)
        return
    counts = figures.count(config, options.query(given))
    if as_json:
        render.print_json(counts)
        return
    summary = _summary(counts) or ("No matching notes." if any(given.values()) else wording.none_yet(config))
    render.block([(summary, "")], 0)
    _print_counts(counts)


def _print_counts(counts: dict[str, Any]) -> None:
    """Print what was counted, section by section."""
    _bars("Kinds", counts["kinds"].items())
    _bars("Projects", counts["projects"].items())
    _bars("Days", _recent(counts["days"]), most=MOST_DAYS)
    _bars("Tools", counts["tools"].items())
    _bars("Failures", counts["failures"].items())
    _bars("Files changed most", counts["files"].items())
    _heading("Kept out")
    render.block([(_kept_out(counts["kept_out"]), "")], 2)
    _heading("Injected")
    render.block([(_injected(counts["injections"]), "")], 2)
    _bars(
        "Cited most",
        ((f"{memory['id']}  {memory['title']}", memory["cited"]) for memory in counts["injections"]["used"]),
    )
    if counts["model_calls"]:
        _heading("Model")
        click.echo(f"  {plural.number(counts['model_calls'], 'call')}: mdmem stats --model")
    _heading("Storage")
    render.block([(_storage(counts["storage"]), "")], 2)


def _summary(counts: dict[str, Any]) -> str:
    if not counts["notes"]:
        return ""
    span = f"{wording.day(counts['first'])} to {wording.day(counts['last'])}"
    pinned = f", {counts['pinned']} pinned" if counts["pinned"] else ""
    return f"{plural.number(counts['notes'], 'note')}{pinned}, {plural.number(counts['sessions'], 'session')}, {span}"


def _recent(days: dict[str, int]) -> list[tuple[str, int]]:
    """Return the last days that the notes span, including days without a note."""
    if not days:
        return []
    tomorrow = timestamps.local_day(options.now() + 86_400)  # what is later was dated by a wrong clock
    last = date.fromisoformat(max([day for day in days if day <= tomorrow], default=max(days)))
    span = (last - date.fromisoformat(min(days))).days + 1
    days_shown = [last - timedelta(days=days_ago) for days_ago in range(min(span, MOST_DAYS))]
    return [(day.isoformat(), days.get(day.isoformat(), 0)) for day in reversed(days_shown)]


def _bars(title: str, counts: Iterable[tuple[str, int]], most: int = MOST_ROWS) -> None:
    rows = list(counts)
    if not rows:
        return
    top = max(count for _, count in rows)
    _heading(title)
    columns = (render.Column(gives=True), render.NUMBER, render.Column("blue"))
    screen = render.terminal()
    chars = NARROW_BAR_CHARS if screen and screen.width < NARROW else BAR_CHARS
    drawn = [(name, f"{count:,}", render.bar(count, top, chars)) for name, count in rows[:most]]
    render.table(columns, drawn, "  ")
    if len(rows) > most:
        click.echo(f"  and {len(rows) - most} more")


def _heading(title: str) -> None:
    render.write([[], [(title, "bold")]])


def _kept_out(counts: dict[str, int]) -> str:
    if not counts["notes"]:
        return "nothing"
    sections = plural.number(counts["private"], "private section")
    return f"{sections} and {plural.number(counts['redacted'], 'secret')}, in {plural.number(counts['notes'], 'note')}"


def _injected(counts: dict[str, Any]) -> str:
    if not counts["times"]:
        return "nothing yet"
    memories = plural.number(counts["memories"], "memory")
    times = plural.number(counts["times"], "time")
    cited = f"{counts['cited']} {'was' if counts['cited'] == 1 else 'were'} cited"
    return f"{memories} in {times} (about {counts['tokens']:,} tokens), of which {cited} in an answer"


def _storage(sizes: dict[str, int]) -> str:
    parts = ", ".join(f"{name} {wording.size(sizes[name])}" for name in ("notes", "git", "index", "state"))
    return f"{plural.number(sizes['files'], 'file')}: {parts}"


def _print_ledger(calls: list[dict[str, Any]], *, hours: bool, as_json: bool) -> None:
    """Print the model calls: each one as JSON, or for people the sums by caller and day or hour."""
    if as_json:
        render.print_json(calls)
        return
    if not calls:
        click.echo("No model has been called.")
        return
    head = ("hour" if hours else "day", "caller", "calls", "answered", "characters sent", "received", "seconds")
    sums = [
        tuple(f"{value:,}" if isinstance(value, int) else str(value) for value in row)
        for row in ledger.summed(calls, hours=hours)
    ]
    columns = (render.WHEN, render.Column(), *[render.NUMBER] * 5)
    render.table(columns, [head, *sums])
