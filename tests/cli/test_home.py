"""The terminal: a home screen, pauses that end by themselves, times, completion, narrow screens, the pager."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmem import when
from mdmem.capture.later import upkeep
from mdmem.cli.terminal import progress
from mdmem.errors import NotFoundError
from mdmem.progress import tell
from mdmem.vault import exclusions, journal, pauses
from tests.helpers import cli_day
from tests.helpers.cli_day import FIRST, MORNING, SECOND, Day, complete, completions
from tests.helpers.history_vault import FOLDER, captured
from tests.helpers.transcript_files import Talk

NOW = datetime(2026, 9, 16, 15, 30, tzinfo=UTC)  # a Wednesday


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_in_a_new_vault_it_says_what_comes_next(ask: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    ask("init", check=True)
    assert "No agent is registered yet: `mdmem install claude-code`." in ask().stdout

    ask("install", "claude-code", check=True)
    assert "Not heard from yet: Claude Code. Start a new session there." in ask().stdout


def test_a_task_without_a_project_is_shown_with_its_day_alone(day: Day) -> None:
    day.run("note", "--kind", "task", "Order more tea")
    (line,) = [line for line in day.run().stdout.splitlines() if "tea" in line]
    assert re.fullmatch(r"  Order more tea  \d{4}-\d\d-\d\d: to do", line)


def test_a_resumed_session_is_the_last_one_as_for_history(day: Day) -> None:
    day.ask("And for a day?", MORNING + 300_000, SECOND)
    meta = "kind: note\ncreated: 2026-09-20T08:00:00Z\nsession: of-another-program\n"
    (day.vault / "notes" / "own.md").write_text(f"---\n{meta}---\n\nMine.\n", encoding="utf-8")

    title = day.run("history").stdout.splitlines()[0]
    assert title == day.json("history", SECOND)["title"]
    assert f"Last session: {title}  2026-09-17: `mdmem history`\n" in day.run().stdout


def test_alone_it_shows_whether_it_stores_and_what_is_open(day: Day) -> None:
    home = day.run().stdout
    assert home.startswith("Storing is on.\n")
    assert "Today: 0 notes" in home
    (last,) = day.json("sessions", "-n", "1")
    assert f"Last session: {last['title']}  {last['day']}: `mdmem history`\n" in home
    assert "Left open" not in home

    day.ask("Being answered", time.time(), "s-9")
    home = day.run().stdout
    assert "Today: 1 note, 1 session" in home and "Last session" not in home
    assert "Left open" not in home
    day.ask("Still open", time.time() - 3600, "s-8")
    day.ask("Do you remember what we decided about dates?", time.time() - 3600, "s-7")
    left = day.run().stdout.partition("Left open\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split("  ")[1] for line in left] == ["Still open"]
    (item,) = day.json("todo")
    assert item["text"] == "Still open"
    assert item["key"] in day.run("todo").stdout
    (listed,) = [one for one in day.json("sessions") if one["session"] == "s-8"]
    tag = listed["folder"].rpartition("-")[2]
    assert day.json("todo", "--session", tag) == [item]
    assert day.json("todo", "--session", "another") == []
    assert day.run("show", item["key"]).stdout == day.run("show", item["id"]).stdout
    assert isinstance(day.attempt("show", "zzzzzzzz").exception, NotFoundError)


def test_open_work_is_listed_part_by_part(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    for title in ("one", "two", "three"):
        day.run("note", "Text.", "--kind", "task", "--title", title)
    all_items = day.json("todo")
    assert len(all_items) == 3
    assert day.json("todo", "-n", "1", "--offset", "1") == all_items[1:2]
    assert day.json("todo", "-n", "0", "--offset", "2") == all_items[2:]
    assert day.run("todo", "-n", "1").stderr == "1 of 3 items; --limit 0 shows all, --offset 1 the next ones\n"


def test_alone_without_a_vault_it_shows_the_help(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    shown = day.run("--vault", str(tmp_path / "none")).stdout
    assert shown.startswith("Usage: ")
    assert shown.endswith("There is no vault yet: `mdmem init` creates one.\n")


def test_a_pause_for_a_time_ends_by_itself(day: Day) -> None:
    settings = day.config()
    assert "Paused until" in day.run("pause", "--for", "1h").stdout
    assert exclusions.is_off(settings, "", {})
    assert "Storing has been paused since" in day.run("status").stdout
    assert " until " in day.run().stdout.split("\n")[0]
    path = Path(pauses.pause_path(settings))
    began = path.stat().st_mtime
    path.write_text(str(began + 0.001))
    os.utime(path, (began, began))
    time.sleep(0.01)
    assert not exclusions.is_off(settings, "", {})
    ((start, end),) = pauses.times(settings, "")
    assert start <= end <= start + 1
    assert "paused" not in day.run("status").stdout
    assert day.run("resume").stdout == "Storing was not paused.\n"
    assert len(pauses.times(settings, "")) == 1


def test_a_pause_goes_on_after_a_clock_that_was_past_its_end_for_a_moment(day: Day) -> None:
    settings = day.config()
    for key, words in (("", ()), (pauses.key_of(FIRST), ("--session", FIRST))):
        day.run("pause", "--for", "1h", *words)
        path = Path(pauses.pause_path(settings, key))
        right = path.read_text()
        path.write_text(right.replace(right.split()[0], "1000000000"))  # as for a clock that is past it
        assert not exclusions.is_off(settings, key, {})
        assert "paused" not in day.run("status").stdout
        path.write_text(right)
        assert exclusions.is_off(settings, key, {})
        assert "paused since" in day.run("status").stdout
        day.run("resume", *words)


def test_a_pause_that_is_over_goes_when_the_clock_has_been_right_for_a_day(day: Day) -> None:
    settings = day.config()
    day.run("pause", "--for", "1h")
    day.run("pause", "--session", FIRST, "--for", "3d")
    now = time.time()
    upkeep.prune(settings, now + 7_200)
    assert [path.name for path in Path(settings.state_dir).glob("paused*")] == [f"paused-{pauses.key_of(FIRST)}"]
    ((start, end),) = pauses.times(settings, "")
    assert 3_590 <= end - start <= 3_610


def test_a_pause_that_is_over_but_cannot_be_recorded_stops_no_storing_and_is_recorded_later(day: Day) -> None:
    settings = day.config()
    day.run("pause", "--for", "1h")
    path = Path(pauses.pause_path(settings))
    path.write_text("1000000000")
    record = Path(settings.state_dir, "pauses")
    assert [end for _, end in pauses.times(settings, "")] == [1e9], "not yet recorded"

    record.mkdir()
    assert not exclusions.is_off(settings, "", {})
    upkeep.prune(settings, time.time())
    assert path.exists()
    record.rmdir()
    upkeep.prune(settings, time.time())
    assert not path.exists()
    assert [end for _, end in pauses.times(settings, "")] == [1e9]


def test_an_import_stops_where_the_record_of_pauses_cannot_be_read(day: Day, tmp_path: Path) -> None:
    record = Path(day.config().state_dir, "pauses")
    day.run("pause")
    day.run("resume")
    talk = Talk()
    talk.typed("Asked when nobody knows")
    path = str(talk.save(tmp_path / "projects"))
    row = record.read_bytes()
    record.write_bytes(b"\xff\xfe damaged\n" + row)
    assert len(pauses.times(day.config(), "")) == 1

    record.unlink()
    record.mkdir()
    failed = day.attempt("import", "--yes", path).exception
    assert isinstance(failed, OSError)
    assert failed.filename == str(record)
    assert "Asked when nobody knows" not in day.run("list", "--limit", "0").stdout
    record.rmdir()
    day.run("import", "--yes", path)
    assert "Asked when nobody knows" in day.run("list", "--limit", "0").stdout


def test_storing_is_said_to_be_on_again_only_if_it_is(day: Day) -> None:
    path = Path(pauses.pause_path(day.config()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("9e99 of a damaged file")
    assert "Storing has been paused since" in day.run("status").stdout
    path.unlink()
    path.mkdir()
    assert str(path) in str(day.attempt("resume").exception)
    assert "Storing has been paused since" in day.run("status").stdout


def test_a_pause_without_a_time_lasts_until_it_is_ended(day: Day) -> None:
    day.run("pause")
    day.run("pause", "--session", FIRST)
    assert exclusions.is_off(day.config(), "", {})
    day.run("resume")
    assert day.json("resume", "--session", FIRST) == {"paused": False, "session": FIRST}
    paused = day.json("pause", "--for", "1h")
    assert (paused["paused"], paused["session"], paused["until"][-1]) == (True, "", "Z")
    assert day.json("resume") == {"paused": False, "session": ""}
    assert not exclusions.is_off(day.config(), "", {})
    assert "paused since" not in day.run("status").stdout


def test_a_session_is_paused_and_resumed_by_the_name_that_sessions_prints(day: Day) -> None:
    def is_stored(session: str, prompt: str) -> bool:
        day.ask(prompt, time.time(), session)
        return prompt in day.run("list", "--limit", "0").stdout

    name, unstored = SECOND[:8], "01234567-89ab-7cde-8f01-23456789abcd"
    assert f"Paused for session {name}. `mdmem resume --session {name}`" in day.run("pause", "--session", name).stdout
    assert not is_stored(SECOND, "Asked while paused")
    assert f"Storing session {name} again." in day.run("resume", "--session", name).stdout
    assert is_stored(SECOND, "Asked after the pause")

    day.run("pause", "--session", unstored)
    assert not is_stored(unstored, "Asked in a session without notes")
    tag = journal.session_tag(unstored)
    assert f"`mdmem resume --session {tag}`" in day.run("status").stdout
    day.run("resume", "--session", tag)
    assert is_stored(unstored, "Asked there later")


def test_a_temporary_file_of_a_killed_pause_is_no_paused_session(day: Day) -> None:
    settings = day.config()
    left = Path(settings.state_dir, f"paused-{pauses.key_of(FIRST)}.18a0b0c0d0e-123.tmp")
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text(f"0 {FIRST}")

    assert pauses.of_sessions(settings) == []


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_a_session_that_nobody_knows_is_not_paused_or_resumed(day: Day, command: str) -> None:
    done = day.attempt(command, "--session", "nosuch")
    assert isinstance(done.exception, NotFoundError)
    assert "There is no session 'nosuch'" in str(done.exception)
    assert pauses.of_sessions(day.config()) == []


def test_the_pause_of_a_session_is_shown_until_the_command_that_is_named_ends_it(day: Day) -> None:
    name = FIRST[:8]
    assert day.run("resume").stdout == "Storing was not paused.\n"
    day.run("pause", "--session", FIRST, "--for", "1h")
    for shown in (day.run("status").stdout, day.run().stdout, day.run("resume").output):
        assert re.search(rf"Session {name} has been paused since .+ until .+`mdmem resume --session {name}`", shown)
    assert exclusions.is_off(day.config(), pauses.key_of(FIRST), {})
    assert f"`mdmem resume --session {name}`" in day.run("doctor", "--only", "switches").stdout

    day.run("pause")
    said = day.run("resume", "--session", name).output
    assert "again.\nStoring has been paused since" in said
    assert day.run("resume").output == "Storing again.\n"
    assert day.run("resume", "--session", name).output == f"Session {name} was not paused.\n"
    assert "paused" not in day.run("status").stdout + day.run().stdout


def test_a_pause_that_an_older_mdmem_began_is_shown_without_its_session(day: Day) -> None:
    path = Path(pauses.pause_path(day.config(), pauses.key_of(FIRST)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    assert "A session has been paused since" in day.run("status").stdout
    assert exclusions.is_off(day.config(), pauses.key_of(FIRST), {})
    day.run("resume", "--session", FIRST[:8])
    assert not path.exists()


@pytest.mark.parametrize("length", ["soon", "0h", "-1h", "1y", "h", "1.5h", "999999d"])
def test_a_length_that_is_none_is_refused(day: Day, length: str) -> None:
    done = day.attempt("pause", "--for", length)
    assert "as a duration. Try 30m, 1h, 2d." in str(done.exception)
    assert not exclusions.is_off(day.config(), "", {})


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("last week", "2026-09-07", "2026-09-14"),
        ("this week", "2026-09-14", "2026-09-21"),
        ("Last  Month", "2026-08-01", "2026-09-01"),
        ("this month", "2026-09-01", "2026-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("monday", "2026-09-14", "2026-09-15"),
        ("wednesday", "2026-09-16", "2026-09-17"),
        ("last wednesday", "2026-09-09", "2026-09-10"),
        ("yesterday", "2026-09-15", "2026-09-16"),
    ],
)
def test_a_time_is_read_as_people_say_it(text: str, first: str, last: str) -> None:
    span = when.span(text, NOW)
    assert span is not None
    assert [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in span] == [first, last]


def test_last_month_in_january_is_december() -> None:
    span = when.span("last month", NOW.replace(month=1))
    assert span is not None
    assert datetime.fromtimestamp(span[0], UTC).strftime("%Y-%m") == "2025-12"


@pytest.mark.parametrize(
    "words",
    [("list", "--since"), ("log", "--since"), ("sessions", "--on"), ("digest", "--since"), ("search", "a", "--until")],
)
def test_a_text_that_is_no_time_is_named_with_examples(day: Day, words: tuple[str, ...]) -> None:
    done = day.attempt(*words, "xyz")
    assert str(done.exception) == "Can't read 'xyz' as a time. Try 2w, 3d, yesterday, 2026-09-14."


def test_log_and_sessions_take_the_same_times(day: Day) -> None:
    for command in ("log", "sessions"):
        assert len(day.json(command, "--on", "2026-09-14")) == 1
        assert len(day.json(command, "--since", "2026-09-15", "--until", "2026-09-15")) == 1
        assert len(day.json(command, "--project", "notes-app")) == 2


def test_what_failed_has_an_option_of_its_own(day: Day) -> None:
    assert [row["success"] for row in day.json("list", "--failed")] == [False]
    assert day.json("search", "pytest", "--failed")[0]["title"].startswith("pytest -q")


def test_completion_knows_ids_sessions_projects_agents_and_states(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    name = day.id("Cache the exported")
    assert complete(day, monkeypatch, "show", name[:4]) == [name]
    assert complete(day, monkeypatch, "history", FIRST[:6]) == [FIRST]
    assert complete(day, monkeypatch, "list", "--session", FIRST[:6]) == [FIRST]
    assert complete(day, monkeypatch, "list", "--project", "no") == ["notes-app"]
    assert complete(day, monkeypatch, "list", "--project", "app") == ["notes-app"]
    assert complete(day, monkeypatch, "list", "--agent", "co") == ["codex", "copilot"]
    assert complete(day, monkeypatch, "list", "--is", "pi") == ["pinned"]
    assert complete(day, monkeypatch, "list", "--tool", "ba") == ["bash"]
    assert complete(day, monkeypatch, "install", "gem") == ["gemini"]


def test_completion_knows_what_a_note_or_session_may_be_given_to(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    name = day.id("Cache the exported")
    for words in (["promote"], ["timeline"], ["why"], ["forget"], ["note", "--supersedes"]):
        assert complete(day, monkeypatch, *words, name[:4]) == [name], words
    for words in (["undo"], ["forget"]):
        assert complete(day, monkeypatch, *words, FIRST[:6]) == [FIRST], words
    for words in (["tag", name], ["note", "x", "--tag"]):
        assert complete(day, monkeypatch, *words, "prom") == ["prompt"], words
    assert complete(day, monkeypatch, "config", "set", "capture.branches", "st") == ["stage"]
    assert complete(day, monkeypatch, "config", "set", "capture.host_memory", "f") == ["false"]


def test_completion_knows_the_values_of_filters(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    day.json("stats")  # from here on there is an index
    for begin, found in (
        ("kind:pref", ["kind:preference"]),
        ("is:pinned,fa", ["is:pinned,failed"]),
        ("project:no", ["project:notes-app"]),
        (f"session:{FIRST[:6]}", [f"session:{FIRST}"]),
        ("kind", []),
        ("word:x", []),
    ):
        assert complete(day, monkeypatch, "search", "parser", begin) == found
    assert complete(day, monkeypatch, "search", "kind", ":", "pref") == ["preference"], "as bash takes it apart"
    assert "prompt" in complete(day, monkeypatch, "search", "kind", ":")


def test_completion_offers_nothing_that_a_shell_would_run_or_a_terminal_obey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = cli_day.empty(tmp_path)
    session = mine.vault / "journal" / "a;b" / "2026-09-14" / "0800-x-00000001"
    session.mkdir(parents=True)
    (session / "001-000-prompt-x-7m2x4kd9qp.md").write_text(
        "---\nid: 7m2x4kd9qp\nkind: prompt\nsession: x$(id)\n"
        'title: "red \\e[31m\\nplain"\n'
        'tags: ["x$(id)", "x`id`", "x;id", "x\\nplain,id", "x y", "--x", x-ü.1]\n---\nWords.\n'
    )
    mine.run("index")

    assert complete(mine, monkeypatch, "tag", "7m2x4kd9qp", "x") == ["x-ü.1"]
    assert complete(mine, monkeypatch, "search", "tag:") == ["tag:x-ü.1"]
    assert complete(mine, monkeypatch, "history", "x") == []
    assert complete(mine, monkeypatch, "list", "--project", "") == []
    (item,) = completions(mine, monkeypatch, "show", "7m")
    assert item.help == "red \ufffd[31m plain"


def test_completion_offers_tags_of_every_script_that_a_shell_takes_for_one_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = cli_day.empty(tmp_path)
    offered = ["c#", "c++", "it’s", "naïve", "ภาษาไทย", "हिन्दी", "日本"]
    tags = [*offered, "~root", "=ls", "a\u00a0b", "a\u202eb"]
    (mine.vault / "notes" / "tags.md").write_text(
        "---\nid: 7m2x4kd9qp\nkind: note\ntags: " + json.dumps(tags) + "\n---\nWords.\n", encoding="utf-8"
    )
    mine.run("index")

    assert complete(mine, monkeypatch, "list", "--tag", "") == sorted(offered)


@pytest.mark.parametrize(
    "words", [("list",), ("sessions",), ("search", "parser", "kind:prompt"), ("log",), ("status",), ()]
)
def test_at_60_columns_no_line_is_longer_and_no_word_is_cut(day: Day, words: tuple[str, ...]) -> None:
    text = plain(day.terminal(*words, env={"COLUMNS": "60"})).replace("\r", "")
    lines = text.split("\n")
    assert [line for line in lines if len(line) > 60 and max(map(len, line.split())) < 50] == []
    whole = set(re.findall(r"[A-Za-z]{3,}", plain(day.terminal(*words, env={"COLUMNS": "400"}))))
    cut = [word for line in lines for word in re.findall(r"[A-Za-z]{3,}(?![…\w/.-])", line) if word not in whole]
    assert cut == []


@pytest.mark.parametrize(
    "line",
    ["list", "search parser", "log", "log --oneline", "log --stat", "sessions", "todo", "status", "help", "stats",
     "tree --files", ""],
)  # fmt: skip
def test_at_40_columns_no_line_is_longer(day: Day, line: str) -> None:
    day.run("init")
    day.run("commit")
    lines = plain(day.terminal(*line.split(), env={"COLUMNS": "40"})).replace("\r", "").split("\n")

    assert [each for each in lines if len(each) > 40 and not re.match(r"vault: |Vault: |[\d–]+ of \d+ ", each)] == []


def test_a_path_that_does_not_fit_keeps_its_end_and_is_whole_in_a_pipe(day: Day) -> None:
    shown = plain(day.terminal("search", "parser", env={"COLUMNS": "80"})).replace("\r", "")
    found = day.json("search", "parser")

    long = [hit["path"] for hit in found if len(hit["path"]) > 75]
    assert long
    assert re.findall(r"…(\S*\.md)", shown) == [path[-14:] for path in long]
    assert all(hit["path"] in day.run("search", "parser").stdout for hit in found)


def test_a_wrapped_line_of_the_journal_stays_below_its_beginning(day: Day) -> None:
    text = plain(day.terminal("log", env={"COLUMNS": "50"})).replace("\r", "")
    lines = [line for line in text.split("\n") if line and not line.startswith("2026")]

    assert [line for line in lines if line != line.rstrip()] == []
    assert [line for line in lines if line[:9].strip() and not re.match(r"  \d\d:\d\d  |       → ", line)] == []
    assert re.search(r"\n {9}\S.*3f0c6d1e\n", text), "the title was not wrapped"


@pytest.mark.parametrize(
    ("words", "width", "indent"),
    [
        (("doctor", "--only", "hook"), 40, 14),
        (("decisions",), 60, 4),
        (("why", "journal"), 60, 14),
        (("log", "--oneline"), 60, 26),
        (("log", "--stat"), 60, 26),
    ],
)
def test_what_does_not_fit_is_wrapped_below_its_own_text(
    day: Day, words: tuple[str, ...], width: int, indent: int
) -> None:
    day.run("note", "--kind", "decision", "--title", "Rounds", "We round half up, " * 6 + "also in exports.")
    day.run("init")
    day.run("commit")
    found = str(next(iter(day.vault.rglob("*prompt-why*.md"))).relative_to(day.vault))
    asked = [found if word == "journal" else word for word in words]
    text = plain(day.terminal(*asked, env={"COLUMNS": str(width)}))
    lines = [line for line in text.replace("\r", "").splitlines() if max(map(len, line.split()), default=0) < 30]

    assert [line for line in lines if len(line) > width or line != line.rstrip()] == []
    assert [line for line in lines if re.match(rf" {{{indent}}}\S", line)]


def test_long_names_in_the_tree_are_shortened_in_their_middle_on_a_terminal(day: Day) -> None:
    seen = plain(day.terminal("tree", "--files", "--depth", "9", env={"COLUMNS": "60"})).replace("\r", "")

    assert re.search(r"\d{4}-\S+…\S*-3f0c6d1e/  \d+ files\n", seen)
    assert re.search(r"…\S*-[0-9a-z]{10}\.md\n", seen)
    assert max(map(len, seen.splitlines())) == 60
    assert "…" not in day.run("tree", "--files", "--depth", "9").stdout


def test_the_command_that_resumes_a_session_can_be_copied_from_a_narrow_terminal(day: Day) -> None:
    shown = plain(day.terminal("history", FIRST, env={"COLUMNS": "40"})).replace("\r", "")

    assert day.json("history", FIRST)["resume"] in shown


def test_long_output_goes_through_the_pager_and_short_output_does_not(day: Day, tmp_path: Path) -> None:
    pager = shlex.join(["tee", str(tmp_path / "paged")])
    day.terminal("tree", env={"PAGER": pager, "LINES": "24"})
    assert not (tmp_path / "paged").exists()
    shown = day.terminal("history", FIRST, "--full", env={"PAGER": pager, "LINES": "5"})
    assert "Why does the date parser fail" in plain((tmp_path / "paged").read_text())
    assert "Why does the date parser fail" in plain(shown)


def project_folder(day: Day) -> Path:
    """Return a folder of code that belongs to the day's project."""
    app, page = day.vault.parent / "app", day.vault / "journal" / "notes-app" / "project.md"
    app.mkdir(exist_ok=True)
    page.write_text(page.read_text().replace("identity: [", f"identity: [path:{app}, "))
    return app


