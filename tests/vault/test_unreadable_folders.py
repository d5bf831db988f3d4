"""Notes and folders that cannot be read: the rest is committed, and no page or index forgets them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config
from tests.helpers.claude import bash, capture, prompt, stop
from tests.helpers.history_vault import git
from tests.helpers.rights import of_a_user

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def sessions(vault: Path, ask: Run) -> list[Path]:
    """Return the folders of two committed sessions, about an otter and a badger."""
    ask("init", str(vault), check=True)
    for name in ("otter", "badger"):
        capture(prompt(f"where does the {name} live", session_id=name))
        capture(stop("by the river", session_id=name))
    ask("commit", check=True)
    return [next(vault.glob(f"journal/*/*/*{name}*")) for name in ("otter", "badger")]


def pages(vault: Path) -> str:
    return "".join(
        path.read_text() for path in (vault / "README.md", *vault.glob("days/*"), *vault.rglob("project.md"))
    )


def test_a_git_folder_that_may_be_used_but_not_listed_is_used(vault: Path, ask: Run, sessions: list[Path]) -> None:
    (vault / ".git").chmod(0o300)

    with of_a_user():
        done = ask("commit")

    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing to commit.\n", "")


def test_a_commit_leaves_out_a_note_that_may_not_be_read_and_takes_the_rest(
    vault: Path, ask: Run, sessions: list[Path]
) -> None:
    (note,) = sessions[0].glob("*-prompt-*")
    before = pages(vault).count("the otter live")
    capture(prompt("where does the marmot live", session_id="marmot"))
    capture(bash("x", session_id="otter"))
    ask("index", check=True)
    (run,) = sessions[0].glob("*-bash-*")
    for one in (note, run):
        one.chmod(0)

    with of_a_user():
        done = ask("commit")
    for one in (note, run):
        one.chmod(0o600)

    assert "where does the marmot live" in done.stdout
    assert f"{run.name} cannot be read, so it was not committed" in done.stdout + done.stderr
    page = sessions[0] / f"{sessions[0].name}.md"  # it waits: the run may be private
    left = {line.split()[1]: line.split()[0] for line in git(vault, "status", "--porcelain").splitlines()}
    assert left == {run.relative_to(vault).as_posix(): "??", page.relative_to(vault).as_posix(): "M"}
    assert pages(vault).count("the otter live") == before


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400])
@pytest.mark.parametrize("index", ["kept", "deleted"])
def test_a_folder_that_may_not_be_read_stays_on_the_pages_and_in_the_index(
    vault: Path, ask: Run, sessions: list[Path], mode: int, index: str
) -> None:
    before = pages(vault).count("the otter live")
    assert before > 2
    if index == "deleted":
        shutil.rmtree(config.load().index_dir)
    capture(prompt("where does the marmot live", session_id="marmot"))
    sessions[0].chmod(mode)
    try:
        with of_a_user():
            done = ask("commit", check=True)
            found = ask("search", "otter")
            doctor = ask("doctor")
    finally:
        sessions[0].chmod(0o700)

    assert "where does the marmot live" in done.stdout
    assert pages(vault).count("the otter live") == before
    assert f"{sessions[0].name}/" in git(vault, "ls-files")
    assert index == "deleted" or "where does the otter live" in found.stdout
    assert f"{sessions[0].name} cannot be read, so search keeps" in " ".join(doctor.stdout.split())
    assert "This check failed" not in doctor.stdout
    assert "leads nowhere" not in doctor.stdout


def test_a_projects_page_that_may_not_be_read_stops_a_commit_with_what_to_do(
    vault: Path, ask: Run, sessions: list[Path]
) -> None:
    page = sessions[0].parents[1] / "project.md"
    capture(prompt("where does the marmot live", session_id="marmot"))
    page.chmod(0)

    with of_a_user():
        done = ask("commit")

    assert done.returncode == 4
    assert "nothing tells whether the project's notes may leave this machine" in done.stderr
    assert f"chmod u+rw {page}" in done.stderr
    page.chmod(0o600)
    assert "marmot" in ask("commit", check=True).stdout


def hide(page: Path, how: str, to: Path) -> None:
    """Hide a project's page as a sync program does, or by a link."""
    page.rename(to)
    if how == "a sync program":
        page.with_name(".project.md.icloud").touch()
    else:
        page.symlink_to(to)


@pytest.mark.parametrize("how", ["a sync program", "a link"])
def test_a_private_project_stays_on_this_machine_while_its_page_is_hidden(
    vault: Path, tmp_path: Path, ask: Run, sessions: list[Path], how: str
) -> None:
    place = "/home/dev/work/secret-app"
    capture(prompt("where does the marmot live", session_id="marmot", cwd=place))
    page = vault / "journal/secret-app/project.md"
    page.write_text(page.read_text().replace("---\n", "---\nsync: false\n", 1))
    ask("commit", check=True)
    hide(page, how, tmp_path / "moved")
    capture(prompt("where does the lynx live", session_id="lynx", cwd=place))

    ask("commit")

    assert "secret-app" not in git(vault, "ls-files")
    assert list(vault.glob("journal/*/*/*lynx*")) == list(vault.glob("journal/secret-app/*/*lynx*")) != []
    assert not page.is_file() or page.is_symlink()


