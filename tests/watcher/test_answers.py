"""What the watcher answers: the same as a search in-process, or nothing at all."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.inject import injection_log, process
from mdmem.search.index.folder_times import FolderTimes
from mdmem.system import local
from mdmem.vault import template
from mdmem.views import rows
from mdmem.views.vault_pages import upkeep
from mdmem.watcher import answer, client
from tests.helpers.plain_git import git
from tests.helpers.talk import Talk
from tests.helpers.waiting import until
from tests.helpers.watching import running, status

Run = Callable[..., subprocess.CompletedProcess[str]]

QUESTION = "What did we decide about the date parser?"


@pytest.fixture
def past(vault: Path, tmp_path: Path) -> Talk:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.start()
    talk.says("Why does the date parser fail on 2026-02-29?")
    talk.answers("The parser took every February for 28 days. We decided to ask the calendar module.")
    return talk


def session(past: Talk, number: int) -> Talk:
    fresh = Talk(past.vault, past.cwd, f"{number:08d}-0000-4000-8000-000000000000")
    fresh.now = past.now + 86_400
    fresh.start()
    return fresh


@pytest.fixture
def watcher(past: Talk) -> Iterator[subprocess.Popen[bytes]]:
    with running(past.vault, patient=True) as process:
        yield process


def bare(context: str) -> str:
    """Return a context without what is drawn by lot for its fence."""
    return re.sub(r" id=[0-9a-f]+", "", context)


def count(context: str) -> int:
    return len(re.findall(r"\[mem:[0-9a-z]{10}\]", context))


def connected(settings: config.Config) -> closing[Any]:
    return closing(local.connect(settings.runtime_dir, client.NAME, time.monotonic() + 240))


def answers_of(vault: Path) -> int:
    return int(status(vault)["answered"])


@pytest.mark.slow
def test_an_injection_is_the_same_with_a_watcher_and_without(past: Talk) -> None:

    def both(number: int) -> list[str]:
        talk = session(past, number)
        return [bare(talk.inject("SessionStart", source="startup")), bare(talk.asks(QUESTION))]

    alone = both(1)
    with running(past.vault, patient=True):
        warm = both(2)
        assert answers_of(past.vault) == 2
    assert "calendar module" in alone[0]
    assert warm == alone
    rows = list(injection_log.read_log(config.load(str(past.vault))))
    assert [row["ids"] for row in rows[:2]] == [row["ids"] for row in rows[2:]]


def test_what_was_just_written_is_known_to_the_answer(past: Talk, watcher: subprocess.Popen[bytes], mdmem: Run) -> None:
    page = past.vault / "notes" / "page.md"
    page.parent.mkdir()
    for word in ("zeppelin", "balloon", "glider"):
        page.write_text(f"# Flight\n\nWe chose the {word}.\n")  # in place: no folder changes the second time
        found = json.loads(mdmem("search", f"+{word}", "--json", check=True).stdout)
        assert [hit["path"] for hit in found] == ["notes/page.md"], word
    past.says("We also decided that the exporter writes CSV.")
    assert "exporter writes CSV" in session(past, 3).asks("What did we decide about the exporter?")


def test_pages_are_made_of_what_the_watcher_has_indexed_without_a_look_at_any_folder(
    past: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "INDEXED_SECONDS", 240.0)
    monkeypatch.setattr(client, "SILENT_SECONDS", 240.0)
    git(past.vault, "init", "-q")
    settings = config.load(str(past.vault))
    start = past.vault / "README.md"
    start.write_text(template.load("vault/README.md"), encoding="utf-8")
    page = past.vault / "page.md"
    looks: list[str] = []
    with running(past.vault, patient=True):

        def changed(_: FolderTimes, root: str) -> list[str]:
            looks.append(root)
            return []

        monkeypatch.setattr(FolderTimes, "changed", changed)
        for times, title in enumerate(("Zeppelin", "Balloon", "Gliders"), 1):
            page.write_text(f"---\nkind: decision\ntitle: {title}\n---\n\nText {times}\n")
            assert "README.md" in upkeep.refresh(settings, now=time.time())
            assert f"[{title}](page.md)" in start.read_text("utf-8")
        page.unlink()
        assert "README.md" in upkeep.refresh(settings, now=time.time())
        assert "page.md" not in start.read_text("utf-8")
    assert looks == []


def test_a_list_asks_the_watcher_for_changes(past: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "INDEXED_SECONDS", 240.0)
    monkeypatch.setattr(client, "SILENT_SECONDS", 240.0)
    git(past.vault, "init", "-q")
    settings = config.load(str(past.vault))
    page = past.vault / "page.md"
    with running(past.vault, patient=True):
        for times, title in enumerate(("Zeppelin", "Balloon", "Gliders"), 1):
            page.write_text(f"# {title}\n")
            assert rows.ask(settings, partial(rows.titled, title=title))
            assert answers_of(past.vault) == times


@pytest.mark.slow
def test_a_list_without_an_answer_looks_for_changes_itself(
    past: Talk, watcher: subprocess.Popen[bytes], mdmem: Run
) -> None:
    watcher.send_signal(signal.SIGSTOP)
    (past.vault / "page.md").write_text("# Zeppelin\n")
    assert "Zeppelin" in mdmem("list", check=True).stdout
    watcher.send_signal(signal.SIGCONT)
    until(lambda: bool(status(past.vault)), "it answers again")
    assert answers_of(past.vault) == 0


@pytest.mark.slow
def test_each_asker_brings_its_own_environment(past: Talk, watcher: subprocess.Popen[bytes]) -> None:
    assert session(past, 1).asks(QUESTION, env={"MDMEM_DISABLED": "1"}) == ""
    short = session(past, 2).asks(QUESTION, env={"MDMEM_INJECT_BULLET_CHARS": "40"})
    long = session(past, 3).asks(QUESTION)
    assert 0 < len(short) < len(long)


@pytest.mark.slow
def test_the_users_settings_are_those_of_the_asker(
    past: Talk, watcher: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    (tmp_path / "mdmem").mkdir()
    (tmp_path / "mdmem" / "config.toml").write_text("[inject]\nrecall_limit = 1\n")
    assert count(session(past, 1).asks(QUESTION, env={"XDG_CONFIG_HOME": str(tmp_path)})) == 1
    assert answers_of(past.vault) == 1


@pytest.mark.slow
@pytest.mark.parametrize("stranger", ["another version", "other folders"])
def test_a_watcher_of_another_kind_does_not_answer(
    past: Talk, watcher: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, stranger: str, tmp_path: Path
) -> None:
    settings = config.load(str(past.vault))
    until_when = time.monotonic() + 240
    words = f"inject claude-code {time.monotonic()} {until_when}"
    body = json.dumps(session(past, 1).payload("UserPromptSubmit", prompt=QUESTION)).encode()
    with monkeypatch.context() as patch:
        if stranger == "another version":
            patch.setattr(client, "__version__", "0.0.1")
        else:
            settings.index_dir = str(tmp_path / "elsewhere")
        assert client.ask(settings, words, {}, body, seconds=60) is None
        assert client.ask(settings, "status", {}, b"", seconds=60)
    assert client.ask(config.load(str(past.vault)), words, {}, body, seconds=60)


@pytest.mark.slow
def test_a_watcher_that_hangs_costs_little_and_changes_nothing_when_it_wakes(
    past: Talk, watcher: subprocess.Popen[bytes]
) -> None:
    talk = session(past, 1)
    watcher.send_signal(signal.SIGSTOP)
    assert "calendar module" in talk.asks(QUESTION, env={"MDMEM_INJECT_DEADLINE_SECONDS": "20"})
    log = config.load(str(past.vault))
    assert len(list(injection_log.read_log(log))) == 1
    watcher.send_signal(signal.SIGCONT)
    until(lambda: bool(status(past.vault)), "it answers again")
    assert len(list(injection_log.read_log(log))) == 1, "what nobody waited for was not given"
    assert answers_of(past.vault) == 0


@pytest.mark.slow
def test_a_watcher_that_hangs_is_waited_for_once_in_a_while_and_not_long(
    past: Talk, watcher: subprocess.Popen[bytes], mdmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(str(past.vault))
    watcher.send_signal(signal.SIGSTOP)
    waits: list[float] = []
    for words in ("search", "touched x", "search"):
        started = time.monotonic()
        assert client.ask(settings, words, {}, b"{}", seconds=240.0) is None
        waits.append(time.monotonic() - started)
    assert waits[0] < 120.0
    assert max(waits[1:]) < waits[0], "it is not asked again"
    assert "calendar module" in mdmem("search", "calendar", check=True).stdout
    watcher.send_signal(signal.SIGCONT)
    until(lambda: bool(status(past.vault)), "it answers again")
    assert answers_of(past.vault) == 0, "nothing is done for who has gone"
    monkeypatch.setattr(client, "SILENCE_SECONDS", 0.0)
    body = json.dumps(session(past, 1).payload("UserPromptSubmit", prompt=QUESTION)).encode()
    words = f"inject claude-code {time.monotonic()} {time.monotonic() + 240}"
    assert client.ask(settings, words, {}, body, seconds=240.0), "it is asked again later"


def test_an_answer_that_comes_too_late_is_not_remembered(past: Talk) -> None:
    talk = session(past, 1)
    body = json.dumps(talk.payload("UserPromptSubmit", prompt=QUESTION)).encode()
    settings = config.load(str(past.vault))
    now = time.monotonic()
    for started, until_when in ((now, now), (now - 9, now - 8), (now + 60, now + 90)):
        assert process.answer(settings, ["claude-code", str(started), str(until_when)], {}, body) is None
    assert not list(injection_log.read_log(settings))
    assert not talk.flag("given").exists()
    long = json.dumps(talk.payload("UserPromptSubmit", prompt="Make the date parser take leap days. " * 20)).encode()
    times = iter([1.0, *[3.0] * 9])  # in time when it begins, too late once it has looked
    assert process.answer(settings, ["claude-code", "0", "2"], {}, long, clock=times.__next__) is None
    assert next(times) == 3.0, "it had begun to look"
    assert not talk.flag("recalled").exists(), "the next prompt may look up what nobody was given"


@pytest.mark.slow
def test_many_ask_at_once_and_each_gets_its_own_answer(past: Talk, watcher: subprocess.Popen[bytes]) -> None:
    talks = [session(past, number) for number in range(1, 7)]
    got: dict[int, str] = {}

    def ask_one(number: int) -> None:
        got[number] = talks[number].asks(QUESTION if number % 2 else "Fix the bug in parser.py")

    threads = [threading.Thread(target=ask_one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bool(got[number]) for number in range(6)] == [False, True] * 3
    assert len({bare(got[number]) for number in (1, 3, 5)}) == 1
    assert len(list(injection_log.read_log(config.load(str(past.vault))))) == 3


@pytest.mark.slow
def test_a_model_is_not_asked_for_by_the_watcher(past: Talk, watcher: subprocess.Popen[bytes]) -> None:
    user = Path(config.user_file(os.environ))
    user.parent.mkdir(parents=True)
    user.write_text('[expand]\nenabled = true\nprovider = "compatible"\naddress = "http://127.0.0.1:9/v1"\n')
    assert "calendar module" in session(past, 1).asks(QUESTION)
    assert answers_of(past.vault) == 0


@pytest.mark.slow
def test_half_a_request_and_a_torn_answer_hurt_nobody(past: Talk, watcher: subprocess.Popen[bytes]) -> None:
    settings = config.load(str(past.vault))
    for data in (b"", b"\n", b"inject", b"inject claude-code", b"inject claude-code x y\n\n", b"\xff" * 70_000):
        with connected(settings) as link:
            assert _heard(link, data) == b""
    with connected(settings) as link:
        link.send(b"inject claude")  # and nothing more, while others ask
        assert "calendar module" in session(past, 1).asks(QUESTION)
        assert answers_of(past.vault) == 1


def test_an_answer_without_its_last_byte_is_none(vault: Path) -> None:
    settings = config.load(str(vault))
    for said, heard in ((b"", b""), (b"x", b"x"), (None, None)):
        with answer.serving(settings, {"search": lambda *_, said=said: said}):
            assert client.ask(settings, "search", {}, b"", seconds=60) == heard


def _heard(link: socket.socket, request: bytes) -> bytes:
    """Return what comes back; a server that has already hung up, at whatever moment, said nothing."""
    try:
        link.sendall(request)
        link.shutdown(socket.SHUT_WR)
        return link.recv(100)
    except OSError:
        return b""


def test_where_a_unix_socket_cannot_be_the_watcher_answers_on_loopback_to_who_has_the_password(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("x" * 120)))
    settings = config.load(str(vault))
    file = Path(local.port_path(settings.runtime_dir, client.NAME))
    with answer.serving(settings, {"search": lambda *_: b"found"}) as server:
        assert client.ask(settings, "search", {}, b"", seconds=60) == b"found"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert server.server_address[0] == "127.0.0.1"
        request = f"search\n{client.sender(settings)}\n\n".encode()
        for password in (b"", b"0" * local.PASSWORD_CHARS):
            with socket.create_connection(("127.0.0.1", int(server.server_address[1]))) as link:
                assert _heard(link, password + request) == b""
    assert not file.exists()
    assert client.ask(settings, "search", {}, b"", seconds=60) is None


def test_a_request_for_which_the_system_starts_no_thread_is_logged_and_not_printed(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = config.load()

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with answer.serving(settings, {"search": lambda *_: b"found"}) as server:
        with monkeypatch.context() as patch:
            patch.setattr(server, "process_request", refuse)
            assert not client.ask(settings, "search", {}, b"", seconds=20.0)
        assert client.ask(settings, "search", {}, b"", seconds=20.0)

    assert capfd.readouterr().err == ""
    assert "a request over the local socket failed: RuntimeError" in Path(settings.state_dir, "log").read_text()
