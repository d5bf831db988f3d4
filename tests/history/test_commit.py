"""Commits: one a session, only the vault's own files, whatever else goes on in the repository."""

from __future__ import annotations

import errno
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

from mdmem import system
from mdmem.errors import BusyError, GitError, NotFoundError, VaultError
from mdmem.health import history as health
from mdmem.health.scope import CheckScope
from mdmem.history import batch, commit, find, past, undo, why
from mdmem.history.git import environment, git_index, lock, repository, writer
from mdmem.history.scan import ScanMode
from mdmem.learn import decisions
from mdmem.privacy import withheld
from mdmem.vault import front_matter, generated, journal, user_notes
from tests.conftest import notes
from tests.helpers import claude, rights
from tests.helpers.few import few
from tests.helpers.history_vault import (
    FOLDER,
    PAGE,
    SESSION,
    captured,
    forker,
    git,
    head_files,
    put,
    run_and_kill,
    run_here,
    start,
    turn,
)
from tests.helpers.plain_git import make_remote

Run = Callable[..., CompletedProcess[str]]

SOAK = int(os.environ.get("MDMEM_SOAK", "1"))
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_session_becomes_one_commit_with_its_title_counts_and_trailers(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)

    (made,) = commit.commit(config).commits

    assert made.subject == "acme-notes-app: Why does it fail, take 1? (1 prompt, 2 tool runs, 1 answer)"
    assert (made.session, made.files) == (SESSION, 5)
    text = git(vault, "log", "-1", "--format=%B")
    assert text.startswith(f"{made.subject}\n\n- Why does it fail, take 1?\n\nMdmem-Session: {SESSION}\n")
    assert git(vault, "log", "-1", "--format=%(trailers:key=Mdmem-Project,valueonly)").strip() == "acme-notes-app"
    assert git(vault, "log", "-1", "--format=%(trailers:key=Mdmem-Agent,valueonly)").strip() == "claude-code"
    assert git(vault, "status", "--porcelain") == ""


def test_in_the_background_a_page_waits_for_the_next_notes_unless_a_person_wrote_on_it(vault: Path) -> None:
    config, background = start(vault), ScanMode(background=True)
    page = vault / PAGE
    turn(vault)
    commit.commit(config, mode=background)

    page.write_text(page.read_text().replace("1 turns", "1 turns, and the end"))
    assert commit.commit(config, mode=background).commits == []
    assert not any("not committed" in one.text for one in health.git(config, CheckScope()))
    page.write_text(page.read_text() + "\nMy words.\n")
    (made,) = commit.commit(config, mode=background).commits
    assert (made.subject, made.files) == ("acme-notes-app: Why does the parser fail (session page, by hand)", 1)

    page.write_text(page.read_text().replace("and the end", "and its end"))
    assert commit.commit(config, mode=background).commits == []
    turn(vault, 2, session="another", folder="journal/acme-notes-app/2026-09-15/0900-another")
    commit.commit(config, mode=background)
    assert git(vault, "status", "--porcelain") == ""
    page.write_text(page.read_text().replace("and its end", "and the end"))
    assert len(commit.commit(config).commits) == 1


def test_the_check_names_what_a_person_has_staged_until_it_is_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/mine.md", "# Mine\n")
    commit.commit(config)
    git(vault, "mv", "notes/mine.md", "notes/renamed.md")
    commit.commit(config)
    expected = "2 files that you staged, which mdmem does not commit: notes/mine.md, notes/renamed.md."

    assert expected in [one.text for one in health.git(config, CheckScope())]
    git(vault, "commit", "-qm", "Rename my note")
    assert not any("staged" in one.text for one in health.git(config, CheckScope()))


def test_a_start_page_that_only_mentions_the_markers_is_counted_as_not_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, "README.md", f"# Mine\n\nI removed `{generated.BEGIN}` and `{generated.END}`.\n")
    commit.commit(config)
    page = vault / "README.md"
    page.write_text(page.read_text() + "\nMy words.\n")

    texts = [one.text for one in health.git(config, CheckScope())]

    assert "1 file not committed yet, such as README.md." in texts


@pytest.mark.parametrize("placeholder", [journal.untitled("2026-09-14T08:00:01Z"), withheld.MARK])
def test_words_on_pages_are_a_persons_and_the_title_that_a_first_prompt_gives_is_not(
    vault: Path, placeholder: str
) -> None:
    config = start(vault)
    turn(vault)
    other = "journal/acme-notes-app/2026-09-15/0900-another"
    turn(vault, 2, session="another", folder=other)
    other_page = vault / other / "0900-another.md"
    untitled = front_matter.line("title", placeholder)
    other_page.write_text(other_page.read_text().replace("title: Why does the parser fail", untitled))
    commit.commit(config)
    other_page.write_text(other_page.read_text().replace(untitled, "title: Take 2"))
    (titled,) = commit.commit(config).commits
    assert titled.subject == "acme-notes-app: Take 2 (session page)"

    for page in (vault / PAGE, other_page):
        page.write_text(page.read_text().replace("turns", "of them") + "\nMy words.\n")
    subjects = [one.subject for one in commit.commit(config).commits]

    assert sorted(subjects) == [
        "acme-notes-app: Take 2 (session page, by hand)",
        "acme-notes-app: Why does the parser fail (session page, by hand)",
    ]


def test_a_later_turn_makes_a_further_commit_and_nothing_new_makes_none(vault: Path) -> None:
    config = start(vault)
    turn(vault, 1)
    commit.commit(config)
    turn(vault, 2)

    assert [made.subject for made in commit.commit(config).commits] == [
        "acme-notes-app: Why does it fail, take 2? (1 prompt, 2 tool runs, 1 answer)"
    ]
    assert commit.commit(config).commits == []
    assert git(vault, "fsck", "--strict") == ""


