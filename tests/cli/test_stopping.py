"""Long commands: a bar on a terminal that is gone at the end, and Ctrl-C, after which nothing is left half-way."""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mdmem.cli.terminal import progress
from mdmem.history import commit, forget, sync
from mdmem.history.space import clone
from tests.helpers.history_vault import git, put, start, turn
from tests.helpers.plain_git import make_remote
from tests.helpers.waiting import SECONDS, until

_AS_ON_A_TERMINAL = """if True:
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    from mdmem.__main__ import main
    main()"""
COMMAND = [sys.executable, "-c", _AS_ON_A_TERMINAL]
"""mdmem, as it runs on a terminal: who started the tests may have switched Ctrl-C or a hang-up off."""


@pytest.fixture
def slow_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A remote that answers nothing: a file `asked` appears, and until `go` is there the connection stays open."""
    script = tmp_path / "ssh"
    script.write_text(
        f'#!/bin/sh\ntouch "{tmp_path}/asked"\nwhile [ ! -e "{tmp_path}/go" ]; do sleep 0.05; done\nexit 1\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    return tmp_path


class _Stop:
    """Is told of steps, and stops the work, as Ctrl-C does, at the one with these words and this number."""

    def __init__(self, what: str = "", at: int = 0) -> None:
        self.steps: list[tuple[str, int, int]] = []
        self._stop = (what, at)

    def __call__(self, what: str, done: int, total: int) -> None:
        self.steps.append((what, done, total))
        if (what, done) == self._stop:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_commit_tells_how_far_it_is_and_one_that_was_stopped_is_made_again(vault: Path) -> None:
    settings = start(vault)
    for number in range(5):
        put(vault, f"notes/{number}.md", f"words {number}\n")

    with pytest.raises(KeyboardInterrupt):
        commit.commit(settings, report=_Stop("Committing", 2))
    stopped = git(vault, "status", "--porcelain")
    told = _Stop()
    commit.commit(settings, report=told)

    assert stopped
    assert [step for step in told.steps if step[0] == "Committing"][:2] == [("Committing", 0, 6), ("Committing", 1, 6)]
    assert not git(vault, "status", "--porcelain")
    assert not [*vault.rglob("*.lock"), *vault.rglob("*.tmp"), *vault.glob(".git/mdmem-*")]


@pytest.mark.slow
def test_a_forget_that_was_stopped_has_committed_what_it_deleted_and_the_next_one_deletes_the_rest(vault: Path) -> None:
    settings = start(vault)
    for number in range(5):
        put(vault, f"notes/{number}.md", f"words {number}\n")
    commit.commit(settings)

    with pytest.raises(KeyboardInterrupt):
        forget.apply(settings, forget.plan(settings, [], matching="words"), report=_Stop("Deleting", 2))
    left = len([*vault.glob("notes/*.md")]), git(vault, "status", "--porcelain")
    forget.apply(settings, forget.plan(settings, [], matching="words"))

    assert left == (3, "")
    assert not [*vault.glob("notes/*.md")]
    assert not git(vault, "status", "--porcelain")


@pytest.mark.slow
def test_the_same_clone_completes_one_that_was_stopped(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = start(vault)
    turn(vault)
    remote = make_remote(tmp_path / "remote.git")
    git(vault, "remote", "add", "origin", str(remote))
    sync.sync(settings)

    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr("mdmem.history.sync.checkout.AT_ONCE", 1)
        clone.clone(str(remote), tmp_path / "other", report=_Stop("Writing files", 1))
    clone.clone(str(remote), tmp_path / "other")
    clone.clone(str(remote), tmp_path / "other")

    assert not git(tmp_path / "other", "status", "--porcelain")
    assert git(tmp_path / "other", "ls-files") == git(vault, "ls-files")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "status", "said"),
    [("SIGINT", 130, "mdmem: Stopped."), ("SIGTERM", 143, ""), ("SIGHUP", 129, "")],
)
def test_a_clone_that_waits_for_the_remote_ends_when_stopped_and_leaves_no_folder(
    slow_remote: Path, name: str, status: int, said: str
) -> None:
    words = [*COMMAND, "clone", "ssh://example.org/memory.git", str(slow_remote / "vault")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until((slow_remote / "asked").exists)
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=SECONDS)

    (slow_remote / "go").touch()
    assert process.returncode == status
    assert err.strip() == said
    assert not (slow_remote / "vault").exists()


@pytest.mark.slow
def test_on_a_terminal_a_clone_says_after_a_moment_that_it_fetches_and_clears_that_at_the_end(
    slow_remote: Path,
) -> None:
    main, child = pty.openpty()
    words = [*COMMAND, "clone", "ssh://example.org/memory.git", str(slow_remote / "vault")]
    around = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(words, stdin=child, stdout=child, stderr=child, env=around) as process:
        os.close(child)
        shown = b""
        while b"Fetching" not in shown:
            assert select.select([main], [], [], SECONDS)[0], shown
            shown += os.read(main, 65536)
        (slow_remote / "go").touch()
        rest = b""
        while piece := _read(main):
            rest += piece
        os.close(main)
        assert process.wait(SECONDS) == 7

    assert b"\x1b[2K" in rest.partition(b"mdmem: ")[0]
    assert b"Fetching" not in rest.partition(b"mdmem: ")[2]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""  # nobody has the other end open any more


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_that_is_to_be_quiet_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "AFTER_SECONDS", 0.0)
    with progress.ProgressBar("Committing", shown=False) as bar:
        bar.step("Committing", 1, 2)

    assert screen.getvalue() == ""


def test_ctrl_c_stops_between_two_things_and_a_second_one_says_what_is_left(capfd: pytest.CaptureFixture[str]) -> None:
    told = _Stop()
    with progress.stoppable(told, "Deleting") as report:
        report("Deleting", 0, 2)
        signal.raise_signal(signal.SIGINT)
        report("Making pages", 0, 0)
        with pytest.raises(KeyboardInterrupt):
            report("Deleting", 1, 2)
    first = capfd.readouterr().err
    with pytest.raises(KeyboardInterrupt), progress.stoppable(told, "Deleting"):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert told.steps == [("Deleting", 0, 2), ("Making pages", 0, 0)]
    assert "committing what was changed" in first
    assert "mdmem commit" not in first
    assert capfd.readouterr().err.endswith("Some changes are not committed. Commit them: mdmem commit\n")


@pytest.mark.slow
def test_a_demo_that_is_stopped_removes_its_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen(
        [*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        until(lambda: [*tmp_path.glob("mdmem-demo-*/vault/journal/*")])
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the hooks that the demo runs meet it, too
        _, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 130
    assert err.strip() == "mdmem: Stopped."
    assert not [*tmp_path.glob("mdmem-demo-*")]
