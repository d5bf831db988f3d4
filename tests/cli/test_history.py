"""History as a person types it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.config import Config
from mdmem.history.git import repository
from mdmem.search.index import completion, update_process
from mdmem.vault.journal import session_tag
from tests.conftest import session_pages
from tests.helpers.history_vault import FOLDER, SESSION, captured, git, head_files, put, run_here, turn
from tests.helpers.plain_git import make_remote
from tests.helpers.talk import Talk

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def mdmem() -> Run:
    return run_here


@pytest.fixture
def kept(vault: Path) -> Path:
    """A vault with a repository and one session, nothing committed."""
    repository.init(vault)
    turn(vault)
    return vault


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_commit_says_what_it_did_and_then_that_there_is_nothing() -> None:
    words = [sys.executable, "-m", "mdmem", "commit"]
    first, second = (subprocess.run(words, capture_output=True, text=True, check=True).stdout for _ in range(2))

    assert "acme-notes-app: Why does it fail, take 1? (1 prompt, 2 tool runs, 1 answer)" in first
    assert second == "Nothing to commit.\n"


@pytest.mark.usefixtures("kept")
def test_a_commit_without_changes_loads_only_what_it_needs_to_see_that() -> None:
    code = "import sys, mdmem.cli\ntry: mdmem.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    slow = {"git.repo", "yaml", "whoosh", "mdmem.views.vault_pages.making", "mdmem.learn"}
    for _ in range(9):  # the first ones make pages and commit them, on a slow machine with a pause between
        done = subprocess.run([sys.executable, "-c", code, "commit"], capture_output=True, text=True, check=True)
        loaded = set(done.stderr.split())
        if slow.isdisjoint(loaded):
            break

    assert done.stdout == "Nothing to commit.\n"
    assert {"git.cmd", "mdmem.views.vault_pages.upkeep"} <= loaded
    assert slow.isdisjoint(loaded)


@pytest.mark.usefixtures("kept")
def test_a_sync_loads_nothing_that_only_an_installation_needs() -> None:
    code = "import sys, mdmem.cli\ntry: mdmem.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, "sync"], capture_output=True, text=True, check=False)

    assert "The vault has no remote" in done.stderr
    assert {"mdmem.history.sync", "mdmem.history.purging.purge"} <= set(done.stderr.split())
    assert {"importlib.metadata", "mdmem.agents.install.catalog"}.isdisjoint(done.stderr.split())


@pytest.mark.slow
def test_commit_is_quiet_when_told_and_ends_with_1_when_something_was_held_back(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/a.md", "<private>x</private>\n")

    quiet = mdmem("commit", "--quiet")
    loud = mdmem("commit")
    accepted = mdmem("commit", "--json", "--accept", "notes/a.md", check=True)

    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")
    assert loud.returncode == 1
    assert "notes/a.md:1 holds private text" in loud.stderr
    assert json.loads(accepted.stdout)["commits"][0]["files"] == 1


def test_commit_takes_the_session_that_the_name_in_the_list_of_sessions_means(mdmem: Run, kept: Path) -> None:
    turn(kept, session="other", folder=FOLDER.replace("0800", "0900"))

    unknown = mdmem("commit", "--session", "nosuch")
    done = mdmem("commit", "--session", SESSION[:8], "--json", check=True)

    assert unknown.returncode == 5
    assert "There is no session 'nosuch'" in unknown.stderr
    assert [one["session"] for one in json.loads(done.stdout)["commits"]] == [SESSION]
    assert mdmem("commit", "--session", SESSION, check=True).stdout == "Nothing to commit.\n"


def test_commit_without_a_repository_ends_with_4(mdmem: Run, vault: Path) -> None:
    done = mdmem("commit")

    assert done.returncode == 4
    assert "mdmem init" in done.stderr


@pytest.mark.usefixtures("kept")
def test_the_list_of_commits_says_that_there_are_more(mdmem: Run) -> None:
    mdmem("commit", check=True)
    every = json.loads(mdmem("log", "--stat", "--json").stdout)

    first, later = mdmem("log", "--stat", "-n", "1"), mdmem("log", "--stat", "--json", "--offset", "1")

    assert first.stderr == "1 of more than 1 commit; --limit 0 shows all, --offset 1 the next ones\n"
    assert json.loads(later.stdout) == every[1:]
    assert mdmem("log", "--stat", "--offset", "99").stderr == "--offset 99 skips all commits that match.\n"


def test_log_is_a_journal_lines_json_or_commits(mdmem: Run, kept: Path) -> None:
    mdmem("commit", check=True)

    journal = mdmem("log", check=True).stdout
    lines = mdmem("log", "--oneline", "--project", "acme-notes-app", check=True).stdout
    objects = json.loads(mdmem("log", "--json", "-n", "1", check=True).stdout)
    stats = mdmem("log", "--stat", check=True).stdout

    assert journal.split()[:2] == ["2026-09-14", "08:00"]
    assert "→ Fixed; 12 tests pass" in journal
    assert lines == "2026-09-14 08:00 00893aaf acme-notes-app: Why does the parser fail\n"
    assert objects[0]["asks"] == ["Why does it fail, take 1?"]
    assert "+6" in stats
    assert mdmem("log", "--since", "soonish").returncode == 2


@pytest.mark.slow
def test_commits_are_narrowed_by_project_session_file_and_time_in_any_zone(
    mdmem: Run, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # 14 hours before UTC: a day ahead of it
    time.tzset()
    try:
        mdmem("commit", check=True)
        counts = [
            mdmem("log", "--stat", *words, check=True).stdout.count("\n")
            for words in (("--project", "acme-notes-app"), ("--project", "other"), ("--session", SESSION[:6]), ())
        ]
        assert counts == [1, 0, 1, 2]
        assert mdmem("log", "--stat", "--since", "1h", check=True).stdout.count("\n") in (1, 2)  # its notes are older
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.slow
def test_the_past_is_named_in_words_too(mdmem: Run, kept: Path) -> None:
    put(kept, f"{FOLDER}/001-004-observation-read-7qk2mz4xab.md", "Read the plan\n")
    mdmem("commit", check=True)
    assert mdmem("diff", check=True).stderr == "Nothing has changed.\n"
    path = next((kept / FOLDER).glob("001-003*")).relative_to(kept).as_posix()

    assert "Fixed; 12 tests pass" in mdmem("show", path, "--at", "today", check=True).stdout
    assert "Read the plan" in mdmem("show", "7qk2mz", "--at", "today", check=True).stdout
    assert "Fixed; 12 tests pass" in mdmem("search", "--at", "today", "fixed", check=True).stdout
    assert mdmem("diff", "today", check=True).stdout == ""
    assert "no commit from before" in mdmem("diff", "2001-01-01..today").stderr
    assert "no commit from before" in mdmem("show", path, "--at", "2001-01-01").stderr


def test_stored_text_cannot_steer_the_terminal(mdmem: Run, kept: Path) -> None:
    captured(kept, "002-000-prompt-x", "prompt", '"clear \\u001b[2J screen"', prompt="2")

    assert "\x1b" not in mdmem("log", check=True).stdout


def test_why_and_diff_show_where_a_line_came_from_and_what_changed(mdmem: Run, kept: Path) -> None:
    mdmem("commit", check=True)
    path = next((kept / FOLDER).glob("001-003*")).relative_to(kept).as_posix()
    put(kept, "notes/new.md", "something new\n")

    shown = mdmem("why", f"{path}:11", check=True).stdout
    as_object = json.loads(mdmem("why", path, "--json", check=True).stdout)
    changed = mdmem("diff", check=True).stdout
    patches = json.loads(mdmem("diff", "--json", check=True).stdout)

    assert SESSION in shown
    assert "Fixed; 12 tests pass" in shown
    assert as_object["steps"][0]["session"] == SESSION
    assert "+something new" in changed
    assert [one["path"] for one in patches] == ["notes/new.md"]
    assert "".join(one["patch"] for one in patches) == changed


def test_diff_of_a_file_takes_its_path_alone_and_from_the_current_folder(
    mdmem: Run, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kept, "notes/plan.md", "first\n")
    mdmem("commit", check=True)
    put(kept, "notes/plan.md", "second\n")
    put(kept, "notes/other.md", "something else\n")

    whole = mdmem("diff", "notes/plan.md", check=True).stdout
    monkeypatch.chdir(kept / "notes")

    assert "+second" in whole
    assert "something else" not in whole
    assert mdmem("diff", "./plan.md", check=True).stdout == whole
    assert mdmem("diff", "HEAD", "plan.md", check=True).stdout == whole
    assert mdmem("diff", "HEAD", "absent.md", check=True).stderr == "Nothing has changed in absent.md.\n"


def test_diff_takes_the_id_of_a_note(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/plan.md", "---\nid: plan123456\n---\nfirst\n")
    mdmem("commit", check=True)
    put(kept, "notes/plan.md", "---\nid: plan123456\n---\nsecond\n")
    put(kept, "notes/other.md", "something else\n")

    whole = mdmem("diff", "notes/plan.md", check=True).stdout

    assert "+second" in whole
    assert mdmem("diff", "plan123456", check=True).stdout == whole
    assert mdmem("diff", "HEAD", "[mem:plan123456]", check=True).stdout == whole
    assert "is not a commit, date or time" in mdmem("diff", "plan999999").stderr
    commit_id = git(kept, "rev-parse", "--short=10", "HEAD").strip()
    assert "+something else" in mdmem("diff", commit_id, check=True).stdout


def test_a_session_or_a_folder_in_place_of_a_note_is_answered_with_what_to_do(mdmem: Run, kept: Path) -> None:
    assert f"That is a session: `mdmem history {SESSION[:6]}` reads it." in mdmem("why", SESSION[:6]).stderr
    put(kept, "notes/old/plan.md", "# Plan\n")
    said = mdmem("forget", "notes/old").stderr
    assert "That is a folder: delete it in your file manager or shell, then run `mdmem commit`." in said
    assert "--matching" not in said
    said = mdmem("forget", "notes").stderr
    assert "That is a folder: delete it in your file manager or shell, then run `mdmem commit`." in said
    assert said.endswith("mdmem forget --matching notes\n")


@pytest.mark.parametrize(("command", "told"), [("forget", "forgotten"), ("undo", "changed")])
def test_a_session_is_forgotten_or_undone_by_the_folder_that_sessions_prints(
    mdmem: Run, kept: Path, command: str, told: str
) -> None:
    mdmem("commit", check=True)
    (listed,) = json.loads(mdmem("sessions", "--json", check=True).stdout)

    done = mdmem(command, "--yes", "--json", listed["folder"], check=True).stdout

    assert len(json.loads(done)[told]) > 1
    assert not list((kept / listed["folder"]).glob("*.md"))
    assert "`mdmem undo " in mdmem("forget", "--yes", f"{listed['folder']}/").stderr


@pytest.mark.parametrize("renamed", ["1000-parser", "1000-the-cafe"])
def test_a_session_whose_folder_was_renamed_is_undone_by_that_and_no_other_is(
    mdmem: Run, kept: Path, renamed: str
) -> None:
    other, session = FOLDER.rpartition("/")[0] + "/1200-other-cafe1234", "cafe1234-8a52-4b7e-9c41-5d2e7f90a118"
    captured(kept, "001-000-prompt-other-p9", "prompt", "Other?", session=session, folder=other)
    mdmem("commit", check=True)
    place = (kept / FOLDER).with_name(renamed)
    (kept / FOLDER).rename(place)
    mdmem("commit", check=True)

    done = mdmem("undo", "--yes", str(place.relative_to(kept)), check=True)

    assert "Other" not in done.stdout
    assert not list(place.glob("*.md"))
    assert list(kept.glob("journal/**/*-other-p9.md"))


@pytest.mark.parametrize("name", [".git", "x" * 300, "a\0b"])
def test_what_holds_no_notes_is_not_called_a_folder_to_delete(mdmem: Run, kept: Path, name: str) -> None:
    done = mdmem("forget", name)
    assert done.returncode == 5
    assert "--matching" in done.stderr
    assert "folder" not in done.stderr


def test_a_name_is_called_a_sessions_only_where_history_finds_the_session(mdmem: Run, kept: Path) -> None:
    timed = "019a2b3c-4d5e-7f60-8123-456789abcdef"  # its folder has a hash, as the id does not begin with random digits
    turn(kept, session=timed, folder=f"{Path(FOLDER).parent.as_posix()}/0900-what-{session_tag(timed)}")
    for name in (timed[:8], timed, session_tag(timed)[:6], SESSION[:6], f"{SESSION[:8]}zzz", f"{SESSION[:9]}ffff"):
        is_found = mdmem("history", name).returncode == 0
        assert ("That is a session" in mdmem("why", name).stderr) is is_found, name


def test_a_line_after_the_last_one_is_refused(mdmem: Run, kept: Path) -> None:
    (kept / "two.md").write_text("# Two\nlines\n")
    mdmem("commit")
    assert "line 2" in mdmem("why", "two.md:2").stdout
    done = mdmem("why", "two.md:3")
    assert (done.returncode, "has 2 lines" in done.stderr) == (2, True)
    assert mdmem("why", f"two.md:{'9' * 5000}").returncode == 5
    assert mdmem("why", f"two.md:{'0' * 5000}1").returncode == 5


def test_memories_of_ghosts_are_not_found_in_the_past_unless_asked_for(mdmem: Run, kept: Path) -> None:
    """As in a search of the present."""
    file = kept / "internal" / "ghosts" / "alice" / "one.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: ghost00001\nkind: ghost\ntitle: Zanzibar\n---\n\nzanzibar\n")
    mdmem("commit")
    assert json.loads(mdmem("search", "zanzibar", "--at", "HEAD", "--json").stdout) == []
    (found,) = json.loads(mdmem("search", "zanzibar", "--at", "HEAD", "--kind", "ghost", "--json").stdout)
    assert found["id"] == "ghost00001"


def test_a_text_from_history_is_in_no_file_to_open(mdmem: Run, kept: Path) -> None:
    for option in ("--path", "--open"):
        done = mdmem("show", "README.md", "--at", "HEAD", option)
        assert (done.returncode, "--at" in done.stderr) == (2, True)


@pytest.mark.slow
def test_an_undo_that_leaves_only_what_a_person_changed_says_so(mdmem: Run, kept: Path) -> None:
    mdmem("commit", check=True)
    mine = next((kept / FOLDER).glob("001-003*"))
    mine.write_text(mine.read_text("utf-8") + "\nMy words.\n", "utf-8")
    mdmem("commit", check=True)
    assert re.search(
        r"(?m)^\d files to delete, \d to restore\.$", mdmem("undo", SESSION[:8], "--yes", check=True).stdout
    )

    again = mdmem("undo", SESSION[:8], "--yes", check=True).stdout

    assert "\nNothing of it is left to undo.\n" in again
    assert f"Kept, because you wrote or changed it: {mine.relative_to(kept).as_posix()}\n" in again


def test_the_latest_session_is_undone_by_that_name(mdmem: Run, kept: Path) -> None:
    turn(kept, 2)
    mdmem("commit", check=True)
    put(kept, "notes/mine.md", "# Mine\n")
    mdmem("commit", check=True)

    done = mdmem("undo", "latest", "--yes", check=True).stdout

    assert "files to delete, 0 to restore." in done
    assert not (kept / FOLDER).exists()
    assert (kept / "notes/mine.md").exists()
    none_left = mdmem("undo", "latest", "--yes")
    assert (none_left.returncode, "The vault has no session yet." in none_left.stderr) == (5, True)


def test_an_undo_calls_no_page_kept_that_was_deleted_by_hand(mdmem: Run, kept: Path) -> None:
    for number in (2, 3):
        turn(kept, number)
        mdmem("commit", check=True)
    (kept / FOLDER / f"{Path(FOLDER).name}.md").unlink()

    done = mdmem("undo", SESSION[:8], "--yes", check=True).stdout

    assert "12 files to delete, 0 to restore." in done
    assert "Kept" not in done
    assert "Not restored" not in done
    assert not (kept / FOLDER).exists()


def test_an_undo_does_not_restore_a_changed_note_that_was_deleted_since(mdmem: Run, kept: Path) -> None:
    for text in ("one", "two"):
        put(kept, "notes/plan.md", f"# Plan\n\n{text}\n")
        mdmem("commit", check=True)
    commit = git(kept, "rev-parse", "HEAD").strip()
    (kept / "notes/plan.md").unlink()

    done = mdmem("undo", commit, "--yes", check=True).stdout

    assert "Nothing of it is left to undo.\nNot restored, because it was deleted: notes/plan.md\n" in done


@pytest.mark.slow
def test_undo_and_forget_ask_before_they_act(mdmem: Run, kept: Path) -> None:
    mdmem("commit", check=True)

    asked = mdmem("undo", SESSION[:8], input="n\n")
    assert (asked.returncode, asked.stderr) == (1, "Nothing was changed.\n")
    unasked = mdmem("undo", SESSION[:8], input="")
    assert (unasked.returncode, "--yes" in unasked.stderr) == (2, True)
    assert (kept / FOLDER).exists()

    mdmem("undo", SESSION[:8], "--yes", check=True)
    assert not (kept / FOLDER).exists()
    mdmem("undo", "HEAD", "--yes", check=True)
    forgotten = mdmem("forget", SESSION[:8], "--yes", check=True)

    assert "Forget 5 notes" in forgotten.stdout
    assert not (kept / FOLDER).exists()
    undoing = re.search(r"`mdmem (undo \w+)` brings them back", forgotten.stdout)
    assert undoing
    mdmem(*undoing[1].split(), "--yes", check=True)
    assert (kept / FOLDER).exists()
    assert mdmem("forget").returncode == 2
    assert "--matching 'the falcon'" in mdmem("forget", "the falcon").stderr


def test_a_forget_whose_git_fails_at_the_end_says_what_is_done_and_what_is_not(
    mdmem: Run, kept: Path, tmp_path: Path
) -> None:
    mdmem("commit", check=True)
    (note,) = kept.glob(f"{FOLDER}/001-001-*.md")
    path = str(note.relative_to(kept))
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    works = f"[ -e {shlex.quote(str(note))} ]"
    git.write_text(f'#!/bin/sh\n{works} || {{ echo "fatal: no" >&2; exit 128; }}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    env = {"PATH": f"{git.parent}:{os.environ['PATH']}"}

    failed = mdmem("forget", path, "--yes", env=env)
    again = mdmem("forget", path, "--yes")
    mdmem("commit", check=True)
    later = mdmem("forget", path, "--yes")

    assert failed.returncode == 7
    assert "1 file is changed or deleted already" in failed.stderr
    assert "`mdmem commit` completes it" in failed.stderr
    assert again.returncode == 5
    assert "Its file is deleted, but that is not committed: `mdmem commit` completes it." in again.stderr
    assert "`mdmem undo " in later.stderr
    assert not note.exists()


def test_a_note_that_a_sync_program_keeps_elsewhere_is_named_with_its_file(mdmem: Run, kept: Path) -> None:
    note = put(kept, "notes/plan-7m2x4kd9qp.md", "---\nid: 7m2x4kd9qp\n---\n\nThe plan.\n")
    mdmem("commit", check=True)
    note.rename(note.with_name(f".{note.name}.icloud"))

    for command in (("show",), ("forget", "--yes"), ("pin",)):
        assert f"Its file notes/{note.name} is not on this machine" in mdmem(*command, "7m2x4kd9qp").stderr


def test_a_forget_of_several_that_was_killed_in_between_is_repeated_and_deletes_the_rest(
    mdmem: Run, kept: Path
) -> None:
    notes = [put(kept, f"notes/{name}.md", f"The {name} is blue.\n") for name in ("door", "roof")]
    paths = [str(note.relative_to(kept)) for note in notes]
    mdmem("commit", check=True)
    notes[0].unlink()  # what a killed run has done

    again = mdmem("forget", *paths, "--yes", check=True)

    assert "Its file is deleted, but that is not committed: `mdmem commit` completes it." in again.stderr
    assert "Forget 1 note" in again.stdout
    assert not notes[1].exists()
    assert mdmem("forget", "notes/door.md", "no-such-note", "--yes").returncode == 5
    assert mdmem("forget", *paths, "--yes").returncode == 5


def test_a_forget_of_a_session_that_was_killed_before_its_commit_says_when_repeated_what_completes_it(
    mdmem: Run, kept: Path
) -> None:
    mdmem("commit", check=True)
    shutil.rmtree(kept / FOLDER)  # what a killed run has done

    for name in (SESSION, SESSION[:8]):
        again = mdmem("forget", name, "--yes")
        assert again.returncode == 5
        assert "The notes of the session 00893aaf are deleted, but that is not committed" in again.stderr
        assert "`mdmem commit` completes it." in again.stderr
    mdmem("commit", check=True)
    later = mdmem("forget", SESSION[:8], "--yes")

    assert later.returncode == 5
    assert "The session 00893aaf was deleted on " in later.stderr


def test_programs_get_the_times_of_commits_in_the_form_of_all_others(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/phone.md", "The on-call phone is in the blue cabinet.\n")
    mdmem("commit", check=True, env={"TZ": "Asia/Kolkata"})

    steps = json.loads(mdmem("why", "notes/phone.md:1", "--json", check=True).stdout)
    stat = json.loads(mdmem("log", "--stat", "--json", check=True).stdout)

    for commit in (*steps["steps"], steps["line_commit"], *stat):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", commit["time"])


def test_a_note_without_an_id_of_its_own_is_explained_and_forgotten_by_the_one_that_search_shows(
    mdmem: Run, kept: Path
) -> None:
    put(kept, "notes/phone.md", "The on-call phone is in the blue cabinet.\n")
    mdmem("commit", check=True)
    (hit,) = json.loads(mdmem("search", "cabinet", "--json", check=True).stdout)

    assert "notes/phone.md" in mdmem("why", f"[mem:{hit['id']}]", check=True).stdout
    mdmem("forget", hit["id"], "--yes", check=True)

    assert not (kept / "notes/phone.md").exists()


@pytest.mark.slow
def test_forgetting_a_note_that_history_cannot_hold_says_that_it_goes_for_good(mdmem: Run, kept: Path) -> None:
    plain, secret = kept / "notes/plain.md", kept / "notes/secret.md"
    plain.parent.mkdir(exist_ok=True)
    plain.write_text("never committed\n")
    secret.write_text("shown <private>never committed</private>\n")

    asked = mdmem("forget", "notes/plain.md", "notes/secret.md", input="y\nn\n")
    assert "notes/secret.md is not in history" in asked.stdout
    assert secret.exists()

    forgotten = mdmem("forget", "notes/plain.md", "--yes", check=True).stdout
    assert not plain.exists()
    mdmem("undo", forgotten.partition("`mdmem undo ")[2].partition("`")[0], "--yes", check=True)
    assert plain.read_text() == "never committed\n"


@pytest.mark.slow
def test_what_is_forgotten_leaves_its_sessions_page_as_well(mdmem: Run, vault: Path, tmp_path: Path) -> None:
    repository.init(vault)
    talk = Talk(vault, tmp_path / "app")
    for prompt in ("Embarrassing things about falcons", "Why does the parser fail?", "continue"):
        talk.says(prompt)
        talk.answers("Done.")
    mdmem("commit", check=True)
    (page,) = session_pages(vault)
    (first,) = page.parent.glob("001-000*")

    mdmem("forget", str(first), "--yes", check=True)

    assert "falcons" not in page.read_text()
    assert "title: Why does the parser fail?\n" in page.read_text()
    assert "\n# Why does the parser fail?\n" in page.read_text()
    assert "things about falcons" not in mdmem("search", "falcons").stdout
    assert git(vault, "status", "--porcelain") == ""
    mdmem("review", "--kind", "prompt", input="d\nk\n", check=True)
    assert "1. [continue]" not in page.read_text()
    assert "parser fail" not in page.read_text()
    mdmem("forget", "--until", "2027-01-01", "--yes", check=True)
    assert not session_pages(vault)


@pytest.mark.slow
def test_a_page_with_a_persons_words_outlives_its_notes(mdmem: Run, vault: Path, tmp_path: Path) -> None:
    repository.init(vault)
    Talk(vault, tmp_path / "app").says("Why does the parser fail?")
    (page,) = session_pages(vault)
    page.write_text(page.read_text() + "\nWhat I learned: nothing.\n")

    mdmem("forget", "--matching", "why does the parser", "--yes", check=True)

    assert page.read_text().endswith("What I learned: nothing.\n")
    assert "parser" not in page.read_text()


@pytest.mark.slow
def test_diff_as_json_names_a_file_that_moved_or_went_or_has_spaces(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/a b.md", "one\n" * 20)
    put(kept, "notes/Zürich.md", "rename to notes/other.md\n")
    mdmem("commit", check=True)
    (kept / "notes/a b.md").rename(kept / "notes/c d.md")
    (kept / "notes/Zürich.md").unlink()
    put(kept, "notes/b/e f.md", "")
    mdmem("commit", check=True)

    patches = json.loads(mdmem("diff", "HEAD~1..HEAD", "--json", check=True).stdout)

    assert {one["path"] for one in patches} == {"notes/c d.md", "notes/Zürich.md", "notes/b/e f.md"}


def test_purge_lists_a_renamed_folder_once(mdmem: Run, kept: Path) -> None:
    put(kept, "journal/falcon/day/1.md", "x\n")
    put(kept, "journal/falcon/day/2-falcon.md", "x\n")

    lines = mdmem("purge", "falcon", check=True).stdout.splitlines()

    assert [line for line in lines if line.startswith("rename")] == [
        "rename  journal/falcon → redacted",
        "rename  journal/falcon/day/2-falcon.md → 2-redacted.md",
    ]


def test_purge_shows_first_and_proves_afterwards(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/a.md", "the Falcon project\n")
    mdmem("commit", check=True)

    shown = mdmem("purge", "Falcon", check=True).stdout
    assert mdmem("purge", "Falcon", "--yes").returncode == 1
    for words in (["--apply"], ["--apply", "--yes"]):
        nowhere = mdmem("purge", "Condor", *words, check=True).stdout
        assert nowhere.splitlines()[-1] == "Found nowhere: there is nothing to purge."
        assert "Proof" not in nowhere
        assert "ther machines" not in nowhere
    done = mdmem("purge", "Falcon", "--apply", "--yes", check=True).stdout

    assert "Nothing was changed" in shown
    assert "there is nothing to purge." in mdmem("purge", "Falcon", check=True).stdout
    assert "none contains it" in done
    assert "Falcon" not in git(kept, "log", "-p")


@pytest.mark.slow
def test_sync_clone_export_and_backup_carry_memory_elsewhere(mdmem: Run, kept: Path, tmp_path: Path) -> None:
    git(kept, "remote", "add", "origin", str(make_remote(tmp_path / "remote")))

    told = mdmem("sync", check=True).stdout
    assert told == "Received 0 files from origin, sent 2 commits to its branch main.\n"
    mdmem("clone", str(tmp_path / "remote"), str(tmp_path / "second"), check=True)
    backup = json.loads(
        mdmem("--vault", str(tmp_path / "second"), "backup", str(tmp_path / "b.bundle"), "--json", check=True).stdout
    )
    exported = mdmem("export", str(tmp_path / "all.zip"), check=True).stdout

    assert head_files(tmp_path / "second") == head_files(kept)
    assert (tmp_path / "b.bundle").stat().st_mode & 0o777 == 0o600
    assert backup == {"path": str(tmp_path / "b.bundle"), "bytes": (tmp_path / "b.bundle").stat().st_size,
                      "commits": 2, "missing": []}  # fmt: skip
    assert exported.startswith("4 notes and 2 pages ")


@pytest.mark.slow
def test_many_received_notes_are_indexed_by_a_process_that_ends_and_stand_on_the_pages(
    mdmem: Run, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(kept, "remote", "add", "origin", str(make_remote(tmp_path / "remote")))
    put(kept, "notes/a.md", "the Falcon project\n")
    mdmem("sync", check=True)
    second = tmp_path / "second"
    mdmem("init", str(second), check=True)
    git(second, "remote", "add", "origin", str(tmp_path / "remote"))
    monkeypatch.setattr(update_process, "MANY_PATHS", 2)
    monkeypatch.setattr(update_process, "MANY_NOTES", 2)
    indexed: list[bool] = []

    def run(config: Config) -> bool:
        indexed.append(completion_run(config))
        return indexed[-1]

    completion_run = completion.run
    monkeypatch.setattr(completion, "run", run)

    mdmem("--vault", str(second), "sync", check=True)

    assert indexed == [True]
    assert "Falcon" in mdmem("--vault", str(second), "search", "Falcon", check=True).stdout
    assert any("00893aaf" in page.read_text("utf-8") for page in (second / "days").rglob("*.md"))
    assert "acme-notes-app" in (second / "README.md").read_text("utf-8")


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("name", [SESSION, SESSION[:8], FOLDER.rpartition("/")[2]])
def test_a_forgotten_session_that_the_index_had_is_said_to_be_forgotten_by_every_name(
    mdmem: Run, kept: Path, name: str, is_committed: bool
) -> None:
    captured(kept, "001-003-response-fixed-7gk2q9m4x1", "response", "Fixed for good")
    for number in range(1, 9):  # so many that the index only marks the forgotten ones as deleted
        turn(kept, number, session="other", folder=FOLDER.replace("0800", "0900").replace("00893aaf", "0ther000"))
    if is_committed:
        mdmem("commit", check=True)
    mdmem("search", "fail", check=True)
    done = mdmem("forget", SESSION, "--yes", check=True).stdout
    way_back = re.findall(r"`mdmem undo (\w+)`", done)[0]

    gone = mdmem("history", name)

    assert (gone.returncode, gone.stdout) == (5, "")
    assert "The session 00893aaf was forgotten on " in gone.stderr
    assert f"`mdmem undo {way_back}` restores its notes." in gone.stderr


@pytest.mark.parametrize("is_committed", [True, False])
def test_undo_of_a_forgotten_session_names_the_undo_that_restores_it(
    mdmem: Run, kept: Path, is_committed: bool
) -> None:
    if is_committed:
        mdmem("commit", check=True)
    done = mdmem("forget", SESSION, "--yes", check=True).stdout
    way_back = re.findall(r"`mdmem undo (\w+)`", done)[0]

    refused = mdmem("undo", SESSION[:8], "--yes")

    assert (refused.returncode, refused.stdout) == (5, "")
    assert "The session 00893aaf was forgotten on " in refused.stderr
    assert f"`mdmem undo {way_back}` restores its notes." in refused.stderr
    mdmem("undo", way_back, "--yes", check=True)
    assert (kept / FOLDER).exists()


@pytest.mark.slow
@pytest.mark.parametrize("by_hand", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_session_that_was_forgotten_is_said_to_be_so_with_its_time_and_the_way_back(
    mdmem: Run, kept: Path, by_hand: bool
) -> None:
    mdmem("commit", check=True)
    if by_hand:
        shutil.rmtree(kept / FOLDER)
        mdmem("commit", check=True)
    else:
        mdmem("forget", "00893aaf", "--yes", check=True)

    gone = mdmem("history", "00893aaf")

    day = git(kept, "log", "-1", "--date=format:%Y-%m-%d", "--format=%ad").strip()
    said = re.search(rf"00893aaf was (forgotten|deleted) on {day} .*`mdmem (undo [0-9a-f]+)`", gone.stderr)
    assert gone.returncode == 5
    assert said and said[1] == ("deleted" if by_hand else "forgotten")
    assert mdmem("history", "ffffffff").stderr.startswith("mdmem: There is no session 'ffffffff'")
    mdmem(*said[2].split(), "--yes", check=True)
    assert "Why does it fail" in mdmem("history", "00893aaf", check=True).stdout


def test_history_names_the_command_that_resumes_and_log_and_why_the_commits_of_the_code(mdmem: Run, kept: Path) -> None:
    page = "<!-- mdmem:begin -->\n- Commits made: `c0ffee1` Fix dates\n<!-- mdmem:end -->"
    captured(kept, FOLDER.rpartition("/")[2], "session", "Fails", body=page, branch="main", commit="5eed1234")
    more = {
        "branch": "main",
        "commit": "5eed1234",
        "cwd": "~/my app",
        "made_commit": "c0ffee1",
        "commit_subject": "Fix dates",
    }
    captured(kept, "002-001-bash-commit-7gk2q9m4x1", "observation", "git commit", tool="Bash", **more)
    mdmem("commit", check=True)

    history = mdmem("history", "00893aaf", check=True).stdout
    journal = mdmem("log", check=True).stdout
    why = mdmem("why", "7gk2q9m4x1", check=True).stdout

    assert f"resume: cd ~/'my app' && claude --resume {SESSION}\n" in history
    assert "main at 5eed1234" in journal
    assert "committed c0ffee1 Fix dates" in journal
    assert "code  main at 5eed1234" in why
    assert "committed  c0ffee1 Fix dates" in why


def test_a_review_shows_a_session_at_once_with_what_was_asked_and_what_came_of_it(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/mine.md", "---\ncreated: 2026-09-01\n---\n# My own\n\nwords\n")

    listed = mdmem("review", "--list", check=True).stdout
    shown = mdmem("review", input="k\n?\nt\nk\n", check=True).stdout

    assert listed.count("\n") == 3
    assert "  1 prompt, 2 tool runs, 1 answer  Why does it fail, take 1?\n" in listed
    assert re.search(r"(?m)^[0-9a-z]{10} .*  note added +My own$", listed), "a file without an id has one"
    assert "[2/2] Why does it fail, take 1?" in shown
    assert "→ Fixed; 12 tests pass" in shown
    assert "d  drop: delete the session's new notes" in shown
    assert shown.count("pytest -q") == 1  # a tool run is shown when it is asked for
    assert shown.endswith("Review: keep 2\n")
    assert mdmem("review", "--list", check=True).stdout == "0 notes to review.\n"


def test_a_review_lists_deleted_notes_as_deleted(mdmem: Run, kept: Path) -> None:
    mdmem("review", "--done", check=True)
    next((kept / FOLDER).glob("*-prompt-*")).unlink()

    (line, count) = mdmem("review", "--list", check=True).stdout.splitlines()

    assert "  1 deleted note  " in line
    assert count == "1 note to review."


@pytest.mark.slow
def test_a_session_is_dropped_whole_and_going_back_takes_a_decision_back(mdmem: Run, kept: Path) -> None:
    put(kept, "notes/mine.md", "---\ncreated: 2026-09-13\n---\n\n# My own\n\nwords\n")
    back = "d\nb\nk\nk\n"  # first the note is dropped, and after going back kept

    done = mdmem("review", input=back, check=True).stdout

    assert done.endswith("Review: keep 2\n")
    assert (kept / "notes/mine.md").exists()
    turn(kept, 2)
    mdmem("review", input="d\ny\n", check=True)
    assert not list((kept / FOLDER).glob("002-*"))
    assert len(list((kept / FOLDER).glob("001-*"))) == 4


@pytest.mark.slow
def test_a_session_is_decided_note_by_note_and_left_again_by_going_back(mdmem: Run, kept: Path) -> None:
    done = mdmem("review", input="n\nb\nn\nd\nk\nk\nk\n", check=True).stdout

    assert done.endswith("Review: drop 1, keep 3\n")
    assert done.count("[1/1] Why does it fail, take 1?") == 2
    assert len(list((kept / FOLDER).glob("001-*"))) == 3


@pytest.mark.slow
def test_a_review_is_listed_asked_note_by_note_and_then_over(mdmem: Run, kept: Path) -> None:
    listed = mdmem("review", "--list", "--notes", check=True).stdout
    objects = json.loads(mdmem("review", "--json", check=True).stdout)
    asked = mdmem("review", "--notes", input="k\np\nr\nA better title\nd\n", check=True)
    after = mdmem("review", "--list", "--notes", check=True).stdout

    assert listed.endswith("4 notes to review.\n")
    assert len(objects) == 4
    assert "Review: keep 1, pin 1, retitle 1, drop 1" in asked.stdout
    assert after == "0 notes to review.\n"
    assert "A better title" in mdmem("diff", "HEAD~1..HEAD", check=True).stdout


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_a_review_without_looking_says_how_many_notes_it_marked(mdmem: Run) -> None:
    assert mdmem("review", "--done", check=True).stdout == "4 notes marked as reviewed.\n"
    assert mdmem("review", "--done", check=True).stdout == "0 notes to review.\n"


@pytest.mark.slow
def test_a_review_that_is_broken_off_keeps_what_was_decided(mdmem: Run, kept: Path) -> None:
    mdmem("review", "--notes", input="d\nq\n", check=True)

    assert mdmem("review", "--list", "--notes", check=True).stdout.count("\n") > 1
    assert len(list((kept / FOLDER).iterdir())) == 4


@pytest.mark.slow
def test_a_review_without_a_terminal_names_what_does_without_one_and_keeps_what_was_answered(
    mdmem: Run, kept: Path
) -> None:
    nobody = mdmem("review", "--notes", input="")
    half = mdmem("review", "--notes", input="k\nr\n", check=True)

    assert nobody.returncode == 2
    assert "--yes" not in nobody.stderr and "--list" in nobody.stderr and "--done" in nobody.stderr
    assert half.stdout.endswith("Review: keep 1\n")
    assert mdmem("review", "--list", "--notes", check=True).stdout.endswith("3 notes to review.\n")


@pytest.mark.slow
def test_what_was_decided_is_not_asked_again(mdmem: Run, kept: Path) -> None:
    mdmem("review", "--notes", input="k\nq\n", check=True)
    assert mdmem("review", "--list", "--notes", check=True).stdout.endswith("3 notes to review.\n")
    mdmem("review", "--kind", "response", input="p\n", check=True)
    listed = mdmem("review", "--list", "--notes", check=True).stdout

    assert listed.endswith("2 notes to review.\n")
    assert mdmem("review", "--notes", input="s\ns\n", check=True).returncode == 0
    assert git(kept, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_failing_editor_or_a_wrong_id_is_told_and_the_question_comes_again(mdmem: Run, kept: Path) -> None:
    done = mdmem("review", "--notes", input="k\ne\no\nnone\nk\nk\nd\n", env={"EDITOR": "false"}, check=True)

    assert "false ended with status 1" in done.stderr
    assert "'none'" in done.stderr
    assert "Review: keep 3, drop 1" in done.stdout
    assert "edited" not in git(kept, "log", "-1", "-p")


@pytest.mark.slow
def test_an_editor_changes_a_note_in_a_review(mdmem: Run, kept: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[1], 'a').write('by hand\\n')\n")
    editor.chmod(0o755)

    mdmem("review", "--kind", "response", input="e\n", env={"EDITOR": shlex.quote(str(editor))}, check=True)

    text = next((kept / FOLDER).glob("001-003*")).read_text()
    assert text.endswith("by hand\n")
    assert "\nedited: true\n" in text
    assert git(kept, "status", "--porcelain") == ""


def test_a_journal_without_sessions_and_a_missing_vault_are_told(mdmem: Run, vault: Path, tmp_path: Path) -> None:
    repository.init(vault)
    for command in ("log", "sessions"):
        assert mdmem(command).stderr.startswith("No notes yet. ")
        assert mdmem(command, "--failed").stderr == "No matching sessions.\n"
        other = mdmem(command, "--project", "shp")
        assert (other.stdout, other.stderr) == ("", "No matching sessions.\n")
    assert mdmem("--vault", str(tmp_path / "none"), "log").returncode == 4


def test_what_is_neither_a_session_nor_a_commit_cannot_be_undone(mdmem: Run, vault: Path) -> None:
    repository.init(vault)
    done = mdmem("undo", "zzzz")
    assert done.returncode == 5
    assert "No session or commit is called 'zzzz'" in done.stderr


def test_how_a_remote_is_added_can_be_pasted(mdmem: Run, home: Path) -> None:
    vault = home / "my vault"
    repository.init(vault)
    said = mdmem("--vault", str(vault), "sync", str(home / "bare.git")).stderr
    words = shlex.split(said.rpartition("Add one: ")[2])
    assert words == ["git", "-C", str(vault), "remote", "add", "origin", str(home / "bare.git")]


@pytest.mark.usefixtures("kept")
@pytest.mark.slow
def test_a_command_that_needs_the_folder_it_runs_in_says_that_it_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); sys.argv[1:] = ['note', 'Hello']; from mdmem.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=gone, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "mdmem: The folder you are in was deleted. Change to another one, and try again.\n",
    )
