"""The checked-out branch has lost its last commit, as after a power cut: no second history begins."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from mdmem.config import Config
from mdmem.errors import GitError
from mdmem.history import commit
from mdmem.history.git import repository, writer
from tests.helpers import rights
from tests.helpers.history_vault import git, put, start

Run = Callable[..., CompletedProcess[str]]

FAULTS: dict[str, Callable[[Path], object]] = {
    "empty": lambda branch: branch.write_bytes(b""),
    "zeros": lambda branch: branch.write_bytes(bytes(41)),
    "missing": Path.unlink,
    "damaged": lambda branch: branch.write_bytes(b"1d2c3b4a\n"),
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


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_head_names_its_branch_again_by_one_command(
    vault: Path, committed: Config, fault: str, ask: Run
) -> None:
    git(vault, "branch", "other")
    git(vault, "commit", "-q", "--allow-empty", "-m", "Later")
    tip = git(vault, "rev-parse", "main")
    FAULTS[fault](vault / ".git/HEAD")

    for command in (["commit"], ["sync"], ["init"]):
        done = ask(*command)
        assert done.returncode == 7
        assert ".git/HEAD is missing or damaged" in done.stderr
        assert "`mdmem doctor`" in done.stderr
    assert "`mdmem doctor --fix` checks out the branch main again" in ask("doctor", "--only", "history").stdout
    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert git(vault, "rev-parse", "main") == tip
    commit.commit(committed)
    assert git(vault, "status", "--porcelain") == ""


def test_a_lost_head_without_a_log_names_the_only_branch_again(vault: Path, committed: Config, ask: Run) -> None:
    (vault / ".git/HEAD").write_bytes(b"")
    (vault / ".git/logs/HEAD").unlink()

    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert commit.commit(committed).commits


def test_a_lost_head_that_could_be_either_of_two_branches_is_left_to_the_user(
    vault: Path, committed: Config, ask: Run
) -> None:
    git(vault, "branch", "other")
    (vault / ".git/HEAD").write_bytes(b"")

    found = ask("doctor", "--only", "history", "--fix").stdout

    assert "Several branches could have been checked out." in found
    assert "refs/heads/BRANCH" in found
    assert not (vault / ".git/HEAD").read_bytes()
    (vault / ".git/HEAD").write_text("ref: refs/heads/main\n", "ascii")
    assert commit.commit(committed).commits


def test_a_vault_whose_head_and_branch_are_both_lost_gets_both_back(vault: Path, committed: Config, ask: Run) -> None:
    tip = git(vault, "rev-parse", "main")
    (vault / ".git/HEAD").write_bytes(b"")
    branch_file(vault).write_bytes(b"")

    ask("doctor", "--only", "history", "--fix")
    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "rev-parse", "main") == tip
    assert commit.commit(committed).commits


def test_an_interrupted_git_init_is_completed_by_init(vault: Path, ask: Run) -> None:
    (vault / ".git/objects").mkdir(parents=True)
    put(vault, "notes/a.md", "a\n")

    assert ask("init").returncode == 0
    assert ask("commit").returncode == 0

    assert "notes/a.md" in git(vault, "ls-files").split()


def damage_pack(vault: Path) -> None:
    git(vault, "gc", "-q")
    (pack,) = (vault / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o600)
    data = pack.read_bytes()
    pack.write_bytes(data[:20] + bytes(len(data) - 40) + data[-20:])


BEYOND_REPAIR: dict[str, Callable[[Path], object]] = {
    "pack": damage_pack,
    "no objects": lambda vault: shutil.rmtree(vault / ".git/objects"),
}


@pytest.mark.parametrize("fault", BEYOND_REPAIR)
def test_a_history_that_cannot_be_read_is_not_called_intact_and_what_doctor_says_begins_a_new_one(
    vault: Path, committed: Config, fault: str, ask: Run
) -> None:
    BEYOND_REPAIR[fault](vault)
    assert ask("commit").returncode

    shown = " ".join(ask("doctor", "--only", "history").stdout.split())
    assert "is intact" not in shown
    assert "--only history` says what to do" not in shown
    steps = [f"mv {vault}/.git {vault}/.git.old", f"mdmem init {vault}"]
    assert f"run `{steps[0]}`, then `{steps[1]}`: it begins a new history and changes no note." in shown

    (vault / ".git").rename(vault / ".git.old")
    ask("init", str(vault), check=True)
    assert commit.commit(committed).left_out == []
    assert git(vault, "ls-files", "notes", ".git.old").split() == ["notes/a.md", "notes/b.md"]

    shutil.rmtree(vault / ".git/objects")
    assert f"`mv {vault}/.git {vault}/.git.old1`" in " ".join(ask("doctor", "--only", "history").stdout.split())


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("is_packed", [True, False])
def test_a_history_whose_refs_are_gone_goes_on_by_the_commands_that_doctor_names(
    vault: Path, ask: Run, is_packed: bool
) -> None:
    """Programs that copy no empty folder lose it once git has packed the refs."""
    if is_packed:
        git(vault, "pack-refs", "--all")
    history = git(vault, "log", "--format=%H")
    shutil.rmtree(vault / ".git/refs")

    shown = " ".join(ask("doctor", "--only", "history").stdout.split())
    assert f"Run `mkdir {vault}/.git/refs`, then `mdmem doctor`." in shown
    (vault / ".git/refs").mkdir()
    ask("doctor", "--fix", "--only", "history")
    assert git(vault, "log", "--format=%H").endswith(history)
    assert "the repository is intact" in ask("doctor", "--only", "history", check=True).stdout


@pytest.mark.usefixtures("committed")
def test_an_empty_git_folder_is_filled_by_the_command_that_doctor_names(vault: Path, ask: Run) -> None:
    shutil.rmtree(vault / ".git")
    (vault / ".git").mkdir()

    for words in (["commit"], ["doctor", "--only", "history"]):
        done = ask(*words)
        assert f"Run `mdmem init {vault}`: it adds one and changes no note." in " ".join(
            (done.stdout + done.stderr).split()
        )
    ask("init", str(vault), check=True)
    assert git(vault, "ls-files", "notes").split() == ["notes/a.md", "notes/b.md"]


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("line", ["[core", "[core]\n\tcompression = x", "[core]\n\trepositoryformatversion = x"])
def test_settings_of_git_that_cannot_be_parsed_are_named_instead_of_a_backup(vault: Path, ask: Run, line: str) -> None:
    settings = vault / ".git/config"
    settings.write_text(f"{settings.read_text()}{line}\n")

    shown = ask("doctor", "--only", "history").stdout
    assert str(settings) in shown
    assert "Correct or delete that line" in shown
    assert "backup" not in shown
    if line == "[core":  # every command of git fails: one finding is enough
        assert "This check failed" not in shown


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


@pytest.mark.parametrize(
    ("branch_is_lost", "next_is_begun"), [(True, False), (False, False), (False, True)], ids=["branch", "tip", "next"]
)
def test_a_last_commit_that_a_power_cut_left_empty_is_made_again_with_its_notes(
    vault: Path, committed: Config, branch_is_lost: bool, next_is_begun: bool, ask: Run
) -> None:
    before = git(vault, "rev-parse", "main").strip()
    commit.commit(committed)
    if next_is_begun:
        repo = repository.open_vault(vault)
        writer.mark(repo, writer.tip(repo, "main"))
    for oid in git(vault, "rev-list", "--objects", "main", f"^{before}").split("\n"):
        if oid:
            file = object_file(vault, oid[:40])
            file.chmod(0o600)
            file.write_bytes(b"")
    if branch_is_lost:
        branch_file(vault).write_bytes(b"")

    refused = ask("commit")
    found = ask("doctor", "--only", "history")
    ask("doctor", "--only", "history", "--fix")
    commit.commit(committed)

    assert refused.returncode == 7
    assert "`mdmem doctor" in refused.stderr
    assert f"`mdmem doctor --fix` makes {before[:8]} its last commit again" in found.stdout
    assert git(vault, "show", "main:notes/b.md") == "b\n"
    assert git(vault, "rev-list", "--count", "main").strip() == "2"
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "fsck", "--strict")
    assert ask("doctor", "--only", "history").returncode == 0


@pytest.mark.parametrize("fault", ["empty", "zeros", "damaged"])
def test_a_branch_whose_former_commit_is_packed_does_not_go_back_to_that_one(
    vault: Path, committed: Config, fault: str, ask: Run
) -> None:
    git(vault, "pack-refs", "--all")
    commit.commit(committed)
    tip = git(vault, "rev-parse", "main")
    FAULTS[fault](branch_file(vault))

    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "rev-parse", "main") == tip


def test_a_branch_with_an_empty_last_commit_goes_back_by_one_commit_only(
    vault: Path, committed: Config, ask: Run
) -> None:
    git(vault, "pack-refs", "--all")
    commit.commit(committed)
    before = git(vault, "rev-parse", "main")
    put(vault, "notes/c.md", "c\n")
    commit.commit(committed)
    file = object_file(vault, git(vault, "rev-parse", "main").strip())
    file.chmod(0o600)
    file.write_bytes(b"")

    ask("doctor", "--only", "history", "--fix")

    assert git(vault, "rev-parse", "main") == before


@rights.kept_out
@pytest.mark.parametrize("branch_is_lost", [True, False])
def test_a_last_commit_that_only_another_user_may_read_is_not_taken_for_damaged(
    vault: Path, committed: Config, branch_is_lost: bool
) -> None:
    commit.commit(committed)
    tip = git(vault, "rev-parse", "main").strip()
    if branch_is_lost:
        branch_file(vault).write_bytes(b"")
    object_file(vault, tip).chmod(0)
    left = branch_file(vault).read_bytes()

    done = rights.run([sys.executable, "-m", "mdmem", "--vault", str(vault), "doctor", "--only", "history", "--fix"])

    assert "Permission denied" in done.stdout
    assert branch_file(vault).read_bytes() == left


def object_file(vault: Path, oid: str) -> Path:
    return vault / ".git/objects" / oid[:2] / oid[2:]


def test_what_was_staged_before_a_damaged_last_commit_is_kept_in_a_file(
    vault: Path, committed: Config, ask: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit.commit(committed)
    put(vault, "notes/a.md", "a, staged\n")
    git(vault, "add", "notes/a.md")
    put(vault, "notes/a.md", "a, not staged\n")
    file = object_file(vault, git(vault, "rev-parse", "main").strip())
    file.chmod(0o600)
    file.write_bytes(b"")

    found = ask("doctor", "--only", "history")
    ask("doctor", "--only", "history", "--fix")

    assert "index.damaged keeps it" in found.stdout
    monkeypatch.setenv("GIT_INDEX_FILE", str(vault / ".git/index.damaged"))
    assert git(vault, "show", ":notes/a.md") == "a, staged\n"
    assert (vault / "notes/a.md").read_text() == "a, not staged\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the example's names")
def test_a_file_services_copy_of_a_branch_is_put_aside_and_its_commits_get_a_branch(
    vault: Path, committed: Config, ask: Run
) -> None:
    tip = git(vault, "rev-parse", "main").strip()
    elsewhere = git(vault, "commit-tree", "-p", tip, "-m", "of another machine", f"{tip}^{{tree}}").strip()
    heads = vault / ".git/refs/heads"
    heads.joinpath("main (conflicted copy)").write_text(f"{tip}\n")
    heads.joinpath("main (Ada's copy)").write_text(f"{elsewhere}\n")
    vault.joinpath(".git/refs/desktop.ini").write_text("[.ShellClassInfo]\n")

    found = ask("doctor", "--only", "history")
    ask("doctor", "--only", "history", "--fix")

    assert "✗" in found.stdout
    assert "main (conflicted copy) is not a valid git ref" in found.stdout
    assert f"become the branch main-Ada-s-copy-{elsewhere[:8]}" in found.stdout
    assert "fsck" not in found.stdout
    assert sorted(file.name for file in heads.iterdir()) == ["main", f"main-Ada-s-copy-{elsewhere[:8]}"]
    assert git(vault, "rev-parse", f"main-Ada-s-copy-{elsewhere[:8]}").strip() == elsewhere
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
    assert vault.joinpath(".git/refs.damaged/refs/heads/main (conflicted copy)").read_text() == f"{tip}\n"
