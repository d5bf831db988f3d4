"""`watch`: keep the index current, answer searches from memory, commit after a quiet period. Optional."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from mdmem import files, log, moved, plural, system, timestamps, upgrade
from mdmem.cli.terminal import options, render
from mdmem.config import Config
from mdmem.errors import BusyError, MdmemError
from mdmem.system import child_process
from mdmem.watcher import client

if TYPE_CHECKING:
    from mdmem.watcher.loop import Watcher

START_SECONDS = 20.0
"""Seconds that `--background` waits for the new watcher to answer."""

RESTART_SECONDS = 1.0
"""Pause before the process that serves hooks is restarted; it doubles each time that process ends early…"""
MAX_RESTART_SECONDS = 300.0
"""…up to this."""


LOCK_GONE = "the watcher's lock was deleted with the state folder"
UPGRADED = "another version of mdmem was installed"
"""Reasons for which a watcher is restarted."""


@click.command("watch")
@click.option("--background", "mode", flag_value="background", help="Start it in the background.")
@click.option("--stop", "mode", flag_value="stop", help="Stop the running watcher.")
@click.option("--status", "mode", flag_value="status", help="Show whether one is running, and what it did.")
@options.as_json(
    "an object: running, vault; while it runs, also since, pid, indexed, answered and more (with --status)"
)
@options.with_config
def command(config: Config, mode: str | None, as_json: bool) -> None:
    """Watch the vault: what you save is found within a second, and every search is answered from memory.

    Everything works without it. There is one watcher per vault; Ctrl-C stops it and leaves nothing behind.

    \b
    Example:  mdmem watch --background
              mdmem watch --status
    """
    if not Path(config.vault).is_dir():
        raise moved.missing(config.state_dir, config.vault)
    if mode == "status":
        _print_status(config, as_json=as_json)
    elif mode == "stop":
        _stop(config)
    elif mode == "background":
        _start(config)
    else:
        _work(config)


def _work(config: Config) -> None:
    """Watch until SIGTERM or Ctrl-C."""
    from mdmem.system import memory
    from mdmem.watcher.loop import OTHER_VERSION

    memory.release_free_memory()
    installed = _Installed()
    with _hooks_served():
        while (watcher := _watch(config, installed)).ended_by == LOCK_GONE:
            pass
        if watcher.ended_by == OTHER_VERSION:
            if installed.is_replaced_soon():
                watcher.ended_by = UPGRADED
            else:
                log.write(config, f"{OTHER_VERSION}, so the watcher ends; start that one's")
    if watcher.ended_by == UPGRADED:  # and not told to stop since
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - the same command again


def _watch(config: Config, installed: _Installed) -> Watcher:
    """Watch until stopped, or until the watcher must restart or end; `ended_by` of the returned watcher says why."""
    from mdmem.capture.later import failing
    from mdmem.capture.pending import FAILING_FILES
    from mdmem.inject import process
    from mdmem.watcher.loop import Watcher

    with _lock(config) as lock:

        def restart_reason() -> str:
            if installed.is_replaced():
                return UPGRADED
            return "" if _is_there(config, lock) else LOCK_GONE

        def record(command: str, error: Exception) -> None:
            if command in FAILING_FILES:
                failing.record(config, command, time.time(), error)

        watcher = Watcher(config, {"inject": partial(process.answer, config)}, restart_reason, record)
        _on_signals(watcher.end)
        threading.excepthook = lambda failed: log.write(config, "a thread of the watcher failed", failed.exc_value)
        click.echo(f"Watching {config.vault}. Press Ctrl-C to stop.", err=True)
        watcher.run()
        return watcher


class _Installed:
    """The installed files of mdmem, compared with those that this process has loaded (`upgrade`)."""

    def __init__(self) -> None:
        self._loaded = self._last = upgrade.LOADED

    def is_replaced(self) -> bool:
        """Whether an upgrade has replaced them all: they differ from those loaded, but not since the last call."""
        before, self._last = self._last, upgrade.installed()
        if os.name == "nt":
            return False  # there, no process can be replaced by another one
        return self._last != self._loaded and self._last == before and (bool(self._last) or self._is_elsewhere())

    def _is_elsewhere(self) -> bool:
        """Whether this interpreter has an mdmem in another folder, as after an upgrade of Python."""
        words = [sys.executable, "-P", "-c", "import mdmem.cli.watch"]
        try:
            return subprocess.run(words, capture_output=True, cwd=os.sep).returncode == 0
        except OSError:
            return False

    def is_replaced_soon(self) -> bool:
        """Whether an upgrade has replaced them, after waiting for one that is under way."""
        deadline = time.monotonic() + START_SECONDS
        while not self.is_replaced():
            if self._last == self._loaded or time.monotonic() > deadline:
                return False
            time.sleep(1.0)
        return True


@contextmanager
def _hooks_served() -> Iterator[None]:
    """Serve hooks in a separate process while the block runs; where that is impossible, hooks run by themselves."""
    from mdmem.agents.install import launcher

    path = launcher.socket_path()
    if not hasattr(os, "fork") or not Path(path).parent.is_dir():  # then no agent uses the launcher
        yield
        return
    over = threading.Event()
    alive, end = os.pipe()
    loaded = f"import sys; sys.path += {launcher.search_path()!r}; from mdmem.recall import served"
    words = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", f"{loaded}; served.serve({path!r})"]

    def keep() -> None:
        null = subprocess.DEVNULL
        pause = RESTART_SECONDS
        while not over.is_set():
            started = time.monotonic()
            with (
                suppress(OSError),
                subprocess.Popen(words, stdin=alive, stdout=null, stderr=null, cwd=os.sep, **system.detached()),
            ):
                pass  # waits for its end; it restarts from time to time
            has_worked = time.monotonic() - started > MAX_RESTART_SECONDS
            pause = RESTART_SECONDS if has_worked else min(2 * pause, MAX_RESTART_SECONDS)
            over.wait(pause)

    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        os.close(end)
        keeper.join(timeout=START_SECONDS)


def _on_signals(end: Callable[[], None]) -> None:
    """Call `end` when the process is told to stop; in a thread, since the interrupted one may hold a lock."""
    read_end, write_end = os.pipe()
    if hasattr(os, "set_blocking"):  # on Windows from Python 3.12 on
        os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)

    def listen() -> None:
        os.read(read_end, 1)
        end()

    threading.Thread(target=listen, daemon=True).start()


def _lock(config: Config) -> IO[str]:
    """Take the vault's watcher lock, which the system frees when this process dies, and return it."""
    files.make_folder(config.state_dir)
    file = os.fdopen(files.open_lock(str(_lock_path(config))), "r+", encoding="utf-8")
    if not system.lock(file.fileno()):
        file.close()
        raise BusyError(
            f"A watcher is already running on {config.vault}: `mdmem watch --status` shows it, `--stop` stops it."
        )
    return file


