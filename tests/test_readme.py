"""README.md and the help pages are true: commands run, tables are the code's, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.cli.group import COMMANDS
from tests.conftest import REPO
from tests.helpers import readme

Run = Callable[..., subprocess.CompletedProcess[str]]
TEXT = readme.README.read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in readme.documents()}


@pytest.mark.slow
def test_every_command_line_runs(home: Path, ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPO / "sample-vault", home / "mdmem")
    script = tmp_path / "mdmem"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m mdmem "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    lines = [
        line.removeprefix("$ ")
        for text in PAGES.values()
        for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert len(lines) > 15
    for line in lines:
        if "|" in line:  # a shell's work
            subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True)
        else:
            ask(*shlex.split(line, comments=True)[1:], check=True)


def test_every_command_is_named() -> None:
    for group in COMMANDS.values():
        for name in group:
            assert f"`{name}" in TEXT or f"mdmem {name}" in TEXT, name


def test_the_settings_table_is_the_codes() -> None:
    assert readme.taken(PAGES["settings.md"], "settings") == readme.settings_table(), (
        "run `python -m tests.helpers.readme`"
    )


def test_the_note_at_its_beginning_is_one_of_the_sample_vault() -> None:
    assert readme.taken(TEXT, "note") == readme.note(), "run `python -m tests.helpers.readme`"


@pytest.mark.parametrize("path", readme.documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", prose):
        assert (path.parent / target).exists(), target


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 250


def test_its_table_of_help_pages_is_whole() -> None:
    assert readme.taken(TEXT, "help") == readme.help_table(), "run `python -m tests.helpers.readme`"


def test_the_two_lines_that_set_up_are_there() -> None:
    lines = [line for line in TEXT.splitlines() if line.strip().startswith("python3 -m venv .venv && ")]
    assert len(lines) == 2
    assert lines[0].endswith("mdmem demo")
    assert lines[1].endswith("pytest -q")
