"""Agents: every recorded payload is understood or left alone, and every reply is one that the agent accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mdmem import agents
from mdmem.agents import Event, claude_code
from mdmem.agents import payload as payloads
from mdmem.agents.install import catalog
from mdmem.capture.tools import table
from mdmem.capture.tools.limits import Limits
from mdmem.quick_import import QuickFinder
from mdmem.transcripts import claude_files, codex, copilot, gemini, opencode, sources
from tests.helpers.few import few

PAYLOADS = Path(__file__).parent.parent / "payloads"
NAMES = {name.replace("-", "_"): name for name in catalog.AGENTS}
"""A folder of payloads -> the agent that sent them."""
RECORDED = sorted(PAYLOADS.glob("*/*.json"))
UNDERSTOOD = frozenset(
    [
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
    ]
)
# What is recorded of Claude Code beside those: events that mdmem does not register.
PASSED_OVER = (
    "PostToolBatch",
    "PostModelSwitch",
    "SubagentStart",
    "Notification",
    "InstructionsLoaded",
    "CwdChanged",
)

# The top-level keys, and those of hookSpecificOutput, that an agent's schema knows and mdmem may use.
REPLIES: dict[str, set[str]] = {
    "claude-code": {"hookSpecificOutput", "systemMessage"},
    "codex": {"hookSpecificOutput", "systemMessage"},
    "gemini": {"hookSpecificOutput", "systemMessage"},
    "cursor": {"additional_context", "continue", "user_message"},
    "copilot": {"additionalContext", "modifiedTransformedPrompt"},
    "opencode": {"context", "message"},
}


def load(path: Path) -> dict[str, Any]:
    payload = json.loads(path.read_text("utf-8"))
    assert isinstance(payload, dict)
    return payload


def read(agent: str, payload: dict[str, Any], env: dict[str, str] | None = None) -> Event:
    return agents.load(agent).read(payload, env or {})


def recorded(agent: str, name: str) -> Event:
    return read(agent, load(PAYLOADS / agent.replace("-", "_") / f"{name}.json"))


def is_ignored(path: Path) -> bool:
    return "ignored" in path.stem or path.stem.startswith(PASSED_OVER)


# --- the contract --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.AGENTS)
def test_every_agent_has_payloads_of_its_own(name: str) -> None:
    assert list((PAYLOADS / name.replace("-", "_")).glob("*.json"))
    module = agents.load(name)
    assert (module.NAME, bool(module.TITLE)) == (name, True)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_recorded_payload_is_understood_or_passed_over(path: Path) -> None:
    agent = NAMES[path.parent.name]

    event = read(agent, load(path))

    assert event.agent == agent
    assert event.name in ({""} if is_ignored(path) else UNDERSTOOD)
    assert event.session
    assert event.cwd
    assert event.subagent == ("ubagent" in path.stem or path.stem.endswith("pluginagent"))
    if event.name.startswith("PostToolUse"):
        assert event.tool
        assert type(event.tool_input) is dict
        assert event.tool_use_id
        assert (event.error is None) == (event.name == "PostToolUse")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_reply_is_one_json_object_that_the_agent_knows(path: Path) -> None:
    agent = NAMES[path.parent.name]
    event = read(agent, load(path))

    for context, message in ((None, None), ("ctx", None), (None, "msg"), ("ctx", "msg")):
        reply = agents.load(agent).reply(event, context, message)
        if context is None and message is None:
            assert reply is None
        if reply is not None:
            json.dumps(reply)
            assert set(reply) <= REPLIES[agent]
            specific = reply.get("hookSpecificOutput", {"hookEventName": "", "additionalContext": "ctx"})
            assert set(specific) == {"hookEventName", "additionalContext"}
            assert specific["additionalContext"] == "ctx"


@pytest.mark.parametrize(
    ("agent", "name", "reply"),
    [
        (
            "claude-code",
            "UserPromptSubmit-plain-01",
            {
                "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "ctx"},
                "systemMessage": "msg",
            },
        ),
        ("claude-code", "Stop-01", {"systemMessage": "msg"}),
        ("codex", "Stop-01", {"systemMessage": "msg"}),
        ("codex", "SessionEnd-01", None),
        (
            "gemini",
            "BeforeAgent-01",
            {
                "hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "ctx"},
                "systemMessage": "msg",
            },
        ),
        ("cursor", "sessionStart-01", {"additional_context": "ctx"}),
        ("cursor", "beforeSubmitPrompt-01", {"continue": True, "user_message": "msg"}),
        ("cursor", "stop-01", None),
        ("copilot", "SessionStart-01", {"additionalContext": "ctx"}),
        ("copilot", "UserPromptSubmit-01", None),
        ("opencode", "UserPromptSubmit-01", {"context": "ctx", "message": "msg"}),
    ],
)
def test_context_and_message_go_where_the_agent_takes_them(agent: str, name: str, reply: dict[str, Any] | None) -> None:
    assert agents.load(agent).reply(recorded(agent, name), "ctx", "msg") == reply


def test_copilots_prompt_is_kept_whole_before_the_context() -> None:
    event = recorded("copilot", "camel-userPromptTransformed-01")

    reply = agents.load("copilot").reply(event, "ctx", None)

    assert event.name == "UserPromptSubmit"
    assert reply == {"modifiedTransformedPrompt": f"{event.extra['transformed']}\n\nctx"}


# --- what is in an event -------------------------------------------------------------------------


def test_claude_codes_tool_run_is_read_whole() -> None:
    event = recorded("claude-code", "PostToolUse-Bash-01")

    assert (event.name, event.tool, event.error) == ("PostToolUse", "Bash", None)
    assert event.tool_input["command"]
    assert event.tool_response["stdout"]
    assert event.duration_ms is not None
    assert (event.prompt_id, event.tool_use_id) != ("", "")


def test_a_slash_command_has_its_name_and_arguments() -> None:
    event = recorded("claude-code", "UserPromptExpansion-review-01")

    assert event.prompt == "/review src/dates.py --deep"
    assert (event.extra["command_name"], event.extra["command_args"]) == ("review", "src/dates.py --deep")


def test_what_the_agent_said_and_summed_up_is_the_message() -> None:
    assert "ISO 8601 only" in recorded("claude-code", "PostCompact-auto-01").message
    assert recorded("claude-code", "PostCompact-auto-01").source == "auto"
    assert recorded("claude-code", "StopFailure-01").extra["error"] == "rate_limit"
    assert recorded("gemini", "AfterAgent-01").message == "Only src/sync.py:88 does."
    assert recorded("gemini", "AfterAgent-01").prompt == ""
    assert recorded("cursor", "afterAgentResponse-01").extra["partial"] == "true"


def test_prompts_that_the_host_will_send_by_itself_are_known() -> None:
    crons = [{"id": "1", "prompt": "check CI"}, {"prompt": 1}, 2]

    event = read("claude-code", {"hook_event_name": "Stop", "session_crons": crons})

    assert event.extra["crons"] == "check CI"


@pytest.mark.parametrize(
    ("agent", "name", "first_line"),
    [
        ("codex", "PostToolUse-Bash-02-failed", "Exit code 1"),
        ("codex", "PostToolUse-Bash-03-failed-object", "Exit code 2"),
        ("cursor", "postToolUse-Shell-02-failed", "Exit code 1"),
        ("copilot", "PostToolUse-bash-02-failed", "Exit code 2"),
        ("opencode", "PostToolUse-bash-02-failed", "Exit code 1"),
        ("gemini", "AfterTool-run_shell_command-04-error", "make: *** No rule to make target 'docs'"),
        ("copilot", "PostToolUseFailure-01", "Path does not exist"),
        ("cursor", "postToolUseFailure-01", "Command timed out after 30s"),
    ],
)
def test_a_command_that_failed_is_a_failure_whatever_the_agent_calls_it(agent: str, name: str, first_line: str) -> None:
    event = recorded(agent, name)

    assert event.name == "PostToolUseFailure"
    assert event.error is not None
    assert event.error.startswith(first_line)


@pytest.mark.parametrize("fields", [{}, {"text_result_for_llm": "not allowed"}])
def test_a_run_that_copilot_calls_a_failure_is_one_with_and_without_words(fields: dict[str, str]) -> None:
    run = {"hook_event_name": "PostToolUse", "session_id": "s-1", "tool_name": "Bash", "tool_input": {"command": "x"}}

    event = read("copilot", {**run, "tool_result": {"result_type": "failure", **fields}})

    assert (event.name, event.error) == ("PostToolUseFailure", fields.get("text_result_for_llm", ""))


@pytest.mark.parametrize("code", ["-1073741819", "3221225477", "1"])
@pytest.mark.parametrize(
    ("agent", "tool", "response"),
    [
        ("copilot", "powershell", "Oops\n<shellId: 1 completed with exit code {}>"),
        ("codex", "Bash", "Exit code: {}\nWall time: 1 seconds\nOutput:\nOops"),
        ("gemini", "run_shell_command", "Output: Oops\nError: (none)\nExit Code: {}\nSignal: (none)"),
    ],
)
def test_the_exit_code_of_a_program_that_crashed_on_windows_is_a_failure(
    agent: str, tool: str, response: str, code: str
) -> None:
    said = response.format(code)
    run = {"hook_event_name": "AfterTool" if agent == "gemini" else "PostToolUse", "session_id": "s-1"}
    given = {"tool_name": tool, "tool_input": {"command": "x.exe"}}
    got = {"tool_result": {"result_type": "success", "text_result_for_llm": said}, "tool_response": said}
    got["tool_response"] = {"llmContent": said} if agent == "gemini" else said

    event = read(agent, run | given | got)

    assert (event.name, event.error) == ("PostToolUseFailure", f"Exit code {code}\nOops")
    kept = table.describe(
        tool, given["tool_input"], event.tool_response, error=event.error, root="", cwd="", limits=Limits()
    )
    assert kept.meta["exit_code"] == int(code)


@pytest.mark.parametrize(
    ("agent", "tool"), [("copilot", "mdmem-search"), ("opencode", "mdmem_search"), ("gemini", "mcp_mdmem_search")]
)
def test_mdmems_own_tools_have_one_name_whatever_the_agent_calls_them(agent: str, tool: str) -> None:
    name = {"gemini": "AfterTool"}.get(agent, "PostToolUse")

    event = read(agent, {"hook_event_name": name, "session_id": "s-1", "tool_name": tool, "tool_input": {"query": "x"}})

    assert event.tool == "mcp__mdmem__search"


def test_copilots_words_after_the_command_for_a_compaction_are_read_in_both_dialects() -> None:
    base = {"trigger": "manual", "sessionId": "s-1", "cwd": "/home/dev/x"}
    for payload in (
        base | {"customInstructions": "keep it"},
        base | {"hook_event_name": "PreCompact", "custom_instructions": "keep it"},
    ):
        event = read("copilot", payload)
        assert (event.name, event.prompt, event.session) == ("PreCompact", "keep it", "s-1")


def test_json_inside_a_string_is_decoded_and_other_text_is_not() -> None:
    assert recorded("cursor", "postToolUse-MCP-01").tool_input == {"number": 41}
    assert recorded("copilot", "camel-postToolUse-01").tool_input["command"] == "make"
    assert recorded("cursor", "postToolUse-Read-02-notjson").tool_response.startswith("{not JSON")


@pytest.mark.parametrize(
    ("agent", "name", "tool"),
    [
        ("gemini", "AfterTool-mcp-05", "mcp__tracker__get_issue"),
        ("gemini", "AfterTool-mcp-06-own", "mcp__mdmem__search_notes"),
        ("cursor", "postToolUse-MCP-01", "mcp__tracker__get_issue"),
        ("opencode", "PostToolUse-mcp-own-01", "mcp__mdmem__search_notes"),
    ],
)
def test_mcp_tools_have_one_spelling(agent: str, name: str, tool: str) -> None:
    assert recorded(agent, name).tool == tool


@pytest.mark.parametrize("agent", ["gemini", "copilot"])
def test_a_tool_run_without_an_id_gets_the_same_one_each_time_and_another_than_the_next(agent: str) -> None:
    (path, *_) = sorted((PAYLOADS / agent).glob("*Tool*run_shell*-03.json")) or sorted(
        (PAYLOADS / agent).glob("PostToolUse-bash-01.json")
    )
    payload = load(path)

    first, again = read(agent, payload), read(agent, dict(payload))
    later = read(agent, {**payload, "timestamp": "2026-10-02T09:00:00.000Z"})

    assert first.tool_use_id == again.tool_use_id != later.tool_use_id


# --- sub-agents and senders ----------------------------------------------------------------------


def test_a_type_alone_makes_no_subagent() -> None:
    assert not recorded("claude-code", "PostToolUse-Bash-10-agenttypeonly").subagent
    assert not recorded("claude-code", "SessionStart-agenttype-05").subagent
    assert read("claude-code", {"agent_id": "a4d2"}).subagent
    assert not read("claude-code", {"agent_id": " "}).subagent
    assert read("claude-code", {"transcript_path": "C:\\x\\subagents\\agent-1.jsonl"}).subagent


@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if path.parent.name in ("codex", "gemini", "cursor", "copilot")],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_payload_through_claude_codes_registration_is_its_real_senders(path: Path) -> None:
    agent = NAMES[path.parent.name]
    env = {"GEMINI_SESSION_ID": "x"} if agent == "gemini" else {}
    payload = load(path)

    event = read("claude-code", payload, env)

    direct = read(agent, payload, env)
    assert event.agent == agent
    assert (event.name, event.session, event.tool_use_id) == (direct.name, direct.session, direct.tool_use_id)
    assert claude_code.reply(event, "ctx", "msg") == agents.load(agent).reply(direct, "ctx", "msg")


def test_claude_code_stays_itself_when_it_takes_up_a_timestamp_one_day() -> None:
    payload = load(PAYLOADS / "claude_code" / "UserPromptSubmit-plain-01.json") | {"timestamp": "2026-10-02T08:14:33Z"}

    assert read("claude-code", payload, {"GEMINI_SESSION_ID": "inherited"}).agent == "claude-code"


@pytest.mark.parametrize(
    "path", [path for path in RECORDED if path.parent.name == "claude_code"], ids=lambda path: path.stem
)
def test_claude_code_stays_itself_without_a_transcript(path: Path) -> None:
    payload = load(path) | {"transcript_path": None}
    other_signs = ("prompt_id", "scratchpad_dir", "effort")
    bare = {key: value for key, value in payload.items() if key not in other_signs}

    assert read("claude-code", payload | {"prompt_id": "9f1c"}).agent == "claude-code"
    assert read("claude-code", bare).agent == ("codex" if "SessionEnd" in path.stem else "claude-code")


# --- hostile payloads ----------------------------------------------------------------------------

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
FIELDS = sorted({key for path in RECORDED for key in load(path)})
NATIVE = sorted({name for path in RECORDED if isinstance(name := load(path).get("hook_event_name"), str)})


@pytest.mark.parametrize("agent", few(catalog.AGENTS, always=["claude-code"]))
@given(payload=st.dictionaries(st.sampled_from(FIELDS), JUNK, max_size=12), name=st.sampled_from(NATIVE) | JUNK)
def test_a_field_of_any_type_is_tolerated(agent: str, payload: dict[str, Any], name: Any) -> None:
    event = read(agent, {**payload, "hook_event_name": name})

    assert event.name in UNDERSTOOD | {""}
    for text in (event.session, event.prompt_id, event.cwd, event.transcript, event.source, event.prompt):
        assert type(text) is str
    for text in (event.message, event.tool, event.tool_use_id, *event.extra, *event.extra.values()):
        assert type(text) is str
    assert event.error is None or type(event.error) is str
    assert event.duration_ms is None or type(event.duration_ms) is int
    agents.load(event.agent).reply(event, "ctx", "msg")


def test_large_payloads_are_read_as_they_are() -> None:
    output = "x" * 1_200_000
    image = {"type": "image", "file": {"base64": "A" * 440_000, "type": "image/png"}}
    payload = load(PAYLOADS / "claude_code" / "PostToolUse-Bash-01.json")

    assert read("claude-code", payload | {"tool_response": {"stdout": output}}).tool_response["stdout"] == output
    assert read("claude-code", payload | {"tool_response": image}).tool_response == image


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@example({"a": '\ud800\0\u2028"\\/é😀', "b": [[], {}, True, None, 1e300]})
@given(JSON)
def test_a_reply_is_written_as_json_writes_it(value: Any) -> None:
    assert payloads.encode(value) == json.dumps(value)


def test_hooks_load_the_agents_of_the_table_and_nothing_else() -> None:
    assert all(agents.load(name) is row.module for name, row in catalog.AGENTS.items())
    for name in ("", "payload", "install", "claude_code", "no-such-agent", "../x", "codex.x"):
        with pytest.raises(KeyError):
            agents.load(name)
    assert QuickFinder("mdmem").find_spec("mdmem.agents.", agents.__path__) is None


def test_each_agent_that_saves_transcripts_names_the_module_that_reads_them() -> None:
    readers = (claude_files, codex, copilot, gemini, opencode)

    assert {reader.__name__.rpartition(".")[2]: reader.SOURCE.agent for reader in readers} == {
        row.transcripts: row.module.NAME for row in catalog.ROWS if row.transcripts
    }
    assert {reader.SOURCE for reader in readers} <= set(sources.SOURCES)
