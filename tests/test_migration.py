"""A vault made by version 0.1 opens with this one: pages get their folder's name, links follow, nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from mdmem.vault import generated, journal
from tests.conftest import notes
from tests.helpers.claude import OTHER, SESSION, bash, capture, payload, prompt, send, stop
from tests.helpers.few import few
from tests.helpers.history_vault import git

Run = Callable[..., subprocess.CompletedProcess[str]]


def aged(vault: Path) -> Path:
    """Make a captured session look like one of version 0.1; return its page."""
    (folder,) = vault.glob("journal/*/*/*/")
    page = folder / f"{folder.name}.md"
    return page.rename(folder / journal.FORMER_PAGE)


def test_a_page_of_version_0_1_gets_its_folders_name_and_links_to_it_follow(vault: Path, mdmem: Run) -> None:
    capture(prompt("why does the parser fail"))
    page = aged(vault)
    page.write_text(page.read_text() + "\nMy own words.\n")
    (vault / "notes").mkdir()
    link = f"[the session](../{page.relative_to(vault).as_posix()})"
    note = vault / "notes" / "a.md"
    note.write_text(f"# A\r\n\r\nSee {link} and session.md alone.\r\n", newline="")
    text = page.read_text()

    assert "still called session.md" in mdmem("doctor", "--only", "pages").stdout
    mdmem("doctor", "--only", "pages", "--fix")

    new = page.with_name(f"{page.parent.name}.md")
    assert (new.read_text(), page.exists()) == (text, False)
    wanted = f"../{new.relative_to(vault).as_posix()}"
    assert note.read_bytes() == f"# A\r\n\r\nSee [the session]({wanted}) and session.md alone.\r\n".encode()
    assert "every session's page" in mdmem("doctor", "--only", "pages").stdout


def test_a_project_page_of_version_0_1_is_not_told_to_be_edited_by_hand_when_it_gets_its_list(
    vault: Path, mdmem: Run
) -> None:
    mdmem("init", check=True)
    capture(prompt("why does the parser fail"))
    (page,) = vault.glob("journal/*/project.md")
    page.write_text(generated.outside(page.read_text()).rstrip() + "\n")
    mdmem("commit", "--quiet", check=True)
    page.write_text(generated.outside(page.read_text()).rstrip() + "\n")
    git(vault, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "As version 0.1 left it")

    capture(prompt("and now?", session_id=OTHER))
    mdmem("commit", check=True)

    assert generated.BEGIN in page.read_text()
    assert "By hand" not in git(vault, "log", "-2", "--format=%s")


def test_a_session_of_version_0_1_continues_in_its_folder_and_on_its_page(vault: Path) -> None:
    capture(prompt("first"))
    page = aged(vault)

    capture(prompt("second", 2))
    capture(stop("done", 2))

    assert [path.name for path in page.parent.glob("*.md") if path.name[:4] != "00"] and page.exists()
    assert "2. [second]" in page.read_text()


@pytest.mark.parametrize("words", ["w" * 48, "why-does-the-parser-fail"])
def test_a_migrated_path_is_shorter_than_160_characters(vault: Path, mdmem: Run, words: str) -> None:
    capture(prompt("first"))
    page = aged(vault)
    page.parent.parent.parent.rename(vault / "journal" / ("p" * 30))
    (folder,) = vault.glob("journal/*/*/*/")
    long = folder.rename(folder.with_name(f"0800-{words}-00893aaf"))

    mdmem("doctor", "--only", "pages", "--fix")

    paths = [path.relative_to(vault).as_posix() for path in vault.glob("journal/*/*/*/*.md")]
    assert len(paths) == 2
    assert max(map(len, paths)) < 160
    assert (long.exists()) == (len(words) < 40)


def test_what_version_0_1_called_a_session_keeps_no_note_of_it_out_of_history(vault: Path, mdmem: Run) -> None:
    capture(prompt("first"))
    own = f"session: {SESSION}"
    for path in vault.glob("journal/*/*/*/*.md"):
        path.write_text(path.read_text().replace(own, "session: session-vrwftgm189x6k44qh3z2"))
    page = aged(vault)
    (vault / "notes").mkdir()
    (vault / "notes/a.md").write_text("session: session-vrwftgm189x6k44qh3z2\nsession: session-7k2qv9x4m1c8d3f6g5hj\n")

    mdmem("doctor", "--only", "pages", "--fix")
    mdmem("init", str(vault))
    done = mdmem("commit", check=False)

    assert "notes/a.md:2 holds" in done.stdout + done.stderr
    committed = git(vault, "ls-files")
    assert f"{page.parent.name}/{page.parent.name}.md" in committed
    assert "notes/a.md" not in committed


KILLED = """
import os, signal, sys
left = [int(sys.argv.pop(1))]
def look(event, _):
    if event == "os.rename":
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(look)
from mdmem.cli import main
sys.exit(main())
"""
"""`mdmem`, killed at its n-th renaming of a file or folder."""


@pytest.mark.parametrize("moment", few(range(1, 6), always=[3]))
def test_a_migration_that_was_killed_is_completed_with_its_links(vault: Path, mdmem: Run, moment: int) -> None:
    for number, session in enumerate((SESSION, OTHER)):
        capture(prompt(f"question {number}", session_id=session))
    (vault / "notes").mkdir()
    for folder in vault.glob("journal/*/*/*/"):
        page = (folder / f"{folder.name}.md").rename(folder / journal.FORMER_PAGE)
        (vault / "notes" / f"{folder.name}.md").write_text(f"[it](../{page.relative_to(vault).as_posix()})\n")
    (long,) = vault.glob(f"journal/*/*/*-{OTHER[:8]}")
    name = f"0800-{'-'.join(['word'] * 20)}-{OTHER[:8]}"
    long.rename(long.with_name(name))
    link = vault / "notes" / f"{long.name}.md"
    link.write_text(link.read_text().replace(long.name, name))

    fix = ("doctor", "--only", "pages", "--fix")
    done = subprocess.run([sys.executable, "-c", KILLED, str(moment), *fix], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    mdmem(*fix)

    pages = list(vault.glob("journal/*/*/*/*-*[0-9a-f].md"))
    assert sorted(page.stem for page in pages if page.stem == page.parent.name) == sorted(
        folder.name for folder in vault.glob("journal/*/*/*/")
    )
    assert not list(vault.rglob(journal.FORMER_PAGE))
    for note in (vault / "notes").iterdir():
        target = note.read_text().partition("](")[2].rstrip(")\n")
        assert (vault / "notes" / target).is_file(), target


def test_a_page_that_a_machine_with_version_0_1_brings_back_is_merged_into_the_renamed_one(
    vault: Path, mdmem: Run
) -> None:
    capture(prompt("why does the parser fail"))
    mdmem("init", str(vault))
    (page,) = [path for path in vault.glob("journal/*/*/*/*.md") if path.stem == path.parent.name]
    text = page.read_text()
    former = page.with_name(journal.FORMER_PAGE)
    page.write_text(text + "\nWritten here.\n")
    other = text.replace("\n---\n", "\nmood: good\n---\n", 1) + "\nWritten on the other machine.\n"
    former.write_text(other)
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "a.md").write_text(f"[it](../{former.relative_to(vault).as_posix()})\n")

    mdmem("doctor", "--only", "pages", "--fix")
    assert not former.exists()
    former.write_text(other)  # as if that had been killed before it deleted the page
    mdmem("doctor", "--only", "pages", "--fix")

    assert not former.exists()
    written = page.read_text()
    assert [written.count(words) for words in ("Written here.", "Written on the other machine.", "mood: good")] == [
        1
    ] * 3
    assert written.count("# why does the parser fail") == text.count("# why does the parser fail")
    assert (vault / "notes" / "a.md").read_text() == f"[it](../{page.relative_to(vault).as_posix()})\n"
    assert "every session's page" in mdmem("doctor", "--only", "pages").stdout


def hidden_by_version_0_1(vault: Path, said: str) -> Path:
    """Make what a session remembers as private look like that of version 0.1; return the file."""
    found = config.load(str(vault))
    (record,) = [path for path in (Path(found.state_dir) / "sessions").iterdir() if "." not in path.name]
    lines = [line for line in record.read_text().split("\n") if line and not line.startswith(("private\t", "seen\t"))]
    record.write_text("".join(f"\n{line}\n" for line in lines))
    (Path(found.state_dir) / "private" / record.name).unlink()
    assert said not in record.read_text()
    former = Path(found.runtime_dir) / f"{record.name}.echo"
    former.parent.mkdir(parents=True, exist_ok=True)
    former.write_text(f"{'ab' * 32}\n{'cd' * 16}\n")
    return former


def test_a_running_session_in_which_version_0_1_hid_something_ends_for_memory(vault: Path) -> None:
    capture(prompt("Look for <private>Quokka-Zanzibar</private>"))
    hidden_by_version_0_1(vault, "Quokka")

    said = send(bash("grep: Quokka-Zanzibar")).stdout.decode()
    send(stop("Quokka-Zanzibar is the name."))
    send(prompt("And now?", 2))

    assert "nothing more of this session is stored" in said
    assert len(notes(vault)) == 1
    send(prompt("A new session", session_id=OTHER))
    assert len(notes(vault)) == 2


def test_a_resumed_session_in_which_version_0_1_hid_something_is_not_stored(vault: Path) -> None:
    capture(prompt("Look for <private>Quokka-Zanzibar</private>"))
    hidden_by_version_0_1(vault, "Quokka").unlink()  # the machine was started again

    send(payload("SessionStart", source="resume"))
    send(prompt("Go on", 2))
    send(bash("grep: Quokka-Zanzibar", number=2))

    assert len(notes(vault)) == 1
