"""One process a prompt: it is stored and answered, and storing never waits for a search."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mdmem.agents.install import catalog, launcher, registration
from tests.conftest import notes
from tests.helpers.talk import Talk

ASKED = "Which calendar did we decide to use for the report dates?"


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    """Hold a session in which something was decided, and begin another."""
    first = Talk(vault, tmp_path / "notes-app")
    first.start()
    first.says("Which calendar shall the report dates use?")
    first.answers("We decided to use the Gregorian calendar for all report dates.")
    second = Talk(vault, first.cwd, "00000002-0000-4000-8000-000000000000")
    second.now = first.now + 86_400
    second.start()
    return second


def reply(done: subprocess.CompletedProcess[bytes]) -> Any:
    """Return what a process has answered."""
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout) if done.stdout else {}


def context(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the context in what a process has answered."""
    return str(reply(done).get("hookSpecificOutput", {}).get("additionalContext", ""))


def asked(talk: Talk, prompt: str = ASKED) -> dict[str, Any]:
    """Make the payload of a new prompt."""
    talk.prompts += 1
    return talk.payload("UserPromptSubmit", prompt=prompt)


def stored(vault: Path, prompt: str = ASKED) -> list[Path]:
    """List the notes of a prompt."""
    return [path for path in notes(vault) if path.read_text("utf-8").endswith(f"\n{prompt}\n")]


def test_one_command_stores_a_prompt_and_answers_it(vault: Path, talk: Talk) -> None:
    assert "Gregorian" in context(talk.process("hook", asked(talk)))
    assert len(stored(vault)) == 1


def test_a_prompt_that_wants_nothing_is_stored_in_silence(vault: Path, talk: Talk) -> None:
    assert talk.process("hook", asked(talk, "Rename the helper in dates.py")).stdout == b""
    assert len(stored(vault, "Rename the helper in dates.py")) == 1


@pytest.mark.slow
def test_the_command_of_people_and_of_the_plugin_does_the_same(vault: Path, talk: Talk) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mdmem", "hook", "claude-code"],
        input=json.dumps(asked(talk)).encode(),
        capture_output=True,
        env={**os.environ, "MDMEM_NOW": str(talk.now + 60), "MDMEM_INJECT_DEADLINE_SECONDS": "50"},
        timeout=240,
    )
    assert "Gregorian" in context(done)
    assert len(stored(vault)) == 1


def test_the_message_for_the_user_and_the_context_for_the_agent_come_in_one_object(talk: Talk) -> None:
    answer = reply(talk.process("hook", asked(talk, f"{ASKED} <private>ask Ana</private>")))
    assert "kept out of memory" in answer["systemMessage"]
    assert "Gregorian" in answer["hookSpecificOutput"]["additionalContext"]


def test_a_search_that_cannot_be_finished_costs_no_prompt(vault: Path, talk: Talk) -> None:
    data = asked(talk, f"{ASKED} <private>ask Ana</private>")
    answer = reply(talk.process("hook", data, {"MDMEM_INJECT_DEADLINE_SECONDS": "0.001"}))
    assert set(answer) == {"systemMessage"}
    assert any("Which calendar did we decide" in path.read_text("utf-8") for path in notes(vault))


def test_a_search_that_fails_costs_no_prompt(vault: Path, talk: Talk, tmp_path: Path) -> None:
    code = (
        "import sys; from mdmem.inject import process; from mdmem.recall import hook\n"
        "def fails(*_): raise MemoryError('no room')\n"
        "process.build_reply = fails; hook.main(['claude-code'])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(asked(talk)).encode(), capture_output=True)
    assert reply(done) == {}
    assert len(stored(vault)) == 1


@pytest.mark.parametrize("order", [("inject", "hook"), ("hook", "inject")])
def test_beside_the_command_of_an_earlier_version_nothing_comes_twice(
    vault: Path, talk: Talk, order: tuple[str, ...]
) -> None:
    data = asked(talk)
    blocks = [context(talk.process(verb, data)) for verb in order]
    assert [bool(block) for block in blocks] == [True, False]
    assert len(stored(vault)) == 1


def test_opencode_is_answered_by_the_process_that_stores_where_its_plugin_waits_for_it(vault: Path, talk: Talk) -> None:
    data = asked(talk)

    assert reply(talk.process("hook", data, agent="opencode")) == {}, "an earlier plugin asks by itself"
    data["prompt_id"] = "another"
    assert "Gregorian" in reply(talk.process("hook", {**data, "answer": True}, agent="opencode"))["context"]
    assert len(stored(vault)) == 2


def test_a_payload_that_cannot_be_read_ends_well(talk: Talk) -> None:
    for data in (b"", b"[]", b"\xff\xfe"):
        done = talk.process("hook", data)
        assert (done.returncode, done.stderr) == (0, b"")


def test_two_commands_of_an_earlier_version_become_one(home: Path) -> None:
    path = Path(catalog.row_of("claude-code").settings("user", "", os.environ))
    path.parent.mkdir(parents=True)
    modules = ("mdmem.capture.hook", "mdmem.recall.inject")
    lines = (f"exec python -I -S -B -c 'from {module} import main; main([\"claude-code\"],None)'" for module in modules)
    old = [{"type": "command", "command": line} for line in lines]
    path.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": old}]}}), "utf-8")
    assert registration.status("claude-code").state == "outdated"

    registration.register("claude-code")

    (group,) = json.loads(path.read_text("utf-8"))["hooks"]["UserPromptSubmit"]
    (handler,) = group["hooks"]
    assert shlex.split(handler["command"]) == [launcher.path(), "hook", "claude-code"]
