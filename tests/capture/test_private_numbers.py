"""A private turn keeps its prompt number: what follows is counted as the user counts."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.talk import Talk


def prompts(vault: Path) -> list[str]:
    return sorted(path.name.split("-")[0] for path in (vault / "journal").rglob("*-000-prompt-*.md"))


def test_a_private_turn_keeps_its_number(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("one")
    talk.says("<private>two</private>")
    talk.answers("of the private turn")
    talk.says("three")
    talk.says("<private>four</private>")
    talk.says("<private>five</private>")
    talk.says("six")

    assert prompts(vault) == ["001", "003", "006"]


def test_a_private_first_prompt_keeps_its_number(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("<private>one</private>")
    talk.says("two")

    assert prompts(vault) == ["002"]


def test_a_private_prompt_that_is_delivered_twice_counts_once(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("one")
    talk.says("<private>two</private>")
    talk.store("UserPromptSubmit", prompt="<private>two</private>")
    talk.says("three")

    assert prompts(vault) == ["001", "003"]