def test_two_sessions_and_hand_edits_are_three_commits(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    first = commit.commit(config)
    turn(vault, session="other-session", folder=FOLDER.replace("0800", "0900"))
    turn(vault, 2)
    edited = next((vault / FOLDER).glob("001-003*"))
    edited.write_text(edited.read_text().replace("Fixed; 12", "Fixed; all 12"))
    put(vault, "notes/decision.md", "# We keep dates as text\n")

    made = commit.commit(config).commits

    assert len(first.commits) == 2
    assert sorted(one.session for one in made) == ["", SESSION, "other-session"]
    assert made[-1].subject == "By hand: add 1 note, edit 1 note"
    assert "Mdmem-" not in git(vault, "log", "-1", "--format=%B")


def test_what_an_agent_wrote_on_purpose_is_committed_under_its_name(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    put(vault, "notes/mine.md", "# Mine\n")
    user_notes.add(config, "Dates are text", "We keep them so.", agent="claude-code", now=1.0)
    user_notes.add(config, "Answer in German", "Alice reads it.", kind="ghost", folder="internal/ghost", now=2.0)

    subjects = [made.subject for made in commit.commit(config).commits]
    put(vault, "notes/mine.md", "# Mine\n\nMore.\n")
    hers = next(vault.glob("notes/*dates-are-text*"))
    hers.write_text(hers.read_text() + "\nAnd times, too.\n")
    later = [made.subject for made in commit.commit(config).commits]

    assert subjects == [
        "By claude-code: add Dates are text",
        "By an agent: add Answer in German",
        "By hand: add notes/mine.md",
    ]
    assert later == ["By hand: edit 2 notes"]


@pytest.mark.parametrize("also", ["", "\nAnd one for the road.\n"])
def test_a_note_that_an_agents_note_supersedes_is_committed_with_it_unless_a_person_changed_it_too(
    vault: Path, also: str
) -> None:
    config = start(vault)
    old = user_notes.add(config, "Dates are text", "We keep them so.", now=1.0)
    commit.commit(config)

    decisions.add(config, "Dates are dates", "Now.", kind="note", supersedes=old.id, agent="claude-code", now=2.0)
    path = vault / old.path
    if also:
        path.write_text(path.read_text() + also)
    subjects = [made.subject for made in commit.commit(config).commits]

    if also:
        assert subjects == ["By claude-code: add Dates are dates", "By hand: edit Dates are text"]
    else:
        assert subjects == ["By claude-code: add 1 note, edit 1 note"]


@pytest.mark.parametrize("hand", ["", "before", "between", "after"])
def test_what_an_agent_changed_is_committed_under_its_name_unless_a_person_changed_it_too(
    vault: Path, hand: str
) -> None:
    config = start(vault)
    turn(vault)
    mine = user_notes.add(config, "Dates are text", "We keep them so.", now=1.0).path
    prompt = f"{FOLDER}/001-000-prompt-why-p1.md"
    commit.commit(config)

    def edit(when: str) -> None:
        if when == hand:
            (vault / mine).write_text((vault / mine).read_text() + "\nA person's words.\n")

    def agent(*words: str) -> None:
        run_here(*words, env={"MDMEM_VAULT": str(vault), "CLAUDECODE": "1"}, check=True)

    edit("before")
    agent("append", mine, "Still so.")
    edit("between")
    for words in (("tag", mine, "dates"), ("pin", mine), ("unpin", mine), ("pin", mine, prompt)):
        agent(*words)
    edit("after")
    made = [one.subject for one in commit.commit(config).commits]
    run_here("unpin", mine, env={"MDMEM_VAULT": str(vault), "CLAUDECODE": ""}, check=True)
    made += [one.subject for one in commit.commit(config).commits]

    both = ["By claude-code: edit 2 notes"]
    each = ["By claude-code: edit Why does it fail, take 1?", "By hand: edit Dates are text"]
    assert made == [*(each if hand else both), "By hand: edit Dates are text"]


@pytest.mark.parametrize("ids", ["sha1", "sha256"])
def test_what_a_person_does_again_after_an_agent_is_committed_as_the_persons(vault: Path, ids: str) -> None:
    git(vault, "init", "-q", "-b", "main", f"--object-format={ids}")
    config = start(vault)
    path = user_notes.add(config, "Dates are text", "We keep them so.", now=1.0).path
    commit.commit(config)

    made = []
    for agent, word in (("1", "pin"), ("", "unpin"), ("", "pin"), ("1", "unpin")):
        run_here(word, path, env={"MDMEM_VAULT": str(vault), "CLAUDECODE": agent}, check=True)
        made += [one.subject.partition(":")[0] for one in commit.commit(config).commits]

    assert made == ["By claude-code", "By hand", "By hand", "By claude-code"]


def test_a_note_that_hooks_store_anew_stays_its_sessions_and_an_edited_one_becomes_a_persons(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)

    def todo(status: str, seconds: int) -> str:
        todos = {"todos": [{"content": "Fix the parser", "status": status}]}
        run = claude.bash("", f"toolu_{seconds}", tool_name="TodoWrite", tool_input=todos)
        claude.capture(run, claude.START + seconds)
        (made,) = commit.commit(config).commits
        return made.subject

    assert todo("pending", 1).endswith(" (1 to-do list)")
    assert todo("completed", 2) == "notes-app: Session of 2026-09-14 08:00 (1 to-do list)"
    (note,) = notes(vault)
    note.write_text(note.read_text().replace("tags: [plan]", "tags: [plan, mine]"))

    assert [made.subject for made in commit.commit(config).commits] == ["By hand: edit Todo 1 of 1 done"]


def test_a_session_that_is_undone_takes_its_to_do_list_along(vault: Path) -> None:
    config = start(vault)
    todos = {"todos": [{"content": "Fix the parser", "status": "pending"}]}
    claude.capture(claude.bash("", tool_name="TodoWrite", tool_input=todos))
    commit.commit(config)

    undo.apply(config, undo.plan(config, claude.SESSION))

    assert not notes(vault)


@pytest.mark.slow
def test_a_renamed_project_is_moved_by_hand_in_one_commit_and_remembers_where_it_came_from(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    (vault / "journal/acme-notes-app").rename(vault / "journal/renamed")

    (made,) = commit.commit(config).commits

    assert (made.subject, made.session) == ("By hand: move 5 notes", "")
    (path,) = vault.glob("journal/renamed/*/*/001-000*")
    path = path.rename(path.with_name("001-000-prompt-why-7gk2q9m4x1.md"))
    commit.commit(config)
    (vault / "journal/renamed").rename(vault / "journal/again")
    commit.commit(config)
    steps = why.why(config, "7gk2q9m4x1").steps
    assert [step.subject for step in steps] == ["By hand: move 1 note", "By hand: move 5 notes"]
    undo.apply(config, undo.plan(config, SESSION))
    assert not list(vault.glob("journal/*/*/*/001-001*"))


def test_a_deleted_note_is_deleted_by_hand(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    next((vault / FOLDER).glob("001-001*")).unlink()

    (made,) = commit.commit(config).commits

    assert made.subject.startswith("By hand: delete ")
    assert not any("001-001" in path for path in head_files(vault))


def test_only_the_named_session_is_committed_when_one_is_named(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="other", folder=FOLDER.replace("0800", "0900"))

    commit.commit(config, session="other")

    assert all("/0900-" in path for path in head_files(vault))


def test_what_is_not_the_vaults_own_is_never_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, ".gitignore", "*.secret.md\n")
    for path in ("photo.png", ".obsidian/workspace.md", "notes/.draft.md", "a.secret.md", "id_rsa", "x.md~"):
        put(vault, path, "not a note\n")
    (vault / "notes" / "link.md").symlink_to("/etc/passwd")
    subprocess.run(["git", "init", "-q", str(vault / "nested")], check=True)
    put(vault, "nested/inner.md", "another repository's\n")
    put(vault, "notes/kept.md", "kept\n")

    commit.commit(config)

    assert head_files(vault) == [".gitignore", "mdmem.toml", "notes/kept.md"]


def test_staged_files_are_unstaged_by_the_command_that_commit_prints(vault: Path, ask: Run) -> None:
    commit.commit(start(vault))
    for name in ("my plan", "b"):
        put(vault, f"notes/{name}.md", f"{name}\n")
    git(vault, "add", "notes")

    printed = ask("commit").stderr.strip()
    command = shlex.split(printed.partition("unstage it there: ")[2])
    git(vault, *command[1:])

    assert command[:3] == ["git", "restore", "--staged"]
    assert git(vault, "diff", "--cached", "--name-only") == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
@pytest.mark.parametrize("path", [".gitignore", "notes/.gitattributes"])
def test_a_pipe_in_the_place_of_a_file_that_git_reads_is_named(vault: Path, mdmem: Run, path: str) -> None:
    commit.commit(start(vault))
    put(vault, "notes/a.md", "a\n")
    os.mkfifo(vault / path)

    for words in ("commit", "commit --quiet", "sync", "doctor --only history", "diff", "diff notes/a.md"):
        done = mdmem(*words.split())
        assert f"{path} is a pipe" in done.stdout + done.stderr, words
        assert done.returncode

    (vault / path).unlink()
    assert mdmem("commit").returncode == 0


def test_what_a_person_has_staged_stays_theirs(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "notes/mine.md", "one\n")
    commit.commit(config)
    put(vault, "notes/mine.md", "two\n")
    put(vault, "notes/new.md", "new\n")
    put(vault, "script.py", "print()\n")
    git(vault, "add", "notes", "script.py")
    put(vault, "notes/mine.md", "three\n")
    staged = git(vault, "diff", "--cached")
    turn(vault, 2)

    result = commit.commit(config)

    assert result.staged == ["notes/mine.md", "notes/new.md", "script.py"]
    assert git(vault, "diff", "--cached") == staged
    assert git(vault, "show", "HEAD:notes/mine.md") == "one\n"
    assert git(vault, "status", "--porcelain").split("\n")[:-1] == [
        "MM notes/mine.md",
        "A  notes/new.md",
        "A  script.py",
    ]


def test_names_that_git_could_take_for_a_pattern_or_an_option_are_names(vault: Path) -> None:
    config = start(vault)
    names = [":(glob)**.md", "-n.md", 'quo"te.md', "back\\slash.md", "line\nbreak.md", " lead.md", "été – 日本.md"]
    for name in names:
        put(vault, f"notes/{name}", f"{name}\n")
    put(vault, "unrelated.txt", "")

    commit.commit(config)

    assert sorted(head_files(vault)) == sorted(["mdmem.toml", *(f"notes/{name}" for name in names)])
    assert git(vault, "status", "--porcelain") == "?? unrelated.txt\n"


def test_a_name_that_is_no_utf8_is_committed_as_it_is(vault: Path) -> None:
    config = start(vault)
    (vault / os.fsdecode(b"caf\xe9.md")).write_text("latin\n")

    commit.commit(config)

    assert os.fsdecode(b"caf\xe9.md") in head_files(vault)
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize("attributes", ["*.md text eol=lf\n", ""])
def test_a_note_with_windows_line_ends_is_committed_once_and_clean_for_git(vault: Path, attributes: str) -> None:
    config = start(vault)
    put(vault, ".gitattributes", attributes)
    (vault / "note.md").write_bytes(b"one\r\ntwo\r\n")
    commit.commit(config)

    assert commit.commit(config).commits == []

    assert git(vault, "status", "--porcelain") == ""
    (vault / "note.md").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert len(commit.commit(config).commits) == 1
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_long_note_is_committed_and_one_that_is_too_long_is_named(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/long.md", "word\n" * (9 * 1024 * 1024 // 5))
    put(vault, "notes/endless.md", "word\n" * (33 * 1024 * 1024 // 5))

    done = commit.commit(config)

    assert head_files(vault) == ["mdmem.toml", "notes/long.md"]
    assert [held.path for held in done.held_back] == ["notes/endless.md"]
    assert "larger than 32 MiB" in str(done.held_back[0])


def test_a_repository_within_the_vault_is_named_until_it_is_ignored(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/seen.md", "# Seen\n")
    for name in ("notes/inner", "notes/program", ".hidden/inner"):
        (vault / name).mkdir(parents=True)
        git(vault / name, "init", "-q")
    put(vault, "notes/inner/deep/kept-apart.md", "# Kept apart\n")
    put(vault, "notes/program/main.c", "int main;\n")
    put(vault, ".hidden/inner/a.md", "# Hidden\n")

    first, again = commit.commit(config), commit.commit(config)

    assert "notes/seen.md" in head_files(vault)
    for done in (first, again):
        assert [held.path for held in done.held_back] == ["notes/inner/"]
    assert str(first.held_back[0]) == (
        "notes/inner/ is a git repository of its own, so its notes are not committed here."
        " Move its notes/inner/.git out of the vault, or name notes/inner/ in .gitignore."
    )
    put(vault, ".gitignore", "notes/inner/\n")
    assert commit.commit(config).held_back == []


def test_the_notes_of_a_repository_within_the_vault_are_committed_once_it_is_none(vault: Path) -> None:
    config = start(vault)
    git(put(vault, "notes/inner/a.md", "# A\n").parent, "init", "-q")
    assert commit.commit(config).held_back

    (vault / "notes/inner/.git").rename(vault.parent / "inner.git")

    assert commit.commit(config).held_back == []
    assert "notes/inner/a.md" in head_files(vault)


def test_what_does_not_fit_into_one_batch_follows_in_the_next_without_parting_a_session(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    monkeypatch.setattr(batch, "MAX_BYTES", 1_200)
    turn(vault)
    turn(vault, session="ffff0000", folder=FOLDER.replace("0800", "0900"))

    done = commit.commit(config)

    assert [made.files for made in done.commits if made.session] == [5, 5]
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_commits_have_the_dates_of_what_happened_in_their_order(vault: Path) -> None:
    config = start(vault)
    captured(vault, "001-000-prompt-b", "prompt", "Second", session="b", created="2024-02-02T10:00:00Z")
    earlier = {"session": "a", "created": "2024-01-01T10:00:00Z", "folder": f"{FOLDER}x"}
    captured(vault, "001-000-prompt-a", "prompt", "First", **earlier)
    commit.commit(config)
    captured(vault, "002-000-prompt-b", "prompt", "Third", session="b", created="2024-03-03T10:00:00Z")
    commit.commit(config, imported=True)
    put(vault, "notes/today.md", "by hand\n")
    commit.commit(config)

    def dated(*words: str) -> list[list[str]]:
        return [line.split("|") for line in git(vault, "log", "--format=%s|%at|%ct", *words).splitlines()]

    first, second, third = (f"acme-notes-app: {name} (1 prompt)" for name in ("First", "Second", "Third"))
    found = {row[0]: row[1:] for row in dated()}
    assert found[first] == ["1704103200", "1704103200"]
    assert found[second] == ["1706868000", "1706868000"]
    assert found[third] == ["1709460000", "1709460000"]
    assert [row[0] for row in dated("--first-parent", "--reverse")] == [
        *(first, second, "Vault: mdmem.toml"),
        "Add 1 earlier session, 2024-03-03",
        "By hand: add notes/today.md",
    ]
    assert [row[0] for row in dated("--since=2024-01-15", "--until=2024-02-15")] == [second]
    assert [row[0] for row in dated("--since=2024-03-01", "--until=2024-03-31")] == [third]
    assert third not in [row[0] for row in dated("--since=1.week")]
    assert git(vault, "fsck", "--strict", "--no-dangling") == git(vault, "status", "--porcelain") == ""


def test_what_the_vault_held_then_is_its_own_history_and_not_that_of_what_was_imported_later(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/own.md", "our harbour\n")
    commit.commit(config)
    captured(vault, "002-000-prompt-b", "prompt", "harbour", session="b", created="2024-03-03T10:00:00Z")
    commit.commit(config, imported=True)

    assert [hit.path for hit in past.search(config, "harbour", "HEAD~1")] == ["notes/own.md"]
    with pytest.raises(NotFoundError):
        past.search(config, "harbour", "2024-03-04")


def test_pages_that_are_kept_up_to_date_add_no_commit_and_are_not_taken_back_with_a_session(vault: Path) -> None:
    config = start(vault)
    page = "---\nkind: project\n---\n\n{}\n<!-- mdmem:begin -->\n{}\n<!-- mdmem:end -->\n"
    project = f"{FOLDER.rpartition('/')[0].rpartition('/')[0]}/project.md"
    put(vault, project, page.format("", "0 sessions"))
    put(vault, "journal/other/project.md", page.format("", "0 sessions"))
    commit.commit(config)
    turn(vault)
    put(vault, project, page.format("", "1 session"))
    put(vault, "journal/other/project.md", page.format("My words.", "1 session"))

    made = commit.commit(config).commits

    assert [(one.subject.partition(":")[0], one.files) for one in made] == [("acme-notes-app", 6), ("By hand", 1)]
    undone = undo.plan(config, SESSION)
    assert (project in [step.path for step in undone.steps], undone.kept) == (False, [])


def test_a_long_prompt_is_cut_at_a_word_in_the_subject(vault: Path) -> None:
    config = start(vault)
    captured(vault, "001-000-prompt-x", "prompt", "Please explain " + "again " * 30)

    made = commit.commit(config).commits[0]

    assert made.subject == f"acme-notes-app: Please explain {'again ' * 8}again… (1 prompt)"


def test_the_bytes_of_a_note_are_kept_whatever_attributes_say(vault: Path) -> None:
    config = start(vault)
    put(vault, ".gitattributes", "*.md text eol=crlf ident filter=upper\n")
    (vault / "note.md").write_bytes(b"one\r\ntwo $Id$\r\n\xff")

    commit.commit(config)

    shown = subprocess.run(["git", "-C", str(vault), "cat-file", "blob", "HEAD:note.md"], capture_output=True)
    assert shown.stdout == b"one\r\ntwo $Id$\r\n\xff"
    assert commit.commit(config).commits == []


def test_a_hostile_environment_and_configuration_start_nothing_and_change_nothing(
    vault: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    trap.chmod(0o755)
    git(tmp_path, "init", "-q", "project")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    own_hooks = vault / ".git" / "hooks"
    own_hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to(trap)
        (own_hooks / name).symlink_to(trap)
    (home / ".gitconfig").write_text(
        f"[core]\n hooksPath = {hooks}\n fsmonitor = {trap}\n autocrlf = true\n editor = {trap}\n pager = {trap}\n"
        f" excludesFile = {tmp_path / 'ignore'}\n attributesFile = {tmp_path / 'attributes'}\n"
        f"[commit]\n gpgSign = true\n template = {trap}\n[gpg]\n program = {trap}\n"
        f'[filter "trap"]\n clean = {trap}\n smudge = {trap}\n required = true\n[diff]\n external = {trap}\n'
    )
    (tmp_path / "ignore").write_text("*.md\n")
    (tmp_path / "attributes").write_text("*.md filter=trap\n")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "project" / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", str(trap))
    turn(vault)

    made = commit.commit(config).commits

    assert [one.files for one in made] == [5, 1]
    assert not ran.exists()
    monkeypatch.undo()
    assert git(tmp_path / "project", "rev-list", "--all") == ""


def test_a_note_with_a_secret_is_held_back_and_the_others_are_committed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "notes/keys.md", f"# Keys\n\nfor the build:\ntoken {SECRET}\n")

    result = commit.commit(config)

    (held,) = result.held_back
    assert (held.path, held.line) == ("notes/keys.md", 4)
    assert "mdmem commit --accept notes/keys.md" in str(held)
    assert "notes/keys.md" not in head_files(vault)
    assert len(head_files(vault)) == 6
    objects = git(vault, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert SECRET not in objects


@pytest.mark.slow
def test_a_text_that_is_marked_private_after_it_was_committed_is_said_to_be_in_history(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "Ask Falkenberg about it.\n")
    put(vault, "notes/offer.md", "Falkenberg pays.\n")
    commit.commit(config)
    put(vault, "notes/plan.md", "Ask <private>Falkenberg</private> about it.\n")
    put(vault, "notes/offer.md", "---\nprivate: true\n---\nFalkenberg pays.\n")
    put(vault, "notes/done.md", "[REDACTED]\n")
    commit.commit_paths(config, ["notes/done.md"], "As after a purge")
    put(vault, "notes/done.md", "<private>[REDACTED]</private> it\n")
    put(vault, "notes/new.md", "Ask <private>Falkenberg</private> again.\n")

    done, new, old = commit.commit(config).held_back
    told = run_here("commit").stderr

    assert (done.in_history, new.in_history, old.in_history) == (False, False, True)
    assert (
        "notes/new.md:1 holds private text or what looks like a secret (private-tag), so it was not committed. R"
        in told
    )
    assert "The private text is already in history; `mdmem purge 'THE TEXT' --apply` removes it there too." in told
    assert "notes/offer.md stays on this machine, but earlier commits contain it." in told
    assert "mdmem purge --history-only notes/offer.md --apply" in told


def test_a_prompt_that_is_made_private_later_is_said_to_be_in_the_names_of_its_session(vault: Path) -> None:
    config = start(vault)
    folder = "journal/zoo/2026-09-14/0800-ask-falkenberg-about-it-aaaa1111"
    prompt = f"{folder}/001-000-prompt-ask-falkenberg-about-it-bbbb222222.md"
    answer = f"{folder}/001-001-response-it-is-done-cccc333333.md"
    put(vault, prompt, "Ask Falkenberg about it.\n")
    put(vault, answer, "It is done.\n")
    commit.commit(config)

    put(vault, answer, "---\nsync: false\n---\nIt is done.\n")
    assert "may be named so too" not in run_here("commit").stderr
    put(vault, prompt, "---\nprivate: true\n---\nAsk Falkenberg about it.\n")
    assert "The session's folder and page, which are committed with its other notes, may be named so too." in (
        run_here("commit").stderr
    )


def test_a_note_that_is_no_utf8_text_is_held_back_with_the_reason_and_what_to_do(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/release plan.md", "The release\nis on\0 Tuesday\n")

    (held,) = commit.commit(config).held_back
    done = commit.commit(config, accept=["notes/release plan.md"])

    assert str(held).startswith("notes/release plan.md:2 contains a NUL byte")
    assert str(held).endswith("mdmem commit --accept 'notes/release plan.md'")
    assert not done.held_back


def test_a_placeholder_in_history_that_its_sync_program_has_deleted_is_committed_as_deleted(vault: Path) -> None:
    config = start(vault)
    placeholder = put(vault, "notes/plan.md.nextcloud", "\n")
    git(vault, "add", "notes/plan.md.nextcloud")
    git(vault, "commit", "-qm", "as earlier versions did")
    placeholder.unlink()

    commit.commit(config)

    assert "notes/plan.md.nextcloud" not in head_files(vault)


@pytest.mark.parametrize("placeholder", [".plan.md.icloud", "plan.md.nextcloud", "plan.md.owncloud"])
def test_a_note_that_a_sync_program_keeps_elsewhere_is_not_committed_as_deleted(vault: Path, placeholder: str) -> None:
    config = start(vault)
    for name in ("plan", "other"):
        put(vault, f"notes/{name}.md", f"The {name}\n")
    commit.commit(config)
    (vault / "notes/plan.md").rename(vault / "notes" / placeholder)
    (vault / "notes/other.md").unlink()

    (held,) = commit.commit(config).held_back

    assert str(held).startswith("notes/plan.md is not on this machine, but its sync program has a copy")
    assert "notes/plan.md" in head_files(vault)
    assert f"notes/{placeholder}" not in head_files(vault)
    assert "notes/other.md" not in head_files(vault)
    assert held.why in [one.text for one in health.git(config, CheckScope())]
    assert find.deletion_of(config, "notes/plan.md").startswith("Its file is not on this machine, but a sync program")
    (vault / "notes" / placeholder).unlink()
    assert not commit.commit(config).held_back
    assert "notes/plan.md" not in head_files(vault)


@pytest.mark.parametrize("left", [b"", b"\0" * 9], ids=["nothing", "NUL bytes"])
def test_a_note_that_has_lost_its_text_is_not_committed_unless_it_is_accepted(vault: Path, left: bytes) -> None:
    config = start(vault)
    put(vault, "notes/plan.md", "The plan\n")
    put(vault, "mdmem.toml", "# nothing\n")
    commit.commit(config)
    (vault / "notes/plan.md").write_bytes(left)
    put(vault, "mdmem.toml", "")
    put(vault, "notes/new.md", "")

    (held,) = commit.commit(config).held_back

    assert str(held).startswith("notes/plan.md is empty now")
    assert git(vault, "show", "HEAD:notes/plan.md") == "The plan\n"
    assert git(vault, "show", "HEAD:mdmem.toml") == ""
    assert "notes/new.md" in head_files(vault)
    assert held.why in [one.text for one in health.git(config, CheckScope())]
    assert not commit.commit(config, accept=["notes/plan.md"]).held_back
    assert git(vault, "show", "HEAD:notes/plan.md") == left.decode()


def test_a_private_section_written_by_hand_is_held_back_too(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/diary.md", "fine\n<private>\nnot fine\n</private>\n")

    (held,) = commit.commit(config).held_back

    assert (held.path, held.line) == ("notes/diary.md", 2)


@pytest.mark.parametrize("folder", ["notes", "journal/acme", "journal/acme/2024-03-05"])
def test_a_note_whose_name_says_what_was_marked_as_private_later_is_to_be_renamed(vault: Path, folder: str) -> None:
    config = start(vault)
    put(vault, f"{folder}/ask-anna-falkenberg.md", "# Ask <private>Anna Falkenberg</private>\n")
    put(vault, "notes/ask-somebody.md", "# Ask <private>Anna Falkenberg</private>\n")

    renamed, other = sorted(commit.commit(config).held_back)

    assert str(renamed).startswith(f"The name of {folder}/ask-anna-falkenberg.md holds private text")
    assert str(renamed).endswith("Rename it.")
    assert (other.path, other.line) == ("notes/ask-somebody.md", 1)


def test_settings_may_speak_of_tags_but_hold_no_secret(vault: Path) -> None:
    config = start(vault)
    put(vault, "mdmem.toml", "# what stands where a <private> section was\n")
    put(vault, ".gitignore", f"# {SECRET}\n")

    result = commit.commit(config)

    assert [held.path for held in result.held_back] == [".gitignore"]
    assert head_files(vault) == ["mdmem.toml"]


def test_a_projects_page_belongs_to_the_session_that_made_it(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "journal/acme-notes-app/project.md", "---\nkind: project\ntitle: acme-notes-app\n---\n\nx\n")

    made = commit.commit(config).commits

    assert sorted((one.session, one.files) for one in made) == [("", 1), (SESSION, 6)]


def test_the_page_of_another_project_in_which_a_session_ran_a_tool_belongs_to_that_session(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    run = f"---\nid: 0therrun00\nkind: observation\nproject: api\nsession: {SESSION}\ntool: Bash\n---\n\nls\n"
    put(vault, f"{FOLDER}/001-009-bash-ls-0therrun00.md", run)
    put(vault, "journal/api/project.md", "---\nkind: project\ntitle: api\n---\n\nx\n")

    made = commit.commit(config).commits

    assert sorted((one.session, one.files) for one in made) == [("", 1), (SESSION, 7)]


def test_a_person_who_looked_may_accept_a_held_back_note(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/keys.md", f"token {SECRET}\n")

    result = commit.commit(config, accept=["notes/keys.md"])

    assert result.held_back == []
    assert "notes/keys.md" in head_files(vault)
    assert SECRET not in git(vault, "log", "--format=%B")


def test_a_secret_in_a_title_does_not_reach_the_message(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/keys.md", f"---\ntitle: use {SECRET}\n---\n\nbody\n")

    commit.commit(config, accept=["notes/keys.md"])

    assert SECRET not in git(vault, "log", "--format=%B")


def test_a_vault_without_a_repository_is_told_what_to_do(vault: Path) -> None:
    from mdmem import config

    with pytest.raises(VaultError, match="mdmem init"):
        commit.commit(config.load(str(vault)))


def test_no_branch_checked_out_is_told_what_to_do(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)
    commit.commit(config)
    git(vault, "checkout", "-q", "HEAD~1")
    git(vault, "checkout", "-q", "main~0")  # now `git switch -` would lead to a commit
    put(vault, "notes/a.md", "one\n")

    with pytest.raises(GitError, match=r"switch main$"):
        commit.commit(config)


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick", "revert", "am", "series", "series of reverts"])
def test_what_a_person_has_begun_with_git_is_left_to_them(vault: Path, command: str) -> None:
    """The commands that the message names do what they say."""
    config = start(vault)
    put(vault, "notes/a.md", "one\n")
    commit.commit(config)
    git(vault, "switch", "-q", "-c", "side")
    for text in ("side\n", "further\n"):
        put(vault, "notes/a.md", text)
        commit.commit(config)
    git(vault, "switch", "-q", "main")
    put(vault, "notes/a.md", "main\n")
    commit.commit(config)
    begun = {
        "revert": ("revert", "HEAD~1"),
        "am": ("am", "-q", git(vault, "format-patch", "-1", "-o", str(vault.parent), "side").strip()),
        "series": ("cherry-pick", "side~1", "side"),
        "series of reverts": ("revert", "HEAD~1", "HEAD"),
    }
    git(vault, "config", "user.name", "Ada")
    git(vault, "config", "user.email", "ada@example.org")
    git(vault, *begun.get(command, (command, "side")), check=False)
    if command.startswith("series"):
        put(vault, "notes/a.md", "resolved\n")
        git(vault, "commit", "-q", "-a", "-m", "The first, resolved")  # the rest is to come
    put(vault, "notes/b.md", "meanwhile\n")
    before = git(vault, "log", "--format=%H")

    with pytest.raises(BusyError, match="is in progress") as caught:
        commit.commit(config)
    (abort,) = re.findall(r"abort it with `(.+?)`", str(caught.value))
    assert git(vault, "log", "--format=%H") == before
    subprocess.run(shlex.split(abort), capture_output=True, check=True)
    commit.commit(config)
    assert git(vault, "show", "HEAD:notes/b.md") == "meanwhile\n"


def test_a_bisect_is_left_to_its_person(vault: Path) -> None:
    config = start(vault)
    for text in ("one\n", "two\n", "three\n", "four\n"):
        put(vault, "notes/a.md", text)
        commit.commit(config)
    git(vault, "bisect", "start", "HEAD", "HEAD~3")
    put(vault, "notes/b.md", "meanwhile\n")

    with pytest.raises(GitError, match="bisect is in progress") as caught:
        commit.commit(config)
    subprocess.run(shlex.split(str(caught.value).rpartition(": ")[2]), capture_output=True, check=True)
    commit.commit(config)
    assert git(vault, "show", "main:notes/b.md") == "meanwhile\n"


@pytest.mark.parametrize("words", [("commit",), ("commit", "--quiet"), ("sync",)])
def test_a_persons_merge_can_be_aborted_after_a_commit_that_waits_for_it(
    vault: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    run_here("init", str(vault), check=True)
    git(vault, "remote", "add", "origin", str(make_remote(tmp_path / "remote.git")))
    run_here("commit", check=True)
    git(vault, "switch", "-q", "-c", "side")
    put(vault, "notes/a.md", "side\n")
    run_here("note", "Of the side", check=True)
    run_here("commit", check=True)
    git(vault, "switch", "-q", "main")
    put(vault, "notes/a.md", "main\n")
    run_here("commit", check=True)
    git(vault, "merge", "-q", "side", check=False)
    turn(vault)

    assert run_here(*words).returncode == 6
    git(vault, "merge", "--abort")
    assert git(vault, "status", "--porcelain", "-uno") == ""


@pytest.mark.slow
def test_where_the_index_and_all_notes_are_missing_nothing_is_committed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, "notes/a.md", "x\n")
    commit.commit(config)
    head = git(vault, "rev-parse", "HEAD")
    (vault / ".git" / "index").unlink()
    shutil.rmtree(vault / "journal")
    shutil.rmtree(vault / "notes")
    (vault / "README.md").unlink(missing_ok=True)

    with pytest.raises(VaultError, match=r"checkout HEAD -- \.` restores them"):
        commit.commit(config)

    assert git(vault, "rev-parse", "HEAD") == head
    git(vault, "checkout", "HEAD", "--", ".")
    commit.commit(config)
    assert (vault / "notes/a.md").read_text() == "x\n"
    assert git(vault, "status", "--porcelain") == ""


def test_another_gits_index_lock_delays_no_commit_and_is_left_alone(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)
    foreign = vault / ".git" / "index.lock"
    foreign.write_text("")

    made = commit.commit(config).commits

    assert len(made) == 1
    assert foreign.exists()
    foreign.unlink()
    turn(vault, 2)
    commit.commit(config)
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_an_index_that_cannot_be_put_in_place_leaves_no_lock(
    vault: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    config = start(vault)
    turn(vault)

    lock = vault / ".git/index.lock"
    replace = Path.replace

    def full(path: Path, *target: Path) -> Any:
        if target and path != lock:
            return replace(path, *target)
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        if links:
            patch.setattr(Path, "replace", full)
        else:
            patch.setattr(Path, "hardlink_to", lambda *_: full(lock))
            read = Path.read_bytes
            patch.setattr(Path, "read_bytes", lambda path: full(path) if git_index.PREFIX in path.name else read(path))
        commit.commit(config)
    assert not lock.exists()

    commit.commit(config)
    assert git(vault, "status", "--porcelain") == ""


def test_an_index_lock_that_a_killed_mdmem_left_is_known_by_its_other_name_and_removed(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    left = vault / ".git" / f"{git_index.PREFIX}0123456789ab"
    left.write_bytes(b"half an index")
    (vault / ".git" / "index.lock").hardlink_to(left)
    turn(vault)

    commit.commit(config)

    assert git(vault, "status", "--porcelain") == ""
    assert not left.exists()


def test_the_lock_of_mdmems_own_ref_that_a_killed_git_left_stops_no_commit(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)
    ours = put(vault, ".git/refs/mdmem/pending.lock", "")
    packed = put(vault, ".git/packed-refs.lock", "")

    commit.commit(config)

    assert git(vault, "status", "--porcelain") == ""
    assert not ours.exists()
    assert not packed.exists()


def test_the_lock_of_the_packed_refs_that_another_git_has_is_neither_removed_nor_waited_for(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    turn(vault)
    packed = put(vault, ".git/packed-refs.lock", "")
    patient = [setting.replace("Timeout=10000", "Timeout=600000") for setting in environment.OVERRULED]
    monkeypatch.setattr(repository, "OVERRULED", tuple(patient))

    started = time.monotonic()
    commit.commit(config)

    assert time.monotonic() - started < 600
    assert git(vault, "status", "--porcelain") == ""
    assert packed.exists()
    packed.unlink()
    turn(vault, 2)
    commit.commit(config)
    assert "refs/mdmem/pending" not in git(vault, "for-each-ref")


@pytest.mark.parametrize("words", ["chunk-vf7k2xq9-b41ux0m-js", "utf8x0060q-2m4x9-py"])
def test_a_page_that_lists_a_name_made_of_letters_digits_and_an_id_is_committed(vault: Path, words: str) -> None:
    config = start(vault)
    turn(vault)
    title = f"Edit {words.replace('-', '.')} (+1 -1)"
    line = f"   - [{title}](001-002-edit-{words}-374k7xscck.md)\n<!-- mdmem:end -->"
    page = vault / PAGE
    page.write_text(page.read_text().replace("<!-- mdmem:end -->", line))

    assert commit.commit(config).held_back == []

    page.write_text(page.read_text().replace("-374k7xscck.md)", "-374k7xscck.md?key=wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8d)"))
    assert len(commit.commit(config).held_back) == 1


@pytest.mark.slow
def test_a_persons_commit_in_between_is_kept(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)
    real = writer.prepare
    raced: list[bool] = []

    def slow(*args: object) -> object:
        if not raced:
            raced.append(True)
            put(vault, "by-hand.txt", "x\n")
            git(vault, "add", "by-hand.txt")
            git(vault, "commit", "-q", "-m", "in between", "--", "by-hand.txt")
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "prepare", slow)

    commit.commit(config)

    subjects = git(vault, "log", "--format=%s").splitlines()
    assert subjects[1] == "in between"
    assert subjects[0].startswith("acme-notes-app: Why does it fail")
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize("only", few([[], ["--", "by-hand.txt"]], always=[[]]), ids=["index", "paths"])
@pytest.mark.parametrize("step", ["prepare", "update", "publish", "move"])
def test_a_persons_commit_at_any_step_takes_no_note_back(
    vault: Path, monkeypatch: pytest.MonkeyPatch, step: str, only: list[str]
) -> None:
    config = start(vault)
    commit.commit(config)
    turn(vault)
    put(vault, "by-hand.txt", "x\n")
    git(vault, "add", "by-hand.txt")
    module: Any = writer if step in ("prepare", "move") else git_index
    real = getattr(module, step)
    raced: list[str] = []

    def late(*args: object) -> object:
        if not raced:
            raced.append(git(vault, "commit", "-q", "-m", "in between", *only))
        return real(*args)

    monkeypatch.setattr(module, step, late)

    commit.commit(config)

    assert raced and len(head_files(vault)) == 1 + 1 + 5
    assert git(vault, "log", "--diff-filter=D", "--format=%s") == ""
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_person_and_mdmem_commit_at_the_same_time_and_neither_loses(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)

    def says(*words: str) -> None:
        """Run git again when it met another git: it does not wait for a lock, a person does."""
        for _ in range(3_000):
            with suppress(subprocess.CalledProcessError):
                git(vault, *words)
                return
            time.sleep(0.02)
        raise AssertionError(words)

    def person() -> None:
        for number in range(8):
            put(vault, f"code/{number}.py", "x\n")
            says("add", "code")
            says("commit", "-q", "-m", f"by hand {number}")

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(person)
        for number in range(8):
            turn(vault, session=f"s{number}", folder=FOLDER.replace("0800", f"{number:04d}"))
            commit.commit(config)
        working.result()

    assert len(head_files(vault)) == 1 + 8 + 8 * 5
    added = git(vault, "log", "--diff-filter=A", "--name-only", "--format=").split()
    assert len(added) == len(set(added)) == len(head_files(vault))
    assert git(vault, "log", "--diff-filter=D", "--format=%s") == ""
    assert git(vault, "status", "--porcelain") == ""


def test_committers_queue_and_give_up_with_a_sentence(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = start(vault)
    turn(vault)

    with lock.held(config.state_dir, vault / ".git"), pytest.raises(BusyError, match="Nothing is lost"):
        monkeypatch.setattr(lock, "held", partial(lock.held, wait_seconds=0.05))
        commit.commit(config)


def test_a_committer_with_another_state_folder_waits_too_and_its_index_stays(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    turn(vault)
    repo = repository.open_vault(vault)

    with (
        lock.held(tmp_path / "container", repo.common_dir) as lock_fd,
        git_index.read_from(repo, repository.empty_tree(repo), lock_fd) as copy,
    ):
        monkeypatch.setattr(lock, "held", partial(lock.held, wait_seconds=0.05))
        with pytest.raises(BusyError, match="Nothing is lost"):
            commit.commit(config)
        assert copy.path.exists()

    assert commit.commit(config).commits


def test_a_committer_waits_for_both_of_its_locks_no_longer_than_for_one(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    now, waits = 0.0, list[float]()

    def locked(_lock_fd: int, wait_seconds: float, _what: str) -> bool:
        nonlocal now
        waits.append(wait_seconds)
        now += 40
        return True

    monkeypatch.setattr(lock, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("mdmem.files.lock", locked)
    with lock.held(config.state_dir, vault / ".git"):
        assert waits == [60, 20]


@rights.kept_out
def test_a_lock_that_another_user_has_made_in_the_git_folder_can_be_held_too(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = start(vault)
    turn(vault)
    with monkeypatch.context() as other_user:
        seen = SimpleNamespace(own=lambda _: False, lock=system.lock)
        other_user.setattr(lock, "system", seen)
        commit.commit(config)
    (lock_file,) = (vault / ".git").glob("mdmem.*-lock")
    assert lock_file.stat().st_mode & 0o444 == 0o444
    lock_file.chmod(0o444)  # as it is for those who are not its owner
    turn(vault, 2)

    with rights.of_a_user():
        assert commit.commit(config).commits


COMMITTER = """
import sys
from mdmem import config
from mdmem.history import commit
commit.commit(config.load(sys.argv[1]))
"""


def committer(vault: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMITTER, str(vault)], stderr=subprocess.PIPE, start_new_session=True
    )


@pytest.mark.slow
def test_concurrent_committers_commit_every_note_once(vault: Path) -> None:
    start(vault)

    def work(number: int) -> int:
        turn(vault, session=f"s{number}", folder=FOLDER.replace("0800", f"08{number:02d}"))
        process = committer(vault)
        _, err = process.communicate()
        assert err == b""
        return process.returncode

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [0] * 6

    assert len(head_files(vault)) == 31
    added = git(vault, "log", "--diff-filter=A", "--name-only", "--format=").split()
    assert len(added) == len(set(added)) == 31
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "fsck", "--strict") == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the children of a process are found in /proc")
def test_a_committer_killed_at_any_point_loses_nothing_and_the_next_one_works(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    rounds = 8 * SOAK
    chance = random.Random(7)
    with forker(vault, "from mdmem.history import commit; run = commit.commit") as server:
        for number in range(rounds):
            turn(vault, 1, session=f"k{number}", folder=FOLDER.replace("0800", f"{number:04d}"))
            run_and_kill(server, chance.uniform(0, 0.08), with_git=bool(number % 2))
            if number % 4 == 3:
                commit.commit(config)
                assert git(vault, "status", "--porcelain") == ""

    commit.commit(config)

    assert len(head_files(vault)) == 5 * rounds + 1
    added = git(vault, "log", "--diff-filter=A", "--name-only", "--format=").split()
    assert len(added) == len(set(added)) == 5 * rounds + 1
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
    names = [path.name for path in (vault / ".git").iterdir()]
    assert [name for name in names if name.startswith("mdmem-") or name.endswith(".lock")] == []


def test_a_note_that_gits_cache_of_untracked_files_lacks_is_committed(vault: Path) -> None:
    config = start(vault)
    put(vault, "notes/one.md", "one\n")
    commit.commit(config)
    git(vault, "config", "core.trustctime", "false")
    git(vault, "-c", "core.untrackedCache=true", "update-index", "--force-untracked-cache")
    for folder in (vault, vault / "notes"):
        os.utime(folder, (1e9, 1e9))
    listing = ("-c", "core.excludesFile=/dev/null", "-c", "status.showUntrackedFiles=all", "status", "--porcelain")
    git(vault, *listing, "--untracked-files=all")

    put(vault, "notes/two.md", "two\n")
    os.utime(vault / "notes", (1e9, 1e9))
    commit.commit(config)

    assert "notes/two.md" in git(vault, "ls-files")


@pytest.mark.parametrize("own", [None, "2"])
def test_a_large_index_is_kept_in_gits_short_format_and_what_is_staged_stays(vault: Path, own: str | None) -> None:
    config = start(vault)
    if own:
        git(vault, "config", "index.version", own)
    put(vault, "notes/one.md", "one\n")
    commit.commit(config)
    blob = git(vault, "rev-parse", "HEAD:notes/one.md").strip()
    lines = "".join(f"100644 {blob}\tstaged/{'folder-' * 30}/{number}.md\n" for number in range(18_000))
    subprocess.run(["git", "-C", vault, "update-index", "--index-info"], input=lines, text=True, check=True)
    staged = git(vault, "diff", "--cached", "--name-only")

    put(vault, "notes/two.md", "two\n")
    commit.commit(config)
    put(vault, "notes/two.md", "three\n")
    commit.commit(config)

    index = (vault / ".git" / "index").read_bytes()
    assert index[4:8] == (b"\0\0\0\2" if own else b"\0\0\0\4")
    assert git(vault, "diff", "--cached", "--name-only") == staged
    assert git(vault, "diff", "--name-only", "--", "notes") == ""
    assert git(vault, "show", "HEAD:notes/two.md") == "three\n"
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
