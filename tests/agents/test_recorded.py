"""What the agents' programs really send, as they were recorded: what each leaves, and that no memory is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import privacy
from mdmem.agents import claude_code
from mdmem.agents.install.catalog import AGENTS
from mdmem.capture import hook
from mdmem.vault import note, people
from tests.helpers.fenced import BLOCK, ENCODINGS
from tests.helpers.few import few
from tests.helpers.transcript_files import notes

PAYLOADS = Path(__file__).parent.parent / "payloads"
LIVE = PAYLOADS / "live"
NAMES = {name.replace("-", "_"): name for name in AGENTS}


def send(vault: Path, agent: str, payload: dict[str, Any]) -> None:
    hook.run([agent], json.dumps(payload).encode(), str(vault))


def live(agent: str, name: str) -> dict[str, Any]:
    payload = json.loads((LIVE / agent.replace("-", "_") / f"{name}.json").read_text("utf-8"))
    assert isinstance(payload, dict)
    return payload


RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("gemini", "AfterTool-run_shell_command-004", {"success": True, "title": "echo hello from the shell"}),
    ("gemini", "AfterTool-run_shell_command-015", {"success": False, "exit_code": 2}),
    ("gemini", "AfterTool-grep_search-022", {"matches": 1, "files": ["src/dates.py"]}),
    ("gemini", "AfterTool-replace-089", {"success": False}),
    ("gemini", "AfterTool-invoke_agent-102", {"success": False}),
    ("gemini", "AfterTool-invoke_agent-205", {"success": True}),
    ("copilot", "PostToolUse-Bash-010", {"success": True, "exit_code": 0}),
    ("copilot", "PostToolUse-Bash-030", {"success": False, "exit_code": 2}),
    ("copilot", "PostToolUse-Grep-203", {"matches": 1}),
    ("copilot", "PostToolUseFailure-Read-042", {"success": False}),
    ("copilot", "PostToolUse-Agent-085", {"success": True, "title": "Agent general-purpose: List files"}),
    ("codex", "PostToolUse-apply_patch-040", {"success": True, "files": ["tests/test_code_mode.py"]}),
    ("codex", "PostToolUse-collaborationspawn_agent-052", {"status": "async_launched", "title": "Agent lister"}),
    ("claude-code", "PostToolUseFailure-Bash-014", {"success": False}),
    ("claude-code", "PostToolUse-Agent-061", {"status": "async_launched"}),
]


OPEN: list[tuple[str, dict[str, Any]]] = [
    ("gemini", {"hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_response": {
        "llmContent": "Command moved to background (PID: 42). Output hidden."}}),
    ("copilot", {"hook_event_name": "PostToolUse", "tool_name": "bash", "tool_result": {
        "result_type": "success", "text_result_for_llm": "<command started in background with shellId: s1>"}}),
    ("codex", {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c1", "tool_response":
        "Chunk ID: 1\nWall time: 1 s\nProcess running with session ID 7\nOutput:\nup\n"}),
    ("claude-code", {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c1", "tool_response": {
        "stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": "b7"}}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "payload"), OPEN, ids=[agent for agent, _ in OPEN])
def test_how_a_command_in_the_background_ends_is_left_open(vault: Path, agent: str, payload: dict[str, Any]) -> None:
    send(vault, agent, {"session_id": "s1", "cwd": "/home/ana/app", "tool_input": {"command": "make"}, **payload})

    (found,) = notes(vault)
    assert (found["status"], found.get("success"), found.get("exit_code")) == ("background", None, None)
    assert "Left running in the background" in found.content


def test_a_tool_that_opencode_does_not_have_is_a_failure(vault: Path) -> None:
    given = {"tool": "no_such_tool", "error": "Model tried to call unavailable tool 'no_such_tool'."}
    payload = {"hook_event_name": "PostToolUse", "tool_name": "invalid", "tool_input": given, "tool_use_id": "c1"}
    response = {"title": "Invalid Tool", "output": "The arguments provided to the tool are invalid.", "metadata": {}}
    send(vault, "opencode", {"session_id": "s1", "cwd": "/home/ana/app", **payload, "tool_response": response})

    (found,) = notes(vault)
    assert (found["tool"], found["success"]) == ("no_such_tool", False)
    assert "unavailable tool" in str(found["error"])


@pytest.mark.parametrize(("agent", "name", "wanted"), RUNS, ids=[f"{agent}-{name}" for agent, name, _ in RUNS])
def test_a_recorded_run_leaves_what_it_was(vault: Path, agent: str, name: str, wanted: dict[str, Any]) -> None:
    send(vault, agent, live(agent, name))

    (found,) = notes(vault)
    assert {key: found.get(key) for key in wanted} == wanted
    assert "untrusted_context" not in found.content and "PGID" not in found.content


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("codex", "PostToolUse-collaborationwait_agent-056"),
        ("codex", "PostToolUse-mcp__mdmem__search-200"),
        ("gemini", "AfterTool-mcp_mdmem_search-202"),
        ("copilot", "UserPromptSubmit-072"),
        ("copilot", "PostToolUse-Bash-079"),
        ("copilot", "Stop-081"),
        ("copilot", "ErrorOccurred-200"),
    ],
)
def test_a_recording_that_is_not_the_users_leaves_nothing(vault: Path, agent: str, name: str) -> None:
    send(vault, agent, live(agent, name))
    assert notes(vault) == []


def test_what_gemini_puts_before_a_prompt_is_not_the_prompt(vault: Path) -> None:
    send(vault, "gemini", live("gemini", "BeforeAgent-030"))
    assert [one.content for one in notes(vault)] == ["Do you remember the parser? Please read a missing file"]


def test_runs_of_a_gemini_sub_agent_are_not_the_users(vault: Path) -> None:
    begin, end = live("gemini", "BeforeTool-invoke_agent-096"), live("gemini", "AfterTool-invoke_agent-205")
    shell = live("gemini", "AfterTool-run_shell_command-004")
    same = {"session_id": begin["session_id"]}
    for payload in (begin, shell | same, end | same, shell | same | {"timestamp": "2026-11-22T06:00:00Z"}):
        send(vault, "gemini", payload)
    assert [one["tool"] for one in notes(vault)] == ["invoke_agent", "run_shell_command"]


def test_the_answer_of_a_copilot_turn_is_the_last_message_of_its_events_file(vault: Path, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"type": "user.message", "data": {"content": "When?"}, "timestamp": "2026-11-22T05:21:49.438Z"},
        {"type": "assistant.message", "data": {"content": "I look.", "toolRequests": [{}]}},
        {"type": "assistant.message", "data": {"content": "At nine."}, "timestamp": "2026-11-22T05:21:50.438Z"},
        {"type": "assistant.message", "data": {"content": "A helper's."}, "agentId": "a0fd689d"},
        {"type": "assistant.turn_end", "data": {"turnId": "1"}},
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    send(vault, "copilot", live("copilot", "Stop-050") | {"transcript_path": str(file)})
    assert [one.content for one in notes(vault)] == ["At nine."]


def test_an_answer_to_an_earlier_prompt_is_not_taken_for_this_ones(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    old = {"type": "assistant.message", "data": {"content": "Old."}, "timestamp": "2026-11-22T05:21:49.000Z"}
    file.write_text(f"{json.dumps(old)}\n", encoding="utf-8")
    stop = live("copilot", "Stop-050") | {"transcript_path": str(file)}
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "And now?", "timestamp": "2026-11-22T05:22:00.000Z"}
    send(vault, "copilot", stop | asked)
    send(vault, "copilot", stop)
    assert [one["kind"] for one in notes(vault)] == ["prompt"]


def test_codex_writes_down_the_exit_code_that_its_hook_does_not_say(vault: Path, tmp_path: Path) -> None:
    payload = live("codex", "PostToolUse-Bash-038")
    item = {"type": "CommandExecution", "id": payload["tool_use_id"], "exit_code": 2, "status": "failed"}
    line = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    file = tmp_path / "rollout.jsonl"
    file.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    send(vault, "codex", payload | {"transcript_path": str(file)})
    assert [(one["success"], one["exit_code"]) for one in notes(vault)] == [(False, 2)]


@pytest.mark.parametrize("how", ["SubagentStop", "UserPromptSubmit"])
def test_the_answer_of_a_background_agent_is_added_to_the_run_that_sent_it(vault: Path, how: str) -> None:
    run = live("claude-code", "PostToolUse-Agent-061")
    stop, told = live("claude-code", "SubagentStop-067"), live("claude-code", "UserPromptSubmit-068")
    send(vault, "claude-code", run)
    send(vault, "claude-code", stop if how == "SubagentStop" else told)

    (found,) = notes(vault)
    assert found["status"] == "completed"
    assert found.content.count("Sub-agent report: src/dates.py and tests/test_leap.py.") == 1
    assert "comes later" not in found.content

    before = found.content
    send(vault, "claude-code", stop)
    send(vault, "claude-code", told)
    assert [one.content for one in notes(vault)] == [before]


def test_a_run_that_a_person_has_edited_keeps_their_words(vault: Path) -> None:
    send(vault, "claude-code", live("claude-code", "PostToolUse-Agent-061"))
    (path,) = vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md")
    path.write_text(path.read_text("utf-8") + "\nMy own words.\n", encoding="utf-8")
    mine = path.read_bytes()
    send(vault, "claude-code", live("claude-code", "SubagentStop-067"))
    assert path.read_bytes() == mine


def test_shapes_of_other_versions_tell_the_same(vault: Path) -> None:
    base = {
        "session_id": "5c27aa1d-5828-4327-841a-ffc251afd4ea",
        "cwd": "/home/dev/x",
        "hook_event_name": "PostToolUse",
    }
    times = {"started_at": "2026-11-22T05:00:00Z", "ended_at": "2026-11-22T05:00:01.5Z"}
    shell = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    send(vault, "claude-code", base | shell | times | {"tool_output": "built", "tool_use_id": "t1"})
    send(vault, "claude-code", base | shell | {"tool_error": "Exit code 2\nboom", "tool_use_id": "t2"})
    send(vault, "claude-code", base | shell | {"tool_response": "Exit code: 3\nOutput:\nno", "tool_use_id": "t3"})
    grep = {"tool_name": "Grep", "tool_input": {"pattern": "x"}, "tool_response": "Found 15 matches in 8 files"}
    send(vault, "claude-code", base | grep | {"tool_use_id": "t4"})
    nothing = {"tool_name": "Grep", "tool_input": {"pattern": "y"}, "tool_response": {}}
    send(vault, "claude-code", base | nothing | {"tool_use_id": "t5"})

    built, boom, third, counted, unknown = notes(vault)
    assert (built["success"], built["duration_ms"]) == (True, 1500)
    assert (boom["success"], boom["exit_code"]) == (False, 2)
    assert (third["success"], third["exit_code"]) == (False, 3)
    assert (counted["matches"], counted["title"]) == (15, 'Grep "x" (15 matches)')
    assert unknown["title"] == 'Grep "y"' and unknown.get("matches") is None


# -- no memory of a memory -------------------------------------------------------------------------


def planted(value: Any, block: str, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Return copies of a payload, each with the block in one more of its texts."""
    if isinstance(value, str):
        yield path, f"{value} {block}"
    elif isinstance(value, dict):
        for key, item in value.items():
            for where, changed in planted(item, block, (*path, key)):
                yield where, {**value, key: changed}
    elif isinstance(value, list):
        for at, item in enumerate(value[:3]):
            for where, changed in planted(item, block, (*path, at)):
                yield where, [*value[:at], changed, *value[at + 1 :]]


