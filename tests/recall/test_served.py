"""Hooks served by a process that has loaded them: the same notes, the same words, and without it the same again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import mdmem
from mdmem.agents.install import launcher
from mdmem.recall import served
from tests.helpers.claude import bash, prompt, registered
from tests.helpers.faults import full_pipe
from tests.helpers.served import run, serving, start
from tests.helpers.waiting import SECONDS, until

Run = Callable[..., subprocess.CompletedProcess[str]]


def notes(vault: Path) -> list[str]:
    return sorted(path.name for path in vault.rglob("0??-0??-*.md"))


def held(server: subprocess.Popen[bytes], stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start a hook whose payload is not at its end, and wait until the server reads it.

    On a busy machine the server may be late, and a hook then does its work itself: another is tried then.
    """
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        process = start(None, stdout=stdout)
        patience = time.monotonic() + 2
        while time.monotonic() < patience:
            if _reads(server, process):
                return process
            time.sleep(0.01)
        process.kill()
        process.communicate()
    raise AssertionError("no hook was served")


def _reads(server: subprocess.Popen[bytes], process: subprocess.Popen[bytes]) -> bool:
    assert process.stdin
    return os.readlink(f"/proc/{server.pid}/fd/0") == os.readlink(f"/proc/self/fd/{process.stdin.fileno()}")


linux = pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells who reads what")


@linux
def test_a_served_hook_leaves_the_note_and_says_what_is_to_be_said(
    vault: Path, server: subprocess.Popen[bytes]
) -> None:
    hook = held(server)

    event = prompt("Fix the <private>falcon</private> parser")
    out, err = hook.communicate(json.dumps(event).encode(), timeout=SECONDS)

    assert (hook.returncode, err) == (0, b"")
    assert "systemMessage" in json.loads(out)
    assert [name[:14] for name in notes(vault)] == ["001-000-prompt"]
    assert b"falcon" not in b"".join(path.read_bytes() for path in vault.rglob("*.md"))


@linux
@pytest.mark.parametrize("perl", [launcher._PERL, pytest.param("/nonexistent/perl", marks=pytest.mark.slow)])
def test_an_agent_that_never_reads_stdout_is_not_waited_for_by_a_served_hook(
    vault: Path, server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, perl: str
) -> None:
    monkeypatch.setattr(launcher, "_PERL", perl)

    with full_pipe() as unread:
        hook = held(server, unread)
        _, err = hook.communicate(json.dumps(prompt("Fix the <private>falcon</private> parser")).encode(), SECONDS)

    assert (hook.returncode, err) == (0, b"")
    assert len(notes(vault)) == 1


@linux
@pytest.mark.parametrize("perl", [launcher._PERL, pytest.param("/nonexistent/perl", marks=pytest.mark.slow)])
def test_an_agent_that_never_reads_stdout_is_not_waited_for_when_its_hook_is_lost(
    vault: Path, server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, perl: str
) -> None:
    monkeypatch.setattr(launcher, "_PERL", perl)

    with full_pipe() as unread:
        hook = held(server, unread)
        server.kill()
        server.wait()
        try:
            _, err = hook.communicate(b"{}", SECONDS)
        finally:
            hook.kill()

    assert (hook.returncode, err) == (0, b"")
    assert notes(vault) == []


