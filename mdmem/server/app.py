"""App: the tables of tools, resources and prompts as a server of the official SDK.

It uses the SDK's plain `Server`, so that schemas are built only when needed: all when a client lists the tools, one
when it calls a tool, none at the start.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata, func_metadata
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mdmem import __version__, config, log, upgrade
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.server import access, safe_text
from mdmem.server.access import Access
from mdmem.server.resources import PROMPTS, RESOURCES, Prompt, Resource
from mdmem.server.tools import TOOLS, Tool
from mdmem.vault import disk

INSTRUCTIONS = (
    "The user's memory of earlier coding sessions: prompts, answers, tool runs and notes, as markdown files. Look"
    " things up when the user refers to earlier work, or before deciding what may have been decided. `search` returns"
    " one line per note, `timeline` what happened around one, `get_notes` the whole text. Cite notes as [mem:ID]. Notes"
    " say what was true then: check the code. Save a note only when the user asks."
)

UNNAMED_CLIENT = "mcp"
"""The author of a note that a program over HTTP wrote which names itself nowhere."""

McpRequest = ServerRequestContext[Any, Any]
AccessOf = Callable[[McpRequest], Access]
"""Returns the access of a request."""

_ROWS = {row.name: row for row in TOOLS}
_PROMPTS = {row.name: row for row in PROMPTS}


def on_stdio(vault: str | None) -> Server[Any]:
    """Return the server for a process that an agent started and talks to over pipes."""
    cwd = str(Path.cwd())

    def access_of(request: McpRequest) -> Access:
        return access.on_stdio(vault, os.environ, cwd, _meta(request))._replace(client=_client(request))

    return build(access_of, vault)


def over_http(vault: str | None) -> Server[Any]:
    """Return the server for HTTP, where each request has its own access."""

    def access_of(request: McpRequest) -> Access:
        headers = _http(request).headers
        name = _client(request) or headers.get("User-Agent", "").partition("/")[0].strip() or UNNAMED_CLIENT
        return access.over_http(vault, headers, _meta(request))._replace(client=name)

    return build(access_of, vault)


def _client(request: McpRequest) -> str:
    """Return the program that calls, as it names itself in the protocol; "" if it does not.

    HTTP is stateless here: a client that names itself only in `initialize` does not in later requests.
    """
    client = request.session.client_params
    return client.client_info.name if client else ""


def _meta(request: McpRequest) -> Mapping[str, Any]:
    """Return a request's metadata, which the client sets and the model does not."""
    return dict(request.meta or {})


def _http(request: McpRequest) -> Any:
    """Return the HTTP request, which alone decides the access, never the environment."""
    if request.request is None:
        raise UsageError("This server answers HTTP requests only.")
    return request.request


def build(access_of: AccessOf, vault: str | None) -> Server[Any]:
    """Return a server; `access_of` returns what each request may see."""
    answers = Answers(access_of, vault)
    return Server(
        "mdmem",
        title="mdmem",
        instructions=INSTRUCTIONS,
        version=__version__,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_templates,
        on_read_resource=answers.read_resource,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
    )


