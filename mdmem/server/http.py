"""MCP and hooks over HTTP: on loopback unless told otherwise, never without the token, each request for itself."""

from __future__ import annotations

import socket

from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from mdmem import config
from mdmem.server import app, guard, hooks, port, token


def application(vault: str | None, hosts: list[str], secret: str) -> guard.Guard:
    """Return the whole application: MCP at `/mcp`, hooks at `/hooks/<agent>`, the guard before both."""
    inner = app.over_http(vault).streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        max_request_body_size=guard.MAX_BODY_BYTES,
        custom_starlette_routes=[Route("/hooks/{agent}", hooks.endpoint(vault), methods=["POST"])],
        transport_security=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        ),
    )
    return guard.Guard(inner, hosts, secret)


def serve(vault: str | None, opened: socket.socket, host: str) -> None:
    """Serve on an open port until the process is told to end."""
    settings = config.load(vault)
    hosts = port.own_hosts(host, int(opened.getsockname()[1]))
    port.run(application(vault, hosts, token.load(settings)), opened)