def test_an_explanation_says_which_project_it_assumed(day: Day) -> None:
    app = project_folder(day)
    found = day.json("inject", "--explain", "What did we decide about the date parser?", "--cwd", str(app))
    assert found["project"] == "notes-app"
    assert 0 < found["project_notes"] < found["vault_notes"] == day.json("stats")["notes"]
    shown = day.run("inject", "--explain", "What did we decide?", "--cwd", str(day.vault.parent / "elsewhere")).output
    assert "Project: elsewhere (0 notes;" in shown
    assert "If it was moved or renamed, add path:" in shown


@pytest.mark.parametrize(
    ("prompt", "why"), [("where were we?", "it asks for the latest work"), ("what can you do?", "it names nothing")]
)
def test_an_explanation_says_why_nothing_was_searched_for(day: Day, prompt: str, why: str) -> None:
    assert f"Searched for: nothing, because {why}" in day.run("inject", "--explain", prompt).stdout


def test_an_explanation_shows_what_a_session_would_begin_with(day: Day) -> None:
    app = project_folder(day)
    shown = day.run("inject", "--explain", "What did we decide?", "--cwd", str(app)).stdout

    start = shown.partition("A session started here would be given about ")[2]
    assert "<mdmem-context" in start
    assert "date parser" in start


def test_a_project_whose_folder_moved_is_offered(day: Day) -> None:
    page = day.vault / "journal" / "notes-app" / "project.md"
    old = day.vault.parent / "old" / "notes-app"
    text = re.sub(r"identity: .*", f"identity: [path:{old}]", page.read_text("utf-8"))
    page.write_text(re.sub(r"root: .*", f"root: {old}", text), encoding="utf-8")
    new = day.vault.parent / "new" / "renamed-app"
    new.mkdir(parents=True)

    shown = day.run("inject", "--explain", "What did we decide?", "--cwd", str(new)).stdout
    offer = f"If it was notes-app, whose folder {old} is gone: add path:{new} to `identity` in {page}."
    assert offer in shown

    page.write_text(page.read_text("utf-8").replace(f"[path:{old}]", f"[path:{old}, path:{new}]"), encoding="utf-8")
    assert "Project: notes-app (" in day.run("inject", "--explain", "What did we decide?", "--cwd", str(new)).stdout


