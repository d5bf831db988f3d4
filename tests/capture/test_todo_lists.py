"""To-do lists of agents: one note a session, which shows the last state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.capture import events
from mdmem.vault import note
from tests.conftest import notes
from tests.helpers.claude import START, capture, prompt

SHAPES: dict[str, Any] = {
    "TodoWrite": lambda done, rest: {
        "todos": [{"content": done, "status": "completed"}, {"content": rest, "status": "in_progress"}]
    },
    "todowrite": lambda done, rest: {
        "todos": [{"content": done, "status": "cancelled"}, {"content": rest, "status": "pending", "priority": "high"}]
    },
    "write_todos": lambda done, rest: {
        "todos": [{"description": done, "status": "completed"}, {"description": rest, "status": "pending"}]
    },
    "update_plan": lambda done, rest: {
        "plan": [{"step": done, "status": "completed"}, {"step": rest, "status": "pending"}]
    },
    "update_todo": lambda done, rest: {"todos": f"# Plan\n- [x] {done}\n- [ ] {rest}\n"},
}


def todo(tool: str, given: Any, use: str, seconds: float = 0) -> None:
    event = Event(
        agent="claude-code", name="PostToolUse", session="7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301", cwd="/home/dev/app",
        tool=tool, tool_input=given, tool_response={}, tool_use_id=use,
    )  # fmt: skip
    assert not events.capture(config.load(), event, START + seconds).error


@pytest.mark.parametrize("tool", SHAPES)
def test_each_agents_list_becomes_one_note_with_its_last_state(vault: Path, tool: str) -> None:
    todo(tool, SHAPES[tool]("Read the code", "Fix the parser"), "t1")
    todo(tool, SHAPES[tool]("Fix the parser", "Add a test"), "t2", 60)
    todo(tool, SHAPES[tool]("Fix the parser", "Add a test"), "t2", 60)  # delivered twice
    (path,) = notes(vault)
    found = frontmatter.load(str(path))
    assert found.content == "- [x] Fix the parser\n- [ ] Add a test"
    assert (found["title"], found["created"] == found["updated"]) == ("Todo 1 of 2 done", False)
    assert (found["kind"], found["tags"]) == ("plan", ["plan"])


def test_a_private_item_of_a_later_list_is_not_stored(vault: Path) -> None:
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "b"), "t1")
    todo("TodoWrite", SHAPES["TodoWrite"]("call <private>Ada</private>", "set password=hunter2-and-more"), "t2", 9)
    (path,) = notes(vault)
    text = path.read_text()
    assert "[PRIVATE]" in text
    assert "Ada" not in text
    assert "hunter2" not in text


def test_an_older_list_and_a_list_that_a_person_edited_stay(vault: Path) -> None:
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "b"), "t2", 60)
    todo("TodoWrite", SHAPES["TodoWrite"]("old", "older"), "t1", 0)  # an import tells it again
    (path,) = notes(vault)
    assert "- [x] a" in path.read_text()
    mine = path.read_text().replace("- [ ] b", "- [ ] b, on Monday")
    path.write_text(mine)
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "c"), "t3", 90)
    assert path.read_text() == mine
    broken = mine.replace("kind: plan", "kind: [plan")
    path.write_text(broken)
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "d"), "t4", 120)
    assert path.read_text() == broken


def test_what_a_list_drops_unfinished_stays_as_dropped_until_it_is_named_again(vault: Path) -> None:
    def body(*rest: str) -> str:
        todo("TodoWrite", {"todos": [{"content": one, "status": "pending"} for one in rest]}, f"t{rest}", len(rest) * 9)
        return str(frontmatter.load(str(notes(vault)[0])).content)

    assert body("a") == "- [ ] a"
    assert body("b", "c") == "- [ ] b\n- [ ] c\n- [-] a"
    assert body("b", "a", "d") == "- [ ] b\n- [ ] a\n- [ ] d\n- [-] c"
    assert len(body("1", "2", "3", "4").splitlines()) == 8
    mine = notes(vault)[0]
    assert not note.is_edited(note.parse(mine.read_bytes()))


def test_a_list_that_its_owner_deleted_does_not_come_back(vault: Path) -> None:
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "b"), "t1")
    (path,) = notes(vault)
    path.unlink()
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "c"), "t2", 90)
    assert notes(vault) == []


def test_a_list_can_still_be_excluded(vault: Path) -> None:
    (vault / "mdmem.toml").write_text('[capture]\nexclude_tools = ["TodoWrite"]\n')
    capture(prompt("Fix it"))
    todo("TodoWrite", SHAPES["TodoWrite"]("a", "b"), "t1")
    assert len(notes(vault)) == 1
