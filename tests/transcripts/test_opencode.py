"""OpenCode's database: its sessions are imported, and tell late what its plugin could not."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.capture import hook
from mdmem.transcripts import late, sources
from mdmem.transcripts.saved import ReadOptions, Skipped
from tests.helpers.transcript_files import notes

SESSION = "ses_dfbbe6027ffenPNkNucmwYkUo1"
START = 1_795_324_340_000
COMMAND = {"command": "ls nowhere"}


def tool(call: str, status: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": call, "state": {"status": status, "input": COMMAND, **state}}


def said(words: str, **facts: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **facts}


def asked(words: str) -> tuple[str, list[dict[str, Any]]]:
    return "user", [said(f'"{words}"'), said("Added by OpenCode.", synthetic=True)]


def answered(*parts: dict[str, Any], finish: str = "stop", **facts: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    tokens = {"input": 700, "output": 20, "cache": {"read": 90, "write": 10}}
    return {"role": "assistant", "finish": finish, "tokens": tokens, **facts}, list(parts)


Messages = list[tuple[Any, list[dict[str, Any]]]]


@pytest.fixture
def write(home: Path) -> Callable[..., Path]:
    """Write a session into OpenCode's database, a message a second; return the database's path."""
    base = home / ".local" / "share" / "opencode" / "opencode.db"

    def into(messages: Messages, session: str = SESSION, parent: str | None = None) -> Path:
        base.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(base)) as opened, opened:
            opened.execute("CREATE TABLE IF NOT EXISTS session (id, parent_id, directory, time_created, time_updated)")
            opened.execute("CREATE TABLE IF NOT EXISTS message (id, session_id, time_created, data)")
            opened.execute("CREATE TABLE IF NOT EXISTS part (id, message_id, session_id, time_updated, data)")
            end = START + 1000 * len(messages)
            opened.execute("INSERT INTO session VALUES (?, ?, '/home/ana/app', ?, ?)", (session, parent, START, end))
            for number, (message, parts) in enumerate(messages, 1):
                at, own = START + 1000 * number, f"msg_{number:02}{session[-4:]}"
                facts = {"role": message} if isinstance(message, str) else {"time": {"completed": at}, **message}
                opened.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (own, session, at, json.dumps(facts)))
                for place, part in enumerate(parts):
                    row = (f"prt_{number:02}{place}", own, session, at, json.dumps(part))
                    opened.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
        return base

    return into


def test_what_only_a_sub_agent_met_in_private_is_masked_in_what_it_reports(
    vault: Path, write: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    read = tool("c1", "completed", output="<private>badger at dawn</private>", time={"start": START, "end": START + 5})
    task = tool("c2", "completed", output="It says badger at dawn.", time={"start": START, "end": START + 9_000})
    write([asked("Find the plan."), answered(read)], "ses_reader", "ses_helps")
    write([asked("Find a helper."), answered(said("Found."))], "ses_helps", SESSION)
    base = write([asked("Where?"), answered(task, finish="tool-calls"), answered(said("The badger at dawn."))])

    ask("import", str(base), "--yes", check=True)

    assert [one["kind"] for one in notes(vault)] == ["prompt", "observation", "response"]
    assert not [path for path in vault.rglob("*") if path.is_file() and b"badger" in path.read_bytes()]


def send(vault: Path, name: str, **fields: Any) -> None:
    """Deliver an event as the plugin does."""
    payload = {"hook_event_name": name, "session_id": SESSION, "cwd": "/home/ana/app", **fields}
    hook.run(["opencode"], json.dumps(payload).encode(), str(vault))


TALK: Messages = [
    asked("List the folder."),
    answered(
        said("I look."),
        tool("c1", "completed", output="no such file", metadata={"exit": 2}, time={"start": START, "end": START + 40}),
        tool("c2", "error", error="The tool broke.", time={"start": START, "end": START + 5}),
        finish="tool-calls",
    ),
    answered(said("It is not there.")),
    answered(said("## Goal: list the folder"), summary=True),
    asked("Then go on."),
    answered(said("Half of"), error={"name": "APIError"}),
]


def test_sessions_in_the_database_are_imported_once_and_sub_agents_are_not(
    vault: Path, write: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    base = write(TALK)
    write([asked("SUBTASK"), answered(said("Done."))], "ses_child", SESSION)
    before = base.read_bytes()

    ask("import", str(base), "--yes")
    found = notes(vault)
    ask("import", "--yes")

    assert [(one["kind"], one["title"]) for one in found] == [
        ("prompt", "List the folder."),
        ("observation", "ls nowhere (exit 2)"),
        ("observation", "ls nowhere (failed)"),
        ("response", "It is not there."),
        ("prompt", "Then go on."),
    ]
    assert [one.get("exit_code", one.get("error")) for one in found[1:3]] == [2, "The tool broke."]
    assert (found[1]["duration_ms"], found[1]["success"]) == (40, False)
    assert (found[3]["tokens_in"], found[3]["tokens_out"]) == (1600, 40)
    assert {one["session"] for one in found} == {SESSION}
    assert len(notes(vault)) == len(found)
    assert base.read_bytes() == before


def test_what_the_plugin_did_not_say_is_learned_when_the_session_ends(
    vault: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_NOW", str(START / 1000 + 1))
    send(vault, "SessionStart", source="startup")
    send(vault, "UserPromptSubmit", prompt='"List the folder."', prompt_id="msg_01kUo1")
    run = {"tool_name": "bash", "tool_input": COMMAND, "tool_use_id": "c1", "tool_response": {"output": "a.md"}}
    send(vault, "PostToolUse", **run)
    time = {"start": START, "end": START + 40}
    ran = tool("c1", "completed", output="a.md", metadata={"exit": 0}, time=time)
    write([asked("List the folder."), answered(ran, tool("c2", "running", time={"start": START}), finish="tool-calls")])
    monkeypatch.setenv("MDMEM_NOW", str(START / 1000 + 9))
    send(vault, "SessionEnd", reason="exit")

    late.catch_up(config.load(str(vault)), os.environ)

    known, lost = [one for one in notes(vault) if one["kind"] == "observation"]
    assert known["duration_ms"] == 40
    assert lost["success"] is False
    assert "no result" in str(lost["error"])


@pytest.mark.slow
def test_a_missing_answer_is_learned_after_the_turn(
    vault: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_NOW", str(START / 1000 + 1))
    send(vault, "UserPromptSubmit", prompt="List the folder.", prompt_id="msg_01kUo1")
    send(vault, "Stop")
    write([asked("List the folder."), answered(said("It is not there."))])

    late.catch_up(config.load(str(vault)), os.environ)

    assert [(one["kind"], one["title"]) for one in notes(vault)][1:] == [("response", "It is not there.")]


def test_a_database_of_another_program_holds_no_sessions(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(TALK)
    with closing(sqlite3.connect(tmp_path / "opencode-other.db")) as other, other:
        other.execute("CREATE TABLE session (name)")
    (tmp_path / "opencode-broken.db").write_bytes(b"SQLite format 3\0 and nothing more")
    source = next(source for source in sources.SOURCES if source.agent == "opencode")

    assert list(source.find(tmp_path)) == []
    assert sources.transcript_of(source, tmp_path / "opencode-other.db" / SESSION) is None


def test_rows_of_other_shapes_are_read_without_an_error(write: Callable[..., Path]) -> None:
    odd: list[Any] = [
        {"type": "tool", "state": 3},
        {"type": "tool", "state": {"status": "completed", "time": []}},
        {},
        7,
    ]
    base = write([("user", [said("Go."), *odd]), ({"role": "assistant", "tokens": 5, "time": 3}, odd), ({}, odd)])
    source = next(source for source in sources.SOURCES if source.agent == "opencode")

    found = list(source.read(base / SESSION, ReadOptions(Skipped(), START / 1000 + 5)))

    assert [one.event.name for one in found] == ["SessionStart", "UserPromptSubmit", "PostToolUse"]
