"""What differs between systems: both halves keep the same promises, and names are such that any system takes them."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import slug, system
from mdmem.system import windows
from tests.conftest import notes
from tests.helpers.claude import bash, capture, prompt

HALVES = pytest.mark.parametrize("half", [system, windows], ids=["posix", "windows"])


# -- both halves -----------------------------------------------------------------------------------


@pytest.fixture
def fake_locks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the Windows half lock with `flock`, one lock for each open file."""
    if os.name == "nt":
        yield
        return
    import fcntl

    def locking(fd: int, mode: int, _: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN)
        except BlockingIOError as error:
            raise PermissionError(errno.EACCES, "locked") from error

    module = types.ModuleType("msvcrt")
    module.__dict__.update(LK_NBLCK=2, LK_UNLCK=0, locking=locking)
    monkeypatch.setitem(sys.modules, "msvcrt", module)
    yield


@HALVES
def test_a_file_is_published_once_and_by_one(half: Any, tmp_path: Path) -> None:
    with closing(half.open_folder(str(tmp_path))) as folder:
        for number in range(2):
            fd = folder.open_new(f"temp{number}")
            os.write(fd, b"%d" % number)
            os.close(fd)
        assert folder.publish("temp0", "name")
        assert not folder.publish("temp1", "name")
        (tmp_path / "linked").symlink_to("nowhere")
        assert not folder.publish("temp1", "linked")
    assert (tmp_path / "name").read_bytes() == b"0"
    assert (tmp_path / "linked").is_symlink()


@HALVES
def test_no_link_leads_out_of_a_folder(half: Any, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "inside" / "up").symlink_to(tmp_path)
    (tmp_path / "inside" / "file").symlink_to(tmp_path / "secret")
    with closing(half.open_folder(str(tmp_path / "inside"))) as folder:
        for name in ("up", "file"):
            with pytest.raises(NotADirectoryError):
                folder.child(name)
        with pytest.raises(OSError, match=r"link|symbolic") as refused:
            folder.open_to_read("file")
        assert refused.value.errno == errno.ELOOP
        with pytest.raises(FileNotFoundError):
            folder.child("missing")


@HALVES
def test_a_lock_is_held_by_one_until_it_is_closed(half: Any, tmp_path: Path, fake_locks: None) -> None:
    first, second = half.open_folder(str(tmp_path)), half.open_folder(str(tmp_path))
    assert first.lock(0)
    assert not second.lock(0)
    first.unlock()
    assert second.lock(0)
    second.close()
    assert first.lock(0)
    first.close()
    assert first.names() == [] if half is windows else True


@HALVES
def test_a_lock_is_waited_for_after_all_processes_stood_still(
    half: Any, tmp_path: Path, fake_locks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a paused container: the process that holds the lock had no time to release it either."""
    first, second = half.open_folder(str(tmp_path)), half.open_folder(str(tmp_path))
    assert first.lock(0)
    slept: list[float] = []

    def stand_still(seconds: float) -> None:
        slept.append(3600.0 if not slept else seconds)
        if len(slept) == 3:
            first.close()

    monkeypatch.setattr(half, "time", types.SimpleNamespace(monotonic=lambda: sum(slept), sleep=stand_still))
    assert second.lock(1)
    third = half.open_folder(str(tmp_path))
    assert not third.lock(1), "a lock that stays held is not waited for without end"
    assert sum(slept[3:]) < 2
    third.close()
    second.close()


def test_a_process_that_has_ended_is_known_not_to_run() -> None:
    ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", "pass"])
    ended.wait()
    assert system.is_running(os.getpid())
    assert not system.is_running(ended.pid)


@pytest.mark.skipif(os.name == "nt", reason="the process of this test is one of the system's own there")
@pytest.mark.parametrize(
    ("handle", "status", "error", "runs"), [(7, 259, 0, True), (7, 0, 0, False), (0, 0, 5, True), (0, 0, 87, False)]
)
def test_windows_is_asked_whether_a_process_runs_and_sends_it_nothing(
    monkeypatch: pytest.MonkeyPatch, handle: int, status: int, error: int, runs: bool
) -> None:
    closed: list[int] = []

    def exit_code(_: int, into: Any) -> int:
        into._obj.value = status
        return 1

    kernel = types.SimpleNamespace(
        OpenProcess=lambda *_: handle,
        GetLastError=lambda: error,
        GetExitCodeProcess=exit_code,
        CloseHandle=closed.append,
    )
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(os, "kill", None)

    assert windows.is_running(4711) is runs
    assert closed == ([handle] if handle else [])


@HALVES
def test_what_takes_too_long_is_left_alone(half: Any) -> None:
    def work() -> None:
        threading.Event().wait(30)

    with pytest.raises(TimeoutError):
        half.within(0.05, work)
    half.within(30, lambda: None)
    with pytest.raises(FileNotFoundError):
        half.within(30, lambda: os.stat("/does/not/exist") and None)


# -- names -----------------------------------------------------------------------------------------

RESERVED = ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))]


@given(st.one_of(st.text(max_size=80), st.sampled_from(RESERVED), st.sampled_from(RESERVED).map(str.upper)))
def test_every_slug_is_a_name_that_windows_takes(text: str) -> None:
    name = slug.slug(text)
    if name:
        path = PureWindowsPath("C:/Users/someone/mdmem") / name
        assert path.name == name and path.parent == PureWindowsPath("C:/Users/someone/mdmem")
        assert PureWindowsPath(name).stem.lower() not in RESERVED
        assert not set(name) & set('<>:"/\\|?*') and name.strip(". ") == name
        assert all(ord(c) > 31 for c in name)
        assert slug.slug(name.upper()) == slug.slug(name.upper().lower()), "names that differ only in case are one"


def test_a_long_note_of_a_long_project_stays_within_260_characters(vault: Path, tmp_path: Path) -> None:
    folder = tmp_path / ("a-project-with-quite-a-long-name-" * 3)
    folder.mkdir()
    long = "Why does the whole of the date parser fail on every last day of February? " * 4
    capture(prompt(long) | {"cwd": str(folder)})
    capture(bash("x" * 300) | {"cwd": str(folder)})
    for note in notes(vault):
        inside = note.relative_to(vault).as_posix()
        assert len(inside) < 160
        assert len(str(PureWindowsPath("C:/Users/a-user-with-a-long-name/Documents/memories/mdmem") / inside)) < 260
