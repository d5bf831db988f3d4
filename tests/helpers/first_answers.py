"""Records the server's answers that do not depend on the vault: `python -m tests.helpers.first_answers`."""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from mdmem.server import app, first_answers

_CLIENT = {"name": "client", "version": "1"}
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def recorded() -> dict[str, dict[str, Any]]:
    """Return the SDK server's answers to the first requests, by protocol version and method."""
    return {
        **{version: anyio.run(_asked, _handshake(version)) for version in HANDSHAKE_PROTOCOL_VERSIONS},
        **{version: anyio.run(_asked, _enveloped(version)) for version in MODERN_PROTOCOL_VERSIONS},
    }


def _handshake(version: str) -> list[tuple[str, dict[str, Any]]]:
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
    return [("initialize", hello), ("notifications/initialized", {}), *((method, {}) for method in ("ping", *_LISTS))]


def _enveloped(version: str) -> list[tuple[str, dict[str, Any]]]:
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": version, f"{prefix}clientInfo": _CLIENT, f"{prefix}clientCapabilities": {}}
    return [(method, {"_meta": meta}) for method in ("server/discover", *_LISTS)]


async def _asked(messages: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the answers to messages that are sent one by one over in-memory streams."""
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    server = app.on_stdio(None)
    found = {}
    async with to_server, requests, answers, from_server, anyio.create_task_group() as group:
        group.start_soon(server.run, requests, answers, server.create_initialization_options())
        for number, (method, params) in enumerate(messages):
            message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
            if not method.startswith("notifications/"):
                message["id"] = number
            await to_server.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
            if "id" in message:
                answer = (await from_server.receive()).message.model_dump(
                    mode="json", by_alias=True, exclude_unset=True
                )
                found[method] = answer["result"]
        group.cancel_scope.cancel()
    return found


def packed(answers: first_answers.StoredAnswers) -> dict[str, Any]:
    """Return answers in the stored form: one version's answers in full, and for each version what differs."""
    common = next(iter(answers.values()))
    return {
        "common": common,
        "versions": {
            version: {
                method: {key: value for key, value in result.items() if common.get(method, {}).get(key) != value}
                for method, result in own.items()
            }
            for version, own in answers.items()
        },
    }


def main() -> None:
    """Write the first answers to their file."""
    first_answers.PATH.write_text(json.dumps(packed(recorded()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
