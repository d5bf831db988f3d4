"""`mdmem web`: serve the pages on loopback until the process is stopped, and give out links that work once.

Another `mdmem web` of the same vault asks the running one for a link, over a socket private to the user.
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
"""A vault's pages use the port next to that of its MCP server."""


def listen(config: Config, port: int | None) -> socket.socket:
    """Open a port on loopback: exactly the given one; without one, the vault's own or any free port.

    Raises UsageError when the given port is taken.
    """
    return ports.listen(HOST, port or ports.default_port(config.vault) + _NEXT_TO, exact=port is not None)


def run(
    config: Config, opened: socket.socket, report: Callable[[str], None], *, demo: bool = False, beside: bool = False
) -> None:
    """Serve the pages until the process is told to stop. report: called once, with the link to open.

    beside: whether another process already serves the vault, and answers requests for links.

    Raises VaultError when there is no vault.
    """
    port = int(opened.getsockname()[1])
    browsers = Browsers()

    def new_link() -> str:
        return f"http://{HOST}:{port}{gate.ENTER}?key={browsers.new_key()}"

    answers = {client.LINK: lambda *_: new_link().encode()}
    with nullcontext() if beside else answer.serving(config, answers, NAME):
        memory.release_free_memory()
        freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
        if not freshness.being_built(config):
            with suppress(BusyError, OSError):
                index.update_in_process(config, wait_seconds=_WAIT_SECONDS)
        live = Live(config)
        app = application(Site(config, live, browsers, {}, demo), ports.own_hosts(HOST, port), port)
        live.view()
        live.start()
        report(new_link())
        try:
            ports.run(app, opened)
        finally:
            live.stop()


_WAIT_SECONDS = 1.0
"""Seconds to wait for another writer of the index; what is missing then is indexed while pages are shown."""

NAME = "web"
"""The socket's name in the vault's runtime folder."""
_SECONDS = 20.0


def link(config: Config) -> str:
    """Return a new link from the process that serves this vault; "" if there is none."""
    answered = client.ask(config, client.LINK, {}, b"", seconds=_SECONDS, name=NAME) or b""
    return answered.decode("ascii", "replace") if answered.startswith(b"http://") else ""
