"""Upkeep: old state goes, what is still needed stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from mdmem.capture.later import upkeep
from mdmem.privacy import memory
from mdmem.search import index
from mdmem.vault import leftovers as vaults
from tests.conftest import notes
from tests.helpers.claude import OTHER, capture, payload, places, prompt

Run = Callable[..., subprocess.CompletedProcess[str]]
DAY = upkeep.DAY_SECONDS


def sessions() -> list[str]:
    return sorted(os.listdir(Path(config.load().state_dir, "sessions")))


def test_a_session_that_ended_long_ago_leaves_state(vault: Path) -> None:
    capture(prompt("over"))
    capture(payload("SessionEnd", reason="other"))
    capture(prompt("<private>Falconridge goes on</private>", session_id=OTHER))
    capture(prompt("goes on", session_id=OTHER))
    settings, now = config.load(), time.time()

    assert upkeep.prune(settings, now + 29 * DAY) == 0
    assert upkeep.prune(settings, now + 31 * DAY) == 1
    assert len(sessions()) == 2, "a record, and the marks of its turns"
    assert upkeep.prune(settings, now + 91 * DAY) == 4, (
        "its record, both files of marks, and what its private section said"
    )
    assert upkeep.prune(settings, now + 181 * DAY) == 1, "where the project's folder is"
    assert not os.listdir(Path(settings.state_dir, "projects"))
    assert sessions() == []
    assert len(notes(vault)) == 2

    capture(payload("SessionStart", source="resume"))
    capture(prompt("again", 2))
    assert "002-000-prompt" in places(notes(vault))


def test_a_session_that_was_resumed_is_not_over(vault: Path) -> None:
    capture(prompt("first"))
    capture(payload("SessionEnd", reason="other"))
    capture(payload("SessionStart", source="resume"))
    assert upkeep.prune(config.load(), time.time() + 40 * DAY) == 0


def test_marks_without_a_session_go(vault: Path) -> None:
    capture(prompt("<private>Falconridge</private>"))
    settings = config.load()
    assert upkeep.prune(settings, time.time() + 89 * DAY) == 0
    assert upkeep.prune(settings, time.time() + 91 * DAY) == 4, (
        "both marks of the turn, what it said, and the record that says so"
    )
    assert sessions() == []


def test_what_killed_writers_left_goes_after_an_hour(vault: Path, tmp_path: Path) -> None:
    capture(prompt("first"))
    (folder,) = vault.glob("journal/*/*/*/")
    old, new = folder / ".18c9f00d-123.tmp", folder / ".18c9f00e-124.tmp"
    mine = [folder / ".notes.md.tmp", folder / ".mine.swp", vault / ".obsidian" / ".18c9f00d-1.tmp"]
    mine[2].parent.mkdir()
    for path in (old, new, *mine):
        path.write_text("half a note")
    for path in (old, *mine):
        os.utime(path, (time.time() - 4_000,) * 2)
    (vault / "linked").symlink_to(tmp_path)
    assert vaults.reap(str(vault), time.time()) == 1
    assert not old.exists()
    assert new.exists()
    assert all(path.exists() for path in mine)
    settings = config.load()
    for part in ("sessions", "projects"):
        left = Path(settings.state_dir, part, "x.1.tmp")
        left.write_text("half")
        os.utime(left, (time.time() - 4_000,) * 2)
    assert upkeep.prune(settings, time.time()) == 2


@pytest.mark.slow
def test_a_commit_in_the_background_looks_after_the_house_once_an_hour(vault: Path, mdmem: Run) -> None:
    mdmem("init", str(vault), check=True)
    capture(prompt("broke off"))
    capture(payload("PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="1"))
    (folder,) = vault.glob("journal/*/*/*/")
    settings = config.load()
    socket, left = Path(settings.runtime_dir, "watch.sock"), folder / ".18c9f00d-123.tmp"
    Path(settings.runtime_dir).mkdir(parents=True, exist_ok=True)
    for path in (socket, left, folder / f"{folder.name}.md", *Path(settings.state_dir, "sessions").iterdir()):
        path.touch()
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    record = next(path for path in Path(settings.state_dir, "sessions").iterdir() if "." not in path.name)
    os.utime(record, (time.time() - 39 * DAY,) * 2)

    mdmem("commit", "--quiet", check=True)

    assert "- 1 tool run\n" in (folder / f"{folder.name}.md").read_text("utf-8")
    assert (socket.exists(), left.exists()) == (True, False)
    os.utime(folder / f"{folder.name}.md", (1, 1))
    upkeep.look_after(settings, time.time() + 3_000)
    assert (folder / f"{folder.name}.md").stat().st_mtime == 1


def test_a_clock_that_is_wrong_for_a_while_makes_no_private_memory_old(vault: Path) -> None:
    settings, now = config.load(), time.time()
    capture(prompt("Log in with <private>hunter2zebra</private>."))
    upkeep.look_after(settings, now)
    for hours in (0, 2, 4):
        upkeep.look_after(settings, now + 3_650 * DAY + hours * 3_600)
    capture(prompt("Again with hunter2zebra.", 2))
    assert "hunter2zebra" not in "".join(path.read_text("utf-8") for path in notes(vault))

    upkeep.look_after(settings, now + 7_200)
    for day in range(20, 140, 20):
        upkeep.look_after(settings, now + day * DAY)
    assert list(Path(settings.state_dir, "private").iterdir()) == [Path(settings.state_dir, "private", "key")]


def test_a_stamp_that_is_no_time_only_postpones_the_removal_of_old_state(vault: Path) -> None:
    settings, now = config.load(), time.time() + 400 * DAY
    capture(prompt("Log in with <private>hunter2zebra</private>."))
    stamp, memories = Path(settings.state_dir, "looked-after"), Path(settings.state_dir, "private")
    stamp.write_bytes(b"\xff\0 damaged")
    for days, left in ((0, 2), (0.5, 2), (2, 1)):
        upkeep.look_after(settings, now + days * DAY)
        assert len(list(memories.iterdir())) == left


@pytest.mark.slow
def test_after_a_turn_a_vault_without_an_index_gets_one(vault: Path, mdmem: Run) -> None:
    (vault / "mdmem.toml").unlink()  # what is new is not indexed at once
    mdmem("init", str(vault), check=True)
    shutil.rmtree(config.load().index_dir, ignore_errors=True)
    capture(prompt("first"))
    assert index.current(config.load()) is None

    mdmem("commit", "--quiet", check=True)

    assert index.current(config.load()) is not None


def test_the_private_memory_of_a_session_that_goes_on_is_kept_without_new_sections(vault: Path) -> None:
    capture(prompt("<private>Falconridge</private> and more"))
    settings, now = config.load(), time.time()
    (known,) = memory.sessions(settings)
    file = Path(memory.folder(settings), known)
    os.utime(file, (now - 91 * DAY,) * 2)

    upkeep.prune(settings, now)

    assert file.exists()
    assert capture(prompt("again", 2)).stored
