"""Where a session runs is stored without what the user's private sections say."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.talk import Talk


def test_a_folder_that_the_prompt_calls_private_is_not_named_in_the_notes_of_the_session(
    vault: Path, tmp_path: Path
) -> None:
    talk = Talk(vault, tmp_path / "falcon77q" / "app")
    talk.says("begin with <private>Falcon77Q</private> and list the files")
    talk.answers("listed")

    notes = [path for path in (vault / "journal").rglob("*.md") if path.name != "project.md"]
    assert len(notes) >= 3
    assert [path for path in notes if "falcon77q" in path.read_text(encoding="utf-8").lower()] == []
    assert any("[PRIVATE]/app" in path.read_text(encoding="utf-8") for path in notes)
