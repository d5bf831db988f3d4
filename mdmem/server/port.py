"""An HTTP server on a port of this machine, with limits on connections, headers and time; it writes no log."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mdmem.errors import UsageError
from mdmem.hashing import sha256
from mdmem.server import guard

_FIRST_PORT, _PORTS = 20_000, 20_000
_TICK_SECONDS = 0.5


def default_port(vault: str) -> int:
    """Return a vault's default port, which is derived from its path."""
    return _FIRST_PORT + int.from_bytes(sha256(vault.encode("utf-8", "surrogateescape"))[:4], "big") % _PORTS


def listen(host: str, port: int, *, exact: bool) -> socket.socket:
    """Open the port; if it is taken, any free port, unless `exact`.

    Raises UsageError when the host is not an address of this machine, or the exact port is taken.
    """
    if host in ("", "*", "0.0.0.0", "::"):  # noqa: S104 - refused here
        raise UsageError("Give the address that clients use: the server checks the Host header against it.")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"There is no address {host!r:.60} on this machine.") from error
    for number in (port, 0):
        # asyncio sends without delay only if the protocol is named.
        opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((address[0], number))
        except OSError as error:
            opened.close()
            if exact or number == 0:
                why = f"{host}:{number} cannot be used ({error.strerror}). Choose another --port."
                raise UsageError(why) from error
            continue
        opened.listen(guard.MAX_CONNECTIONS)
        return opened
    raise AssertionError


def own_hosts(host: str, port: int) -> list[str]:
    """Return the `Host` values that are ours when we serve on `host`."""
    names = ["127.0.0.1", "localhost", "[::1]"] if is_loopback(host) else [f"[{host}]" if ":" in host else host]
    return [f"{name}:{port}" for name in names]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Protocol(H11Protocol):
    """HTTP/1.1 with a time limit for a connection to send complete headers.

    A connection without the token is a stranger. When there are too many, the oldest one is closed, so that a flood
    of them leaves connections for other clients.
    """

    _strangers: ClassVar[dict[_Protocol, None]] = {}
    _timer: Any = None

    def connection_made(self, transport: Any) -> None:
        """Count the connection as a stranger, and start its time limit."""
        super().connection_made(transport)
        self._strangers[self] = None
        while len(self._strangers) > guard.MAX_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            if not oldest._is_admitted():
                oldest.transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._strangers.pop(self, None)
        super().connection_lost(exc)

    def _is_admitted(self) -> bool:
        scope: Any = self.scope
        return bool(scope and scope.get(guard.ADMITTED))

    def data_received(self, data: bytes) -> None:
        """Start or stop the time limit, depending on whether a request is complete."""
        super().data_received(data)
        self._watch()

    def _is_waiting(self) -> bool:
        request: Any = self.cycle
        return request is None or bool(request.response_complete)

    def _watch(self) -> None:
        if not self._is_waiting() and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif self._is_waiting() and self._timer is None:
            self._timer = self.loop.call_later(guard.HEADER_SECONDS, self._end)

    def _end(self) -> None:
        self._timer = None
        if self._is_waiting():
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that checks twice a second whether to stop, not ten times, so that idling costs nothing."""

    async def main_loop(self) -> None:
        """Wait until the process is told to stop."""
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_SECONDS)


def run(app: Any, opened: socket.socket) -> None:
    """Serve an ASGI application on an open port until the process is told to stop."""
    logging.disable(logging.CRITICAL)  # the libraries' logs quote requests; mdmem's own log never does
    _Server(
        uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=guard.MAX_CONNECTIONS,
            h11_max_incomplete_event_size=guard.MAX_HEADER_BYTES,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
        )
    ).run(sockets=[opened])
