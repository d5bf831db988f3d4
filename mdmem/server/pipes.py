"""The SDK's server on stdin and stdout, which takes over the connection from `first_answers`.

The SDK's own transport passes each line between threads that read, write and flush. That costs as much as a small
tool, so here the event loop waits for the pipes directly.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

from mdmem import files
from mdmem.server import app
from mdmem.server.first_answers import Opening

_READ_BYTES = 64 * 1024
_WRITE_BYTES = 4096
"""Bytes that a pipe accepts at once when it is writable."""
CLOSING_SECONDS = 10.0
"""Seconds to finish the answers after the client has sent its last message."""
_CAN_POLL = hasattr(select, "poll") and sys.platform != "win32"


def serve(vault: str | None, opening: Opening) -> None:
    """Serve until stdin is closed, starting with the messages that arrived before."""
    with _claimed(0, os.O_RDONLY) as stdin, _claimed(1, os.O_WRONLY) as stdout:
        anyio.run(_serve, vault, opening, stdin, stdout)


async def _serve(vault: str | None, opening: Opening, stdin: int, stdout: int) -> None:
    server, unanswered = app.on_stdio(vault), Unanswered()
    replies = Replies(stdout, opening, unanswered)
    requests = Requests(stdin, opening, unanswered, replies.write)
    await server.run(requests, replies, server.create_initialization_options())


@contextmanager
def _claimed(number: int, mode: int) -> Iterator[int]:
    """Yield a private copy of a standard stream, so that output of tools cannot be mistaken for messages."""
    copy = os.dup(number)
    try:
        replacement = os.dup(2) if mode == os.O_WRONLY else os.open(os.devnull, mode)
    except OSError:  # stderr is closed
        replacement = os.open(os.devnull, mode)
    os.dup2(replacement, number)
    os.close(replacement)
    try:
        yield copy
    finally:
        os.dup2(copy, number)


class Unanswered:
    """A client's requests that have no answer yet."""

    def __init__(self) -> None:
        self._numbers: set[str] = set()
        self._none = anyio.Event()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Update the unanswered requests from a message of either side."""
        if isinstance(message, types.JSONRPCRequest):
            self._numbers.add(str(message.id))
        elif not isinstance(message, types.JSONRPCNotification):
            self._remove(message.id)
        elif message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))

    def _remove(self, number: object) -> None:
        self._numbers.discard(str(number))
        if not self._numbers:
            self._none.set()

    async def wait(self) -> None:
        """Wait until there are none, for `CLOSING_SECONDS` at most."""
        self._none = anyio.Event()
        with anyio.move_on_after(CLOSING_SECONDS):
            if self._numbers:
                await self._none.wait()


class _Stream:
    """Either half of a connection, which nobody closes."""

    async def aclose(self) -> None:
        """Do nothing: the pipes live as long as the process."""


class Requests(_Stream, ObjectReceiveStream[SessionMessage]):
    """The client's messages: first the unanswered ones of the opening, then those from a descriptor."""

    def __init__(
        self, number: int, opening: Opening, unanswered: Unanswered, reply: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self._unanswered = unanswered
        self._reply = reply
        self._number = number
        self._lines = list(reversed(opening.unanswered))
        self._parts: list[bytes] = []
        self._can_wait = _CAN_POLL

    async def receive(self) -> SessionMessage:
        """Return the next message; answer invalid lines. Raises EndOfStream when the client has left."""
        while True:
            while not self._lines:
                await self._read()
            message, refusal = read(self._lines.pop())
            if message is None or refusal:
                await self._reply(refusal + b"\n" if refusal else b"")
            if message is not None:
                self._unanswered.note(message)
                return SessionMessage(message)

    async def _read(self) -> None:
        """Read what is available; the very last line may lack its newline."""
        data = await self._available()
        *lines, rest = data.split(b"\n")
        if data and not lines:
            self._parts.append(rest)
            return
        lines = [b"".join([*self._parts, *lines[:1]]), *lines[1:]]
        if not (data or lines[0]):
            await self._unanswered.wait()  # at the end, the SDK would cancel running requests
            raise anyio.EndOfStream
        self._lines, self._parts = lines[::-1], [rest]

    async def _available(self) -> bytes:
        if self._can_wait:
            try:
                await anyio.wait_readable(self._number)
            except OSError:  # a regular file is always readable
                self._can_wait = False
            else:
                return os.read(self._number, _READ_BYTES)
        return await to_thread.run_sync(os.read, self._number, _READ_BYTES, abandon_on_cancel=True)


def read(data: bytes) -> tuple[types.JSONRPCMessage | None, bytes]:
    """Parse a message. Return None if it is invalid, and the protocol's error for an invalid one, "" for none."""
    try:
        message = _message(data)
    except (ValueError, RecursionError):
        return None, _refusal(data)
    return message, _refusal(data) if _lacks_id(message) else b""


def _message(line: bytes) -> types.JSONRPCMessage:
    """Parse a message. A lone surrogate, which a client may send in JSON, becomes a question mark.

    Raises ValueError or RecursionError when the line is not a message.
    """
    text = line.decode("utf-8", "replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        if "\\ud" not in text.lower():
            raise
        whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
        return types.jsonrpc_message_adapter.validate_json(whole, by_name=False)


def _lacks_id(message: types.JSONRPCMessage) -> bool:
    """Whether a message has a request's method, but no id that a request can have: it is read as a notification."""
    return isinstance(message, types.JSONRPCNotification) and not message.method.startswith("notifications/")


def _refusal(line: bytes) -> bytes:
    """Return the protocol's error for an invalid message; "" where the protocol has none.

    Blank lines, notifications and the client's own answers get none.
    """
    try:
        message = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "The message is not JSON.") if line.strip() else b""
    if not isinstance(message, dict):
        return _error(None, types.INVALID_REQUEST, "The message is not one JSON-RPC message.")
    has_method = isinstance(message.get("method"), str)
    if ("id" not in message and has_method) or (
        "method" not in message and not {"result", "error"}.isdisjoint(message)
    ):
        return b""
    number = message.get("id")
    is_id = isinstance(number, str | int) and not isinstance(number, bool)
    if is_id and has_method and message.get("jsonrpc") == "2.0":
        return _error(number, types.INVALID_PARAMS, "`params` is not an object.")
    return _error(number if is_id else None, types.INVALID_REQUEST, "The message is not a valid JSON-RPC request.")


def _error(number: Any, code: int, message: str) -> bytes:
    answer = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return json.dumps(answer).encode()


class Replies(_Stream, ObjectSendStream[SessionMessage]):
    """The server's messages, except its answer to an `initialize` that was already answered."""

    def __init__(self, number: int, opening: Opening, unanswered: Unanswered) -> None:
        self._unanswered = unanswered
        self._number = number
        self._greeted = opening.greeted
        self._alone = anyio.Lock(fast_acquire=True)
        self._poll = select.poll() if _CAN_POLL else None
        if self._poll is not None:
            self._poll.register(number, select.POLLOUT)

    async def send(self, item: SessionMessage, /) -> None:
        """Write a whole message. Raises BrokenResourceError when the client no longer reads."""
        if self._greeted is not None and getattr(item.message, "id", None) == self._greeted:
            self._greeted = None
            self._unanswered.note(item.message)
            return
        data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await self.write(data)
        finally:
            self._unanswered.note(item.message)

    async def write(self, data: bytes) -> None:
        """Write a whole line. Raises BrokenResourceError when the client no longer reads."""
        async with self._alone:
            try:
                left = self._written(data)
                if left:
                    await to_thread.run_sync(files.write_all, self._number, left)
            except OSError:
                raise anyio.BrokenResourceError from None

    def _written(self, data: bytes) -> bytes:
        """Write what the pipe accepts at once; return the rest."""
        while data and self._poll is not None and self._poll.poll(0):
            data = data[os.write(self._number, data[:_WRITE_BYTES]) :]
        return data
