"""Whatever happens to the process that serves hooks: the event is in the vault, in the retry queue, or told as lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmem import config, hand_over, launch
from mdmem.capture import events, hook, retry_queue
from mdmem.inject import process
from mdmem.recall import hook as recall
from mdmem.recall import served
from tests.helpers.claude import bash, stop
from tests.helpers.faults import EVENTS, EVERY, at_call, fail, hang, hang_whatever_comes, outcome, run_of, written
from tests.helpers.few import few
from tests.helpers.served import run


def child(work: Callable[[], Any]) -> int:
    """Do `work` in a fork of this process; return its number."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(99)
    return pid


def handed_over(event: dict[str, Any], limit: Callable[[], None]) -> str:
    """Run a hook that is served by a process with `limit` applied; return what it says."""
    with (
        tempfile.TemporaryDirectory(prefix="md-", dir="/tmp") as folder,
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as said,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        path = str(Path(folder) / "s")
        listener.bind(path)
        listener.listen()
        stdin.write(json.dumps(event).encode())
        stdin.seek(0)
        alive, end = os.pipe()

        def serve() -> None:
            os.close(end)
            hook.DEADLINE_SECONDS = recall.SECONDS = 100.0  # a busy machine is no failure
            served.MAX_MEMORY_BYTES = 1 << 40  # this process has run other tests before
            limit()
            served._run(listener, alive)

        def ask() -> None:
            for number, file in enumerate((stdin, said)):
                os.dup2(file.fileno(), number)
            hand_over.WAIT_SECONDS = hand_over.HOOK_SECONDS = 200.0
            sys.argv = ["-c", "hook", "claude-code"]
            hand_over.give(path, launch.__file__)
            recall.main(["claude-code"])

        serving = child(serve)
        listener.close()
        asking = child(ask)
        try:
            assert os.waitpid(asking, 0)[1] == 0
        finally:
            os.close(end)
            os.close(alive)
            os.waitpid(serving, 0)
        said.seek(0)
        return said.read().decode()


def end_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


MOST = 4_000
"""No hook has so many call sites: behind the last, nothing happens to it."""


@pytest.mark.parametrize("happen", few([fail, end_at_once], always=[fail]))
@EVERY
def test_what_happens_to_the_server_at_any_call_site_loses_no_event_in_silence(
    name: str, step: int, happen: Callable[[], None], fresh: Callable[[], Path]
) -> None:
    results: dict[int, str] = {}
    undisturbed = 0
    for number in range(1, MOST, 3 * step):
        vault = fresh()
        happened = Path(os.environ["HOME"], "happened")

        def note(mark: Path = happened) -> None:
            mark.touch()
            happen()

        said = handed_over(EVENTS[name], at_call(number, note))
        results[number] = outcome(vault, said)
        if not happened.exists():
            undisturbed = number
            break
    assert [number for number, found in results.items() if not found] == []
    assert undisturbed > 100
    assert results[undisturbed] == "vault"


@pytest.mark.parametrize("work", few([hang, hang_whatever_comes], always=[hang_whatever_comes]))
def test_a_served_hook_that_hangs_is_told_as_lost(fresh: Callable[[], Path], work: Callable[[], Any]) -> None:
    fresh()

    def start() -> None:
        hook.DEADLINE_SECONDS = hook.GRACE_SECONDS = 0.1
        events.capture = lambda *_: work()

    assert "lost" in json.loads(handed_over(EVENTS["prompt"], start))["systemMessage"]


@pytest.mark.slow
def test_a_served_prompt_whose_memories_take_for_ever_is_stored_and_not_told_as_lost(fresh: Callable[[], Path]) -> None:
    vault = fresh()

    def start() -> None:
        process.seconds = lambda *_: 0.1
        process.reply_to = lambda *_: hang()

    assert handed_over(EVENTS["prompt"], start) == ""
    assert len(list(vault.rglob("0??-0??-*.md"))) == 1


@pytest.mark.slow
def test_a_served_hook_whose_search_fails_leaves_no_deadline_behind(fresh: Callable[[], Path]) -> None:
    vault = fresh()

    def start() -> None:
        process.reply_to = lambda *_: fail()
        real = served._answer

        def answer(link: socket.socket) -> None:
            real(link)
            Path(os.environ["MDMEM_VAULT"], "left").write_text(str(signal.getitimer(signal.ITIMER_REAL)[0]))

        served._answer = answer

    assert handed_over(EVENTS["prompt"], start) == ""
    assert (vault / "left").read_text() == "0.0"


@pytest.mark.slow
def test_a_disk_that_is_full_costs_no_note_of_a_served_hook(
    small_disk: Path, server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = small_disk / "vault"
    vault.mkdir()
    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    long = "x" * 9_000
    said = [run(bash(f"output of run {number}\n{long}", f"toolu_{number}")) for number in range(16)]
    told = [json.loads(line)["systemMessage"] for line in said if line]

    assert len(told) == 1
    assert "will be retried" in told[0]
    waiting = list(Path(retry_queue.folder(config.load())).glob("*.json"))
    assert len(written(vault)) + len(waiting) == 16

    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    run(stop("done"))
    assert [run_of(text) for text in written(vault)[:-1]] == list(range(16))
    assert server.poll() is None


@pytest.mark.slow
def test_where_nothing_at_all_can_be_written_a_served_hook_says_once_that_its_event_is_lost(
    small_disk: Path, server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, home = small_disk / "vault", small_disk / "home"
    vault.mkdir()
    home.mkdir(mode=0o700)
    (small_disk / "filler").write_bytes(b"x" * 100_000)
    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    monkeypatch.setenv("HOME", str(home))
    event = bash("x" * 60_000)

    said = run(event)

    assert written(vault) == []
    assert "lost" in json.loads(said)["systemMessage"]
    assert server.poll() is None
