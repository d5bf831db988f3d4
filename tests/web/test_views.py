"""What the pages are made of: sessions, calendars, files, facets, the review queue, what was given, links."""

from __future__ import annotations

import asyncio
import gc
import os
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, timestamps
from mdmem.agents import Event
from mdmem.agents.install import catalog
from mdmem.config import Config
from mdmem.history import review, session_log
from mdmem.inject import injection_log
from mdmem.learn import decisions, proposals
from mdmem.search import engine, freshness, index, query
from mdmem.search.index.view import View
from mdmem.vault import user_notes
from mdmem.views import injections, review_queue, rows, sessions, storing
from mdmem.views.rows import NoteRow
from mdmem.views.sessions import SessionRow
from mdmem.web import gate
from mdmem.web.app import application
from mdmem.web.live import Live
from mdmem.web.pages import files, health, projects, search, session, timeline
from mdmem.web.site import Site
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST, MORNING, Day
from tests.helpers.indexed import indexed
from tests.helpers.open_work import Work


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    made = cli_day.make(tmp_path_factory.mktemp("views"))
    made.run("init", str(made.vault))
    return made


@pytest.fixture
def settings(day: Day) -> Config:
    return config.load(str(day.vault), {**os.environ, **day.env})


@pytest.fixture
def view(settings: Config) -> Iterator[View]:
    freshness.bring_up_to_date(settings)
    found = index.current(settings)
    assert found is not None
    yield found


def fresh(settings: Config) -> View:
    freshness.bring_up_to_date(settings)
    found = index.current(settings)
    assert found is not None
    return found


CHANGES = {
    "NotebookEdit": {"notebook_path": "/app/study.ipynb", "cell_id": "c1", "new_source": "print(1)"},
    "MultiEdit": {"file_path": "/app/many.py", "edits": [{"old_string": "a", "new_string": "b"}]},
    "replace": {"file_path": "/app/gemini.py", "old_string": "a", "new_string": "b"},
}
"""Tools that change a file -> their input."""


