"""MCP and hooks over HTTP: on loopback by default, always with the token, stateless.

`POST /hooks/<agent>` does what `mdmem hook` and `mdmem inject` do, for agents that speak HTTP: it answers when the
note is on disk, with the memories that the prompt calls for. It is never the only way: a command hook needs no running
server. The token is created once per vault, and kept in a file that only its user can read.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio.to_thread
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mdmem import config, files, log, system
from mdmem.agents import hook_process, payload
from mdmem.agents.install.catalog import AGENTS
from mdmem.capture import hook
from mdmem.config import Config
from mdmem.errors import ConfigError
from mdmem.inject import process
from mdmem.recall import hook as both
from mdmem.server import app, guard, pipes, port
from mdmem.system import memory


def application(vault: str | None, hosts: list[str], secret: str) -> guard.Guard:
    """Return the whole application: MCP at `/mcp` and hooks at `/hooks/<agent>`, behind the guard."""
    inner = app.over_http(vault).streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        max_request_body_size=guard.MAX_BODY_BYTES,
        custom_starlette_routes=[Route("/hooks/{agent}", endpoint(vault), methods=["POST"])],
        transport_security=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        ),
    )
    return _HookGuard(inner, hosts, secret, vault)


class _HookGuard(guard.Guard):
    """A guard that refuses invalid MCP messages, and counts the event of a hook that did not arrive whole as lost."""

    def __init__(self, app: Any, hosts: list[str], secret: str, vault: str | None) -> None:
        super().__init__(app, hosts, secret)
        self._vault = vault

    async def cut_off(self, scope: Any, status: int, begun: bytes) -> None:
        """Count the event as lost, unless nothing of it arrived."""
        folder, _, name = scope["path"].rpartition("/")
        data = begun or (b"{" if status == 413 else b"")  # one that is declared too long is not read
        if folder == "/hooks" and name in AGENTS and data:
            await anyio.to_thread.run_sync(_handle, self._vault, name, data)

    def invalid(self, scope: Any, body: bytes) -> bytes:
        """Return the protocol's error for an invalid message, as over pipes; the SDK's has another code."""
        return pipes.read(body)[1] if scope["path"] == "/mcp" else b""


def serve(vault: str | None, opened: socket.socket, host: str) -> None:
    """Serve on an open port until the process is told to stop."""
    memory.release_free_memory()
    loaded = config.load(vault)
    hosts = port.own_hosts(host, int(opened.getsockname()[1]))
    port.run(application(vault, hosts, load_token(loaded)), opened)


TOKEN_BYTES = 32
_NAME = "http-token"


def token_path(config: Config) -> Path:
    """Return the path of the token's file."""
    return Path(config.state_dir) / _NAME


def load_token(config: Config) -> str:
    """Return the vault's token; create it if there is none.

    Raises ConfigError when others can read it, or it is not the user's own; it must then be replaced.
    """
    file = token_path(config)
    files.make_folder(str(file.parent))
    for _ in range(2):
        try:
            return _read(file)
        except FileNotFoundError:
            _make(file)
    return _read(file)


def _read(file: Path) -> str:
    fd = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(fd, encoding="ascii") as opened:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode) or not system.own(state, 0o077):
            raise ConfigError(f"Others can read the token in {file}. Delete the file: clients then need a new token.")
        token = opened.read(200).strip()
    if len(token) < TOKEN_BYTES:
        raise ConfigError(f"There is no token in {file}. Delete the file; a new token is created.")
    return token


def _make(file: Path) -> None:
    """Publish a new token atomically; if another process was faster, its token stays."""
    temp = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        files.replace(str(temp), f"{secrets.token_urlsafe(TOKEN_BYTES)}\n".encode())
        with closing(system.open_folder(str(file.parent))) as folder:
            folder.publish(temp.name, file.name)
    finally:
        temp.unlink(missing_ok=True)


_hook_lock = threading.Lock()
"""Hooks are handled one at a time: those of one session would wait for each other anyway."""


def endpoint(vault: str | None) -> Any:
    """Return the function that answers a request."""

    async def post(request: Request) -> Response:
        name = request.path_params["agent"]
        if name not in AGENTS:
            return Response(f"There is no agent called {name!r:.40}.", status_code=404)
        reply = await anyio.to_thread.run_sync(_handle, vault, name, await request.body())
        return Response(reply, media_type="application/json" if reply else None)

    return post


def _injection(name: str, data: bytes, vault: str | None) -> bytes:
    """Return what `mdmem inject` would print; an error there costs only the memories."""
    try:
        return process.answer_payload(name, data, vault, os.environ)
    except payload.NoPayloadError:
        return b""  # the hook has reported it
    except Exception as error:  # noqa: BLE001 - as for the command
        log.write(config.load(vault, os.environ), "an injection over HTTP failed", error)
        return b""


def _handle(vault: str | None, name: str, data: bytes) -> bytes:
    """Return what `mdmem hook` and `mdmem inject` would print."""
    delivery = hook.Delivery([name], vault, os.environ, data)
    try:
        with _hook_lock:
            reply = delivery.deliver()
            return both.merged(reply, _injection(name, data, vault))
    except Exception as error:  # noqa: BLE001 - as for the command: losing a memory is bad, stopping the agent is worse
        hook_process.log_failure("a hook over HTTP failed", error, vault)
        if delivery.is_lost():
            delivery.record_loss(type(error).__name__)
        return delivery.lost_message()
