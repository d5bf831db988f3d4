"""Answer requests over a local socket in a private folder, from the user's own processes only."""

from __future__ import annotations

import os
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from mdmem import files, log
from mdmem.config import Config
from mdmem.system import local
from mdmem.watcher import client

Responder = Callable[[list[str], dict[str, str], bytes], bytes | None]
"""Takes the words of a request, the client's environment and the body; returns None to decline."""

PATIENCE_SECONDS = 5.0
"""Timeout for receiving a request."""

POLL_SECONDS = 10.0
"""Poll interval of the idle server."""


class _Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        """Read one request and answer it."""
        link: socket.socket = self.request
        link.settimeout(PATIENCE_SECONDS)
        try:
            if not self.server.bound.admits(link):
                return
            answer = self.server.answers_to(_read(link))
            if answer is None:
                return
            link.sendall(b"\n")  # fails here, before any work, if the client has given up
            response = answer()
            if response is not None:
                link.sendall(response + b"\n")
        except OSError:
            return  # the client has gone
        except Exception as error:  # noqa: BLE001 - one bad request must not end the server
            log.write(self.server.config, "a request over the local socket failed", error)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server with a thread per request; `answers` maps the first word of a request to its handler.

    Any mdmem may ask what is in `client.ANYBODY`; other requests must come from the same version and folders.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, config: Config, bound: local.Bound, answers: Mapping[str, Responder]) -> None:
        self.config = config
        self.answers = answers
        self.bound = bound
        self.address_family = bound.family
        super().__init__(bound.address, _Handler)  # type: ignore[arg-type]  # a Unix socket's address is a path

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver's signature
        """Log why a request got no handler, as where the system starts no thread; the client does without an answer."""
        log.write(self.config, "a request over the local socket failed", sys.exc_info()[1])

    def answers_to(self, request: bytes) -> Callable[[], bytes | None] | None:
        """Return the handler of one request; None when it is declined."""
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
def serving(config: Config, answers: Mapping[str, Responder], name: str = client.NAME) -> Iterator[Server]:
    """Serve the vault's socket `name` while the block runs. The caller must be the only server."""
    files.make_folder(config.runtime_dir)
    bound = local.Bound(config.runtime_dir, name)
    bound.remove()  # left by a killed server
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
    """Stop the server's thread, waking it up with a connection."""
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
