"""The HTTP server as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(env: Mapping[str, str], cwd: Path) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """Run `mdmem mcp --http` within the block; yield its process, its port, which is open, and its token."""
    command = [sys.executable, "-P", "-m", "mdmem", "mcp", "--http"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, cwd=cwd)
    try:
        assert process.stderr is not None
        first, second = process.stderr.readline(), process.stderr.readline()
        secret = Path(second.rpartition(" in ")[2].strip()).read_text().strip()
        yield process, int(first.rsplit(":", 1)[1].removesuffix("/mcp\n")), secret
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=240)
        finally:
            process.kill()
