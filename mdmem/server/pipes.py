"""Pipes: the SDK's server on stdin and stdout, going on where the first answers end."""

from __future__ import annotations

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from mdmem.server import app
from mdmem.server.first_answers import Opening

Request = SessionMessage | Exception


def serve(vault: str | None, opening: Opening) -> None:
    """Serve until stdin is closed; what came before is answered first."""
    anyio.run(_serve, vault, opening)


async def _serve(vault: str | None, opening: Opening) -> None:
    server = app.on_stdio(vault)
    ahead, requests = anyio.create_memory_object_stream[Request](0)
    answers, made = anyio.create_memory_object_stream[SessionMessage](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        group.start_soon(_take, opening, read, ahead)
        group.start_soon(_give, opening, made, write)
        await server.run(requests, answers, server.create_initialization_options())


async def _take(
    opening: Opening, read: MemoryObjectReceiveStream[Request], ahead: MemoryObjectSendStream[Request]
) -> None:
    """Pass on what came before, then what comes."""
    async with ahead:
        for line in opening.unanswered:
            await ahead.send(_message(line))
        async for message in read:
            await ahead.send(message)


async def _give(
    opening: Opening, made: MemoryObjectReceiveStream[SessionMessage], write: MemoryObjectSendStream[SessionMessage]
) -> None:
    """Pass on what the server says, without its answer to an `initialize` that has its answer."""
    greeted = opening.greeted
    async with write:
        async for answer in made:
            if greeted is not None and getattr(answer.message, "id", None) == greeted:
                greeted = None
            else:
                await write.send(answer)


def _message(line: bytes) -> Request:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
