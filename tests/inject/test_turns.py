"""The user's turns: from the vault's notes and from the transcript, each once, none of them private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import agents, config
from mdmem.agents import Event
from mdmem.capture import events
from mdmem.inject import turns
from mdmem.search.gate import Gate
from mdmem.vault import journal
from tests.helpers.call_count import calls
from tests.helpers.talk import Talk, line


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    return Talk(vault, tmp_path / "notes-app")


def event_of(talk: Talk, prompt: str, **fields: Any) -> Event:
    return agents.load("claude-code").read(talk.payload("UserPromptSubmit", prompt=prompt, **fields), {})


def count(talk: Talk, prompt: str = "next", enough: int = 100, **fields: Any) -> int:
    settings = config.load(str(talk.vault))
    record = journal.Record(settings, talk.session)
    event = event_of(talk, prompt, **fields)
    return turns.UserTurns(settings, record, event, Gate(settings).prompt, talk.now + 60).count(enough=enough)


def texts(talk: Talk, prompt: str = "next", limit: int = 6, **fields: Any) -> list[str]:
    settings = config.load(str(talk.vault))
    record = journal.Record(settings, talk.session)
    event, clean = event_of(talk, prompt, **fields), Gate(settings).prompt
    return turns.UserTurns(settings, record, event, clean, talk.now + 60).texts(current=clean(prompt), limit=limit)


def test_stored_prompts_and_the_current_one_are_turns(talk: Talk) -> None:
    talk.start()
    assert count(talk, prompt_id="new") == 1
    talk.says("one")
    talk.runs("ls")
    talk.answers("done")
    talk.says("two")

    assert count(talk, prompt_id="new") == 3
    assert texts(talk, "three", prompt_id="new") == ["one", "two", "three"]


def test_the_work_of_counting_turns_does_not_grow_with_the_tool_runs(talk: Talk) -> None:
    talk.start()
    work = []
    for _ in range(2):
        talk.says("one more")
        work.append(calls(lambda: count(talk, prompt_id="new")))
        for number in range(30):
            talk.runs(f"ls {number}")

    assert count(talk, prompt_id="new") == 3
    assert work[1] < work[0] + 30


def test_a_prompt_that_is_stored_already_counts_once(talk: Talk) -> None:
    talk.start()
    talk.says("one")
    talk.says("two")

    assert count(talk, "two") == 2
    assert texts(talk, "two") == ["one", "two"]


def test_a_prompt_without_an_id_that_is_stored_already_counts_once(talk: Talk) -> None:
    talk.start()
    talk.store("UserPromptSubmit", prompt="one", prompt_id="")
    talk.store("UserPromptSubmit", prompt="two", prompt_id="")
    settings = config.load(str(talk.vault))
    record = journal.Record(settings, talk.session)
    event = event_of(talk, "two", prompt_id="")
    (newest,) = talk.vault.rglob("002-000-*.md")

    here = turns.UserTurns(settings, record, event, str, newest.stat().st_mtime).count(enough=100)
    later = turns.UserTurns(settings, record, event, str, newest.stat().st_mtime + 60).count(enough=100)

    assert (here, later) == (2, 3)


def test_a_prompt_that_repeats_the_last_one_without_an_id_is_a_new_turn(talk: Talk) -> None:
    talk.start()
    talk.store("UserPromptSubmit", prompt="This is step 1 [x]", prompt_id="")
    talk.store("UserPromptSubmit", prompt="Now <private>x</private> password=hunter2hunter2", prompt_id="")
    newest = max(path.stat().st_mtime for path in talk.vault.rglob("00?-000-*.md"))
    talk.now = newest - 60

    assert count(talk, "Now <private>x</private> password=hunter2hunter2", prompt_id="") == 2
    assert count(talk, "Now <private>x</private> password=hunter2hunter2 again", prompt_id="") == 3


def test_of_a_prompt_below_a_notification_only_what_was_typed_is_a_turn(talk: Talk) -> None:
    notice = "<task-notification>done</task-notification>"
    talk.transcript.write_text(line(notice) + line(f"{notice}\nand the tests?") + line("now"))

    assert count(talk, f"{notice}\nnow", prompt_id="") == 2
    assert texts(talk, f"{notice}\nnow", prompt_id="")[0] == "and the tests?"


def test_private_and_synthetic_prompts_are_no_turns(talk: Talk) -> None:
    talk.start()
    talk.says("one")
    talk.says("<private>secret</private>")
    talk.says("<task-notification>done</task-notification>")

    assert count(talk, prompt_id="new") == 2


def test_turns_are_found_in_the_vault_when_state_is_lost(talk: Talk) -> None:
    talk.start()
    talk.says("one")
    talk.says("two")
    talk.flag("x").with_suffix("").unlink()

    assert count(talk, prompt_id="new") == 3
    assert texts(talk, "three", prompt_id="new") == ["one", "two", "three"]


def test_of_a_session_older_than_the_installation_the_transcript_has_more(talk: Talk) -> None:
    said = [line(f"earlier {n}", promptId=f"p{n}") for n in range(9)]
    result = {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}}
    talk.transcript.write_text("".join(said) + json.dumps(result) + "\n")
    talk.says("after the installation")

    assert count(talk, prompt_id="new") == 10
    assert texts(talk, "now", prompt_id="new", limit=3) == ["earlier 7", "earlier 8", "now"]


def test_a_current_prompt_that_the_transcript_has_already_counts_once(talk: Talk) -> None:
    talk.transcript.write_text(line("one", promptId="p1") + line("now", promptId="p2"))

    assert count(talk, "now", prompt_id="p2") == 2
    assert texts(talk, "now", prompt_id="p2") == ["one", "now"]
    assert count(talk, "next", prompt_id="p3") == 3


def test_only_the_new_lines_of_a_transcript_are_read_again(talk: Talk) -> None:
    talk.transcript.write_text(line("one") + line("two"))
    assert count(talk, "next", prompt_id="new") == 3

    data = talk.transcript.read_text()
    talk.transcript.write_text("x" * (len(data) - 1) + "\n" + line("three"))

    assert count(talk, "next", prompt_id="new") == 4


def test_a_line_that_is_still_being_written_is_left_for_later(talk: Talk) -> None:
    whole = line("one") + line("two")
    talk.transcript.write_text(whole[:-5])
    assert count(talk, prompt_id="new") == 2

    talk.transcript.write_text(whole)
    assert count(talk, prompt_id="new") == 3


def test_a_transcript_that_started_over_is_read_from_its_beginning(talk: Talk) -> None:
    talk.transcript.write_text("".join(line(f"number {n}") for n in range(5)))
    assert count(talk, prompt_id="new") == 6

    talk.transcript.write_text(line("only"))
    assert count(talk, prompt_id="new") >= 2


def test_private_prompts_of_a_transcript_are_neither_counted_nor_quoted(talk: Talk) -> None:
    talk.transcript.write_text(
        line("one") + line("<private>S3CRET one</private>") + line("two <private>S3CRET two</private> words")
    )

    assert count(talk, prompt_id="new") == 3
    assert texts(talk, "now", prompt_id="new") == ["one", "two   words", "now"]


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isSidechain": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"toolUseResult": {"stdout": ""}},
        {"teamName": "b"},
    ],
)
def test_what_the_host_wrote_into_a_transcript_is_not_a_turn(talk: Talk, fields: dict[str, Any]) -> None:
    talk.transcript.write_text(line("not typed", **fields) + line("typed"))

    assert count(talk, prompt_id="new") == 2


def test_typed_text_is_found_in_blocks_in_queues_and_in_codex_rollouts(talk: Talk) -> None:
    blocks = [{"type": "image"}, {"type": "text", "text": "in a block"}, {"type": "text", "text": "<tick>1</tick>"}]
    queued = {"type": "queued_command", "prompt": "while it worked", "commandMode": "prompt"}
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": blocks}},
        {"type": "attachment", "attachment": queued},
        {"type": "attachment", "attachment": {**queued, "commandMode": "bash"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "to codex"}},
    ]
    talk.transcript.write_text("".join(json.dumps(one) + "\n" for one in lines))

    assert texts(talk, "now", prompt_id="new") == ["in a block", "while it worked", "to codex", "now"]


def test_a_query_is_the_last_turns_cut_and_joined_by_lines() -> None:
    assert turns.query(["a" * 600, "b"], 500) == "a" * 500 + "\n---\n" + "b"
    assert turns.query([], 500) == ""


def test_a_prompt_that_its_owner_deleted_is_not_said_any_more(talk: Talk) -> None:
    talk.start()
    talk.says("one")
    talk.says("two")
    next(talk.vault.rglob("001-000-*.md")).unlink()

    assert texts(talk, "three", prompt_id="new") == ["two", "three"]


LINES = [
    b'{"type":"user"}',
    b'{"type":"user","message":[]}',
    b'{"type":"user","message":{"content":7}}',
    b'{"type":"user","message":{"content":[1,{"type":"text"}]}}',
    b'{"type":["user"]}',
    b'{"type":"attachment","attachment":"queued_command"}',
    b'{"type":"event_msg","payload":{"type":"user_message"}}',
    b'["user"]',
    b'"user"',
    b'{"a":"user"',
]


@given(st.lists(st.one_of(st.binary(max_size=80), st.sampled_from(LINES))))
def test_no_line_of_a_transcript_makes_reading_fail(lines: list[bytes]) -> None:
    for data in lines:
        turns._turn_of_line(data + b"\n")


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"messages": rows}])
def test_transcripts_that_are_json_arrays_are_counted(talk: Talk, wrap: Any) -> None:
    file = talk.cwd / "transcript.json"
    rows: list[Any] = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": [{"type": "text", "text": "two"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"type": "user", "message": {"role": "user", "content": "three"}},
        {"role": "user", "content": "<private>hush</private>"},
        7,
    ]
    file.write_text(json.dumps(wrap(rows)))
    given: dict[str, Any] = {"transcript_path": str(file)}

    assert count(talk, **given) == 4
    assert texts(talk, **given) == ["one", "two", "three", "next"]
    file.write_text(json.dumps(wrap([*rows, {"role": "user", "content": "four"}])))
    assert count(talk, **given) == 5
    file.write_text("[{")
    assert count(talk, **given) >= 1


def test_a_transcript_of_another_program_is_read_without_touching_its_folder(talk: Talk) -> None:
    talk.cwd.chmod(0o755)
    file = talk.cwd / "chat.json"
    file.write_text('[{"role": "user", "content": "one"}]')
    link = talk.cwd / "linked.json"
    link.symlink_to(file)

    assert texts(talk, "two", transcript_path=str(link)) == ["one", "two"]
    assert talk.cwd.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_prompt_that_a_hook_has_just_stored_counts_once_for_each_agent(talk: Talk, agent: str) -> None:
    settings = config.load(str(talk.vault))
    own = {"session_id": talk.session, "cwd": str(talk.cwd), "hook_event_name": "UserPromptSubmit", "model": "x"}
    ids = {"codex": "turn_id", "claude-code": "prompt_id"}
    for number in range(1, 4):
        payload = {**own, "prompt": f"prompt {number}", ids[agent]: f"t{number}"}
        event = agents.load(agent).read(payload, {})
        events.capture(settings, event, talk.now + number, {})

    record = journal.Record(settings, journal.session_id(event))
    assert turns.UserTurns(settings, record, event, Gate(settings).prompt, talk.now + 60).count(enough=100) == 3
