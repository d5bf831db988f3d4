"""The sample vault: what the hooks wrote, what a person made of it, and that mdmem keeps to both."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import frontmatter
import pytest

from mdmem.cli.setup import init
from mdmem.vault import note
from tests.conftest import REPO

Run = Callable[..., subprocess.CompletedProcess[str]]
SAMPLE = REPO / "sample-vault"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sample vault, as the vault in use."""
    shutil.copytree(SAMPLE, tmp_path / "vault")
    monkeypatch.setenv("MDMEM_VAULT", str(tmp_path / "vault"))
    return tmp_path / "vault"


def found(mdmem: Run, *words: str) -> list[dict[str, str]]:
    hits: list[dict[str, str]] = json.loads(mdmem("search", *words, "--json", check=True).stdout)
    return hits


def test_every_note_is_read_by_other_programs() -> None:
    paths = list(SAMPLE.rglob("*.md"))
    assert len(paths) > 25
    for path in paths:
        assert note.parse(path.read_bytes()).problem is None, path
        frontmatter.loads(path.read_text("utf-8"))


def test_nothing_in_it_is_private() -> None:
    everything = b"".join(path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file())
    assert b"[PRIVATE]" in everything
    assert b"[REDACTED]" in everything
    for private in (b"pager is on her desk", b"correcthorse", b"Zm9vYmFyYmF6cXV4", b"Okafor"):
        assert private not in everything


def test_a_hand_written_decision_is_found_before_what_was_captured(sample: Path, mdmem: Run) -> None:
    hits = found(mdmem, "times in UTC")
    assert hits[0]["path"] == "notes/decisions/times-in-utc.md"


def test_a_note_without_front_matter_is_found(sample: Path, mdmem: Run) -> None:
    assert found(mdmem, "importer dry run")[0]["path"] == "notes/ideas.md"


def test_a_changed_title_and_an_added_key_are_found(sample: Path, mdmem: Run) -> None:
    assert found(mdmem, "is:edited")[0]["title"] == "Decision: ISO 8601 dates only, times in UTC"
    assert "askuserquestion" in found(mdmem, "Marta decided delimiter")[0]["path"]


def test_a_pinned_note_is_given_when_a_session_begins(sample: Path, mdmem: Run) -> None:
    start = {
        "hook_event_name": "SessionStart",
        "source": "startup",
        "session_id": "new",
        "cwd": "/home/dev/work/acme-notes-app",
    }
    said = json.loads(mdmem("inject", "claude-code", input=json.dumps(start)).stdout)
    assert "How we release" in said["hookSpecificOutput"]["additionalContext"]


def test_what_a_person_wrote_on_a_session_page_is_kept(sample: Path, mdmem: Run) -> None:
    page = next(sample.glob("journal/*/*/0800*/0800*.md"))
    stop = {
        "hook_event_name": "Stop",
        "session_id": "3f0c6d1e-8a52-4b7e-9c41-5d2e7f90a118",
        "cwd": "/home/dev/work/notes-app",
        "prompt_id": "0d5b1f3a-7c1e-4e0b-9f57-1a6c2b3d4e02",
        "last_assistant_message": "One more thing.",
    }
    before = page.read_text()
    mdmem("hook", "claude-code", input=json.dumps(stop), check=True)
    after = page.read_text()
    assert after != before
    assert "look at them when the importer is next touched." in after
    assert "[Decision: ISO 8601 dates only, times in UTC]" in after
    assert after.partition("<!-- mdmem:begin -->")[0] == before.partition("<!-- mdmem:begin -->")[0]
    assert after.partition("<!-- mdmem:end -->")[2] == before.partition("<!-- mdmem:end -->")[2]


def test_its_settings_are_those_that_a_new_vault_gets() -> None:
    assert (SAMPLE / "mdmem.toml").read_text("utf-8") == init.settings_text()
