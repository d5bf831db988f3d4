"""Served: hooks as processes, and the process that does their work if it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from mdmem.agents.install import launcher
from tests.helpers.claude import registered
from tests.helpers.waiting import SECONDS


def serving(path: str, look_seconds: float = 30.0) -> list[str]:
    """Return the command that starts the process, which listens at `path`."""
    loaded = f"import sys; sys.path += {launcher.search_path()!r}; from mdmem.recall import served"
    code = f"served.LOOK_SECONDS = {look_seconds}; served.serve({path!r})"
    return [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", f"{loaded}; {code}"]


def start(
    event: dict[str, Any] | None, env: dict[str, str] | None = None, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start a hook with an event; with none, its payload is to be written."""
    pipe = subprocess.PIPE
    words = ["/bin/sh", "-c", registered("hook")]
    process = subprocess.Popen(words, stdin=pipe, stdout=stdout, stderr=pipe, env={**os.environ, **(env or {})})
    assert process.stdin
    if event is not None:
        process.stdin.write(json.dumps(event).encode())
    return process


def run(event: dict[str, Any], env: dict[str, str] | None = None) -> str:
    """Run a hook with an event; return what it says."""
    out, err = (process := start(event, env)).communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, b"")
    return out.decode()
