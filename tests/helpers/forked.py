"""Runs `mdmem` as forks of a process that has loaded everything, at a tenth of the cost of a new Python.

Some tests must start a real process instead: those of Python's start, of imports, and of registered commands.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 120
"""Time limit of a command, which not even a busy machine reaches."""

_ROOM = 60_000
"""Number of bytes that fit into a pipe without a reader."""

_AT_START = ("LANG", "LC_ALL", "LC_CTYPE")
"""Variables that Python or a library reads only at the start."""


def without_syncs() -> None:
    """Disable syncing to disk in this process and its forks, because disks are slow and tests need no durability.

    A separate test traces the syncs of a real `mdmem` process.
    """
    vars(os)["fsync"] = os.fstat  # also fails if the descriptor is not open


def run(
    words: Sequence[str], data: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `mdmem WORDS...` as a process; return its output and status. `env` is the whole environment."""
    environment = dict(os.environ if env is None else env)
    if not _can_fork(environment):
        words = [sys.executable, "-m", "mdmem", *words]
        return subprocess.run(words, input=data, capture_output=True, env=environment, cwd=cwd, timeout=SECONDS)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _input(data) as stdin:
        status = start(words, [file.fileno() for file in (stdin, out, err)], environment, cwd).wait()
        said = [(file.seek(0), file.read())[1] for file in (out, err)]
    return subprocess.CompletedProcess(["mdmem", *words], status, *said)


def start(words: Sequence[str], streams: Sequence[int], env: Mapping[str, str], cwd: Path | None = None) -> Started:
    """Start `mdmem WORDS...` with these descriptors as its stdin, stdout and stderr."""
    asked = {"words": list(words), "env": dict(env), "cwd": str(cwd or Path.cwd()), "umask": _umask()}
    return Started(_server().connect(), asked, streams)


class Started:
    """A running process."""

    def __init__(self, link: socket.socket, asked: dict[str, Any], streams: Sequence[int]) -> None:
        head = json.dumps(asked).encode()
        self._link = link
        socket.send_fds(link, [struct.pack("<I", len(head))], list(streams))
        link.sendall(head)

    def wait(self) -> int:
        """Wait for its exit and return the status, or the negative number of the signal that killed it."""
        with self._link:
            (status,) = struct.unpack("<i", _exactly(self._link, 4))
        return int(status)


def _can_fork(env: Mapping[str, str]) -> bool:
    if not hasattr(os, "fork") or any(env.get(name) != _FIRST.get(name) for name in _AT_START):
        return False
    if shutil.which("git", path=env.get("PATH")) != shutil.which("git", path=_FIRST.get("PATH")):
        return False  # GitPython looks for git at import
    return not any(name.startswith("PYTHON") for name in env if name not in _FIRST)


_FIRST = dict(os.environ)


def _umask() -> int:
    try:
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
        return next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))
    except (OSError, StopIteration):
        mask = os.umask(0o077)  # briefly affects every thread
        os.umask(mask)
        return mask


@contextmanager
def _input(data: bytes) -> Iterator[Any]:
    """Yield a file to read the data from: a pipe if it fits into one, as agents provide it, else a temporary file."""
    if len(data) > _ROOM:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file
        return
    end, into = os.pipe()
    with open(end, "rb") as pipe:
        with open(into, "wb") as writer:
            writer.write(data)
        yield pipe


class _Server:
    """The process to fork, with its own folder for the socket. It ends with this process."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="mdmem-", dir="/tmp")  # a socket's path must be short
        self.owner = os.getpid()
        self.address = str(Path(self.folder) / "socket")
        words = [sys.executable, __file__, self.address]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_FIRST)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        atexit.register(self.close)

    def connect(self) -> socket.socket:
        """Return a connection to a new fork."""
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(SECONDS)
        link.connect(self.address)
        return link

    def close(self) -> None:
        """End the process."""
        if self.owner != os.getpid():
            return  # a fork of this process does not own it
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_started: list[_Server] = []


_starting = threading.Lock()


def _server() -> _Server:
    with _starting:
        if not _started:
            _started.append(_Server())
    return _started[0]


def _exactly(link: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = link.recv(size - len(data))
        if not piece:
            raise ConnectionError("the other end has gone")
        data += piece
    return data


# -- in the process to fork --------------------------------------------------------------------------


def _serve(address: str) -> None:
    import gc
    import select

    _load()
    _be_patient()
    without_syncs()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(64)
        print("ready", flush=True)
        while sys.stdin.buffer not in (readable := select.select([server, sys.stdin.buffer], [], [])[0]):
            link, _ = server.accept() if readable else (None, None)
            if link is None:
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing reaps these forks
            if os.fork() == 0:
                server.close()
                _answer(link)
            link.close()
    shutil.rmtree(Path(address).parent, ignore_errors=True)  # if its owner was killed, it could not do this


def _load() -> None:
    """Import all of mdmem except its HTTP servers and modules that only run elsewhere."""
    import importlib
    import pkgutil

    import mdmem

    for module in pkgutil.walk_packages(mdmem.__path__, "mdmem.", onerror=lambda _: None):
        if not module.name.startswith(("mdmem.web", "mdmem.server", "mdmem.__main__", "mdmem.system.windows")):
            try:
                importlib.import_module(module.name)
            except ImportError:
                continue  # needs an extra that is not installed


def _be_patient() -> None:
    """Raise the deadlines of hooks, because a busy machine is not a failure, and tell of no wait or progress."""
    from mdmem import progress as waits
    from mdmem.capture import hook
    from mdmem.cli.terminal import progress
    from mdmem.recall import hook as recall
    from mdmem.vault import disk

    progress.AFTER_SECONDS = waits.TOLD_AFTER_SECONDS = 100.0
    hook.READ_SECONDS = hook.DEADLINE_SECONDS = recall.SECONDS = disk.WAIT_SECONDS = 100.0


def _answer(link: socket.socket) -> None:
    """Run the requested command in a fork and send its exit status over `link`. Never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        size, files, _, _ = socket.recv_fds(link, 4, 3)
        asked = json.loads(_exactly(link, struct.unpack("<I", size)[0]))
        child = os.fork()
        if child == 0:
            _become(asked, files)
        link.sendall(struct.pack("<i", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    finally:
        os._exit(0)


def _become(asked: dict[str, Any], files: list[int]) -> None:
    """Turn this fork into the requested process. Never returns."""
    import time

    status = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, 64)
        os.environ.clear()
        os.environ.update(asked["env"])
        time.tzset()
        os.chdir(asked["cwd"])
        os.umask(asked["umask"])
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        sys.argv = ["mdmem", *asked["words"]]
        status = _main()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status & 0xFF)


def _main() -> int:
    import traceback

    from mdmem.__main__ import main

    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as Python itself would end
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
