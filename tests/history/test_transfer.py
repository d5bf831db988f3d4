"""A remote that is slow, or does not answer at all: what the user sees, and what is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem import config, progress, system
from mdmem.config import Config
from mdmem.errors import GitError
from mdmem.history import sync
from mdmem.history.git import transfer
from mdmem.history.space import clone
from tests.helpers.history_vault import git, head_files, put, start, turn
from tests.helpers.plain_git import make_remote
from tests.helpers.waiting import until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the transport is a shell script")


@pytest.fixture
def slow(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A vault whose remote says how far it is, whatever a test writes to `told`, until there is a file `go`."""
    script = tmp_path / "ssh"
    script.write_text(
        f'#!/bin/sh\ncd "{tmp_path}"\ncat told >&2\necho $$ >process\n'
        'while [ ! -e go ]; do sleep 0.05; done\necho "box: closed" >&2\nexit 1\n'
    )
    script.chmod(0o755)
    (tmp_path / "told").touch()
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    settings = start(vault)
    git(vault, "remote", "add", "origin", "git@box.example:memory.git")
    turn(vault)
    return settings


def test_a_remote_that_never_answers_is_given_up_and_its_transport_is_ended(
    slow: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "SILENT_SECONDS", 0.6)

    with pytest.raises(GitError, match=r"has not answered for 0\.01 minutes\. No note is lost; try again later"):
        sync.sync(slow)
    with pytest.raises(GitError, match="has not answered"):
        clone.clone("git@box.example:memory.git", tmp_path / "second")

    assert len(head_files(Path(slow.vault))) == 6
    assert not (tmp_path / "second").exists()
    transport = int((tmp_path / "process").read_text())
    until(lambda: not system.is_running(transport), "the end of the transport")


def test_a_user_who_waits_is_told_how_far_git_is_and_when_the_remote_does_not_answer(
    slow: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "told").write_text("remote: Total 9 (delta 0)\nReceiving objects:  40% (4/10), 1.20 MiB | 1 KiB/s\r")
    told: list[tuple[str, int, int]] = []
    seen: Callable[[], bool] = lambda: ("Fetching", 4, 10) in told  # noqa: E731

    def listen(what: str, done: int, total: int) -> None:
        told.append((what, done, total))
        if seen():
            monkeypatch.setattr(transfer, "TOLD_SECONDS", 0.0)
        if what.startswith("Still waiting"):
            (tmp_path / "go").touch()

    monkeypatch.setattr(progress, "listeners", [listen])

    with pytest.raises(GitError, match="box: closed") as refused:
        sync.sync(slow)

    assert seen()
    assert ("Still waiting for the remote. Ctrl-C stops.", 0, 0) in told
    assert "objects" not in str(refused.value)


def test_a_transfer_tells_how_far_it_is_while_the_pack_is_on_its_way(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ssh"
    script.write_text(
        f'#!/bin/sh\ncase "$2" in *"$(cat "{tmp_path}/slow")"*) ;; *) exec sh -c "$2" ;; esac\n'
        f'sh -c "$2"\nwhile [ ! -e "{tmp_path}/go" ]; do sleep 0.05; done\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    monkeypatch.setattr(transfer, "SILENT_SECONDS", 20.0)
    told: set[str] = set()

    def listen(what: str, _done: int, total: int) -> None:
        told.add(what)
        if total:
            (tmp_path / "go").touch()

    monkeypatch.setattr(progress, "listeners", [listen])
    address = f"box:{make_remote(tmp_path / 'remote.git')}"
    settings = start(vault)
    git(vault, "remote", "add", "origin", address)
    turn(vault)

    def transfers(program: str, run: Callable[[], object]) -> set[str]:
        (tmp_path / "slow").write_text(program)
        (tmp_path / "go").unlink(missing_ok=True)
        told.clear()
        run()
        return told

    assert transfers("receive-pack", lambda: sync.sync(settings)) == {"Pushing"}
    assert transfers("upload-pack", lambda: clone.clone(address, tmp_path / "second")) == {"Fetching"}
    put(vault, "notes/one.md", "one\n")
    transfers("receive-pack", lambda: sync.sync(settings))
    second = config.load(str(tmp_path / "second"))
    assert transfers("upload-pack", lambda: sync.sync(second)) == {"Fetching"}


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("remote: Counting objects: 100% (5/5), done.\nfatal: no\n", "fatal: no\n"),
        ("Writing objects:  50% (1/2)\rWriting objects: 100% (2/2), 3 KiB, done.\n", ""),
        ("remote: Too large: 5 MB at most\n", "remote: Too large: 5 MB at most\n"),
        ("remote: ERROR: 403, no access\n", "remote: ERROR: 403, no access\n"),
        ("Cloning into 'a b'...\nbox: closed\n", "box: closed\n"),
        ("From box:m\n + 1b...2c main -> origin/main  (forced update)\n   1b..3d  x -> origin/x\nno\n", "no\n"),
        ("To box:m\n ! [remote rejected] main -> main (no)\n", " ! [remote rejected] main -> main (no)\n"),
        ("To sign in, visit https://box.example\n", "To sign in, visit https://box.example\n"),
        ("Delta compression using up to 2 threads\nTotal 3 (delta 0), reused 0 (delta 0)\n", ""),
    ],
)
def test_errors_of_git_are_kept_without_its_progress(printed: str, kept: str) -> None:

    words = [sys.executable, "-c", f"import sys; sys.stderr.write({printed!r})"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    assert transfer.communicate(process) == (b"", kept.encode())


def test_a_sync_in_a_script_says_once_that_it_waits_and_prints_no_counts(
    slow: Config, tmp_path: Path, ask: Callable[..., subprocess.CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "told").write_text("Receiving objects:  40% (4/10)\rReceiving objects:  50% (5/10)\r")
    monkeypatch.setattr(transfer, "TOLD_SECONDS", 0.6)
    monkeypatch.setattr(transfer, "SILENT_SECONDS", 1.6)

    done = ask("--vault", slow.vault, "sync")

    assert done.returncode == 7
    waits, gives_up = done.stderr.splitlines()
    assert waits == "mdmem: Still waiting for the remote. Ctrl-C stops."
    assert gives_up.startswith("mdmem: The remote has not answered for ")
