"""Calls the server's tools as a client does, without a client: only the headers of a request matter."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import SimpleNamespace
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


class Answer:
    """A tool's answer. text: all of it, as a client receives it. error: whether the call was refused."""

    def __init__(self, result: Any) -> None:
        self.value: Any = result.structured_content
        self.error: bool = bool(result.is_error)
        self.said: str = result.content[0].text
        self.text = self.said + json.dumps(self.value, ensure_ascii=False)


@cache
def returned_schema(name: str) -> dict[str, Any]:
    """Return the full schema of a tool's result, which is not sent to clients."""
    row = next(row for row in TOOLS if row.name == name)
    return TypeAdapter(inspect.signature(row.function, eval_str=True).return_annotation).json_schema()


@cache
def build() -> McpServer[Any]:
    """Return the server, built once. MDMEM_VAULT selects the vault at each request."""
    return app.over_http(None)


class Server:
    """A server over the vault of MDMEM_VAULT, called request by request as over HTTP."""

    def __init__(self) -> None:
        self.server = build()
        self.loop = asyncio.Runner()

    def close(self) -> None:
        """Close the event loop."""
        self.loop.close()

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Call a tool. Headers are passed as X_Ghost_Owner="alice"."""
        return self.with_headers({name.replace("_", "-"): value for name, value in headers.items()})(tool, arguments)

    def with_headers(self, headers: Mapping[str, str]) -> Callable[..., Answer]:
        """Return a function that calls tools with these headers."""

        def call(tool: str, arguments: Mapping[str, Any] | None = None) -> Answer:
            params = types.CallToolRequestParams(name=tool, arguments=dict(arguments or {}))
            return Answer(self.ask("tools/call", params, headers))

        return call

    def many(self, headers: Mapping[str, str], calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Answer]:
        """Call tools in order with the same headers, bypassing the SDK, which is half of a call's cost."""
        rows = {row.name: row for row in TOOLS}
        at = access.over_http(None, Headers(headers))
        return [Answer(app.answer(rows[tool], lambda: at, given)) for tool, given in calls]

    def read(self, address: str, headers: Mapping[str, str]) -> str:
        """Return a resource's text, or the error message if there is none."""
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
        """Send one request to the server's handler for its method."""
        entry = self.server.get_request_handler(method)
        assert entry is not None
        return self.loop.run(entry.handler(_context(method, params, headers), params))  # type: ignore[arg-type]


def create(call: Callable[..., Answer], content: str, **more: Any) -> str:
    """Create an internal memory; return its id."""
    made = call("remember_create_internal_memory", {"content": content, **more})
    assert not made.error, made.said
    return str(made.value["memory_id"])


def found(answer: Answer) -> list[str]:
    """Return the texts of the internal memories in an answer."""
    assert not answer.error, answer.said
    return [one["content"] for one in answer.value["memories"]]


def _context(method: str, params: Any, headers: Mapping[str, str]) -> ServerRequestContext[Any, Any]:
    """Return the context that the SDK passes to a handler."""
    session: Any = SimpleNamespace(client_params=None)  # as of a stateless server
    return ServerRequestContext(
        session=session,
        lifespan_context={},
        protocol_version="2025-11-25",
        method=method,
        params=params.model_dump(by_alias=True),
        request_id=1,
        request=Request({"type": "http", "method": "POST", "path": "/mcp", "headers": Headers(headers).raw}),
    )