def test_the_morning_is_a_monday() -> None:
    assert datetime.fromtimestamp(MORNING, UTC).weekday() == 0


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_has_no_end_when_it_is_not_known_any_more_how_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.ProgressBar("Indexing") as bar:
        bar._begun -= 10  # it appears only when the work has taken a while
        bar.report(40, 40)
        bar.report(40, 0)

    assert "40 of 40" in screen.getvalue()
    assert "of 100" not in screen.getvalue()
    assert screen.getvalue().rpartition("40 ")[2].split("\n")[0].find("of") < 0


def test_a_bar_leaves_the_cursor_visible_for_whoever_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.ProgressBar("Indexing") as bar:
        bar._begun -= 10
        bar.report(40, 400)
        shown = screen.getvalue()

    assert "Indexing" in shown
    assert shown.rfind("\x1b[?25l") < shown.rfind("\x1b[?25h")


def test_a_bar_names_its_work_again_when_the_wait_that_it_showed_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.ProgressBar("Indexing") as bar:
        bar._begun -= 10
        tell("Waiting for another process.")
        bar.report(40, 400)

    assert "Waiting" in screen.getvalue().partition("40 of 400")[0]
    assert "Indexing" in screen.getvalue().rpartition("Waiting")[2]


def test_figures_of_nothing_that_matches_do_not_say_that_there_are_no_notes(day: Day) -> None:
    said = day.run("stats", "--project", "nope").stdout

    assert "No matching notes." in said
    assert "No notes yet" not in said


