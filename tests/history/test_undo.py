"""Taking back and forgetting: what a person asked for goes, what was done since stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from mdmem.agents import Event
from mdmem.capture import events
from mdmem.cli.group import cli
from mdmem.cli.terminal import outcome
from mdmem.errors import GitError, NotFoundError
from mdmem.history import commit, deletions, forget, rewrite, undo
from mdmem.history import pages as history_pages
from mdmem.history.git import repository
from mdmem.history.merging import merge
from mdmem.history.rewrite import RewriteStep
from mdmem.vault import generated, journal, note
from mdmem.views.vault_pages import upkeep
from tests.helpers.few import few
from tests.helpers.history_vault import FOLDER, PAGE, SESSION, captured, git, head_files, put, start, turn
from tests.helpers.talk import Talk

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
    assert done.result.commits[0].subject.startswith("Undo: acme-notes-app: Why does it fail, take 2?")
    assert git(vault, "status", "--porcelain") == ""


def test_undoing_what_was_written_in_an_empty_note_is_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/new.md", "")
    commit.commit(config)
    put(vault, "notes/new.md", "text\n")
    (made,) = commit.commit(config).commits

    assert undo.apply(config, undo.plan(config, made.oid)).result.held_back == []

    assert git(vault, "show", "HEAD:notes/new.md") == ""


@pytest.mark.slow
def test_undoing_head_undoes_what_it_was_before_pending_notes_are_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/first.md", "one\n")
    commit.commit(config)
    put(vault, "notes/second.md", "two\n")

    undo.apply(config, undo.plan(config, "HEAD"))

    assert [path.name for path in (vault / "notes").iterdir()] == ["second.md"]


@pytest.mark.slow
def test_undoing_the_undoing_brings_the_notes_back(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    files = {path: path.read_bytes() for path in (vault / FOLDER).iterdir()}
    (made,) = undo.apply(config, undo.plan(config, SESSION)).result.commits

    undo.apply(config, undo.plan(config, made.oid))

    assert {path: path.read_bytes() for path in (vault / FOLDER).iterdir()} == files


@pytest.mark.slow
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


@pytest.mark.slow
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


def written(vault: Path, text: str, place: str) -> Path:
    """Write on the session's page as a person does: below or above the part that is kept up to date, or on top."""
    page = vault / PAGE
    was = page.read_text()
    begin, end = generated.MARKS
    mark = {"below": f"{end}\n", "above": begin}[place]
    page.write_text(was.replace(mark, f"{mark}\n{text}\n" if place == "below" else f"{text}\n\n{mark}"))
    return page


@pytest.mark.slow
@pytest.mark.parametrize("place", ["below", "above"])
@pytest.mark.parametrize("committed", few([True, False], always=[True]))
@pytest.mark.parametrize("text", few(["My own words.", "# My heading"], always=["# My heading"]))
def test_what_a_person_wrote_on_the_page_of_a_session_is_kept_and_named_when_it_is_undone(
    vault: Path, place: str, committed: bool, text: str
) -> None:
    config = start(vault)
    turn(vault)
    if committed:
        commit.commit(config)
    page = written(vault, text, place)

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == [PAGE]
    assert list((vault / FOLDER).iterdir()) == [page]
    assert text in page.read_text()
    assert "1 turns" not in page.read_text()


