"""A vault that is moved or renamed keeps its pauses, its queued notes and what is private in its sessions."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from tests.conftest import notes
from tests.helpers.claude import bash, contents, payload, prompt, send, stop

Run = Callable[..., subprocess.CompletedProcess[str]]
SECRET = "Zqx81!walrus"


@pytest.fixture
def vault(tmp_path: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with its own repository and a running session that has a private word."""
    folder = tmp_path / "vault"
    monkeypatch.setenv("MDMEM_VAULT", str(folder))
    mdmem("init", str(folder), check=True)
    send(payload("SessionStart", source="startup"))
    send(prompt(f"Log in as <private>{SECRET}</private> and look"))
    return folder


def renamed(vault: Path) -> Path:
    return vault.rename(vault.with_name("journal of mine"))


def on_another_disk(vault: Path) -> Path:
    (vault.parent / "disk").mkdir()
    place = vault.parent / "disk" / "vault"
    shutil.copytree(vault, place)
    shutil.rmtree(vault)
    vault.symlink_to(place)
    return vault


MOVES = pytest.mark.parametrize("move", [renamed, on_another_disk])


@MOVES
def test_what_is_private_in_a_session_is_masked_after_the_vault_was_moved(
    vault: Path, monkeypatch: pytest.MonkeyPatch, move: Callable[[Path], Path]
) -> None:
    place = move(vault)
    monkeypatch.setenv("MDMEM_VAULT", str(place))
    send(prompt(f"Is {SECRET} right?", 2))
    send(bash(f"You are {SECRET}.", number=2))
    send(stop(f"It is {SECRET}.", 2))

    assert contents(notes(place))[1] == "Is [PRIVATE] right?"
    assert len(notes(place)) == 4
    assert [text for text in contents(notes(place)) if SECRET in text] == []


@MOVES
def test_a_pause_holds_after_the_vault_was_moved(
    vault: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch, move: Callable[[Path], Path]
) -> None:
    mdmem("pause", check=True)
    monkeypatch.setenv("MDMEM_VAULT", str(move(vault)))
    send(prompt("while paused", 2))

    assert mdmem("status").stdout.startswith("Storing has been paused")
    mdmem("resume", check=True)
    send(prompt("after it", 3))
    assert "while paused" not in " ".join(contents(notes(Path(config.load().vault))))


def test_what_was_queued_while_the_vault_was_moved_is_stored_at_its_new_place(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = renamed(vault)
    said = send(prompt("Nobody has told mdmem yet", 2)).stdout.decode()
    assert "is queued and will be retried" in said
    assert not vault.exists()
    monkeypatch.setenv("MDMEM_VAULT", str(place))
    send(prompt("Now it knows", 3))

    assert contents(notes(place))[1:] == ["Nobody has told mdmem yet", "Now it knows"]


def test_what_an_agent_without_a_hook_for_a_sessions_start_left_in_the_queue_is_stored_too(
    tmp_path: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "first"
    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    mdmem("init", str(vault), check=True)
    send(prompt("Before the move"))
    mdmem("commit", check=True)
    place = renamed(vault)
    send(prompt("While it is away", 2))

    monkeypatch.setenv("MDMEM_VAULT", str(place))
    send(prompt("After the move", 3))

    assert contents(notes(place)) == ["Before the move", "While it is away", "After the move"]


def test_a_copy_of_a_vault_takes_nothing_of_the_originals_state(
    vault: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    mdmem("pause", check=True)
    copy = vault.with_name("copy")
    shutil.copytree(vault, copy)
    monkeypatch.setenv("MDMEM_VAULT", str(copy))
    send(prompt("in the copy", session_id="22222222-cccc-4ccc-8ccc-cccccccccccc"))
    assert "in the copy" in contents(notes(copy))

    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    assert mdmem("status").stdout.startswith("Storing has been paused")
