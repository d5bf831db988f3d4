"""The text in an agent's instruction file, and the shape that notes of agents should have."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mdmem.cli.group import cli
from mdmem.cli.setup import protocol
from mdmem.learn import decisions
from tests.helpers import cli_day


def switch(home: Path, value: str) -> None:
    (home / ".config" / "mdmem").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "mdmem" / "config.toml").write_text(f"[learn]\nprotocol = {value}\n")


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, list(words))
    assert done.exception is None, done.output
    return done.output


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "name"), [("claude-code", ".claude/CLAUDE.md"), ("codex", ".codex/AGENTS.md")])
def test_the_text_is_put_in_on_request_and_taken_out_without_a_trace(
    vault: Path, home: Path, agent: str, name: str
) -> None:
    file = home / name
    file.parent.mkdir()
    own = "# Mine\n\nUse tabs.\n"
    file.write_text(own)
    run("install", agent, "--yes")
    assert file.read_text() == own
    switch(home, "true")
    assert "+Sessions are recorded" in run("install", agent, "--dry-run")
    assert file.read_text() == own
    run("install", agent, "--yes")
    text = file.read_text()
    assert text.startswith(own)
    added = text.removeprefix(own)
    assert "Most turns save nothing." in added
    assert len(added) < protocol.MAX_CHARS
    run("install", agent, "--yes")
    assert file.read_text() == text
    switch(home, "false")
    run("install", agent, "--yes")
    assert file.read_text() == own
    switch(home, "true")
    run("install", agent, "--yes")
    run("uninstall", agent)
    assert file.read_text() == own


def test_doctor_names_what_an_agents_note_lacks_and_quotes_that_are_not_found(tmp_path: Path) -> None:
    day = cli_day.empty(tmp_path)
    whole = "Times are in UTC.\n\nWhy: servers move.\n\nHow to apply: convert on display.\n"
    for title, text in (("Whole", whole), ("Bare", "Times are in UTC.")):
        decisions.add(day.config(), title, text, kind="decision", proposed=True, now=cli_day.MORNING)
    decisions.add(day.config(), "A person's", "Short.", kind="decision", now=cli_day.MORNING)
    said = day.attempt("doctor", "--only", "notes").stdout
    assert "lacks a reason and how to apply it" in said
    assert said.count("lacks") == 1
