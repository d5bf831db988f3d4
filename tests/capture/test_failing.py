"""Commits and syncs that fail in the background, where nobody sees their errors: the user is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mdmem import config, files, timestamps
from mdmem.capture.later import failing
from mdmem.config import Config
from mdmem.errors import LockedError, VaultError
from mdmem.history import commit
from mdmem.history.git import lock, repository
from tests.helpers.claude import OTHER, START, capture, payload, prompt, registered, send
from tests.helpers.history_vault import run_here, turn
from tests.helpers.plain_git import git
from tests.helpers.waiting import until

Run = Callable[..., subprocess.CompletedProcess[str]]

FAILS = "Every commit of the vault has failed since"
SYNC_FAILS = "Every sync of the vault has failed since"


@pytest.fixture
def settings(vault: Path) -> Config:
    """Return the settings of a vault with a repository and one session."""
    repository.init(vault)
    turn(vault)
    return config.load(str(vault))


def begin_merge(vault: Path) -> Path:
    run_here("commit", check=True)
    head = vault / ".git/MERGE_HEAD"
    head.write_bytes((vault / ".git/refs/heads/main").read_bytes())
    return head


def started(session: str, day: int, source: str = "startup") -> str:
    """Begin a session `day` days after the tests' time; return what the user is told."""
    env = {"MDMEM_NOW": str(START + day * 86_400)}
    said = send(payload("SessionStart", session_id=session, source=source), env).stdout
    return str(json.loads(said).get("systemMessage", "")) if said else ""


def test_status_tells_since_when_the_commits_of_hooks_fail_until_one_succeeds(
    vault: Path, settings: Config, ask: Run
) -> None:
    merge = begin_merge(vault)
    turn(vault, 2)
    done = subprocess.run(["/bin/sh", "-c", registered("commit")], input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    until(lambda: FAILS in ask("status", check=True).stdout)
    assert "`mdmem commit` says why." in " ".join(ask("status").stdout.split())
    assert FAILS in ask().stdout
    assert "the commit failed: BusyError" in Path(settings.state_dir, "log").read_text("utf-8")

    merge.unlink()
    run_here("commit", "--quiet", check=True)
    assert FAILS not in ask("status", check=True).stdout


def test_only_the_first_failure_is_the_time_and_a_line_in_the_log(settings: Config) -> None:
    for now in (START, START + 7_200):
        with pytest.raises(ZeroDivisionError), failing.recorded(settings, "commit", now):
            print(1 / 0)

    (told,) = failing.sentences(settings, START + 7_200)
    assert timestamps.local_time(START) in told
    assert Path(settings.state_dir, "log").read_text("utf-8").count("the commit failed") == 1
    assert failing.sentences(settings, START + 7_200 + failing.SHOWN_SECONDS) == []


@pytest.mark.skipif(os.name == "nt", reason="needs fork")
def test_a_commit_that_the_agent_kills_each_time_is_told_and_one_that_succeeds_ends_that(settings: Config) -> None:
    def killed(now: float) -> None:
        process = os.fork()
        if not process:
            with failing.recorded(settings, "commit", now):
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(process, 0)

    killed(START)
    killed(START + 90_000)
    with pytest.raises(KeyboardInterrupt), failing.recorded(settings, "commit", START + 90_001):
        raise KeyboardInterrupt

    (told,) = failing.sentences(settings, START + 90_002, failing.LONG_SECONDS)
    assert timestamps.local_time(START) in told
    assert "the commit failed: ChildProcessError" in Path(settings.state_dir, "log").read_text("utf-8")
    with failing.recorded(settings, "commit", START + 90_003):
        pass
    assert failing.sentences(settings, START + 90_004) == []
    assert not [*Path(settings.state_dir).glob("commit-fails*")]


def test_a_commit_that_waits_while_another_process_works_is_no_failure_until_an_hour_is_over(
    settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "held", partial(lock.held, wait_seconds=0.0))

    def wait(now: float) -> list[str]:
        with (
            lock.held(settings.state_dir, Path(settings.vault, ".git")),
            pytest.raises(LockedError, match="Nothing is lost"),
            failing.recorded(settings, "commit", now),
        ):
            commit.commit(settings)
        return failing.sentences(settings, now)

    assert wait(START) == []
    assert wait(START + 3_000) == []
    assert not Path(settings.state_dir, "log").exists()
    (told,) = wait(START + 3_700)
    assert timestamps.local_time(START) in told

    with pytest.raises(ZeroDivisionError), failing.recorded(settings, "commit", START + 3_800):
        print(1 / 0)
    assert wait(START + 3_900) == [told]


def test_a_failure_is_told_in_the_second_in_which_it_happens(settings: Config) -> None:
    with pytest.raises(ZeroDivisionError), failing.recorded(settings, "commit", START + 0.7):
        print(1 / 0)

    assert len(failing.sentences(settings, START + 0.8)) == 1


@pytest.mark.parametrize("damaged", [b"", b"1", b"x y", b"1 2 3", b"waited"])
def test_a_damaged_record_is_none(settings: Config, damaged: bytes) -> None:
    files.write(str(Path(settings.state_dir, "commit-fails")), damaged)
    assert failing.sentences(settings, START) == []
    with pytest.raises(OSError, match="full"), failing.recorded(settings, "commit", START):
        raise OSError("full")
    assert len(failing.sentences(settings, START)) == 1


def test_a_mistake_of_the_person_is_no_failure(settings: Config, ask: Run) -> None:
    assert ask("commit", "--session", "zzzzzzzz").returncode == 5
    assert failing.sentences(settings, START) == []
    assert FAILS not in ask("status", check=True).stdout


def test_a_failing_sync_is_told_where_the_watcher_runs_it(settings: Config, ask: Run) -> None:
    assert ask("sync").returncode
    assert SYNC_FAILS not in ask("status", check=True).stdout

    ask("sync", "--every", "10m", check=True)
    assert SYNC_FAILS in ask("status", check=True).stdout


def test_a_failure_at_a_time_that_was_in_the_future_is_told_from_the_next_one_on(settings: Config) -> None:
    for now in (START + 9e8, START):
        with pytest.raises(ZeroDivisionError), failing.recorded(settings, "commit", now):
            print(1 / 0)

    (told,) = failing.sentences(settings, START)
    assert timestamps.local_time(START) in told


def test_a_sync_by_hand_with_another_remote_is_none_of_the_watchers(settings: Config, ask: Run) -> None:
    ask("sync", "--every", "10m", check=True)
    assert ask("sync", "unknown").returncode
    assert SYNC_FAILS not in ask("status", check=True).stdout

    assert ask("sync").returncode
    subprocess.run(["git", "init", "-q", "--bare", f"{settings.vault}.disk"], check=True)
    subprocess.run(["git", "-C", settings.vault, "remote", "add", "disk", f"{settings.vault}.disk"], check=True)
    ask("sync", "disk", check=True)
    assert SYNC_FAILS in ask("status", check=True).stdout


@pytest.mark.parametrize("words", [["commit"], ["commit", "--quiet"], ["sync"]])
def test_where_the_vaults_disk_is_not_mounted_no_vault_is_begun_on_the_folder_below_it(
    vault: Path, settings: Config, ask: Run, words: list[str]
) -> None:
    ask("sync", "--every", "10m", check=True)
    capture(prompt("Why does the parser fail?"))
    vault.rename(vault.with_name("mounted-elsewhere"))
    vault.mkdir()

    done = ask(*words)
    assert done.returncode == 4
    assert "is an empty folder now. If it is on a disk that is not mounted, mount it" in done.stderr
    assert failing.sentences(settings, time.time()) == []
    checked = ask("doctor").stdout
    assert "is an empty folder now" in checked
    assert "it adds one and changes no note" not in checked
    assert list(vault.iterdir()) == []


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["in it", "elsewhere"])
def test_a_vault_of_which_only_its_history_is_left_is_not_committed_as_deleted(
    vault: Path, tmp_path: Path, settings: Config, ask: Run, is_elsewhere: bool
) -> None:
    if is_elsewhere:
        git(tmp_path, "init", "-q", "-b", "main", "--separate-git-dir", "history", str(vault))
    ask("init", str(vault))
    capture(prompt("Why does the parser fail?"))
    ask("commit", check=True)
    before = git(vault, "rev-parse", "HEAD")
    _delete_all(vault)

    with pytest.raises(VaultError, match=r"had notes and is an empty folder now.*restore \.` writes"):
        commit.commit(settings)
    assert "had notes and is an empty folder now" in ask("init", str(vault)).stderr
    assert "restore ." in ask("doctor", "--only", "vault").stdout
    assert capture(prompt("And now?", session_id=OTHER)).waits
    assert git(vault, "rev-parse", "HEAD") == before

    git(vault, "restore", ".")
    ask("index", check=True)
    ask("commit", check=True)
    assert "1 prompt" in git(vault, "log", "-1", "--format=%s")