def _lock_path(config: Config) -> Path:
    return Path(config.state_dir) / "watch.lock"


def _is_there(config: Config, lock: IO[str]) -> bool:
    """Whether the watcher's lock is still where another watcher would look for it."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), _lock_path(config).stat())
    except OSError:
        return False


def _print_status(config: Config, *, as_json: bool) -> None:
    from mdmem.views import storing

    status = client.status(config)
    if as_json:
        render.print_json(status)
    elif status["running"]:
        click.echo(
            f"A watcher has been running on {status['vault']} since {timestamps.readable(status['since'])}"
            f" (pid {status['pid']}):"
            f" {plural.number(status['indexed'], 'note')} indexed in"
            f" {plural.number(status['batches'], 'batch', 'batches')},"
            f" {plural.number(status['answered'], 'request')} answered."
        )
        _print_outdated(status)
        if status.get("polling"):
            click.echo(f"It scans the whole vault every few seconds, because {status['polling']}.")
        if status.get("synced"):
            how = "failed; run `mdmem sync` to see why" if status["sync_failed"] else "went well"
            click.echo(f"The last sync was at {timestamps.readable(status['synced'])} and {how}.")
    elif status.get("silent"):
        click.echo(storing.silent_watcher(status))
    else:
        click.echo(f"No watcher is running on {config.vault}. `mdmem watch --background` starts one (optional).")


def _print_outdated(status: dict[str, Any]) -> None:
    from mdmem.views import storing

    if outdated := storing.outdated_watcher(status):
        click.echo(f"{outdated} `mdmem watch --stop`, then `mdmem watch --background` renews it.")


def _stop(config: Config) -> None:
    from mdmem.views import storing

    if silent := storing.silent_watcher(client.status(config)):
        raise BusyError(silent)
    if client.ask(config, "stop", {}, b"", seconds=2.0) is None:
        click.echo("No watcher is running.")
        return
    _until(lambda: not client.status(config)["running"], "The watcher did not stop. `mdmem watch --status` shows it.")
    click.echo("The watcher stopped.")


def _start(config: Config) -> None:
    from mdmem.views import storing

    status = client.status(config)
    if status["running"]:
        click.echo("A watcher is already running.")
        _print_outdated(status)
        return
    if silent := storing.silent_watcher(status):
        raise BusyError(silent)
    process = child_process.start_command(config.vault, "watch")
    slow = "The watcher does not answer yet. `mdmem watch --status` shows it, `--stop` stops it."
    _until(lambda: bool(client.status(config)["running"]) or process.poll() is not None, slow)
    if not client.status(config)["running"]:
        raise MdmemError("The watcher stopped immediately. Run `mdmem watch` in the foreground to see why.")
    click.echo(f"Watching {config.vault} in the background; `mdmem watch --stop` stops it.")


def _until(is_so: Any, otherwise: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise MdmemError(otherwise)
        time.sleep(0.05)
