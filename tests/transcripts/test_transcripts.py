"""Transcripts: what agents saved becomes the events that their hooks give; no more, no less."""

from __future__ import annotations

import contextlib
import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.agents import Event
from mdmem.transcripts import claude_files, sources
from mdmem.transcripts.claude_lines import Branch
from mdmem.transcripts.lines import Lines
from mdmem.transcripts.saved import ReadOptions, Skipped, moment
from tests.helpers.transcript_files import BACKGROUND, FILES, LATER, ODD, TOOLS, Talk, prompts, read

CODEX = {path.name[8:21]: path for path in (FILES / "codex").rglob("*.jsonl")}
GEMINI = sorted((FILES / "gemini").rglob("session-*"))


def test_a_session_with_tools_has_the_prompts_that_were_typed_and_the_one_that_was_queued() -> None:
    assert prompts(TOOLS) == [
        "Why does the date parser fail on 2026-02-29? Fix it and add a test.",
        "also mention it in the changelog",
        "Danke! 次は日本語のエラーメッセージも 🙏",
    ]


def test_of_an_odd_transcript_only_what_a_person_typed_is_a_prompt() -> None:
    assert [words.partition("<private>")[0].strip() for words in prompts(ODD)] == [
        "What does this screenshot show? Compare it with src/cli.py.",
        "/review src/dates.py --deep",
        "Go on, but only read files.",
        "Now document it in README.",
    ]


def test_what_a_sub_agent_was_asked_is_no_prompt() -> None:
    assert prompts(BACKGROUND) == ["Search for call sites in the background."]


def test_lines_that_cannot_be_read_are_passed_over_and_counted() -> None:
    _, skipped = read(ODD)

    assert skipped["unreadable line"] == 5
    assert skipped["half-written line"] == 1
    assert skipped["line of an unknown kind"] == 2
    assert skipped["command that never reached the agent"] == 1
    assert skipped["tool run that was refused"] == 1


def test_a_session_becomes_the_events_of_its_hooks_in_their_order() -> None:
    found, _ = read(TOOLS)

    assert [(saved.event.name, saved.event.tool) for saved in found] == [
        ("SessionStart", ""),
        ("UserPromptSubmit", ""),
        ("PostToolUse", "Read"),
        ("PostToolUse", "Edit"),
        ("PostToolUse", "Write"),
        ("PostToolUseFailure", "Bash"),
        ("UserPromptSubmit", ""),
        ("Stop", ""),
        ("UserPromptSubmit", ""),
        ("Stop", ""),
        ("SessionEnd", ""),
    ]
    failed = found[5].event
    assert failed.error == "Exit code 1\nE   ImportError: cannot import name DateError"
    assert (failed.tool_use_id, failed.prompt_id) == ("toolu_01D", "6b0d549b-6f03-475a-9600-a35a099950d8")
    assert found[5].at == moment("2026-09-14T08:02:10.781Z")
    assert {saved.branch for saved in found} == {"main"}


def test_an_answer_is_what_was_said_last_and_not_what_came_before_a_tool() -> None:
    found, _ = read(TOOLS)

    assert [saved.event.message for saved in found if saved.event.name == "Stop"] == [
        "`DateError` was missing; I defined it and noted the change in CHANGELOG.md. 12 tests pass.",
        "Verstanden / 了解です。",
    ]


def test_a_compaction_is_a_summary_and_an_error_of_the_service_a_failure() -> None:
    events = {saved.event.name: saved.event for saved in read(ODD)[0]}

    assert events["PostCompact"].message.startswith("1. Primary request: make parse() reject impossible dates.")
    assert events["PostCompact"].source == "auto"
    assert events["StopFailure"].message == "API Error: 529 Overloaded"


def test_a_background_agents_end_is_no_prompt_but_what_follows_is_an_answer() -> None:
    found, _ = read(BACKGROUND)

    answers = [(saved.event.message, saved.event.prompt_id) for saved in found if saved.event.name == "Stop"]
    assert [message for message, _ in answers] == ["Searching in the background.", "One call site: src/cli.py:14."]
    assert {prompt for _, prompt in answers} == {"9a2ef80f-58ee-4571-b499-8d7c4093f6de"}


def test_what_sub_agents_did_comes_in_between_when_it_is_wanted() -> None:
    found = list(claude_files.read(BACKGROUND, ReadOptions(Skipped(), LATER, subagents=True)))

    inside = [saved.event for saved in found if saved.event.subagent]
    assert [(event.name, event.tool) for event in inside] == [("PostToolUse", "Grep"), ("SubagentStop", "")]
    assert {event.session for event in inside} == {"5b1d6a3c-2e8f-4c10-8a77-90c3f1e2d455"}
    assert [saved.at for saved in found] == sorted(saved.at for saved in found)


