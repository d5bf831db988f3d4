"""For tests of history: a vault with a repository, notes in it, and plain git to inspect the result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

import click.testing
import pytest

from mdmem import config
from mdmem.cli import main
from mdmem.config import Config
from mdmem.history.git import repository
from tests.helpers.plain_git import git as git

SESSION = "00893aaf-19fa-41d2-8238-13269b9b3ca0"
FOLDER = "journal/acme-notes-app/2026-09-14/0800-why-does-the-parser-fail-00893aaf"
PAGE = f"{FOLDER}/{FOLDER.rpartition('/')[2]}.md"


def start(vault: Path) -> Config:
    """Turn the vault into a repository; return its settings."""
    repository.init(vault)
    return config.load(str(vault))


def put(vault: Path, path: str, text: str) -> Path:
    """Write a file in the vault."""
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def captured(
    vault: Path,
    name: str,
    kind: str,
    title: str,
    *,
    session: str = SESSION,
    folder: str = FOLDER,
    body: str = "",
    **more: str,
) -> Path:
    """Write a note as a hook does."""
    meta = {
        "id": f"{abs(hash((session, name))) % 10**9:09d}x",
        "kind": kind,
        "title": title,
        "created": "2026-09-14T08:00:01Z",
        "project": "acme-notes-app",
        "session": session,
        "agent": "claude-code",
        **more,
    }
    head = "".join(f"{key}: {value}\n" for key, value in meta.items())
    return put(vault, f"{folder}/{name}.md", f"---\n{head}---\n\n{body or title}\n")


def turn(vault: Path, number: int = 1, *, session: str = SESSION, folder: str = FOLDER) -> None:
    """Write the notes of one turn: a prompt, two tool runs, an answer, the session's page."""
    more = {"session": session, "folder": folder}
    captured(vault, f"{number:03d}-000-prompt-why-p{number}", "prompt", f"Why does it fail, take {number}?", **more)
    captured(vault, f"{number:03d}-001-bash-pytest-b{number}", "observation", "pytest -q", tool="Bash", **more)
    captured(vault, f"{number:03d}-002-edit-dates-e{number}", "observation", "src/dates.py", tool="Edit", **more)
    captured(vault, f"{number:03d}-003-response-fixed-r{number}", "response", "Fixed; 12 tests pass", **more)
    page = f"<!-- mdmem:begin -->\n{number} turns\n<!-- mdmem:end -->"
    captured(vault, folder.rpartition("/")[2], "session", "Why does the parser fail", body=page, **more)


def run_here(
    *words: str,
    input: str = "",  # noqa: A002 - as subprocess.run has it
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `mdmem WORDS...` as the fixture `mdmem` does, but in this process, which saves the start."""
    runner = click.testing.CliRunner()
    with (
        mock.patch.object(sys, "argv", ["mdmem", *words]),
        chdir(cwd or Path.cwd()),
        runner.isolation(input=input, env=env) as (out, err, _),
        pytest.raises(SystemExit) as end,
    ):
        main()
    code = int(end.value.code or 0)
    done = subprocess.CompletedProcess(words, code, out.getvalue().decode(), err.getvalue().decode())
    if check and code:
        raise AssertionError(f"mdmem {' '.join(words)} ended with {code}:\n{done.stdout}\n{done.stderr}")
    return done


def head_files(vault: Path) -> list[str]:
    """List the files of the last commit's tree."""
    return [path for path in git(vault, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0") if path]


FORKER = """
import os, sys
from mdmem import config
{code}
import git
settings = config.load(sys.argv[1])
for line in sys.stdin:
    child = os.fork()
    if child:
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)
        continue
    try:
        run(settings)
    finally:
        os._exit(0)
"""


@contextmanager
def forker(vault: Path, code: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that forks for each line on stdin; the fork calls `run(config)`, which `code` defines."""
    words = [sys.executable, "-c", FORKER.format(code=code), str(vault)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as server:
        assert server.stdin
        yield server
        server.stdin.close()


def run_and_kill(server: subprocess.Popen[str], after: float, *, with_git: bool) -> None:
    """Start a fork and `kill -9` it after `after` seconds. with_git: also all processes that it has started."""
    assert server.stdin
    assert server.stdout
    server.stdin.write("go\n")
    child = int(server.stdout.readline())
    time.sleep(after)
    for pid in [child, *(_children(child) if with_git else ())]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    assert server.stdout.readline() == "ended\n"


def _children(pid: int) -> list[int]:
    try:
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*found, *(below for child in found for below in _children(child))]
