"""Aider's chat history becomes sessions of prompts and answers of its project, once, however often it is imported."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.transcripts import aider
from mdmem.transcripts.saved import ReadOptions, Skipped
from tests.helpers.plain_git import git

Run = Callable[..., subprocess.CompletedProcess[str]]
# Two spaces end aider's own lines; an editor may remove those that are written out.
FIRST = """
# aider chat started at 2025-02-03 10:11:12

> /usr/bin/aider --model sonnet||
> Git repo: .git with 10 files||

#### /add src/dates.py||

> Added src/dates.py to the chat||

#### how does the parser handle||
#### leap days?||

It raises `ValueError`.

#### Why
> A quote of the manual.

> Tokens: 2.1k sent, 120 received. Cost: $0.01 message, $0.01 session.||

#### /ask what is <private>sesame</private> for?||

Nobody knows.

#### raise DateError instead||

Done.

> Applied edit to src/dates.py||
> Commit a1b2c3d fix: Raise DateError||
""".replace("||", "  ")
SECOND = """
# aider chat started at 2025-02-04 09:00:00

#### <blank>||

#### /exit||
# aider chat started at 2025-02-05 09:00:00

#### add a test||

First step.
""".replace("||", "  ")


def history(root: Path, text: str, *, age: float = 86_400) -> Path:
    """Return a history in a repository, last written `age` seconds ago."""
    root.mkdir(exist_ok=True)
    git(root, "init", "-q")
    path = root / ".aider.chat.history.md"
    path.write_text(text, "utf-8")
    at = path.stat().st_mtime - age
    os.utime(path, (at, at))
    return path


def stored(vault: Path) -> list[frontmatter.Post]:
    return [frontmatter.load(str(path)) for path in sorted(vault.glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"))]


def test_each_session_of_a_history_is_one_of_its_project_with_what_was_asked_and_answered(
    vault: Path, tmp_path: Path, ask: Run
) -> None:
    path = history(tmp_path / "shop", FIRST + SECOND)

    done = ask("import", str(path), "--yes", "--json", check=True)

    assert json.loads(done.stdout)["added"] == {"prompt": 4, "response": 4}
    notes = stored(vault)
    assert {(one["agent"], one["project"]) for one in notes} == {("aider", "shop")}
    assert [str(one["created"])[:19] for one in notes if one["kind"] == "prompt"][-1] == "2025-02-05 09:00:00"
    answers = [one.content for one in notes if one["kind"] == "response"]
    assert answers[0] == "It raises `ValueError`.\n\n#### Why\n> A quote of the manual."
    assert answers[2] == "Done.\n\nApplied edit to src/dates.py\nCommit a1b2c3d fix: Raise DateError"
    asked = [one.content for one in notes if one["kind"] == "prompt"]
    assert asked[:2] == ["how does the parser handle\nleap days?", "what is [PRIVATE] for?"]
    assert "sesame" not in "".join(path.read_text("utf-8") for path in vault.rglob("*.md"))


def test_a_history_that_has_grown_adds_what_is_new(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = history(tmp_path / "shop", FIRST, age=0)
    first = ask("import", str(path), "--yes", "--json", check=True)
    history(tmp_path / "shop", f"{FIRST}\nA second step.\n{SECOND}")

    second = ask("import", str(path), "--yes", "--json", check=True)
    third = ask("import", str(path), "--yes", "--json", "--again", check=True)

    added = [json.loads(done.stdout)["added"] for done in (first, second, third)]
    assert added == [{"prompt": 3, "response": 2}, {"prompt": 1, "response": 2}, {}]
    assert [one.content[-14:] for one in stored(vault) if "Done." in one.content] == ["A second step."]


def test_markdown_that_only_mentions_aider_stays_a_note(vault: Path, tmp_path: Path, ask: Run) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Tools\n\n# aider chat started at 2025-02-03 10:11:12\n", "utf-8")

    assert ask("import", str(path), "--yes", check=True).stdout == "Imported 1 note.\n"


@given(st.lists(st.sampled_from([*FIRST.splitlines(), *SECOND.splitlines(), "#### ", "> ", "#   ", "\x85"])))
def test_no_history_makes_reading_fail(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.md"
    path.write_text("\n".join(lines), encoding="utf-8")

    for saved in aider.read(path, ReadOptions(Skipped(), 0.0)):
        assert saved.event.session and saved.event.name
