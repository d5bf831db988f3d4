"""The parts of a session with very many notes: each event leaves one note, wherever the threshold lies between."""

from __future__ import annotations

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.capture import queued, session
from mdmem.vault import layout
from tests.conftest import notes, session_pages
from tests.helpers.call_count import calls
from tests.helpers.claude import bash, capture, payload, places, prompt, send, stop


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the size of a part to three notes."""
    monkeypatch.setattr(layout, "MANY", 3)
    monkeypatch.setattr(session, "_FEW", 3)


def parts(vault: Path) -> Counter[str]:
    (page,) = session_pages(vault)
    return Counter(path.relative_to(page.parent).parent.as_posix() for path in notes(vault))


@pytest.mark.slow
def test_hooks_at_one_moment_and_twice_leave_one_note_each_and_no_long_folder(vault: Path) -> None:
    send(prompt("Look at everything"))
    for number in range(layout.MANY - 5):
        capture(bash(f"out {number}", f"toolu_{number}"))
    events = [bash(f"out {number}", f"toolu_{number}") for number in range(layout.MANY - 10, layout.MANY + 5)]
    with ThreadPoolExecutor(4) as hooks:
        list(hooks.map(send, [*events, *events]))
    send(stop("Looked."))
    send(stop("Looked."))

    assert parts(vault) == {".": layout.MANY, "part2": 7}
    runs = [f"001-{number + 1:03d}-bash" for number in range(layout.MANY + 5)]
    assert sorted(places(notes(vault))) == ["001-000-prompt", *runs, f"001-{layout.MANY + 6}-response"]


@pytest.mark.slow
@pytest.mark.usefixtures("_few")
def test_an_event_that_comes_again_after_the_threshold_and_without_state_leaves_no_second_note(
    vault: Path,
) -> None:
    for number in (1, 2, 3):
        capture(prompt(f"Question {number}", number))
        capture(bash(f"out {number}", f"toolu_{number}", number))
    held = notes(vault)
    for start in (False, True):
        if start:
            shutil.rmtree(config.load().state_dir)
            capture(payload("SessionStart", source="resume"))
        for number in (1, 2, 3):
            assert not capture(prompt(f"Question {number}", number)).added
            assert not capture(bash(f"out {number}", f"toolu_{number}", number)).added
    assert notes(vault) == held
    assert capture(bash("more", "toolu_9", 3)).path.rpartition("/")[0].endswith("/part3")
    capture(prompt("Question 4", 4))
    assert sorted(places(notes(vault)))[-2:] == ["003-002-bash", "004-000-prompt"]


@pytest.mark.usefixtures("_few")
def test_what_was_queued_goes_to_parts_in_its_order(vault: Path) -> None:
    capture(prompt("Look"))
    away = vault.rename(vault.with_name("away"))
    for number in range(5):
        assert capture(bash(f"out {number}", f"toolu_{number}")).waits
    away.rename(vault)

    assert queued.flush(config.load()).written == 5

    assert parts(vault) == {".": 3, "part2": 3}
    assert sorted(places(notes(vault))) == ["001-000-prompt", *(f"001-{number:03d}-bash" for number in range(1, 6))]


@pytest.mark.usefixtures("_few")
def test_the_answer_of_a_sub_agent_in_the_background_reaches_its_note_in_a_part(vault: Path) -> None:
    capture(prompt("Look"))
    for number in range(3):
        capture(bash(f"out {number}", f"toolu_{number}"))
    sent = bash("", "toolu_9", tool_name="Agent", tool_input={"prompt": "Look there"})
    assert "/part2/" in capture(sent | {"tool_response": {"status": "async_launched", "agentId": "a77"}}).path

    capture(payload("SubagentStop", agent_id="a77", last_assistant_message="It is in module seven."))

    (told,) = [path for path in notes(vault) if "module seven" in path.read_text("utf-8")]
    assert told.parent.name == "part2"
    assert "status: completed" in told.read_text("utf-8")


@pytest.mark.usefixtures("_few")
def test_a_file_or_a_link_where_a_part_would_be_costs_no_note(vault: Path, tmp_path: Path) -> None:
    for number in range(3):
        capture(bash(f"out {number}", f"toolu_{number}"))
    (page,) = session_pages(vault)
    (page.parent / "part2").symlink_to(tmp_path)

    assert capture(bash("out 3", "toolu_3")).waits
    (page.parent / "part2").unlink()
    assert queued.flush(config.load()).written == 1

    assert parts(vault) == {".": 3, "part2": 1}
    assert not list(tmp_path.glob("*.md"))


@pytest.mark.usefixtures("_few")
def test_the_page_lists_a_note_in_a_part_also_under_the_name_that_its_owner_gave_it(vault: Path) -> None:
    capture(prompt("Look"))
    for number in range(3):
        capture(bash(f"out {number}", f"toolu_{number}"))
    capture(prompt("And then?", 2))
    (asked,) = vault.rglob("part2/002-000-prompt-*.md")
    asked.rename(asked.with_name("the-second-question.md"))
    capture(stop("Then nothing.", 2))

    (page,) = session_pages(vault)

    text = page.read_text("utf-8")
    assert "2. [And then?](part2/the-second-question.md) → [answer](part2/002-001-response-" in text
    assert "(part2/001-003-bash-" in text


@pytest.mark.usefixtures("_few")
def test_a_count_that_a_full_disk_cut_off_leaves_the_next_note_in_its_part(vault: Path) -> None:
    capture(prompt("Look"))
    for number in range(10):
        capture(bash(f"out {number}", f"toolu_{number}"))
    record = Path(session.Session(config.load(), prompt("")["session_id"]).path)
    assert record.read_bytes().endswith(b"\t11\n")
    record.write_bytes(record.read_bytes()[:-2])

    for number in (10, 11):
        capture(bash(f"out {number}", f"toolu_{number}"))

    assert parts(vault) == {".": 3, "part2": 3, "part3": 3, "part4": 3, "part5": 1}


@pytest.mark.parametrize("event", [prompt("And now?", 3), bash("more", "toolu_more", 2)], ids=["prompt", "tool run"])
def test_an_event_after_an_answer_is_no_more_work_in_a_long_session(vault: Path, event: dict[str, Any]) -> None:
    work = {}
    for runs in (10, 100):
        session_id = f"0d4c7a1e-0000-4000-8000-{runs:012d}"
        of_session = {"session_id": session_id}
        capture(prompt("Look") | of_session)
        for number in range(runs):
            capture(bash(f"out {number}", f"toolu_{number}") | of_session)
        capture(stop("Looked.") | of_session)
        capture(prompt("Again", 2) | of_session)
        capture(stop("Looked again.", 2) | of_session)
        work[runs] = calls(partial(capture, event | of_session))

    assert work[100] < work[10] + 50
