"""The watcher: what is saved is indexed by itself, whatever way it was saved; and nothing needs the watcher."""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from watchdog.events import FileCreatedEvent
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from mdmem import __version__, config, system, timestamps
from mdmem.history import changes, commit
from mdmem.history.git import git_index, repository
from mdmem.history.git.repository import Repository
from mdmem.history.scan import ScanMode
from mdmem.search import index
from mdmem.watcher import client, events, file_system, loop, touched
from tests.conftest import REPO
from tests.helpers.history_vault import put
from tests.helpers.indexed import in_step
from tests.helpers.plain_git import git, make_remote
from tests.helpers.waiting import SECONDS, until
from tests.helpers.watching import running, status

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def watcher(vault: Path) -> Iterator[subprocess.Popen[bytes]]:
    with running(vault) as process:
        yield process


@pytest.mark.slow
def test_a_note_is_indexed_whichever_way_it_is_saved(vault: Path, watcher: subprocess.Popen[bytes]) -> None:
    settings = config.load(str(vault))
    (vault / "notes").mkdir()

    (vault / "notes" / "plain.md").write_text("written in place")
    until(lambda: in_step(settings), "a plain save is indexed")

    (vault / "notes" / ".swap").write_text("saved atomically")
    os.replace(vault / "notes" / ".swap", vault / "notes" / "plain.md")
    until(lambda: in_step(settings), "an editor's atomic save is indexed")

    (vault / "notes" / ".temp").write_text("published by a link")
    os.link(vault / "notes" / ".temp", vault / "notes" / "linked.md")
    (vault / "notes" / ".temp").unlink()
    until(lambda: in_step(settings), "a linked file is indexed")

    (vault / "notes").rename(vault / "moved")
    until(lambda: in_step(settings), "a moved folder is followed")

    shutil.rmtree(vault / "moved")
    until(lambda: in_step(settings), "a deleted folder is forgotten")


@pytest.mark.slow
def test_a_flood_of_files_in_new_folders_is_indexed_whole(vault: Path, watcher: subprocess.Popen[bytes]) -> None:
    settings = config.load(str(vault))
    count = 250 if "MDMEM_SOAK" not in os.environ else 5_000
    for n in range(count):
        folder = vault / f"folder-{n // 10}"
        if n % 10 == 0:
            folder.mkdir()
        (folder / f"{n}.md").write_text(f"# note {n}\n" + "words " * 50)
    until(lambda: in_step(settings), "the flood is indexed")


@pytest.mark.slow
def test_a_second_watcher_says_so_and_ends(vault: Path, watcher: subprocess.Popen[bytes], mdmem: Run) -> None:
    done = mdmem("watch")
    assert done.returncode == 6
    assert "A watcher is already running" in done.stderr


@pytest.mark.slow
def test_a_killed_watcher_leaves_nothing_to_clean_up(vault: Path, watcher: subprocess.Popen[bytes], mdmem: Run) -> None:
    watcher.send_signal(signal.SIGKILL)
    watcher.wait()
    assert not json.loads(mdmem("watch", "--status", "--json").stdout)["running"]
    mdmem("watch", "--background", check=True)
    assert json.loads(mdmem("watch", "--status", "--json").stdout)["running"]
    mdmem("watch", "--stop", check=True)
    assert not json.loads(mdmem("watch", "--status", "--json").stdout)["running"]
    assert not list(Path(config.load(str(vault)).runtime_dir).glob("watch.*"))


@pytest.mark.slow
def test_a_watcher_whose_state_folder_was_deleted_begins_again_and_can_be_stopped(
    vault: Path, watcher: subprocess.Popen[bytes], mdmem: Run
) -> None:
    state = Path(config.load(str(vault)).state_dir)
    shutil.rmtree(state)

    until(lambda: (state / "watch.lock").exists() and bool(status(vault).get("current")), "the watcher answers again")
    assert status(vault)["pid"] == watcher.pid
    assert mdmem("watch").returncode == 6
    mdmem("watch", "--stop", check=True)
    assert watcher.wait(240) == 0


def installed_beside(folder: Path) -> Path:
    """Make another installation, whose version is 0.0.1; return the file of its version."""
    shutil.copytree(REPO / "mdmem", folder / "other/mdmem", ignore=shutil.ignore_patterns("__pycache__"))
    version = folder / "other/mdmem/__init__.py"
    version.write_text(version.read_text().replace(f'"{__version__}"', '"0.0.1"'))
    return version


