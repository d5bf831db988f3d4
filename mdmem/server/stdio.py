"""MCP over the pipes of a process that an agent started."""

from __future__ import annotations

import logging

from mdmem.server import app


def serve(vault: str | None) -> None:
    """Serve until stdin is closed."""
    logging.disable(logging.CRITICAL)  # the SDK's logs quote what was asked; mdmem's own never do
    app.on_stdio(vault).run("stdio")
