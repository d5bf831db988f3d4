"""The home screen, shown by plain `mdmem`: whether it records, today's figures, open work, injected notes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from mdmem import plural, timestamps
from mdmem.agents.install import catalog, registration
from mdmem.cli.terminal import options, progress, render
from mdmem.cli.terminal.render import Piece
from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.history.merging import undecided
from mdmem.learn import work
from mdmem.search.index.view import View
from mdmem.views import injections, review_queue, rows, sessions, storing, wording
from mdmem.views.vault_pages import open_work, start_page

MOST = 5


def show(given_vault: str | None) -> None:
    """Print the home screen of the vault."""
    config = options.vault_config(given_vault)
    now = time.time()
    alarms = [[(alarm, "bold yellow")] for alarm in storing.alarms(config)]
    render.write([*(alarms or [[("Storing is on.", "bold green")]]), [(f"Vault: {config.vault}", "dim")]])
    render.write([[(paused, "yellow")] for paused in storing.paused_sessions(config)])
    last_events = storing.last_heard(config).items()
    event_rows = [(catalog.title(name), timestamps.local_time(event.when)) for name, event in last_events]
    if event_rows:
        render.write([[], [("Last heard from", "bold")]])
        render.table((render.Column(), render.WHEN), event_rows, "  ")
    else:
        render.write([[], [(_not_heard(), "yellow")]])
    render.write([[(f"{row.title}: {row.problem}", "yellow")] for row in storing.registrations(config) if row.problem])
    with progress.ProgressBar("Updating the index"):
        lines = rows.ask(config, lambda view: list(_of_vault(config, view, now)))
    render.write(lines)
    hint = undecided.hint(config)
    render.write([[(render.safe(hint), "yellow")]] if hint else [])
    render.write(list(_latest_injections(config)))
    render.write([[], [("`mdmem search WORDS`  `mdmem sessions`  `mdmem web`  `mdmem help`", "dim")]])


def _not_heard() -> str:
    """Return what to do when no agent has sent an event yet."""
    names = dict.fromkeys(row.title for row in registration.survey() if row.has_hooks)
    if not names:
        return f"No agent is registered yet: {catalog.advice()}."
    return f"Not heard from yet: {', '.join(names)}. Start a new session there."


def _of_vault(config: Config, view: View, now: float) -> Iterator[list[Piece]]:
    """Yield the lines about today, open work and the review."""
    today = timestamps.local_day(now)
    began = [session for session in sessions.table(view) if session.day == today]
    days = sessions.by_day(view)
    counted = [
        plural.number(days.get(today, 0), "note"),
        plural.number(len(began), "session"),
        plural.number(sum(session.edits for session in began), "edit"),
        f"{sum(session.failed for session in began)} failed",
    ]
    yield []
    yield [
        ("Today: ", "bold"),
        (", ".join(counted), ""),
        (f"  ({plural.number(sum(days.values()), 'note')} in all)", "dim"),
    ]
    if not began and (last := sessions.latest(view)):
        yield [
            ("Last session: ", "bold"),
            (render.safe(last.title), ""),
            (f"  {wording.day(last.ended)}: `mdmem history`", "dim"),
        ]
    if not days:
        yield []
        yield [(render.safe(wording.none_yet(config)), "yellow")]
    open_items = work.in_view(config, view, "", now)
    if open_items:
        yield []
        yield [
            ("Left open", "bold"),
            (f"  {len(open_items)} in all: `mdmem todo`" if len(open_items) > MOST else "", "dim"),
        ]
    for item in open_items[:MOST]:
        project_and_day = ", ".join(filter(None, [item.project, wording.day(item.created)]))
        why = f"{project_and_day}: {open_work.LABELS[item.kind].lower()}"
        yield [("  ", ""), (render.safe(item.text), ""), (f"  {render.safe(why)}", "dim")]
    try:
        waiting = start_page.review_size(view, review_queue.waiting(config, view).numbers)
    except MdmemError:
        waiting = ""
    if waiting:
        yield []
        yield [(waiting, "bold"), (" not reviewed yet: `mdmem review`", "")]


def _latest_injections(config: Config) -> Iterator[list[Piece]]:
    """Yield the lines about the latest injections."""
    log = [row for row in injections.log(config) if row.get("ids")][-MOST:]
    if log:
        yield []
        yield [("Injected lately", "bold")]
    for row in reversed(log):
        when = timestamps.readable(str(row.get("time", "")))
        count = plural.number(len(row.get("ids", ())), "memory")
        facts = f"{count}, {injections.reasons(row)}"
        yield [
            ("  ", ""),
            (when, "dim"),
            (f"  {render.safe(facts)}", ""),
            (f"  {render.safe(str(row.get('project', '')))}", "dim"),
        ]
