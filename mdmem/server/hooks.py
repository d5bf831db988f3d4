"""`POST /hooks/<agent>`: what `mdmem hook` does, for agents that speak HTTP. Answered when the note is on disk.

It is never the only path: a command hook needs no server that happens to run.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from mdmem import agents, config, log
from mdmem.agents import payload
from mdmem.capture import hook

_alone = threading.Lock()
"""Notes of one session wait for each other anyway, and a process is not asked to do more at once than it can."""


def endpoint(vault: str | None) -> Any:
    """Make the function that answers a request."""

    async def post(request: Request) -> Response:
        name = request.path_params["agent"]
        if name not in agents.MODULES:
            return Response(f"There is no agent called {name!r:.40}.", status_code=404)
        return await anyio.to_thread.run_sync(_handle, vault, name, await request.body())

    return post


def _handle(vault: str | None, name: str, data: bytes) -> Response:
    try:
        payload.decode(data)
    except payload.NoPayloadError as error:
        log.write(config.load(vault, os.environ), "a hook over HTTP could not be read", error)
        return Response("The payload is not a JSON object.", status_code=400)
    try:
        with _alone:
            reply = hook.run([name], data, vault, os.environ)
    except Exception as error:  # noqa: BLE001 - as for the command: losing a memory is bad, stopping the agent is worse
        log.write(config.load(vault, os.environ), "a hook over HTTP failed", error)
        reply = b""
    return Response(reply, media_type="application/json" if reply else None)
