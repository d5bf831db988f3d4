"""`watch`: keep the index current, answer from a warm searcher, commit after a quiet time. Never needed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click

from mdmem import config
from mdmem.errors import BusyError, MdmemError, VaultError
from mdmem.recall import ask

START_SECONDS = 20.0
"""How long `--background` waits for the new watcher to answer."""


@click.command("watch")
@click.option("--background", "mode", flag_value="background", help="Start it and come back at once.")
@click.option("--stop", "mode", flag_value="stop", help="End the one that runs.")
@click.option("--status", "mode", flag_value="status", help="Say whether one runs, and what it did.")
@click.option("--json", "as_json", is_flag=True, help="Print the status as an object.")
@click.pass_obj
def command(vault: str | None, mode: str | None, as_json: bool) -> None:
    """Watch the vault: what you save is found within a second, and every search is answered warm.

    Everything works without it. One watcher a vault; Ctrl-C ends it, and nothing is left behind.

    \b
    Example:  mdmem watch --background
              mdmem watch --status
    """
    settings = config.load(vault)
    if not Path(settings.vault).is_dir():
        raise VaultError(f"No vault at {settings.vault}. Run `mdmem init`, or point MDMEM_VAULT at an existing one.")
    if mode == "status":
        _print_status(settings, as_json=as_json)
    elif mode == "stop":
        _stop(settings)
    elif mode == "background":
        _start(settings)
    else:
        _work(settings)


def _work(settings: config.Config) -> None:
    """Watch until SIGTERM or Ctrl-C.

    Raises:
        BusyError: when another watcher is at work.
    """
    from mdmem.cli.watcher import Watcher

    with _lock(settings):
        watcher = Watcher(settings)
        _on_signals(watcher.end)
        click.echo(f"Watching {settings.vault}. Ctrl-C ends it.", err=True)
        watcher.run()


def _on_signals(end: Callable[[], None]) -> None:
    """Call `end` when the process is asked to end; in a thread, since the one that is stopped may hold a lock."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)

    def listen() -> None:
        os.read(heard, 1)
        end()

    threading.Thread(target=listen, daemon=True).start()


def _lock(settings: config.Config) -> IO[str]:
    """Take the vault's watcher lock, which the system frees when this process dies.

    Raises:
        BusyError: when another watcher holds it.
    """
    path = Path(settings.state_dir) / "watch.lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BusyError(
            f"Another watcher is at work on {settings.vault}; `mdmem watch --status` says more, `--stop` ends it."
        ) from None
    return file


def status(settings: config.Config) -> dict[str, Any]:
    """Ask the watcher how it is; `running` is False when there is none."""
    said = ask.ask(settings, "status", {}, b"", seconds=2.0)
    found: dict[str, Any] = json.loads(said) if said else {"running": False, "vault": settings.vault}
    return found


def _print_status(settings: config.Config, *, as_json: bool) -> None:
    found = status(settings)
    if as_json:
        click.echo(json.dumps(found))
    elif found["running"]:
        click.echo(
            f"A watcher runs on {found['vault']} since {found['since']} (pid {found['pid']}):"
            f" {found['indexed']} notes indexed in {found['batches']} batches, {found['answered']} questions answered."
        )
        if found.get("synced"):
            how = "failed: `mdmem sync` says why" if found["sync_failed"] else "went well"
            click.echo(f"The last sync was at {found['synced']} and {how}.")
    else:
        click.echo(f"No watcher runs on {settings.vault}. `mdmem watch --background` starts one; nothing needs it.")


def _stop(settings: config.Config) -> None:
    if ask.ask(settings, "stop", {}, b"", seconds=2.0) is None:
        click.echo("No watcher runs.")
        return
    _until(lambda: not status(settings)["running"], "The watcher does not end.")
    click.echo("The watcher has ended.")


def _start(settings: config.Config) -> None:
    if status(settings)["running"]:
        click.echo("A watcher runs already.")
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "mdmem", "--vault", settings.vault, "watch"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    _until(lambda: bool(status(settings)["running"]) or process.poll() is not None, "The watcher does not answer.")
    if not status(settings)["running"]:
        raise MdmemError("The watcher ended at once. Run `mdmem watch` in the foreground to see why.")
    click.echo(f"Watching {settings.vault} in the background; `mdmem watch --stop` ends it.")


def _until(is_so: Any, otherwise: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise MdmemError(otherwise)
        time.sleep(0.05)