# -- branches --------------------------------------------------------------------------------------


def saved_prompts(talk: Talk, tmp_path: Path) -> list[str]:
    return prompts(talk.save(tmp_path))


def test_what_was_taken_back_is_no_part_of_the_conversation(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Find the bug")
    fork = talk.said("It is in dates.py")
    talk.typed("Delete the file")
    talk.said("Deleted")
    talk.last = fork
    talk.typed("Fix it")
    talk.said("Fixed")

    assert saved_prompts(talk, tmp_path) == ["Find the bug", "Fix it"]
    _, skipped = read(talk.save(tmp_path))
    assert skipped["line on a dead branch"] == 2


def test_tools_that_ran_side_by_side_are_all_alive(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Run both")
    first = talk.called("Bash", {"command": "a"}, message="msg_1")
    after_first = talk.last
    second = talk.called("Bash", {"command": "b"}, message="msg_1")
    after_second = talk.last
    talk.last = after_first
    talk.answered(first, {"stdout": "A"})
    talk.last = after_second
    talk.answered(second, {"stdout": "B"})
    talk.said("Both ran")

    found, skipped = read(talk.save(tmp_path))

    runs = [saved.event.tool_input["command"] for saved in found if saved.event.name == "PostToolUse"]
    assert runs == ["a", "b"]
    assert not +skipped


def test_a_compaction_does_not_cut_off_what_was_before_it(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Before")
    last = talk.said("Done")
    boundary = talk.line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=last)
    summary = {"role": "user", "content": "This session is being continued.\nSummary:\n1. Before."}
    talk.line("user", message=summary, isCompactSummary=True, parentUuid=boundary)
    talk.typed("After")

    assert saved_prompts(talk, tmp_path) == ["Before", "After"]


def test_a_parent_that_cannot_be_read_does_not_end_the_conversation(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Before")
    talk.said("Done")
    lost = talk.typed("Lost")
    talk.said("Also done")
    path = talk.save(tmp_path)
    path.write_text(talk.text([line for line in talk.lines if line["uuid"] != lost]), encoding="utf-8")

    found, skipped = read(path)

    assert [saved.event.message for saved in found if saved.event.name == "Stop"] == ["Done", "Also done"]
    assert not +skipped


def test_a_fork_leaves_only_what_is_new_in_it(tmp_path: Path) -> None:
    parent = Talk()
    parent.typed("Shared")
    parent.said("Answer")
    child = Talk(begin=parent.at)
    origin = {"sessionId": parent.session, "messageUuid": "x"}
    child.lines = [{**line, "sessionId": child.session, "forkedFrom": origin} for line in parent.lines]
    child.last = parent.last
    child.typed("Only here")
    parent.save(tmp_path)

    found, _ = read(child.save(tmp_path))

    assert [saved.event.prompt for saved in found if saved.event.prompt] == ["Only here"]
    assert found[0].event.name == "SessionStart"
    assert found[0].at == found[1].at


def test_lines_that_an_older_version_copied_on_resuming_stay_the_first_files(tmp_path: Path) -> None:
    first = Talk()
    first.typed("Shared")
    first.said("Answer")
    second = Talk(begin=first.at)
    second.lines = [{**line, "sessionId": second.session} for line in first.lines]
    second.last = first.last
    second.typed("Only here")
    one, other = first.save(tmp_path), second.save(tmp_path)
    os.utime(one, (1_789_000_100, 1_789_000_100))
    os.utime(other, (1_789_000_200, 1_789_000_200))

    assert prompts(one) == ["Shared"]
    assert prompts(other) == ["Only here"]


def test_lines_without_ids_are_all_alive() -> None:
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"content": "a"}}, {"type": "mode"}]
    branch = Branch(lines)

    assert all(branch.has(line) for line in lines)


