"""Answering over the watcher's unix socket: 0600, in a folder of the user's own, to the user's own processes."""

from __future__ import annotations

import os
import socket
import socketserver
import struct
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import log
from mdmem.recall import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mdmem.config import Config

    Answer = Callable[[list[str], dict[str, str], bytes], bytes | None]
    """Gets the words of a request, what it says of the asker's environment, and its body; None declines."""

PATIENCE_SECONDS = 5.0
"""How long a request may take to arrive."""

POLL_SECONDS = 10.0
"""How often the server looks up when nobody asks."""

ANYBODY = frozenset(["status", "stop"])
"""What a mdmem of another version can ask, too."""


class _Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        """Read one request, give one answer."""
        link: socket.socket = self.request
        link.settimeout(PATIENCE_SECONDS)
        if not _is_ours(link):
            return
        try:
            answer = self.server.answer(_read(link))
            if answer is not None:
                link.sendall(answer + b"\n")
        except OSError:
            return  # the asker has gone
        except Exception as error:  # noqa: BLE001 - one bad request must not end the watcher
            log.write(self.server.config, "a request to the watcher failed", error)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A thread a request; `answers` maps the first word of a request to what answers it.

    Any mdmem may ask what is in `ANYBODY`; the rest is for the watcher's own version and folders.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, config: Config, path: str, answers: Mapping[str, Answer]) -> None:
        self.config = config
        self.answers = answers
        super().__init__(path, _Handler)

    def answer(self, request: bytes) -> bytes | None:
        """Answer one request; None for one that is declined."""
        head, _, body = request.partition(b"\n\n")
        first, sender, *rest = [*head.decode("utf-8", "replace").split("\n"), ""]
        words = first.split(" ")
        answer = self.answers.get(words[0])
        if answer is None or not (words[0] in ANYBODY or sender == ask.sender(self.config)):
            return None
        pairs = (line.partition("=") for line in rest)
        env = {name: value for name, found, value in pairs if found and ask.is_passed(name)}
        return answer(words[1:], env, body)


@contextmanager
def serving(config: Config, answers: Mapping[str, Answer]) -> Iterator[Server]:
    """Answer on the vault's socket while the block runs. Only for who holds the watcher's lock."""
    path = Path(ask.socket_path(config))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.parent.lstat()
    if found.st_uid != os.getuid():
        raise PermissionError(f"{path.parent} belongs to another user")
    path.parent.chmod(0o700)
    path.unlink(missing_ok=True)  # of a watcher that was killed: we hold its lock
    before = os.umask(0o177)
    try:
        server = Server(config, str(path), answers)
    finally:
        os.umask(before)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": POLL_SECONDS}, daemon=True).start()
    try:
        yield server
    finally:
        _end(server, str(path))
        server.server_close()
        path.unlink(missing_ok=True)


def _end(server: Server, path: str) -> None:
    """Let the server's thread end, which looks up when somebody knocks."""
    ending = threading.Thread(target=server.shutdown, daemon=True)
    ending.start()
    while ending.is_alive():
        with suppress(OSError), socket.socket(socket.AF_UNIX) as link:
            link.settimeout(1.0)
            link.connect(path)
        ending.join(0.05)


def _read(link: socket.socket) -> bytes:
    pieces = []
    room = ask.MAX_BYTES
    while room > 0 and (piece := link.recv(1 << 16)):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def _is_ours(link: socket.socket) -> bool:
    """Say whether the other end is this user's process, where the system tells; the socket's mode says so anyway."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", data)[1]) == os.getuid()