def test_a_vault_of_which_a_person_has_committed_that_all_is_deleted_gets_new_notes(
    vault: Path, settings: Config, ask: Run
) -> None:
    ask("init", str(vault))
    capture(prompt("Why does the parser fail?"))
    ask("commit", check=True)
    _delete_all(vault)
    said = ask("commit").stderr
    assert f"or `git -C {vault} commit -am Deleted` commits the deletion." in said
    git(vault, "commit", "-qam", "Deleted")

    assert not capture(prompt("And now?", session_id=OTHER)).waits
    assert ask("doctor", "--only", "vault").returncode == 0
    assert len(commit.commit(settings).commits) == 1


def _delete_all(vault: Path) -> None:
    for path in vault.iterdir():
        if not path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_each_new_session_is_told_once_after_a_day_of_failures(settings: Config) -> None:
    def fail(now: float) -> None:
        with pytest.raises(ZeroDivisionError), failing.recorded(settings, "commit", now):
            print(1 / 0)

    fail(START)
    assert started("11111111-0000-4000-8000-000000000000", 0) == ""
    assert started("33333333-0000-4000-8000-000000000000", 2) == "", "nothing was committed since"
    fail(START + 2 * 86_400)
    said = started(OTHER, 2)
    assert said.startswith("mdmem: every commit of the vault has failed since ")
    assert started(OTHER, 2, "resume") == ""
    os.unlink(Path(settings.state_dir, "commit-fails"))
    assert started("22222222-0000-4000-8000-000000000000", 2) == ""
