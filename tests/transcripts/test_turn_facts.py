"""What a turn cost, and when it is over, as far as an agent's transcript tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mdmem.agents import goes_on
from mdmem.transcripts.saved import NO_RESULT
from tests.helpers.transcript_files import LATER, read

HOME = "/home/ana/notes-app"


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def answers(path: Path, **how: Any) -> list[tuple[str, str, str]]:
    found = [one.event for one in read(path, **how)[0] if one.event.name in ("Stop", "PostCompact")]
    return [(one.message, one.extra.get("tokens_in", ""), one.extra.get("tokens_out", "")) for one in found]


# --- Codex ---------------------------------------------------------------------------------------


def rollout(path: Path, *payloads: dict[str, Any]) -> Path:
    at = "2026-11-22T05:12:21.000Z"
    meta = {"timestamp": at, "type": "session_meta", "payload": {"id": "s1", "cwd": HOME}}
    kinds = {"message": "response_item", "function_call": "response_item", "": "compacted"}
    lines = [{"timestamp": at, "type": kinds.get(one.get("type", ""), "event_msg"), "payload": one} for one in payloads]
    return written(path, meta, *lines)


def begun(turn: str) -> dict[str, Any]:
    return {"type": "task_started", "turn_id": turn}


def typed(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


def cost(given: int, made: int) -> dict[str, Any]:
    total = {"input_tokens": given, "cached_input_tokens": given // 2, "output_tokens": made}
    return {"type": "token_count", "info": {"total_token_usage": total}}


def ended(words: str | None = None) -> dict[str, Any]:
    return {"type": "task_complete", "last_agent_message": words}


def test_a_codex_turn_cost_what_the_sessions_sums_have_grown_by(tmp_path: Path) -> None:
    first = [begun("t1"), typed("One."), cost(1000, 20), said("Done."), cost(2500, 50), cost(2500, 50), ended()]
    second = [begun("t2"), typed("Two."), said("Also."), {"type": "token_count", "info": None}, cost(4000, 60), ended()]
    path = rollout(tmp_path / "rollout-x.jsonl", *first, *second)
    assert answers(path) == [("Done.", "2500", "50"), ("Also.", "1500", "10")]


def test_sums_that_start_over_count_from_there(tmp_path: Path) -> None:
    turns = [begun("t1"), typed("One."), said("Done."), cost(2500, 50), ended()]
    turns += [begun("t2"), typed("Two."), said("Also."), cost(700, 5), ended()]
    assert answers(rollout(tmp_path / "rollout-x.jsonl", *turns))[1] == ("Also.", "700", "5")


def test_a_codex_compaction_is_a_summary_and_no_answer(tmp_path: Path) -> None:
    told = "Another language model started to solve this problem and produced a summary.\nThe parser raises DateError."
    path = rollout(
        tmp_path / "rollout-x.jsonl",
        *(begun("t1"), typed("One."), said("Done."), cost(10, 1), ended()),
        *(begun("t2"), said("The parser raises DateError."), {"message": told}, ended()),
    )
    assert answers(path) == [("Done.", "10", "1"), ("The parser raises DateError.", "", "")]
    assert [one.event.name for one in read(path)[0]][-2:] == ["PostCompact", "SessionEnd"]


def test_a_command_without_a_result_failed_once_its_turn_is_over(tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": '{"cmd": "sleep 300"}'}
    turns = [begun("t1"), typed("One."), call]
    found = read(rollout(tmp_path / "a.jsonl", *turns), 1_795_324_400.0)[0]
    assert [one.event.name for one in found] == ["SessionStart", "UserPromptSubmit"]  # it may still run
    found = read(rollout(tmp_path / "b.jsonl", *turns, begun("t2"), typed("Two."), said("Done."), ended()))[0]
    (run,) = [one.event for one in found if one.event.tool]
    assert (run.name, run.prompt_id, run.error) == ("PostToolUseFailure", "t1", NO_RESULT)
    assert run.tool_input == {"command": "sleep 300"}


# --- Copilot -------------------------------------------------------------------------------------


def shutdown(given: int, made: int) -> dict[str, Any]:
    return {"type": "session.shutdown", "data": {"modelMetrics": {"m": {"usage": {
        "inputTokens": given, "outputTokens": made}}}}}  # fmt: skip


def copilot(path: Path, *lines: dict[str, Any]) -> Path:
    start = {"type": "session.start", "data": {"sessionId": "c1", "context": {"cwd": HOME}}}
    return written(path, *({"timestamp": "2026-11-22T05:12:21.000Z", **line} for line in (start, *lines)))


def asked(words: str) -> list[dict[str, Any]]:
    answer = {"content": f"{words} Yes.", "toolRequests": []}
    return [
        {"type": "user.message", "data": {"content": words, "messageId": words}},
        {"type": "assistant.message", "data": answer},
        {"type": "assistant.turn_end", "data": {}},
    ]


def test_a_copilot_turn_cost_what_its_process_did_where_it_was_the_only_one(tmp_path: Path) -> None:
    resumed = {"type": "session.resume", "data": {}}
    lines = [*asked("One?"), shutdown(900, 9), resumed, *asked("Two?"), shutdown(1500, 20)]
    lines += [resumed, *asked("Three?"), *asked("Four?"), shutdown(9000, 90)]
    found = answers(copilot(tmp_path / "c1" / "events.jsonl", *lines))
    assert [one for one in found if one[1]] == [("One? Yes.", "900", "9"), ("Two? Yes.", "600", "11")]
    assert {one[0] for one in found} == {"One? Yes.", "Two? Yes.", "Three? Yes.", "Four? Yes."}


def spent(given: int, made: int, **more: Any) -> dict[str, Any]:
    usage = {"inputTokens": given, "outputTokens": made}
    return {"type": "session.usage_record", "data": {"usage": usage}, **more}


def test_a_copilot_turn_cost_what_its_requests_did_without_those_of_sub_agents(tmp_path: Path) -> None:
    one, two = asked("One?"), asked("Two?")
    sub = spent(5000, 50, agentId="a1")
    lines = [one[0], spent(100, 1), sub, spent(200, 2), *one[1:], two[0], spent(400, 4), *two[1:], shutdown(5700, 57)]
    path = copilot(tmp_path / "c1" / "events.jsonl", *lines)
    assert answers(path) == [("One? Yes.", "300", "3"), ("Two? Yes.", "400", "4")]


def test_a_command_in_the_background_is_told_again_when_its_shell_tells_how_it_ended(tmp_path: Path) -> None:
    def ran(use: str, name: str, given: dict[str, str], said: str) -> list[dict[str, Any]]:
        begun = {"toolCallId": use, "toolName": name, "arguments": {"shellId": "s1", **given}}
        ended = {"toolCallId": use, "success": True, "result": {"content": said}}
        return [{"type": "tool.execution_start", "data": begun}, {"type": "tool.execution_complete", "data": ended}]

    lines = [
        *ran("t1", "bash", {"command": "make"}, "<command started in background with shellId: s1>"),
        *ran("t2", "read_bash", {}, "half way"),
        *ran("t3", "read_bash", {}, "no rule\n<shellId: s1 completed with exit code 2>"),
    ]
    found = [one.event for one in read(copilot(tmp_path / "c1" / "events.jsonl", *lines))[0]]
    runs = [(one.tool_use_id, one.name, goes_on(one.tool_response)) for one in found if one.tool == "Bash"]
    assert runs == [("t1", "PostToolUse", True), ("t1", "PostToolUseFailure", False)]
    assert "Exit code 2" in str([one.error for one in found if one.tool_use_id == "t1"][-1])


# --- Gemini --------------------------------------------------------------------------------------

ANSWERED = 1_795_324_341.0  # 2026-11-22T05:12:21Z


def chat(path: Path, *more: dict[str, Any]) -> Path:
    at = "2026-11-22T05:12:21.000Z"
    tokens = {"input": 700, "output": 20}
    return written(
        path,
        {"sessionId": "g1", "projectHash": "h", "startTime": at, "kind": "main"},
        {"id": "m1", "timestamp": at, "type": "user", "content": [{"text": "Look."}]},
        {"id": "m2", "timestamp": at, "type": "gemini", "content": "I look around.", "tokens": tokens},
        *more,
    )


RAN = {
    "id": "m2", "timestamp": "2026-11-22T05:12:21.000Z", "type": "gemini", "content": "I look around.",
    "toolCalls": [{"id": "t", "name": "glob", "args": {}, "status": "success", "result": []}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "how", "expected"),
    [
        ((), {"now": ANSWERED + 0.25}, []),  # a tool run may still be written into the same message
        ((), {"now": ANSWERED + 0.25, "ended": ANSWERED + 0.25}, ["I look around."]),  # a hook has said that it is over
        ((), {"now": ANSWERED + 1}, ["I look around."]),
        ((RAN,), {"now": LATER}, []),
    ],
    ids=["fresh", "ended", "old", "ran"],
)
def test_a_gemini_text_is_an_answer_when_its_turn_is_over_or_nothing_came_since(
    tmp_path: Path, more: tuple[dict[str, Any], ...], how: dict[str, float], expected: list[str]
) -> None:
    path = chat(tmp_path / "notes-app" / "chats" / "session-x.jsonl", *more)
    assert [answer for answer, _, _ in answers(path, **how)] == expected
