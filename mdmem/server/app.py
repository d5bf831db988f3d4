"""App: the tables of tools, resources and prompts as a server of the official SDK."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool as ServerTool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, TypeAdapter, ValidationError

from mdmem import __version__, config, log
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.server import reach, shown
from mdmem.server.reach import Reach
from mdmem.server.resources import PROMPTS, RESOURCES, Prompt, Resource
from mdmem.server.tools import TOOLS, Tool

INSTRUCTIONS = (
    "The user's memory of earlier coding sessions: prompts, answers, tool runs and notes, as markdown files. Look"
    " things up when the user refers to earlier work, or before deciding what may have been decided. `search` gives"
    " one line a note, `timeline` what was around one, `get_notes` the whole text. Cite notes as [mem:ID]. Notes say"
    " what was true then: check the code. Save a note only when the user asks."
)

ReachOf = Callable[["Context[Any, Any]"], Reach]
"""Says what a request may see."""


def on_stdio(vault: str | None) -> MCPServer[Any]:
    """Make the server for a process that an agent started and talks to over pipes."""
    cwd = str(Path.cwd())
    return build(lambda ctx: reach.on_stdio(vault, os.environ, cwd, _meta(ctx)), vault)


def over_http(vault: str | None) -> MCPServer[Any]:
    """Make the server for HTTP, where every request says for itself whose it is."""
    return build(lambda ctx: reach.over_http(vault, _request(ctx).headers, _meta(ctx)), vault)


def _meta(ctx: Context[Any, Any]) -> Mapping[str, Any]:
    """Return what the client, not the model, says beside the arguments of a request."""
    return dict(ctx.request_context.meta or {})


def _request(ctx: Context[Any, Any]) -> Any:
    """Return the HTTP request, without which nobody can say whose it is: the environment must not say it."""
    request = ctx.request_context.request
    if request is None:
        raise UsageError("This server answers HTTP requests only.")
    return request


def build(reach_of: ReachOf, vault: str | None) -> MCPServer[Any]:
    """Make a server whose requests see what `reach_of` says."""
    server: MCPServer[Any] = MCPServer(
        "mdmem",
        title="mdmem",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=[_tool(row, reach_of, vault) for row in TOOLS],
        log_level="CRITICAL",
        subscriptions=False,
    )
    for resource in RESOURCES:
        _add_resource(server, resource, reach_of, vault)
    for prompt in PROMPTS:
        _add_prompt(server, prompt, reach_of, vault)
    return server


def _tool(row: Tool, reach_of: ReachOf, vault: str | None) -> ServerTool:
    """Wrap a tool's function for the SDK: its own signature, with the request in the place of the reach."""
    signature = inspect.signature(row.function, eval_str=True)
    extra = row.extra[0] if row.extra else ""
    parameters = [each for each in signature.parameters.values() if each.name not in ("at", extra)]

    def call(ctx: Context[Any, Any], **given: Any) -> CallToolResult:
        if extra:
            given[extra] = _extras(ctx, row)
        return answer(row, lambda: reach_of(ctx), given, vault)

    request = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    _sign(call, row.name, signature.replace(parameters=[*parameters, request], return_annotation=CallToolResult))
    tool = _Tool.from_function(
        call,
        title=row.title,
        description=row.function.__doc__,
        annotations=_hints(row),
        structured_output=False,
    )
    # What a tool gives is checked by mypy. A list of tools is a part of every conversation, and answers explain
    # themselves: it says no more than that they have keys.
    tool.fn_metadata.output_schema = {"type": "object"}
    tool.parameters = _slim(tool.parameters)
    if row.extra:
        tool.parameters["patternProperties"] = {row.extra[1]: row.extra[2]}
    return tool


def answer(row: Tool, at: Callable[[], Reach], given: dict[str, Any], vault: str | None = None) -> CallToolResult:
    """Call a tool's function and give its values, and the same as text; or why not, for the model to act on."""
    try:
        here = at()
        if row.needs:
            here.require(row.needs)
        value = row.function(here, **given)
    except MdmemError as error:
        return _refusal(str(error))
    except Exception as error:  # noqa: BLE001 - the last resort of a request; what it says stays here
        log.write(config.load(vault), f"the tool {row.name} failed", error)
        return _refusal(f"{row.name} failed in mdmem itself ({type(error).__name__}). `mdmem doctor` may show why.")
    lines = row.text(value)
    text = "\n".join(lines) if row.writes else shown.fenced(lines)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=value)


