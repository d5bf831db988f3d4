"""`promote`: a note goes into an instruction file between markers, on request, and leaves no trace when removed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.transcripts import promotion

Run = Callable[..., subprocess.CompletedProcess[str]]
TEXTS = st.lists(st.sampled_from(["# Rules", "", "- Use bun.", "<!-- x -->", " ", "text"]), max_size=8).map("\n".join)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "app"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def make(ask: Run, *words: str) -> str:
    made = json.loads(ask("note", *words, "--json").stdout)
    assert isinstance(made["id"], str)
    return made["id"]


def test_a_note_is_put_in_after_a_diff_and_a_question_and_taken_out_to_the_byte(
    vault: Path, ask: Run, tree: Path
) -> None:
    before = "# Rules\n\n- Use bun.\n"
    (tree / "CLAUDE.md").write_text(before, encoding="utf-8")
    name = make(ask, "Times are stored in UTC.", "--title", "Times")
    refused = ask("promote", name, input="n\n")
    assert "+## Times" in refused.stdout and "+Times are stored in UTC." in refused.stdout and refused.returncode
    assert (tree / "CLAUDE.md").read_text("utf-8") == before
    assert ask("promote", name, input="y\n").returncode == 0
    text = (tree / "CLAUDE.md").read_text("utf-8")
    assert text.startswith(before) and f"<!-- mdmem:begin {name} -->\n## Times\n\nTimes are stored in UTC.\n" in text
    assert "already up to date" in ask("promote", name).stdout
    assert ask("promote", f"mem:{name}", "--remove", "--yes").returncode == 0
    assert (tree / "CLAUDE.md").read_text("utf-8") == before
    assert ask("promote", name, "--remove", "--yes").returncode != 0


@pytest.mark.parametrize(
    ("body", "title", "block"),
    [
        ("Use spaces.", "", "Use spaces."),
        ("Use spaces.\nNo tabs.", "", "Use spaces.\nNo tabs."),
        ("* Use spaces.\n* No tabs.", "", "* Use spaces.\n* No tabs."),
        (f"Use {'spaces ' * 40}always.", "", f"Use {'spaces ' * 40}always."),
        (f"# Use {'spaces ' * 40}\n\nAlways.", "", f"## Use {'spaces ' * 40}\n\nAlways.".replace(" \n", "\n")),
        ("# Indent\n\nUse spaces.", "Indent", "## Indent\n\nUse spaces."),
        ("# Indent", "Indent", "## Indent"),
        ("# Why\n\nUse spaces.", "Indent", "## Indent\n\n# Why\n\nUse spaces."),
    ],
)
def test_a_title_that_the_note_begins_with_is_put_in_once(
    vault: Path, ask: Run, tree: Path, body: str, title: str, block: str
) -> None:
    name = make(ask, body, "--title", title)
    ask("promote", name, "--to", "AGENTS.md", "--yes")
    text = (tree / "AGENTS.md").read_text("utf-8")
    assert text == f"<!-- mdmem:begin {name} -->\n{block}\n<!-- mdmem:end {name} -->\n"


def test_a_changed_note_changes_the_file_only_on_request(vault: Path, ask: Run, tree: Path) -> None:
    (tree / "AGENTS.md").write_text("Rules.\n", encoding="utf-8")
    name = make(ask, "Use pnpm.", "--title", "Tools")
    ask("promote", name, "--yes")
    ask("append", name, "Use bun now.")
    assert "bun" not in (tree / "AGENTS.md").read_text("utf-8")
    ask("promote", name, "--yes")
    text = (tree / "AGENTS.md").read_text("utf-8")
    assert "Use bun now." in text and text.count("mdmem:begin") == 1


def test_a_note_that_is_gone_can_still_be_taken_out(vault: Path, ask: Run, tree: Path) -> None:
    name = make(ask, "Use pnpm.", "--title", "Tools")
    ask("promote", name, "--to", "AGENTS.md", "--yes")
    ask("forget", name, "--yes")
    asked = ask("promote", name, "--remove", input="n\n")
    assert "Delete this file?" in asked.stderr and (tree / "AGENTS.md").exists()
    done = ask("promote", name, "--remove", "--yes", check=True).stdout
    assert f"[mem:{name}] was all that {tree / 'AGENTS.md'} contained, so the file is deleted.\n" in done
    assert not (tree / "AGENTS.md").exists()


@pytest.mark.parametrize("before", ["", "\n", "\n\n", " ", "Rules."])
def test_a_file_that_was_there_is_left_as_it_was_even_if_it_was_empty(
    vault: Path, ask: Run, tree: Path, before: str
) -> None:
    (tree / "AGENTS.md").write_text(before, encoding="utf-8")
    names = make(ask, "Use pnpm.", "--title", "Tools"), make(ask, "Use tabs.")
    for name in names:
        ask("promote", name, "--yes", check=True)
    for name in names:
        ask("promote", name, "--remove", "--yes", check=True)
    assert (tree / "AGENTS.md").read_text("utf-8").rstrip() == before.rstrip()


def test_private_notes_and_other_files_are_refused(vault: Path, ask: Run, tree: Path) -> None:
    (tree / "CLAUDE.md").write_text("Rules.\n", encoding="utf-8")
    secret = vault / "notes" / "mine.md"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("---\nid: 0f1e2d3c4b\ntitle: Mine\nprivate: true\n---\nMy salary.\n", encoding="utf-8")
    half = vault / "notes" / "half.md"
    half.write_text("---\nid: 0f1e2d3c4c\ntitle: Half\n---\nPublic. <private>My salary.</private>\n", encoding="utf-8")
    assert "private" in ask("promote", "notes/mine.md", "--yes").stderr
    ask("promote", "notes/half.md", "--yes")
    assert "salary" not in (tree / "CLAUDE.md").read_text("utf-8")
    assert "Public." in (tree / "CLAUDE.md").read_text("utf-8")
    assert ask("promote", "notes/half.md", "--to", "main.py", "--yes").returncode == 2
    (tree / "CLAUDE.md").unlink()
    assert "--to" in ask("promote", "notes/half.md", "--yes").stderr


def test_a_note_that_stays_on_this_machine_gets_into_no_repository(vault: Path, ask: Run, tree: Path) -> None:
    (tree / "CLAUDE.md").write_text("Rules.\n", encoding="utf-8")
    local, own = make(ask, "The box is in room 4.", "--title", "Box"), tree.parent / "own.md"
    note = next(path for path in (vault / "notes").rglob("*.md") if "room 4" in path.read_text("utf-8"))
    note.write_text(note.read_text("utf-8").replace("---\n", "---\nsync: false\n", 1), encoding="utf-8")

    refused = ask("promote", local, "--yes")

    assert refused.returncode == 2 and "sync: false" in refused.stderr and "--to" in refused.stderr
    assert (tree / "CLAUDE.md").read_text("utf-8") == "Rules.\n"
    ask("promote", local, "--to", str(own), "--yes", check=True)
    assert "room 4" in own.read_text("utf-8")


def test_a_note_of_a_project_that_stays_on_this_machine_gets_into_no_repository(
    vault: Path, ask: Run, tree: Path
) -> None:
    (tree / "CLAUDE.md").write_text("Rules.\n", encoding="utf-8")
    page = vault / "journal" / "box" / "project.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("---\nkind: project\nproject: box\nsync: false\n---\n", encoding="utf-8")
    local = make(ask, "The box is in room 4.", "--title", "Box", "--project", "box")

    assert ask("promote", local, "--yes").returncode == 2
    assert (tree / "CLAUDE.md").read_text("utf-8") == "Rules.\n"


@given(TEXTS, st.lists(st.tuples(st.sampled_from(["aaaaaaaaaa", "bbbbbbbbbb"]), TEXTS), max_size=4))
def test_what_is_put_in_can_be_taken_out(before: str, put: list[tuple[str, str]]) -> None:
    text = before
    for name, body in put:
        text = promotion.with_note(text, name, "Title", body)
        assert promotion.with_note(text, name, "Title", body) == text
        assert promotion.holds(text, name)
    assert promotion.without_all(text).strip() == before.strip()
    assert "mdmem:begin" not in promotion.without_all(text)


def test_a_note_without_an_id_gets_one_so_that_it_can_be_taken_out_after_a_move(
    vault: Path, ask: Run, tree: Path
) -> None:
    (tree / "CLAUDE.md").write_text("# Rules\n", encoding="utf-8")
    (vault / "notes").mkdir(exist_ok=True)
    bare = vault / "notes" / "bare.md"
    bare.write_text("Use spaces.\n", encoding="utf-8")

    assert ask("promote", "notes/bare.md", input="n\n").returncode == 1
    assert bare.read_text("utf-8") == "Use spaces.\n"

    done = ask("promote", "notes/bare.md", input="y\n")
    assert "add its id to notes/bare.md?" in done.stdout + done.stderr
    assert "Use spaces." in (tree / "CLAUDE.md").read_text("utf-8")

    bare.rename(bare.with_name("moved.md"))
    assert ask("promote", "notes/moved.md", "--remove", "--yes").returncode == 0
    assert (tree / "CLAUDE.md").read_text("utf-8") == "# Rules\n"
