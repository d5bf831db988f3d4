"""`privacy.anonymize`: notes tell neither the user's home folder nor their name, as far as paths do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.privacy import Rules, anonymized
from tests.conftest import notes, own_settings
from tests.helpers.claude import bash, payload, prompt, send, stop

RULES = Rules(home="/home/alice")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("/home/alice/work/x.py", "~/work/x.py"),
        ("cd /home/alice && ls", "cd ~ && ls"),
        ("path:/home/alice", "path:~"),
        ("/mnt/backup/home/alice/x", "/mnt/backup/home/~/x"),
        ("cc -I/home/alice/include file:///home/alice/x", "cc -I/home/~/include file://~/x"),
        ("It is in /home/alice. Or /home/alice- perhaps", "It is in ~. Or ~- perhaps"),
        ("/mnt/data/alice/x and /Users/alice/y", "/mnt/data/~/x and /Users/~/y"),
        ("~/.claude/projects/-home-alice-work/x.jsonl", "~/.claude/projects/-~-work/x.jsonl"),
        ("/home/alicebob /home/alice-old /home/alice.bak", "/home/alicebob /home/alice-old /home/alice.bak"),
        ("alice wrote https://example.org/alice/repo", "alice wrote https://example.org/alice/repo"),
    ],
)
def test_the_home_folder_and_the_users_name_go_from_paths_only(text: str, stored: str) -> None:
    assert anonymized(text, RULES) == stored
    assert anonymized({text: [text, 1, None]}, RULES) == {stored: [stored, 1, None]}
    assert anonymized(text, Rules()) == text


def test_windows_paths_are_known_in_every_spelling() -> None:
    rules = Rules(home=r"C:\Users\alice")

    assert anonymized(r"C:\Users\alice\x C:/Users/alice/y C:\\Users\\alice\\z", rules) == r"~\x ~/y ~\\z"


def test_a_name_that_folders_have_too_is_the_users_only_below_homes() -> None:
    rules = Rules(home="/home/build")

    assert anonymized("/home/build/x /Users/build/y /srv/build/z", rules) == "~/x /Users/~/y /srv/build/z"
    assert anonymized("/dev/null /home/dev/x", Rules(home="/home/dev")) == "/dev/null ~/x"


@given(st.lists(st.sampled_from(["/home/alice", "alice", "/", "-", ".", " ", "\\", "~", "x", "://"])).map("".join))
def test_doing_it_twice_is_doing_it_once(text: str) -> None:
    once = anonymized(text, RULES)

    assert anonymized(once, RULES) == once
    assert "/home/alice/" not in once


def test_no_note_tells_the_home_folder(vault: Path, home: Path, tmp_path: Path) -> None:
    own_settings("[privacy]\nanonymize = true\n")
    cwd = home / "code" / "notes-app"
    cwd.mkdir(parents=True)
    run = {"tool_name": "Read", "tool_input": {"file_path": f"{home}/other/x.py"}, "tool_response": f"in {home}/y"}
    for event in (
        prompt(f"look at {home}/x"),
        bash(f"{home}/code: 3 files"),
        payload("PostToolUse", tool_use_id="toolu_2", **run),
        stop(f"See {home}/x."),
    ):
        send(event | {"cwd": str(cwd)})

    found = list(vault.rglob("*.md"))
    assert len(notes(vault)) == 4
    for path in found:
        assert str(home).encode() not in path.read_bytes(), path
    assert b'cwd: "~/code/notes-app"' in notes(vault)[0].read_bytes()
    assert b"path:~/code/notes-app" in next(vault.glob("journal/*/project.md")).read_bytes()


def test_a_project_is_found_again_without_state(vault: Path, home: Path) -> None:
    own_settings("[privacy]\nanonymize = true\n")
    cwd = home / "notes-app"
    cwd.mkdir()
    send(prompt("one") | {"cwd": str(cwd)})
    for pointer in Path(config.load().state_dir, "projects").iterdir():
        pointer.unlink()

    send(prompt("two", 2) | {"cwd": str(cwd)})

    assert len(list(vault.glob("journal/*/project.md"))) == 1
