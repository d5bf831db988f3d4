"""Late truth: what hooks could not know comes from the agent's own transcript, in the background, once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.capture import hook
from mdmem.capture.later import transcript_queue
from mdmem.transcripts import late, sources
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.importer import Import
from tests.helpers.transcript_files import notes

SESSION = "01a201ab-6866-7b43-8d1c-0893d338afc7"
TURN = "01a201ab-68a4-7172-aec6-c91d2c89a633"


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for transcripts that nobody writes to any more."""
    monkeypatch.setattr(late, "_SETTLED_SECONDS", 0.01)


def send(vault: Path, agent: str, payload: dict[str, Any]) -> None:
    hook.run([agent], json.dumps(payload).encode(), str(vault))


def written(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def catch_up(vault: Path) -> int:
    return late.catch_up(config.load(str(vault)), os.environ)


def codex(name: str, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": SESSION, "turn_id": TURN, "cwd": "/home/dev/x", **fields}


def rollout(path: Path, *items: dict[str, Any], at: str = "2026-11-22T05:12:21.000Z") -> Path:
    user = {"type": "UserMessage", "id": "u1", "content": [{"type": "text", "text": "Look."}]}
    meta = {"id": SESSION, "cwd": "/home/dev/x"}
    head = {"timestamp": at, "type": "session_meta", "payload": meta}
    begun = {"timestamp": at, "type": "event_msg", "payload": {"type": "task_started", "turn_id": TURN}}
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]}
    said = {"timestamp": at, "type": "response_item", "payload": asked}
    done = [
        {"timestamp": at, "type": "event_msg", "payload": {"type": "item_completed", "turn_id": TURN, "item": item}}
        for item in (user, *items)
    ]
    return written(path, [head, begun, said, *done])


def ran(use: str, command: str, code: int, output: str = "out") -> dict[str, Any]:
    return {
        "type": "CommandExecution", "id": use, "command": ["/bin/bash", "-lc", command], "exit_code": code,
        "status": "completed" if code == 0 else "failed", "aggregated_output": output,
        "duration": {"secs": 1, "nanos": 500_000_000},
    }  # fmt: skip


def session(vault: Path, tmp_path: Path, monkeypatch: Any, *items: dict[str, Any]) -> None:
    """Play a session whose hooks ran before the rollout was written, and then write that."""
    monkeypatch.setenv("MDMEM_NOW", "1795324341")
    file = {"transcript_path": str(tmp_path / "rollout-2026-11-22.jsonl")}
    send(vault, "codex", codex("SessionStart", source="startup", **file))
    send(vault, "codex", codex("UserPromptSubmit", prompt="Look.", **file))
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls nowhere"}, "tool_use_id": "call_1"}
    send(vault, "codex", codex("PostToolUse", **tool, tool_response="ls: no such file", **file))
    rollout(Path(file["transcript_path"]), *items)
    send(vault, "codex", codex("SessionEnd", reason="other", **file))


