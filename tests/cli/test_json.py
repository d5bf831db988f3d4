"""`--json`: one value with the fields that --help names, whatever the outcome; errors leave stdout empty."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import cli_day, forked, readme
from tests.helpers.cli_day import FIRST, Day
from tests.helpers.plain_git import git

PRINTED = {name.removeprefix("mdmem "): text for name, text in readme.json_outputs().items()}
LINES = (
    "init", "install claude-code --dry-run", "install claude-code", "status", "uninstall claude-code", "search parser",
    "prompts parser", "related NOTE", "fixes", "about src/dates.py", "show NOTE", "show notes/bare.md", "list",
    "sessions", f"history {FIRST}", "timeline NOTE", "decisions", "todo", "proposals", "digest --since 2026-09-14",
    "stats", "tree", "open", "note 'Round half up.' --kind decision", "append notes/bare.md more",
    "tag notes/bare.md x", "edit notes/bare.md", "pin notes/bare.md", "pin notes/bare.md", "unpin notes/bare.md",
    "diff", "commit", "log", "log --stat", "review --list", "why NOTE", "branch list", "watch --status", "index",
    "index --verify", "inject --explain parser", "injections", "promote NOTE --to CLAUDE.md --yes", "archive 2020",
    "export out.jsonl", "backup all.bundle", "sync", "privacy check FILE", "pause --for 1h", "resume", "doctor",
    "config get capture.max_lines", "config set capture.max_lines 50", "config unset capture.max_lines", "config list",
    "config path", "config template", "config template note", "config obsidian", "import --dry-run old",
    "import --yes old", "undo HEAD --yes", "forget NOTE --yes", "forget --matching zeppelin --yes",
    "purge no-such-words", "purge no-such-words --apply --yes",
)  # fmt: skip
"""Command lines, run one after another. NOTE: the id of an answer. FILE: a file with a text."""
ELSEWHERE = {"branch drop", "branch merge", "clone", "privacy keep-last"}
"""Commands whose tests are with what they need."""


def variants(printed: str) -> list[tuple[set[str], bool]]:
    """Return the fields of each form of a value that a help text names, and whether there may be others."""
    parts = re.sub(r"\([^)]*\)", "", printed).split(";")
    named = (set(re.findall(r"[a-z_]+", part.rpartition(":")[2])) for part in parts)
    is_open = [" and more" in part or "and the front matter" in part for part in parts]
    return [
        (fields - {"and", "more", "the", "front", "matter"}, more) for fields, more in zip(named, is_open, strict=True)
    ]


def test_the_fields_of_every_value_are_those_that_help_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day = cli_day.make(tmp_path)
    made = {"NOTE": day.id("The parser took 29 February"), "FILE": "text.txt"}
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    for name, text in {"text.txt": "words", "CLAUDE.md": "# Rules\n", "old/a.md": "# Old\n\nWords.\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    day.run("init")
    git(day.vault, "remote", "add", "origin", str(tmp_path / "remote.git"))
    (day.vault / "notes" / "bare.md").write_text("Without front matter.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", "true")
    asked = {"session_id": "s-9", "cwd": str(tmp_path / "notes-app"), "hook_event_name": "UserPromptSubmit"}
    asked["prompt"] = "Do you remember why the date parser failed on 29 February?"
    forked.run(("inject", "claude-code"), json.dumps(asked).encode(), {**os.environ, **day.env})
    assert day.json("injections")
    seen, wrong = set(), []
    for line in LINES:
        words = [made.get(word, word) for word in shlex.split(line)]
        command = next(name for name in (" ".join(words[:2]), words[0]) if name in PRINTED)
        value: Any = json.loads(day.attempt(*words, "--json").stdout)
        seen.add(command)
        for row in value if isinstance(value, list) else [value]:
            if not isinstance(row, str) and not any(
                fields <= row.keys() and (more or fields == row.keys()) for fields, more in variants(PRINTED[command])
            ):
                wrong.append((line, sorted(row)))

    assert wrong == []
    assert PRINTED.keys() - seen == ELSEWHERE


@pytest.mark.parametrize(
    "line", ["search zeppelin", "list --kind lesson", "sessions --since 2030", "fixes zeppelin", "prompts zeppelin"]
)
def test_nothing_found_is_an_empty_value_and_success(day: Day, line: str) -> None:
    assert day.json(*line.split()) == []


@pytest.mark.parametrize(
    ("line", "status"),
    [("show nosuch", 5), ("history nosuch", 5), ("list --since never", 2), ("forget x", 2), ("list --nosuch", 2)],
)
def test_an_error_leaves_stdout_empty_and_says_what_in_its_status(day: Day, line: str, status: int) -> None:
    done = day.attempt(*line.split(), "--json")

    assert (done.stdout, getattr(done.exception, "exit_code", done.exit_code)) == ("", status)


def test_every_time_is_utc_in_iso_8601(day: Day) -> None:
    found = [day.json(*line.split()) for line in ("list", "sessions", "stats", "digest", f"history {FIRST}", "status")]
    times = re.findall(r'"(\d{4}-\d\d-\d\dT[^"]*)"', json.dumps(found))

    assert len(times) > 20
    assert [time for time in times if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)] == []
