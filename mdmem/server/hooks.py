"""`POST /hooks/<agent>`: what `mdmem hook` and `mdmem inject` do, for agents that speak HTTP.

Answered when the note is on disk, with the memories that the prompt calls for.

It is never the only path: a command hook needs no server that happens to run.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from mdmem import config, launch, log
from mdmem.agents import payload
from mdmem.agents.install.known import AGENTS
from mdmem.capture import hook
from mdmem.inject import process
from mdmem.recall import hook as both

_alone = threading.Lock()
"""Notes of one session wait for each other anyway, and a process is not asked to do more at once than it can."""


def endpoint(vault: str | None) -> Any:
    """Return the function that answers a request."""

    async def post(request: Request) -> Response:
        name = request.path_params["agent"]
        if name not in AGENTS:
            return Response(f"There is no agent called {name!r:.40}.", status_code=404)
        return await anyio.to_thread.run_sync(_handle, vault, name, await request.body())

    return post


def _given(name: str, data: bytes, vault: str | None) -> bytes:
    """Return what the injection command would print; what goes wrong with it costs the memories, and no more."""
    try:
        return process.given(name, data, vault, os.environ)
    except Exception as error:  # noqa: BLE001 - as for the command
        log.write(config.load(vault, os.environ), "an injection over HTTP failed", error)
        return b""


def _handle(vault: str | None, name: str, data: bytes) -> Response:
    try:
        payload.decode(data)
    except payload.NoPayloadError as error:
        log.write(config.load(vault, os.environ), "a hook over HTTP could not be read", error)
        return Response("The payload is not a JSON object.", status_code=400)
    try:
        with _alone:
            reply = hook.run([name], data, vault, os.environ)
            reply = both.merged(reply, _given(name, data, vault))
    except Exception as error:  # noqa: BLE001 - as for the command: losing a memory is bad, stopping the agent is worse
        log.write(config.load(vault, os.environ), "a hook over HTTP failed", error)
        reply = launch.last_words(name)
    return Response(reply, media_type="application/json" if reply else None)