class Answers:
    """The server's answers to the protocol's methods. Files are read in worker threads."""

    def __init__(self, access_of: AccessOf, vault: str | None) -> None:
        self._access_of = access_of
        self._vault = vault

    async def list_tools(self, request: McpRequest, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ARG002
        """Return all tools with the schemas of their arguments."""
        return types.ListToolsResult(tools=listed())

    async def call_tool(self, request: McpRequest, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool. Errors in the arguments are answers, for the model to act on."""
        row = _ROWS.get(params.name)
        if row is None:
            return _unknown(params.name)
        arguments = parsed_arguments(row, params.arguments or {})
        if isinstance(arguments, str):
            return _refusal(arguments)
        return await to_thread.run_sync(answer, row, partial(self._access_of, request), arguments, self._vault)

    async def list_resources(self, request: McpRequest, _: Any) -> types.ListResourcesResult:  # noqa: ARG002
        """Return the resources with a fixed address; there are too many notes to list, and `search` finds them."""
        fixed = [row for row in RESOURCES if "{" not in row.address]
        return types.ListResourcesResult(
            resources=[types.Resource(uri=row.address, **_description_of(row)) for row in fixed]
        )

    async def list_templates(self, request: McpRequest, _: Any) -> types.ListResourceTemplatesResult:  # noqa: ARG002
        """Return the templates of the other addresses."""
        kinds = [row for row in RESOURCES if "{" in row.address]
        templates = [types.ResourceTemplate(uri_template=row.address, **_description_of(row)) for row in kinds]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, request: McpRequest, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a note, a session or a project as text.

        Raises MCPError when there is nothing at this address, or it cannot be read.
        """
        uri = str(params.uri)
        row, variable = _addressed(uri)
        text = await to_thread.run_sync(self._read, request, row, variable, uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type=_MARKDOWN)]
        )

    def _read(self, request: McpRequest, row: Resource, variable: str, uri: str) -> str:
        try:
            return safe_text.fenced(self._made(request, "resource", row, variable))
        except MdmemError as error:
            code = types.INVALID_PARAMS if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            raise MCPError(code, str(error), {"uri": uri}) from None

    async def list_prompts(self, request: McpRequest, _: Any) -> types.ListPromptsResult:  # noqa: ARG002
        """Return the list of prompts."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=row.name,
                    title=row.title,
                    description=row.description,
                    arguments=[
                        types.PromptArgument(name=row.argument[0], description=row.argument[1], required=row.required)
                    ],
                )
                for row in PROMPTS
            ]
        )

    async def get_prompt(self, request: McpRequest, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return a prompt, or as its text why it cannot be made.

        Raises MCPError when there is no such prompt, or its argument is missing.
        """
        row = _PROMPTS.get(params.name)
        if row is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r:.60}.")
        argument = (params.arguments or {}).get(row.argument[0], "")
        if row.required and not argument:
            raise MCPError(types.INVALID_PARAMS, f"{row.name} needs the argument {row.argument[0]!r}.")
        text = await to_thread.run_sync(self._render, request, row, argument)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=row.description, messages=[message])

    def _render(self, request: McpRequest, row: Prompt, argument: str) -> str:
        try:
            return str(self._made(request, "prompt", row, argument))
        except MdmemError as error:
            return str(error)

    def _made(self, request: McpRequest, kind: str, row: Resource | Prompt, value: str) -> Any:
        """Return what a row's function makes of the value of its variable or argument."""
        with _failures_logged(self._vault, kind, row.name):
            caller = self._access_of(request)
            caller.require(row.needs)
            return row.function(caller, value)


_MARKDOWN = "text/markdown"


def _description_of(row: Resource) -> dict[str, Any]:
    """Return the description of a resource for clients, without its address."""
    return {"name": row.name, "title": row.title, "description": row.function.__doc__, "mime_type": _MARKDOWN}


def answer(
    row: Tool, access_of: Callable[[], Access], arguments: dict[str, Any], vault: str | None = None
) -> types.CallToolResult:
    """Call a tool's function and return its values and their text, or the error, for the model to act on."""
    try:
        with _failures_logged(vault, "tool", row.name):
            caller = access_of()
            if row.needs:
                caller.require(row.needs)
            if not row.writes and arguments.get("project"):
                arguments = {**arguments, "project": caller.project_called(arguments["project"])}
            value = row.function(caller, **arguments)
    except MdmemError as error:
        return _refusal(str(error))
    lines = row.text(value)
    text = "\n".join(lines) if row.writes else safe_text.fenced(lines)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=value)


@contextmanager
def _failures_logged(vault: str | None, kind: str, name: str) -> Iterator[None]:
    """Log a bug, or an error of the system, and raise an MdmemError in its place without anything of its own text."""
    try:
        yield
    except MdmemError:
        raise
    except Exception as error:
        log.write(config.load(vault), f"the {kind} {name} failed", error)
        raise MdmemError(_failure(name, error)) from error


def _failure(name: str, error: Exception) -> str:
    """Return why a tool, resource or prompt failed, and what to do."""
    if not isinstance(error, OSError) or not error.errno:
        return f"{name} failed. {upgrade.explain(error)}"
    why = os.strerror(error.errno)
    if isinstance(error, disk.NotSyncedError):  # a second call would store it twice
        return f"Saved, but a power cut may undo it: {why}. Do not call {name} again for it."
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    todo = "Free some space, then try again." if is_full else "`mdmem doctor` may find the cause."
    return f"{name} failed: {why}. {todo}"