FIELDS_TO_KEEP = frozenset(["hook_event_name", "hookName", "session_id", "sessionId", "transcript_path", "cwd"])


@pytest.mark.slow
@pytest.mark.parametrize("module", few(sorted(NAMES), always=["copilot"]))
def test_no_note_holds_a_block_that_stood_in_any_field_of_a_payload(vault: Path, module: str) -> None:
    encodings = list(ENCODINGS.values())
    recorded = sorted(PAYLOADS.glob(f"{module}/*.json")) + sorted((LIVE / module).glob("*.json"))
    count = 0
    for path in recorded:
        payload = json.loads(path.read_text("utf-8"))
        if path.stat().st_size > 20_000:
            continue
        for where, _ in planted(payload, ""):
            if where[0] in FIELDS_TO_KEEP:
                continue
            block = encodings[count % len(encodings)](BLOCK)
            changed = dict(planted(payload, block))[where]
            session = {"session_id": f"5c27aa1d-5828-4327-841a-{count:012d}"} if "session_id" in payload else {}
            send(vault, NAMES[module], {**changed, **session})
            count += 1

    assert count > 20
    stored = [path.read_text("utf-8", "replace") for path in vault.rglob("*.md")]
    assert stored and not [text for text in stored if privacy.holds_memory(text) or "Records of earlier" in text]