# -- single lines ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isVisibleInTranscriptOnly": True},
        {"isSidechain": True},
        {"teamName": "reviewers"},
        {"origin": {"kind": "task-notification"}},
        {"message": {"role": "user", "content": "<bash-input>git status</bash-input>"}},
        {"message": {"role": "user", "content": "[Request interrupted by user]"}},
        {"message": {"role": "user", "content": "<task-notification><result>x</result></task-notification>"}},
        {"message": {"role": "user", "content": [{"type": "image", "source": {}}]}},
        {"message": {"role": "user", "content": "   "}},
        {"message": "error"},
        {"message": {"role": "user", "content": ["x", None, {"type": "text", "text": 17}]}},
    ],
)
def test_a_line_that_nobody_typed_is_no_prompt(fields: dict[str, Any], tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Real")
    talk.typed("Not real", **fields)
    talk.said("Done")

    assert saved_prompts(talk, tmp_path) == ["Real"]


def test_a_slash_command_is_told_from_one_that_the_program_answered_itself(tmp_path: Path) -> None:
    def command(name: str, arguments: str) -> str:
        return f"<command-name>/{name}</command-name>\n<command-args>{arguments}</command-args>"

    talk = Talk()
    talk.typed(command("model", "opus"))
    talk.line("user", message={"role": "user", "content": "<local-command-stdout>Set</local-command-stdout>"})
    talk.typed(command("fix-issue", "42"))
    talk.said("Fixed")

    assert saved_prompts(talk, tmp_path) == ["/fix-issue 42"]


def test_an_answer_that_was_cut_short_is_none(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Explain")
    talk.said("It is like", stop=None)
    talk.line("user", message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]})
    talk.typed("Shorter")
    talk.said("So.")

    found, _ = read(talk.save(tmp_path))

    assert [saved.event.message for saved in found if saved.event.name == "Stop"] == ["So."]


