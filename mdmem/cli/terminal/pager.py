"""The pager: output that is longer than the terminal is high is shown page by page."""

from __future__ import annotations

import functools
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from mdmem.cli.terminal import render

if TYPE_CHECKING:
    from collections.abc import Callable

LESS = "FRX"
"""How `less` is started where $LESS does not say it: colors are shown, and one page is printed and left."""


class _Kept(io.TextIOWrapper):
    """Keeps what is printed, which looks to those who print as it will on the terminal."""

    def isatty(self) -> bool:
        return True


def paged(command: Callable[..., Any]) -> Callable[..., Any]:
    """Show what a command prints in the pager when it is longer than the terminal is high; not in a pipe."""

    @functools.wraps(command)
    def shown(*words: Any, **given: Any) -> Any:
        line = pager() if render.is_terminal() else []
        if not line:
            return command(*words, **given)
        held = io.BytesIO()
        terminal, kept = sys.stdout, _Kept(held, encoding=sys.stdout.encoding, errors="replace", newline="\n")
        sys.stdout = kept
        try:
            return command(*words, **given)
        finally:
            sys.stdout = terminal
            kept.flush()
            _show(held.getvalue(), line)

    return shown


def pager() -> list[str]:
    """Return the command line of the user's pager: $MDMEM_PAGER, $PAGER, less; [] for none."""
    import shlex
    import shutil  # only for a terminal: it takes as long to load as a search takes to look

    for name in ("MDMEM_PAGER", "PAGER"):
        if name in os.environ:
            words = shlex.split(os.environ[name])
            return words if words and words != ["cat"] and shutil.which(words[0]) else []
    return ["less"] if shutil.which("less") else []


def _show(data: bytes, line: list[str]) -> None:
    import shutil
    import subprocess

    height = shutil.get_terminal_size().lines
    if data.count(b"\n") >= height:
        try:
            subprocess.run(line, input=data, env={"LESS": LESS, **os.environ})
            return
        except (OSError, KeyboardInterrupt):
            pass  # printed as it is, then
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
