"""`mdmem web`: a port on loopback, a link that opens one browser, the pages until the process is told to end."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from mdmem.search import freshness
from mdmem.server import port as ports
from mdmem.web import gate, running
from mdmem.web.app import application
from mdmem.web.browsers import Browsers
from mdmem.web.live import Live
from mdmem.web.site import Site

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from mdmem.config import Config

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

    with nullcontext() if beside else running.answering(config, new_link):
        freshness.bring_up_to_date(config, quick=False)
        live = Live(config)
        app = application(Site(config, live, browsers, {}, demo), ports.own_hosts(HOST, port), port)
        live.view()
        live.start()
        tell(new_link())
        try:
            ports.run(app, opened)
        finally:
            live.stop()
