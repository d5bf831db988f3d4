"""Whatever raises inside a hook: exit 0, and the event is in the vault, in the retry queue, or told as lost."""

from __future__ import annotations

import errno
import inspect
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mdmem import config, launch, system
from mdmem.agents import payload
from mdmem.agents.install import launcher
from mdmem.capture import events, hook, losses, retry_queue
from mdmem.health import unstored
from mdmem.vault import disk
from mdmem.views import storing
from tests.helpers.claude import bash, limited
from tests.helpers.faults import EVENTS, EVERY, at_call, at_each_call, fail, hang, hang_whatever_comes, outcome
from tests.helpers.few import few


def calls(event: dict[str, Any], tmp_path: Path) -> list[str]:
    """Return each call site of a function of mdmem in a hook: number, file and line of the function."""
    file = tmp_path / "calls"

    out = os.open(file, os.O_WRONLY | os.O_CREAT)

    def record(number: int, function: types.CodeType) -> None:
        os.write(out, f"{number} {function.co_filename} {function.co_firstlineno}\n".encode())

    limited(event, at_each_call(record))
    os.close(out)
    return file.read_text().splitlines()


FEW_PLACES = 10
"""Of fewer functions, each may be one that no note is stored without."""


def place_of(function: Any) -> str:
    return f"{function.__code__.co_filename} {function.__code__.co_firstlineno}"


@EVERY
def test_an_exception_at_any_call_site_loses_no_event(
    name: str, step: int, fresh: Callable[[], Path], tmp_path: Path
) -> None:
    fresh()
    sites = calls(EVENTS[name], tmp_path)
    assert len(sites) > 60
    results = {}
    for number in range(1, len(sites) + 1, step):
        vault = fresh()
        results[sites[number - 1]] = outcome(vault, limited(EVENTS[name], at_call(number, fail)))
    assert [site for site, found in results.items() if not found] == []
    read = next(int(site.split()[0]) for site in sites if site.endswith(f" {place_of(payload.decode)}"))
    told = [site for site, found in results.items() if found == "told"]
    assert all(int(site.split()[0]) < read for site in told), "before the payload is read, nothing can be stored"


def functions() -> Iterator[types.FunctionType]:
    """Return every function and method of mdmem that is loaded."""
    for module in [module for name, module in sys.modules.items() if name.startswith("mdmem.")]:
        for value in vars(module).values():
            if isinstance(value, types.FunctionType):
                yield value
            elif isinstance(value, type):
                yield from (item for item in vars(value).values() if isinstance(item, types.FunctionType))


def broken_generator(*_: Any, **__: Any) -> Iterator[Any]:
    yield fail()


def break_for_good(place: str) -> Callable[[], None]:
    """Make the function at this place raise whenever it is called."""

    def start() -> None:
        for function in functions():
            code = function.__code__
            if f"{code.co_filename} {code.co_firstlineno}" == place and not code.co_freevars:
                same_kind = broken_generator if code.co_flags & inspect.CO_GENERATOR else fail
                function.__code__ = same_kind.__code__  # another kind is deprecated since Python 3.13

    return start


@EVERY
def test_a_function_that_always_fails_loses_no_event_in_silence(
    name: str, step: int, fresh: Callable[[], Path], tmp_path: Path
) -> None:
    fresh()
    places = sorted({site.partition(" ")[2] for site in calls(EVENTS[name], tmp_path)})
    results = {}
    for place in places[::step]:
        vault = fresh()
        results[place] = outcome(vault, limited(EVENTS[name], break_for_good(place)))
    assert [place for place, found in results.items() if not found] == []
    assert "vault" in results.values() or len(results) < FEW_PLACES


# -- deadline, sync and what is told -----------------------------------------------------------------


@pytest.mark.parametrize("work", few([hang, hang_whatever_comes], always=[hang_whatever_comes]))
def test_a_hook_that_hangs_ends_at_its_deadline_and_says_so(fresh: Callable[[], Path], work: Callable[[], Any]) -> None:
    vault = fresh()
    Path(launcher.path()).parent.mkdir(parents=True, exist_ok=True)

    def start() -> None:
        launch.served_launcher = launcher.path()
        hook.DEADLINE_SECONDS = hook.GRACE_SECONDS = 0.2
        events.capture = lambda *_: work()

    assert "lost" in json.loads(limited(EVENTS["prompt"], start))["systemMessage"]
    if work is hang_whatever_comes:  # then only the launcher's log is left
        (lost,) = storing.lost_events(config.load(str(vault)))
        assert lost["why"] == launch.FAILED


def test_the_loss_of_a_hook_that_hangs_is_recorded_without_a_launcher(fresh: Callable[[], Path]) -> None:
    vault = fresh()

    def start() -> None:
        hook.DEADLINE_SECONDS = hook.GRACE_SECONDS = 0.2
        events.capture = lambda *_: hang_whatever_comes()

    assert "lost" in json.loads(limited(EVENTS["prompt"], start))["systemMessage"]
    (lost,) = storing.lost_events(config.load(str(vault)))
    assert (lost["event"], lost["why"]) == ("UserPromptSubmit", launch.FAILED)


