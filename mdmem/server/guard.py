"""The guard of the HTTP server: checks each request's origin, token, size and time.

A page in the user's browser can reach any port of this machine. But it does not know the token, cannot send one of our
`Host` values, and cannot hide its `Origin`; and no answer allows a browser to show it to another site.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from typing import Any

import anyio

MAX_BODY_BYTES = 1024 * 1024
MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
"""For hooks, whose payloads contain the output of tools."""
DRAINED_BYTES = 4 * 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024
MAX_CONNECTIONS = 128
MAX_STRANGERS = 64
"""Maximum number of open connections without the token; the rest is reserved for clients that sent it."""
ADMITTED = "mdmem.admitted"
"""Marks the connection of an admitted request."""
BODY_SECONDS = 10.0
HEADER_SECONDS = 10.0
ANSWER_SECONDS = 120.0

_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_METHODS = ("POST",)

Headers = dict[bytes, list[bytes]]
"""Lowercase header name -> its values."""


WORDS = {
    400: "The connection closed during the request.",
    401: "A token is required: send `Authorization: Bearer TOKEN`. `mdmem mcp --http` prints which file holds it.",
    403: "Requests from other sites are refused.",
    405: "Only POST is supported.",
    408: "The request took too long.",
    413: "The request is too long.",
    415: "The request must be application/json.",
    421: "The Host header does not name this server.",
    431: "The headers are too long.",
    504: "The answer took too long.",
}
"""Status of a refused request -> the text that a program gets."""


class Guard:
    """An ASGI application around another. It refuses foreign origins; on the others, `admit` decides.

    hosts: our `Host` values, with port. token: the expected value of `Authorization: Bearer`.
    """

    words: Mapping[int, str] = WORDS
    most: int = MAX_BODY_BYTES
    """Maximum number of bytes of a body, except for hooks."""

    def __init__(self, app: Any, hosts: Iterable[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().encode() for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._token = b"bearer " + token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # websockets are closed without an answer
        status = self._refusal(scope)
        body = b""
        if status is None:
            scope[ADMITTED] = True
            limit = MAX_PAYLOAD_BYTES if scope["path"].startswith("/hooks/") else self.most
            status, body = await _body(scope, receive, limit)
            if status is not None:
                await self.cut_off(scope, status, body)
        if status is not None:
            await self.refuse(scope, send, status)
            return
        error = self.invalid(scope, body)
        if error:
            await _reply(scope, send, 400, b"application/json", error)
            return
        await self._answer(scope, _Replay(body, receive), send)

    def _refusal(self, scope: Any) -> int | None:
        """Return the status that refuses a request by its headers alone, or None."""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
            return 431
        headers: Headers = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value.strip())
        return self._refusal_of_foreign(headers) or self.admit(scope, headers)

    def _refusal_of_foreign(self, headers: Headers) -> int | None:
        """Return the status that refuses a request from elsewhere: another host name, page or site; else None."""
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 421
        if any(origin.lower() not in self._origins for origin in headers.get(b"origin", [])):
            return 403
        if any(site.lower() not in (b"same-origin", b"none") for site in headers.get(b"sec-fetch-site", [])):
            return 403
        return None

    def admit(self, scope: Any, headers: Headers) -> int | None:
        """Return the status that refuses a request of our own origin, or None: a program needs the token."""
        authorization = headers.get(b"authorization", [])
        if len(authorization) != 1 or not self._is_token(authorization[0]):
            return 401
        if scope["method"] not in _METHODS:
            return 405
        kind = headers.get(b"content-type", [b""])
        if len(kind) != 1 or kind[0].partition(b";")[0].strip().lower() != b"application/json":
            return 415
        return None

    async def cut_off(self, scope: Any, status: int, begun: bytes) -> None:
        """Do nothing about an admitted request whose body did not arrive whole. begun: what arrived of it."""

    def invalid(self, scope: Any, body: bytes) -> bytes:  # noqa: ARG002 - for those who know what a body should be
        """Return the JSON that answers an admitted request with an invalid body; b"" passes the request on."""
        return b""

    async def refuse(self, scope: Any, send: Any, status: int) -> None:
        """Answer a refused request with one sentence, and nothing from the vault."""
        headers = [*self.headers(status), (b"connection", b"close")]
        await _reply(scope, send, status, b"text/plain; charset=utf-8", self.words[status].encode(), headers)

    def headers(self, status: int) -> list[tuple[bytes, bytes]]:
        """Return the additional headers of a refusal with this status."""
        return {401: [(b"www-authenticate", b"Bearer")], 405: [(b"allow", b"POST")]}.get(status, [])

    def _is_token(self, authorization: bytes) -> bool:
        scheme, _, value = authorization.partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + value.strip(), self._token)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, and time out if the answer takes too long."""
        started = False

        async def watched(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        with anyio.move_on_after(ANSWER_SECONDS) as limit:
            await self._app(scope, receive, watched)
        if limit.cancelled_caught and not started:
            await self.refuse(scope, send, 504)


async def _reply(
    scope: Any, send: Any, status: int, kind: bytes, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Answer a request with a body of this content type."""
    described = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *_HEADERS, *headers]
    await send({"type": "http.response.start", "status": status, "headers": described})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def _body(scope: Any, receive: Any, limit: int) -> tuple[int | None, bytes]:
    """Read a request's body, within the limits of size and time; return a refusing status, or None, and what arrived.

    A body that is a little too long is read to its end and discarded: a client that is still sending ignores answers.
    """
    declared = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0")
    if not declared.isdigit() or int(declared) > limit + DRAINED_BYTES:
        return 413, b""
    parts: list[bytes] = []
    size = 0
    with anyio.move_on_after(BODY_SECONDS):
        while size <= limit + DRAINED_BYTES:
            message = await receive()
            if message["type"] != "http.request":
                return 400, b"".join(parts)
            part = message.get("body", b"")
            size += len(part)
            if size <= limit:
                parts.append(part)
            if not message.get("more_body", False):
                return (None if size <= limit else 413, b"".join(parts))
        return 413, b"".join(parts)
    return 408, b"".join(parts)


class _Replay:
    """Gives an application a body that was already read, then what else the connection receives."""

    def __init__(self, body: bytes, receive: Any) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
