"""The checked-out branch has lost its last commit, as after a power cut: no second history begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from mdmem.config import Config
from mdmem.errors import GitError
from mdmem.history import commit
from tests.helpers.history_vault import git, put, start

Run = Callable[..., CompletedProcess[str]]

FAULTS: dict[str, Callable[[Path], object]] = {
    "empty": lambda branch: branch.write_bytes(b""),
    "zeros": lambda branch: branch.write_bytes(bytes(41)),
    "missing": Path.unlink,
}


@pytest.fixture
def committed(vault: Path) -> Config:
    """Return the settings of a vault with a note committed and another written since."""
    settings = start(vault)
    put(vault, "notes/a.md", "a\n")
    commit.commit(settings)
    put(vault, "notes/b.md", "b\n")
    return settings


def branch_file(vault: Path) -> Path:
    return vault / ".git/refs/heads/main"


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_committed_until_doctor_has_restored_the_last_commit(
    vault: Path, committed: Config, fault: str, ask: Run
) -> None:
    tip = git(vault, "rev-parse", "main")
    FAULTS[fault](branch_file(vault))

    for command in (["commit"], ["sync"], ["review", "--list"]):
        done = ask(*command)
        assert done.returncode == 7
        assert "The branch main in" in done.stderr
        assert "has lost its last commit" in done.stderr
        assert "`mdmem doctor`" in done.stderr
    found = ask("doctor", "--only", "history")
    assert f"`mdmem doctor --fix` makes {tip[:8]} its last commit again" in found.stdout
    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "rev-parse", "main") == tip
    commit.commit(committed)
    assert git(vault, "rev-list", "--count", "main").strip() == "2"
    assert git(vault, "for-each-ref", "--format=%(refname)", "refs/heads").split() == ["refs/heads/main"]
    assert git(vault, "status", "--porcelain") == ""


def test_without_gits_log_doctor_names_a_backup(vault: Path, committed: Config, ask: Run) -> None:
    branch_file(vault).write_bytes(b"")
    (vault / ".git/logs/refs/heads/main").unlink()

    assert "Restore .git from a backup or a remote." in ask("doctor", "--only", "history").stdout
    with pytest.raises(GitError, match="has lost its last commit"):
        commit.commit(committed)


def test_a_branch_among_gits_packed_refs_or_without_a_commit_is_not_lost(vault: Path, committed: Config) -> None:
    git(vault, "pack-refs", "--all")
    assert not branch_file(vault).exists()
    assert commit.commit(committed).commits

    git(vault, "switch", "-q", "--orphan", "other")
    put(vault, "notes/c.md", "c\n")
    assert commit.commit(committed).commits
