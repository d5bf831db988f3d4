"""The SDK's server on stdin and stdout: it takes over the connection from `first_answers`.

The SDK's own transport hands each line from thread to thread: one to read it, one to write the answer, one to flush it.
That costs as much as a small tool, so here the event loop waits for the pipes themselves.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.shared.message import SessionMessage

from mdmem import files
from mdmem.server import app
from mdmem.server.first_answers import Opening

Request = SessionMessage | Exception

_READ_BYTES = 64 * 1024
_WRITE_BYTES = 4096
"""What a pipe takes at once when it says that it takes anything."""
CLOSING_SECONDS = 10.0
"""How long a client that has sent its last message may wait for the answers."""
_CAN_POLL = hasattr(select, "poll") and sys.platform != "win32"


def serve(vault: str | None, opening: Opening) -> None:
    """Serve until stdin is closed; what came before is answered first."""
    with _claimed(0, os.O_RDONLY) as stdin, _claimed(1, os.O_WRONLY) as stdout:
        anyio.run(_serve, vault, opening, stdin, stdout)


async def _serve(vault: str | None, opening: Opening, stdin: int, stdout: int) -> None:
    server, unanswered = app.on_stdio(vault), Unanswered()
    requests, replies = Requests(stdin, opening, unanswered), Replies(stdout, opening, unanswered)
    await server.run(requests, replies, server.create_initialization_options())


@contextmanager
def _claimed(number: int, mode: int) -> Iterator[int]:
    """Yield a private descriptor of a standard stream, so that what tools print or read is not taken for a message."""
    own = os.dup(number)
    try:
        other = os.dup(2) if mode == os.O_WRONLY else os.open(os.devnull, mode)
    except OSError:  # stderr is closed
        other = os.open(os.devnull, mode)
    os.dup2(other, number)
    os.close(other)
    try:
        yield own
    finally:
        os.dup2(own, number)


class Unanswered:
    """The requests of a client that still wait for their answers."""

    def __init__(self) -> None:
        self._numbers: set[str] = set()
        self._none = anyio.Event()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Update what is unanswered by a message of either side."""
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
    """What the SDK asks of the two halves of a connection alike."""

    async def aclose(self) -> None:
        """Close nothing: the pipes last as long as the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Requests(_Stream):
    """The client's messages: those of the opening that have no answer yet, then what comes from a descriptor."""

    def __init__(self, number: int, opening: Opening, unanswered: Unanswered) -> None:
        self._unanswered = unanswered
        self._number = number
        self._lines = list(reversed(opening.unanswered))
        self._parts: list[bytes] = []
        self._can_wait = _CAN_POLL

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Request:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> Request:
        """Return the next message, or why a line is none. Raises EndOfStream when the client has left."""
        while not self._lines:
            await self._read()
        line = self._lines.pop()
        try:
            message = _message(line)
        except (ValueError, RecursionError) as error:
            return ValueError(str(error))
        self._unanswered.note(message)
        return SessionMessage(message)

    async def _read(self) -> None:
        """Read what there is; the last line of all may lack its end."""
        data = await self._available()
        *lines, rest = data.split(b"\n")
        if data and not lines:
            self._parts.append(rest)
            return
        lines = [b"".join([*self._parts, *lines[:1]]), *lines[1:]]
        if not (data or lines[0]):
            await self._unanswered.wait()  # the SDK ends what is under way
            raise anyio.EndOfStream
        self._lines, self._parts = lines[::-1], [rest]

    async def _available(self) -> bytes:
        if self._can_wait:
            try:
                await anyio.wait_readable(self._number)
            except OSError:  # a file, which is always there
                self._can_wait = False
            else:
                return os.read(self._number, _READ_BYTES)
        return await to_thread.run_sync(os.read, self._number, _READ_BYTES, abandon_on_cancel=True)


def _message(line: bytes) -> types.JSONRPCMessage:
    """Read a message; of a character that its client cut in two, half of which JSON can hold, a question mark is left.

    Raises ValueError or RecursionError when the line is none.
    """
    text = line.decode("utf-8", "replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        if "\\ud" not in text.lower():
            raise
        whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
        return types.jsonrpc_message_adapter.validate_json(whole, by_name=False)


class Replies(_Stream):
    """What the server says, without its answer to an `initialize` that has its answer."""

    def __init__(self, number: int, opening: Opening, unanswered: Unanswered) -> None:
        self._unanswered = unanswered
        self._number = number
        self._greeted = opening.greeted
        self._alone = anyio.Lock(fast_acquire=True)
        self._poll = select.poll() if _CAN_POLL else None
        if self._poll is not None:
            self._poll.register(number, select.POLLOUT)

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message, whole. Raises BrokenResourceError when the client reads no more."""
        if self._greeted is not None and getattr(item.message, "id", None) == self._greeted:
            self._greeted = None
            self._unanswered.note(item.message)
            return
        data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        async with self._alone:
            try:
                left = self._written(data)
                if left:
                    await to_thread.run_sync(files.write_all, self._number, left)
            except OSError:
                raise anyio.BrokenResourceError from None
            finally:
                self._unanswered.note(item.message)

    def _written(self, data: bytes) -> bytes:
        """Write what does not have to wait for the client to read; return the rest."""
        while data and self._poll is not None and self._poll.poll(0):
            data = data[os.write(self._number, data[:_WRITE_BYTES]) :]
        return data
