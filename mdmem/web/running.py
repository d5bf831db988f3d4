"""The server that runs for a vault: another `mdmem web` asks it for a link, over a socket of the user alone."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mdmem import files
from mdmem.system import local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdmem.config import Config

NAME = "web"
"""The socket's name in the vault's runtime folder."""
MAX_LINK_BYTES = 1024
_SECONDS = 20.0


def link(config: Config) -> str:
    """Return a new link to the pages that are served of this vault; "" when nobody serves them."""
    try:
        connection = local.connect(config.runtime_dir, NAME, time.monotonic() + _SECONDS)
        if connection is None:
            return ""
        said = b""
        try:
            while len(said) < MAX_LINK_BYTES and (piece := connection.recv(MAX_LINK_BYTES)):
                said += piece
        finally:
            connection.close()
    except OSError:
        return ""
    return said.decode("ascii", "replace") if said.startswith(b"http://") else ""


@contextmanager
def answering(config: Config, new_link: Callable[[], str]) -> Iterator[None]:
    """Hand a link to whoever of the user's processes asks, while the block runs."""
    files.make_folder(config.runtime_dir)
    bound = local.Bound(config.runtime_dir, NAME)
    bound.remove()  # of a server that was killed: nobody answered there
    before = os.umask(0o177)
    try:
        server = socket.socket(bound.family, socket.SOCK_STREAM)
        server.bind(bound.address)
    finally:
        os.umask(before)
    server.listen()
    bound.publish(server)
    threading.Thread(target=_answer, args=(server, bound, new_link), daemon=True).start()
    try:
        yield
    finally:
        bound.remove()
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for somebody
        server.close()


def _answer(server: socket.socket, bound: local.Bound, new_link: Callable[[], str]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return  # it was closed
        with connection, suppress(OSError):
            connection.settimeout(_SECONDS)
            if bound.admits(connection):
                connection.sendall(new_link().encode())
