"""A command that waits for another process, or for the index, says so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config, files, progress, system
from tests.helpers.history_vault import put

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hold(vault: Path, ask: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Return, for a vault with a new note, a function that keeps a lock until somebody is told of the wait."""
    ask("init", str(vault), check=True)
    put(vault, "notes/new.md", "new\n")
    monkeypatch.setattr(progress, "TOLD_AFTER_SECONDS", 0.01)
    tell = progress.tell

    def keep(path: Path) -> None:
        lock = files.open_lock(str(path))
        assert system.lock(lock)

        def released(text: str) -> None:
            tell(text)
            if text.startswith("Waiting"):
                os.close(lock)

        monkeypatch.setattr(progress, "tell", released)

    return keep


@pytest.mark.parametrize("words", [["commit"], ["commit", "--json"], ["commit", "--quiet"]], ids=" ".join)
def test_a_commit_says_that_it_waits_for_another_unless_it_is_quiet(
    hold: Callable[[Path], None], ask: Run, words: list[str]
) -> None:
    hold(Path(config.load().state_dir, "git.lock"))

    done = ask(*words, check=True)

    said = "mdmem: Waiting for another mdmem process that uses the vault's history (git), for 60 seconds at most."
    assert (said in done.stderr) == ("--quiet" not in words)


@pytest.mark.parametrize(("words", "seconds"), [(["index", "--rebuild"], 30), (["index"], 600)], ids=str)
def test_an_index_says_that_it_waits_for_another(
    hold: Callable[[Path], None], ask: Run, words: list[str], seconds: int
) -> None:
    folder = Path(config.load().index_dir)
    ask("search", "new", check=True)
    put(Path(config.load().vault), "notes/one.md", "one\n")
    hold(folder / "writer.lock")

    done = ask(*words, check=True)

    waits = f"mdmem: Waiting for another process that writes the index in {folder}, for {seconds} seconds at most."
    assert waits in done.stderr


@pytest.mark.parametrize("words", [["list"], ["search", "new"], ["todo"]], ids=" ".join)
def test_a_command_that_updates_the_index_for_long_says_so_once(
    vault: Path, ask: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    ask("init", str(vault), check=True)
    for name in ("one", "two", "three"):
        put(vault, f"notes/{name}.md", f"new {name}\n")
    monkeypatch.setattr(progress, "TOLD_AFTER_SECONDS", 0.0)

    assert ask(*words).stderr.count("mdmem: Updating the index: 3 notes have changed.\n") == 1
