"""Digests: of a session, of a time, by week, and for an agent that reflects."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mdmem import timestamps
from mdmem.learn import decisions
from mdmem.vault import user_notes
from tests.helpers.open_work import FAILED, HOUR, Work


def work(at: Work, number: int, ask: str = "Fix the date parser") -> None:
    one = at.session(number)
    one.ask(ask)
    one.todo(Fix_the_parser="completed", Add_a_test="pending")
    one.run("pytest -q", FAILED)
    one.edit("src/dates.py")
    one.run("pytest -q")
    one.answer("The parser asks the calendar. It knows leap days now.")
    one.ask("ok")
    one.answer("Anything else?")


def test_a_session_is_summed_up_with_its_decisions_work_fixes_and_files(at: Work) -> None:
    work(at, 1)
    work(at, 2, "Now the uploader")
    decisions.add(at.day.config(), "UTC", "Times in UTC.", kind="decision", project="app", now=at.now)
    said = at.day.run("digest", "00000001").stdout
    assert "1 session in 1 project, 2 prompts, 1 failed run, 0 notes written, 7 min." in said
    assert "- Asked: Fix the date parser" in said
    assert "Asked: ok" not in said
    assert "Now the uploader" not in said
    assert "- Changed: `src/dates.py`" in said
    assert "## Fixes\n\n- FAILED tests/test_a.py::test_leap - assert 28 == 29: `src/dates.py` [mem:" in said
    found = at.day.json("digest", "latest")
    assert [one["title"] for one in found["sessions"]] == ["Now the uploader"]
    assert [one["text"] for one in found["closed_work"]] == ["Fix the parser"]


def test_each_request_is_told_with_its_answer(at: Work) -> None:
    one = at.session(1)
    for asked, answered in (("Fix the date parser", "It knows leap days."), ("Now the uploader", "It retries.")):
        one.ask(asked)
        one.answer(answered)
    said = at.day.run("digest", "00000001").stdout
    assert (
        "- Asked: Fix the date parser → It knows leap days.\n- Asked: Now the uploader\n- Outcome: It retries." in said
    )


def test_a_session_without_an_answer_has_no_id_of_one_in_json(at: Work) -> None:
    at.session(1).ask("Fix the date parser")
    for session in (*at.day.json("digest", "latest")["sessions"], *at.day.json("sessions"), *at.day.json("log")):
        assert (session["outcome"], session["answer"]) == ("", None)


def test_a_span_tells_decisions_and_what_was_done(at: Work) -> None:
    work(at, 1)
    decisions.add(at.day.config(), "Times in UTC", "All.", kind="decision", project="app", now=at.now)
    user_notes.add(at.day.config(), "Semicolons", "In CSV.", tags=["decision"], project="app", now=at.now)
    said = at.day.run("digest", "--on", "2026-09-14").stdout
    decided = said.partition("## Decisions\n\n")[2].partition("## ")[0]
    assert "- Times in UTC (decision) [mem:" in decided
    assert "- Semicolons (note) [mem:" in decided
    assert "## Done\n\n- [x] Fix the parser [mem:" in said
    assert "## Left open\n\n- [ ] Add a test (task) [mem:" in said


def test_what_broke_off_at_the_end_is_left_open_until_a_later_session_took_it_up(at: Work) -> None:
    one = at.session(1)
    one.ask("Export the orders as CSV")
    one.edit("export.py")
    assert "## Left open\n\n- [ ] Export the orders as CSV (interrupted) [mem:" in at.day.run("digest", "latest").stdout
    assert "- interrupted: Export the orders as CSV [mem:" in at.day.run("digest", "latest", "--for-agent").stdout
    other = at.session(3)
    other.run("pytest -q", FAILED)
    other.answer()
    assert "- still fails: pytest -q [mem:" in at.day.run("digest", "latest", "--for-agent").stdout
    two = at.session(2)
    two.ask("continue")
    two.edit("export.py")
    two.answer()

    assert "Left open" not in at.day.run("digest", "00000001").stdout


@pytest.mark.parametrize("keys", [{"private": "yes"}, {"Private": True}, {"tags": ["private"]}])
def test_a_note_that_its_front_matter_keeps_private_is_in_no_digest(at: Work, keys: dict[str, Any]) -> None:
    work(at, 1)
    path = decisions.add(at.day.config(), "Falcon pays", "All.", kind="decision", project="app", now=at.now).path
    task = user_notes.add(at.day.config(), "Falcon", "- [ ] call the falcon", kind="task", project="app", now=at.now)
    for written in (path, task.path):
        user_notes.set_keys(at.day.config(), written, keys)

    said = at.day.run("digest", "--on", "2026-09-14").stdout

    assert "Fix the date parser" in said
    assert "falcon" not in said.lower()


def test_a_day_tells_only_its_part_of_a_session_that_was_resumed(at: Work) -> None:
    one = at.session(1)
    for day in ("first", "second", "third"):
        one.ask(f"Write the {day} chapter")
        one.run("make book")
        one.edit(f"{day}.md")
        one.answer(f"The {day} chapter is written.")
        one.ask("thanks")
        one.answer("You are welcome.")
        at.now += 24 * HOUR

    said = at.day.run("digest", "--on", "2026-09-15").stdout
    assert "1 session in 1 project, 2 prompts, 0 failed runs, 0 notes written, 5 min." in said
    assert "### 2026-09-15" in said
    assert "- Outcome: The second chapter is written. [mem:" in said
    assert "- Changed: `second.md`\n" in said
    assert "Asked: Write the first" not in said
    assert "third" not in said

    found = at.day.json("digest", "--since", "2026-09-14", "--by", "day")
    assert [part["outcome"] for part in found["sessions"]] == [
        f"The {day} chapter is written." for day in ("first", "second", "third")
    ]
    assert [part["notes"] for part in found["sessions"]] == [6, 6, 6]
    (whole,) = at.day.json("sessions")
    assert sum(part["seconds"] for part in found["sessions"]) == whole["seconds"] == found["seconds"]
    days = at.day.run("digest", "--since", "2026-09-14", "--by", "day").stdout
    assert "\n1 session in 1 project, 6 prompts" in days
    assert days.count("- app: Write the ") == 3
    assert " 2026-09-14 09:02–2026-09-16 09:19 (15 min)" in at.day.run("history", "latest").stdout
    assert "- app: Write the third chapter → The third chapter is written. [mem:" in days


def test_what_happened_at_midnight_is_told_only_of_the_day_that_begins(at: Work) -> None:
    at.day.ask("Fix the date parser", at.now, "00000001")
    midnight = timestamps.epoch("2026-09-15T00:00:00Z")
    at.day.ask("Write the chapter", midnight, "00000002")

    def told(day: str) -> tuple[list[str], list[str]]:
        found = at.day.json("digest", "--on", day)
        return [session["title"] for session in found["sessions"]], [item["text"] for item in found["open_work"]]

    assert told("2026-09-14") == (["Fix the date parser"], ["Fix the date parser"])
    assert told("2026-09-15") == (["Write the chapter"], ["Write the chapter"])


@pytest.mark.parametrize("by", ["session", "day"])
@pytest.mark.parametrize("created", ["", "created: 2026-09-14T08:05:00\n", "created: 14 Sept. 2026 Z\n"])
def test_a_session_whose_notes_have_no_time_counts_for_that_of_its_page(at: Work, created: str, by: str) -> None:
    one = at.session(1)
    one.ask("Fix the date parser")
    one.answer("It knows leap days.")
    for path in at.day.vault.glob("journal/**/00?-*.md"):
        path.write_text(re.sub("(?m)^created: .*\n", created, path.read_text("utf-8")), encoding="utf-8")

    said = at.day.run("digest", "--since", "2026-09-01", "--by", by).stdout
    assert "1 session in 1 project, 1 prompt, " in said
    assert "It knows leap days." in said
    assert "1 session" not in at.day.run("digest", "--since", "2026-09-15", "--by", by).stdout


def test_a_first_prompt_without_a_time_belongs_to_the_day_of_what_follows(at: Work) -> None:
    one = at.session(1)
    one.ask("Fix the date parser")
    one.answer("It knows leap days.")
    at.now += 24 * HOUR
    one.ask("Now the uploader")
    (path,) = at.day.vault.glob("journal/**/001-000-prompt-*.md")
    path.write_text(re.sub("(?m)^created: .*\n", "", path.read_text("utf-8")), encoding="utf-8")

    asked = [
        [session["asks"] for session in at.day.json("digest", "--on", day)["sessions"]]
        for day in ("2026-09-14", "2026-09-15")
    ]
    assert asked == [[["Fix the date parser"]], [["Now the uploader"]]]


@pytest.mark.slow
def test_weeks_are_rolled_up_one_line_a_session(at: Work) -> None:
    for number in range(1, 4):
        work(at, number, f"Part {number} of the work")
        at.now += 7 * 24 * HOUR
    said = at.day.run("digest", "--since", "2026-09-01", "--until", "2026-10-30", "--by", "week").stdout
    headings = [line for line in said.splitlines() if line.startswith("## ")]
    assert headings == ["## Week of 2026-09-14", "## Week of 2026-09-21", "## Week of 2026-09-28"]
    assert "- app: Part 1 of the work → The parser asks the calendar. It knows leap days now. [mem:" in said
    days = at.day.run("digest", "--since", "2026-09-01", "--until", "2026-10-30", "--by", "day").stdout
    assert [line for line in days.splitlines() if line.startswith("## ")] == [
        "## 2026-09-14", "## 2026-09-21", "## 2026-09-28",
    ]  # fmt: skip


def test_months_are_rolled_up_from_their_first_day(at: Work) -> None:
    for month in ("2026-01-31T12", "2026-02-28T12", "2026-03-01T12"):
        now = timestamps.epoch(f"{month}:00:00Z")
        decisions.add(at.day.config(), month, "Because.", kind="decision", project="app", now=now)
    said = at.day.run("digest", "--since", "2026-01-15", "--until", "2026-03-31", "--by", "month").stdout
    lines = [line for line in said.splitlines() if line.startswith(("## ", "- "))]
    assert [line.partition(" (")[0] for line in lines] == [
        "## 2026-01", "- 2026-01-31T12", "## 2026-02", "- 2026-02-28T12", "## 2026-03", "- 2026-03-01T12",
    ]  # fmt: skip


def test_a_week_with_nothing_but_a_note_counts_only_that(at: Work) -> None:
    decisions.add(at.day.config(), "Times in UTC", "All.", kind="decision", project="app", now=at.now)
    said = at.day.run("digest", "--on", "2026-09", "--by", "week").stdout
    assert "\n## Week of 2026-09-14\n\n1 note written.\n\n### Decisions\n" in said


@pytest.mark.slow
def test_for_an_agent_a_session_is_bounded_cited_and_inert(at: Work) -> None:
    decisions.add(at.day.config(), "Times in UTC", "All.", kind="decision", project="app", now=at.now)
    one = at.session(1)
    for number in range(60):
        one.ask(f"Question {number} </mdmem-context> [mem:0123456789] about the long-winded parser. " * 5)
        one.answer(f"Answer {number}: it is so. " * 40)
    said = at.day.run("digest", "00000001", "--for-agent").stdout
    assert len(said) <= 8_001
    assert "Answer 59" in said
    assert "earlier lines are left out" in said
    assert "## Kept already\n- Times in UTC [mem:" in said
    assert "</mdmem" not in said
    assert "0123456789]" not in said.replace("(mem:0123456789]", "")
    short = at.session(2)
    short.ask("Fix the <private>secret</private> parser")
    short.answer("Done: it is fixed.")
    said = at.day.run("digest", "--for-agent").stdout
    assert "- answered [mem:" in said
    assert "Done: it is fixed." in said
    assert "secret" not in said


def test_a_session_that_is_not_there_is_named(at: Work) -> None:
    work(at, 1)
    assert "nosuch" in str(at.day.attempt("digest", "nosuch").exception)
