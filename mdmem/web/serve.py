"""`mdmem web`: a port on loopback, a link that works once, and the pages until the process is stopped.

Another `mdmem web` of the vault asks the one that runs for a link, over a socket of the user alone.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import nullcontext, suppress

from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.search import freshness, index
from mdmem.server import port as ports
from mdmem.system import memory
from mdmem.watcher import answer, client
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

    answers = {client.LINK: lambda *_: new_link().encode()}
    with nullcontext() if beside else answer.serving(config, answers, NAME):
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
_SECONDS = 20.0


def link(config: Config) -> str:
    """Return a new link to the pages that are served of this vault; "" when nobody serves them."""
    said = client.ask(config, client.LINK, {}, b"", seconds=_SECONDS, name=NAME) or b""
    return said.decode("ascii", "replace") if said.startswith(b"http://") else ""