@pytest.mark.parametrize("how", ["a sync program", "a link"])
def test_a_project_that_a_commit_found_private_stays_private_while_its_page_is_hidden(
    vault: Path, tmp_path: Path, ask: Run, sessions: list[Path], how: str
) -> None:
    page = sessions[0].parents[1] / "project.md"
    before = page.read_text()
    page.write_text(before.replace("---\n", "---\nsync: false\n", 1))
    ask("commit")
    hide(page, how, tmp_path / "moved")
    for name in ("marmot", "lynx"):  # two commits: the second finds it as the first left it
        capture(prompt(f"where does the {name} live", session_id=name))
        hidden = ask("commit")
        assert name not in hidden.stdout
        assert "may be private, so its project's notes were not committed" in hidden.stderr
    page.with_name(".project.md.icloud").unlink(missing_ok=True)
    page.unlink(missing_ok=True)
    page.write_text(before)

    shown = ask("commit", check=True)

    assert "marmot" in shown.stdout
    assert "lynx" in shown.stdout

    hide(page, how, tmp_path / "moved")
    capture(prompt("where does the heron live", session_id="heron"))
    assert "heron" in ask("commit").stdout


@pytest.mark.parametrize("how", ["a sync program", "a link"])
def test_a_project_whose_committed_page_is_hidden_is_committed(
    vault: Path, tmp_path: Path, ask: Run, sessions: list[Path], how: str
) -> None:
    hide(sessions[0].parents[1] / "project.md", how, tmp_path / "moved")
    capture(prompt("where does the marmot live", session_id="marmot"))

    assert "marmot" in ask("commit").stdout

    assert "project.md" in git(vault, "ls-files")
    assert len(list((vault / "journal").iterdir())) == 1


def test_a_project_that_a_sync_has_made_private_stays_on_this_machine_while_its_page_is_hidden(
    vault: Path, tmp_path: Path, ask: Run, sessions: list[Path]
) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(vault, "remote", "add", "origin", str(tmp_path / "remote"))
    ask("sync", check=True)
    page = sessions[0].parents[1] / "project.md"
    page.write_text(page.read_text().replace("---\n", "---\nsync: false\n", 1))
    ask("sync", check=True)
    hide(page, "a sync program", tmp_path / "moved")
    capture(prompt("where does the lynx live", session_id="lynx"))

    ask("sync")

    assert "notes-app" not in git(vault, "ls-files")
    assert "lynx" not in git(tmp_path / "remote", "log", "--all", "--name-only", "--format=%s")


@pytest.mark.parametrize("place", ["journal/notes-app", "README.md"])
@pytest.mark.parametrize("leads", ["to what was there", "nowhere"])
def test_what_became_a_link_is_not_committed_as_deleted_and_stays_on_the_pages_and_in_the_index(
    vault: Path, tmp_path: Path, ask: Run, sessions: list[Path], place: str, leads: str
) -> None:
    ask("index", check=True)
    days, files = (next(vault.glob("days/*")).read_text(), git(vault, "ls-files"))
    (vault / place).rename(tmp_path / "moved")
    (vault / place).symlink_to(tmp_path / ("moved" if leads == "to what was there" else "gone"))

    done = ask("commit")

    assert done.returncode == 1
    assert done.stderr.count("mdmem does not follow") == done.stderr.count(f"{place} is a link") == 1
    assert "no note links to it" not in done.stdout + done.stderr
    assert (next(vault.glob("days/*")).read_text(), git(vault, "ls-files")) == (days, files)
    assert "where does the otter live" in ask("search", "otter").stdout
    (vault / place).unlink()
    (tmp_path / "moved").rename(vault / place)
    assert ask("commit", check=True).stdout == "Nothing to commit.\n"
    assert git(vault, "status", "--porcelain") == ""


def test_commands_say_that_a_note_is_behind_a_link(vault: Path, tmp_path: Path, ask: Run, sessions: list[Path]) -> None:
    (note,) = sessions[0].glob("*-prompt-*")
    place = sessions[0].relative_to(vault)
    sessions[0].rename(tmp_path / "moved")
    sessions[0].symlink_to(tmp_path / "moved")

    for words in (["show"], ["forget", "--yes"]):
        told = ask(*words, note.stem.rpartition("-")[2]).stderr
        assert f"is behind a link, {place}, which mdmem does not follow" in told
    doctor = " ".join(ask("doctor", "--only", "vault").stdout.split())
    assert f"`rm {sessions[0]} && mv {tmp_path / 'moved'} {sessions[0]}`" in doctor


def test_a_link_that_a_person_committed_may_lead_elsewhere(vault: Path, ask: Run, sessions: list[Path]) -> None:
    (vault / "notes/link.md").symlink_to("one.md")
    git(vault, "add", "-f", "notes/link.md")
    git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a link")
    (vault / "notes/link.md").unlink()
    (vault / "notes/link.md").symlink_to("two.md")

    assert ask("commit", check=True).stdout == "Nothing to commit.\n"
    git(vault, "add", "notes/link.md")
    assert "you staged it: notes/link.md" in ask("commit", check=True).stderr


def test_a_note_in_place_of_a_link_that_a_person_committed_is_committed(
    vault: Path, ask: Run, sessions: list[Path]
) -> None:
    (vault / "notes/link.md").symlink_to("one.md")
    git(vault, "add", "-f", "notes/link.md")
    git(vault, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a link")
    (vault / "notes/link.md").unlink()
    (vault / "notes/link.md").write_text("The text itself.\n")

    ask("commit", check=True)

    assert git(vault, "show", "HEAD:notes/link.md") == "The text itself.\n"
