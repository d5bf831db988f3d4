"""README.md and the help pages are true: commands run, tables are the code's, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from mdmem.cli.group import COMMANDS, cli
from tests.conftest import REPO
from tests.helpers import readme

Run = Callable[..., subprocess.CompletedProcess[str]]
TEXT = readme.README.read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in readme.documents()}


@pytest.mark.slow
def test_every_command_line_runs(home: Path, ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPO / "sample-vault", home / "mdmem")
    script = tmp_path / "mdmem"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mdmem "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
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


def test_the_lines_with_ids_run_on_the_sample_vault_as_it_says(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "mdmem"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mdmem "$@"\n')
    script.chmod(0o755)
    told = TEXT.partition("The ids are from the sample vault;")[2].partition("Every command")[0]
    begin = [" ".join(line.split()) for line in re.findall(r"`([^`]+)`", told)]
    block = TEXT.partition("## In daily use")[2].partition("```console\n")[2].partition("```")[0]
    lines = [line.removeprefix("$ ") for line in block.splitlines() if re.search(r"show|history|why", line)]
    assert (len(begin), len(lines)) == (3, 3)
    todo = "\n".join(["set -e", *begin, *lines, "mdmem diff", "mdmem backup ~/all.bundle"])
    env = {"HOME": str(home), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["/bin/sh", "-c", todo], cwd=REPO, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "Nothing has changed.\n")


def _unknown(line: str) -> str:
    """Return the first word of a command line that no command or option is called; "" when all are known."""
    command: click.Command = cli
    words = shlex.split(line)[1:]
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        found = command.get_command(click.Context(command), name)
        if found is None:
            return name
        command = found
    context = click.Context(command, parent=click.Context(cli))
    known = {option for given in (command, cli) for one in given.get_params(context) for option in one.opts}
    return next((word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known), "")


@pytest.mark.parametrize("name", [*PAGES, "CONTRIBUTING.md"])
def test_every_command_in_running_text_is_one(name: str) -> None:
    text = PAGES.get(name) or (REPO / ".github" / name).read_text(encoding="utf-8")
    lines = [line for line in re.findall(r"`(mdmem [^`|#]+)`", text) if "COMMAND" not in line]
    assert [line for line in lines if _unknown(" ".join(line.split()))] == []


def test_the_map_names_every_room_and_module_at_the_top() -> None:
    product = REPO / "mdmem"
    rooms = [path.parent.relative_to(product).as_posix() for path in product.glob("*/__init__.py")]
    modules = [path.name for path in product.glob("*.py") if path.name != "__init__.py"]
    drawn = TEXT.partition("\n    mdmem/\n")[2].partition("\n\n")[0].split()
    assert [name for name in [*(f"{room}/" for room in rooms), *modules] if name not in drawn] == []


def test_the_table_of_rooms_inside_rooms_is_whole() -> None:
    text = (REPO / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for path in (REPO / "mdmem").glob("*/*/__init__.py"):
        outer, inner = path.parent.relative_to(REPO / "mdmem").parts
        assert any(row.startswith(f"| `{outer}/`") and f"`{inner}/`" in row for row in rows), f"{outer}/{inner}"


def test_every_module_that_the_ways_through_the_code_name_is_there() -> None:
    text = (REPO / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    modules = [
        path.relative_to(REPO).as_posix() for folder in ("mdmem", "tests") for path in (REPO / folder).rglob("*.py")
    ]
    named = [name for name in re.findall(r"`([\w/]+\.py)`", text) if "AGENT" not in name]
    assert len(named) > 40
    assert [name for name in named if not any(f"/{module}".endswith(f"/{name}") for module in modules)] == []


def test_the_table_of_commands_has_the_groups_of_the_help() -> None:
    rows = dict(re.findall(r"(?m)^\| (\w+) \| (`.*`) \|$", TEXT.partition("| to | commands |")[2].partition("\n\n")[0]))
    listed = {row: {words.split()[0] for words in re.findall(r"`([^`]+)`", names)} for row, names in rows.items()}
    assert listed == {group.lower(): set(names) for group, names in COMMANDS.items()}


def test_the_table_of_what_json_prints_is_the_codes() -> None:
    assert readme.taken(PAGES["scripts.md"], "json") == readme.json_table(), "run `python -m tests.helpers.readme`"


def test_every_command_is_named() -> None:
    for group in COMMANDS.values():
        for name in group:
            assert f"`{name}" in TEXT or f"mdmem {name}" in TEXT, name


def test_the_settings_table_is_the_codes() -> None:
    assert readme.taken(PAGES["settings.md"], "settings") == readme.settings_table(), (
        "run `python -m tests.helpers.readme`"
    )


def test_the_tour_shows_what_the_commands_print() -> None:
    assert readme.taken(PAGES["tour.md"], "gallery") == readme.gallery(), "run `python -m tests.helpers.readme`"


def test_the_note_at_its_beginning_is_one_of_the_sample_vault() -> None:
    assert readme.taken(TEXT, "note") == readme.note(), "run `python -m tests.helpers.readme`"


def test_the_block_at_its_beginning_is_the_tours() -> None:
    assert readme.taken(TEXT, "given") == readme.given(), "run `python -m tests.helpers.readme`"


@pytest.mark.parametrize("path", [*readme.documents(), *(REPO / ".github").glob("*.md")], ids=lambda path: path.name)
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
