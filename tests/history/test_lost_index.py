"""Git's index is missing or damaged: it is rebuilt from the last commit, and no file changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from mdmem.config import Config
from mdmem.history import commit
from mdmem.history.git import repository, writer
from tests.helpers.history_vault import git, put, start

Run = Callable[..., CompletedProcess[str]]

FAULTS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "noise": lambda index: index.write_bytes(bytes(range(256)) * 9),
    "cut": lambda index: index.write_bytes(index.read_bytes()[:-30]),
    "empty": lambda index: index.write_bytes(b""),
}


@pytest.fixture
def committed(vault: Path) -> Config:
    """Return the settings of a vault with two notes committed, one deleted and one changed since, and one new."""
    settings = start(vault)
    for name in ("a", "b", "c"):
        put(vault, f"notes/{name}.md", f"{name} as it was\n")
    commit.commit(settings)
    put(vault, "notes/a.md", "a as it is\n")
    (vault / "notes/b.md").unlink()
    put(vault, "notes/d.md", "d is new\n")
    return settings


def files(vault: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (vault / "notes").iterdir()}


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "cut"])  # git reads that one as it is
def test_a_commit_rebuilds_the_index_and_takes_what_has_changed(vault: Path, committed: Config, fault: str) -> None:
    before = files(vault)
    FAULTS[fault](vault / ".git" / "index")

    done = commit.commit(committed)

    assert sum(one.files for one in done.commits) >= 3
    assert files(vault) == before
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "ls-files").split() == ["mdmem.toml", "notes/a.md", "notes/c.md", "notes/d.md"]


@pytest.mark.parametrize("fault", FAULTS)
def test_doctor_names_it_and_fix_rebuilds_it_without_a_commit(
    vault: Path, committed: Config, ask: Run, fault: str
) -> None:
    before, commits = files(vault), git(vault, "rev-list", "--count", "HEAD")
    FAULTS[fault](vault / ".git" / "index")

    found = ask("doctor", "--only", "history").stdout
    assert "git's index" in found
    assert "backup" not in found
    ask("doctor", "--only", "history", "--fix")

    assert "git's index" not in ask("doctor", "--only", "history").stdout
    assert (files(vault), git(vault, "rev-list", "--count", "HEAD")) == (before, commits)
    assert sorted(git(vault, "status", "--porcelain").split()) == sorted(
        ["M", "notes/a.md", "D", "notes/b.md", "??", "notes/d.md"]
    )


def test_an_index_lost_in_the_middle_of_a_commit_is_rebuilt_as_it_was_before_it(vault: Path, committed: Config) -> None:
    repo = repository.open_vault(vault)
    writer.mark(repo, writer.tip(repo, "HEAD"))
    (vault / ".git" / "index").unlink()

    commit.commit(committed)

    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "ls-files").split() == ["mdmem.toml", "notes/a.md", "notes/c.md", "notes/d.md"]


def test_a_damaged_index_before_the_first_commit_is_put_aside(vault: Path) -> None:
    settings = start(vault)
    (vault / ".git" / "index").write_bytes(b"noise")
    put(vault, "notes/a.md", "a\n")

    commit.commit(settings)

    assert git(vault, "status", "--porcelain") == ""
    assert (vault / ".git" / "index.damaged").read_bytes() == b"noise"
