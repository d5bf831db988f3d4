"""A vault made by version 0.1 opens with this one: pages get their folder's name, links follow, nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.vault import journal
from tests.helpers.claude import SESSION, capture, prompt, stop
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
