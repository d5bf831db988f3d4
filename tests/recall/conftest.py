"""A process that serves hooks, as the watcher starts one."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mdmem.agents.install import launcher
from tests.helpers.claude import registered
from tests.helpers.served import serving
from tests.helpers.waiting import until


@pytest.fixture
def short_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose path leaves room for a socket."""
    with tempfile.TemporaryDirectory(prefix="md-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_DATA_HOME", folder)
        yield Path(folder)


@pytest.fixture
def server(vault: Path, home: Path, short_data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process that the watcher starts."""
    registered("hook")  # the launcher's folder is there
    path = launcher.socket_path()
    with subprocess.Popen(serving(path), stdin=subprocess.PIPE) as process:
        until(lambda: os.path.exists(path))
        yield process
        assert process.stdin
        process.stdin.close()
        process.send_signal(signal.SIGCONT)
