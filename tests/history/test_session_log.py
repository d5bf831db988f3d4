"""The journal: sessions read from their notes, commits read from git."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from mdmem import timestamps
from mdmem.capture import page
from mdmem.history import commit, session_log
from mdmem.vault import turns
from tests.helpers.history_vault import FOLDER, PAGE, SESSION, captured, git, put, start, turn

OTHER = "journal/other-project/2026-09-15/1000-rename-the-parser-ffff0000"


def test_a_session_shows_what_was_asked_what_came_of_it_and_the_files_it_changed(vault: Path) -> None:
    config = start(vault)
    turn(vault, 1)
    turn(vault, 2)
    captured(vault, "002-004-edit-dates-x", "observation", "e", tool="Edit", files="[src/dates.py, src/b.py]")
    captured(vault, "002-005-edit-dates-y", "observation", "e", tool="Edit", files="[src/b.py]")
    captured(vault, "002-006-edit-dates-z", "observation", "e", tool="Edit", files="[no.py]", success="false")
    captured(vault, "002-007-read-dates-z", "observation", "r", tool="Read", files="[read.py]")

    (found,) = session_log.sessions(config)

    assert found.title == "Why does the parser fail"
    assert found.asks == ["Why does it fail, take 1?", "Why does it fail, take 2?"]
    assert found.outcome == "Fixed; 12 tests pass"
    assert found.answers == ["Fixed; 12 tests pass", "Fixed; 12 tests pass"]
    assert found.files == ["src/dates.py", "src/b.py"]
    assert (found.day, found.project, found.session) == ("2026-09-14", "acme-notes-app", SESSION)
    assert found.notes == 12


def test_a_session_that_ends_with_a_command_ended_when_that_ran(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    captured(vault, "002-000-prompt-x", "prompt", "And now?", prompt="2", created="2026-09-14T09:00:00Z")
    captured(vault, "002-001-bash-x", "observation", "make", prompt="2", tool="Bash", created="2026-09-14T09:05:00Z")

    (found,) = session_log.sessions(config)

    assert found.ended == "2026-09-14T09:05:00Z"
    assert found.asks[-1] == "And now?"
    assert found.answers[-1] == ""


@pytest.mark.parametrize(("before", "last"), [("999", "1000"), ("part9/4050", "part10/4051")])
def test_the_last_note_is_the_one_with_the_highest_number(vault: Path, before: str, last: str) -> None:
    config = start(vault)
    for minute, number in enumerate((before, last)):
        at = {"prompt": number.rpartition("/")[2], "created": f"2026-09-14T09:{minute:02}:00Z"}
        captured(vault, f"{number}-001-bash-x", "observation", "make", tool="Bash", **at)

    (found,) = session_log.sessions(config)

    assert found.ended == "2026-09-14T09:01:00Z"


def test_runs_in_a_long_pause_between_other_notes_count_as_work(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    for minute in range(50, 150, 50):
        created = timestamps.iso_time(timestamps.epoch("2026-09-14T08:00:01Z") + 60 * minute)
        captured(vault, f"001-{minute:03d}-bash-x", "observation", "make", tool="Bash", created=created)
    captured(vault, "001-999-response-x", "response", "Built", created="2026-09-14T10:00:01Z")

    (found,) = session_log.sessions(config)

    assert found.seconds == 2 * 3600
    assert found.outcome == "Built"


@pytest.mark.parametrize(
    ("kinds", "place"),
    [
        ("prompt response", 1),
        ("prompt work response prompt response", 2),
        ("prompt work response prompt observation response prompt response", 2),
        ("prompt response prompt work response prompt", 4),
        ("prompt response work response prompt work", 3),
        ("prompt response prompt response", 3),
        ("prompt work", -1),
    ],
)
def test_a_session_is_told_by_the_last_answer_after_work(kinds: str, place: int) -> None:
    assert turns.telling_answer(kinds.split()) == place


def test_the_last_session_comes_first_and_filters_narrow_it_down(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    turn(vault, session="ffff0000", folder=OTHER)
    captured(vault, "001-009-write-x", "observation", "w", tool="Write", files="[docs/a.md]", folder=OTHER)

    def folders(**words: str) -> list[str]:
        return [found.folder for found in session_log.sessions(config, **words)]

    assert folders() == [OTHER, FOLDER]
    assert folders(project="acme-notes-app") == [FOLDER]
    assert folders(since="2026-09-15") == []  # a folder is of the 15th, but its notes began on the 14th
    assert folders(since="2026-09-16") == []
    assert folders(since="2026-09-14T08:00:00Z") == [OTHER, FOLDER]
    assert folders(since="2026-09-14T08:00:02Z") == []
    assert folders(file="docs/") == [OTHER]
    assert folders(session="ffff") == [OTHER]
    assert folders(session="0800-why") == [FOLDER]


def test_a_session_without_its_page_and_a_broken_note_are_shown_as_far_as_they_go(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    (vault / PAGE).unlink()
    put(vault, f"{FOLDER}/001-009-prompt-broken.md", "---\nkind: [prompt\n---\n\nx\n")
    (vault / FOLDER / "001-010-prompt-link.md").symlink_to("/etc/passwd")

    (found,) = session_log.sessions(config)

    assert found.title == "Why does it fail, take 1?"
    assert found.started == "2026-09-14T08:00:01Z"


def test_the_subject_of_a_commit_is_listed_as_it_was_written(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    subject = page.link_text("Fix the [parser] of `dates`")
    with (vault / PAGE).open("a", encoding="utf-8") as file:
        file.write(f"- Commits made: `1a2b3c4` {subject}\n")

    (found,) = session_log.sessions(config)

    assert found.commits == "1a2b3c4 Fix the [parser] of `dates`"
    (found,) = session_log.sessions(config, None, lambda time: time[:10])
    assert found.commits == "1a2b3c4 Fix the [parser] of `dates`"
    captured(vault, "002-000-prompt-more", "prompt", "And now?", created="2026-09-15T08:00:01Z")
    assert [part.commits for part in session_log.sessions(config, None, lambda time: time[:10])] == ["", ""]


def test_the_title_of_a_private_page_is_not_listed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    put(vault, PAGE, (vault / PAGE).read_text().replace("---\n", "---\nprivate: true\n", 1))

    (found,) = session_log.sessions(config)
    assert found.title == "Why does it fail, take 1?"
    for prompt in (vault / FOLDER).glob("*-prompt-*"):
        prompt.unlink()

    (found,) = session_log.sessions(config)
    assert "parser" not in found.title
    assert found.title


def test_what_is_marked_as_private_in_a_title_later_is_not_listed(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    for path in [vault / PAGE, *(vault / FOLDER).glob("*-prompt-*")]:
        path.write_text(path.read_text("utf-8").replace("Why does", "Why <private>does</private>"), "utf-8")

    (found,) = session_log.sessions(config)

    assert found.title == "Why [PRIVATE] the parser fail"
    assert found.asks == ["Why [PRIVATE] it fail, take 1?"]


def test_an_empty_vault_has_an_empty_journal(vault: Path) -> None:
    config = start(vault)

    assert list(session_log.sessions(config)) == []
    assert list(session_log.stats(config)) == []


def test_commits_are_listed_with_what_they_did(vault: Path) -> None:
    config = start(vault)
    turn(vault)
    commit.commit(config)
    next((vault / FOLDER).glob("001-001*")).unlink()
    put(vault, "notes/line\nbreak.md", "x\n")
    put(vault, "mdmem.toml", "# changed\n")
    commit.commit(config)

    newest, first, second = (stat[2:] for stat in session_log.stats(config))

    assert newest == ("By hand: add 1 note, edit 1 note, delete 1 note", "", 1, 1, 1)
    assert {first, second} == {
        ("acme-notes-app: Why does it fail, take 1? (1 prompt, 2 tool runs, 1 answer)", SESSION, 5, 0, 0),
        ("Vault: mdmem.toml", "", 1, 0, 0),
    }


def test_a_merge_is_listed_without_files(vault: Path) -> None:
    config = start(vault)
    commit.commit(config)
    git(vault, "checkout", "-q", "-b", "other")
    git(vault, "commit", "-q", "--allow-empty", "-m", "There")
    git(vault, "checkout", "-q", "-")
    git(vault, "merge", "-q", "--no-ff", "-m", "Sync with origin", "other")

    listed = {stat[2:] for stat in session_log.stats(config)}

    assert {("Sync with origin", "", 0, 0, 0), ("There", "", 0, 0, 0)} < listed


def test_people_read_times_in_the_zone_of_their_machine(vault: Path, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        config = start(vault)
        folder = "journal/acme-notes-app/2024-09-15/0100-late-00893aaf"
        more = {"folder": folder, "created": "2024-09-14T16:00:01Z"}
        captured(vault, "001-000-prompt-late-7gk2q9m4x1", "prompt", "Late", **more)
        commit.commit(config)

        assert "2024-09-15 01:00 00893aaf" in ask("log", "--oneline", check=True).stdout
        assert "captured  2024-09-15 01:00" in ask("why", "7gk2q9m4x1", check=True).stdout
        assert "2024-09-15" in ask("review", "--list", check=True).stdout
        assert git(vault, "log", "--format=%ai").splitlines()[-1] == "2024-09-15 01:00:01 +0900"
        assert timestamps.readable("2024-09-14T16:00:01Z") == "2024-09-15 01:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_why_says_that_a_note_was_written_and_names_one_without_a_title_by_its_file_name(vault: Path, ask: Any) -> None:
    config = start(vault)
    put(vault, "README.md", "Notes of mine.\n\nA line.\n")
    put(vault, "notes/a.md", "---\ntitle: Tuesdays\ncreated: 2026-09-14T08:00:00Z\n---\n\nWe release.\n")
    commit.commit(config)

    named = ask("why", "README.md:3", check=True).stdout.splitlines()
    assert named[:2] == ["        note  README", "        file  README.md"]
    lines = ask("why", "notes/a.md", check=True).stdout.splitlines()
    assert lines[:3] == ["        note  Tuesdays", "        file  notes/a.md", "     written  2026-09-14 08:00"]
