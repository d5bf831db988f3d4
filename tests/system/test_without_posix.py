"""The whole way from hook to answer without anything that only POSIX has; on Windows, as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.agents.install import launcher
from mdmem.system import local
from tests.conftest import REPO, notes
from tests.helpers import pages
from tests.helpers.claude import SESSION, bash, places, prompt, stop
from tests.helpers.history_vault import FOLDER, git, head_files, turn
from tests.helpers.waiting import until

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = (
    [sys.executable, "-m", "mdmem"]
    if os.name == "nt"
    else [sys.executable, str(REPO / "tests" / "helpers" / "without_posix.py")]
)


@pytest.fixture
def bare(home: Path) -> Run:
    """Run `mdmem WORDS...` in a Python without what only POSIX has."""

    def run(
        *words: str,
        payload: Mapping[str, Any] | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PROGRAM, *words],
            input=json.dumps(payload) if payload is not None else "",
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "PYTHONPATH": str(REPO)},
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def _log(vault: Path) -> str:
    file = Path(config.load(str(vault)).state_dir, "log")
    return file.read_text("utf-8") if file.exists() else ""


@pytest.mark.slow
def test_without_posix_hooks_store_injection_answers_search_finds_and_commit_commits(vault: Path, bare: Run) -> None:
    bare("init", str(vault))
    for event in (
        prompt("Why does the date parser fail on 2026-02-29?"),
        bash("12 passed"),
        stop("The date parser took every February for 28 days; we decided to ask the calendar module."),
    ):
        done = bare("hook", "claude-code", payload=event)
        assert (done.stdout, done.stderr) == ("", "")
    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]

    asked = prompt("Do you remember the date parser?") | {"session_id": SESSION[::-1]}
    answer = json.loads(bare("inject", "claude-code", payload=asked).stdout)
    assert "calendar module" in answer["hookSpecificOutput"]["additionalContext"]

    found = json.loads(bare("search", "+parser", "--json").stdout)
    assert {hit["kind"] for hit in found} >= {"prompt", "response"}

    bare("commit", "--quiet")
    assert len(head_files(vault)) >= 4
    assert git(vault, "status", "--porcelain") == ""
    assert bare("history").returncode == bare("status").returncode == 0
    assert _log(vault) == ""


@pytest.mark.slow
def test_without_posix_hooks_at_the_same_moment_number_each_note_once(vault: Path, bare: Run) -> None:
    bare("hook", "claude-code", payload=prompt("Run it"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: bare("hook", "claude-code", payload=bash("ok", f"toolu_{number}")), range(8)))
    assert places(notes(vault)) == ["001-000-prompt", *(f"001-{number:03d}-bash" for number in range(1, 9))]
    assert _log(vault) == ""


@pytest.mark.slow
def test_without_posix_a_watcher_answers_on_loopback(vault: Path, bare: Run) -> None:
    (vault / "page.md").write_text("We chose the zeppelin.\n")
    launcher.use("/nonexistent/settings.json")
    process = subprocess.Popen(
        [*PROGRAM, "watch"], env={**os.environ, "PYTHONPATH": str(REPO)}, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 240
        while not json.loads(bare("watch", "--status", "--json").stdout).get("current"):
            assert time.monotonic() < end and process.poll() is None
        assert json.loads(bare("search", "zeppelin", "--json").stdout)[0]["path"] == "page.md"
        assert json.loads(bare("watch", "--status", "--json").stdout)["answered"] == 1, _log(vault)
        assert Path(local.port_path(config.load(str(vault)).runtime_dir, "watch")).exists()
        bare("hook", "claude-code", payload=prompt("Why does the date parser fail?"))
        assert places(notes(vault))[0] == "001-000-prompt"
        assert not Path(launcher.socket_path()).exists(), "hooks are served where there are local sockets"
        bare("watch", "--stop")
        assert process.wait(240) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_without_posix_the_registered_commit_runs_in_the_background(vault: Path, bare: Run) -> None:
    bare("init", str(vault))
    (vault / "notes" / "page.md").write_text("We chose the zeppelin.\n")
    code = launcher.code("commit")
    first = "" if os.name == "nt" else "from tests.helpers import without_posix; without_posix.remove_posix()\n"
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run(
        [sys.executable, "-c", first + code, "commit", "claude-code", "--vault", str(vault)],
        input="{}",
        capture_output=True,
        text=True,
        env=env,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    until(lambda: "notes/page.md" in head_files(vault))


@pytest.mark.slow
def test_without_posix_a_session_knows_what_was_private_in_it(vault: Path, bare: Run) -> None:
    said = bare("hook", "claude-code", payload=prompt("Log in with <private>Zqx81!walrus</private> and look")).stdout
    assert "private" in json.loads(said)["systemMessage"]

    bare("hook", "claude-code", payload=bash("the server said Zqx81!walrus"))

    assert places(notes(vault)) == ["001-000-prompt", "001-001-bash"]
    assert "walrus" not in "".join(path.read_text("utf-8") for path in notes(vault))
    assert _log(vault) == ""


@pytest.mark.slow
def test_without_posix_pages_are_served(vault: Path, bare: Run) -> None:
    pytest.importorskip("starlette")
    bare("hook", "claude-code", payload=prompt("Why does the date parser fail?"))

    with pages.serving(vault, {"PYTHONPATH": str(REPO)}, program=PROGRAM) as served:
        status, _, shown = served.ask("/", headers={"Cookie": served.enter()})
        assert served.ask("/")[0] == 401

    assert (status, "date parser" in shown) == (200, True)
    assert _log(vault) == ""


@pytest.mark.slow
def test_without_posix_a_year_is_packed_found_and_taken_apart(vault: Path, bare: Run) -> None:
    bare("init", str(vault))
    turn(vault, folder=FOLDER.replace("2026", "2024"))
    bare("commit", "--quiet")
    before = {path: (vault / path).read_bytes() for path in head_files(vault)}

    bare("archive", "2024")

    assert not list(vault.glob("journal/*/2024-*"))
    assert json.loads(bare("search", "parser", "--json").stdout)
    bare("archive", "--undo", "2024")
    assert {path: (vault / path).read_bytes() for path in head_files(vault)} == before
    assert git(vault, "status", "--porcelain") == ""
    assert _log(vault) == ""


@pytest.mark.slow
def test_without_posix_the_watcher_becomes_a_task_of_the_task_scheduler(
    vault: Path, bare: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    (tmp_path / "schtasks").write_text(f'#!/bin/sh\necho "$*" >> {asked}\n')
    (tmp_path / "schtasks").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    code = (
        "from tests.helpers import without_posix; without_posix.remove_posix()\n"
        "from mdmem.watcher import service; service._system = lambda: service.TASKS\n"
        "from mdmem.__main__ import main; main()"
    )
    for words in (["install", "service", "--now", "--yes"], ["uninstall", "service"]):
        subprocess.run(
            [sys.executable, "-c", code, *words], cwd=REPO, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )

    verbs = [line.split()[0] for line in asked.read_text().splitlines()]
    assert verbs[:2] == ["/Create", "/Run"]
    assert verbs[-1] == "/Delete"


@pytest.mark.skipif(os.name == "nt", reason="nothing has to be taken out there")
def test_nothing_that_only_posix_has_is_left_in_the_process_that_this_file_tests_with() -> None:
    code = (
        "from tests.helpers import without_posix as w; w.remove_posix(); import os, signal, socket, sys\n"
        "assert not hasattr(os, 'fork') and not hasattr(os, 'link') and not hasattr(socket, 'AF_UNIX')\n"
        "assert not hasattr(signal, 'setitimer') and sys.modules['fcntl'] is None\n"
        "from mdmem import system; assert system.HeldFolder.__module__ == 'mdmem.system.windows'"
    )
    subprocess.run([sys.executable, "-c", code], cwd=REPO, check=True)
