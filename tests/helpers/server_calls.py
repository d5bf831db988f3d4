"""Calling the server's tools as a client does, without a client: a request is its headers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from starlette.datastructures import Headers
from starlette.requests import Request

from mdmem.server import app, reach
from mdmem.server.tools import TOOLS

GHOST = {"X-Internal-Type": "ghost", "X-Ghost-Type": "user"}


class Answer:
    """What a tool answered. text: all of it, as a client gets it. error: whether it is a refusal."""

    def __init__(self, result: Any) -> None:
        self.value: Any = result.structured_content
        self.error: bool = bool(result.is_error)
        self.said: str = result.content[0].text
        self.text = self.said + json.dumps(self.value, ensure_ascii=False)


@cache
def build() -> MCPServer[Any]:
    """Make the server once: which vault it serves, MDMEM_VAULT says at each request."""
    return app.over_http(None)


class Server:
    """A server over the vault of MDMEM_VAULT, called request by request as over HTTP."""

    def __init__(self) -> None:
        self.server = build()
        self.loop = asyncio.Runner()

    def close(self) -> None:
        """End its event loop."""
        self.loop.close()

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Call a tool; headers are given as X_Ghost_Owner="alice"."""
        return self.with_headers({name.replace("_", "-"): value for name, value in headers.items()})(tool, arguments)

    def with_headers(self, headers: Mapping[str, str]) -> Callable[..., Answer]:
        """Return what calls a tool in one context."""

        def call(tool: str, arguments: Mapping[str, Any] | None = None) -> Answer:
            context = self.context(headers, {"name": tool, "arguments": dict(arguments or {})})
            return Answer(self.loop.run(self.server.call_tool(tool, dict(arguments or {}), context)))

        return call

    def many(self, headers: Mapping[str, str], calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Answer]:
        """Call tools one after the other in one context, without the SDK, whose part in each call is half its cost."""
        rows = {row.name: row for row in TOOLS}
        at = reach.over_http(None, Headers(headers))
        return [Answer(app.answer(rows[tool], lambda: at, given)) for tool, given in calls]

    def read(self, address: str, headers: Mapping[str, str]) -> str:
        """Read a resource; what it says when there is none."""
        context = self.context(headers, {"uri": address})

        async def read() -> str:
            try:
                found: Any = await self.server.read_resource(address, context)
                return "".join(str(each.content) for each in found)
            except Exception as error:  # noqa: BLE001 - a refusal is text, too
                return str(error)

        return self.loop.run(read())

    def prompt(self, name: str, arguments: Mapping[str, str], headers: Mapping[str, str]) -> str:
        """Render a prompt."""
        context = self.context(headers, {"name": name})

        async def render() -> str:
            found: Any = await self.server.get_prompt(name, dict(arguments), context)
            return str(found.messages)

        return self.loop.run(render())

    def context(self, headers: Mapping[str, str], params: Mapping[str, Any]) -> Context[Any, Any]:
        """Make what the SDK hands to a tool."""
        raw = Headers(headers).raw
        request = Request({"type": "http", "method": "POST", "path": "/mcp", "headers": raw})
        session: Any = None
        made: ServerRequestContext[Any, Any] = ServerRequestContext(
            session=session,
            lifespan_context={},
            protocol_version="2025-11-25",
            method="tools/call",
            params=params,
            request_id=1,
            request=request,
        )
        return Context(request_context=made, mcp_server=self.server)
