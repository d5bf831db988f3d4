"""Faults: kills, floods, full disks and failing calls; after each, whole notes only, none twice, nothing left over."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import frontmatter
import pytest

from mdmem import config
from mdmem.agents import hook_process
from mdmem.capture import queued, retry_queue
from mdmem.vault import disk, note, pauses
from mdmem.vault import leftovers as vaults
from tests.conftest import notes, session_pages
from tests.helpers import claude, faults
from tests.helpers.claude import FULL, OTHER, SESSION, bash, contents, prompt, send, stop
from tests.helpers.faults import run_of, written
from tests.helpers.waiting import SECONDS, until


def mdmem(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mdmem", *words], capture_output=True, text=True)


# -- many at once ----------------------------------------------------------------------------------


class Reader(Thread):
    """Reads every note of a vault again and again, and keeps those that are not whole."""

    def __init__(self, vault: Path) -> None:
        super().__init__(daemon=True)
        self.vault = vault
        self.torn: list[Path] = []
        self.rounds = 0
        self.over = Flag()

    def run(self) -> None:
        while not self.over.is_set():
            for path in self.vault.rglob("[!.]*.md"):
                if not is_whole(path):
                    self.torn.append(path)
            self.rounds += 1

    def stop(self) -> None:
        self.over.set()
        self.join()


def is_whole(path: Path) -> bool:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return True  # a page that is just being replaced
    parsed = note.parse(text)
    return parsed.problem is None and "id" in parsed.meta and (path.stem == path.parent.name or text.endswith("\n"))


@pytest.mark.slow
def test_a_flood_of_hooks_for_two_sessions_leaves_one_whole_note_each(vault: Path) -> None:
    count = 1_000 if FULL else 64
    reader = Reader(vault)
    reader.start()

    def run(n: int) -> None:
        event = bash(f"output of run {n}\n" * 20, f"toolu_{n}", session_id=(SESSION, OTHER)[n % 2])
        assert send(event, {"MDMEM_NOW": str(claude.START)}).stdout == b""

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(run, range(count)))
    reader.stop()
    queued.flush(config.load())

    assert reader.rounds > 1
    assert reader.torn == []
    assert sorted(map(run_of, written(vault))) == list(range(count))
    found = [frontmatter.loads(path.read_text("utf-8")) for path in notes(vault)]
    for one in found:
        assert one["session"] == (SESSION, OTHER)[run_of(one.content) % 2]
    assert len({(one["session"], one["sequence"]) for one in found}) == count
    assert len(session_pages(vault)) == 2
    assert len(list(vault.glob("journal/*"))) == 1


def test_first_hooks_of_one_session_from_several_projects_share_one_folder(vault: Path) -> None:
    def run(n: int) -> None:
        send(bash(f"output of run {n}", f"toolu_{n}", cwd=f"/home/dev/work/app-{n % 4}"))

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(run, range(12)))

    assert len(written(vault)) == 12
    assert len(list(vault.glob("journal/*/*/*/"))) == 1


# -- kills -----------------------------------------------------------------------------------------


def killed(event: dict[str, Any], seconds: float) -> bool:
    """Run a hook and kill it after a time, with the shell that may stand between; return whether it was quicker."""
    process = subprocess.Popen(claude.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        process.communicate(json.dumps(event).encode(), seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # its end is that of the last process which could write to it
    return process.returncode == 0


@pytest.mark.slow
def test_hooks_that_are_killed_leave_whole_notes_or_none_and_their_events_can_come_again(vault: Path) -> None:
    rounds = 300 if FULL else 20
    events = [bash(f"output of run {n}\n" * 50, f"toolu_{n}") for n in range(rounds)]
    slowest = 0.06
    acknowledged = {n for n in range(rounds) if killed(events[n], slowest * (n % 37 + 1) / 37)}
    stored = {run_of(text) for text in map(body_of, notes(vault))}
    assert acknowledged <= stored
    assert len(stored) == len(notes(vault))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, events))
    vaults.reap(str(vault), time.time() + 7200)

    assert sorted(map(run_of, written(vault))) == list(range(rounds))


def body_of(path: Path) -> str:
    assert is_whole(path)
    return contents([path])[0]


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.slow
def test_a_hook_killed_at_any_system_call_that_writes_leaves_a_whole_note_or_none(vault: Path, tmp_path: Path) -> None:
    calls = ("openat", "write", "fsync", "linkat", "unlinkat", "mkdirat", "flock")
    most = {"openat": 90 if FULL else 0, "flock": 12 if FULL else 0}
    n = 0
    for call in calls:
        for when in range(1, most.get(call, 12 if FULL else 5) + 1):
            n += 1
            event = bash(f"output of run {n}\n" * 9, f"toolu_{n}", session_id=f"00000000-0000-4000-8000-{n:012x}")
            done = traced(event, tmp_path, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}")
            if done is None:
                pytest.skip("this machine does not let strace trace")
            parsed = [note.parse(path.read_bytes()) for path in vault.rglob("[!.]*.md")]
            assert all(one.problem is None and one.meta["id"] for one in parsed)
            send(event)
            if done.returncode == 0:
                break  # the hook makes no further call of this kind
    vaults.reap(str(vault), time.time() + 7200)

    assert sorted(map(run_of, written(vault))) == list(range(1, n + 1))


def traced(event: dict[str, Any], folder: Path, *words: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run a hook under strace, its calls going to `folder`/trace; None where nothing can be traced."""
    (folder / "trace").unlink(missing_ok=True)
    code = re.sub(r"^.* \|\| exec ", "exec ", claude.command()[2])
    line = ["strace", "-f", "--seccomp-bpf", "-o", str(folder / "trace"), *words, "/bin/sh", "-c", code]
    done = subprocess.run(line, input=json.dumps(event).encode(), capture_output=True)
    return done if (folder / "trace").exists() and (folder / "trace").stat().st_size else None


