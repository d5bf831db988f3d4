"""An edit inside a private section is not stored although only the file on disk tells where the section is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem.capture import hook
from tests.conftest import notes
from tests.helpers.claude import capture, payload, send

OLD, NEW = "launch code 4711904226", "take-off code 4712904226"
AFTER = f"# notes\n<private>\nalpha\n{NEW}\n</private>\nthe public end\n"

SHAPES: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "claude-code": lambda path: (
        "claude-code",
        payload(
            "PostToolUse",
            tool_name="Edit",
            tool_input={"file_path": path, "old_string": OLD, "new_string": NEW, "replace_all": False},
            tool_response={"filePath": path, "oldString": OLD, "newString": NEW, "originalFile": None},
            tool_use_id="toolu_1",
        ),
    ),
    "a removal": lambda path: (
        "claude-code",
        payload(
            "PostToolUse",
            tool_name="Edit",
            tool_input={"file_path": path, "old_string": f"{OLD}\n", "new_string": ""},
            tool_response="The file was updated.",
            tool_use_id="toolu_1",
        ),
    ),
    "gemini": lambda path: (
        "gemini",
        {
            "session_id": "c3f0a9d2",
            "cwd": os.path.dirname(path),
            "hook_event_name": "AfterTool",
            "tool_name": "replace",
            "tool_input": {"file_path": path, "old_string": OLD, "new_string": NEW},
            "tool_response": {
                "llmContent": "Modified",
                "returnDisplay": {"fileDiff": f"--- a\n+++ b\n@@ -3,3 +3,3 @@\n alpha\n-{OLD}\n+{NEW}\n </private>\n"},
            },
        },
    ),
    "copilot": lambda path: (
        "copilot",
        {
            "session_id": "9b2c6e1f",
            "cwd": os.path.dirname(path),
            "hook_event_name": "PostToolUse",
            "tool_name": "edit",
            "tool_input": {"path": path, "old_str": OLD, "new_str": NEW},
            "tool_result": {"result_type": "success", "text_result_for_llm": "File edited."},
        },
    ),
    "codex": lambda path: (
        "codex",
        {
            "session_id": "01a0c4d7",
            "turn_id": "01a0c4d8",
            "cwd": os.path.dirname(path),
            "hook_event_name": "PostToolUse",
            "tool_name": "apply_patch",
            "tool_input": {
                "command": f"*** Begin Patch\n*** Update File: {os.path.basename(path)}\n@@\n alpha\n-{OLD}\n+{NEW}\n"
                "*** End Patch\n"
            },
            "tool_response": "Success. Updated the following files:\nM plan.md\n",
            "tool_use_id": "call_1",
        },
    ),
}
SHAPES["a server of files"] = lambda path: (
    "claude-code",
    payload(
        "PostToolUse",
        tool_name="mcp__filesystem__edit_file",
        tool_input={"path": path, "edits": [{"oldText": OLD, "newText": NEW}]},
        tool_response=[{"type": "text", "text": f"```diff\n--- a\n+++ b\n@@ -4 +4 @@\n-{OLD}\n+{NEW}\n```"}],
        tool_use_id="toolu_1",
    ),
)
SHAPES["a move"] = lambda path: (
    "codex",
    SHAPES["codex"](path)[1]
    | {
        "tool_input": {
            "command": f"*** Begin Patch\n*** Update File: old.md\n*** Move to: {os.path.basename(path)}\n"
            f"@@\n alpha\n-{OLD}\n+{NEW}\n*** End Patch\n"
        }
    },
)


def stored(vault: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in notes(vault))


@pytest.mark.parametrize("shape", SHAPES)
def test_an_edit_inside_a_section_of_the_file_on_disk_is_not_stored(vault: Path, tmp_path: Path, shape: str) -> None:
    path = tmp_path / "plan.md"
    path.write_text(AFTER if shape != "a removal" else AFTER.replace(f"{NEW}\n", ""), encoding="utf-8")
    agent, given = SHAPES[shape](str(path))

    hook.run([agent], json.dumps(given).encode())

    assert "plan.md" in stored(vault)
    assert not [word for word in ("4711904226", "4712904226", "launch", "take-off") if word in stored(vault)]


def test_an_edit_outside_of_the_sections_is_stored(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text(AFTER.replace("the public end", "the new public end"), encoding="utf-8")
    edit = {"file_path": str(path), "old_string": "the public end", "new_string": "the new public end"}

    send(payload("PostToolUse", tool_name="Edit", tool_input=edit, tool_response="ok", tool_use_id="toolu_1"))

    assert "the new public end" in stored(vault)
    assert "4712904226" not in stored(vault)


@pytest.mark.parametrize("kind", ["missing", "pipe", "link", "folder"])
def test_a_file_that_cannot_be_read_costs_no_note(vault: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plan.md"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "other.md")
    elif kind == "folder":
        path.mkdir()
    edit = {"file_path": str(path), "old_string": "a word", "new_string": "another word"}

    send(payload("PostToolUse", tool_name="Edit", tool_input=edit, tool_response="ok", tool_use_id="toolu_1"))

    assert "another word" in stored(vault)


@pytest.mark.parametrize("original", ["a\nb\nc\nend", ""])
def test_an_edit_that_writes_between_the_tags_of_later_edits_leaves_none_of_it(
    vault: Path, tmp_path: Path, original: str
) -> None:
    path = tmp_path / "plan.md"
    if not original:
        path.write_text("<private>\nCendrowall Velmark\n</private>\nend", encoding="utf-8")
    made = (("b", "Cendrowall Velmark"), ("a", "<private>"), ("c", "</private>"))
    given = {"file_path": str(path), "edits": [{"old_string": old, "new_string": new} for old, new in made]}
    response = {"filePath": str(path), "edits": [], "structuredPatch": []}
    response |= {"originalFileContents": original} if original else {}

    capture(payload("PostToolUse", tool_name="MultiEdit", tool_input=given, tool_response=response, tool_use_id="t"))

    assert [note for note in notes(vault) if "observation" in note.read_text(encoding="utf-8")]
    assert not [note for note in notes(vault) if "Cendrowall" in note.read_text(encoding="utf-8")]
