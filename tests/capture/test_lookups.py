"""What an agent looks up in memory by a shell command is not remembered again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import privacy
from mdmem.capture.tools import lookups
from mdmem.cli.terminal import startup
from tests.helpers.claude import bash, capture

Run = Callable[..., subprocess.CompletedProcess[str]]

ALL = [
    "mdmem search 'date parser'",
    "/home/dev/.venv/bin/mdmem show 7gk2q9m4x1 | head -20",
    "python -m mdmem --vault /v search x 2>&1 | grep DateError",
    "PYTHONPATH=. python3.12 -m mdmem timeline 7gk",
    "cd /work && mdmem search \"it's here\" --json | jq '.[0]'",
    "uvx mdmem search x; mdmem list -n 3",
    "uv run --with rich mdmem search x",
    "env A=1 timeout 10 mdmem search x || true",
    "bash -lc 'mdmem search x'",
    "for id in a b; do mdmem show $id; done",
    'echo "$(mdmem show 7gk)"',
    "C:\\Users\\dev\\mdmem.exe search y",
    "mdmem --help",
    "mdmem prompts date | head -3",
]
SOME = ["pytest -q; mdmem search x", "make && mdmem search x && cat notes.txt", 'git commit -m "$(mdmem show 7gk)"']
NONE = [
    "grep -rn mdmem README.md",
    "git commit -m 'mdmem search'",
    "mdmem note 'x'",
    "pip install mdmem",
    "cd mdmem && make",
]


def test_every_command_that_prints_notes_is_a_look_up() -> None:
    assert startup.FENCED <= lookups.READING


@pytest.mark.parametrize("command", ALL)
def test_a_command_that_only_looks_things_up_leaves_nothing(vault: Path, command: str) -> None:
    run = bash("2026-09-14 response: the parser raises DateError", tool_input={"command": command})
    assert lookups.kind(command) == "all"
    assert not capture(run).stored and not list(vault.rglob("*.md"))


@pytest.mark.parametrize("command", SOME)
def test_a_command_that_does_more_is_kept_without_what_mdmem_printed(vault: Path, command: str) -> None:
    capture(bash("2026-09-14 response: the parser raises DateError", tool_input={"command": command}))
    (note,) = vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md")
    assert "DateError" not in note.read_text("utf-8") and lookups.REMARK in note.read_text("utf-8")


@pytest.mark.parametrize("command", NONE)
def test_other_commands_with_its_name_are_kept_as_they_are(vault: Path, command: str) -> None:
    capture(bash("DateError", tool_input={"command": command}))
    (note,) = vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md")
    assert "DateError" in note.read_text("utf-8")


@given(st.text(alphabet="mde \\'\"$()`|&;<>\n#{}x-/", max_size=60))
def test_no_command_line_is_too_odd_to_be_read(text: str) -> None:
    assert lookups.kind(f"mdmem search {text}") in ("all", "some", "")


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "COPILOT_CLI"])
def test_what_an_agent_reads_of_memory_is_fenced(vault: Path, mdmem: Run, variable: str) -> None:
    capture(bash("DateError", tool_input={"command": "make"}))
    plain, read = mdmem("list"), mdmem("list", env={variable: "1"})
    first, *lines, last = read.stdout.splitlines()
    assert first.startswith("<mdmem-context id=") and last == first.replace("<", "</")
    assert lines == plain.stdout.splitlines()
    assert privacy.clean(f"before\n{read.stdout}after", origin="tool").value == "before\n\nafter"
    assert mdmem("list", "--json", env={variable: "1"}).stdout == mdmem("list", "--json").stdout
