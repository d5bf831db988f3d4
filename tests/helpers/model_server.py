"""Model server: answers every request as it is told to, in a vendor's protocol if wanted; `model` plays for agents."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """A server that answers every request with `status` and `body` after `delay` seconds, and keeps what it got."""

    def __init__(self) -> None:
        self.status = 200
        self.body: bytes = b""
        self.delay = 0.0
        self.drip = False
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def address(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        """Stop it."""
        self._http.shutdown()
        self._http.server_close()

    def speaks(self, protocol: str, text: str | None, **more: Any) -> None:
        """Answer in a vendor's protocol."""
        self.body = json.dumps(PROTOCOLS[protocol](text) | more).encode()

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.requests.append((self.path, headers, json.loads(data)))
                time.sleep(server.delay)
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(server.body)))
                with suppress(OSError):  # whoever asked waits no longer
                    self.end_headers()
                    for at in range(len(server.body)) if server.drip else ():
                        self.wfile.write(server.body[at : at + 1])
                        self.wfile.flush()
                        time.sleep(0.1)
                    self.wfile.write(b"" if server.drip else server.body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _anthropic(text: str | None) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text is not None else []
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 9},
    }  # fmt: skip


def _openai(text: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }  # fmt: skip


PROTOCOLS: dict[str, Callable[[str | None], dict[str, Any]]] = {"anthropic": _anthropic, "openai": _openai}
