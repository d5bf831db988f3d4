"""Answering over a local socket, in a folder of the user's own, to the user's own processes."""

from __future__ import annotations

import os
import socket
import socketserver
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from mdmem import files, log
from mdmem.system import local
from mdmem.watcher import client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mdmem.config import Config

    Answer = Callable[[list[str], dict[str, str], bytes], bytes | None]
    """Gets the words of a request, what it says of the asker's environment, and its body; None declines."""

PATIENCE_SECONDS = 5.0
"""How long a request may take to arrive."""

POLL_SECONDS = 10.0
"""How often the server looks up when nobody asks."""


class _Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        """Read one request, give one answer."""
        link: socket.socket = self.request
        link.settimeout(PATIENCE_SECONDS)
        try:
            if not self.server.bound.admits(link):
                return
            answer = self.server.answers_to(_read(link))
            if answer is None:
                return
            link.sendall(b"\n")  # somebody who has not waited for this is found out here, before any work
            said = answer()
            if said is not None:
                link.sendall(said + b"\n")
        except OSError:
            return  # the asker has gone
        except Exception as error:  # noqa: BLE001 - one bad request must not end the server
            log.write(self.server.config, "a request over the local socket failed", error)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A thread a request; `answers` maps the first word of a request to what answers it.

    Any mdmem may ask what is in `client.ANYBODY`; the rest is for the watcher's own version and folders.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, config: Config, bound: local.Bound, answers: Mapping[str, Answer]) -> None:
        self.config = config
        self.answers = answers
        self.bound = bound
        self.address_family = bound.family
        super().__init__(bound.address, _Handler)  # type: ignore[arg-type]  # a Unix socket's is a path

    def answers_to(self, request: bytes) -> Callable[[], bytes | None] | None:
        """Return what answers one request; None for one that is declined."""
        head, _, body = request.partition(b"\n\n")
        first, sender, *rest = [*head.decode("utf-8", "replace").split("\n"), ""]
        words = first.split(" ")
        answer = self.answers.get(words[0])
        if answer is None or not (words[0] in client.ANYBODY or sender == client.sender(self.config)):
            return None
        pairs = (line.partition("=") for line in rest)
        env = {name: value for name, found, value in pairs if found and client.is_passed(name)}
        return partial(answer, words[1:], env, body)


@contextmanager
def serving(config: Config, answers: Mapping[str, Answer], name: str = client.NAME) -> Iterator[Server]:
    """Answer on the socket `name` of the vault while the block runs. Only for who knows that nobody else does."""
    files.make_folder(config.runtime_dir)
    bound = local.Bound(config.runtime_dir, name)
    bound.remove()  # of a server that was killed
    before = os.umask(0o177)
    try:
        server = Server(config, bound, answers)
    finally:
        os.umask(before)
    bound.publish(server.socket)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": POLL_SECONDS}, daemon=True).start()
    try:
        yield server
    finally:
        _end(server)
        server.server_close()
        bound.remove()


def _end(server: Server) -> None:
    """End the server's thread, which looks up when somebody connects."""
    ending = threading.Thread(target=server.shutdown, daemon=True)
    ending.start()
    while ending.is_alive():
        with suppress(OSError), socket.socket(server.address_family) as link:
            link.settimeout(1.0)
            link.connect(server.server_address)
        ending.join(0.05)


def _read(link: socket.socket) -> bytes:
    pieces = []
    room = client.MAX_BYTES
    while room > 0 and (piece := link.recv(1 << 16)):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)