FAILING = [
    ("openat", "EMFILE"), ("newfstatat", "EIO"), ("read", "EIO"), ("write", "EDQUOT"), ("fsync", "EIO"),
    ("close", "EIO"), ("linkat", "EDQUOT"), ("getdents64", "EIO"), ("fcntl", "EIO"), ("flock", "ENOLCK"),
    ("mmap", "ENOMEM"),
]  # fmt: skip
"""A system call, and the error that it gives."""


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.slow
@pytest.mark.parametrize(("call", "error"), FAILING)
def test_an_event_is_stored_queued_or_told_as_lost_whichever_system_call_fails(
    fresh: Callable[[], Path], tmp_path: Path, call: str, error: str
) -> None:
    fresh()
    if traced(bash("3 passed"), tmp_path, "-e", f"trace={call},openat") is None:
        pytest.skip("this machine does not let strace trace")
    before, _, after = (tmp_path / "trace").read_text().partition("/preload.")
    begin, count = (len(re.findall(rf"^\d+ +{call}\(", text, re.MULTILINE)) for text in (before, after))
    assert count
    # If nothing can be written from some call on, the message cannot either.
    ways = ("{}",) if call == "write" else ("{}", "{}+")
    for when in range(begin + 1, begin + count + 1, 1 if FULL else max(1, count // 8)):
        for way in ways:
            vault = fresh()
            inject = f"inject={call}:error={error}:when={way.format(when)}"
            done = traced(bash("3 passed"), tmp_path, "-e", f"trace={call}", "-e", inject)
            assert done is not None
            assert (done.returncode, done.stderr) == (0, b""), inject
            said = done.stdout.decode()
            assert faults.outcome(vault, said) or "nothing that agents do is stored" in said, inject


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_note_is_synced_then_named_then_its_folder_is_synced(vault: Path, tmp_path: Path) -> None:
    send(prompt("first"))
    if traced(bash("output of run 1"), tmp_path, "-e", "trace=openat,write,fsync,linkat,unlinkat") is None:
        pytest.skip("this machine does not let strace trace")
    calls = re.findall(r"^\d+ +(\w+)\((.*)$", (tmp_path / "trace").read_text(), re.MULTILINE)
    (linked,) = [place for place, (call, _) in enumerate(calls) if call == "linkat"]
    folder = calls[linked][1].partition(",")[0]
    temp = re.findall(r'"([^"]+)"', calls[linked][1])[0]
    made = next(place for place, (call, words) in enumerate(calls) if call == "openat" and temp in words)
    file = calls[made][1].rpartition("= ")[2]
    order = [f"{call} {words.partition(')')[0]}" for call, words in calls[made + 1 :]]
    synced = order.index(f"fsync {file}") + made + 1

    assert made < synced < linked
    assert calls[linked + 1][0] == "fsync"
    assert calls[linked + 1][1].startswith(f"{folder})")
    assert calls[linked + 2][0] == "unlinkat"


def test_with_durability_process_nothing_is_synced(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("synced"))
    claude.capture(prompt("first"), capture__durability="process")
    assert written(vault) == ["first"]


# -- disks that fail -------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 100, 600, 2_000])
def test_a_disk_that_takes_only_so_much_leaves_whole_notes_or_none_and_says_so(vault: Path, room: int) -> None:
    text = "output of run 1\n" * 90 + "x" * 2_000

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    said = claude.limited(bash(text), full)

    assert written(vault) == []
    assert "it is lost" in json.loads(said)["systemMessage"]
    send(bash(text))
    assert [run_of(one) for one in written(vault)] == [1]


@pytest.mark.slow
def test_a_full_disk_costs_no_note_and_the_user_is_told_once(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = small_disk / "vault"
    vault.mkdir()
    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    long = "x" * 9_000
    said = [send(bash(f"output of run {n}\n{long}", f"toolu_{n}")).stdout for n in range(16)]
    told = [json.loads(line)["systemMessage"] for line in said if line]
    settings = config.load()

    assert len(told) == 1
    assert "will be retried" in told[0]
    here = written(vault)
    assert here
    assert sorted([*map(run_of, here), *waiting_runs(settings)]) == list(range(16))

    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    send(stop("done"))
    assert not os.path.exists(retry_queue.folder(settings))
    assert [run_of(text) for text in written(vault)[:-1]] == list(range(16)), "in the order of events"


def waiting_runs(settings: config.Config) -> list[int]:
    files = [Path(retry_queue.folder(settings), name) for name in retry_queue.waiting(settings)]
    return [run_of(json.loads(path.read_text())["body"]) for path in files]


def test_a_disk_that_became_read_only_costs_no_note(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = small_disk / "vault"
    vault.mkdir()
    monkeypatch.setenv("MDMEM_VAULT", str(vault))
    send(bash("output of run 1"))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "will be retried" in json.loads(send(bash("output of run 2", "toolu_2")).stdout)["systemMessage"]
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    send(bash("output of run 3", "toolu_3"))
    assert [run_of(text) for text in written(vault)] == [1, 2, 3]


@pytest.mark.parametrize("join", [" ", "="])
def test_a_command_that_meets_a_read_only_vault_says_so(small_disk: Path, join: str) -> None:
    vault = small_disk / "vault"
    mdmem = [sys.executable, "-m", "mdmem", *f"--vault{join}{vault}".split(" ")]
    subprocess.run([*mdmem, "init"], capture_output=True, check=True)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    done = subprocess.run([*mdmem, "note", "Hello"], capture_output=True, text=True)

    assert done.returncode == 4
    assert f"The vault at {vault} cannot be written (Read-only file system)." in done.stderr


def test_a_command_that_meets_a_full_disk_says_whose_disk_and_what_to_do(small_disk: Path) -> None:
    vault = small_disk / "vault"
    mdmem = [sys.executable, "-m", "mdmem", "--vault", str(vault)]
    subprocess.run([*mdmem, "init"], capture_output=True, check=True)
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))

    done = subprocess.run([*mdmem, "note", "Hello"], capture_output=True, text=True)

    assert done.returncode == 4
    assert f"A disk that the vault at {vault} needs is full" in done.stderr
    assert "Free some space" in done.stderr


@pytest.fixture
def bad_sector() -> Iterator[Callable[[Path], None]]:
    """Yield a function after whose call reading a file fails, as on a disk that loses its content."""
    broken: list[Path] = []

    def break_(file: Path) -> None:
        memory = f"/proc/{os.getpid()}/mem"  # a regular file whose beginning cannot be read
        line = ["mount", "--bind", memory, str(file)]
        if os.getuid() != 0 or shutil.which("mount") is None or subprocess.run(line, capture_output=True).returncode:
            pytest.skip("only root can make a file fail to be read, by a mount, which some containers forbid")
        broken.append(file)

    yield break_
    for file in broken:
        subprocess.run(["umount", "-l", str(file)], check=True)


def test_a_note_that_the_disk_does_not_return_stops_nothing_and_is_named(
    vault: Path, bad_sector: Callable[[Path], None]
) -> None:
    mdmem("init", str(vault))
    for name in ("bad", "good"):
        (vault / "notes").mkdir(exist_ok=True)
        (vault / "notes" / f"{name}.md").write_text(f"the gibbon is {name}\n", "utf-8")
    bad_sector(vault / "notes/bad.md")

    assert mdmem("index", "--rebuild").returncode == 0
    assert "the gibbon is good" in mdmem("search", "gibbon").stdout
    committed = mdmem("commit")
    assert committed.returncode == 1
    assert "notes/bad.md cannot be read, so it was not committed. The disk" in committed.stderr
    assert "notes/good.md" in committed.stdout
    doctor = mdmem("doctor", "--only", "notes").stdout
    assert "notes/bad.md cannot be read (Input/output error)" in doctor
    assert "chown" not in doctor
    assert "notes/bad.md)" in mdmem("show", "notes/bad.md").stderr


def test_a_head_and_settings_that_the_disk_does_not_return_are_not_taken_for_damaged(
    vault: Path, bad_sector: Callable[[Path], None]
) -> None:
    mdmem("init", str(vault))
    bad_sector(vault / "mdmem.toml")
    assert f"{vault}/mdmem.toml cannot be read (Input/output error)" in mdmem("index").stderr

    bad_sector(vault / ".git/HEAD")
    assert f"Input/output error ({vault}/.git/HEAD)" in mdmem("commit").stderr
    doctor = mdmem("doctor", "--fix").stdout
    assert "Input/output error" in doctor
    assert "missing or damaged" not in doctor


class Failing:
    """Stands for the module `os` and lets one call fail: the `at`-th of those that reach the file system."""

    CALLS = ("open", "mkdir", "makedirs", "link", "write", "fsync", "replace", "rename", "unlink", "listdir", "lstat")

    def __init__(self, at: int, code: int, calls: tuple[str, ...] = CALLS) -> None:
        self.at = at
        self.code = code
        self.calls = calls
        self.made = 0

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in self.calls:
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **more: Any) -> Any:
            self.made += 1
            if self.made == self.at:
                raise OSError(self.code, os.strerror(self.code))
            return call(*words, **more)

        return counted


FAULTS = (errno.ENOSPC, errno.ENFILE, *((errno.EIO, errno.EROFS, errno.EDQUOT) if FULL else ()))


@pytest.mark.slow
@pytest.mark.parametrize("code", FAULTS, ids=errno.errorcode.get)
def test_a_call_that_fails_costs_no_note(vault: Path, code: int, home: Path) -> None:
    """Whichever call of a first and of a second event fails: stored, or kept aside, or told; whole after the next.

    Every fourth call by default, another fourth for each fault.
    """
    step = 1 if FULL else 4
    at = FAULTS.index(code) * 2 % step + 1 - step
    while True:
        at += step
        shutil.rmtree(home / ".local", ignore_errors=True)
        shutil.rmtree(vault / "journal", ignore_errors=True)
        events = [prompt("first"), bash("output of run 1")]
        outcomes = []
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(at, code)
            failing.patch(patch)
            for event in events:
                outcomes.append(claude.capture(event))
        for outcome in outcomes:
            assert outcome.stored or outcome.waits or outcome.error
        assert not [path for path in vault.rglob("[!.]*.md") if note.parse(path.read_bytes()).problem]
        for event, outcome in zip(events, outcomes, strict=True):
            if outcome.error and not outcome.waits:
                claude.capture(event)  # it was told; an agent's other registration may deliver it again
        claude.capture(stop("done"))
        vaults.reap(str(vault), time.time() + 7200)
        assert sorted(text.split("\n")[0] for text in written(vault)) == sorted(["first", "done", "```sh"])
        if failing.made < at:
            break
    assert at > 20


LOOKS = ("stat", "listdir", "open", "read")
SECRET = prompt("Try it. <private>the code word is gibbon</private>")


@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE], ids=errno.errorcode.get)
def test_a_look_that_fails_shows_no_private_text(vault: Path, home: Path, code: int) -> None:
    """Whichever look at the disk fails while an event repeats private text: that is not taken for a missing file."""

    def repeat(n: int) -> None:
        claude.capture(SECRET)
        with look_failing(n, code) as failing:
            claude.capture(bash("the code word is gibbon"))
        made.append(failing.made)

    made: list[int] = []
    at = 0
    while not made or made[-1] >= at:
        at += 1
        shutil.rmtree(home / ".local", ignore_errors=True)
        shutil.rmtree(vault / "journal", ignore_errors=True)
        repeat(at)
        assert holding(b"gibbon", vault, home) == [], at
    assert at > 20
    assert "[PRIVATE]" in contents(notes(vault))[-1]