def _hints(row: Tool) -> ToolAnnotations:
    """Return what a client is told of a tool, where it differs from what the protocol assumes of any."""
    if not row.writes:
        return ToolAnnotations(read_only_hint=True)
    return ToolAnnotations(destructive_hint=row.destructive, idempotent_hint=row.idempotent or None)


def output_schema(row: Tool) -> dict[str, Any]:
    """Return the whole schema of what a tool gives."""
    return _schema(inspect.signature(row.function, eval_str=True).return_annotation)


@cache
def _schema(given: Any) -> dict[str, Any]:
    made: dict[str, Any] = _slim(TypeAdapter(given).json_schema(), given=False)
    return made


_BOUNDS = ("maxLength", "maxItems", "minItems", "minimum", "maximum", "additionalProperties")
"""What a model need not know of an argument until it is out of bounds; the refusal names them."""


class _Tool(ServerTool):
    """The SDK's tool, but for its words on arguments that do not fit, which a model is to act on."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run the tool; an argument that it does not have is no more overlooked than one that is wrong."""
        known, patterns = self.parameters["properties"], self.parameters.get("patternProperties", ())
        unknown = [name for name in arguments if name not in known and not any(re.search(p, name) for p in patterns)]
        if unknown:
            return _refusal(f"{self.name} has no argument {unknown[0]!r:.60}; it takes {', '.join(known)}.")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.__cause__.errors()]
            said = "; ".join(wrong[:5]).replace("valid tuple", "list")
            return _refusal(f"{self.name} cannot take these arguments. {said}.")


def _slim(schema: Any, *, given: bool = True) -> Any:
    """Leave out what says nothing to a model: titles; of what is to be `given`, also empty defaults and null."""
    if isinstance(schema, list):
        return [_slim(each, given=given) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _slim(each, given=given) for name, each in value.items()}
        elif given and key == "anyOf" and len(value) == 2 and {"type": "null"} in value:
            kept |= _slim(next(each for each in value if each != {"type": "null"}))
        elif given and key in _BOUNDS:
            continue
        elif key != "title" and not (given and key == "default" and value in (None, "", [], False)):
            kept[key] = _slim(value, given=given)
    return kept


def _extras(ctx: Context[Any, Any], row: Tool) -> dict[str, Any]:
    """Take the arguments that no parameter of the tool is named after; the function says whether they are good."""
    arguments = (ctx.request_context.params or {}).get("arguments") or {}
    named = inspect.signature(row.function).parameters
    return {name: value for name, value in arguments.items() if name not in named}


def _refusal(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


def _add_resource(server: MCPServer[Any], row: Resource, reach_of: ReachOf, vault: str | None) -> None:
    variable = row.address.rpartition("{")[2].rstrip("}")

    def call(ctx: Context[Any, Any], **given: Any) -> str:
        try:
            here = reach_of(ctx)
            here.require(row.needs)
            return shown.fenced(row.function(here, given[variable]))
        except NotFoundError as error:
            raise ResourceNotFoundError(str(error)) from None
        except MdmemError as error:
            raise ResourceError(str(error)) from None
        except Exception as error:  # noqa: BLE001 - as for tools
            log.write(config.load(vault), f"the resource {row.name} failed", error)
            raise ResourceError(f"mdmem failed ({type(error).__name__}). `mdmem doctor` may show why.") from None

    _sign(call, row.name, _with_request(variable, str))
    server.resource(
        row.address, name=row.name, title=row.title, description=row.function.__doc__, mime_type="text/markdown"
    )(call)


def _add_prompt(server: MCPServer[Any], row: Prompt, reach_of: ReachOf, vault: str | None) -> None:
    name, meaning = row.argument
    required = row.name == "recall"

    def call(ctx: Context[Any, Any], **given: Any) -> str:
        try:
            here = reach_of(ctx)
            here.require(row.needs)
            return row.function(here, given.get(name) or "")
        except MdmemError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - as for tools
            log.write(config.load(vault), f"the prompt {row.name} failed", error)
            return f"mdmem failed ({type(error).__name__}). `mdmem doctor` may show why."

    annotated = Annotated[str, Field(description=meaning)]
    default = inspect.Parameter.empty if required else ""
    _sign(call, row.name, _with_request(name, annotated, default))
    server.prompt(name=row.name, title=row.title, description=row.description)(call)


def _with_request(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, annotation=annotation, default=default),
            inspect.Parameter("ctx", kind, annotation=Context),
        ],
        return_annotation=str,
    )


def _sign(function: Any, name: str, signature: inspect.Signature) -> None:
    """Set a wrapper\'s the name and the signature from which the SDK makes its schemas."""
    function.__name__ = name
    function.__signature__ = signature
    function.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    function.__annotations__["return"] = signature.return_annotation
