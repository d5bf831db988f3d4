"""Injection: the right memory at the right moment, and never in the way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from mdmem import agents, config, privacy
from mdmem.agents.install import registration
from mdmem.cli import hooks as commands
from mdmem.cli.injections import injections
from mdmem.cli.stats import stats
from mdmem.errors import UsageError
from mdmem.inject import context, injection_log, recent
from mdmem.inject.rendering import block
from mdmem.search import freshness, index
from mdmem.vault import journal
from mdmem.views import citations
from tests.conftest import PAYLOADS, own_settings
from tests.helpers.few import few
from tests.helpers.hostile import POISON
from tests.helpers.injected import answered, ask, entries, new_session, occur
from tests.helpers.talk import Talk, line

MARK = re.compile(r"\[mem:([0-9a-z]{10})\]")


@pytest.fixture
def past(vault: Path, tmp_path: Path) -> Talk:
    """Return a finished session in a project: one question, one edit, one answer, one more question."""
    talk = Talk(vault, tmp_path / "notes-app")
    (talk.cwd / "dates.py").write_text("a = 1\n")
    os.utime(talk.cwd / "dates.py", (talk.now, talk.now))
    talk.start()
    talk.says("Why does the date parser fail on 2026-02-29?")
    talk.edits("dates.py")
    talk.answers("The parser took every February for 28 days. We decided to ask the calendar module.")
    talk.says("Now add a retry with backoff to the uploader")
    talk.answers("The uploader retries five times, doubling the wait from 200 ms.")
    return talk


@pytest.fixture
def talk(past: Talk) -> Talk:
    """Return a new session in the same project, a day later."""
    return new_session(past, 1)


def write(vault: Path, path: str, body: str, **meta: Any) -> Path:
    """Write a note as a person does."""
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in meta.items())
    file.write_text(f"---\n{head}---\n\n{body}\n" if head else f"{body}\n", encoding="utf-8")
    return file


def build(talk: Talk, event: str = "UserPromptSubmit", **fields: Any) -> str:
    """Put together a context in this process."""
    read = agents.load("claude-code").read(talk.payload(event, **fields), {})
    text = context.build(config.load(str(talk.vault)), read, talk.now + 60, time.monotonic() + 240)
    return text or ""


# -- the start of a session ------------------------------------------------------------------------


def test_a_session_begins_with_what_was_last_done_in_its_project(talk: Talk) -> None:
    text = talk.inject("SessionStart", source="startup")

    assert "2026-09-14 08:02 session" in text
    assert "Why does the date parser fail on 2026-02-29?" in text
    assert "the last: Now add a retry with backoff" in text
    assert "It ended with: The uploader retries five times" in text
    assert "Files: dates.py" in text
    assert ".md" not in text


def test_a_note_with_headings_and_code_reads_as_prose_with_its_code_below(talk: Talk) -> None:
    body = "## Deploys\n\n- Only on Tuesdays\n- Never by hand\n\n```sh\nmake deploy ENV=prod\n```"
    write(talk.vault, "notes/deploys.md", body, project="notes-app", title="How we deploy", kind="lesson")

    text = ask(talk, "What did we say about deploys?")

    assert "How we deploy\n  > Deploys: Only on Tuesdays. Never by hand\n    make deploy ENV=prod\n" in text


@pytest.mark.parametrize("edits", [True, False])
def test_a_session_that_ended_with_a_commit_is_shown_with_what_was_done_before(past: Talk, *, edits: bool) -> None:
    busy = new_session(past, 1)
    busy.says("spills are terrible on aarch64")
    if edits:
        busy.edits("alloc.rs")
    busy.runs("git merge wip/coloring", "Merge made")
    busy.answers(
        "Reverted to graph coloring. Linear scan split the values of loops badly: 188 spills in `mandelbrot` against 9."
        " Compile time rises from 12 to 31 ms per thousand functions, which is acceptable."
    )
    busy.says("tag it")
    busy.runs("git tag v0.4")
    busy.answers("Tagged `v0.4`.")

    text = occur(new_session(past, 2), "SessionStart", source="startup").replace("\n  > ", " ")

    assert "What was done: Reverted to graph coloring." in text
    assert "2 prompts, the last: tag it. It ended with: Tagged `v0.4`." in text


def test_many_files_with_long_paths_leave_room_for_how_a_session_ended(past: Talk) -> None:
    folder = "src/main/java/com/acme/shop/returns"
    names = [f"Return{part}.java" for part in ("Controller", "Event", "Label", "Mapper", "Policy", "Refund", "Service")]
    busy = new_session(past, 1)
    busy.says("Add a returns flow to the shop")
    for name in names:
        busy.edits(f"{folder}/{name}")
    busy.answers("The returns flow works.")
    busy.says("and limit returns to 30 days")
    ended = (
        "Returns are accepted for 30 days after delivery. Later requests get status 422 with the code WINDOW_CLOSED."
    )
    busy.answers(ended)

    text = occur(new_session(past, 2), "SessionStart", source="startup")
    answer = ask(new_session(past, 3), "What did we do about the returns flow?")

    assert f"(changed {', '.join(names[:4])} and 3 more)" in answer
    assert "What was done: The returns flow works. 2 prompts, the" in text
    assert f"WINDOW_CLOSED. Files: {', '.join(names[:6])} and 1 more." in text.replace("\n  > ", " ")
    assert ended in text.replace("\n  > ", " ")


@given(st.lists(st.text("ab/.", min_size=1, max_size=30), min_size=1, max_size=30), st.integers(1, 120))
def test_a_list_of_files_has_a_bounded_length_and_counts_the_rest(paths: list[str], chars: int) -> None:
    shown, _, more = block.paths_within(paths, chars).partition(" and ")
    names = shown.split(", ")
    assert len(shown) <= max(chars, len(names[0]))
    if len(", ".join(paths)) <= chars:
        assert names == paths
    else:
        names_alone = list(dict.fromkeys(path.rpartition("/")[2] for path in paths))
        assert names == names_alone[: len(names)]
        assert more == (f"{len(names_alone) - len(names)} more" if len(names) < len(names_alone) else "")


def test_sessions_that_a_wrong_clock_dated_in_the_future_do_not_displace_the_last_ones(past: Talk) -> None:
    for number in range(3651, 3656):
        wrong = new_session(past, number)
        wrong.says(f"Tune the cache of shard {number}")
        wrong.answers("It is 64 MB now.")

    listed = entries(occur(new_session(past, 1), "SessionStart", source="startup"))

    assert "Why does the date parser fail" in listed[0]
    assert "Tune the cache of shard 3655" in listed[1]


def test_a_project_without_memories_gets_nothing(past: Talk, tmp_path: Path) -> None:
    other = new_session(past, 2, tmp_path / "other")

    assert occur(other, "SessionStart", source="startup") == ""
    assert ask(other, "What did we decide about the date parser?") == ""


def test_pinned_notes_of_this_project_and_of_none_come_first(talk: Talk) -> None:
    write(talk.vault, "notes/style.md", "# Style\n\nWe write British English.", pinned=True)
    write(talk.vault, "notes/here.md", "Deploys are on Tuesdays.", pinned=True, project="notes-app", id="0123456789")
    write(talk.vault, "notes/there.md", "Secret of another project.", pinned=True, project="other")
    write(talk.vault, "notes/loose.md", "Times are in UTC.", title="Decision: times in UTC", kind="decision")

    text = occur(talk, "SessionStart", source="startup")

    assert text.index("British English") < text.index("Decision: times in UTC") < text.index("Recent sessions")
    assert "Times are in UTC" not in text
    assert "[mem:0123456789]" in text
    assert "another project" not in text


def test_a_note_that_stays_on_this_machine_is_told_only_to_its_own_project(talk: Talk) -> None:
    write(talk.vault, "notes/own.md", "The laptop is slow.", title="Laptop", project="notes-app", sync=False)
    write(talk.vault, "notes/loose.md", "The alarm code is on the fridge.", title="Alarm", sync=False)
    write(talk.vault, "notes/pinned.md", "The spare key is in the shed.", pinned=True, sync=False)

    text = occur(talk, "SessionStart", source="startup")

    assert "Laptop" in text
    assert "Alarm" not in text
    assert "spare key" not in text


def test_a_note_in_utf_16_is_not_told_as_its_private_marks_cannot_be_read(talk: Talk) -> None:
    write(talk.vault, "notes/style.md", "We write British English.", title="Style")
    for name, code in (("cellar", "utf-16"), ("attic", "utf-16-be")):
        text = "---\ntitle: Cellar\nprivate: true\n---\nIt is below.\n"
        (talk.vault / f"notes/{name}.md").write_bytes(text.encode(code))

    text = occur(talk, "SessionStart", source="startup").partition("## Notes that stay true")[2].partition("\n## ")[0]

    assert [entry.strip().endswith("Style") for entry in entries(text)] == [True]


def test_a_short_pinned_note_is_given_whole(talk: Talk) -> None:
    write(talk.vault, "notes/style.md", "- British English\n- no emoji in commits", pinned=True, title="Style")

    assert "  > British English. no emoji in commits\n" in occur(talk, "SessionStart", source="startup")


def test_a_note_whose_author_writes_the_project_in_capitals_is_one_of_it(talk: Talk) -> None:
    write(talk.vault, "notes/here.md", "We write British English.", pinned=True, project="Notes-App")

    assert "British English" in occur(talk, "SessionStart", source="startup")


def test_a_project_keeps_its_memories_when_its_folder_is_renamed(past: Talk) -> None:
    write(past.vault, "notes/release.md", "We release on Tuesdays.", project="notes-app", title="Release day")
    (past.vault / "journal/notes-app").rename(past.vault / "journal/daily-notes")

    assert "ask the calendar module" in ask(new_session(past, 1), "What did we decide about the date parser?")
    assert "We release on Tuesdays" in ask(new_session(past, 2), "On which day do we release?")
    assert "Release day" in occur(new_session(past, 3), "SessionStart", source="startup")


def test_the_index_of_durable_notes_is_bounded_and_counts_the_rest(talk: Talk) -> None:
    for number in range(60):
        write(
            talk.vault, f"notes/{number}.md", "A rule.", title=f"Rule {number} about naming things", kind="preference"
        )
    write(talk.vault, "notes/old.md", "An old rule.", title="Superseded rule", kind="decision", superseded_by="x")

    text = occur(talk, "SessionStart", source="startup").partition("## Notes that stay true")[2].partition("\n## ")[0]

    assert 30 <= len(entries(text)) <= 40
    assert len(text) <= 3_400
    assert re.search(r"\(\d+ more: ", text)
    assert "Superseded rule" not in text


def test_what_was_left_open_is_named(past: Talk) -> None:
    interrupted = new_session(past, 1)
    interrupted.says("Rename the exporter")
    interrupted.runs("pytest -q", error="Exit code 1\n1 failed")

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    left = text.partition("## Left open")[2]
    assert "Rename the exporter (has no answer)" in left
    assert "failed, and nothing was run after it" in left


def test_a_session_without_an_answer_is_shown_with_its_changes_and_its_last_run(past: Talk) -> None:
    interrupted = new_session(past, 1)
    interrupted.says("Split the exporter")
    interrupted.edits("exporter.py")
    interrupted.answers("The exporter has two modules.")
    interrupted.says("Rename both")
    interrupted.edits("writer.py")
    interrupted.runs("pytest -q", error="Exit code 1\n1 failed")

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    recent = entries(text.partition("## Recent")[2])[0]
    assert "What was done: The exporter has two modules. 2 prompts, the last: Rename both." in recent
    assert "Not answered yet. The last command: `pytest -q (exit 1)`. Files: " in recent
    assert "writer.py" in recent
    assert "It ended with" not in recent


def test_a_session_is_shown_with_what_its_answer_says_is_left_at_the_end_of_a_long_text(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Credit disputed charges")
    busy.edits("refund.ts")
    told = "".join(f"\n\n{part}. The table of charges was read and compared with the ledger." for part in range(150))
    left = "1. Ask Petra about the number range\n2. Replay the failed refunds\n3. Tell support"
    busy.answers(f"Disputed charges are credited now.{told}\n\n## Still to do before it goes live\n\n{left}")

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    assert "Disputed charges are credited now." in text
    assert "Still to do: Ask Petra about the number range. Replay the failed refunds. Tell support. Files:" in text


def test_what_failed_is_said_by_more_than_its_exit_code(past: Talk) -> None:
    failing = new_session(past, 1)
    failing.says("Move to the new client")
    failing.runs("python manage.py test", error="Exit code 1\nFAILED (failures=3)")
    failing.answers("Three tests fail.")

    left = occur(new_session(past, 2), "SessionStart", source="startup").partition("## Left open")[2]

    assert "FAILED (failures=3)" in left


def test_a_run_that_succeeded_in_a_later_session_is_not_left_open(past: Talk) -> None:
    failing = new_session(past, 1)
    failing.says("Move to the new client")
    failing.runs("go test ./kafka", error="Exit code 1\n--- FAIL: TestRebalance")
    failing.answers("It builds, but one test fails.")
    assert "Left open" in occur(new_session(past, 2), "SessionStart", source="startup")
    fixed = new_session(past, 3)
    fixed.says("Fix the test")
    fixed.runs("go vet ./... && go test ./kafka", "ok")
    fixed.answers("The test passes.")

    assert "Left open" not in occur(new_session(past, 4), "SessionStart", source="startup")


@pytest.mark.parametrize("later", ["weiter", "Now rename the exporter and all names"])
def test_a_prompt_that_the_next_session_took_up_is_not_left_open(past: Talk, later: str) -> None:
    interrupted = new_session(past, 1)
    interrupted.says("Rename the exporter and its names")
    interrupted.edits("exporter.py")
    assert "Left open" in occur(new_session(past, 2), "SessionStart", source="startup")
    following = new_session(past, 3)
    following.says(later)
    following.edits("exporter.py")
    following.answers("The exporter and its names are new.")

    assert "Left open" not in occur(new_session(past, 4), "SessionStart", source="startup")


def test_a_prompt_that_was_gone_on_with_is_not_left_open_by_what_broke_off_after_that(past: Talk) -> None:
    interrupted = new_session(past, 1)
    interrupted.says("Rename the exporter and its names")
    interrupted.edits("exporter.py")
    following = new_session(past, 2)
    following.says("weiter")
    following.edits("exporter.py")
    following.answers("The exporter and its names are new.")
    following.says("Sort the imports")
    following.edits("imports.py")

    left = occur(new_session(past, 3), "SessionStart", source="startup").partition("## Left open")[2]

    assert "Sort the imports" in left
    assert "Rename the exporter" not in left


def test_a_title_is_shown_whole_where_there_is_room_although_little_else_is_told(past: Talk) -> None:
    asked = "Add a coupon field to the checkout form, checked on the server; the old table of promotions goes away"
    interrupted = new_session(past, 1)
    interrupted.says(asked)
    interrupted.edits("a.py")

    recent = occur(new_session(past, 2), "SessionStart", source="startup").partition("## Left open")[0]

    assert asked in recent


def test_a_failed_turn_is_left_open_by_its_prompt(past: Talk) -> None:
    failing = new_session(past, 1)
    failing.says("Add metrics to the queue")
    failing.edits("queue.py")
    failing.store("StopFailure", error="rate_limit", last_assistant_message="API Error: 529 overloaded_error")

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    assert "Its last turn failed: API Error: 529 overloaded_error. Files: queue.py." in text
    assert "Add metrics to the queue (the turn failed)" in text.partition("## Left open")[2]


def test_thanks_at_the_end_of_a_session_are_not_told(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Write a post about Norway")
    busy.edits("norway.md")
    busy.answers("The draft is in `norway.md`. Pictures are missing.")
    busy.says("thanks!")
    busy.answers("You are welcome!")

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    assert "What was done: The draft is in `norway.md`. Pictures are missing. Files: norway.md." in text
    assert "welcome" not in text


def test_an_older_session_that_changed_no_file_is_told_by_what_was_decided_last(past: Talk) -> None:
    talk = new_session(past, 1)
    talk.says("Which part of the map goes into the app?")
    talk.answers(
        "The peninsula up to zoom 12 has 412 MB, which is more than the store takes for the base module. "
        "Options: zoom 10 in the app and the rest on demand, or all of it on demand."
    )
    talk.says("zoom 10 in the app")
    talk.runs("pmtiles extract --maxzoom=10", "96 MB")
    talk.answers("The app has zoom 0 to 10 in 96 MB. The download of zoom 11 and 12 on demand is not started.")
    for number in (2, 3):
        later = new_session(past, number)
        later.says(f"Fix the header, part {number}")
        later.edits("header.css")
        later.answers("The header is fixed.")

    text = occur(new_session(past, 5), "SessionStart", source="startup")

    assert "It ended with: The app has zoom 0 to 10 in 96 MB." in text
    assert "412 MB" not in text


def test_older_sessions_are_told_in_fewer_words_than_the_latest(past: Talk) -> None:
    ended = [f"Part {part} of the exporter was moved because its module had two purposes." for part in range(12)]
    for number in range(1, 5):
        busy = new_session(past, number)
        busy.says(f"Split the exporter, step {number}")
        busy.edits("exporter.py")
        busy.answers(" ".join(ended))
        busy.says("Is anything left?")
        busy.answers(" ".join(ended))

    text = occur(new_session(past, 5), "SessionStart", source="startup")

    told = [entry.partition("\n")[2] for entry in entries(text)[:4]]
    assert ["What was done: Part" in entry for entry in told] == [True] * 4
    assert ["It ended with: Part" in entry for entry in told] == [True, True, False, False]


def test_after_a_compaction_within_the_first_turn_what_it_did_so_far_is_shown(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Make the images small")
    busy.edits("config.js")
    busy.runs("npm run build", error="Exit code 1\nError: Cannot find module 'sharp'")

    text = occur(busy, "SessionStart", source="compact")

    part = text.partition("## This session, before it was compacted")[2].partition("\n## ")[0]
    assert "Files touched: config.js. Not answered yet. The last command: `npm run build (exit 1)`." in part
    assert part.count("Make the images small") == 1


def test_after_a_compaction_prompts_are_shown_in_their_words_with_what_was_named_in_passing(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says(f"Check the signature of incoming calls, {'and of those that come from partners, ' * 3}by their header")
    busy.answers("They are checked.")
    busy.says(f"{'Refuse those that are older than five minutes, ' * 3}with 401. Don't touch src/legacy")
    busy.edits("sig.py")
    busy.says("Write the docs in German")

    text = occur(busy, "SessionStart", source="compact")

    part = text.partition("## This session, before it was compacted")[2].partition("\n## ")[0]
    assert "with 401. Don't touch src/legacy." in part
    assert part.count("Check the signature of incoming calls") == 1
    assert part.count("by their header. Answered: They are checked.") == 1
    assert part.count("Files touched in this session: sig.py. Not answered yet.") == 1
    assert len(text) <= 3_000


def test_after_a_compaction_the_session_itself_is_shown_again(talk: Talk) -> None:
    occur(talk, "SessionStart", source="startup")
    talk.says("Write a parser for durations")
    talk.edits("durations.py")
    talk.answers("It reads 2 h 30 min and the like.")

    assert build(talk, "SessionStart", source="resume") == ""
    text = occur(talk, "SessionStart", source="compact")

    assert text.index("This session, before it was compacted") < text.index("Recent sessions")
    assert "Write a parser for durations" in text
    assert "Answered: It reads 2 h 30 min" in text
    assert "durations.py" in text


def test_a_resumed_session_is_given_only_what_is_new(talk: Talk, past: Talk) -> None:
    first = occur(talk, "SessionStart", source="startup")
    between = new_session(past, 3)
    between.says("Translate the manual")
    between.answers("Done.")

    second = occur(talk, "SessionStart", source="resume")

    assert "Translate the manual" in second
    assert not set(MARK.findall(first)) & set(MARK.findall(second))


def test_after_a_compaction_the_files_of_the_turn_at_work_come_first(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Move the parser to the new layout")
    for number in range(30):
        busy.edits(f"a_module_with_a_long_name_{number}.py")
    busy.answers("It is moved.")
    busy.says("Now the printer")
    busy.edits("printer.py")
    busy.edits("font.py")

    text = occur(busy, "SessionStart", source="compact")

    assert "Files touched in this session: font.py, printer.py, a_module_with_a_long_name_29.py, " in text
    assert " more. Not answered yet." in text


def test_a_fork_is_given_neither_what_its_parent_was_given_nor_what_that_did(past: Talk, tmp_path: Path) -> None:
    write(past.vault, "notes/phone.md", "The on-call phone is in the blue cabinet.")
    parent = new_session(past, 1)
    first = occur(parent, "SessionStart", source="startup")
    parent.says("Translate the manual")
    parent.edits("manual.md")
    parent.answers("It is translated.")
    between = new_session(past, 3)
    between.says("Print the manual")
    between.edits("print.md")
    between.answers("It is printed.")
    transcript = tmp_path / "fork.jsonl"
    line = {"forkedFrom": {"sessionId": parent.session, "messageUuid": "1"}, "type": "user"}
    transcript.write_text(json.dumps(line) + "\n")
    fork = new_session(past, 4)

    text = occur(fork, "SessionStart", source="fork", transcript_path=str(transcript))
    again = occur(fork, "SessionStart", source="resume", transcript_path=str(transcript))
    compacted = occur(fork, "SessionStart", source="compact", transcript_path=str(transcript))

    assert "phone" in first and "Print the manual" in text
    assert not set(MARK.findall(first)) & set(MARK.findall(text))
    assert "Translate the manual" not in text + again
    assert "phone" in compacted and "Translate the manual" in compacted


def test_a_fork_whose_transcript_names_no_parent_is_given_all(past: Talk, tmp_path: Path) -> None:
    assert "Recent sessions" in occur(
        new_session(past, 4), "SessionStart", source="fork", transcript_path=str(tmp_path / "gone.jsonl")
    )


# -- prompts that ask ------------------------------------------------------------------------------


def test_a_prompt_that_asks_to_recall_is_answered_at_once(talk: Talk) -> None:
    text = talk.asks("Do you remember what we decided about the date parser?")

    assert "ask the calendar module" in text
    assert "Why does the date parser fail" in text
    assert "uploader" not in entries(text)[0]
    assert text.startswith("<mdmem-context id=")
    assert ".md" not in text
    assert str(talk.vault) not in text


def test_a_decision_that_changed_no_file_answers_before_the_work_of_its_session(vault: Path, tmp_path: Path) -> None:
    """The session's page repeats its words, and the project's name is in every note: neither makes the work fit."""
    shop = Talk(vault, tmp_path / "shop")
    shop.start()
    shop.says("Why does checkout time out when the cart has more than 50 items? Fix it.")
    shop.edits("checkout.py")
    shop.runs("pytest -q tests/test_checkout.py", "4 passed")
    shop.answers("Checkout priced each item with its own query. We now price the cart in one query.")
    shop.says("Which database do we use, and why? Decide whether to move to PostgreSQL.")
    shop.answers("Decision: we stay with SQLite for the shop until there is more than one writer.")

    text = ask(new_session(shop, 1), "What did we decide about the database for the shop?")

    assert "we stay with SQLite" in entries(text)[0]
    assert "priced each item" not in text


def test_what_a_person_wrote_on_a_page_answers_and_not_what_its_page_is_about(vault: Path, tmp_path: Path) -> None:
    lab = Talk(vault, tmp_path / "lab")
    lab.start()
    lab.says("The training loss becomes NaN after epoch 3.")
    lab.edits("train.py")
    lab.answers("Gradients are clipped at 1.0 now, since fp16 overflowed in the attention.")
    lab.says("Write down how to resume a run.")
    lab.edits("docs/resume.md")
    lab.answers("docs/resume.md tells that --resume takes the last checkpoint.")
    session_page = next(page for page in vault.glob("journal/lab/*/*/*.md") if page.stem == page.parent.name)
    for page, words in (
        (session_page, "The zebra checkpoint lies on tape 14 in the archive, because of the audit."),
        (vault / "journal/lab/project.md", "The quokka cluster is reserved on Tuesdays for the nightly training."),
    ):
        page.write_text(f"{page.read_text('utf-8')}\n{words}\n", "utf-8")

    on_session = ask(new_session(lab, 1), "On which tape in the archive did we put the zebra checkpoint?")
    on_project = ask(new_session(lab, 2), "On which days did we have the quokka cluster reserved?")
    of_template = ask(new_session(lab, 3), "What did we decide about the folders that lie beside this file?")

    assert "tape 14" in on_session
    assert "--resume" not in on_session
    assert "on Tuesdays" in on_project
    assert "was remembered" not in f"{on_project}{of_template}"


def test_an_answer_of_the_same_session_that_fits_as_well_as_its_work_is_shown_too(vault: Path, tmp_path: Path) -> None:
    node = Talk(vault, tmp_path / "node")
    node.start()
    node.says("The watchdog resets the node during an update.")
    node.edits("ota.c")
    node.answers("The flash erase blocks, so the watchdog is fed after every page of the update.")
    node.says("Raise the watchdog timeout too?")
    node.answers("No: the watchdog timeout stays at 2 s, since a longer one would hide hangs in the radio driver.")

    text = ask(new_session(node, 1), "Why didn't we raise the watchdog timeout for the update?")

    assert "would hide hangs" in text
    assert "after every page" in text


def test_a_prompt_in_another_language_asks_too(talk: Talk) -> None:
    assert "calendar module" in build(talk, prompt="Weißt du noch, warum der date parser falsch war?")


@pytest.mark.parametrize(
    "prompt", ["hi", "fix the bug in dates.py", "/review date parser", "```\nlast time the date parser\n```", "", "   "]
)
def test_other_prompts_get_nothing(talk: Talk, prompt: str) -> None:
    assert ask(talk, prompt) == ""


def test_a_question_that_names_nothing_is_answered_with_the_last_sessions(talk: Talk) -> None:
    text = build(talk, prompt="What did we do last time?")

    assert "Recent sessions" in text
    assert "date parser" in text


def test_nothing_is_given_twice_to_one_session(talk: Talk) -> None:
    first = ask(talk, "What did we decide about the date parser?")
    second = ask(talk, "And what did we decide about the uploader and the date parser?")

    assert first
    assert not set(MARK.findall(first)) & set(MARK.findall("".join(entries(second))))


def test_a_repeated_question_is_referred_to_the_earlier_block(talk: Talk) -> None:
    first = ask(talk, "What did we decide about the date parser?")
    second = ask(talk, "What did we decide about the date parser?")

    assert "Given above: [mem:" in second
    assert set(MARK.findall(second.partition("Given above")[2])) <= set(MARK.findall(first))
    assert entries(second) == []
    assert len(second) < len(first)


def test_the_sessions_own_notes_are_not_given_before_a_compaction_and_are_after_it(talk: Talk) -> None:
    talk.says("The frobnicator must be idempotent")
    talk.answers("Agreed: the frobnicator is idempotent.")
    question = "What did we decide about the frobnicator?"

    assert "idempotent" not in build(talk, prompt=question)
    talk.start("compact")
    assert "idempotent" in build(talk, prompt=question)


def test_a_note_listed_at_the_start_is_given_when_it_is_asked_for(past: Talk) -> None:
    write(past.vault, "notes/phone.md", "The on-call phone of the payments team is in the blue cabinet.")
    talk = new_session(past, 1)

    listed = talk.inject("SessionStart", source="startup")
    given = ask(talk, "Where is the on-call phone of the payments team?")
    again = ask(talk, "Where is the on-call phone of the payments team?")

    assert "note [mem:" in listed
    assert "blue cabinet" not in listed
    assert "blue cabinet" in given
    assert "Given above: [mem:" in again


def test_what_was_listed_is_not_listed_again_when_the_session_is_resumed(past: Talk) -> None:
    write(past.vault, "notes/phone.md", "The on-call phone of the payments team is in the blue cabinet.")
    talk = new_session(past, 1)

    assert " phone" in talk.inject("SessionStart", source="startup")
    assert " phone" not in talk.inject("SessionStart", source="resume")


# -- the sessions of some days -----------------------------------------------------------------------


@pytest.fixture
def week(past: Talk) -> Talk:
    """A project with seven sessions, one on each of the days from 2026-09-15 on, and a new session on 2026-09-23."""
    names = ("", "one", "two", "three", "four", "five", "six", "seven")
    for day in range(1, 8):
        talk = new_session(past, day)
        talk.says(f"Write the {names[day]} report")
        talk.edits(f"reports/r{day}.py", [f"+report = {day}"])
        talk.answers(f"Report {day} is written.")
    return new_session(past, 9)


@pytest.mark.parametrize(
    ("prompt", "days"),
    [
        ("what did we do last Thursday?", [3]),
        ("what did we change on september 15?", [1]),
        ("was haben wir am 16. September gemacht?", [2]),
        ("what got done last week?", [1, 2, 3, 4, 5, 6]),
        ("qu'est-ce qu'on a fait hier ?", []),
        ("what did we decide about the three report last week?", [3]),
    ],
)
def test_a_prompt_that_asks_for_days_gets_their_sessions(week: Talk, prompt: str, days: list[int]) -> None:
    given = ask(week, prompt)

    assert [day for day in range(1, 8) if f"r{day}.py" in given.partition("## Recent")[0]] == days
    if not days:
        assert "## Sessions on 2026-09-22\n  No session of this project was worked on then." in given
        assert "Report 7 is written" in given


def test_a_question_about_days_looks_past_a_limited_number_of_sessions_that_only_ask(
    past: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 4):
        new_session(past, number).says("Why is the date parser so strict?")

    monkeypatch.setattr(recent, "MOST_LOOKED_AT", 4)
    assert "uploader retries" in ask(new_session(past, 9), "what did we do last week?")
    monkeypatch.setattr(recent, "MOST_LOOKED_AT", 3)
    assert "uploader retries" not in ask(new_session(past, 10), "what did we do last week?")


def test_a_session_that_ran_past_midnight_belongs_to_both_days(past: Talk) -> None:
    talk = new_session(past, 1)
    talk.says("Upgrade the report generator")
    talk.edits("reports/generator.py", ["+VERSION = 2"])
    talk.answers("The generator is at version 2.")
    talk.now += 86_400
    talk.says("And its templates")
    talk.edits("reports/templates.py", ["+VERSION = 3"])
    talk.answers("The templates are at version 3.")

    for number, day, is_shown in ((7, "Tuesday", True), (8, "Wednesday", True), (9, "Thursday", False)):
        given = ask(new_session(past, number), f"what did we do last {day}?").partition("## Recent")[0]
        assert ("The templates are at version 3." in given) is is_shown


def test_the_last_sessions_are_shown_with_how_they_ended_and_not_with_a_preamble(past: Talk) -> None:
    talk = new_session(past, 1)
    talk.says("Stop the worker from leaking")
    talk.edits("worker.py", ["+pool.close()"])
    preamble = "I have read the modules that were listed in the overview of this folder from top to bottom. " * 5
    talk.answers(f"{preamble}\n\nThe leak came from an open pool; `pool.close()` fixed it.")

    assert "The leak came from an open pool" in ask(new_session(past, 2), "where were we?")


def test_sessions_that_were_given_already_are_only_named(week: Talk) -> None:
    given = ask(week, "what did we do last Thursday?")
    again = ask(week, "what did we do last Thursday?")

    assert "Report 3 is written" in given
    assert "Report 3 is written" not in again
    assert "Given above: [mem:" in again


# -- once a session --------------------------------------------------------------------------------


def test_at_the_thirteenth_turn_memories_are_looked_up_once(talk: Talk) -> None:
    for n in range(11):
        talk.says(f"Work on the date parser, step {n}")

    assert ask(talk, "twelfth") == ""
    talk.store("UserPromptSubmit", prompt="twelfth")
    text = ask(talk, "Work on the date parser again")
    talk.store("UserPromptSubmit", prompt="Work on the date parser again")

    assert "## Notes related to this session" in text
    assert "calendar module" in text
    (row,) = injection_log.read_log(config.load(str(talk.vault)))
    assert row["why"] == ["turns"]
    assert row["ids"] == MARK.findall(text)
    expected = [f"Work on the date parser, step {n}" for n in (6, 7, 8, 9, 10)] + ["Work on the date parser again"]
    assert row["query_chars"] == len("\n---\n".join(expected))
    assert row["time"].startswith("2026-09-15T")
    assert ask(talk, "Work on the date parser, fourteenth") == ""


@pytest.mark.parametrize(("chars", "fires"), [(333, False), (334, True)])
def test_a_prompt_longer_than_the_limit_looks_memories_up(talk: Talk, chars: int, fires: bool) -> None:
    prompt = ("The date parser. " * 40)[:chars]

    assert bool(build(talk, prompt=prompt) if fires else ask(talk, prompt)) is fires
    assert talk.flag("recalled").exists() is fires


def test_filler_does_not_choose_what_is_related(talk: Talk, past: Talk) -> None:
    past.says("Run the tests, commit it and go on with the next step")
    past.edits("progress.py")
    past.answers("The tests run, the step is committed, go on with the next one.")
    talk.says("The date parser takes 2026-02-30 for a day of March")
    for n in range(11):
        talk.says(("go on with it", "run the tests", "commit it", "next step please")[n % 4])

    text = ask(talk, "ok, run the tests again")

    assert "calendar module" in entries(text)[0]


def test_it_is_once_also_when_nothing_was_found(talk: Talk) -> None:
    assert talk.asks("xyzzy " * 80) == ""
    assert talk.flag("recalled").exists()
    assert talk.asks("The date parser. " * 40) == ""


def test_a_question_and_the_once_a_session_search_share_one_reply_and_say_nothing_twice(talk: Talk) -> None:
    prompt = "What did we decide about the date parser? " + "The uploader must retry with backoff. " * 10

    text = ask(talk, prompt)

    ids = MARK.findall(text)
    assert len(ids) == len(set(ids)) >= 2
    assert text.count("<mdmem-context") == 1


def test_an_old_session_is_judged_by_its_transcript(talk: Talk) -> None:
    talk.transcript.write_text("".join(line(f"date parser {n}") for n in range(20)))

    assert "calendar module" in ask(talk, "go on")


def test_a_prompt_that_the_hook_has_stored_already_counts_once(talk: Talk) -> None:
    for n in range(12):
        talk.says(f"The date parser {n}")

    assert occur(talk, "UserPromptSubmit", prompt="The date parser 11") == ""
    assert ask(talk, "The date parser") != ""


def test_hook_and_injection_side_by_side_count_a_prompt_once_and_answer_it_once(talk: Talk) -> None:
    for n in range(11):
        talk.says(f"The date parser {n}")

    def both(prompt: str) -> list[bytes]:
        talk.prompts += 1
        payload = talk.payload("UserPromptSubmit", prompt=prompt)
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda verb: talk.process(verb, payload), ("hook", "inject")))
        assert [one.returncode for one in done] == [0, 0]
        return [one.stdout for one in done if one.stdout]

    assert both("The date parser, twelfth") == []
    (answer,) = both("The date parser, thirteenth")
    assert b"calendar module" in answer


def test_of_two_prompts_at_the_same_moment_one_is_answered(talk: Talk) -> None:
    payloads = [talk.payload("UserPromptSubmit", prompt="The date parser. " * 40, prompt_id=f"p{n}") for n in range(4)]

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda payload: talk.process("inject", payload), payloads))

    assert sum(b"additionalContext" in one.stdout for one in done) == 1


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variables", [{"MDMEM_INJECT_AFTER_TURNS": "1"}, {"MDMEM_INJECT_AFTER_CHARS": "10"}])
def test_the_environment_says_when(talk: Talk, variables: dict[str, str]) -> None:
    assert ask(talk, "The date parser is slow", env=variables)


def test_the_environment_says_how_much(talk: Talk) -> None:
    variables = {"MDMEM_INJECT_RECALL_LIMIT": "1", "MDMEM_INJECT_BULLET_CHARS": "40"}

    text = talk.asks("What did we decide about the date parser?", env=variables)

    assert len(MARK.findall(text)) == 1
    assert all(len(one) <= 44 for one in text.split("\n") if one.startswith("  > "))


def test_a_bad_value_falls_back_to_the_default_and_is_logged(talk: Talk) -> None:
    names = (
        "AFTER_TURNS",
        "AFTER_CHARS",
        "QUERY_TURNS",
        "QUERY_TURN_CHARS",
        "RECALL_LIMIT",
        "BULLET_CHARS",
        "DISABLED",
    )
    variables = {f"MDMEM_INJECT_{name}": "soon" if "TURN" in name else "-3" for name in names}

    assert "calendar" in talk.asks("What did we decide about the date parser?", env=variables)
    log = (Path(config.load(str(talk.vault)).state_dir) / "log").read_text()
    assert all(f" {name} is not " in log for name in variables)
    assert "soon" not in log


@pytest.mark.parametrize(
    "variables",
    [{"RECALL_LIMIT": "9" * 20}, {"BULLET_CHARS": "3"}, {"QUERY_TURNS": "0"}, {"QUERY_TURN_CHARS": "0"}],
    ids="".join,
)
def test_an_odd_but_allowed_setting_still_gives_memories(
    talk: Talk, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"MDMEM_INJECT_{name}", value)

    assert "[mem:" in build(talk, prompt="What did we decide about the date parser? " * 10)


def test_the_variable_switches_off_only_the_injection_by_turns(talk: Talk) -> None:
    own_settings("[inject]\nafter_turns = 1\n")
    env = {"MDMEM_INJECT_DISABLED": "1"}

    assert talk.asks("The date parser and the uploader", env=env) == ""
    assert talk.asks("What did we decide about the date parser?", env=env)


@pytest.mark.parametrize("name", ["MDMEM_DISABLED", "MDMEM_CHILD"])
def test_it_can_be_switched_off(talk: Talk, name: str) -> None:
    assert talk.asks("What did we decide about the date parser?", env={name: "1"}) == ""


def test_settings_of_the_user_count(talk: Talk) -> None:
    own_settings("[inject]\nafter_turns = 1\nquery_turns = 1\nchars = 900\n")

    text = ask(talk, "The date parser and the uploader")

    assert 0 < len(text) <= 900


# -- who gets nothing, and what is never given ------------------------------------------------------


def test_a_sub_agent_gets_nothing_and_the_main_thread_of_a_custom_agent_does(talk: Talk) -> None:
    question = "What did we decide about the date parser?"

    assert talk.asks(question, agent_id="a1", agent_type="Explore") == ""
    assert talk.asks(question, transcript_path="/x/subagents/agent-1.jsonl") == ""
    assert talk.asks(question, agent_type="reviewer") != ""


def test_a_private_prompt_gets_nothing_and_counts_for_nothing(talk: Talk) -> None:
    prompt = f"<private>What did we decide about the date parser? {'x' * 400}</private>"

    assert talk.asks(prompt) == ""
    assert not talk.flag("recalled").exists()
    assert not talk.flag("given").exists()
    assert list(injection_log.read_log(config.load(str(talk.vault)))) == []


def test_the_private_part_of_a_prompt_is_not_searched_by(talk: Talk) -> None:
    found = explained(talk, "What did we decide about <private>the date parser</private> colors?")

    assert "parser" not in found["query"]
    assert found["results"] == []


def test_internal_memories_are_never_given(talk: Talk) -> None:
    write(talk.vault, "internal/ghost/user/alice/a.md", "The date parser ghost.", kind="ghost", pinned=True)
    write(talk.vault, "internal/agent/b.md", "The date parser agent memory.", kind="agent", pinned=True)
    write(talk.vault, "Internal/c.md", "The date parser ghost, where letters have no case.", pinned=True)
    write(talk.vault, "notes/d.md", "The date parser ghost, by its kind.", kind="Ghost", pinned=True)

    assert "ghost" not in build(talk, "SessionStart", source="startup")
    text = build(talk, prompt="What did we decide about the date parser?")
    assert "ghost" not in text
    assert "agent memory" not in text


def test_an_excluded_project_is_given_nothing(talk: Talk) -> None:
    (talk.vault / "mdmem.toml").write_text('[capture]\nexclude_projects = ["notes-*"]\n')

    assert occur(talk, "SessionStart", source="startup") == ""
    assert ask(talk, "What did we decide about the date parser?") == ""


def test_other_projects_are_given_only_when_a_setting_says_so(past: Talk, tmp_path: Path) -> None:
    other = new_session(past, 1, tmp_path / "other")
    question = "What did we decide about the date parser?"

    assert build(other, prompt=question) == ""
    own_settings("[inject]\nother_projects = true\n")
    assert "of another project: notes-app" in build(other, prompt=question)


def test_a_superseded_note_is_not_given(talk: Talk) -> None:
    write(talk.vault, "notes/old.md", "The date parser uses regexes.", superseded_by="0123456789", pinned=True)
    write(talk.vault, "notes/new.md", "The date parser uses the calendar.", id="0123456789", superseded_by="")
    for number, header in enumerate(("superseded_by:\n  - new", '"superseded_by": new', "{superseded_by: [new]}")):
        (talk.vault / "notes" / f"{number}.md").write_text(
            f"---\n{header}\n---\nThe date parser uses regexes, {number}."
        )

    text = build(talk, prompt="What did we decide about the date parser?")

    assert "regexes" not in text
    assert "[mem:0123456789]" in text
    assert "regexes" not in build(talk, "SessionStart", source="startup")


def test_a_private_section_that_a_person_wrote_into_a_note_stays_out(talk: Talk) -> None:
    text = "The date parser. <private>Its author is " + "very " * 100 + "SLOPPY.</private> It is strict."
    write(talk.vault, "notes/a.md", text, pinned=True)
    write(talk.vault, "notes/b.md", "The date parser: password=hunter2hunter2", pinned=True)

    for got in (
        build(talk, prompt="Do you remember the sloppy very date parser?"),
        build(new_session(talk, 5), "SessionStart", source="startup"),
    ):
        assert "It is strict" in got
        assert "SLOPPY" not in got
        assert "very very" not in got
        assert "hunter2" not in got


def test_an_answer_that_a_person_marked_private_is_in_no_session_that_is_shown(talk: Talk) -> None:
    for path in talk.vault.rglob("*-response-*.md"):
        path.write_text(path.read_text("utf-8").replace("\n---\n", "\nprivate: yes\n---\n", 1), "utf-8")

    for got in (
        build(talk, "SessionStart", source="startup"),
        build(talk, prompt="What did we do last time?"),
        build(talk, prompt="Do you remember how the uploader retries?"),
    ):
        assert "retries five times" not in got
        assert "doubling" not in got


# -- what is given ---------------------------------------------------------------------------------


def test_a_change_that_is_gone_from_its_file_is_marked_and_a_touched_file_is_not(talk: Talk) -> None:
    question = "What did we decide about the date parser?"
    (talk.cwd / "dates.py").write_text("# by calendar\na = 2\n")
    os.utime(talk.cwd / "dates.py", (talk.now + 999, talk.now + 999))

    untouched = build(talk, prompt=question)
    assert "changed dates.py" in untouched
    assert "different by now" not in untouched
    (talk.cwd / "dates.py").write_text("a = 3\n")
    assert "(different by now: dates.py)" in build(new_session(talk, 4), prompt=question)
    (talk.cwd / "dates.py").unlink()
    assert "(no longer there: dates.py)" in build(new_session(talk, 5), prompt=question)


def test_an_answer_shows_what_was_asked_how_it_ended_and_what_was_changed(talk: Talk) -> None:
    (first,) = entries(build(talk, prompt="What did we decide about the date parser?"))[:1]

    assert first.startswith("2026-09-14 session [mem:")
    assert "Why does the date parser fail on 2026-02-29?" in first
    assert "The parser took every February for 28 days. We decided to ask the calendar module." in first
    assert "    -a = 1\n    +a = 2" in first


def test_a_failure_is_answered_by_the_run_that_failed_and_the_one_that_then_did_not(talk: Talk, past: Talk) -> None:
    past.says("Make the frobnicator work")
    past.runs("pytest -q frob", error="Exit code 1\nFrobnicationError: the date is not frobnicated")
    past.runs("pytest -q frob", "12 passed")
    past.answers("Tests pass now.")

    text = build(talk, prompt="Have we seen a FrobnicationError before?")

    assert "$ pytest -q frob\n" in text
    assert "FrobnicationError: the date is not frobnicated" in text
    assert "(then succeeded)" in text
    assert "12 passed" in text


@pytest.mark.parametrize(
    ("again", "shown"),
    [
        ("RIG=2 make flash PROBE=7", "$ RIG=2 make flash PROBE=7  (then succeeded)\n      verified"),
        ("sudo udevadm reload && make flash", "$ sudo udevadm reload && make flash  (then succeeded)\n      verified"),
        ("make test", "$ make test\n"),
    ],
)
def test_a_command_that_failed_is_known_when_it_runs_again_in_other_words(
    talk: Talk, past: Talk, again: str, shown: str
) -> None:
    past.says("Flash the zeppelin board")
    past.runs("make flash", error="Exit code 1\nno probe was found")
    past.runs(again, "verified")
    past.answers("The zeppelin board has the new firmware.")

    (first,) = entries(build(talk, prompt="How did we flash the zeppelin board?"))

    assert shown in first
    assert "Exit code" not in first


def test_what_was_run_between_a_failure_and_its_end_is_shown_where_no_file_was_changed(talk: Talk, past: Talk) -> None:
    past.says("The zeppelin tests do not start")
    past.runs("npm run zeppelin", error="Exit code 1\nExecutable does not exist")
    past.runs("npx browsers install")
    past.runs("npm run zeppelin", "28 passed")
    past.answers("The zeppelin tests pass.")

    (first,) = entries(build(talk, prompt="How did we get the zeppelin tests to start?"))

    assert first.index("$ npm run zeppelin") < first.index("$ npx browsers install") < first.index("(then succeeded)")


def test_a_question_how_something_is_run_is_answered_with_the_command(talk: Talk, past: Talk) -> None:
    past.says("Put the October numbers of the zeppelin fleet into the database")
    past.runs("git status", "clean")
    past.runs("go run ./cmd/fleet import --schema 08 october.xml", "imported 1,412 rows")
    past.runs("git log -1", "abc")
    past.answers("The numbers of the zeppelin fleet are in.")

    (first,) = entries(build(talk, prompt="How do we run the import of the zeppelin fleet?"))

    assert "    $ go run ./cmd/fleet import --schema 08 october.xml\n      imported 1,412 rows" in first
    assert "git" not in first


def test_a_command_without_a_word_of_the_question_is_shown_where_nothing_was_changed(talk: Talk, past: Talk) -> None:
    past.says("Put the October numbers of the zeppelin fleet into the database")
    past.runs("go run ./cmd/fleet load --schema 08 october.xml", "1,412 rows")
    past.runs("git log -1", "abc")
    past.answers("The numbers of the zeppelin fleet are in.")

    (first,) = entries(build(talk, prompt="How do we run the import of the zeppelin numbers?"))

    assert "    $ go run ./cmd/fleet load --schema 08 october.xml\n      1,412 rows" in first


def test_of_a_run_that_failed_the_line_that_says_why_is_shown_wherever_it_stands(talk: Talk, past: Talk) -> None:
    past.says("Build the zeppelin site")
    trace = "TypeError: mast is not a function\n    at rig (a.js:1)\n    at build (b.js:2)"
    past.runs("npm run build", error=f"Exit code 1\n> zeppelin@1.0 build\n> vite build\n\n{trace}")
    past.answers("The zeppelin site is not built.")

    (first,) = entries(build(talk, prompt="What happened when we tried to build the zeppelin site?"))

    assert "$ npm run build\n      TypeError: mast is not a function\n      at build (b.js:2)" in first


def test_commands_of_every_agent_are_shown(past: Talk, talk: Talk) -> None:
    past.says("Import the zeppelin fleet")
    for tool, command in (("run_shell_command", "fleet import a.xml"), ("shell", "fleet check a.xml")):
        use = {"tool_name": tool, "tool_input": {"command": command}, "tool_use_id": f"toolu_{tool}"}
        past.store("PostToolUse", tool_response="Output: done", **use)
    past.answers("The zeppelin fleet is in.")

    assert "$ fleet import a.xml" in build(talk, prompt="What did we do to import the zeppelin fleet?")
    assert "$ fleet check a.xml" in build(new_session(past, 2), prompt="How did we check the zeppelin fleet?")


def test_after_a_failure_that_was_solved_before_what_solved_it_is_given_once(talk: Talk, past: Talk) -> None:
    past.says("Make the frobnicator work")
    past.runs("pytest -q frob", error="Exit code 1\nFrobnicationError: the date is not frobnicated")
    past.edits("frob.py")
    past.runs("pytest -q frob", "12 passed")
    past.answers("The frobnicator is switched on before the date is read.")
    failed: dict[str, Any] = {
        "tool_name": "Bash", "tool_input": {"command": "make check"}, "tool_use_id": "t1",
        "error": "Exit code 2\nFrobnicationError: the date is not frobnicated",
    }  # fmt: skip

    text = occur(talk, "PostToolUseFailure", **failed)

    assert "## What solved this error before" in text
    assert len(text) <= 800
    assert "switched on before the date is read" in text
    assert "+a = 2" in text
    assert occur(talk, "PostToolUseFailure", **failed) == ""
    assert occur(talk, "PostToolUseFailure", **{**failed, "error": "Exit code 1\nKeyError: 'colour'"}) == ""


def test_a_pasted_message_is_answered_where_the_same_was_seen_and_not_a_like_one(talk: Talk, past: Talk) -> None:
    past.says("The zeppelin board does not come up")
    past.runs("make zeppelin", error="Exit code 127\nbash: zeppelinctl: command not found")
    past.answers("zeppelinctl is part of the fleet tools; it is installed now.")

    assert build(talk, prompt="bash: airshipctl: command not found") == ""
    assert "fleet tools" in build(talk, prompt="bash: zeppelinctl: command not found")


def test_what_was_proposed_is_shown_with_what_was_then_decided(talk: Talk, past: Talk) -> None:
    past.says("Which library shall draw the zeppelin chart? Chartist must go")
    past.answers("I would take Plotly, and drop Chartist then.")
    past.says("no, take Vega instead of Chartist, it is smaller")
    past.edits("chart.ts")
    past.answers("Vega draws the zeppelin chart; Chartist is still used by the report.")

    assert "still used by the report" in build(talk, prompt="Is Chartist gone completely by now?")


def test_notes_of_people_come_before_what_machines_wrote(talk: Talk) -> None:
    write(talk.vault, "notes/a.md", "Why does the date parser fail on 2026-02-29?", kind="note", project="notes-app")

    text = build(talk, prompt="Do you remember why the date parser fails on 2026-02-29?")

    assert " note [mem:" in entries(text)[0]


# -- answers, not echoes ---------------------------------------------------------------------------


def test_the_same_question_in_three_later_sessions_is_answered_each_time(talk: Talk, past: Talk) -> None:
    for number in range(3):
        later = new_session(past, 10 + number)
        text = ask(later, "What did we decide about the date parser?")
        later.store("UserPromptSubmit", prompt="What did we decide about the date parser?")
        later.answers("As far as my notes of the date parser go, it asks something.")

        assert "ask the calendar module" in entries(text)[0]
        assert "As far as my notes" not in text


@pytest.mark.parametrize("question", ["How was the date parser fixed?", "Why does the date parser fail on 2026-02-29?"])
def test_a_question_that_was_only_talked_about_does_not_take_the_place_of_the_work(
    talk: Talk, past: Talk, question: str
) -> None:
    for number in range(3):
        later = new_session(past, 10 + number)
        later.says(question)
        later.answers(f"{question} Nobody knows how the date parser was fixed.")

    text = build(new_session(past, 20), prompt=f"Do you remember: {question}")

    assert "ask the calendar module" in entries(text)[0]
    assert "Nobody knows" not in text


def test_a_question_that_nothing_answers_is_not_answered_by_itself(talk: Talk, past: Talk) -> None:
    for number in range(3):
        later = new_session(past, 10 + number)
        question = "How are the colors of the weather map chosen at night?"

        assert ask(later, question) == ""
        later.store("UserPromptSubmit", prompt=question)
        later.answers("The notes say nothing of the colors of the weather map.")


@pytest.mark.slow
def test_twenty_sessions_that_only_ask_are_in_no_block(talk: Talk, past: Talk) -> None:
    questions = ["What did we decide about the date parser?", "Do you remember the date parser of last week?"]
    for number in range(20):
        echo = new_session(past, 20 + number)
        echo.says(questions[number % 2])
        if number % 3:
            echo.answers("The date parser was discussed, says the echo.")
    later = new_session(past, 60)

    blocks = [
        ask(later, "Why did we change the date parser?"),
        ask(later, "What did we do last time?"),
        occur(new_session(past, 61), "SessionStart", source="startup"),
        ask(new_session(past, 62), "The date parser and its February. " * 14),
    ]

    assert all("calendar module" in text or "uploader retries" in text for text in blocks)
    assert not any("says the echo" in text or "Do you remember" in text or "What did we" in text for text in blocks)


def test_sessions_that_only_ask_are_neither_recent_nor_left_open(past: Talk) -> None:
    for number, question in enumerate(["Why is the date parser so strict?", "How was the uploader fixed?"]):
        new_session(past, 80 + number).says(question)
    cited = new_session(past, 90)
    cited.says("Why is the uploader limited to three retries?")
    cited.answers("It is what [mem:7gk2q9m4x1] says.")

    text = occur(new_session(past, 91), "SessionStart", source="startup")

    assert "uploader retries" in text
    assert not any(part in text for part in ("so strict", "was the uploader", "has no answer", "limited to three"))


def test_the_start_of_a_session_looks_back_past_a_limited_number_of_sessions_that_only_ask(
    past: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        new_session(past, 80 + number).says("Why is the date parser so strict?")

    monkeypatch.setattr(recent, "MOST_LOOKED_AT", 4)
    assert "uploader retries" in occur(new_session(past, 91), "SessionStart", source="startup")
    monkeypatch.setattr(recent, "MOST_LOOKED_AT", 3)
    assert "uploader retries" not in occur(new_session(past, 92), "SessionStart", source="startup")


@pytest.mark.parametrize(("pinned", "times"), [(False, 0.1), (True, 1.2)])
def test_the_text_of_a_long_note_is_not_cleaned_to_list_it(
    past: Talk, pinned: bool, times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "Amounts are in cents. " + "\n\nThe ledger has a row for each payment." * 5_000
    file = write(past.vault, "notes/ledger.md", body, kind="decision", title="How the ledger counts", pinned=pinned)
    os.utime(file, (past.now, past.now))
    occur(new_session(past, 1), "SessionStart", source="startup")  # updates the index
    cleaned, clean = [], privacy.clean

    def counted(value: Any, **more: Any) -> privacy.Cleaned:
        cleaned.append(len(str(value)))
        return clean(value, **more)

    monkeypatch.setattr(privacy, "clean", counted)

    text = occur(new_session(past, 2), "SessionStart", source="startup")

    assert "How the ledger counts" in text
    assert ("Amounts are in cents." in text) == pinned
    assert sum(cleaned) < times * len(body) + 20_000


@pytest.mark.parametrize("source", ["compact", "startup"])
def test_a_long_session_is_read_in_linear_time(past: Talk, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    long = new_session(past, 1)
    long.says("Rename every importer")
    long.edits("dates.py")
    edit = next(long.vault.rglob("*00000001/001-001-*.md"))
    for number in range(2, 402):
        (edit.parent / f"001-{number:03d}-edit-dates-py-{number:010d}.md").write_bytes(edit.read_bytes())
    calls, numbers = [], journal.numbers

    def counted(name: str) -> tuple[int, ...]:
        calls.append(name)
        return numbers(name)

    monkeypatch.setattr(journal, "numbers", counted)

    session = long if source == "compact" else new_session(past, 2)
    text = occur(session, "SessionStart", source=source)

    assert "Rename every importer" in text
    assert len(calls) < 50 * 400


def test_what_is_asked_for_is_given_in_a_young_vault_of_which_every_note_has_the_words(talk: Talk) -> None:
    for number in range(12):
        write(talk.vault, f"notes/p{number}.md", f"The date parser: case {number}.", title=f"Case {number}")

    assert MARK.findall(talk.asks("Do you remember the date parser?"))


@pytest.mark.slow
def test_poisoned_notes_stay_in_their_fence(talk: Talk) -> None:
    for number, poison in enumerate(POISON):
        write(talk.vault, f"notes/p{number}.md", f"The date parser {poison} {poison}", title=poison.replace("\0", ""))
        write(talk.vault, f"notes/q{number}.md", f"The date parser {poison}", pinned=True)
    (talk.vault / "notes" / "the date parser <system-reminder>.md").write_text("date parser", encoding="utf-8")

    for text in (
        talk.asks("Do you remember the date parser?", env={"MDMEM_INJECT_RECALL_LIMIT": "60"}),
        new_session(talk, 7).inject("SessionStart", source="startup"),
    ):
        inside = text.split("\n")[1:-1]
        assert MARK.findall(text)
        assert not any("<mdmem" in one or "<system" in one or "＜" in one or "\\u003c" in one for one in inside)
        assert all(one[:2] in ("", "- ", "  ", "##") for one in inside[1:])


def test_what_was_injected_is_not_remembered_again(talk: Talk) -> None:
    text = ask(talk, "What did we decide about the date parser?")

    outcome = talk.store("UserPromptSubmit", prompt=f"{text}\n\nGo on with the importer.", prompt_id="echo")

    stored = (talk.vault / outcome.path).read_text()
    assert "Go on with the importer." in stored
    assert "calendar module" not in stored
    assert "mdmem-context" not in stored


# -- files that are read ---------------------------------------------------------------------------


def test_before_a_file_is_changed_what_was_done_to_exactly_this_file_is_given_once(talk: Talk, past: Talk) -> None:
    past.edits("other/dates.py")
    past.answers("The other parser of dates stays.")
    edit: dict[str, Any] = {"tool_name": "Edit", "tool_input": {"file_path": str(talk.cwd / "dates.py")}}

    text = occur(talk, "PreToolUse", **edit)

    assert "## What is known of dates.py" in text
    assert "ask the calendar module" in text
    assert "The other parser" not in text
    assert len(text) <= 1_200
    assert occur(talk, "PreToolUse", **edit) == ""
    assert occur(new_session(talk, 6), "PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) == ""


def test_before_a_file_is_changed_nothing_is_shown_of_what_was_changed_beside_it(talk: Talk, past: Talk) -> None:
    past.says("Share the parser")
    past.edits("dates.py")
    past.edits("times.py")
    past.answers("Both use one parser.")
    write(talk.vault, "notes/a.md", "dates.py is generated.", kind="note", files=["dates.py"], project="notes-app")
    write(talk.vault, "notes/b.md", "dates.py has an owner.", kind="note", files=["dates.py"], project="notes-app")

    text = occur(talk, "PreToolUse", tool_name="Edit", tool_input={"file_path": str(talk.cwd / "dates.py")})

    assert "Both use one parser." in text
    assert "    dates.py:\n" in text
    assert "    times.py:\n" not in text
    assert "is generated" in text
    assert "has an owner" in text


def test_before_a_file_is_changed_what_an_answer_says_of_it_by_its_path_is_shown(talk: Talk, past: Talk) -> None:
    past.says("Stop the map from flickering")
    past.edits("web/map.tsx")
    past.answers("The map keeps its layer now.\n\nTODO\n- The same style is in `web/tooltip.tsx` and in `legend.tsx`")

    def before(path: str) -> str:
        return occur(talk, "PreToolUse", tool_name="Edit", tool_input={"file_path": str(talk.cwd / path)})

    assert before("legend.tsx") == ""
    text = before("web/tooltip.tsx")
    assert "TODO: The same style is in `web/tooltip.tsx`" in text
    assert "(changed web/map.tsx)" in text


def test_of_a_failed_run_the_line_that_says_why_is_shown(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Bound the set of keys")
    failed = "--- FAIL: TestEvicts (0.01s)\n    set_test.go:33: len = 101, want 100\nFAIL\nok  \tapp/queue\t0.4s"
    busy.runs("go test ./...", error=f"Exit code 1\n{failed}")
    busy.edits("set.go")
    busy.answers("The oldest key is removed.")

    text = occur(
        new_session(past, 2), "PreToolUse", tool_name="Edit", tool_input={"file_path": str(past.cwd / "set.go")}
    )

    assert "    $ go test ./...\n      --- FAIL: TestEvicts (0.01s)\n" in text


def test_before_a_file_is_changed_long_runs_do_not_push_out_its_changes(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Add up all positions")
    why = f"E       NameError: name 'CENT' is not defined in {'one of the modules that add up ' * 4}"
    busy.runs("pytest -q tests/test_totals.py --count 200", error=f"Exit code 1\n{why}\nFAILED tests/test_totals.py")
    busy.edits("totals.py", ["-    return sum(set(nets))", "+    return sum(nets, Decimal(0))"])
    busy.runs("pytest -q tests/test_totals.py --count 200", "200 passed")
    busy.answers("Positions with the same amount were counted once. " * 5)

    file = str(past.cwd / "totals.py")
    text = occur(new_session(past, 2), "PreToolUse", tool_name="Edit", tool_input={"file_path": file})

    assert "    +    return sum(nets, Decimal(0))\n" in text


def test_turns_that_only_read_a_file_come_after_those_that_changed_it(past: Talk) -> None:
    review = new_session(past, 1)
    review.says("/review the parser")
    file = str(past.cwd / "dates.py")
    body = {"filePath": file, "content": "a = 1", "numLines": 1, "startLine": 1, "totalLines": 1}
    reading = {"tool_name": "Read", "tool_input": {"file_path": file}, "tool_use_id": "r1"}
    review.store("PostToolUse", tool_response={"type": "text", "file": body}, **reading)
    review.answers("Must fix: the fee is computed when the row is read.")

    text = occur(new_session(past, 2), "PreToolUse", tool_name="Edit", tool_input={"file_path": file})

    assert text.index("ask the calendar module") < text.index("Must fix: the fee")
    assert "$ Read" not in text


def test_a_turn_that_only_went_on_is_shown_by_what_was_asked_before(past: Talk) -> None:
    busy = new_session(past, 1)
    busy.says("Add dunning letters")
    busy.edits("model.py")
    busy.says("continue")
    busy.edits("letters.py")
    busy.edits("fees.py")
    busy.answers("The letters work for levels 1 to 3.")
    (past.cwd / "letters.py").write_text("b = 1\n")

    file = str(past.cwd / "letters.py")
    text = occur(new_session(past, 2), "PreToolUse", tool_name="Edit", tool_input={"file_path": file})

    assert "Add dunning letters (also changed fees.py) (different by now)\n" in text
    assert "continue" not in text


@pytest.mark.parametrize(
    "name", ["uv.lock", "web/package-lock.json", "go.sum", ".terraform.lock.hcl", "pnpm-lock.yaml"]
)
def test_before_a_lock_file_is_changed_nothing_is_given(past: Talk, name: str) -> None:
    busy = new_session(past, 1)
    busy.says("Upgrade the database library")
    busy.edits(name)
    busy.edits("db.py")
    busy.answers("The library is at version 2.")
    fresh = new_session(past, 2)

    def before(file: str) -> str:
        return occur(fresh, "PreToolUse", tool_name="Edit", tool_input={"file_path": str(past.cwd / file)})

    assert before(name) == ""
    assert "The library is at version 2." in before("db.py")


def test_before_a_file_is_read_it_is_given_only_if_a_setting_says_so(talk: Talk) -> None:
    reading: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": str(talk.cwd / "dates.py")}}

    assert occur(talk, "PreToolUse", **reading) == ""
    own_settings('[inject]\non = ["read"]\n')
    assert "calendar module" in occur(talk, "PreToolUse", **reading)
    assert ask(talk, "What did we decide about the date parser?") == ""
    assert occur(new_session(talk, 7), "SessionStart", source="startup") == ""


def test_an_agent_is_asked_before_reads_only_if_a_setting_says_so(vault: Path, home: Path) -> None:
    def matchers() -> list[str]:
        registration.register("claude-code")
        hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
        return [group["matcher"] for group in hooks["PreToolUse"]]

    assert matchers() == ["Edit|MultiEdit|Write|NotebookEdit"]
    own_settings('[inject]\non = ["edit", "read"]\n')
    assert matchers() == ["Edit|MultiEdit|Write|NotebookEdit", "Read"]


# -- never in the way ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((PAYLOADS / "claude_code").glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_payload_is_understood(path: Path, vault: Path) -> None:
    answer = answered(vault, path.read_bytes())

    assert not answer or set(json.loads(answer)) == {"hookSpecificOutput"}


@pytest.mark.parametrize(
    "data",
    few(
        [b"", b"{", b"[]", b"null", b"\xff\xfe{", b"\x00" * 99, b'{"hook_event_name": 7}', b"[" * 100_000],
        always=[b"{", b"[" * 100_000],
    ),
)
def test_garbage_on_stdin_is_ignored_silently(past: Talk, data: bytes) -> None:
    done = past.process("inject", data)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_vault_that_is_missing_or_not_a_folder_is_ignored_silently(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    for place in (tmp_path / "missing", tmp_path / "file"):
        env = {"MDMEM_VAULT": str(place)}
        assert talk.inject("SessionStart", source="startup", env=env) == ""
        assert talk.asks("remind me", env=env) == ""
    assert not (tmp_path / "missing").exists()


def test_state_and_cache_that_cannot_be_written_cost_nothing_but_memories(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    env = {"XDG_STATE_HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}

    done = talk.process("inject", talk.payload("UserPromptSubmit", prompt="What did we decide about dates?"), env)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_hostile_ids_and_paths_do_no_harm(past: Talk) -> None:
    payload = past.payload("UserPromptSubmit", prompt="Do you remember the date parser?")
    places = ("", "relative", "/\0", "/\ud800", "C:\\dev", "/" + "x/" * 3_000, "/proc/self/fd/0")

    for fields in ({"cwd": cwd, "session_id": session} for cwd in places for session in ("", "../../etc", "\ud800\0")):
        assert answered(past.vault, json.dumps(payload | fields).encode()) == b""
    assert answered(past.vault, json.dumps(payload | {"session_id": "x" * 5_000}).encode())
    assert not (past.vault / "etc").exists()


def test_an_agent_that_accepts_no_context_at_a_prompt_gets_none_and_nothing_is_logged(past: Talk) -> None:
    payload = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c1", "cursor_version": "1",
               "prompt": "Do you remember the date parser?", "workspace_roots": [str(past.cwd)]}  # fmt: skip

    assert answered(past.vault, json.dumps(payload).encode(), "cursor") == b""
    assert list(injection_log.read_log(config.load(str(past.vault)))) == []


def test_a_closed_stdout_does_no_harm(talk: Talk) -> None:
    payload = json.dumps(talk.payload("SessionStart", source="startup"))
    command = f"{sys.executable} -m mdmem inject claude-code >&-"

    done = subprocess.run(["sh", "-c", command], input=payload.encode(), capture_output=True, timeout=240)

    assert (done.returncode, done.stderr) == (0, b"")


def test_after_its_deadline_it_gives_nothing_and_says_so_in_the_log(talk: Talk) -> None:
    env = {"MDMEM_INJECT_DEADLINE_SECONDS": "0.001"}

    assert talk.asks("What did we decide about the date parser?", env=env) == ""
    log = (Path(config.load(str(talk.vault)).state_dir) / "log").read_text()
    assert "deadline" in log
    assert "parser" not in log


@pytest.mark.slow
def test_an_agent_that_never_closes_stdin_is_not_waited_for_forever(
    past: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_INJECT_DEADLINE_SECONDS", "0.3")
    code = "import mdmem.inject.process as i; i.FIRST_SECONDS = 0.2; i.main(['claude-code'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(240) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_a_prompt_that_wants_nothing_loads_neither_the_index_nor_the_gate(talk: Talk) -> None:
    heavy = {
        "whoosh",
        "yaml",
        "json",
        "re",
        "typing",
        "pathlib",
        "mdmem.privacy",
        "mdmem.vault.note",
        "mdmem.search.engine",
    }
    loaded = modules(talk, "fix the bug in parser.py")
    assert "mdmem.search.asking.shape" in loaded
    assert heavy.isdisjoint(loaded)


def test_a_prompt_that_asks_loads_no_slow_part_of_the_standard_library(talk: Talk) -> None:
    ask(talk, "What did we decide about the date parser?")  # updates the index
    loaded = modules(talk, "Why did the date parser fail?")
    assert "mdmem.search.engine" in loaded
    assert loaded.isdisjoint(["typing", "dataclasses", "pathlib", "urllib.parse", "shlex", "string", "whoosh", "yaml"])


def modules(talk: Talk, prompt: str) -> set[str]:
    """Return the names of the modules that a process loads to answer a prompt."""
    code = (
        "import os, sys; from mdmem.inject import process\n"
        "os._exit = lambda code: (os.write(2, ' '.join(sys.modules).encode()), sys.exit(0))\n"
        "process.main(['claude-code'])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(Path.cwd())!r})\n{code}"],
        input=json.dumps(talk.payload("UserPromptSubmit", prompt=prompt)).encode(), capture_output=True,
        env={**os.environ, "MDMEM_VAULT": str(talk.vault)}, timeout=240,
    )  # fmt: skip
    return set(done.stderr.decode().split())


# -- what is remembered of it ----------------------------------------------------------------------


def test_every_injection_leaves_one_line_with_ids_and_sizes_and_no_content(talk: Talk) -> None:
    text = ask(talk, "What did we decide about the date parser?")
    ask(talk, "hi")

    (row,) = injection_log.read_log(config.load(str(talk.vault)))
    assert row["ids"] == MARK.findall(text)
    assert row["chars"] == len(text)
    assert row["tokens"] > 50
    assert row["why"] == ["recall"]
    assert (row["event"], row["session"], row["project"]) == ("UserPromptSubmit", talk.session, "notes-app")
    state = Path(config.load(str(talk.vault)).state_dir)
    said = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file() and "sessions" not in path.parts)
    assert b"calendar" not in said
    assert b"parser" not in b"".join(path.read_bytes() for path in state.glob("sessions/*.*"))


def test_what_answers_cite_is_counted(talk: Talk) -> None:
    text = ask(talk, "What did we decide about the date parser?")
    first = MARK.findall(text)[0]
    talk.store("UserPromptSubmit", prompt="And now?")
    talk.answers(f"As noted in [mem:{first}], and again [mem:{first}], the calendar decides. See [mem:zzzzzzzzzz].")

    settings = config.load(str(talk.vault))
    index.update(settings)
    wanted = {first, "zzzzzzzzzz", "not0000000"}
    cited_in = freshness.answered(settings, lambda view: citations.cited_by_session(view, wanted))
    assert cited_in == {talk.session: {first, "zzzzzzzzzz"}}
    done = CliRunner().invoke(stats, ["--json"], obj=str(talk.vault), catch_exceptions=False)
    (used,) = json.loads(done.stdout)["injections"]["used"]
    assert (used["id"], used["given"], used["cited"]) == (first, 1, 1)
    (cited,) = talk.vault.rglob(f"*{first}.md")
    assert used["title"] in cited.read_text(encoding="utf-8")


def explained(talk: Talk, prompt: str) -> Any:
    words = ["--explain", prompt, "--cwd", str(talk.cwd), "--json"]
    done = CliRunner().invoke(commands.inject, words, obj=str(talk.vault), catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_explain_shows_what_would_be_given_and_the_scores_and_leaves_no_trace(talk: Talk) -> None:
    found = explained(talk, "What did we decide about the date parser?")

    assert (found["asks"], found["language"], found["phrase"]) == ("yes", "en", "did we decide")
    assert found["results"][0]["score"] > found["results"][-1]["score"] > 0
    assert found["results"][0]["shown"]
    assert found["tokens"] > 50
    assert all(one["shown"] or one["left_out"] for one in found["results"])
    assert "calendar module" in found["block"]
    assert list(injection_log.read_log(config.load(str(talk.vault)))) == []
    assert not talk.flag("given").exists()


def test_explain_shows_what_a_prompt_that_names_nothing_and_a_long_one_would_be_given(talk: Talk) -> None:
    nothing = explained(talk, "What did we do last time?")
    long = explained(talk, "The uploader. " * 60)

    assert (nothing["query"], nothing["results"]) == ("", [])
    assert "Recent sessions" in nothing["block"]
    assert (long["trigger"], len(long["query"])) == ("chars", 500)
    assert "Notes related to this session" in long["block"]


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_explain_does_not_take_an_empty_prompt_for_a_private_one(talk: Talk, prompt: str) -> None:
    done = CliRunner().invoke(commands.inject, ["--explain", prompt], obj=str(talk.vault))

    assert isinstance(done.exception, UsageError)
    assert "The prompt is empty" in str(done.exception)


def test_explain_in_words_says_why(talk: Talk) -> None:
    words = ["--explain", "fix the date parser", "--cwd", str(talk.cwd)]
    done = CliRunner().invoke(commands.inject, words, obj=str(talk.vault), catch_exceptions=False)

    assert "Asks for memory: no." in done.stdout
    assert "the prompt asks for nothing" in " ".join(done.stdout.split())
    assert "response" in done.stdout
    assert "Nothing would be injected." in done.stdout


def test_injections_lists_what_was_given_when_and_why(talk: Talk) -> None:
    text = ask(talk, "What did we decide about the date parser?")
    first = MARK.findall(text)[0]
    talk.store("UserPromptSubmit", prompt="And now?")
    talk.answers(f"By [mem:{first}].")

    def run(*words: str) -> str:
        return CliRunner().invoke(injections, words, obj=str(talk.vault), catch_exceptions=False).stdout

    assert "asked to recall" in run()
    assert "1 cited" in " ".join(run().split())
    assert f"{first}*" in run("--ids")
    (row,) = json.loads(run("--json"))
    assert row["cited"] == [first]
    assert run("--session", "nobody", "--json").strip() == "[]"


def test_the_watcher_answers_as_a_process_would(talk: Talk, past: Talk) -> None:
    payload = talk.payload("UserPromptSubmit", prompt="What did we decide about the date parser?")

    def answer(fields: dict[str, Any], **env: str) -> bytes:
        return answered(talk.vault, json.dumps(payload | fields).encode(), MDMEM_NOW=str(talk.now), **env)

    assert b"calendar module" in answer({})
    assert answer({"prompt": "hi"}) == b""
    assert answer({"session_id": "x", "agent_id": "a"}) == b""
    assert answer({"session_id": "y"}, MDMEM_DISABLED="1") == b""
