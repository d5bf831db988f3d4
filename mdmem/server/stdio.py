"""MCP over the pipes of a process that an agent started."""

from __future__ import annotations

import logging

import anyio
from mcp.server.stdio import stdio_server

from mdmem.server import app


def serve(vault: str | None) -> None:
    """Serve until stdin is closed."""
    logging.disable(logging.CRITICAL)  # the SDK's logs quote what was asked; mdmem's own never do
    anyio.run(_serve, vault)


async def _serve(vault: str | None) -> None:
    server = app.on_stdio(vault)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
