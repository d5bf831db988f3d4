"""Skills and slash commands say only what the command line does, and may run what they say."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import click.testing
import frontmatter
import pytest

from mdmem import config
from mdmem.cli.group import cli
from mdmem.cli.setup import init
from tests.conftest import REPO

FOLDER = REPO / "templates" / "claude-code"
FILES = sorted([*FOLDER.glob("skills/*/SKILL.md"), *FOLDER.glob("commands/*.md")])
COMMAND = re.compile(r"`(mdmem [^`]+)`|^    (mdmem .+?)$", re.MULTILINE)

every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: "-".join(file.parts[-2:]))


def said(file: Path) -> list[list[str]]:
    """Return the command lines that a file names, as words."""
    text = re.sub(r"\\\n\s*", "", file.read_text(encoding="utf-8"))
    lines = [inline or block for inline, block in COMMAND.findall(text)]
    return [shlex.split(line)[1:] for line in lines]


def test_there_is_a_file_for_each_thing_to_do() -> None:
    names = {file.parent.name if file.name == "SKILL.md" else file.stem for file in FILES}

    assert names == {
        "memory-search", "memory-save", "standup", "memory-history", "memory-list", "memory-stats", "memory-import",
        "memory-forget", "memory-review", "memory-reflect", "reflect",
    }  # fmt: skip


@every_file
def test_every_command_and_option_is_there(file: Path) -> None:
    context = click.Context(cli)
    commands = said(file)

    assert commands
    for name, *words in commands:
        command = cli.get_command(context, name)
        assert command is not None, name
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, (name, words)


@pytest.mark.slow
def test_every_command_line_runs_without_a_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = shutil.copytree(REPO / "sample-vault", home / "mdmem")
    init.make_vault(config.load(str(vault)))
    monkeypatch.chdir(home)
    meant = {
        "$ARGUMENTS": "date",
        "WORDS": "date",
        "ID": "6drpz9va77",
        "SESSION": "3f0c6d1e",
        "PATH": str(REPO / "sample-vault" / "notes"),
    }
    meant_by = {"import": {**meant, "$ARGUMENTS": meant["PATH"]}}

    for file in FILES:
        for name, *words in said(file):
            line = [name, *(meant_by.get(name, meant).get(word, word) for word in words)]
            answer = {"forget": "n", "import": "y", "review": "q"}.get(name, "")
            done = click.testing.CliRunner().invoke(cli, line, input=f"{answer}\n")
            assert done.exit_code == (1 if name == "forget" else 0), (line, done.output)
            assert "[mem:" in done.output or name != "search" or "date" not in line or "--json" in line


@every_file
def test_what_may_be_run_is_what_is_said(file: Path) -> None:
    meta = frontmatter.load(str(file)).metadata
    allowed = re.findall(r"Bash\(mdmem ([^:]+):\*\)", str(meta["allowed-tools"]))
    lines = [" ".join(words) for words in said(file)]

    assert meta["description"]
    assert all(any(line.startswith(one) for line in lines) for one in allowed if one != "show"), (allowed, lines)
    # What deletes or stores is the user's to run, unless storing is what was asked for.
    assert not {"forget", "import", "purge", "review"} & set(allowed)
    writing = [line for line in lines if line.startswith("note ")]
    assert "note" not in allowed or meta.get("name") == "memory-save" or all("--propose" in line for line in writing)