def test_the_bars_of_figures_fit_on_a_narrow_terminal(day: Day) -> None:
    seen = re.sub(r"\x1b\[[0-9;]*m", "", day.terminal("stats", env={"COLUMNS": "40"}))
    drawn = [line for line in seen.splitlines() if "█" in line]

    assert drawn
    assert len(seen.splitlines()[0].rstrip()) <= 40
    assert all(len(line) <= 40 and line.split()[0].strip("█") for line in drawn)


def test_a_note_that_a_wrong_clock_dated_in_the_future_does_not_hide_the_last_days(
    ask: Callable[..., Any], vault: Path
) -> None:
    for name, year in (("now", "2026"), ("wrong", "2136")):
        (vault / f"{name}.md").write_text(f"---\ncreated: {year}-09-14T12:00:00Z\n---\n\n{name}\n")

    shown = ask("stats", env={"MDMEM_NOW": "1789400000"}).stdout

    assert re.search(r"2026-09-14 +1 +█", shown)
    assert "2136-09-14 " not in shown.partition("Days")[2]


def test_a_session_during_which_the_clock_was_set_back_begins_when_it_began(
    ask: Callable[..., Any], vault: Path
) -> None:
    captured(vault, FOLDER.rpartition("/")[2], "session", "Why does it fail")
    captured(vault, "001-000-prompt-why-p1", "prompt", "Why does it fail")
    captured(vault, "002-000-prompt-and-p2", "prompt", "And then", created="1970-01-01T00:16:40Z")

    (row,) = json.loads(ask("sessions", "--json").stdout)

    assert row["started"] == "2026-09-14T08:00:01Z"