def test_a_page_that_only_mdmem_changed_since_is_not_named_as_kept(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    assert PAGE in upkeep.refresh(config, now=0.0)
    commit.commit(config)

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == []
    assert not (vault / FOLDER).exists()


@pytest.mark.parametrize("text", ["", "\nMy own words.\n", "color: red\n"])
def test_the_page_of_a_project_goes_with_its_only_session_unless_a_person_wrote_on_it(
    vault: Path, home: Path, text: str
) -> None:
    config = start(vault)
    event = Event(agent="claude-code", name="UserPromptSubmit", session=SESSION, cwd=str(home), prompt="Why?")
    assert events.capture(config, event, 1_789_372_800.0, {}).stored
    (page,) = vault.glob("journal/*/project.md")
    old = page.read_text()
    page.write_text(old.replace("\n---\n", f"\n{text}---\n", 1) if ":" in text else old + text)
    commit.commit(config)

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == ([page.relative_to(vault).as_posix()] if text else [])
    assert page.exists() == bool(text)
    assert not text or text.strip() in page.read_text()


@pytest.mark.parametrize("text", ["", "My own words.\n"])
@pytest.mark.parametrize("marks", ["<!-- mdmem:begin -->", "<!-- mdmem:begin --> and <!-- mdmem:end -->"])
def test_a_title_that_names_the_markers_of_a_page_is_only_text(vault: Path, home: Path, marks: str, text: str) -> None:
    config = start(vault)
    talk = Talk(vault, home / "app")
    talk.says(f"What do {marks} do?")
    talk.answers("They enclose what mdmem writes.")
    (page,) = (path for path in vault.glob("journal/*/*/*/*.md") if journal.is_page(path.relative_to(vault).as_posix()))
    page.write_text(page.read_text() + text)

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == ([page.relative_to(vault).as_posix()] if text else [])
    assert page.exists() == bool(text)
    assert not text or note.parse(page.read_bytes()).meta["title"] == f"What do {marks} do?"
    assert not text or page.read_text().endswith(text)


def test_a_captured_note_that_was_edited_before_its_first_commit_is_kept_and_named(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    meta = {"id": "7gk2q9m4x1", "kind": "response", "title": "Done", "session": SESSION, "tags": ["response"]}
    meta["digest"] = note.fingerprint("Done", "All of it.")
    text = note.render(note.Note(meta, "", "All of it.\n"))
    same = put(vault, f"{FOLDER}/002-001-response-done-7gk2q9m4x1.md", text)
    tagged = put(vault, f"{FOLDER}/002-002-response-done-7gk2q9m4x2.md", text.replace("[response]", "[response, mine]"))
    edited = put(vault, f"{FOLDER}/002-003-response-done-7gk2q9m4x3.md", f"{text}\nAnd more, says Ada.\n")

    planned = undo.plan(config, SESSION)
    undo.apply(config, planned)

    assert planned.kept == [path.relative_to(vault).as_posix() for path in (tagged, edited)]
    assert not same.exists()
    assert sorted((vault / FOLDER).glob("002*")) == [tagged, edited]


@pytest.mark.slow
def test_a_session_whose_folder_was_renamed_is_undone(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    (vault / FOLDER).rename(vault / FOLDER.replace("0800-why", "0800-my-name"))

    undo.apply(config, undo.plan(config, SESSION))

    assert list((vault / "journal").rglob("*.md")) == []


LINES = st.integers(0, 10**6).map("A person's line {}.".format)
EDITS = st.tuples(st.sampled_from(["page", "note", "own", "mixed in"]), st.integers(0, 9), LINES)
HISTORIES = st.lists(st.one_of(st.just("turn"), st.just("other"), st.just("commit"), EDITS), max_size=12)


@pytest.mark.slow
@settings(max_examples=6, phases=[Phase.explicit, Phase.generate])  # none is shrunk, which takes minutes
@given(HISTORIES)
@example(["turn", ("page", 0, "A person's line 1."), "commit", "turn", ("note", 2, "A person's line 2."), "commit"])
def test_undoing_takes_back_what_mdmem_wrote_and_nothing_else(steps: list[str | tuple[str, int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder)
        (vault / "mdmem.toml").write_text("")
        config = start(vault)
        turn(vault)
        turn(vault, session="ffff0000-1", folder=OTHER)
        commit.commit(config)
        touched: set[Path] = set()
        for number, step in enumerate(steps, 2):
            if step == "commit":
                commit.commit(config)
            elif isinstance(step, tuple):
                touched.add(edit(vault, step))
            else:
                more = {"session": "ffff0000-1", "folder": OTHER} if step == "other" else {}
                turn_beside(vault, number, **more)
        others = {path: generated.outside(path.read_text()) for path in vault.glob(f"{OTHER}/*")}
        lines = {step[2] for step in steps if isinstance(step, tuple)}

        undo.apply(config, undo.plan(config, SESSION), upkeep.updater(config))

        assert {path: generated.outside(path.read_text()) for path in vault.glob(f"{OTHER}/*")} == others
        left = "".join(path.read_text() for path in vault.rglob("*.md"))
        assert [line for line in lines if line not in left] == []
        assert {path.name for path in vault.glob(f"{FOLDER}/*")} <= {path.name for path in touched}
        assert git(vault, "status", "--porcelain") == ""


def turn_beside(vault: Path, number: int, **more: str) -> None:
    """Write a turn, and bring the page up to date as the hooks do: what stands outside its part stays."""
    page = vault / more.get("folder", FOLDER)
    page /= f"{page.name}.md"
    was = page.read_bytes()
    turn(vault, number, **more)
    page.write_bytes(history_pages.with_generated(was, page.read_bytes()))


def edit(vault: Path, step: tuple[str, int, str]) -> Path:
    """Write a line as a person does: on the page, into a note, into a note of their own, or one among the captured."""
    what, number, line = step
    notes = sorted(path for path in (vault / FOLDER).iterdir() if journal.numbers(path.name))
    places = {
        "page": vault / PAGE,
        "note": notes[number % len(notes)],
        "own": vault / f"notes/own-{number}.md",
        "mixed in": vault / FOLDER / f"mine-{number}.md",
    }
    path = places[what]
    text = path.read_text() if path.exists() else ""
    return put(vault, path.relative_to(vault).as_posix(), f"{text}\n{line}\n")


def test_a_moved_note_whose_place_is_taken_stays_where_it_is(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/old.md", "Tea at four.\n")
    commit.commit(config)
    (vault / "notes" / "old.md").rename(vault / "notes" / "new.md")
    moved = commit.commit(config).commits[-1].oid
    put(vault, "notes/old.md", "Somebody's words.\n")

    planned = undo.plan(config, moved)
    undo.apply(config, planned)

    assert not planned.steps
    assert set(planned.kept) == {"notes/old.md", "notes/new.md"}
    assert (vault / "notes" / "new.md").read_text() == "Tea at four.\n"
    assert (vault / "notes" / "old.md").read_text() == "Somebody's words.\n"


def test_undoing_what_is_not_there_is_told_so(vault: Path) -> None:
    config = start(vault)

    with pytest.raises(NotFoundError):
        undo.plan(config, "2020-01-01")


def test_a_file_that_was_changed_after_it_was_looked_at_is_skipped(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/a.md", "now\n")

    assert not rewrite.take(config, RewriteStep("notes/a.md", b"then\n", b"new\n"))
    assert not rewrite.take(config, RewriteStep("notes/a.md", b"then\n", None))
    assert not rewrite.take(config, RewriteStep("notes/a.md", None, b"new\n"))
    assert not rewrite.take(config, RewriteStep("notes/missing.md", b"then\n", None))
    assert (vault / "notes/a.md").read_text() == "now\n"


def test_a_command_that_left_a_file_as_it_is_does_not_end_with_success(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = start(vault)
    done = commit.commit(config)

    assert outcome.print_applied(rewrite.Applied([], ["notes/a.md"], done)) == 1
    assert "notes/a.md" in capsys.readouterr().err
    assert outcome.print_applied(rewrite.Applied(["notes/a.md"], [], done)) == 0


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
    assert deletions.find_all(config).notes == {"7gk2q9m4x1": path.name}


@pytest.mark.parametrize("command", ["show", "why"])
def test_a_note_that_was_forgotten_is_not_found_but_the_commit_that_brings_it_back_is(
    vault: Path, command: str
) -> None:
    config = start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "Embarrassing", folder=FOLDER)
    commit.commit(config)
    forget.apply(config, forget.plan(config, ["7gk2q9m4x1"]))
    head = git(vault, "rev-parse", "--short=8", "HEAD").strip()

    run = CliRunner().invoke(cli, ["--vault", str(vault), command, "mem:7gk2q9m4x1"])
    assert isinstance(run.exception, NotFoundError)
    assert f"`mdmem undo {head}` brings it back." in str(run.exception)
    CliRunner().invoke(cli, ["--vault", str(vault), "undo", head, "--yes"], catch_exceptions=False)
    assert path.exists()


@pytest.mark.slow
def test_very_many_notes_are_forgotten_in_several_commits_and_come_back_by_as_many(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, 2, session="ffff0000", folder=FOLDER.replace("0800", "0900"))
    commit.commit(config)
    before = {path: (vault / path).read_bytes() for path in head_files(vault) if "/001-" in path or "/002-" in path}
    monkeypatch.setattr(forget, "NOTES_AT_ONCE", 3)

    targets = forget.plan(config, [], project="acme-notes-app")
    done = forget.apply(config, targets, upkeep.updater(config))

    made = done.result.commits
    assert [one.subject for one in made] == ["Forget 3 notes", "Forget 3 notes", "Forget 2 notes"]
    assert set(done.changed) == {target.path for target in targets} == before.keys()
    assert not any((vault / path).exists() for path in before)
    for one in reversed(made):
        undo.apply(config, undo.plan(config, one.oid), upkeep.updater(config))
    assert {path: (vault / path).read_bytes() for path in before} == before
    assert git(vault, "status", "--porcelain") == ""


def test_forgetting_a_session_takes_its_notes_along(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="ffff0000-1", folder=OTHER)
    commit.commit(config)

    forget.apply(config, forget.plan(config, [SESSION[:8]]))

    assert not (vault / FOLDER).exists()
    assert len(head_files(vault)) == 6


@pytest.mark.parametrize("has_page", [True, False])
def test_forgetting_a_session_takes_its_notes_along_from_a_folder_with_a_name_of_ones_own(
    vault: Path, has_page: bool
) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="ffff0000-1", folder=OTHER)
    folder = (vault / FOLDER).rename((vault / FOLDER).with_name("dates"))
    if not has_page:
        (folder / PAGE.rpartition("/")[2]).unlink()
    commit.commit(config)

    forget.apply(config, forget.plan(config, [SESSION[:8]]))

    assert not folder.exists()
    assert len(head_files(vault)) == 6


@pytest.mark.parametrize("place", ["below", "above"])
def test_what_a_person_wrote_on_the_page_of_a_session_is_kept_when_it_is_forgotten(vault: Path, place: str) -> None:
    config = start(vault)
    turn(vault)
    page = written(vault, "My own words.", place)
    commit.commit(config)

    targets = forget.plan(config, [SESSION[:8]])
    kept = forget.worded_pages(config, targets)
    forget.apply(config, targets, upkeep.updater(config))

    assert kept == [PAGE]
    assert list((vault / FOLDER).iterdir()) == [page]
    assert "My own words." in page.read_text()
    assert "1 turns" not in page.read_text()
    assert [target.path for target in forget.plan(config, [PAGE])] == [PAGE]


def test_forgetting_is_narrowed_by_age_and_project(vault: Path) -> None:
    config = start(vault)
    captured(vault, "a", "prompt", "old", created="2025-01-01T00:00:00Z")
    captured(vault, "b", "prompt", "new")
    captured(vault, "c", "prompt", "old, of another", created="2025-01-01T00:00:00Z", project="other")
    put(vault, "notes/undated.md", "x\n")

    def titles(**words: Any) -> list[str]:
        return [target.title for target in forget.plan(config, [], **words)]

    assert titles(span=("", "2026-01-01")) == ["old", "old, of another"]
    assert titles(span=("", "2026-01-01"), project="other") == ["old, of another"]
    put(vault, "notes/falcon.md", "---\ntitle: T\n---\n\non the\nFalcon project\n")
    assert titles(matching="The falcon  project") == ["T"]
    assert titles(matching="falcon wings") == []


@pytest.mark.parametrize("folder", ["notes/standup", FOLDER])
def test_forgetting_the_last_note_leaves_a_page_that_somebody_wrote_beside_it(vault: Path, folder: str) -> None:
    config = start(vault)
    page = put(vault, f"{folder}/{folder.rpartition('/')[2]}.md", "# My own page\n")
    put(vault, f"{folder}/a.md", "words\n")
    commit.commit(config)

    forget.apply(config, forget.plan(config, [f"{folder}/a.md"]), lambda _: [])

    assert page.read_text() == "# My own page\n"


def test_forgetting_the_notes_of_a_session_one_by_one_deletes_its_page_with_the_last_one(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    page, *notes = sorted((vault / FOLDER).iterdir(), key=lambda path: path.stem != FOLDER.rpartition("/")[2])

    for path in notes:
        assert page.exists()
        forget.apply(config, forget.plan(config, [path.relative_to(vault).as_posix()]), lambda _: [])

    assert not (vault / FOLDER).exists()
    assert not any(path.startswith(FOLDER) for path in head_files(vault))


def test_an_ambiguous_session_is_not_guessed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="00893fff", folder=OTHER)

    with pytest.raises(NotFoundError, match="matches 2 sessions"):
        forget.plan(config, ["00893"])


def test_a_commits_subject_sends_no_control_characters_to_the_terminal(vault: Path) -> None:
    start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "Embarrassing", folder=FOLDER)
    git(vault, "add", "--all")
    git(vault, "commit", "-qm", "Add")
    path.unlink()
    git(vault, "commit", "-qam", "Remove \x1b]0;title\x07 it")

    words = [sys.executable, "-m", "mdmem", "--vault", str(vault), "show", "7gk2q9m4x1"]
    said = subprocess.run(words, capture_output=True, text=True).stderr
    assert "(Remove \ufffd]0;title\ufffd it)" in said


def test_a_note_that_is_there_again_is_not_named_as_deleted(vault: Path) -> None:
    config = start(vault)
    path = captured(vault, "001-000-prompt-why-7gk2q9m4x1", "prompt", "t")
    commit.commit(config)
    text = path.read_bytes()
    forget.apply(config, forget.plan(config, ["7gk2q9m4x1"]))
    path.parent.mkdir(parents=True)
    path.write_bytes(text)

    assert deletions.find_all(config).notes == {}


def test_two_texts_from_one_are_merged_line_by_line_or_kept_both(vault: Path) -> None:
    repo = repository.init(vault)
    base = b"a\nb\nc\nd\ne\n"

    assert merge.three_way(repo, b"A\nb\nc\nd\ne\n", base, b"a\nb\nc\nd\nE\n") == (b"A\nb\nc\nd\nE\n", ())
    assert merge.three_way(repo, b"1\n", b"0\n", b"2\n", union=True) == (b"1\n2\n", ())
    assert merge.three_way(repo, b"1\n", b"0\n", b"2\n").kept == (((1, 1), (3, 3)),)
    assert merge.three_way(repo, b"1\n", b"0\n", b"").kept


def test_a_merge_whose_git_was_killed_is_refused(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository.init(vault)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        f'#!/bin/sh\ncase " $* " in *" merge-file "*) echo half; kill -9 $$;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(GitError, match="could not merge two texts"):
        merge.three_way(repo, b"1\n", b"0\n", b"2\n")


def test_the_oldest_commit_of_a_shallow_clone_is_not_undone_since_it_holds_all_earlier_notes(
    vault: Path, tmp_path: Path
) -> None:
    first = start(vault)
    for name in ("a", "b"):
        put(vault, f"notes/{name}.md", f"{name}\n")
        commit.commit(first)
    tip = git(vault, "rev-parse", "HEAD").strip()
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{vault}", "shallow")
    shallow = start(tmp_path / "shallow")
    put(tmp_path / "shallow", "notes/new.md", "new\n")

    with pytest.raises(GitError, match="fetch --unshallow"):
        undo.plan(shallow, tip)

    assert [step.path for step in undo.plan(shallow, "HEAD").steps] == ["notes/new.md"]
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert [step.path for step in undo.plan(shallow, tip).steps] == ["notes/b.md"]
