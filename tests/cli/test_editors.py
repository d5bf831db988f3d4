"""What other programs show of a vault: Claude Code's status line, Obsidian's views and property types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from mdmem.capture import losses, status_line, todays_notes
from mdmem.errors import ConfigError, UsageError
from mdmem.vault import disk, note, pauses
from tests.conftest import REPO
from tests.helpers import cli_day
from tests.helpers.cli_day import Day


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return cli_day.empty(tmp_path)


def settings_file(day: Day) -> Path:
    return Path(day.env["HOME"]) / ".claude" / "settings.json"


def shown(day: Day) -> str:
    """Run the registered status line as Claude Code does, and return what it prints."""
    line = json.loads(settings_file(day).read_text())["statusLine"]
    assert line["type"] == "command"
    given = json.dumps({"session_id": "s", "cwd": "/"})
    done = subprocess.run(
        ["/bin/sh", "-c", line["command"]], input=given, env={**os.environ, **day.env}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_status_line_counts_todays_notes_and_says_what_is_paused_or_lost(day: Day) -> None:
    day.run("install", "claude-code", "--status-line")
    assert shown(day) == "mdmem: 0 notes today\n"
    day.ask("Now", time.time())
    assert shown(day) == "mdmem: 1 note today\n"
    assert day.run("status", "--line").stdout == "mdmem: 1 note today\n"
    losses.record(day.config(), "Stop", "claude-code", "OSError", time.time())
    day.run("pause", "--for", "1h")
    assert re.fullmatch(
        r"mdmem: paused until (\d{4}-\d\d-\d\d )?\d\d:\d\d · 1 event lost, see `mdmem doctor`\n", shown(day)
    )


def test_the_status_line_says_on_which_day_a_long_pause_ends(day: Day) -> None:
    new_year = 4_102_444_800.0  # 2100, since an earlier pause may be over
    pauses.begin_pause(day.config(), ends=new_year + 3_600)
    assert status_line.line(day.config(), new_year) == "mdmem: paused until 01:00"
    assert status_line.line(day.config(), new_year - 60) == "mdmem: paused until 2100-01-01 01:00"


def test_notes_of_the_day_before_are_not_counted(day: Day) -> None:
    now = time.time()
    day.ask("Then", now)
    assert todays_notes.count(day.config(), now) == 1
    assert todays_notes.count(day.config(), now + 86_400) == 0
    assert todays_notes.count(day.config(), now + 30 * 86_400) == 0


def test_the_status_line_and_the_home_screen_count_the_same_notes(day: Day) -> None:
    now = time.time()
    day.ask("Yesterday's, as an import brings it", now - 86_400, "s-1")
    day.ask("Today, in a session from yesterday", now, "s-1")
    day.ask("Long ago", now - 9 * 86_400, "s-2")
    day.ask("Today, in a session from long ago", now, "s-2")
    day.run("note", "Written by a command.")
    for name, text in (
        ("ideas/plan.md", "By hand, in a folder without a date.\n"),
        ("top.md", "---\ntitle: At the top\n---\n\nBy hand.\n"),
        ("notes/mine.md", "---\ntype: project\n---\n\nA page of my own.\n"),
        ("notes/imported/old.md", "---\ndate: 2024-05-01\n---\n\nCopied today.\n"),
        ("notes/2024-05-02.md", "A daily note of long ago.\n"),
        ("internal/agent/a.md", "---\nkind: agent\ntitle: inside\n---\n\nA memory of an agent's.\n"),
        ("templates/notes/mine.md", "No note.\n"),
    ):
        (day.vault / name).parent.mkdir(parents=True, exist_ok=True)
        (day.vault / name).write_text(text)

    assert day.run("status", "--line").stdout == "mdmem: 6 notes today\n"
    assert "Today: 6 notes, " in day.run().stdout


def test_the_status_line_parses_no_captured_notes(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for number in range(3):
        assert day.ask(f"{number}?", now).stored
    (day.vault / "by-hand.md").write_text("---\ntitle: By hand\n---\n\nText.\n")
    parse, parsed = note.parse, list[str]()

    def watched(data: bytes | str) -> note.Parsed:
        found = parse(data)
        parsed.append(str(found.meta.get("kind")))
        return found

    monkeypatch.setattr(note, "parse", watched)

    assert todays_notes.count(day.config(), now) == 4
    assert "prompt" not in parsed
    assert "None" in parsed  # the note by hand


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_the_status_line_does_not_wait_for_a_named_pipe(day: Day) -> None:
    (day.vault / "notes").mkdir(exist_ok=True)
    os.mkfifo(day.vault / "notes" / "pipe.md")

    words = [sys.executable, "-m", "mdmem", "status", "--line"]
    done = subprocess.run(words, env={**os.environ, **day.env}, capture_output=True, text=True, timeout=240)

    assert (done.stdout, done.stderr) == ("mdmem: 0 notes today\n", "")


def test_a_status_line_of_the_users_own_stays(day: Day) -> None:
    path = settings_file(day)
    path.parent.mkdir(parents=True)
    own = '{\n  "statusLine": {"type": "command", "command": "~/mine.sh"}\n}\n'
    path.write_text(own)
    done = day.attempt("install", "claude-code", "--status-line")
    assert isinstance(done.exception, ConfigError)
    assert "mdmem status --line" in str(done.exception)
    assert json.loads(path.read_text())["statusLine"]["command"] == "~/mine.sh"
    day.run("uninstall", "claude-code")
    assert path.read_text() == own


def test_uninstalling_takes_the_status_line_out_and_the_file_is_as_before(day: Day) -> None:
    path = settings_file(day)
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "model": "opus"\n}\n')
    day.run("install", "claude-code", "--status-line")
    before = path.read_text()
    day.run("install", "claude-code", "--status-line")
    assert path.read_text() == before
    assert "statusLine" in before
    day.run("uninstall", "claude-code")
    assert path.read_text() == '{\n  "model": "opus"\n}\n'


def test_another_agent_has_no_status_line(day: Day) -> None:
    done = day.attempt("install", "codex", "--status-line")
    assert isinstance(done.exception, UsageError)


def test_views_for_obsidian_are_made_once_and_can_be_changed(day: Day) -> None:
    made = day.json("config", "obsidian")["made"]
    bases = ["bases/Sessions.base", "bases/Failures.base", "bases/Decisions.base", "bases/Files.base"]
    assert made == [*bases, ".obsidian/types.json"]
    changed = day.vault / "bases" / "Files.base"
    changed.write_text("mine")
    (day.vault / "bases" / "Sessions.base").unlink()
    assert day.json("config", "obsidian")["made"] == ["bases/Sessions.base"]
    assert changed.read_text() == "mine"


def test_types_that_are_set_in_obsidian_stay(day: Day) -> None:
    path = day.vault / ".obsidian" / "types.json"
    path.parent.mkdir()
    path.write_text('{"types": {"created": "date", "mine": "number"}, "other": 1}')
    day.run("config", "obsidian")
    held = json.loads(path.read_text())
    assert held["types"]["created"] == "date"
    assert held["types"]["mine"] == "number"
    assert held["types"]["success"] == "checkbox"
    assert held["other"] == 1
    path.write_text("{broken")
    assert isinstance(day.attempt("config", "obsidian").exception, ConfigError)
    assert path.read_text() == "{broken"


BASE_KEYS = {"filters", "formulas", "properties", "summaries", "views"}
VIEW_KEYS = {"type", "name", "limit", "filters", "groupBy", "order", "sort", "summaries"}
STATEMENT = re.compile(r'(?P<name>[a-z]+) (?:==|!=) (?:"[a-z]+"|true|false)|file\.has(?:Tag|Property)\("[a-z]+"\)')
"""What Obsidian's documentation has of a base: keys, and of its filters the comparisons and functions used here."""