def test_a_failure_that_the_hook_could_not_know_is_put_into_its_note(
    vault: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    session(vault, tmp_path, monkeypatch, ran("call_1", "ls nowhere", 2, "ls: no such file"))
    before = notes(vault)[-1]
    assert before["success"] is True

    assert catch_up(vault) == 1

    after = notes(vault)[-1]
    assert (after["success"], after["exit_code"], after["duration_ms"]) == (False, 2, 1500)
    assert after["title"] == "ls nowhere (exit 2)" and len(notes(vault)) == 2
    same = ("id", "created", "prompt", "sequence", "session", "project")
    assert [after[key] for key in same] == [before[key] for key in same]
    assert catch_up(vault) == 0


def test_an_event_that_names_no_transcript_has_the_one_read_that_an_earlier_event_named(
    vault: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    session(vault, tmp_path, monkeypatch)
    catch_up(vault)
    rollout(tmp_path / "rollout-2026-11-22.jsonl", ran("call_2", "sleep 9; exit 4", 4))

    send(vault, "codex", codex("SessionEnd", reason="other"))

    assert catch_up(vault) == 1
    assert notes(vault)[-1].get("exit_code") == 4


def test_a_run_without_a_hook_is_added_once(vault: Path, tmp_path: Path, monkeypatch: Any) -> None:
    session(vault, tmp_path, monkeypatch, ran("call_1", "ls nowhere", 0), ran("call_2", "sleep 9; exit 4", 4))
    assert catch_up(vault) == 2  # one gained its exit code, one is new
    assert [(one["kind"], one.get("exit_code")) for one in notes(vault)] == [
        ("prompt", None),
        ("observation", 0),
        ("observation", 4),
    ]
    send(vault, "codex", codex("SessionEnd", reason="other"))
    assert catch_up(vault) == 0


def test_a_note_that_a_person_has_touched_stays_as_it_is(vault: Path, tmp_path: Path, monkeypatch: Any) -> None:
    session(vault, tmp_path, monkeypatch, ran("call_1", "ls nowhere", 2))
    (path,) = vault.glob("journal/*/*/*/001-001-*.md")
    path.write_text(path.read_text("utf-8").replace("tags: [observation]", "tags: [observation, mine]"), "utf-8")
    mine = path.read_bytes()
    assert b"mine" in mine
    catch_up(vault)
    assert path.read_bytes() == mine


def test_what_a_copilot_turn_cost_is_put_into_the_answer_that_the_hook_stored(
    vault: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("MDMEM_NOW", "1795324343")
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    file = tmp_path / "session-state" / SESSION / "events.jsonl"
    home = {"session_id": SESSION, "cwd": "/home/dev/x", "transcript_path": str(file)}
    lines: list[dict[str, Any]] = [
        {"type": "session.start", "data": {"sessionId": SESSION, "context": {"cwd": "/home/dev/x"}}},
        {"type": "user.message", "data": {"content": "Look.", "messageId": "m1"}},
        {"type": "assistant.message", "data": {"content": "It is done.", "toolRequests": []}},
        {"type": "assistant.turn_end", "data": {}},
    ]
    usage = {"m": {"usage": {"inputTokens": 900, "outputTokens": 20}}}
    lines.append({"type": "session.shutdown", "data": {"modelMetrics": usage}})
    path = Path(home["transcript_path"])
    path.parent.mkdir(parents=True)
    timed = [{**line, "timestamp": f"2026-11-22T05:12:2{at}.000Z"} for at, line in enumerate(lines)]
    written(path, timed[:-1])
    for name, more in (("SessionStart", {}), ("UserPromptSubmit", {"prompt": "Look."}), ("Stop", {})):
        send(vault, "copilot", {"hook_event_name": name, **home, **more})
    del home["transcript_path"]  # most payloads leave it out
    assert [one.get("tokens_in") for one in notes(vault)] == [None, None]
    send(vault, "copilot", {"hook_event_name": "SessionEnd", "reason": "complete", **home})
    written(path, timed)
    assert catch_up(vault) == 1
    answer = notes(vault)[-1]
    assert (answer["kind"], answer["tokens_in"], answer["tokens_out"]) == ("response", 900, 20)


def test_nothing_is_read_of_an_agent_that_names_no_transcript(vault: Path, tmp_path: Path) -> None:
    send(vault, "opencode", {"hook_event_name": "SessionEnd", "session_id": SESSION, "cwd": "/home/dev/x"})
    assert catch_up(vault) == 0


def test_what_came_before_mdmem_was_there_is_left_to_an_import(vault: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MDMEM_NOW", "1795330000")  # an hour and a half after the first prompt
    file = rollout(tmp_path / "rollout-2026-11-22.jsonl", ran("call_1", "ls", 0))
    send(vault, "codex", codex("UserPromptSubmit", prompt="And now?", turn_id="later", transcript_path=str(file)))
    send(vault, "codex", codex("SessionEnd", reason="other", transcript_path=str(file)))
    assert catch_up(vault) == 0 and [one.content for one in notes(vault)] == ["And now?"]


def claude(name: str, **fields: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": SESSION, "prompt_id": "p1", "cwd": "/home/dev/x", **fields}


def spoken(role: str, at: int, content: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 20}
    message = {"id": f"msg_{at}", "role": role, "content": content, **({"usage": usage} if role == "assistant" else {})}
    line = {"type": role, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "message": message}
    return {
        **line, "sessionId": SESSION, "promptId": "p1", "cwd": "/home/dev/x", **more,
        "timestamp": f"2026-11-22T05:12:2{at}.000Z",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "summary", "success", "code"),
    [
        ("failed", 'Background command "x" failed with exit code 4', False, 4),
        ("completed", "done (exit code 0)", True, 0),
    ],
)
def test_a_background_command_is_not_a_success_until_its_notification_says_so(
    vault: Path, tmp_path: Path, monkeypatch: Any, status: str, summary: str, success: bool, code: int
) -> None:
    monkeypatch.setenv("MDMEM_NOW", "1795324340")
    file = {"transcript_path": str(tmp_path / f"{SESSION}.jsonl")}
    run = {"tool_name": "Bash", "tool_input": {"command": "make server"}, "tool_use_id": "toolu_1"}
    launched = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b7"}
    use = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": run["tool_input"]}]
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False, "content": "Running."}]
    told = (
        f"<task-notification>\n<task-id>b7</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>{status}</status>\n"
        f"<summary>{summary}</summary>\n</task-notification>"
    )
    queued = {"type": "queue-operation", "operation": "enqueue", "content": told, "sessionId": SESSION}
    lines = [spoken("user", 0, "Look."), spoken("assistant", 1, use), spoken("user", 2, result, toolUseResult=launched)]
    written(Path(file["transcript_path"]), [*lines, {**queued, "timestamp": "2026-11-22T05:12:23.000Z"}])
    send(vault, "claude-code", claude("UserPromptSubmit", prompt="Look.", **file))
    send(vault, "claude-code", claude("PostToolUse", **run, tool_response=launched, **file))
    before = notes(vault)[-1]
    assert (before["status"], before.get("success")) == ("background", None)
    send(vault, "claude-code", claude("SessionEnd", reason="other", **file))
    assert catch_up(vault) == 1
    after = notes(vault)[-1]
    assert (after.get("status"), after["success"], after["exit_code"]) == (None, success, code)
    assert len(notes(vault)) == 2 and after["id"] == before["id"]


def test_a_run_that_the_user_stopped_and_what_a_turn_cost_come_from_the_transcript(
    vault: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("MDMEM_NOW", "1795324340")
    file = {"transcript_path": str(tmp_path / f"{SESSION}.jsonl")}
    use = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "sleep 25"}}]
    no = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": "The user doesn't want to go on"}
    ]
    edit = [{"type": "tool_use", "id": "toolu_2", "name": "Edit", "input": {"file_path": "/home/dev/x/a.py"}}]
    lines = [
        spoken("user", 0, "Look."),
        spoken("assistant", 1, use),
        spoken("user", 2, no, toolUseResult="User rejected tool use", toolDenialKind="user-rejected"),
        spoken("assistant", 3, edit),
        spoken("user", 4, [{**no[0], "tool_use_id": "toolu_2"}], toolDenialKind="user-rejected"),
        spoken("assistant", 5, [{"type": "text", "text": "It is done."}]),
    ]
    written(Path(file["transcript_path"]), lines)
    send(vault, "claude-code", claude("SessionStart", source="startup", **file))
    send(vault, "claude-code", claude("UserPromptSubmit", prompt="Look.", **file))
    monkeypatch.setenv("MDMEM_NOW", "1795324345")
    send(vault, "claude-code", claude("Stop", last_assistant_message="It is done.", **file))
    send(vault, "claude-code", claude("SessionEnd", reason="other", **file))
    catch_up(vault)
    found = {str(one["kind"]): one for one in notes(vault)}
    assert len(notes(vault)) == 3
    assert found["observation"]["success"] is False and "sleep 25" in str(found["observation"]["title"])
    assert "The user stopped it" in str(found["observation"]["error"])
    assert (found["response"]["tokens_in"], found["response"]["tokens_out"]) == (3000, 60)
    send(vault, "claude-code", claude("SessionEnd", reason="other", **file))
    assert catch_up(vault) == 0