@pytest.mark.slow
def test_that_two_versions_rebuild_the_index_in_turn_is_said_by_both(vault: Path, tmp_path: Path, mdmem: Run) -> None:
    put(vault, "notes/plan.md", "walnut")
    installed_beside(tmp_path)
    words = [sys.executable, "-m", "mdmem", "search", "walnut"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "other")}
    said = []
    for _ in range(4):
        said.append(mdmem("search", "walnut").stderr)
        said.append(subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stderr)

    assert ["in turn" in one for one in said] == [False] * 5 + [True] * 3
    assert "this is mdmem 0.0.1 of" in said[-1]


@pytest.fixture
def older(vault: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Run the watcher of another installation, whose version is 0.0.1; return it with the file of its version."""
    version = installed_beside(tmp_path)
    put(vault, "mdmem.toml", "[watch]\ncommit_after_seconds = 1\n")  # so often it looks
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "other")}
    words = [sys.executable, "-m", "mdmem", "watch"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, env=env, cwd=tmp_path)
    try:
        until(lambda: bool(status(vault).get("current")), "the watcher is current")
        assert status(vault)["version"] == "0.0.1"
        yield process, version
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_that_the_watcher_that_runs_already_is_another_version_is_said(
    older: tuple[subprocess.Popen[bytes], Path], mdmem: Run
) -> None:
    said = mdmem("watch", "--background").stdout

    assert "A watcher is already running." in said
    assert f"The watcher is mdmem 0.0.1; this is {__version__}. `mdmem watch --stop`" in said


def is_replaced_by(version: str, vault: Path, process: subprocess.Popen[bytes], mdmem: Run) -> None:
    """Check that another version goes on in a watcher's process, and ends well."""
    until(lambda: status(vault).get("version") == version, "the new version runs")
    assert status(vault)["pid"] == process.pid
    mdmem("watch", "--stop", check=True)
    assert process.wait(240) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there, no process can be replaced by another")
def test_a_watcher_that_is_upgraded_begins_again_with_the_new_version(
    vault: Path, older: tuple[subprocess.Popen[bytes], Path], mdmem: Run
) -> None:
    process, version = older
    for words in (("doctor", "--only", "watcher"), ("watch", "--status"), ("status",)):
        assert f"The watcher is mdmem 0.0.1; this is {__version__}" in mdmem(*words).stdout
    version.write_text(version.read_text().replace("0.0.1", "10.0.0"))  # of another size, or its bytecode counts

    is_replaced_by("10.0.0", vault, process, mdmem)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there, no process can be replaced by another")
def test_a_watcher_whose_mdmem_an_upgrade_of_python_has_moved_begins_again_with_the_new_one(
    vault: Path, older: tuple[subprocess.Popen[bytes], Path], mdmem: Run
) -> None:
    process, version = older
    shutil.rmtree(version.parent)  # then its Python has only the mdmem that is tested

    is_replaced_by(__version__, vault, process, mdmem)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there, no process can be replaced by another")
def test_an_upgraded_watcher_whose_index_the_new_version_replaced_first_begins_again(
    vault: Path, older: tuple[subprocess.Popen[bytes], Path], mdmem: Run
) -> None:
    process, version = older
    mdmem("search", "walnut")  # the new version rebuilds the index
    version.write_text(
        version.read_text().replace("0.0.1", __version__) + "\n"
    )  # of another size, or its bytecode counts
    put(vault, "notes/plan.md", "walnut")  # the old one meets that at once

    is_replaced_by(__version__, vault, process, mdmem)


@pytest.mark.slow
def test_a_watcher_whose_index_another_version_replaces_ends_instead_of_rebuilding_it_in_turn(
    vault: Path, older: tuple[subprocess.Popen[bytes], Path], mdmem: Run
) -> None:
    process, _ = older
    mdmem("search", "walnut")
    put(vault, "notes/plan.md", "walnut")  # what it would index

    assert process.wait(240) == 0
    assert "another version of mdmem uses the index" in mdmem("doctor", "--only", "log").stdout
    mdmem("search", "walnut")
    assert "Rebuilt the index" not in mdmem("search", "walnut").stderr
    assert not status(vault)


@pytest.mark.slow
def test_a_suspended_watcher_is_told_from_none(vault: Path, watcher: subprocess.Popen[bytes], mdmem: Run) -> None:
    watcher.send_signal(signal.SIGSTOP)
    try:
        said = mdmem("watch", "--status").stdout
        refused = [mdmem("watch", word) for word in ("--stop", "--background")]
        checked = [mdmem("doctor", "--only", "watcher").stdout, mdmem("status").stdout]
    finally:
        watcher.send_signal(signal.SIGCONT)
    assert "does not answer" in said
    if sys.platform == "linux":
        assert f"suspended (pid {watcher.pid}). `kill -CONT {watcher.pid}`" in said
    assert [(one.returncode, "kill -CONT" in one.stderr) for one in refused] == [(6, True)] * 2
    assert ["does not answer" in one for one in checked] == [True] * 2
    assert json.loads(mdmem("watch", "--status", "--json").stdout)["running"]


def test_a_watcher_ends_well_when_asked_to(vault: Path, watcher: subprocess.Popen[bytes]) -> None:
    watcher.send_signal(signal.SIGTERM)
    assert watcher.wait(timeout=240) == 0


def test_the_socket_is_the_users_alone(vault: Path, watcher: subprocess.Popen[bytes]) -> None:
    (path,) = Path(config.load(str(vault)).runtime_dir).glob("watch.*")
    assert oct(path.stat().st_mode)[-3:] == "600"
    assert oct(path.parent.stat().st_mode)[-3:] == "700"


@pytest.mark.parametrize("name", ["watch.sock", "watch.port"])
def test_without_a_watcher_there_is_no_answer(vault: Path, name: str) -> None:
    settings = config.load(str(vault))
    assert client.ask(settings, "status", {}, b"", seconds=1) is None
    path = Path(settings.runtime_dir, name)
    path.parent.mkdir(parents=True)
    path.write_text("not a socket")
    assert client.ask(settings, "status", {}, b"", seconds=1) is None


@pytest.mark.slow
def test_a_request_that_is_garbage_does_not_end_the_watcher(vault: Path, watcher: subprocess.Popen[bytes]) -> None:
    settings = config.load(str(vault))
    for words in ("", "unknown", "\udcff", "status " * 1_000):
        client.ask(settings, words, {}, os.urandom(2_000), seconds=20)
    assert status(vault)["running"]


def test_what_happened_is_a_set_of_paths_and_begins_with_the_whole_vault(vault: Path) -> None:
    stop = threading.Event()
    dirty = events.Dirty(str(vault))
    seen: list[set[str] | None] = []

    def follow() -> None:
        for _ in events.settled(dirty, stop):
            seen.append(dirty.take())

    thread = threading.Thread(target=follow)
    thread.start()
    until(lambda: bool(seen), "the first batch")
    assert seen == [None]
    (vault / "a.md").write_text("x")
    (vault / ".hidden.md").write_text("x")
    (vault / "a.txt").write_text("x")
    until(lambda: len(seen) > 1, "the second batch")
    stop.set()
    dirty.sweep()
    thread.join()
    assert seen[1] == {"a.md"}


def test_the_notes_of_a_turn_are_one_batch_that_its_answer_ends(vault: Path) -> None:
    dirty = events.Dirty(str(vault))
    assert dirty.take() is None
    session = f"{vault}/journal/app/2026-09-14/0800-why-00893aaf"
    for name in ("001-000-prompt-why-7gk2q9m4x1.md", "001-001-bash-ls-x81kd0a3bz.md"):
        dirty.on_any_event(FileCreatedEvent(f"{session}/{name}"))
        assert not dirty.wait_for_turn(0)
    dirty.on_any_event(FileCreatedEvent(f"{session}/001-002-response-fixed-m2k4j8q1w2.md"))
    assert dirty.wait_for_turn(0)
    assert len(dirty.take() or ()) == 3

    dirty.on_any_event(FileCreatedEvent(f"{session}/002-000-prompt-and-now-7gk2q9m4x2.md"))
    assert not dirty.wait_for_turn(0)
    dirty.on_any_event(FileCreatedEvent(f"{vault}/notes/by-a-person.md"))
    assert dirty.wait_for_turn(0)


@pytest.mark.slow
def test_after_an_overflow_and_a_flood_the_whole_vault_is_looked_at(vault: Path) -> None:
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    batches = events.settled(dirty, stop)
    next(batches)
    assert dirty.take() is None
    logging.getLogger("watchdog.observers").warning("Inotify queue overflowed")
    next(batches)
    assert dirty.take_few() is None
    assert dirty.take() is None
    for n in range(events.MAX_BATCH + 1):
        dirty.on_any_event(FileCreatedEvent(f"{vault}/{n}.md"))
    next(batches)
    assert dirty.take() is None
    stop.set()
    assert not list(batches)


@pytest.mark.slow
def test_where_nothing_can_be_watched_sweeps_do_the_work(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr("mdmem.watcher.events.Observer.start", refuse)
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    batches = events.settled(dirty, stop, sweep_seconds=0.2)
    for _ in range(3):
        next(batches)
        assert dirty.take() is None
    monkeypatch.undo()
    next(batches)
    dirty.take()
    (vault / "a.md").write_text("x")
    next(batches)
    assert dirty.take() in ({"a.md"}, None)
    stop.set()
    assert not list(batches)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Emitter", "Observer", "FD" if sys.platform == "linux" else "Emitter"])
def test_a_vault_is_watched_again_when_a_thread_that_listens_has_ended(vault: Path, name: str) -> None:
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    before = set(threading.enumerate())
    batches = events.settled(dirty, stop, sweep_seconds=3600)
    next(batches)
    dirty.take()
    new = [thread for thread in threading.enumerate() if isinstance(thread, BaseThread) and thread not in before]
    (listening,) = (thread for thread in new if type(thread).__name__.endswith(name))
    listening.stop()
    listening.join()

    next(batches)
    assert dirty.take() is None, "nobody knows what has happened meanwhile"
    put(vault, "notes/plan.md", "walnut")
    next(batches)
    assert "notes/plan.md" in (dirty.take() or ())
    stop.set()
    assert not list(batches)


def test_a_vault_that_is_away_for_long_takes_no_more_threads_and_queues_with_each_look(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.0)
    before = set(threading.enumerate())
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    batches = events.settled(dirty, stop, sweep_seconds=10_000)
    next(batches)
    dirty.take()
    vault.rename(vault.with_name("disk"))
    dirty.sweep()
    for _ in range(4):
        next(batches)
        dirty.take()

    assert dirty.unwatched
    assert not [thread for thread in set(threading.enumerate()) - before if isinstance(thread, BaseThread)]
    vault.with_name("disk").rename(vault)
    next(batches)
    assert not dirty.unwatched
    stop.set()
    assert not list(batches)


def test_a_watch_for_which_no_thread_can_be_started_leaves_no_thread_and_no_queue(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())

    def fail(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Observer, "start", fail)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="new thread"):
            next(events.settled(events.Dirty(str(vault)), threading.Event()))

    assert not [thread for thread in set(threading.enumerate()) - before if isinstance(thread, BaseThread)]


@pytest.mark.slow
def test_a_vault_that_is_replaced_is_watched_again(vault: Path) -> None:
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    batches = events.settled(dirty, stop, sweep_seconds=0.5)
    next(batches)
    vault.rename(vault.with_name("old"))
    vault.mkdir()
    seen: set[str] = set()

    def sees(name: str) -> bool:
        (vault / name).write_text(str(len(seen)))
        next(batches)
        seen.update(dirty.take() or ())
        return name in seen

    until(lambda: sees("new.md"), "an event of the new folder")
    stop.set()
    assert not list(batches)


def test_a_vault_that_comes_back_is_looked_at_whole_as_after_its_disk_was_unmounted(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile a search may have emptied the index, and the vault's folder reports no change of its own."""
    monkeypatch.setattr(events, "LOOK_UP_SECONDS", 0.1)
    dirty, stop = events.Dirty(str(vault)), threading.Event()
    batches = events.settled(dirty, stop, sweep_seconds=10_000)
    next(batches)
    assert dirty.take() is None
    assert dirty.is_in_place()
    vault.rename(vault.with_name("disk"))
    vault.mkdir()
    assert not dirty.is_in_place()
    next(batches)
    assert dirty.take() is None

    vault.rmdir()
    vault.with_name("disk").rename(vault)
    next(batches)

    assert dirty.take() is None
    assert dirty.is_in_place()
    stop.set()
    assert not list(batches)


@pytest.mark.slow
def test_a_checkout_of_many_notes_is_followed_both_ways(vault: Path) -> None:
    count = 200 if "MDMEM_SOAK" not in os.environ else 1_000
    settings = config.load(str(vault))
    git(vault, "init", "-q", "-b", "main")
    git(vault, "commit", "-q", "--allow-empty", "-m", "empty")
    git(vault, "checkout", "-q", "-b", "full")
    for n in range(count):
        folder = vault / "notes" / str(n // 100)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n}.md").write_text(f"# note {n}\n\nwritten on a branch\n")
    git(vault, "add", ".")
    git(vault, "commit", "-q", "-m", "full")
    git(vault, "checkout", "-q", "main")
    with running(vault):
        git(vault, "checkout", "-q", "full")
        until(lambda: known(settings) == count, "all notes of the branch are known")
        git(vault, "checkout", "-q", "main")
        until(lambda: known(settings) == 0, "all are forgotten")
        until(lambda: in_step(settings), "the index agrees")


def known(settings: config.Config) -> int:
    view = index.current(settings)
    return view.live if view is not None else 0


@pytest.mark.slow
def test_a_watcher_that_is_killed_again_and_again_loses_nothing(vault: Path) -> None:
    settings = config.load(str(vault))
    for n in range(int(os.environ.get("MDMEM_SOAK", "2"))):
        with running(vault) as process:
            for m in range(50):
                (vault / f"{n}-{m}.md").write_text(f"# note {n} {m}\n")
            process.send_signal(signal.SIGKILL)
    with running(vault):
        until(lambda: in_step(settings), "everything is indexed")
        assert known(settings) == len(list(vault.glob("*.md")))


def test_a_watcher_goes_on_where_the_system_starts_no_process(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = loop.Watcher(config.load(str(vault)), {})
    (vault / "one.md").write_text("# one\n")

    with monkeypatch.context() as full:
        full.setattr(subprocess, "Popen", _refused)
        full.setattr(loop, "BATCH_SECONDS", 0.0)
        assert not watcher._index_batch()

    assert watcher._index_batch()
    assert known(watcher.config) == 1


def test_a_commit_looks_at_everything_after_a_sweep_that_broke_off(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = loop.Watcher(config.load(str(vault)), {})
    (vault / "one.md").write_text("# one\n")
    seen = watcher.dirty.touched
    seen.begin()
    monkeypatch.setattr(seen, "has_all_events", lambda _: True)
    token, _ = seen.since(str(vault), "") or ("", None)
    monkeypatch.setattr(subprocess, "Popen", _refused)
    monkeypatch.setattr(loop, "BATCH_SECONDS", 0.0)

    assert not watcher._index_batch()

    new_token, paths = seen.since(str(vault), token) or ("", None)
    assert (new_token != token, paths) == (True, None)


@pytest.mark.skipif(os.name == "nt", reason="the transport is a shell script")
def test_a_sync_that_takes_too_long_is_ended_and_recorded_unless_the_watcher_stops(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = tmp_path / "ssh"
    transport.write_text("#!/bin/sh\nexec sleep 600\n")
    transport.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(transport))
    repository.init(vault)
    git(vault, "remote", "add", "origin", "git@box.example:memory.git")
    recorded: list[tuple[str, str]] = []
    settings = config.load(str(vault))
    watcher = loop.Watcher(settings, {}, record=lambda command, error: recorded.append((command, type(error).__name__)))
    monkeypatch.setitem(loop.PATIENCE_SECONDS, "sync", 0.0)

    watcher._sync()

    assert (watcher.sync_failed, recorded) == (True, [("sync", "TimeoutError")])
    assert "`mdmem sync` was ended, as it took over 0 minutes" in Path(settings.state_dir, "log").read_text("utf-8")
    watcher.end()
    watcher._sync()
    assert len(recorded) == 1


def _refused(*_: Any, **__: Any) -> None:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_what_is_due_is_not_put_off_by_a_clock_that_was_set_back() -> None:
    now = time.time()

    assert loop.has_passed(60, now - 61)
    assert loop.has_passed(60, now + 86_400)
    assert not loop.has_passed(3600, now)


@pytest.mark.slow
def test_the_watcher_commits_after_a_quiet_time_and_syncs_when_it_is_due(
    vault: Path, tmp_path: Path, mdmem: Run
) -> None:
    """Both as the settings say while it runs."""
    settings = config.load(str(vault))
    (vault / "mdmem.toml").write_text("[watch]\ncommit_after_seconds = 1\n")
    repository.init(vault)
    git(vault, "remote", "add", "origin", str(make_remote(tmp_path / "remote")))
    with running(vault):
        (vault / "one.md").write_text("# one\n")
        until(lambda: "one.md" in git(vault, "ls-files"), "it is committed")
        user = Path(config.user_file(os.environ))
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text("[sync]\nevery = 1\n")
        until(lambda: "refs/heads/" in git(tmp_path / "remote", "for-each-ref"), "it is pushed")
        until(lambda: bool(status(vault).get("synced")), "it says so")
        assert not status(vault)["sync_failed"]
        synced = timestamps.readable(status(vault)["synced"])
        assert f"The last sync was at {synced} and went well." in mdmem("watch", "--status").stdout
    assert not (Path(settings.state_dir) / "log").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the transport is a shell script")
def test_a_watcher_that_is_stopped_ends_a_sync_that_waits_for_the_network_with_its_transport(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = tmp_path / "ssh"
    transport.write_text(f'#!/bin/sh\necho $$ >"{tmp_path}/new"\nmv "{tmp_path}/new" "{tmp_path}/id"\nexec sleep 600\n')
    transport.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(transport))
    repository.init(vault)
    git(vault, "remote", "add", "origin", "git@box.example:memory.git")
    user = Path(config.user_file(os.environ))
    user.parent.mkdir(parents=True, exist_ok=True)
    user.write_text("[sync]\nevery = 1\n")

    with running(vault) as process:
        until((tmp_path / "id").exists, "a sync")
        process.terminate()
        process.wait(SECONDS)

    until(lambda: not system.is_running(int((tmp_path / "id").read_text())), "the end of the transport")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the transport is a shell script")
def test_a_sync_of_the_watcher_that_is_killed_is_told_as_one_that_failed(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mdmem: Run
) -> None:
    transport = tmp_path / "ssh"
    transport.write_text(
        "#!/bin/sh\nid=$PPID\n"
        "until ps -ww -o args= -p $id | grep -q 'mdmem.* sync'; do id=$(ps -o ppid= -p $id | tr -d ' '); done\n"
        "kill -KILL $id\n"
    )
    transport.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(transport))
    repository.init(vault)
    git(vault, "remote", "add", "origin", "git@box.example:memory.git")
    user = Path(config.user_file(os.environ))
    user.parent.mkdir(parents=True, exist_ok=True)
    user.write_text("[sync]\nevery = 1\n")

    with running(vault):
        until(lambda: bool(status(vault).get("sync_failed")), "the end of a sync")

    assert "Every sync of the vault has failed since" in mdmem("status", check=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the times of files do not tell there")
def test_a_commit_takes_what_the_watcher_saw_change_in_place_without_a_look_at_every_file(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(str(vault))
    repository.init(vault)
    (vault / "mdmem.toml").write_text("[watch]\nsweep_seconds = 86400\ncommit_after_seconds = 0\n")
    (vault / "notes").mkdir()
    for name in ("one.md", "two.md"):
        (vault / "notes" / name).write_text("# A note\n")
    for path in (vault / "notes", vault):
        os.utime(path, (1e9, 1e9))  # long ago: its time tells of what is added, and of nothing else
    wholes: list[None] = []
    monkeypatch.setattr(client, "TOUCHED_SECONDS", 60.0)
    every = changes.find

    def counted(repo: Repository, copy: git_index.Copy, *more: Any) -> changes.State:
        wholes.append(None)
        return every(repo, copy, *more)

    monkeypatch.setattr(changes, "find", counted)
    mode = ScanMode(touched=partial(client.touched, settings))
    with running(vault, patient=True):
        commit.commit(settings, mode=mode)  # gets the first token
        count = len(wholes)
        (vault / "notes/one.md").write_text("# A note, edited\n")
        (made,) = commit.commit(settings, mode=mode).commits
        assert commit.commit(settings, mode=mode).commits == []
        assert len(wholes) == count
    (vault / "notes/two.md").write_text("# A note, edited\n")
    (last,) = commit.commit(settings, mode=mode).commits
    assert (made.subject, last.subject) == ("By hand: edit notes/one.md", "By hand: edit notes/two.md")


def test_what_a_watcher_cannot_know_it_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    seen = touched.TouchedFiles()
    assert seen.since(str(tmp_path), "") is None, "nothing is watched"
    seen.begin()
    monkeypatch.setattr(touched, "WAIT_SECONDS", 0.01)
    assert seen.since(str(tmp_path), "") is None, "its sign is not heard of"
    monkeypatch.setattr(seen, "has_all_events", lambda _: True)
    first = seen.since(str(tmp_path), "")
    assert first and first[1] is None
    seen.add("notes/a.md")
    seen.add(".git/index")
    second = seen.since(str(tmp_path), first[0])
    assert second and second[1] == ["notes/a.md"]
    seen.begin()
    after = seen.since(str(tmp_path), second[0])
    assert after and after[1] is None, "an overflow"
    for number in range(touched.MOST + 1):
        seen.add(f"notes/{number}.md")
    assert (seen.since(str(tmp_path), after[0]) or ("", []))[1] is None, "too many"
    assert list((tmp_path / ".git").iterdir()) == []


def test_where_no_event_arrives_only_the_first_who_asks_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(touched, "WAIT_SECONDS", 0.01)
    seen = touched.TouchedFiles()
    seen.begin()
    assert not seen.has_all_events(str(tmp_path))
    before = (tmp_path / ".git").stat().st_mtime_ns
    assert not seen.has_all_events(str(tmp_path))
    assert (tmp_path / ".git").stat().st_mtime_ns == before, "no sign is made that nobody hears of"
    seen.begin()
    assert not seen.has_all_events(str(tmp_path))
    assert (tmp_path / ".git").stat().st_mtime_ns != before, "the vault is watched again"


@pytest.mark.slow
@pytest.mark.skipif(
    not file_system.is_local(Path(tempfile.gettempdir())), reason="times tell on local file systems only"
)
def test_a_commit_takes_what_only_a_sweep_finds_and_sweeps_forget_nothing_that_is_known(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(str(vault))
    repository.init(vault)
    (vault / "mdmem.toml").write_text("[watch]\nsweep_seconds = 1\ncommit_after_seconds = 0\n")
    (vault / "notes").mkdir()
    others = {vault.parent / "elsewhere.md": "one.md", vault.parent / "elsewhere.png": "one.png"}
    for other, name in others.items():
        other.write_text("# A note\n")
        (vault / "notes" / name).hardlink_to(other)
    monkeypatch.setattr(client, "TOUCHED_SECONDS", 60.0)
    with running(vault, patient=True):
        token, _ = client.touched(settings, "")
        first, paths = client.touched(settings, token)
        assert paths is not None
        for other in others:
            other.write_text("# A note, edited under its other name\n")

        def told() -> set[str]:
            _, paths = client.touched(settings, first)
            assert paths is not None, "a sweep has forgotten what was known"
            return set(paths)

        until(lambda: told() >= {"notes/one.md", "notes/one.png"}, "a sweep has found them")


def test_where_times_cannot_tell_a_sweep_forgets_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = touched.TouchedFiles()
    seen.begin()
    monkeypatch.setattr(seen, "has_all_events", lambda _: True)
    token, _ = seen.since(str(tmp_path), "") or ("", None)
    began = time.time_ns()
    seen.sweep(is_local=True)
    seen.met("notes/old.md", began - 60 * 10**9)
    seen.met("notes/new.md", began)
    after, paths = seen.since(str(tmp_path), token) or ("", None)
    assert paths == ["notes/new.md"]
    seen.sweep(is_local=False)
    assert (seen.since(str(tmp_path), after) or ("", []))[1] is None, "another machine has a clock of its own"


@pytest.mark.slow
def test_an_index_that_cannot_be_written_is_written_later(vault: Path) -> None:
    settings = config.load(str(vault))
    Path(settings.index_dir).parent.mkdir(parents=True, exist_ok=True)
    Path(settings.index_dir).write_text("in the way")
    process = subprocess.Popen([sys.executable, "-m", "mdmem", "watch"], stderr=subprocess.DEVNULL)
    try:
        until(lambda: bool(status(vault)), "it runs")
        assert not status(vault)["current"]
        assert client.ask(settings, "search x", {}, b"{}", seconds=20) is None
        Path(settings.index_dir).unlink()
        until(lambda: bool(status(vault).get("current")), "it is current")
    finally:
        process.kill()
        process.wait()


FAILS_ONCE = """
import errno, sys
from mdmem import system
from mdmem.cli import main

whole, failed = system.HeldFolder.open_to_read, []

def open_to_read(folder, name):
    if name == "plan.md" and len(failed) < 2:
        failed.append(name)
        raise OSError(errno.EIO, "Input/output error", name)
    return whole(folder, name)

system.HeldFolder.open_to_read = open_to_read
sys.argv = ["mdmem", "watch"]
main()
"""


@pytest.mark.slow
def test_a_note_that_the_disk_does_not_return_for_a_moment_is_indexed_without_another_event(vault: Path) -> None:
    settings = config.load(str(vault))
    process = subprocess.Popen([sys.executable, "-c", FAILS_ONCE], stderr=subprocess.DEVNULL)
    try:
        until(lambda: bool(status(vault).get("current")), "the watcher is current")
        put(vault, "notes/plan.md", "walnut")
        until(lambda: status(vault)["indexed"] == 1, "it is indexed", seconds=100)  # a sweep comes after 180
        assert in_step(settings)
    finally:
        process.kill()
        process.wait()


FAILS_ALWAYS = """
import errno, sys, threading
from mdmem import system
from mdmem.cli import main

whole = system.HeldFolder.open_to_read

def open_to_read(folder, name):
    if name == "plan.md":
        print(sum(isinstance(thread, threading.Timer) for thread in threading.enumerate()), flush=True)
        raise PermissionError(errno.EACCES, "Permission denied", name)
    return whole(folder, name)

system.HeldFolder.open_to_read = open_to_read
sys.argv = ["mdmem", "watch"]
main()
"""


@pytest.mark.slow
def test_a_note_that_stays_unreadable_does_not_keep_the_watcher_busier_with_each_scan_of_the_vault(
    vault: Path,
) -> None:
    put(vault, "mdmem.toml", "[watch]\nsweep_seconds = 1\n")
    put(vault, "notes/plan.md", "walnut")
    words = [sys.executable, "-c", FAILS_ALWAYS]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        planned = [int(process.stdout.readline()) for _ in range(10)]
        process.kill()
    assert max(planned) <= 1


def test_the_pause_after_failures_has_an_end_however_many_there_were() -> None:
    assert [loop.pause(failures) for failures in (0, 1, 3, 7, 100_000)] == [0.5, 1.0, 4.0, 60.0, 60.0]


def test_a_sync_every_so_often_is_a_setting_of_the_user(vault: Path, ask: Run) -> None:
    done = ask("sync", "--every", "2h", check=True)
    assert "every 120 minutes" in done.stdout
    assert "No watcher is running" in done.stdout
    assert config.load(str(vault)).settings.sync.every == 120
    (vault / "mdmem.toml").write_text("[sync]\nevery = 1\n")
    assert config.load(str(vault)).settings.sync.every == 120, "no vault can say so"
    ask("sync", "--every", "off", check=True)
    assert config.load(str(vault)).settings.sync.every == 0
    for wrong in ("10 parsecs", "-1", "0.5h", ""):
        assert ask("sync", "--every", wrong).returncode == 2


# -- limits of the system --------------------------------------------------------------------------


def _can_limit() -> bool:
    done = subprocess.run(["unshare", "-Ur", "test", "-w", "/proc/sys/user/max_inotify_watches"], capture_output=True)
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None or not _can_limit(), reason="needs a user namespace of its own")
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("max_inotify_watches", "watches"),
        pytest.param("max_inotify_instances", "instances", marks=pytest.mark.slow),
    ],
)
def test_without_inotify_the_watcher_polls_and_says_so(vault: Path, mdmem: Run, limit: str, said: str) -> None:
    for number in range(3):
        (vault / "notes" / str(number)).mkdir(parents=True)
    code = "import sys, mdmem.watcher.events as e; e.POLL_SECONDS = 0.5; sys.argv = ['mdmem', 'watch']; "
    code += "from mdmem.cli import main; main()"
    limit = f"echo {int(said == 'watches')} > /proc/sys/user/max_inotify_{said}"
    script = f'{limit}; exec {sys.executable} -c "{code}"'
    process = subprocess.Popen(["unshare", "-Ur", "sh", "-c", script], stderr=subprocess.DEVNULL)
    try:
        until(lambda: bool(status(vault).get("current")), "the watcher is current")
        assert said in str(status(vault)["polling"])
        (vault / "notes" / "2" / "late.md").write_text("a heron in the reeds")
        until(
            lambda: in_step(config.load(str(vault))) and index.current(config.load(str(vault))) is not None,
            "indexed",
        )
        assert process.poll() is None
        found = mdmem("doctor", "--only", "watcher")
        assert (found.returncode, said in found.stdout) == (1, True)
        assert said in mdmem("watch", "--status").stdout
    finally:
        process.kill()
        process.wait()