def test_a_hook_that_was_suspended_past_its_deadline_stores_its_event_when_it_goes_on(
    fresh: Callable[[], Path],
) -> None:
    """As where a container is paused, a laptop sleeps, or a disk answers after minutes."""
    vault = fresh()

    def start() -> None:
        capture, slept = events.capture, 0.0
        vars(system)["time"] = SimpleNamespace(monotonic=lambda: time.monotonic() + slept, sleep=time.sleep)
        vars(system)["MORE_SECONDS"] = 60.0

        def suspended(*words: Any) -> Any:
            nonlocal slept
            slept = 1000.0
            signal.raise_signal(signal.SIGALRM)
            return capture(*words)

        vars(events)["capture"] = suspended

    assert limited(EVENTS["prompt"], start) == ""
    assert len(list(vault.rglob("0??-0??-*.md"))) == 1


def test_a_hook_that_was_suspended_while_it_read_waits_for_an_agent_that_was_suspended_too() -> None:
    source, target = os.pipe()
    code = f"""
import os, signal, sys, time
from types import SimpleNamespace
from mdmem import system
from mdmem.agents import payload

slept, read = 0.0, os.read
system.time = SimpleNamespace(monotonic=lambda: time.monotonic() + slept)
system.MORE_SECONDS = 60.0

def suspended(fd, size):
    global slept
    os.read, slept = read, 1000.0
    signal.raise_signal(signal.SIGALRM)
    os.write({target}, b"x" * 1000)
    os.close({target})
    return read(fd, size)

os.read = suspended
print(len(payload.read_stdin(60.0)))
"""
    hook_process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=source, stdout=subprocess.PIPE, pass_fds=[target]
    )
    for end in (source, target):
        os.close(end)
    assert hook_process.communicate()[0] == b"1000\n"


def test_a_note_whose_folder_cannot_be_synced_is_stored_and_not_told_as_lost(fresh: Callable[[], Path]) -> None:
    vault = fresh()
    limited(EVENTS["prompt"], lambda: None)

    def start() -> None:
        real = os.fsync

        def fsync(fd: int) -> None:
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                raise OSError(errno.EIO, "cannot sync")
            real(fd)

        vars(os)["fsync"] = fsync

    assert limited(EVENTS["tool"], start) == ""
    assert len(list(vault.rglob("0??-0??-*.md"))) == 2
    log = Path(config.load(str(vault)).state_dir) / "log"
    assert "may not survive a power cut" in log.read_text()


@pytest.mark.parametrize("name", ["EINVAL", "ENOSYS", "EOPNOTSUPP"])
def test_a_session_is_stored_where_the_file_system_cannot_sync(fresh: Callable[[], Path], name: str) -> None:
    vault = fresh()

    def start() -> None:
        def fsync(_: int) -> None:
            raise OSError(getattr(errno, name), "the file system has no such call")

        vars(os)["fsync"] = fsync

    assert [limited(EVENTS[event], start) for event in ("prompt", "tool")] == ["", ""]
    assert len(list(vault.rglob("0??-0??-*.md"))) == 2
    assert not (Path(config.load(str(vault)).state_dir) / "log").exists()


def test_that_notes_wait_and_that_one_is_lost_are_each_told_at_its_own_first_time(fresh: Callable[[], Path]) -> None:
    vault = fresh()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    def no_vault() -> None:
        disk._write = full

    def nothing() -> None:
        disk._write = retry_queue._write = full

    said = [
        limited(bash(f"run {number}", f"toolu_{number}"), limit)
        for number, limit in enumerate((no_vault, no_vault, nothing, nothing))
    ]
    assert ["will be retried" in line for line in said] == [True, False, False, False]
    assert ["is lost" in line for line in said] == [False, False, True, False]
    assert len(losses.recent(config.load(str(vault)), time.time())) == 2


def test_a_loss_that_a_full_disk_does_not_let_be_counted_is_told_each_time(fresh: Callable[[], Path]) -> None:
    vault = fresh()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    def nothing() -> None:
        disk._write = retry_queue._write = full
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    said = [limited(bash(f"run {number}", f"toolu_{number}"), nothing) for number in range(2)]

    assert ["is lost" in line for line in said] == [True, True]
    found = config.load(str(vault))
    assert [one["why"] for one in losses.recent(found, time.time())] == ["disk-full"]
    (told,) = unstored.lost(found)
    assert told.text.startswith("An event of an agent was lost at ")
    assert told.text.endswith(": unknown (the disk had no room for the cause).")
    assert losses.record(found, "Stop", "claude-code", "OSError", time.time())
    assert [one["why"] for one in losses.recent(found, time.time())] == ["disk-full", "OSError"]


@pytest.mark.parametrize("error", [OSError(errno.EIO, "cannot close"), MemoryError()])
def test_a_payload_is_stored_though_its_reading_failed_at_the_end(fresh: Callable[[], Path], error: Exception) -> None:
    vault = fresh()

    def start() -> None:
        real = system.within

        def within(seconds: float, work: Callable[[], None]) -> None:
            real(seconds, work)
            raise error

        vars(system)["within"] = within

    assert outcome(vault, limited(EVENTS["prompt"], start)) == "vault"
