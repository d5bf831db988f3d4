"""The start of a session: open work, decisions and the last session, in one block of the size that is set."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from mdmem.agents import Event
from mdmem.capture import session
from mdmem.config import load
from mdmem.inject import context, open_work, recent, session_folder
from mdmem.learn import decisions
from mdmem.search.gate import Gate
from mdmem.vault import generated, layout
from mdmem.views.vault_pages import upkeep
from tests.helpers import cli_day
from tests.helpers.call_count import calls
from tests.helpers.indexed import indexed
from tests.helpers.open_work import FAILED, HOUR, Work


@pytest.fixture
def at(tmp_path: Path) -> Work:
    return Work(cli_day.empty(tmp_path), tmp_path)


def start(at: Work) -> str:
    event = Event(agent="claude-code", name="SessionStart", session="new", cwd=at.cwd, source="startup")
    made = context.at_start(at.day.config(), event, at.now + HOUR, 1e12)
    return made.text if made else ""


def test_a_session_begins_with_the_open_work_of_earlier_ones_and_not_with_what_was_closed(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(**{"Write_the_[csv]_export": "pending", "Announce_it": "pending", "Read_the_code": "completed"})
    one.run("pytest -q", FAILED)
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    text = start(at)
    part = text.partition("## Open work")[2].partition("\n## ")[0]
    assert "to do [mem:" in part
    assert "Write the [csv] export" in part
    assert "Announce it" in part
    assert "still fails [mem:" in part
    assert "assert 28 == 29" in part
    assert "Read the code" not in text
    (key,) = [row["key"] for row in at.day.json("todo") if row["text"] == "Announce it"]
    at.day.run("todo", "--done", key)
    assert "Announce it" not in start(at)


def test_what_a_person_writes_about_the_markers_of_a_page_is_not_taken_for_its_open_work(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Announce_it="pending")
    one.answer()
    page = at.day.vault / "journal/app/project.md"
    words = f"mdmem writes below `{generated.BEGIN}`.\n\n## {open_work.HEADING}\n\n- Mine: none\n\n"
    page.write_text(page.read_text().replace(f"\n{generated.BEGIN}\n", f"\n{words}\n{generated.BEGIN}\n"))

    upkeep.refresh(at.day.config(), now=at.now, everything=True)

    assert words in page.read_text()
    assert "Announce it" in start(at).partition("## Open work")[2]


def test_a_note_that_left_several_things_open_is_counted_once(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="pending", Announce_it="pending")
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    event = Event(agent="claude-code", name="SessionStart", session="new", cwd=at.cwd, source="startup")

    text = context.build(at.day.config(), event, at.now + HOUR, 1e12) or ""

    assert "Write the export" in text
    assert "Announce it" in text
    ids = at.day.json("injections")[0]["ids"]
    assert ids
    assert len(ids) == len(set(ids))


def test_what_was_closed_since_the_page_was_made_is_not_said_to_be_open(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.todo(Write_the_export="in_progress", Announce_it="pending")
    one.run("pytest -q", FAILED)
    one.run("npm test", FAILED)
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    one.run("pytest -q")
    one.todo(Write_the_export="completed", Announce_it="pending")
    one.answer()

    part = start(at).partition("## Open work")[2].partition("\n## ")[0]

    assert "Announce it" in part and "npm test" in part
    assert "Write the export" not in part and "pytest -q" not in part


def test_what_is_closed_and_shown_once_is_so_in_a_session_of_several_folders(
    at: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MANY", 3)
    monkeypatch.setattr(session, "_FEW", 0)
    one = at.session(1)
    one.ask("Plan the export")
    one.tool("TaskCreate", {"subject": "Write the export"}, {"task": {"id": "1", "subject": "Write the export"}})
    for number in range(5):
        one.run(f"npm run step{number}", FAILED)
    one.answer("It is planned.\n\n- [ ] Embed the font")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    for number in range(4):
        one.run(f"npm run step{number}")
    one.tool("TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": True, "taskId": "1"})
    assert list(at.day.vault.rglob("part4"))

    text = start(at)

    part = text.partition("## Open work")[2].partition("\n## ")[0]
    assert "step4" in part
    assert not any(f"step{number}" in part for number in range(4))
    assert "Write the export" not in part
    assert text.count("Embed the font") == 1


def test_the_boxes_of_an_answer_are_listed_unless_its_session_is_shown_with_them_or_they_are_old(at: Work) -> None:
    one = at.session(1)
    one.ask("Begin with PDF invoices")
    one.edit("pdf.py")
    one.answer("PDF invoices are begun.\n\n- [ ] Embed the font\n- [ ] Line items")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    assert "## Open work" not in start(at)
    assert "[ ] Embed the font. [ ] Line items" in start(at)
    for number in range(2, 7):
        later = at.session(number)
        later.ask(f"Split module {number}")
        later.edit(f"part{number}.py")
        later.answer("It is split.")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    assert start(at).partition("## Open work")[2].partition("\n## ")[0].count("to do [mem:") == 2
    at.now += 31 * 24 * HOUR

    assert "Embed the font" not in start(at)


@pytest.mark.slow
def test_the_whole_block_stays_within_the_size_that_is_set(at: Work) -> None:
    for number in range(60):
        text = f"Part {number} of the parser is written by hand, since the generator is slow and its messages are odd."
        decisions.add(
            at.day.config(), f"Parser part {number}: {text}", text, kind="decision", project="app", now=at.now
        )
    for number in range(1, 5):
        one = at.session(number)
        one.ask(f"Work on part {number} of the long-winded parser, " * 4)
        one.todo(**{f"Step_{step}_of_part_{number}_with_all_that_belongs_to_it": "pending" for step in range(9)})
        one.answer(f"Part {number} is half done. " * 30)
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    text = start(at)
    assert len(text) <= at.day.config().settings.inject.chars
    assert "## Notes that stay true" in text
    assert "more: `mdmem search kind:decision`" in text
    assert text.partition("## Open work")[2].count("to do [mem:") == 8
    assert "Part 4 is half done." in text


def test_a_page_that_links_out_of_the_vault_or_has_no_list_shows_nothing(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan it")
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    page = at.day.vault / "journal" / "app" / "project.md"
    (at.day.vault.parent / "outside.md").write_text("---\nid: 0123456789\ntitle: Out\n---\nOut.\n")
    lines = "- To do: [Out](../../../outside.md)\n- To do: [Gone](nothing.md)\n- [no](link\nwords\n- To do: []()\n"
    text = page.read_text().replace("<!-- mdmem:begin -->\n", f"<!-- mdmem:begin -->\n\n## Open work\n\n{lines}\n")
    assert lines in text
    page.write_text(text)
    assert "## Open work" not in start(at)


def test_a_failure_of_long_ago_is_not_said_to_last_until_now(at: Work) -> None:
    one = at.session(1)
    one.ask("Plan the export")
    one.run("pytest -q", FAILED)
    one.answer()
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    assert "still fails" in start(at)
    at.now += 31 * 24 * HOUR

    assert "still fails" not in start(at)
    assert "pytest -q" in [row["text"] for row in at.day.json("todo")]


def test_a_turn_that_broke_off_and_a_list_of_long_ago_are_told_no_more_but_a_persons_task_is(at: Work) -> None:
    one = at.session(1)
    one.ask("Export the orders as CSV")
    one.todo(Write_the_header="pending")
    at.session(2).ask("Why is the cart empty?")
    at.day.run("note", "Renew the certificate", "--kind", "task", "--project", "app")
    upkeep.refresh(at.day.config(), now=at.now + HOUR, everything=True)
    at.now += HOUR
    soon = start(at).partition("## Open work")[2].partition("\n## ")[0]
    at.now += 31 * 24 * HOUR
    late = start(at).partition("## Open work")[2].partition("\n## ")[0]

    assert ["Export the orders" in soon, "Write the header" in soon, "Renew" in soon] == [True, True, True]
    assert ["Export the orders" in late, "Write the header" in late, "Renew" in late] == [False, False, True]


ENDINGS = (
    "Alarms are grouped.\n\nOpen: the SMS gateway has no delivery report.",
    "The clips are cleaned. TODO: rerun the eval for rare owls.",
    "Cut contours work.\n\nNext: Pavel tests a kiss cut.",
    "Updates apply.\n\n## Next steps\n- cancel cells with edition 0\n- Let me know if you want more",
    "It is fixed.\n\nOpen: nothing.",
    "TODO: this begins an answer, which then tells of work.\n\nThe parser is split.",
)


def test_what_answers_say_in_words_is_left_is_told_until_it_is_done_or_old(at: Work) -> None:
    for number, ending in enumerate(ENDINGS, 1):
        one = at.session(number)
        one.ask(f"Go on with part {number}")
        one.edit(f"part{number}.py")
        one.answer(ending)
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    part = start(at).partition("## Open work")[2].partition("\n## ")[0]
    assert part.count("to do [mem:") == 4
    for left in ("no delivery report", "rerun the eval", "Pavel tests a kiss cut", "cancel cells with edition 0"):
        assert start(at).count(left) == 1
    asked = at.session(7)
    asked.ask("what is left to do about the SMS gateway and its delivery report?")
    asked.answer("The SMS gateway still has no delivery report.")
    done = at.session(8)
    done.ask("Rerun the eval for the rare owls")
    done.run("python eval.py --owls")
    done.answer("The eval says 0.81.")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    text = start(at)
    assert "TODO: rerun the eval" not in text
    assert "to do [mem:" in text and "rerun the eval" not in text.partition("## Open work")[2].partition("\n## ")[0]
    assert "the SMS gateway has no delivery report" in text
    assert [row["text"] for row in at.day.json("todo")].count("the SMS gateway has no delivery report.") == 1
    at.now += 31 * 24 * HOUR
    assert "Pavel" not in start(at)


def test_an_answer_that_says_that_nothing_is_left_leaves_nothing(at: Work) -> None:
    endings = (
        "Open: – (all done)",
        "Next steps: there are none",
        "Remaining: N/A for now",
        "Open points: There is nothing left.",
        "Left: everything is done.",
        "To do: ~~write the report~~",
        "Open: 0 issues",
        "Next steps:\n- Tell me which option fits",
    )
    for number, ending in enumerate(endings, 1):
        one = at.session(number)
        one.ask(f"Go on with part {number}")
        one.edit(f"part{number}.py")
        one.answer(f"Part {number} is written.\n\n{ending}")

    assert [row["text"] for row in at.day.json("todo")] == []


def test_the_newest_session_tells_itself_what_its_answer_leaves_to_do(at: Work) -> None:
    one = at.session(1)
    one.ask("Group the alarms")
    one.edit("alarms.py")
    one.answer(ENDINGS[0])
    assert "Open: the SMS gateway has no delivery report." in start(at)
    upkeep.refresh(at.day.config(), now=at.now, everything=True)

    assert "## Open work" not in start(at)
    assert "Open: the SMS gateway has no delivery report." in start(at)


DONE = (
    "The VAT ids are now checked when an invoice is created because the accountant needs valid ones. The check uses the"
    " format of each country and was added to `vat.py` with 27 patterns. I replaced the old regular expression, which"
    " accepted Greek ids with GR instead of EL. The tests cover all 27 countries and wrong check digits. Invoices"
    " of before 2024 keep their ids since they must never change. The import of customers now calls the same function."
)


@pytest.mark.parametrize("count", [1, 6])
def test_what_is_not_done_yet_is_told_once_with_the_session_or_as_open_work(at: Work, count: int) -> None:
    one = at.session(1)
    one.ask("Check the VAT ids")
    one.edit("vat.py")
    one.answer(f"{'. '.join(DONE.split('. ')[:count]).rstrip('.')}. The ids aren't looked up in VIES yet.")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)

    text = start(at)

    assert text.count("The ids aren't looked up in VIES yet") == 1
    assert ("## Open work" in text) is (count > 1)


def test_a_session_that_no_page_knows_tells_what_it_left_although_a_later_one_followed(at: Work) -> None:
    for number in (1, 2):
        one = at.session(number)
        one.ask(f"Group the alarms of house {number}")
        one.edit("alarms.py")
        one.answer(ENDINGS[0] if number == 1 else "They are grouped.")

    assert "Open: the SMS gateway has no delivery report." in start(at)


def test_what_a_session_has_finished_is_not_open_to_it_after_a_compaction(at: Work) -> None:
    before = at.session(1)
    before.ask("Plan the import")
    before.todo(Check_the_umlauts="pending", Read_the_dates="pending")
    before.answer()
    one = at.session(2)
    one.ask("Plan the export")
    for number, subject in (("1", "Write the export"), ("2", "Announce it"), ("3", "Translate it")):
        given = {"subject": subject, "description": subject}
        one.tool("TaskCreate", given, {"task": {"id": number, "subject": subject}})
    one.answer("It is planned.")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    one.ask("go on")
    for number, status in (("1", "completed"), ("2", "in_progress"), ("3", "completed"), ("3", "pending")):
        one.tool("TaskUpdate", {"taskId": number, "status": status}, {"success": True, "taskId": number})
    one.todo(Check_the_umlauts="completed")

    event = Event(agent="claude-code", name="SessionStart", session=one.name, cwd=at.cwd, source="compact")
    made = context.at_start(at.day.config(), event, at.now + 60, 1e12)

    assert made is not None
    part = made.text.partition("## Open work")[2].partition("\n## ")[0]
    assert "Announce it" in part and "Translate it" in part and "Read the dates" in part
    assert "Write the export" not in part and "Check the umlauts" not in part


def test_what_the_last_answer_leaves_to_do_is_told_once_after_a_compaction(at: Work) -> None:
    one = at.session(1)
    one.ask("Draw the curve of the tide")
    one.answer("The curve is drawn.\n\nLeft: mark the night hours in gray.")
    upkeep.refresh(at.day.config(), now=at.now, everything=True)
    event = Event(agent="claude-code", name="SessionStart", session=one.name, cwd=at.cwd, source="compact")

    made = context.at_start(at.day.config(), event, at.now + HOUR, 1e12)

    assert made is not None
    assert made.text.count("mark the night hours in gray") == 1


def test_what_a_session_left_open_takes_no_more_work_per_turn_in_a_long_session(at: Work) -> None:
    settings = at.day.config()
    gate, work = Gate(settings), {}
    for turns in (20, 200):
        folder = f"journal/app/2026-09-14/0800-long-{turns:08x}"
        (at.day.vault / folder).mkdir(parents=True)
        for turn in range(1, turns + 1):
            (at.day.vault / folder / f"{turn:03}-000-prompt-go-on-{turn:010}.md").write_text("Go on.\n")
            (at.day.vault / folder / f"{turn:03}-001-response-done-{turn + 500:010}.md").write_text("Done.\n")
        session = session_folder.SessionFolder(settings, gate, folder)
        work[turns] = calls(partial(recent.left_open, [session]))

    assert work[200] < 12 * work[20]


def test_an_answer_of_which_a_line_of_open_work_was_shown_is_given_when_it_is_asked_for(at: Work) -> None:
    one = at.session(1)
    one.ask("Add the CSV export of the invoices")
    one.edit("export.py")
    one.answer("Amounts are written with a dot. Still to do: stream the rows of large customers.")
    two = at.session(2)
    two.ask("Sort the imports")
    two.edit("imports.py")
    two.answer()
    upkeep.refresh(at.day.config(), now=at.now + HOUR, everything=True)
    begin = Event(agent="claude-code", name="SessionStart", session="new", cwd=at.cwd, source="startup")
    asked = Event(agent="claude-code", name="UserPromptSubmit", session="new", cwd=at.cwd)
    asked.prompt = "what did we decide about the CSV export of the invoices?"

    listed = context.build(at.day.config(), begin, at.now + 2 * HOUR, 1e12) or ""
    given = context.build(at.day.config(), asked, at.now + 2 * HOUR, 1e12) or ""

    assert "stream the rows" in listed.partition("## Open work")[2].partition("\n## ")[0]
    assert "Amounts are written with a dot" in given


def test_the_start_of_a_session_does_not_read_the_settings_again(at: Work) -> None:
    for number in (1, 2, 3):
        one = at.session(number)
        one.ask(f"Sort the imports of part {number}")
        one.edit(f"part_{number}.py")
        one.answer()
    at.day.run("note", "Use tabs.", "--title", "Tabs", "--pin", "--project", "app")
    for path in at.day.vault.rglob("*.md"):
        os.utime(path, (at.now, at.now))  # of files as new as the index, nobody knows whether it has seen them
    settings = indexed(at.day.config())
    event = Event(agent="claude-code", name="SessionStart", session="new", cwd=at.cwd, source="startup")
    given: list[str] = []

    def begin() -> None:
        made = context.at_start(settings, event, at.now + HOUR, 1e12)
        given.append(made.text if made else "")

    assert calls(begin, of=load.__code__) == 0
    assert "Sort the imports of part 2" in given[0]
    assert "Use tabs." in given[0]
