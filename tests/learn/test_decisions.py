"""Decisions: written with a kind, superseded, found again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import frontmatter
import pytest

from mdmem import config
from mdmem.learn import decisions
from tests.helpers import cli_day, forked
from tests.helpers.cli_day import Day
from tests.helpers.history_vault import put
from tests.helpers.indexed import indexed
from tests.helpers.server_calls import Server


class Steps:
    """Counts the lines that a module executes, each pass of a loop as one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0

    def __enter__(self) -> None:
        self.before = sys.gettrace()
        sys.settrace(self._enter)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._step if frame.f_code.co_filename == self.file else None

    def _step(self, _frame: FrameType, event: str, _argument: object) -> Any:
        self.count += event == "line"
        return self._step


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return cli_day.empty(tmp_path)


def decide(day: Day, text: str, *words: str) -> str:
    made = day.json("note", text, "--kind", "decision", "--project", "notes-app", *words)
    return str(made["id"])


def test_a_decision_is_a_note_of_its_kind_and_is_listed(day: Day) -> None:
    name = decide(day, "Times are stored in UTC.\n\nBecause servers move.", "--title", "Times in UTC")
    (found,) = day.json("decisions")
    assert (found["id"], found["kind"], found["title"], found["statement"]) == (
        name, "decision", "Times in UTC", "Times are stored in UTC.",
    )  # fmt: skip
    assert frontmatter.load(str(day.vault / found["path"]))["kind"] == "decision"
    assert [row["id"] for row in day.json("list", "--kind", "decision")] == [name]
    assert [row["id"] for row in day.json("search", "UTC", "--tag", "decision")] == [name]


def test_a_superseded_decision_is_folded_into_the_one_that_holds(day: Day) -> None:
    first = decide(day, "Commas.", "--title", "CSV is written with commas")
    second = decide(day, "Semicolons.", "--title", "CSV is written with semicolons", "--supersedes", first)
    third = decide(day, "Tabs.", "--title", "CSV is written with tabs", "--supersedes", f"mem:{second}")
    (found,) = day.json("decisions")
    assert found["id"] == third
    assert found["before"] == ["CSV is written with semicolons", "CSV is written with commas"]
    every = {row["id"]: row["superseded_by"] for row in day.json("decisions", "--all")}
    assert every == {first: second, second: third, third: ""}
    assert "superseded by" in day.run("decisions", "--all").stdout


def test_what_each_of_several_superseded_decisions_superseded_is_named_too(day: Day) -> None:
    for name, more in (
        ("a", "[bbbbbbbbb1, ccccccccc1]"),
        ("b", "eeeeeeeee1"),
        ("c", "ddddddddd1"),
        ("d", ""),
        ("e", ""),
    ):
        head = f"kind: decision\nid: {name * 9}1\ntitle: {name.upper()}\nsupersedes: {more or '[]'}\n"
        put(day.vault, f"notes/{name}.md", f"---\n{head}---\n")
    (found,) = day.json("decisions")
    assert (found["title"], sorted(found["before"])) == ("A", ["B", "C", "D", "E"])


def test_a_link_that_only_the_newer_note_has_supersedes_too_and_a_circle_ends(day: Day) -> None:
    old = decide(day, "Old.", "--title", "The old way")
    put(day.vault, "notes/new.md", f"---\nkind: decision\nid: newerone01\ntitle: The new way\nsupersedes: {old}\n---\n")
    assert [row["title"] for row in day.json("decisions")] == ["The new way"]
    put(day.vault, "notes/a.md", "---\nkind: decision\nid: aaaaaaaaa1\ntitle: A\nsupersedes: bbbbbbbbb1\n---\n")
    put(day.vault, "notes/b.md", "---\nkind: decision\nid: bbbbbbbbb1\ntitle: B\nsupersedes: aaaaaaaaa1\n---\n")
    assert {row["title"] for row in day.json("decisions", "--all")} == {"The old way", "The new way", "A", "B"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("its source was deleted", "(superseded: its source was deleted)"),
        ('"two\\nlines"', "(superseded: two lines)"),
        ("[[nowhere]]", "(superseded by [mem:nowhere])"),
    ],
)
def test_a_decision_superseded_by_what_is_no_note_is_listed_on_one_line(day: Day, value: str, told: str) -> None:
    put(day.vault, "notes/a.md", f"---\nkind: decision\nid: aaaaaaaaa1\ntitle: A\nsuperseded_by: {value}\n---\n")
    assert f"A {told}  [mem:aaaaaaaaa1]" in day.run("decisions", "--all").stdout