@pytest.mark.slow
def test_every_note_is_as_it_was_captured_until_somebody_changes_it(vault: Path) -> None:
    for path in sorted(PAYLOADS.rglob("*.json")):
        module = path.relative_to(LIVE if LIVE in path.parents else PAYLOADS).parts[0]
        send(vault, NAMES[module], json.loads(path.read_text("utf-8")))
    kinds = set()
    for path in vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"):
        data = path.read_bytes()
        parsed = note.parse(data)
        kinds.add(parsed.meta["kind"])
        assert not set(parsed.meta) - note.OF_CAPTURE, path.name
        assert people.is_untouched(parsed, data, parsed.meta["tags"]), path.name
    assert kinds == set(note.CAPTURED)


def test_a_compaction_is_stored_once_without_a_hook_whose_command_the_user_sees(vault: Path) -> None:
    ended = live("claude-code", "SubagentStop-093")
    send(vault, "claude-code", ended)
    send(vault, "claude-code", {
        "hook_event_name": "PostCompact", "trigger": "manual", "compact_summary": ended["last_assistant_message"],
        **{key: ended[key] for key in ("session_id", "cwd", "prompt_id", "transcript_path")},
    })  # fmt: skip
    assert [(one["kind"], one["title"]) for one in notes(vault)] == [("summary", "leap days in the parser.")]
    assert "PostCompact" not in [row[0] for row in claude_code.HOOKS]


