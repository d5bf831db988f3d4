"""MCP over the pipes of a process that an agent started."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import threading
from contextlib import suppress

from mdmem import files
from mdmem.server import first_answers
from mdmem.server.first_answers import Opening
from mdmem.system import memory

_SERVER = "mdmem.server.pipes"
"""The module that stands on the SDK, and is loaded while the client is answered."""


def serve(vault: str | None) -> None:
    """Serve until stdin is closed. Raises ModuleNotFoundError when the SDK is not installed."""
    if importlib.util.find_spec("mcp") is None:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")
    logging.disable(logging.CRITICAL)  # the SDK's logs quote what was asked; mdmem's own never do
    memory.give_back()
    loading = threading.Thread(target=_load)
    loading.start()
    opening = _opened()
    loading.join()
    memory.give_back()
    if opening is not None:
        importlib.import_module(_SERVER).serve(vault, opening)


def _load() -> None:
    with suppress(Exception):  # whoever needs it loads it again, and hears of it
        importlib.import_module(_SERVER)


def _opened() -> Opening | None:
    """Answer what comes first; None when the client leaves before it wants more."""
    opening = first_answers.Opening()
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # not a byte more is read than is answered
        for line in iter(stdin.readline, b""):
            answer = opening.take(line)
            if answer is None:
                return opening
            files.write_all(1, answer)
    return None
