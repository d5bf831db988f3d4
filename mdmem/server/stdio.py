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
"""The module that imports the SDK; it is loaded while the client's first requests are answered."""


def serve(vault: str | None) -> None:
    """Serve until stdin is closed. Raises ModuleNotFoundError when the SDK is not installed."""
    if importlib.util.find_spec("mcp") is None:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")
    logging.disable(logging.CRITICAL)  # the SDK's logs quote requests; mdmem's own log never does
    memory.release_free_memory()
    loading = threading.Thread(target=_load)
    loading.start()
    opening = _opened()
    loading.join()
    memory.release_free_memory()
    if opening is not None:
        importlib.import_module(_SERVER).serve(vault, opening)


def _load() -> None:
    with suppress(Exception):  # the import is repeated where it is needed, and then raises
        importlib.import_module(_SERVER)


def _opened() -> Opening | None:
    """Answer the first requests; return None if the client leaves before it needs the server."""
    opening = first_answers.Opening()
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # read no byte beyond what is answered
        for line in iter(stdin.readline, b""):
            answer = opening.take(line)
            if answer is None:
                return opening
            files.write_all(1, answer)
    return None
