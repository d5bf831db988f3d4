"""Hooks served by a process that has loaded them: the watcher starts it, and a hook then costs a third.

The command that an agent runs (`hand_over.pl`, or `mdmem.hand_over` where there is no Perl) gives its stdin, words,
folder and environment over a socket, and waits until the note is on disk. Hooks are served one after the other, in the
main thread, with the deadline that they have anyway. Stdin is read only once the command says so: one that got no
answer in time, because another hook is at work, does the work itself, and only one of both does.
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
import time
from importlib import import_module
from pathlib import Path

import mdmem
from mdmem import files, system
from mdmem.recall import hook

READY, GO, DONE = b"+", b"!", b"."
MAX_HOOKS = 1_000
"""Number of hooks after which the process ends, and the watcher starts another."""
MAX_MEMORY_BYTES = 110_000_000
"""…or when it holds more memory than this, where the system tells."""

_SIZE = struct.Struct("=I")
_MAX_REQUEST_BYTES = 4 * 1024 * 1024
_SECONDS = 1.0
"""How long a command may take to say what it wants: it does so in one breath."""
LOOK_SECONDS = 30.0
"""Where a process of another vault's watcher serves already, this one looks so often whether it still does."""
_PACKAGE = str(Path(mdmem.__file__).parent)
_ROOMS = ("capture", "agents", "privacy")
_TIDY_EVERY = 16
"""Number of hooks after which rubbish is looked for, and what the process holds."""


def serve(path: str) -> None:
    """Serve hooks on the socket at a path until stdin ends, or it is time for a new process."""
    alive = os.dup(0)  # stdin is that of the command that is served
    while _is_served(path):
        if select.select([alive], [], [], LOOK_SECONDS)[0]:
            return
    _load()
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.umask(0o177)
        is_bound = _bind(listener, path)
        os.umask(before)
        if not is_bound:
            return
        try:
            _run(listener, alive)
        finally:
            Path(path).unlink(missing_ok=True)


def _is_served(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def _bind(listener: socket.socket, path: str) -> bool:
    """Listen at a path; False when another process does, or nobody can."""
    if _is_served(path):
        return False
    try:
        Path(path).unlink(missing_ok=True)  # of a process that was killed
        listener.bind(path)
        listener.listen(64)
    except OSError:
        return False
    return True


def _load() -> None:
    """Load what hooks need, so that the first one is as cheap as the others."""
    for room in _ROOMS:
        package = import_module(f"mdmem.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"mdmem.{room}."):
            if ".install" not in module.name:
                import_module(module.name)
    gc.collect()
    gc.freeze()


def _stamp() -> list[tuple[int, int]]:
    """Return by what another version of mdmem in the place of this one is told: the times of its folders."""
    try:
        found = [os.stat(f"{_PACKAGE}/{room}") for room in ("", *_ROOMS, "recall", "vault")]  # noqa: PTH116 - for each hook
    except OSError:
        return []
    return [(one.st_mtime_ns, one.st_ino) for one in found]


def _memory() -> int:
    """Return how many bytes of memory this process holds now, 0 where the system does not tell.

    The most that it ever held, which every system tells, begins with what the watcher held.
    """
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _run(listener: socket.socket, alive: int) -> None:
    stamp = _stamp()
    with selectors.DefaultSelector() as ready:
        ready.register(listener, selectors.EVENT_READ)
        ready.register(alive, selectors.EVENT_READ)
        for number in range(MAX_HOOKS):
            sources = [key.fileobj for key, _ in ready.select()]
            if alive in sources or stamp != _stamp():
                return
            if number % _TIDY_EVERY == 0:
                gc.collect(1)
                if _memory() > MAX_MEMORY_BYTES:
                    return
            link, _ = listener.accept()
            with link, contextlib.suppress(OSError, ValueError):  # who asked has gone, or is not one of ours
                link.settimeout(_SECONDS)
                _answer(link)


def _answer(link: socket.socket) -> None:
    """Do what a command would have done, and send what it is to print, also where its deadline ends this process.

    Raises:
        OSError, ValueError: when the command has gone, or it is none; nothing was done then.
    """
    request, stdin = _read(link)
    try:
        link.sendall(READY)
        if link.recv(1) != GO:
            return
        vault, folder, *rest = map(os.fsdecode, request)
        words, pairs = rest[: rest.index("")], rest[rest.index("") + 1 :]
        link.settimeout(None)
        os.dup2(stdin, 0)
        _become(folder, pairs)
        out = hook.answered(words, vault or None, lambda said: link.sendall(DONE + said))
    finally:
        os.close(stdin)
        system.alarm(0, lambda *_: None)  # of a hook that failed
    link.sendall(DONE + out)


def _become(folder: str, pairs: list[str]) -> None:
    """Take on the environment and the folder of a command."""
    zone = os.environ.get("TZ")
    wanted = {name: value for name, _, value in [pair.partition("=") for pair in pairs] if name}
    if wanted != dict(os.environ):  # most commands have that of the one before
        os.environ.clear()
        os.environ.update(wanted)
    if os.environ.get("TZ") != zone:
        time.tzset()
    files.check_again()
    with contextlib.suppress(OSError):
        os.chdir(folder)


def _read(link: socket.socket) -> tuple[list[bytes], int]:
    """Read what a command wants, and its stdin: vault, folder, words up to an empty one, environment.

    Raises:
        OSError, ValueError: when it is no such request.
    """
    data, streams, _, _ = socket.recv_fds(link, 1 << 16, 1)
    try:
        size = _SIZE.unpack_from(data)[0] if len(data) >= _SIZE.size else -1
        if len(streams) != 1 or not 0 < size <= _MAX_REQUEST_BYTES:
            raise ValueError(size)
        while len(data) < size + _SIZE.size:
            more = link.recv(1 << 16)
            if not more:
                raise ValueError(size)
            data += more
    except (OSError, ValueError):
        for stream in streams:
            os.close(stream)
        raise
    return data[_SIZE.size :].split(b"\0"), streams[0]
