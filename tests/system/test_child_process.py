"""Programs that run beside mdmem, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from mdmem import system
from mdmem.system import child_process

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"


@pytest.mark.skipif(os.name == "nt", reason="there, a program is killed at once")
def test_a_program_that_ignores_the_request_to_end_is_killed_when_the_wait_is_interrupted() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, **system.detached()) as process:
        assert process.stdout and process.stdout.readline() == b"ready\n"
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                child_process.end(process)
            assert process.wait(60) == -signal.SIGKILL
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            process.kill()