def test_a_long_chain_of_decisions_is_followed_in_linear_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    steps = []
    for count in (10, 40):
        vault = tmp_path / str(count)
        for number in range(count):
            head = f"kind: decision\nid: decision{number:02d}\ntitle: Way {number}\n"
            supersedes = f"supersedes: decision{number - 1:02d}\n" if number else ""
            put(vault, f"notes/{number}.md", f"---\n{head}{supersedes}---\n")
        settings = indexed(config.load(str(vault)))
        traced = Steps(decisions.__file__)

        with traced:
            (found,) = decisions.listed(settings)

        assert found.before == [f"Way {number}" for number in reversed(range(count - 1))]
        steps.append(traced.count)

    assert steps[1] < 5 * steps[0]


@pytest.mark.parametrize(
    "link",
    ['"[[Old way]]"', "[[Old way]]", '["[[old way|the old one]]"]', "notes/Old way.md", "Old way", '"[[MySQL]]"'],
)
def test_a_link_written_in_an_editor_supersedes_a_note_without_an_id_also_for_agents(day: Day, link: str) -> None:
    put(day.vault, "notes/Old way.md", "---\nkind: decision\ntitle: MySQL\n---\nThe database is MySQL.\n")
    put(day.vault, "notes/DB.md", f"---\nkind: decision\nsupersedes: {link}\n---\nThe database is Postgres.\n")

    (found,) = day.json("decisions")

    assert (found["title"], found["before"]) == ("The database is Postgres.", ["MySQL"])
    (relation,) = day.json("show", "notes/Old way.md")["relations"]
    assert (relation["relation"], relation["id"]) == ("superseded by", found["id"])
    (relation,) = day.json("show", "notes/DB.md")["relations"]
    assert (relation["relation"], relation["title"], relation["path"]) == ("supersedes", "MySQL", "notes/Old way.md")
    for event in (
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Which database did we decide on?"},
    ):
        payload = {"session_id": "s1", "cwd": str(day.vault.parent), **event}
        given = forked.run(("inject", "claude-code"), json.dumps(payload).encode(), {**os.environ, **day.env}).stdout
        assert b"Postgres" in given, event
        assert b"MySQL" not in given, event


def test_decisions_are_narrowed_by_words_file_project_and_kind(day: Day) -> None:
    utc = decide(day, "All times are UTC, see `src/dates.py`.", "--title", "Times in UTC")
    csv = decide(day, "Semicolons.", "--title", "CSV is written with semicolons")
    lesson = day.json("note", "Mock nothing.", "--kind", "lesson", "--project", "")["id"]
    other = decide(day, "Go only.", "--title", "The API is written in Go", "--project", "api")
    assert [row["id"] for row in day.json("decisions", "semicolons")] == [csv]
    assert [row["id"] for row in day.json("decisions", "src/dates.py")] == [utc]
    assert {row["id"] for row in day.json("decisions", "--project", "notes-app")} == {utc, csv}
    assert [row["id"] for row in day.json("decisions", "--kind", "lesson", "--project", "notes-app")] == [lesson]
    assert other in {row["id"] for row in day.json("decisions")}