def statements(found: Any) -> list[str]:
    """Return the statements of a filter: one, or a list under exactly one of `and`, `or` and `not`, at any depth."""
    if isinstance(found, str):
        return [found]
    ((key, parts),) = found.items()
    assert key in ("and", "or", "not")
    return [one for part in parts for one in statements(part)]


def test_the_views_keep_to_the_format_of_bases_and_name_properties_that_notes_have() -> None:
    known = {"title", "file.name", "supersedes", "pinned", "page"}
    for entry in disk.walk(str(REPO / "sample-vault")):
        known |= set(note.parse((REPO / "sample-vault" / entry.path).read_bytes()).meta)
    for path in (REPO / "templates" / "obsidian").glob("*.base"):
        base = yaml.safe_load(path.read_text())
        assert set(base) <= BASE_KEYS
        assert set(base.get("properties", {})) <= known
        names = [view["name"] for view in base["views"]]
        assert len(names) == len(set(names)) > 0
        for view in base["views"]:
            assert set(view) <= VIEW_KEYS
            assert view["type"] == "table"
            assert view["order"][0] == "file.name"  # the column that opens a note
            assert set(view["order"]) <= known, path
            for row in [*view.get("sort", ()), *([view["groupBy"]] if "groupBy" in view else ())]:
                assert set(row) == {"property", "direction"}
                assert row["property"] in known
                assert row["direction"] in ("ASC", "DESC")
            for one in [*statements(base["filters"]), *statements(view.get("filters", "pinned == true"))]:
                matched = STATEMENT.fullmatch(one)
                assert matched
                assert matched["name"] is None or matched["name"] in known
