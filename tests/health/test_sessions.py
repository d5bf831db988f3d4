"""One session in two folders: its folder was away while it went on, and came back."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import notes, session_pages
from tests.helpers.claude import OTHER, bash, places, prompt, send, stop
from tests.helpers.plain_git import git

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def vault(tmp_path: Path, mdmem: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which a session went on while its first turn was stashed."""
    folder = tmp_path / "vault"
    monkeypatch.setenv("MDMEM_VAULT", str(folder))
    mdmem("init", str(folder), check=True)
    send(prompt("An earlier session", session_id=OTHER))
    mdmem("commit", check=True)
    send(prompt("Before it"))
    send(stop("So it was."))
    git(folder, "stash", "-q", "-u")
    send(prompt("While it is away", 2))
    send(bash("out", "toolu_2", 2))
    git(folder, "stash", "pop", "-q")
    assert len(session_pages(folder)) == 3
    return folder


def test_the_two_folders_of_a_session_are_joined_on_request(vault: Path, mdmem: Run) -> None:
    assert "are one session" in mdmem("doctor", "--only", "notes").stdout
    mdmem("doctor", "--fix", "--only", "notes")
    send(stop("Now it is back.", 2))

    (page,) = (path for path in session_pages(vault) if "-before-it-" in path.parent.name)
    assert len(session_pages(vault)) == 2
    assert sorted(places([path for path in notes(vault) if path.parent == page.parent])) == [
        "001-000-prompt", "001-001-response", "002-000-prompt", "002-001-bash", "002-002-response",
    ]  # fmt: skip
    assert "While it is away" in page.read_text("utf-8")
    assert [path for path in vault.rglob("*.md") if "-while-it-is-away-00893aaf" in path.read_text("utf-8")] == []
    assert "are one session" not in mdmem("doctor", "--only", "notes").stdout


def test_folders_whose_second_page_somebody_has_written_on_are_only_named(vault: Path, mdmem: Run) -> None:
    later = next(path for path in session_pages(vault) if "while-it-is-away" in path.name)
    later.write_text(later.read_text("utf-8") + "\nMy own words.\n", "utf-8")
    before = sorted(vault.glob("journal/*/*/*/*"))

    said = mdmem("doctor", "--fix", "--only", "notes").stdout

    assert "are one session" in said
    assert f"delete the other's page: {later.relative_to(vault)}" in " ".join(said.split())
    assert sorted(vault.glob("journal/*/*/*/*")) == before


def test_of_two_equal_notes_one_is_to_be_deleted(vault: Path, mdmem: Run) -> None:
    note = notes(vault)[0]
    shutil.copy(note, note.with_name(f"{note.stem} (1).md"))
    assert "They are equal: delete one of them." in mdmem("doctor", "--only", "notes").stdout