@pytest.mark.parametrize(
    "typed",
    ["keep <private>the launch is called Marigold-Thunder-88</private> in mind", "[private] keep Marigold-Thunder-88"],
)
def test_what_is_private_after_the_command_for_a_compaction_is_not_in_its_summary(vault: Path, typed: str) -> None:
    ended = live("claude-code", "SubagentStop-093")
    send(vault, "claude-code", {
        "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": typed,
        **{key: ended[key] for key in ("session_id", "cwd", "prompt_id", "transcript_path")},
    })  # fmt: skip
    said = "<summary>\n1. Primary Request: leap days, and that Marigold-Thunder-88 is kept.\n</summary>"
    send(vault, "claude-code", ended | {"last_assistant_message": said})
    (summary,) = notes(vault)
    assert summary["kind"] == "summary"
    assert "Marigold" not in "".join(path.read_text("utf-8") for path in vault.rglob("*.md"))


def test_a_compaction_is_named_by_what_it_says_and_not_by_its_headings(vault: Path) -> None:
    base = {
        "hook_event_name": "PostCompact",
        "session_id": "5c27aa1d-5828-4327-841a-ffc251afd4ea",
        "cwd": "/home/dev/x",
    }
    said = "<summary>\n1. Primary Request and Intent:\n   The parser shall refuse leap days.\n2. Files:\n</summary>"
    send(vault, "claude-code", base | {"compact_summary": said})
    send(vault, "claude-code", base | {"compact_summary": "1. Primary Request: leap days.\n2. Decision: DateError."})
    assert [one["title"] for one in notes(vault)] == ["The parser shall refuse leap days.", "leap days."]