@linux
@pytest.mark.slow
def test_without_perl_a_python_hands_the_hook_over(
    vault: Path, server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_PERL", "/nonexistent/perl")

    hook = held(server)
    out, err = hook.communicate(json.dumps(prompt("Fix the parser")).encode(), timeout=SECONDS)

    assert (hook.returncode, out, err) == (0, b"", b"")
    assert len(notes(vault)) == 1


def test_what_perl_is_told_by_its_own_variables_changes_no_hook(
    vault: Path, server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    (tmp_path / "strict.pm").write_text("die")
    env = {"PERL5OPT": "-Mnothing", "PERL5LIB": str(tmp_path), "PERL_UNICODE": "SADL", "LC_ALL": "xx_XX.nothing"}

    assert run(prompt("日付パーサーはなぜ失敗しますか", cwd="/home/dev/作業/メモ"), {**env, "PS1": "作業\xff"}) == ""

    assert len(notes(vault)) == 1


def test_an_environment_too_large_for_a_socket_leaves_the_hook_to_itself(
    vault: Path, server: subprocess.Popen[bytes]
) -> None:
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(10)}

    assert run(prompt("Fix the parser"), large) == ""

    assert len(notes(vault)) == 1


@pytest.mark.slow
def test_a_hook_does_its_work_itself_when_the_server_does_not_answer(
    vault: Path, server: subprocess.Popen[bytes]
) -> None:
    server.send_signal(signal.SIGSTOP)

    run(prompt("Fix the parser"))

    assert [name[:14] for name in notes(vault)] == ["001-000-prompt"]
    server.send_signal(signal.SIGCONT)
    run(bash("12 tests pass"))
    assert [name[:12] for name in notes(vault)] == ["001-000-prom", "001-001-bash"]


def test_hooks_at_the_same_time_leave_each_its_note_once(vault: Path, server: subprocess.Popen[bytes]) -> None:
    run(prompt("Fix the parser"))

    hooks = [start(bash(f"run {number}", f"toolu_{number}")) for number in range(6)]

    assert [hook.communicate(timeout=SECONDS)[1] for hook in hooks] == [b""] * 6
    assert len(notes(vault)) == 7
    assert sorted(int(name[4:7]) for name in notes(vault)) == list(range(7))


@pytest.mark.slow
def test_a_hook_belongs_to_the_vault_and_the_environment_of_its_command(
    vault: Path, server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mdmem.toml").touch()

    run(prompt("In the other one"), {"MDMEM_VAULT": str(other)})
    run(prompt("Never mind", 2), {"MDMEM_DISABLED": "1"})

    assert len(notes(other)) == 1
    assert notes(vault) == []


@linux
@pytest.mark.parametrize("perl", [launcher._PERL, pytest.param("/nonexistent/perl", marks=pytest.mark.slow)])
def test_the_user_is_told_of_an_event_that_is_lost_with_the_server_also_by_status_and_doctor(
    vault: Path, server: subprocess.Popen[bytes], ask: Run, monkeypatch: pytest.MonkeyPatch, perl: str
) -> None:
    monkeypatch.setattr(launcher, "_PERL", perl)
    hook = held(server)

    server.kill()
    out, err = hook.communicate(json.dumps(prompt("Fix the parser")).encode(), timeout=SECONDS)

    assert (hook.returncode, err) == (0, b"")
    assert "this event is lost" in out.decode()
    assert "1 event lost" in ask("status", check=True).stdout
    shown = " ".join(ask("doctor", "--only", "lost").stdout.split())
    assert "(mdmem could not start, was killed, or did not answer)" in shown
    assert "`mdmem import` may find it" in shown


@linux
@pytest.mark.parametrize("perl", [launcher._PERL, pytest.param("/nonexistent/perl", marks=pytest.mark.slow)])
def test_an_event_that_is_lost_with_the_server_is_recorded_without_a_word_for_an_agent_that_has_left(
    vault: Path, server: subprocess.Popen[bytes], ask: Run, monkeypatch: pytest.MonkeyPatch, perl: str
) -> None:
    monkeypatch.setattr(launcher, "_PERL", perl)
    hook = held(server)
    assert hook.stdout
    hook.stdout.close()

    server.kill()
    hook.stdout = None
    _, err = hook.communicate(json.dumps(prompt("Fix the parser")).encode(), timeout=SECONDS)

    assert (hook.returncode, err) == (0, b"")
    assert "1 event lost" in ask("status", check=True).stdout


@linux
def test_an_event_that_the_server_itself_loses_is_recorded(
    vault: Path, server: subprocess.Popen[bytes], ask: Run
) -> None:
    unreadable = os.open("/proc/self/mem", os.O_RDONLY)
    words = ["/bin/sh", "-c", registered("hook")]
    done = subprocess.run(words, stdin=unreadable, capture_output=True, check=True)
    os.close(unreadable)

    assert b"this event is lost" in done.stdout
    assert "1 event lost" in ask("status", check=True).stdout


def test_the_server_ends_with_the_watcher_and_leaves_nothing(vault: Path, server: subprocess.Popen[bytes]) -> None:
    assert server.stdin
    server.stdin.close()

    assert server.wait(SECONDS) == 0
    assert not os.path.exists(launcher.socket_path())
    run(prompt("Fix the parser"))
    assert len(notes(vault)) == 1


@pytest.mark.slow
def test_a_server_ends_after_a_hook_that_began_anew_because_an_installer_may_be_at_work(
    vault: Path, home: Path, short_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "copy" / "mdmem"
    shutil.copytree(Path(mdmem.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (package / "launch.py").read_text("utf-8")
    for line, instead in (
        ("RECENT_SECONDS = 10\n", "RECENT_SECONDS = 1e9\n"),
        ("WAIT_SECONDS = 4.0", "WAIT_SECONDS = 2.0"),
    ):
        assert line in code
        code = code.replace(line, instead)
    (package / "launch.py").write_text(code, "utf-8")
    with (package / "agents" / "codex.py").open("a", encoding="utf-8") as agent:
        agent.write("\n\ndef read(*_):\n    raise ImportError\n")
    monkeypatch.setattr(launcher, "PACKAGE", str(package))
    line = registered("hook", "codex")
    path = launcher.socket_path()
    with subprocess.Popen(serving(path), stdin=subprocess.PIPE) as process:
        until(lambda: os.path.exists(path))
        run(prompt("Fix the parser"))
        assert process.poll() is None

        def has_ended() -> bool:  # on a busy machine, a hook does its work itself, and the server ends later
            subprocess.run(["/bin/sh", "-c", line], input=b'{"session_id": "a"}', check=True, timeout=SECONDS)
            return process.poll() is not None

        until(has_ended, "the end of the server")
        assert process.returncode == 0
        run(bash("12 tests pass"))
    assert len(notes(vault)) == 2


@pytest.mark.slow
def test_a_server_keeps_serving_however_much_memory_its_watcher_holds(
    vault: Path, home: Path, short_data: Path
) -> None:
    registered("hook")
    path = launcher.socket_path()
    held = b"x" * served.MAX_MEMORY_BYTES * 2
    with subprocess.Popen(serving(path), stdin=subprocess.PIPE) as process:
        until(lambda: os.path.exists(path))
        run(prompt("Fix the parser"))
        run(bash("12 tests pass"))
        assert process.poll() is None
        assert process.stdin
        process.stdin.close()
    assert len(held) > served.MAX_MEMORY_BYTES
    assert len(notes(vault)) == 2


@pytest.mark.slow
def test_a_second_server_waits_and_ends_with_its_watcher(vault: Path, server: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen(serving(launcher.socket_path()), stdin=subprocess.PIPE) as second:
        run(prompt("Fix the parser"))
        assert second.poll() is None
        assert second.stdin
        second.stdin.close()
        assert second.wait(SECONDS) == 0

    assert server.poll() is None
    assert os.path.exists(launcher.socket_path())


@pytest.mark.parametrize("instead", ["nothing", "a folder", "another's socket"])
def test_a_server_whose_socket_is_gone_ends_for_a_new_one_and_leaves_what_is_in_its_place(
    vault: Path, home: Path, short_data: Path, instead: str
) -> None:
    registered("hook")
    path = Path(launcher.socket_path())
    with (
        subprocess.Popen(serving(str(path), 0.05), stdin=subprocess.PIPE) as server,
        socket.socket(socket.AF_UNIX) as other,
    ):
        until(lambda: served._is_served(str(path)))
        path.unlink()
        if instead == "a folder":
            path.mkdir()
        elif instead != "nothing":
            other.bind(str(path))

        assert server.wait(SECONDS) == 0

    assert path.exists() == (instead != "nothing")


@pytest.mark.slow
def test_the_watcher_serves_hooks_as_long_as_it_runs(
    vault: Path, home: Path, short_data: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    registered("hook")
    with subprocess.Popen([sys.executable, "-m", "mdmem", "watch"], stderr=subprocess.DEVNULL) as watcher:
        until(lambda: os.path.exists(launcher.socket_path()))
        run(prompt("Fix the parser"))

        mdmem("watch", "--stop")

        assert watcher.wait(SECONDS) == 0
    assert len(notes(vault)) == 1
    until(lambda: not os.path.exists(launcher.socket_path()))