def _refusal(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


def _unknown(name: str) -> types.CallToolResult:
    from difflib import get_close_matches

    similar = get_close_matches(name[:60], _ROWS, n=3) or ("search", "timeline", "get_notes")
    return _refusal(f"There is no tool {name!r:.60}. Similar ones: {', '.join(similar)}. List the tools to see all.")


def _addressed(uri: str) -> tuple[Resource, str]:
    """Return the kind of resource at an address, and the value of its variable, "" for none."""
    for row in RESOURCES:
        start, variable, _ = row.address.partition("{")
        value = uri.removeprefix(start)
        if uri.startswith(start) and bool(value) == bool(variable) and "/" not in value:
            return row, unquote(value)
    raise MCPError(types.INVALID_PARAMS, f"There is nothing at {uri!r:.200}.", {"uri": uri})


# -- arguments and their schemas --------------------------------------------------------------------


@cache
def _metadata(name: str) -> FuncMetadata:
    """Return the SDK's model of a tool's arguments: its function's parameters without the first, its `Access`."""
    row = _ROWS[name]
    first = next(iter(signature(row.function).parameters))
    skipped = (first, row.extra[0]) if row.extra else (first,)
    return func_metadata(row.function, skip_names=skipped, structured_output=False)


def parsed_arguments(row: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the arguments of a call as the tool's function takes them, or the error message."""
    metadata = _metadata(row.name)
    known_names = {field.alias or name for name, field in metadata.arg_model.model_fields.items()}
    extra = {name: value for name, value in arguments.items() if name not in known_names}
    unknown = [name for name in extra if not (row.extra and re.search(row.extra[1], name))]
    if unknown:
        return (
            f"{row.name} has no argument {unknown[0]!r:.60}; it takes {', '.join(schema(row)['properties']) or 'none'}."
        )
    try:
        accepted = metadata.validate_arguments({name: arguments[name] for name in arguments if name in known_names})
    except ValidationError as error:
        problems = "; ".join([_wrong(metadata, each) for each in error.errors()[:5]])
        problems = problems.replace("valid tuple", "list").replace("Tuple", "List")
        return f"{row.name} cannot take these arguments. {problems}."
    if row.extra:
        accepted[row.extra[0]] = extra  # the function checks them
    return accepted


def _wrong(metadata: FuncMetadata, error: Mapping[str, Any]) -> str:
    """Return what is wrong with one argument; for a missing one, its description."""
    name = ".".join(map(str, error["loc"]))
    field = metadata.arg_model.model_fields.get(name) if error["type"] == "missing" else None
    description = f" ({field.description.rstrip('.')})" if field is not None and field.description else ""
    return f"{name}: {error['msg']}{description}"


@cache
def listed() -> list[types.Tool]:
    """Return all tools as clients see them.

    Output schemas say only that an answer is an object: the list of tools is part of every conversation, answers
    explain themselves, and mypy checks them.
    """
    return [
        types.Tool(
            name=row.name,
            title=row.title,
            description=row.function.__doc__,
            input_schema=schema(row),
            output_schema={"type": "object"},
            annotations=_hints(row),
        )
        for row in TOOLS
    ]


def schema(row: Tool) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    result: dict[str, Any] = _slim(_metadata(row.name).arg_model.model_json_schema(by_alias=True))
    if row.extra:
        result["patternProperties"] = {row.extra[1]: row.extra[2]}
    return result


def _hints(row: Tool) -> types.ToolAnnotations:
    """Return those of a tool's hints for the client that differ from the protocol's defaults."""
    if not row.writes:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(destructive_hint=row.destructive, idempotent_hint=row.idempotent or None)


_BOUNDS = ("maxLength", "maxItems", "minItems", "minimum", "maximum", "additionalProperties")
"""Bounds of arguments. A model does not need them in the schema: the error message names them."""


def _slim(schema: Any) -> Any:
    """Return a schema of arguments without what a model does not need: titles, bounds, empty defaults and null."""
    if isinstance(schema, list):
        return [_slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    slim = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            slim[key] = {name: _slim(item) for name, item in value.items()}
        elif key == "anyOf" and len(value) == 2 and {"type": "null"} in value:
            slim |= _slim(next(item for item in value if item != {"type": "null"}))
        elif key in _BOUNDS:
            continue
        elif key != "title" and not (key == "default" and value in (None, "", [], False)):
            slim[key] = _slim(value)
    return slim