def test_a_file_that_any_tool_changed_is_on_the_sessions_page_and_in_the_log(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for number, (tool, given) in enumerate(CHANGES.items()):
        event = Event(agent="claude-code", name="PostToolUse", session=FIRST, cwd="/app", tool=tool, tool_input=given)
        event.tool_use_id, event.prompt_id = f"t{number}", "p1"
        day.store(event, MORNING + number)
    changed = ["gemini.py", "many.py", "study.ipynb"]

    view = fresh(day.config())
    (row,) = sessions.table(view)
    (logged,) = session_log.sessions(day.config())

    assert sorted(session._files(view, row)) == sorted(logged.files) == changed
    assert row.edits == 3
    assert [name for name in changed if name not in day.run("stats").stdout] == []


def test_every_session_is_a_row_with_what_came_of_it(view: View) -> None:
    rows = {row.session: row for row in sessions.table(view)}

    first = rows[FIRST]
    assert first.title.startswith("Why does the date parser fail?")
    assert first.outcome.startswith("The parser took 29 February")
    assert (first.prompts, first.runs, first.failed, first.edits, first.private) == (1, 3, 1, 1, 1)
    assert (first.project, first.agent, first.day) == ("notes-app", "claude-code", "2026-09-14")
    assert [row.started for row in sessions.table(view)] == sorted((row.started for row in rows.values()), reverse=True)


def test_a_session_came_to_what_its_last_work_did_in_every_list(tmp_path: Path) -> None:
    at = Work(cli_day.empty(tmp_path), tmp_path)
    one = at.session(1)
    one.ask("Fix the date parser")
    one.run("pytest -q")
    one.answer("The parser knows leap days.")
    one.ask("thanks")
    one.answer("You are welcome.")

    (row,) = sessions.table(fresh(at.day.config()))
    (logged,) = session_log.sessions(at.day.config())

    assert (row.outcome, row.seconds) == (logged.outcome, logged.seconds) == ("The parser knows leap days.", 240)


def test_an_edit_that_failed_is_no_work_in_any_list(tmp_path: Path) -> None:
    at = Work(cli_day.empty(tmp_path), tmp_path)
    one = at.session(1)
    one.ask("Fix the date parser")
    one.edit("src/dates.py")
    one.answer("The parser knows leap days.")
    one.ask("Is it named in README.md?")
    one.tool("Edit", {"file_path": f"{at.cwd}/README.md", "old_string": "a", "new_string": "b"}, error="Not found")
    one.answer("No line names it.")

    (row,) = sessions.table(fresh(at.day.config()))
    (logged,) = session_log.sessions(at.day.config())

    assert row.outcome == logged.outcome == "The parser knows leap days."


def test_what_pages_keep_of_an_index_is_kept_once_and_no_longer_than_the_index(view: View) -> None:
    assert sessions.table(view) is sessions.table(view)
    assert sessions.by_day(view) is not sessions.by_day(view, "notes-app")

    another = View(view.leaves, view.files)
    sessions.table(another)
    gone = weakref.ref(another)
    del another
    gc.collect()

    assert gone() is None


def test_the_turns_of_a_session_are_in_the_order_of_events(view: View) -> None:
    (turn,) = sessions.turns(view, FIRST)

    assert [row.kind for row in turn.rows] == ["prompt", "observation", "observation", "observation", "response"]


def test_a_long_session_is_cut_into_pages_of_whole_turns() -> None:
    def row(prompt: int, sequence: int) -> NoteRow:
        name = f"journal/p/d/s/{prompt:03d}-{sequence:03d}-bash-x.md"
        return NoteRow("i", name, "observation", "t", "", "p", "s", "a", "Bash", prompt, sequence, True, False, [])

    turns = sessions.group([row(prompt, sequence) for prompt in range(1, 12) for sequence in range(40)])
    parts = session._parts(turns)

    assert [sum(len(turn.rows) for turn in part) for part in parts] == [120, 120, 120, 80]
    (long,) = sessions.group([row(1, sequence) for sequence in range(400)])
    assert [len(turn.rows) for part in session._parts([long]) for turn in part] == [150, 150, 100]


def test_a_calendar_ends_today_and_counts_every_day_once() -> None:
    made = timeline.calendar({"2026-09-14": 3, "2026-09-15": 40, "2024-01-01": 9}, date(2026, 9, 20))

    assert made.days[-1].day == "2026-09-20"
    assert (made.total, made.busy) == (43, 2)
    assert {day.level for day in made.days if day.notes} == {1, 4}
    assert all(day.row == date.fromisoformat(day.day).weekday() for day in made.days)


def test_a_calendar_of_an_old_vault_ends_with_its_last_note() -> None:
    made = timeline.calendar({"2020-05-05": 1}, date(2026, 9, 20))

    assert made.days[-1].day == "2020-05-05"
    assert made.total == 1


def test_a_file_knows_its_changes_and_failures(view: View) -> None:
    found = files.about(view, "src/dates.py")

    assert [row.title for row in found.edits] == ["Edit src/dates.py (+1 -1)"]
    assert found.sessions == [FIRST]
    assert files.about(view, "src/no_such_file.py").total == 0


def test_facets_count_what_a_search_matches(settings: Config, view: View) -> None:
    found = search.count(view, settings.vault, query.parse("february pytest"))
    hits = engine.search(settings, "february pytest", engine.SearchOptions(limit=100, collapse=False)).hits

    assert found["kind"] == dict(Counter(hit.kind for hit in hits).most_common())
    assert found["project"] == dict(Counter(hit.project for hit in hits if hit.project).most_common())
    assert found["tool"]["bash"] == 2


def test_a_note_lists_what_names_it(settings: Config) -> None:
    target = user_notes.add(settings, "Named by others", "text", now=MORNING)
    citing = user_notes.add(settings, "Cites it", f"see [mem:{target.id}]", now=MORNING)
    user_notes.add(settings, "Does not", "see something else", now=MORNING)

    assert [row.id for row in rows.backlinks(fresh(settings), target.path, target.id)] == [citing.id]


def test_notes_that_say_the_same_are_a_pair(settings: Config) -> None:
    words = "releases are cut on tuesdays after the tests of the nightly build have passed on both platforms"
    first = user_notes.add(settings, "When we release", words, now=MORNING)
    second = user_notes.add(settings, "When we release", f"{words}.", now=MORNING + 60)

    pairs = [(one.id, two.id) for one, two in review_queue.doubled(fresh(settings))]
    assert (first.id, second.id) in pairs


def test_notes_nobody_uses_are_named_until_they_are_given(settings: Config) -> None:
    old = user_notes.add(settings, "Old and unused", "a text of its own", now=MORNING - 900 * 86_400)
    used = user_notes.add(settings, "Old and used", "another text of its own", now=MORNING - 900 * 86_400)
    for made in (old, used):
        long_ago = MORNING - 800 * 86_400
        os.utime(Path(settings.vault, made.path), (long_ago, long_ago))
    injection_log.log(
        settings, {"time": timestamps.iso_time(4_000_000_000), "session": "s", "why": ["recall"], "ids": [used.id]}
    )

    names = [row.id for row in review_queue.unused(settings, fresh(settings))]
    assert old.id in names
    assert used.id not in names


@pytest.mark.slow
def test_the_queue_is_what_review_lists(day: Day, settings: Config) -> None:
    user_notes.add(settings, "Waits for a decision", "yes", now=MORNING)
    day.run("commit")
    view = fresh(settings)
    queue = review_queue.waiting(settings, view)

    listed = {item["path"] for item in day.json("review")}
    assert {view.path(number) for number in queue.numbers} == listed
    user_notes.add(settings, "Is not committed", "yet", now=MORNING)
    view = fresh(settings)
    added = {view.path(number) for number in review_queue.waiting(settings, view).numbers} - listed
    assert len(added) == 1
    assert "is-not-committed" in added.pop()
    day.run("commit")
    day.run("review", "--done")
    assert not review_queue.waiting(settings, fresh(settings)).numbers


@pytest.mark.slow
def test_a_proposed_note_is_asked_about_as_a_proposal_and_not_again_as_a_note(day: Day, settings: Config) -> None:
    taken, left = (
        decisions.add(settings, f"Proposed {word}", "By an agent.", kind="lesson", proposed=True, now=MORNING)
        for word in ("taken", "left")
    )
    keys = {one.path: one.key for one in proposals.waiting(indexed(settings), now=MORNING)}

    def queued() -> set[str]:
        view = fresh(settings)
        in_pages = {view.path(number) for number in review_queue.waiting(settings, view).numbers}
        return {taken.path, left.path} & (in_pages | {item.path for item in review.pending(settings).items})

    assert not queued()
    proposals.accept(settings, keys[taken.path], now=MORNING)
    proposals.dismiss(settings, keys[left.path], now=MORNING)
    assert not queued()
    assert [one.id for one in decisions.listed(indexed(settings), kinds=["lesson"])] == [taken.id]
    day.run("review", "--done")


def test_what_was_given_says_what_was_cited(settings: Config, view: View) -> None:
    folder = next(Path(settings.vault).rglob("*-response-the-parser*"))
    cited = folder.with_name("001-009-response-cites-aaaaaaaaaa.md")
    cited.write_text(folder.read_text().replace("The parser took", "As [mem:abcdefghjk] says, the parser took"))
    row = {"time": "2026-09-14T08:00:10Z", "session": FIRST, "event": "UserPromptSubmit", "project": "notes-app"}
    injection_log.log(
        settings, {**row, "why": ["recall"], "ids": ["abcdefghjk", "zzzzzzzzzz"], "tokens": 120, "chars": 500}
    )
    injection_log.log(settings, {**row, "why": ["recall"], "ids": []})
    injection_log.log(settings, {**row, "why": ["recall"], "ids": [], "tokens": 80, "chars": 320})

    log = [one for one in injections.log(settings) if one.get("session") == FIRST]
    full, miss, pointer = injections.read(fresh(settings), log)
    cited.unlink()
    assert (full.cited, full.tokens, full.why) == (("abcdefghjk",), 120, "asked to recall")
    assert not miss.ids
    assert [one.is_miss for one in (full, miss, pointer)] == [False, True, False]
    assert [injections.is_miss(one) for one in log] == [False, True, False]
    assert not any(one.get("session") == FIRST and not one["ids"] for one in injection_log.read_log(settings))
    assert set(injection_log.uses(settings)) >= {"abcdefghjk", "zzzzzzzzzz"}
    assert "" not in injection_log.uses(settings)


def test_growth_ends_at_the_size_of_all_notes(view: View, day: Day) -> None:
    found = health.growth(view)

    assert found is not None
    assert found.notes == day.json("stats")["notes"] < len(view.all)
    assert found.bytes == sum(view.number("size", number) for number in view.all)
    points = [list(map(float, point.split(","))) for point in found.points.split()]
    assert points[-1] == [health.WIDTH, 4.0]
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_what_waits_and_what_is_lost_is_an_alarm(tmp_path: Path) -> None:
    from mdmem.capture import losses

    made = cli_day.make(tmp_path)
    settings = config.load(str(made.vault), {**os.environ, **made.env})
    assert storing.alarms(settings) == []

    cli_day.strand_a_note(made, tmp_path)
    losses.record(settings, "Stop", "codex", "OSError", time.time())
    waiting, lost = storing.alarms(settings)
    assert "1 note could not be stored and will be retried" in waiting
    assert "1 event lost" in lost


@pytest.mark.parametrize("name", ["s; rm -rf ~", "-x", "a b", "$(id)"])
def test_no_command_is_offered_for_a_session_with_a_strange_name(name: str) -> None:
    assert catalog.resume_command("codex", name, "") == ""


@pytest.mark.parametrize("cwd", ["/x\x03rm -rf ~\n", "/x\nid\n", "/x\x1b[201~id", "/x\u202e"])
def test_no_command_is_offered_for_a_folder_that_a_terminal_would_obey_when_it_is_pasted(cwd: str) -> None:
    assert catalog.resume_command("codex", "0199a213", cwd) == ""
    for folder in ("/home/ana/é ü", "/home/ana/作業\u3000一", "/home/ana/a\u00a0b"):
        assert catalog.resume_command("codex", "0199a213", folder).startswith(f"cd '{folder}' && ")


def test_the_weeks_of_a_project_end_with_this_one() -> None:
    found = projects.weeks({"2026-09-14": 3, "2026-09-08": 2, "2026-09-01": 1, "2025-01-01": 9}, date(2026, 9, 14))

    assert len(found) == 26
    assert found[-2:] == [1, 5]


def test_a_day_leads_to_the_days_around_it_that_match_the_same_filters() -> None:
    def session(day: str, project: str) -> SessionRow:
        noon = f"{day}T12:00:00Z"
        return SessionRow("id", project, "", "", "", "", noon, noon, 1, 1, 0, 0, 0, 0, "", 0.0)

    table = [session(day, project) for day, project in (("2026-09-17", "a"), ("2026-09-14", "b"), ("2026-09-11", "a"))]
    chosen = dict.fromkeys(("project", "agent", "on", *timeline.FLAGS), "")

    assert timeline.neighbors(table, {**chosen, "on": "2026-09-14"}, ()) == ("2026-09-11", "2026-09-17")
    assert timeline.neighbors(table, {**chosen, "on": "2026-09-17", "project": "a"}, ()) == ("2026-09-11", "")
    assert timeline.neighbors(table, {**chosen, "on": "2026-09-11", "project": "b"}, ()) == ("", "2026-09-14")


def test_no_page_keeps_an_index_that_has_changed(tmp_path: Path) -> None:
    made = cli_day.make(tmp_path)
    settings = config.load(str(made.vault), {**os.environ, **made.env})
    browsers = gate.Browsers()
    browser = browsers.enter(browsers.new_key())
    assert browser is not None
    live = Live(settings)
    pages = application(Site(settings, live, browsers, {}), ["127.0.0.1:1"], 1)
    cookie = f"{gate.cookie_name(1)}={browser.cookie}"

    def status(address: str) -> int:
        path, _, query = address.partition("?")
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path, "root_path": "",
            "raw_path": path.encode(), "query_string": query.encode(), "client": None, "server": ("127.0.0.1", 1),
            "headers": [(b"host", b"127.0.0.1:1"), (b"cookie", cookie.encode())],
        }  # fmt: skip
        asyncio.run(pages(scope, receive, send))
        return int(sent[0]["status"])

    gc.disable()  # the command line lets collections run rarely
    try:
        for number, address in enumerate(("/", f"/session/{FIRST}", "/search?q=parser", "/review", "/timeline")):
            view = weakref.ref(live.view())
            assert status(address) == 200
            user_notes.add(settings, f"Note {number}", "Words.", now=MORNING + number)
            live.catch_up()
            live.view()
            assert view() is None, address
    finally:
        gc.enable()
