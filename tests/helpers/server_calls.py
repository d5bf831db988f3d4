"""Calling the server's tools as a client does, without a client: a request is its headers."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server import Server as McpServer
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter
from starlette.datastructures import Headers
from starlette.requests import Request

from mdmem.server import access, app
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
def returned_schema(name: str) -> dict[str, Any]:
    """Return the whole schema of what a tool returns, which clients are not sent."""
    row = next(row for row in TOOLS if row.name == name)
    return TypeAdapter(inspect.signature(row.function, eval_str=True).return_annotation).json_schema()


@cache
def build() -> McpServer[Any]:
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
            params = types.CallToolRequestParams(name=tool, arguments=dict(arguments or {}))
            return Answer(self.ask("tools/call", params, headers))

        return call

    def many(self, headers: Mapping[str, str], calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Answer]:
        """Call tools one after the other in one context, without the SDK, whose part in each call is half its cost."""
        rows = {row.name: row for row in TOOLS}
        at = access.over_http(None, Headers(headers))
        return [Answer(app.answer(rows[tool], lambda: at, given)) for tool, given in calls]

    def read(self, address: str, headers: Mapping[str, str]) -> str:
        """Read a resource; what it says when there is none."""
        params = types.ReadResourceRequestParams(uri=address)
        try:
            return "".join(str(each.text) for each in self.ask("resources/read", params, headers).contents)
        except MCPError as error:
            return str(error)

    def prompt(self, name: str, arguments: Mapping[str, str], headers: Mapping[str, str]) -> str:
        """Render a prompt."""
        params = types.GetPromptRequestParams(name=name, arguments=dict(arguments))
        return str(self.ask("prompts/get", params, headers).messages)

    def ask(self, method: str, params: Any, headers: Mapping[str, str]) -> Any:
        """Send one request to what the server has registered for its method."""
        entry = self.server.get_request_handler(method)
        assert entry is not None
        return self.loop.run(entry.handler(_context(method, params, headers), params))  # type: ignore[arg-type]


def _context(method: str, params: Any, headers: Mapping[str, str]) -> ServerRequestContext[Any, Any]:
    """Make what the SDK hands to a handler."""
    session: Any = None
    return ServerRequestContext(
        session=session,
        lifespan_context={},
        protocol_version="2025-11-25",
        method=method,
        params=params.model_dump(by_alias=True),
        request_id=1,
        request=Request({"type": "http", "method": "POST", "path": "/mcp", "headers": Headers(headers).raw}),
    )