def test_a_session_whose_clock_was_ahead_is_imported_whole(vault: Path, tmp_path: Path) -> None:
    """The clock was set back since: nothing says when the time of its last answer comes."""
    ahead = datetime.fromtimestamp(time.time() + 90 * 86_400, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    path = rollout(tmp_path / "rollout-ahead.jsonl", ran("call_1", "ls nowhere", 0), at=ahead)
    settings = config.load(str(vault))
    files = ImportedFiles(settings)
    source = next(one for one in sources.SOURCES if one.agent == "codex")
    transcript = sources.transcript_of(source, path)
    assert transcript is not None

    Import(settings, files, os.environ).transcripts([transcript], time.time())

    assert [one["kind"] for one in notes(vault)] == ["prompt", "observation"]
    assert files.has(path, transcript.size, transcript.changed_ns)


@pytest.mark.parametrize(("minutes", "is_there", "waits"), [(60, True, False), (60, False, False), (0, False, True)])
def test_only_a_turn_that_has_just_ended_is_waited_for(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: int, is_there: bool, waits: bool
) -> None:
    session(vault, tmp_path, monkeypatch, ran("exec-1", "make", 0))
    rollout = tmp_path / "rollout-2026-11-22.jsonl"
    ended = time.time() - 60 * minutes
    os.utime(rollout, (ended, ended))
    for mark in Path(transcript_queue.folder(config.load(str(vault)))).iterdir():
        os.utime(mark, (ended, ended))
    if not is_there:
        rollout.unlink()
    naps: list[float] = []
    monkeypatch.setattr(late, "_PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(time, "sleep", naps.append)

    catch_up(vault)

    assert bool(naps) == waits
