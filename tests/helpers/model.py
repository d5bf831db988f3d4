"""Model: a local server that acts as a model for real agents, in their own protocols.

It requests one shell command that succeeds, then one that fails, and then answers. The number of tool results in a
request determines the next step, so the server keeps no state.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMANDS = ("echo hello from the shell", "ls nothing-here")
ANSWER = "The second command fails: nothing-here is missing."
TITLE = "Two commands"


def _step(results: int, has_tools: bool) -> tuple[str, str]:
    """Return the answer, and the command to run ("" for none)."""
    if not has_tools:
        return TITLE, ""
    return ("", COMMANDS[results]) if results < len(COMMANDS) else (ANSWER, "")


class _Model(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Keep stderr silent."""

    def do_GET(self) -> None:
        self._send(json.dumps({"data": [], "object": "list"}).encode(), "application/json")

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        name = self.path.partition("?")[0]
        for ending, answer in _PROTOCOLS.items():
            if name.endswith(ending):
                self._send(answer(body), "text/event-stream")
                return
        self._send(b'{"totalTokens": 1, "input_tokens": 1}', "application/json")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _stream(events: list[dict[str, Any] | str], *, named: bool = False) -> bytes:
    lines = []
    for event in events:
        head = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        lines.append(f"{head}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "".join(lines).encode()


def _anthropic(body: dict[str, Any]) -> bytes:
    contents = [message["content"] for message in body.get("messages", []) if isinstance(message["content"], list)]
    results = sum(block.get("type") == "tool_result" for content in contents for block in content)
    said, command = _step(results, bool(body.get("tools")))
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{results}", "type": "message", "role": "assistant", "model": "m", "content": []}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": said}
    if command:
        block = {"type": "tool_use", "id": f"toolu_{results}", "name": "Bash", "input": {}}
        given = {"command": command, "description": "Run it"}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    reason = {"stop_reason": "tool_use" if command else "end_turn", "stop_sequence": None}
    return _stream(
        [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": reason, "usage": usage},
            {"type": "message_stop"},
        ],
        named=True,
    )


def _chat(body: dict[str, Any]) -> bytes:
    results = sum(message.get("role") == "tool" for message in body.get("messages", []))
    said, command = _step(results, bool(body.get("tools")))
    head = {"id": f"c{results}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta: dict[str, Any] = {"role": "assistant", "content": said}
    if command:
        given = json.dumps({"command": command, "description": "Run it"})
        call = {
            "index": 0,
            "id": f"call_{results}",
            "type": "function",
            "function": {"name": "bash", "arguments": given},
        }
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    ends = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if command else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    first = {"index": 0, "delta": delta, "finish_reason": None}
    choices: list[list[dict[str, Any]]] = [[first], [ends]]
    last = {**head, "choices": [], "usage": usage}
    return _stream([*({**head, "choices": choice} for choice in choices), last, "[DONE]"])


def _responses(body: dict[str, Any]) -> bytes:
    results = sum(item.get("type") == "function_call_output" for item in body.get("input", []))
    said, command = _step(results, bool(body.get("tools")))
    item: dict[str, Any] = {
        "type": "message",
        "id": f"msg_{results}",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": said, "annotations": []}],
    }
    if command:
        item = {"type": "function_call", "id": f"fc_{results}", "call_id": f"call_{results}", "name": "exec_command"}
        item |= {"arguments": json.dumps({"cmd": command}), "status": "completed"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": f"resp_{results}", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return _stream(
        [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ],
        named=True,
    )


def _gemini(body: dict[str, Any]) -> bytes:
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    said, command = _step(sum("functionResponse" in part for part in parts), bool(body.get("tools")))
    part: dict[str, Any] = {"text": said}
    if command:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command, "description": "Run it"}}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return _stream([{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}])


_PROTOCOLS = {
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    ":streamGenerateContent": _gemini,
}
"""End of a request's path -> the function that answers."""


@contextmanager
def served() -> Iterator[str]:
    """Run the server on a free local port; yield its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