@pytest.mark.parametrize("words", [["list"], ["sessions"], ["stats"], ["search", "word"], []])
def test_a_folder_that_is_no_vault_is_said_to_be_none(
    ask: Callable[..., Any], vault: Path, tmp_path: Path, words: list[str]
) -> None:
    folder = tmp_path / "my etc"
    folder.mkdir()
    (folder / "hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")
    done = ask("--vault", str(folder), *words)

    assert f"mdmem init '{folder}'" in done.stdout + done.stderr
    (folder / "page.md").write_text("# A page\n\nwithout that\n", encoding="utf-8")
    assert "mdmem init" not in (done := ask("--vault", str(folder), *words)).stdout + done.stderr


def test_the_home_screen_and_the_figures_count_the_same_notes(day: Day) -> None:
    in_all = re.search(r"\((\d+) notes in all\)", day.run().stdout)

    assert in_all
    assert day.run("stats").stdout.startswith(f"{in_all[1]} notes, ")


@pytest.mark.parametrize("words", [(), ("status",)])
def test_what_could_not_be_stored_is_said_first(day: Day, tmp_path: Path, words: tuple[str, ...]) -> None:
    cli_day.strand_a_note(day, tmp_path)

    assert day.run(*words).stdout.startswith("1 note could not be stored and will be retried")