@contextmanager
def look_failing(at: int, code: int = errno.EIO) -> Iterator[Failing]:
    """Let one look at the disk fail. A hook tries again after an error, or tells that the event is lost."""
    failing = Failing(at, code, LOOKS)
    with pytest.MonkeyPatch.context() as patch, suppress(OSError):
        failing.patch(patch)
        yield failing


def holding(text: bytes, *folders: Path) -> list[Path]:
    """Return the files that hold a text."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text in path.read_bytes()]


@pytest.mark.parametrize("session", ["", SESSION], ids=["all", "one"])
def test_a_look_that_fails_ends_no_pause(vault: Path, session: str) -> None:
    pauses.begin_pause(config.load(), session)
    for at in range(1, 30):
        with look_failing(at):
            claude.capture(bash("output of run 1"))
        assert notes(vault) == [], at


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
def test_where_there_are_no_hard_links_a_note_is_whole_all_the_same(
    vault: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", no_links)
    claude.capture(prompt("first"))
    claude.capture(prompt("first"))
    claude.capture(bash("output of run 1"))
    assert len(written(vault)) == 2


# -- others in the way -----------------------------------------------------------------------------


def test_a_note_is_queued_while_its_folder_stays_locked(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude.capture(prompt("first"))
    (folder,) = vault.glob("journal/*/*/*/")
    monkeypatch.setattr(disk, "WAIT_SECONDS", 0.05)
    fd = os.open(folder, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    outcome = claude.capture(bash("output of run 1"))
    os.close(fd)
    assert (outcome.error, outcome.waits) == ("TimeoutError", True)
    claude.capture(stop("done"))
    assert claude.places(notes(vault)) == ["001-000-prompt", "001-001-bash", "001-002-response"]


def test_an_agent_that_never_closes_stdin_is_not_waited_for(vault: Path) -> None:
    code = "import sys; from mdmem.capture import hook; hook.READ_SECONDS = 0.3; hook.main(['claude-code'])"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(prompt("patient")).encode())
    process.stdin.flush()
    assert process.wait(240) == 0
    process.communicate()
    assert written(vault) == ["patient"]


def test_an_agent_that_never_reads_stdout_is_not_waited_for(vault: Path) -> None:
    with faults.full_pipe() as unread:
        process = subprocess.Popen(claude.command(), stdin=subprocess.PIPE, stdout=unread, stderr=subprocess.PIPE)
        _, err = process.communicate(json.dumps(prompt("Log in as <private>falcon</private> here")).encode(), SECONDS)
    assert (process.returncode, err) == (0, b"")
    assert written(vault) == ["Log in as [PRIVATE] here"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe can only be set there")
def test_an_agent_that_reads_slowly_gets_a_long_answer_whole() -> None:
    """On a busy machine this test may be late to read; then it tries again."""
    for _ in range(20):
        size, longest_seconds = read_slowly(b"x" * 60_000)
        if longest_seconds < 0.8 * hook_process.PRINT_SECONDS:
            break
    assert size == 60_000


def read_slowly(answer: bytes) -> tuple[int, float]:
    """Read what a hook prints, piece by piece; return its size, and the longest time between two pieces."""
    code = f"from mdmem.agents import hook_process; hook_process.print_bytes({answer!r})"
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([sys.executable, "-c", code], stdout=write_end):
        os.close(write_end)
        size, longest, last = len(os.read(read_end, 4096)), 0.0, time.monotonic()
        while piece := os.read(read_end, 4096):
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            size += len(piece)
            time.sleep(0.15)
    os.close(read_end)
    return size, longest


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells which signals are ignored")
def test_neither_ctrl_c_nor_a_terminal_that_closes_costs_an_event(vault: Path) -> None:
    words = shlex.split(claude.registered("hook"))
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    status = Path(f"/proc/{process.pid}/status")
    ignored = 1 << signal.SIGINT - 1 | 1 << signal.SIGHUP - 1

    until(lambda: int(status.read_text().partition("SigIgn:")[2].split()[0], 16) & ignored == ignored)
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGHUP)

    assert process.communicate(json.dumps(prompt("first")).encode(), SECONDS) == (b"", b"")
    assert process.returncode == 0
    assert written(vault) == ["first"]


def test_a_terminated_hook_leaves_a_whole_note_or_none(vault: Path) -> None:
    process = subprocess.Popen(claude.command(), stdin=subprocess.PIPE)
    process.send_signal(signal.SIGTERM)
    process.communicate(json.dumps(prompt("first")).encode())
    send(prompt("first"))
    assert written(vault) == ["first"]


@pytest.mark.slow
def test_a_linked_folder_never_leads_outside_while_it_comes_and_goes(vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    claude.capture(prompt("first"))
    (folder,) = vault.glob("journal/*/*/*/")
    away = tmp_path / "away"
    over = Flag()

    def swap() -> None:
        while not over.is_set():
            folder.rename(away)
            folder.symlink_to(outside)
            folder.unlink()
            away.rename(folder)

    swapper = Thread(target=swap)
    swapper.start()
    for n in range(300 if FULL else 60):
        claude.capture(bash(f"output of run {n}", f"toolu_{n}"))
    over.set()
    swapper.join()
    queued.flush(config.load())
    assert list(outside.iterdir()) == []
    runs = [run_of(text) for text in contents(notes(vault)) if "output" in text]
    assert sorted(runs) == list(range(len(runs)))


def test_names_differ_where_a_file_system_knows_no_case_and_composes_letters(vault: Path) -> None:
    import unicodedata

    for n, text in enumerate(["Straße", "STRASSE", "straße", "Cafe\u0301", "Caf\u00e9", "CAFÉ", "İ", "i\u0307"]):
        claude.capture(prompt(text, n))
    names = [unicodedata.normalize("NFC", path.name).casefold() for path in notes(vault)]
    assert len(set(names)) == 8