def test_a_note_that_is_tagged_as_a_decision_counts(day: Day) -> None:
    name = day.json("note", "Releases are cut on Tuesdays.", "--tag", "decision", "--project", "")["id"]
    assert [row["id"] for row in day.json("decisions")] == [name]


def test_a_private_decision_is_not_listed_and_private_parts_are_left_out(day: Day) -> None:
    put(day.vault, "notes/p.md", "---\nkind: decision\ntitle: Hidden\nprivate: true\n---\nSecret.\n")
    put(day.vault, "notes/q.md", "---\nkind: decision\ntitle: Shown\n---\nWe pay <private>Ada</private> now.\n")
    (found,) = day.json("decisions", "--all")
    assert found["title"] == "Shown"
    assert "Ada" not in found["statement"]


def test_what_cannot_be_is_refused_with_a_sentence(day: Day) -> None:
    for words, said in (
        (("note", "x", "--supersedes", "nosuchnote"), "No note has the id"),
        (("decisions", "--kind", "session"), "must be one of decision, lesson, preference"),
    ):
        done = day.attempt(*words)
        assert said in str(done.exception), words
    assert "No decision is in force. " in day.run("decisions").stderr
    assert "No decision is in force with these words: time zone." in day.run("decisions", "time", "zone").stderr


def test_a_decision_can_be_added_to(day: Day) -> None:
    name = decide(day, "Times are stored in UTC.", "--title", "UTC")
    day.run("append", name, "Still true.")
    assert "Still true." in day.run("show", name).stdout


def test_an_agent_writes_a_decision_that_supersedes_another(vault: Path) -> None:
    server = Server()
    try:
        old = server.call("add_note", {"text": "Commas.", "title": "CSV with commas", "kind": "decision"}).value["id"]
        new = {"text": "Tabs.", "title": "CSV with tabs", "kind": "decision", "supersedes": f"mem:{old}"}
        name = server.call("add_note", new).value["id"]
        assert server.call("add_note", {"text": "x", "kind": "session"}).error
        (read,) = server.call("get_notes", {"ids": [old]}).value["notes"]
        assert read["links"] == [f"superseded by [mem:{name}] CSV with tabs"]
    finally:
        server.close()
    (found,) = decisions.listed(indexed(config.load(str(vault))))
    assert (found.id, found.before) == (name, ["CSV with commas"])


def test_a_decision_written_by_hand_has_the_id_and_title_that_the_index_gives_it(day: Day) -> None:
    put(day.vault, "notes/utc.md", "---\nkind: decision\n---\n# Times in UTC\n\nEverywhere.\n")
    (found,) = day.json("decisions")
    assert (found["title"], found["statement"], len(found["id"])) == ("Times in UTC", "Everywhere.", 10)
    assert "Everywhere." in day.run("show", found["id"]).stdout


def test_a_typed_link_is_shown_on_both_notes(day: Day) -> None:
    old = decide(day, "Commas.", "--title", "CSV with commas")
    new = decide(day, "Tabs.", "--title", "CSV with tabs", "--supersedes", old)
    task = day.json("note", "Ship it.", "--kind", "task", "--project", "notes-app")
    put(day.vault, "notes/b.md", f"---\nid: abcdefghij\nkind: task\ntitle: Test it\nblocks: {task['id']}\n---\nx\n")

    def joined(name: str) -> list[tuple[str, str]]:
        return [(one["relation"], one["title"]) for one in day.json("show", name)["relations"]]

    assert joined(old) == [("superseded by", "CSV with tabs")]
    assert joined(new) == [("supersedes", "CSV with commas")]
    assert joined(task["id"]) == [("blocked by", "Test it")]
    assert joined("abcdefghij") == [("blocks", "Ship it.")]
    assert "superseded by" in day.terminal("show", old)
    (link,) = day.json("about", "Tabs")["links"]
    assert (link["of"], link["relation"], link["id"]) == (new, "supersedes", old)
