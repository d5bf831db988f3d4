"""Child processes: commands of mdmem, and work that is killed when it takes too long, as a thread could not be."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading

from mdmem import system

END_SECONDS = 5.0
"""How long a program may take to clean up when it is ended."""


def start_command(vault: str, *words: str) -> subprocess.Popen[bytes]:
    """Start an mdmem command on a vault, without streams and in a session of its own. Raises OSError."""
    command, none = [sys.executable, "-m", "mdmem", "--vault", vault, *words], subprocess.DEVNULL
    return subprocess.Popen(command, stdin=none, stdout=none, stderr=none, cwd="/", **system.detached())


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program that was started in a session of its own, and everything that it started.

    It may first clean up, and end what it started in sessions of their own, as a sync does with git.
    """
    try:
        if os.name != "nt":  # there, this would kill it at once, and what it started could no longer be found
            process.terminate()
            process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        pass  # such as on a network disk that hangs
    finally:  # also when Ctrl-C is pressed again
        system.end_group(process)


class ChildProcess:
    """A Python child process that answers lines with lines; started on first use, and again after it ended."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, line: bytes, seconds: float) -> bytes | None:
        """Return the answer to a line; None when the process ended, or was killed after `seconds`.

        Raises OSError when no process can be started.
        """
        with self._lock:
            process = self._running()
            timer = threading.Timer(seconds, process.kill)
            timer.daemon = True
            timer.start()
            answer = b""
            try:
                if process.stdin is not None and process.stdout is not None:
                    process.stdin.write(line + b"\n")
                    process.stdin.flush()
                    answer = process.stdout.readline()
            except OSError:
                pass  # the process ended
            finally:
                timer.cancel()
            if answer.endswith(b"\n"):
                return answer
            self._end()
            return None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()  # killed since the last answer
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", self._code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            atexit.register(self._end)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        atexit.unregister(self._end)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue  # unsent input no longer matters
