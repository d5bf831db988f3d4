"""Long prompts: `capture.prompt_chars` counts characters, and what is longer is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mdmem.vault import note
from tests.conftest import own_settings
from tests.helpers import claude
from tests.helpers.claude import prompt, stop


def words(chars: int, letter: str) -> str:
    return (f"{letter * 7} " * (chars // 8 + 1))[: chars - 1] + letter


def body(vault: Path, kind: str) -> str:
    (path,) = vault.rglob(f"0??-0??-{kind}-*.md")
    return note.parse(path.read_bytes()).body.strip("\n")


@pytest.mark.parametrize(
    ("chars", "letter"),
    [
        (65_536, "한"),
        pytest.param(60_000, "a", marks=pytest.mark.slow),
        pytest.param(30_000, "한", marks=pytest.mark.slow),
        pytest.param(65_536, "😀", marks=pytest.mark.slow),
    ],
)
def test_a_prompt_within_the_limit_is_stored_whole(vault: Path, chars: int, letter: str) -> None:
    text = words(chars, letter)
    assert claude.send(prompt(text)).stdout == b""
    assert body(vault, "prompt") == text
    claude.send(stop(text))
    assert body(vault, "response") == text


@pytest.mark.slow
def test_a_larger_limit_counts(vault: Path) -> None:
    own_settings("capture.prompt_chars = 200_000\n")
    text = words(199_000, "a")
    assert claude.send(prompt(text)).stdout == b""
    assert body(vault, "prompt") == text


@pytest.mark.parametrize(
    ("limit", "chars"),
    [
        (1_000, 5_000),
        pytest.param(65_536, 400_000, marks=pytest.mark.slow),
        pytest.param(9_000_000, 1_100_000, marks=pytest.mark.slow),
    ],
)
def test_the_user_is_told_what_a_longer_prompt_lost(vault: Path, limit: int, chars: int) -> None:
    own_settings(f"capture.prompt_chars = {limit}\n")
    said = json.loads(claude.send(prompt(words(chars, "a"))).stdout)["systemMessage"]
    assert "left out" in said
    assert "capture.prompt_chars" in said
    assert len(body(vault, "prompt")) < min(limit, 1024 * 1024) + 200
