"""Served hooks: a process with all modules loaded runs hooks, at a third of the cost. The watcher starts it.

The command that an agent runs (`hand_over.pl`, or `mdmem.hand_over` without Perl) sends its stdin, arguments, folder
and environment over a socket, and waits until the note is on disk. Hooks are served one at a time in the main thread,
each within its usual deadline. Stdin is read only after the command confirms (GO): if no answer came in time, because
another hook was running, the command does the work itself, so exactly one of the two does it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pkgutil
import select
import selectors
import socket
import struct
import sys
import time
from importlib import import_module
from pathlib import Path

import mdmem
from mdmem import files, launch, system
from mdmem.recall import hook

READY, GO, DONE = b"+", b"!", b"."
MAX_HOOKS = 1_000
"""Number of hooks after which the process ends and the watcher starts a new one."""
MAX_MEMORY_BYTES = 110_000_000
"""The process also ends when it uses more memory than this, where the system reports that."""

_SIZE = struct.Struct("=I")
_MAX_REQUEST_BYTES = 4 * 1024 * 1024
_SECONDS = 1.0
"""Timeout for receiving a request, which a command sends all at once."""
LOOK_SECONDS = 30.0
"""How often to check whether clients still find this process: its socket file may be deleted or replaced."""
_PACKAGE = str(Path(mdmem.__file__).parent)
_ROOMS = ("capture", "agents", "privacy")
_TIDY_EVERY = 16
"""Number of hooks between two garbage collections and checks of memory use."""


def serve(path: str) -> None:
    """Serve hooks on the socket at `path` until stdin closes or a new process is due."""
    launch.served_launcher = os.path.join(os.path.dirname(path), launch.LAUNCHER)  # noqa: PTH118, PTH120 - as elsewhere
    alive = os.dup(0)  # stdin is replaced by that of each command
    while _is_served(path):
        if select.select([alive], [], [], LOOK_SECONDS)[0]:
            return
    _load()
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.umask(0o177)
        file = _bind(listener, path)
        os.umask(before)
        if file is None:
            return
        try:
            _run(listener, alive, file)
        finally:
            if _file(path) == file:  # else it may be another process's
                Path(path).unlink(missing_ok=True)


def _is_served(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def _file(path: str) -> tuple[int, int] | None:
    """Return inode and ctime of a file, which identify it among all that had its path; None if there is none."""
    try:
        state = os.lstat(path)
    except OSError:
        return None
    return state.st_ino, state.st_ctime_ns


def _bind(listener: socket.socket, path: str) -> tuple[int, int] | None:
    """Listen at `path` and return its file; None if another process listens there, or it is impossible."""
    if _is_served(path):
        return None
    try:
        Path(path).unlink(missing_ok=True)  # left by a process that was killed
        listener.bind(path)
        file = _file(path)
        listener.listen(64)
    except OSError:
        return None
    return file


def _load() -> None:
    """Import all that hooks need, so that the first one is as cheap as the others."""
    for room in _ROOMS:
        package = import_module(f"mdmem.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"mdmem.{room}."):
            if ".install" not in module.name:
                import_module(module.name)
    gc.collect()
    gc.freeze()


def _stamp() -> list[tuple[int, int]]:
    """Return mtimes and inodes of mdmem's folders, which change when another version is installed."""
    try:
        states = [os.stat(f"{_PACKAGE}/{room}") for room in ("", *_ROOMS, "recall", "vault")]  # noqa: PTH116 - for each hook
    except OSError:
        return []
    return [(state.st_mtime_ns, state.st_ino) for state in states]


def _memory() -> int:
    """Return the memory in use, in bytes; 0 where the system does not report it.

    The peak, which every system reports, would include the memory of the watcher that started this process.
    """
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _run(listener: socket.socket, alive: int, file: tuple[int, int] | None = None) -> None:
    """Serve hooks until stdin closes, a new process is due, or clients no longer find the socket's file."""
    stamp = _stamp()
    with selectors.DefaultSelector() as ready:
        ready.register(listener, selectors.EVENT_READ)
        ready.register(alive, selectors.EVENT_READ)
        for number in range(MAX_HOOKS):
            while not (sources := [key.fileobj for key, _ in ready.select(LOOK_SECONDS)]):
                if file and _file(listener.getsockname()) != file:
                    return
            if alive in sources or stamp != _stamp():
                return
            if number % _TIDY_EVERY == 0:
                gc.collect(1)
                if _memory() > MAX_MEMORY_BYTES:
                    return
            link, _ = listener.accept()
            with link, contextlib.suppress(OSError, ValueError):  # the command has gone, or was not one of ours
                link.settimeout(_SECONDS)
                _answer(link)
            if sys.modules.get(hook.__name__) is not hook:
                return  # the hook imported an installer's new files, which do not fit the modules loaded here


def _answer(link: socket.socket) -> None:
    """Do a command's work and send it the output, even if its deadline ends this process.

    Raises OSError or ValueError when the command has gone or the request is invalid; nothing was done then.
    """
    request, stdin = _read(link)
    try:
        link.sendall(READY)
        if link.recv(1) != GO:
            return
        vault, folder, *fields = map(os.fsdecode, request)
        words, pairs = fields[: fields.index("")], fields[fields.index("") + 1 :]
        link.settimeout(None)
        os.dup2(stdin, 0)
        _become(folder, pairs)
        out = hook.answered(words, vault or None, lambda message: link.sendall(DONE + message))
    finally:
        os.close(stdin)
        system.alarm(0, lambda *_: None)  # the alarm of a hook that failed
    link.sendall(DONE + out)


def _become(folder: str, pairs: list[str]) -> None:
    """Switch to a command's environment and folder."""
    zone = os.environ.get("TZ")
    environment = {name: value for name, _, value in [pair.partition("=") for pair in pairs] if name}
    if environment != dict(os.environ):  # most commands have the same as the one before
        os.environ.clear()
        os.environ.update(environment)
    if os.environ.get("TZ") != zone:
        time.tzset()
    files.check_again()
    with contextlib.suppress(OSError):
        os.chdir(folder)


def _read(link: socket.socket) -> tuple[list[bytes], int]:
    """Read a request: vault, folder, arguments up to an empty one, environment; return it with the command's stdin.

    Raises OSError or ValueError when it is not a valid request.
    """
    data, streams, _, _ = socket.recv_fds(link, 1 << 16, 1)
    try:
        size = _SIZE.unpack_from(data)[0] if len(data) >= _SIZE.size else -1
        if len(streams) != 1 or not 0 < size <= _MAX_REQUEST_BYTES:
            raise ValueError(size)
        while len(data) < size + _SIZE.size:
            received = link.recv(1 << 16)
            if not received:
                raise ValueError(size)
            data += received
    except (OSError, ValueError):
        for stream in streams:
            os.close(stream)
        raise
    return data[_SIZE.size :].split(b"\0"), streams[0]
