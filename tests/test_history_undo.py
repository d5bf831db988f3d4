"""Taking back and forgetting: what a person asked for goes, what was done since stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem.errors import NotFoundError
from mdmem.history import commit, forget, merge, repository, rewrite, undo
from mdmem.history.rewrite import Step
from tests.history_vault import FOLDER, SESSION, captured, git, head_files, put, start, turn

OTHER = FOLDER.replace("0800", "0900").replace("00893aaf", "ffff0000")


def test_undoing_a_session_removes_its_notes_and_nothing_else(vault: Path) -> None:
    config = start(vault)
    turn(vault, 1)
    turn(vault, session="ffff0000-1", folder=OTHER)
    commit.commit(config)
    turn(vault, 2)

    planned = undo.plan(config, SESSION[:8])
    done = undo.apply(config, planned)

    assert len(planned.commits) == 2
    assert (len(done.changed), done.skipped, planned.kept) == (9, [], [])
    assert not (vault / FOLDER).exists()
    assert len(list((vault / OTHER).iterdir())) == 5
    assert done.result.commits[0].subject.startswith("Undo: Why does the parser fail")
    assert git(vault, "status", "--porcelain") == ""


def test_undoing_the_undoing_brings_the_notes_back(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    files = {path: path.read_bytes() for path in (vault / FOLDER).iterdir()}
    (made,) = undo.apply(config, undo.plan(config, SESSION)).result.commits

    undo.apply(config, undo.plan(config, made.oid))

    assert {path: path.read_bytes() for path in (vault / FOLDER).iterdir()} == files


def test_later_work_on_other_lines_is_kept_when_a_commit_is_undone(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "one\ntwo\nthree\nfour\nfive\n")
    commit.commit(config)
    put(vault, "notes/a.md", "ONE\ntwo\nthree\nfour\nfive\n")
    (wrong,) = commit.commit(config).commits
    put(vault, "notes/a.md", "ONE\ntwo\nthree\nfour\nFIVE\n")

    planned = undo.plan(config, wrong.oid[:10])
    undo.apply(config, planned)

    assert (vault / "notes/a.md").read_text() == "one\ntwo\nthree\nfour\nFIVE\n"


def test_undoing_a_change_of_a_project_page_leaves_the_pages_of_other_projects_alone(vault: Path) -> None:
    config = start(vault)
    before = "---\nkind: project\n---\n\none\n"
    put(vault, "journal/a/project.md", before)
    other = put(vault, "journal/z/project.md", before)
    commit.commit(config)
    page = put(vault, "journal/a/project.md", before.replace("one", "two"))
    (wrong,) = commit.commit(config).commits

    planned = undo.plan(config, wrong.oid)
    undo.apply(config, planned)

    assert planned.kept == []
    assert (page.read_text(), other.read_text()) == (before, before)


def test_a_note_that_was_changed_since_is_kept_and_named(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    edited = next((vault / FOLDER).glob("001-003*"))
    edited.write_text(edited.read_text() + "\nImportant!\n")

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == [edited.relative_to(vault).as_posix()]
    assert list(vault.rglob("*.md")) == [edited]


def test_undoing_what_is_not_there_is_told_so(vault: Path) -> None:
    config = start(vault)

    with pytest.raises(NotFoundError):
        undo.plan(config, "2020-01-01")


def test_a_file_that_was_changed_after_it_was_looked_at_is_skipped(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "now\n")

    assert not rewrite.take(config, Step("notes/a.md", b"then\n", b"new\n"))
    assert not rewrite.take(config, Step("notes/a.md", b"then\n", None))
    assert not rewrite.take(config, Step("notes/a.md", None, b"new\n"))
    assert not rewrite.take(config, Step("notes/missing.md", b"then\n", None))
    assert (vault / "notes/a.md").read_text() == "now\n"


def test_forgetting_a_note_deletes_it_without_naming_it(vault: Path) -> None:
    config = start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "Embarrassing", folder=FOLDER)
    turn(vault, 2)
    commit.commit(config)

    targets = forget.plan(config, ["7gk2q9m4x1"])
    done = forget.apply(config, targets)

    assert [target.title for target in targets] == ["Embarrassing"]
    assert not path.exists()
    assert done.result.commits[0].subject == "Forget 1 note"
    assert "Embarrassing" not in git(vault, "log", "-1", "--format=%B")
    assert forget.deleted(config) == {"7gk2q9m4x1": path.name}


def test_forgetting_a_session_takes_its_notes_along(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="ffff0000-1", folder=OTHER)
    commit.commit(config)

    forget.apply(config, forget.plan(config, [SESSION[:8]]))

    assert not (vault / FOLDER).exists()
    assert len(head_files(vault)) == 6


def test_forgetting_is_narrowed_by_age_and_project(vault: Path) -> None:
    config = start(vault)
    captured(vault, "a", "prompt", "old", created="2025-01-01T00:00:00Z")
    captured(vault, "b", "prompt", "new")
    captured(vault, "c", "prompt", "old, of another", created="2025-01-01T00:00:00Z", project="other")
    put(vault, "notes/undated.md", "x\n")

    def titles(**words: str) -> list[str]:
        return [target.title for target in forget.plan(config, [], **words)]

    assert titles(before="2026-01-01") == ["old", "old, of another"]
    assert titles(before="2026-01-01", project="other") == ["old, of another"]
    put(vault, "notes/falcon.md", "---\ntitle: T\n---\n\non the\nFalcon project\n")
    assert titles(matching="The falcon  project") == ["T"]
    assert titles(matching="falcon wings") == []


@pytest.mark.parametrize("folder", ["notes/standup", FOLDER])
def test_forgetting_the_last_note_leaves_a_page_that_somebody_wrote_beside_it(vault: Path, folder: str) -> None:
    config = start(vault)
    page = put(vault, f"{folder}/session.md", "# My own page\n")
    put(vault, f"{folder}/a.md", "words\n")
    commit.commit(config)

    forget.apply(config, forget.plan(config, [f"{folder}/a.md"]), lambda _: None)

    assert page.read_text() == "# My own page\n"


def test_an_ambiguous_session_is_not_guessed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="00893fff", folder=OTHER)

    with pytest.raises(NotFoundError, match="could be one of 2 sessions"):
        forget.plan(config, ["00893"])


def test_a_note_that_is_there_again_is_not_named_as_deleted(vault: Path) -> None:
    config = start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "t")
    commit.commit(config)
    text = path.read_bytes()
    forget.apply(config, forget.plan(config, ["7gk2q9m4x1"]))
    path.parent.mkdir(parents=True)
    path.write_bytes(text)

    assert forget.deleted(config) == {}


def test_two_texts_from_one_are_merged_line_by_line_or_kept_both(vault: Path) -> None:
    repo = repository.init(vault)
    base = b"a\nb\nc\nd\ne\n"

    assert merge.three_way(repo, b"A\nb\nc\nd\ne\n", base, b"a\nb\nc\nd\nE\n") == (b"A\nb\nc\nd\nE\n", 0)
    assert merge.three_way(repo, b"1\n", b"0\n", b"2\n", union=True) == (b"1\n2\n", 0)
    clash = merge.three_way(repo, b"1\n", b"0\n", b"2\n")
    assert clash == (b"\n".join([merge.BEGIN, b"1", merge.MIDDLE, b"2", merge.END, b""]), 1)
