"""What a private section of a file says is not stored when a run shows only a part of the file, without the tags."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import notes
from tests.helpers.claude import capture, payload, prompt, stop

FILE = "# notes\n<private>\nalpha walrus code\nbeta 4711904226\n</private>\nthe public end\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "plan.md").write_text(FILE, encoding="utf-8")
    (tmp_path / "app" / "sub").mkdir()
    (tmp_path / "app" / "NOTES").write_text(FILE, encoding="utf-8")
    (tmp_path / "app" / "link.md").symlink_to("plan.md")
    return tmp_path / "app"


def run(folder: Path, tool: str, given: dict[str, Any], response: Any, use: str = "toolu_1") -> None:
    event = payload("PostToolUse", tool_name=tool, tool_input=given, tool_response=response, tool_use_id=use)
    capture(event | {"prompt_id": "prompt-1", "cwd": str(folder)})


def stored(vault: Path) -> str:
    return "\n".join(f"{path.name}\n{path.read_text(encoding='utf-8')}" for path in notes(vault))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sed -n 3,4p plan.md", "alpha walrus code\nbeta 4711904226"),
        ("cat ./link.md | tail -4", "beta 4711904226\n</private>\nthe public end"),
        ("grep -n beta plan.md", "4:beta 4711904226"),
        ("grep -rn beta .", "plan.md:4:beta 4711904226"),
        ("grep -rn walrus .", "plan.md:3:alpha walrus code"),
        ("git grep walrus", "plan.md:alpha walrus code"),
        ("rg --heading -n beta", "plan.md\n3:alpha walrus code\n4:beta 4711904226"),
        ("cd .. && sed -n 4p app/plan.md", "beta 4711904226"),
        ("cd sub; sed -n 4p ../plan.md", "beta 4711904226"),
        ("sed -n 4p *.md", "beta 4711904226"),
        ('sed -n 4p "$PWD/plan.md"', "beta 4711904226"),
        ("git show HEAD~2:plan.md | sed -n 4p", "beta 4711904226"),
        ("sed -n 3,4p NOTES", "alpha walrus code\nbeta 4711904226"),
        ("tr a-z A-Z <plan.md | sed -n 3p", "ALPHA WALRUS CODE"),
        ("sed -n 3,4p plan.md | base64", base64.b64encode(b"alpha walrus code\nbeta 4711904226\n").decode()),
        ("git diff", "--- a/plan.md\n+++ b/plan.md\n@@ -3,2 +3,2 @@\n alpha walrus code\n-gamma\n+beta 4711904226"),
    ],
)
def test_a_command_that_shows_lines_of_a_private_section_leaves_none_of_them(
    vault: Path, folder: Path, command: str, output: str
) -> None:
    run(folder, "Bash", {"command": command}, {"stdout": f"{output}\nmade: public words", "stderr": ""})

    assert "public words" in stored(vault)
    assert not [
        word for word in ("walrus", "4711904226", "YWxwaGEg") if word in stored(vault).replace("WALRUS", "walrus")
    ]


@pytest.mark.parametrize(
    ("tool", "given", "response"),
    [
        ("mcp__files__read", {"path": "plan.md", "head": 4}, [{"type": "text", "text": "alpha walrus code"}]),
        ("mcp__files__read_all", {"paths": ["plan.md"]}, {"content": [{"type": "text", "text": "beta 4711904226"}]}),
        ("mcp__files__insert", {"relative_path": "plan.md", "line": 4, "content": "beta 4711904226"}, "done"),
        ("mcp__files__find", {"regex": "walrus"}, [{"type": "text", "text": "plan.md:3:alpha walrus code"}]),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "plan.md", "insert_text": "alpha walrus code"},
            "ok",
        ),
    ],
)
def test_a_tool_that_nobody_described_leaves_nothing_of_a_section_either(
    vault: Path, folder: Path, tool: str, given: dict[str, Any], response: Any
) -> None:
    run(folder, tool, given, response)

    assert "plan.md" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_an_answer_that_repeats_a_part_of_a_file_that_was_read_is_masked(vault: Path, folder: Path) -> None:
    capture(prompt("what is in the plan?", cwd=str(folder)))
    path = str(folder / "plan.md")
    part = {"filePath": path, "content": "alpha walrus code", "startLine": 3, "numLines": 1, "totalLines": 6}
    run(folder, "Read", {"file_path": path, "offset": 3, "limit": 1}, {"type": "text", "file": part})
    run(
        folder,
        "Grep",
        {"pattern": "beta", "path": "."},
        {"mode": "content", "content": "plan.md:4:beta 4711904226"},
        "toolu_2",
    )
    capture(stop("It says: alpha walrus code.", cwd=str(folder)))

    assert "It says" in stored(vault)
    assert not [word for word in ("walrus", "4711904226") if word in stored(vault)]


def test_a_section_that_a_run_does_not_show_hides_nothing_later(vault: Path, folder: Path) -> None:
    capture(prompt("what is in the plan?", cwd=str(folder)))
    run(folder, "Bash", {"command": "tail -1 plan.md"}, {"stdout": "the public end", "stderr": ""})
    capture(stop("The walrus is public elsewhere.", cwd=str(folder)))

    assert "the public end" in stored(vault)
    assert "walrus is public" in stored(vault)


@pytest.mark.parametrize("kind", ["missing", "pipe", "folder"])
def test_a_named_file_that_cannot_be_read_costs_no_note(vault: Path, folder: Path, kind: str) -> None:
    path = folder / "other.md"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()

    run(folder, "Bash", {"command": "cat other.md /dev/zero"}, {"stdout": "public words", "stderr": ""})

    assert "public words" in stored(vault)
