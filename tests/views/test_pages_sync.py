"""Pages of two machines that sync: no conflict, and each lists what both did."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mdmem.agents import Event
from mdmem.capture import events
from mdmem.health import links
from mdmem.health.scope import LookScope
from tests.helpers import cli_day
from tests.helpers.cli_day import MORNING, Day


def work(day: Day, session: str, prompt: str, seconds: float) -> None:
    cwd = day.vault.parent / "app"
    cwd.mkdir(exist_ok=True)
    for name in ("UserPromptSubmit", "Stop"):
        event = Event(
            agent="claude-code", name=name, session=session, cwd=str(cwd), prompt_id="p", prompt=prompt, message="Done."
        )
        assert not events.capture(day.config(), event, MORNING + seconds, day.env).error


@pytest.mark.slow
def test_pages_of_two_machines_never_conflict(tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    one = cli_day.empty(tmp_path / "one")
    one.run("init")
    subprocess.run(["git", "-C", str(one.vault), "remote", "add", "origin", str(remote)], check=True)
    work(one, "aaaaaaaa-1", "Begin the parser", 0)
    one.run("sync")
    two = cli_day.empty(tmp_path / "two")
    for path in (two.vault / "mdmem.toml", two.vault / "notes", two.vault):
        path.unlink() if path.is_file() else path.rmdir()
    two.run("clone", str(remote))
    work(one, "bbbbbbbb-1", "Test the parser", 3600)
    work(two, "cccccccc-1", "Document the parser", 7200)
    for day in (one, two, one, two):
        done = day.run("sync")
        assert "Two versions" not in done.output
    start = (one.vault / "README.md").read_text("utf-8")
    for prompt in ("Begin the parser", "Test the parser", "Document the parser"):
        assert prompt in start
    for day in (one, two):
        assert [found.severity for found in links.broken(day.config(), LookScope())] == ["fine"]
        assert "mdmem:both" not in (day.vault / "README.md").read_text("utf-8")
    two.run("commit")
    one.run("commit")
    assert (two.vault / "README.md").read_text("utf-8") == start
