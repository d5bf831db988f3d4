"""`mdmem web`: a port on loopback, a link that works once, and the pages until the process is stopped.

Another `mdmem web` of the vault asks the one that runs for a link, over a socket of the user alone.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress

from mdmem import files
from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.search import freshness, index
from mdmem.server import port as ports
from mdmem.system import local, memory
from mdmem.web import gate
from mdmem.web.app import application
from mdmem.web.gate import Browsers
from mdmem.web.live import Live
from mdmem.web.site import Site

HOST = "127.0.0.1"
_NEXT_TO = 1
"""The pages of a vault have the port beside the one on which its tools are served."""


def listen(config: Config, port: int | None) -> socket.socket:
    """Open a port on loopback: the named one and no other, else the vault's own or any that is free.

    Raises:
        UsageError: when the named port is taken.
    """
    return ports.listen(HOST, port or ports.default_port(config.vault) + _NEXT_TO, exact=port is not None)


def run(
    config: Config, opened: socket.socket, tell: Callable[[str], None], *, demo: bool = False, beside: bool = False
) -> None:
    """Serve the pages until the process is told to end. tell: is called once, with the link that opens a browser.

    beside: another process serves the vault, and gives links to those who ask for them.

    Raises:
        VaultError: when there is no vault.
    """
    port = int(opened.getsockname()[1])
    browsers = Browsers()

    def new_link() -> str:
        return f"http://{HOST}:{port}{gate.ENTER}?key={browsers.new_key()}"

    with nullcontext() if beside else answering(config, new_link):
        memory.give_back()
        freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
        if not freshness.being_built(config):
            with suppress(BusyError, OSError):
                index.update_outside(config, wait_seconds=_WAIT_SECONDS)
        live = Live(config)
        app = application(Site(config, live, browsers, {}, demo), ports.own_hosts(HOST, port), port)
        live.view()
        live.start()
        tell(new_link())
        try:
            ports.run(app, opened)
        finally:
            live.stop()


_WAIT_SECONDS = 1.0
"""How long another writer of the index is waited for: what it leaves out is found while pages are shown."""

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
    """Answer each of the user's processes that asks with a link, while the block runs."""
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
