"""A watcher in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.watcher import client
from tests.helpers.waiting import until

PATIENT = (
    "import sys, mdmem.watcher.loop as loop; loop.WAIT_SECONDS = loop.BATCH_SECONDS = loop.LOCK_SECONDS = 60; "
    "import mdmem.watcher.touched as touched; touched.WAIT_SECONDS = 60; "
    "sys.argv = ['mdmem', 'watch']; from mdmem.cli import main; main()"
)
"""A watcher that declines no question because the machine is busy."""


@contextmanager
def running(vault: Path, *, patient: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """Run a watcher that has looked at everything once."""
    words = ["-c", PATIENT] if patient else ["-m", "mdmem", "watch"]
    process = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL)
    try:
        until(lambda: bool(status(vault).get("current")), "the watcher is current")
        yield process
    finally:
        process.kill()
        process.wait()


def status(vault: Path) -> dict[str, Any]:
    """Return what the watcher says of itself; {} without one."""
    said = client.ask(config.load(str(vault)), "status", {}, b"", seconds=240)
    found: dict[str, Any] = json.loads(said) if said else {}
    return found
