"""First answers: reply to a client's first requests, which do not concern the vault, without the SDK.

The SDK takes seconds to import. A client that starts its servers with the first prompt does not wait that long, and
its model would see no tools. These answers are always the same, so they are stored beside this module as the SDK
gives them (`python -m tests.helpers.first_answers` writes them).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_suffix(".json")

_META = "io.modelcontextprotocol/"

StoredAnswers = dict[str, dict[str, Any]]
"""Protocol version -> method -> result."""


class Opening:
    """A connection until the client's first request that only the server itself can answer.

    unanswered: the messages that the server must still process, in order. greeted: the id of an `initialize` among
    them that was already answered here; None if there is none.
    """

    def __init__(self) -> None:
        self.unanswered: list[bytes] = []
        self.greeted: str | int | None = None
        self._answers = load()
        self._version = ""

    def take(self, line: bytes) -> bytes | None:
        """Return the line that answers a message: "" if it needs none, None if it is for the server itself."""
        message = _decoded(line)
        method, params, number = message.get("method"), message.get("params", {}), message.get("id")
        if not (isinstance(method, str) and isinstance(params, dict)):
            answer = None
        elif "id" not in message:
            answer = b""
        else:
            result = self._result(method, params) if isinstance(number, str | int) else None
            answer = None if result is None else _encoded({"jsonrpc": "2.0", "id": number, "result": result})
        if method == "initialize" and answer:
            self.unanswered, self.greeted = [line], number
        elif not answer:
            self.unanswered.append(line)
        return answer

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        envelope = params.get("_meta")
        version = envelope.get(f"{_META}protocolVersion") if isinstance(envelope, dict) else None
        if method == "initialize":
            self._version = str(params.get("protocolVersion")) if _is_greeting(params) and version is None else ""
        elif set(params) - {"_meta"}:
            return None
        elif version is not None and not isinstance(params["_meta"].get(f"{_META}clientCapabilities"), dict):
            return None  # without an `initialize` before it, a request must identify its client fully
        return self._answers.get(self._version if version is None else str(version), {}).get(method)


def _is_greeting(params: Mapping[str, Any]) -> bool:
    """Whether the parameters of `initialize` are complete; for others, the server reports what is wrong."""
    client = params.get("clientInfo")
    is_named = (
        isinstance(client, dict) and isinstance(client.get("name"), str) and isinstance(client.get("version"), str)
    )
    return is_named and isinstance(params.get("capabilities"), dict)


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else {}


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load() -> StoredAnswers:
    """Return the stored answers."""
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    common = stored["common"]
    return {
        version: {method: {**common.get(method, {}), **answer} for method, answer in by_method.items()}
        for version, by_method in stored["versions"].items()
    }