def test_what_was_typed_and_never_got_to_the_agent_is_kept_and_what_was_taken_back_is_not(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Start")
    for operation, words in (("enqueue", "and the docs"), ("enqueue", "never mind"), ("remove", "never mind")):
        stamp = f"2026-09-14T08:00:0{len(talk.lines)}Z"
        talk.lines.append({"type": "queue-operation", "operation": operation, "content": words, "timestamp": stamp})

    assert saved_prompts(talk, tmp_path) == ["Start", "and the docs"]


def test_a_running_session_holds_back_what_is_not_finished(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Start")
    talk.said("I will look", stop=None)
    path = talk.save(tmp_path)

    names = [saved.event.name for saved in read(path, now=talk.at + 5)[0]]
    later = [saved.event.name for saved in read(path, now=talk.at + 5000)[0]]

    assert names == ["SessionStart", "UserPromptSubmit"]
    assert later == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


def test_several_results_in_one_line_are_each_their_own(tmp_path: Path) -> None:
    talk = Talk()
    talk.typed("Run")
    uses = [talk.called("Bash", {"command": str(place)}, message="msg") for place in range(2)]
    content = [{"type": "tool_result", "tool_use_id": use, "content": f"out {use}"} for use in uses]
    talk.line("user", message={"role": "user", "content": content}, toolUseResult={"stdout": "of one of them"})

    found, _ = read(talk.save(tmp_path))

    runs = [saved.event for saved in found if saved.event.name == "PostToolUse"]
    assert [event.tool_response for event in runs] == [f"out {use}" for use in uses]


# -- Codex and Gemini ------------------------------------------------------------------------------


def test_a_rollout_becomes_the_events_of_codex_hooks() -> None:
    found, skipped = read(CODEX["2026-09-15T10"])

    assert [(saved.event.name, saved.event.tool, saved.event.prompt_id) for saved in found] == [
        ("SessionStart", "", ""),
        ("UserPromptSubmit", "", "turn-1"),
        ("PostToolUse", "Bash", "turn-1"),
        ("PostToolUse", "apply_patch", "turn-1"),
        ("PostToolUseFailure", "Bash", "turn-1"),
        ("UserPromptSubmit", "", "turn-1/2"),
        ("Stop", "", "turn-1"),
        ("UserPromptSubmit", "", "turn-2"),
        ("PostCompact", "", ""),
        ("SessionEnd", "", ""),
    ]
    assert found[2].event.tool_input == {"command": "rg rename src/index.py"}
    assert found[2].event.tool_response == {"output": "14: # rename is a delete and an add\n", "exit_code": 0}
    assert found[4].event.error == "Exit code 1\n1 failed, 11 passed\n"
    assert found[5].event.prompt.strip() == "and keep the old id, please"
    assert {(saved.branch, saved.commit) for saved in found} == {("main", "1a2b3c4d")}
    assert skipped["half-written line"] == 1


def test_a_rollout_without_events_gives_what_was_typed_and_not_what_was_put_beside_it() -> None:
    assert prompts(CODEX["2026-09-15T09"]) == ["List the failing tests."]


def test_a_rollout_of_a_sub_agent_gives_nothing() -> None:
    assert read(CODEX["2026-09-15T11"])[0] == []


def test_a_chat_becomes_the_events_of_gemini_hooks() -> None:
    found, skipped = read(GEMINI[0])

    assert [(saved.event.name, saved.event.prompt or saved.event.tool or saved.event.message) for saved in found] == [
        ("SessionStart", ""),
        ("UserPromptSubmit", "Rename the vault setting @config.py"),
        ("PostToolUse", "replace"),
        ("PostToolUseFailure", "run_shell_command"),
        ("Stop", "The setting is called HOME now."),
        ("UserPromptSubmit", "Thanks, write it down."),
        ("Stop", "Written down."),
        ("SessionEnd", ""),
    ]
    assert {saved.event.cwd for saved in found} == {"/home/dev/work/notes-app"}
    assert skipped["tool run that was refused"] == 1


def test_a_chat_of_an_older_version_is_one_object() -> None:
    assert prompts(GEMINI[1]) == ["List the files here"]


@pytest.mark.parametrize(
    ("path", "agent"),
    [(TOOLS, "claude-code"), (ODD, "claude-code"), (CODEX["2026-09-15T10"], "codex"), (GEMINI[0], "gemini")],
)
def test_a_file_is_known_by_its_first_lines(path: Path, agent: str, tmp_path: Path) -> None:
    copy = tmp_path / "unnamed.jsonl"
    copy.write_bytes(path.read_bytes())

    source = sources.recognize(copy)

    assert source is not None
    assert source.agent == agent


# -- robustness ------------------------------------------------------------------------------------

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
SAMPLES = [TOOLS, ODD, BACKGROUND, CODEX["2026-09-15T10"], GEMINI[0], GEMINI[1]]


def mutate(value: Any, chance: random.Random, odd: list[Any]) -> Any:
    """Change a JSON value here and there: another type, a key less, a part of a text."""
    if chance.random() < 0.04:
        return chance.choice(odd)
    if isinstance(value, dict):
        return {key: mutate(item, chance, odd) for key, item in value.items() if chance.random() > 0.03}
    if isinstance(value, list):
        return [mutate(item, chance, odd) for item in value if chance.random() > 0.03]
    if isinstance(value, str) and chance.random() < 0.05:
        return value[: chance.randrange(len(value) + 1)]
    return value


@pytest.mark.slow
@given(st.sampled_from(SAMPLES), st.integers(), st.lists(VALUES, min_size=1, max_size=4))
def test_a_changed_transcript_is_read_without_an_error(path: Path, seed: int, odd: list[Any]) -> None:
    chance = random.Random(seed)
    lines = []
    for line in path.read_bytes().split(b"\n"):
        with contextlib.suppress(ValueError):
            line = json.dumps(mutate(json.loads(line), chance, odd)).encode()
        if chance.random() < 0.05:
            line = line[: chance.randrange(len(line) + 1)]
        if chance.random() < 0.02:
            line = line.replace(b"a", b"\xff")
        lines.append(line)
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / f"session{path.suffix}"
        changed.write_bytes(b"\n".join(lines))
        for source in sources.SOURCES:
            skipped = Skipped()
            for saved in source.read(changed, ReadOptions(skipped, LATER)):
                event = saved.event
                assert isinstance(event, Event)
                texts = (event.name, event.session, event.prompt_id, event.cwd, event.prompt, event.message, event.tool)
                assert all(type(value) is str for value in (*texts, event.tool_use_id, saved.branch, saved.commit))
                assert saved.at > 0


@given(st.lists(st.binary(max_size=40)))
def test_every_line_that_is_no_object_is_counted(pieces: list[bytes]) -> None:
    bad = [piece.replace(b"\n", b"") for piece in pieces]
    expected = 0
    for piece in bad:
        try:
            is_object = isinstance(json.JSONDecoder(strict=False).decode(piece.decode("utf-8", "replace")), dict)
        except (ValueError, RecursionError):
            is_object = False
        expected += bool(piece.strip()) and not is_object
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.jsonl"
        path.write_bytes(b"".join(piece + b"\n" for piece in bad))
        skipped = Skipped()
        list(Lines(path, skipped))

    assert skipped["unreadable line"] == expected


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.transcripts import lines

    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100)
    path = tmp_path / "long.jsonl"
    path.write_text(f'{{"a": 1}}\n{{"b": "{"x" * 1000}"}}\n{{"c": 3}}\n', encoding="utf-8")
    skipped = Skipped()

    assert list(Lines(path, skipped)) == [{"a": 1}, {"c": 3}]
    assert skipped["line too long"] == 1


def test_a_long_file_gives_the_same_without_being_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.transcripts import lines

    held = [(saved.at, saved.event.name, saved.event.prompt) for saved in read(ODD)[0]]
    monkeypatch.setattr(lines, "MAX_HELD_BYTES", 0)
    found, skipped = read(ODD)

    assert [(saved.at, saved.event.name, saved.event.prompt) for saved in found] == held
    assert skipped["unreadable line"] == 5


@pytest.mark.parametrize("value", [None, 7, "", "soon", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "x" * 99, []])
def test_a_text_that_is_not_a_time_is_not_read_as_one(value: Any) -> None:
    assert moment(value) is None
