"""The pager: output longer than the screen is shown page by page."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable
from typing import Any

from mdmem.cli.terminal import render

LESS = "FRX"
"""Options of `less` if $LESS sets none: quit if it fits on one screen, show colors, keep the screen."""


class _Kept(io.TextIOWrapper):
    """Collects output, and poses as a terminal so that it is styled like one."""

    def __init__(self, held: io.BytesIO, encoding: str) -> None:
        super().__init__(held, encoding=encoding, errors="replace", newline="\n")
        self.remarks: list[str] = []
        """Lines for stderr, which are printed after the output."""

    def isatty(self) -> bool:
        """Whether this is a terminal: it poses as one."""
        return True


def paged(command: Callable[..., Any]) -> Callable[..., Any]:
    """Show a command's output in the pager when it is longer than the screen; not in a pipe."""

    @functools.wraps(command)
    def shown(*words: Any, **given: Any) -> Any:
        line = pager() if render.is_terminal() else []
        if not line:
            return command(*words, **given)
        held = io.BytesIO()
        terminal, kept = sys.stdout, _Kept(held, sys.stdout.encoding)
        sys.stdout = kept
        try:
            return command(*words, **given)
        finally:
            sys.stdout = terminal
            kept.flush()
            _show(held.getvalue(), line)
            for text in kept.remarks:
                print(text, file=sys.stderr, flush=True)

    return shown


def pager() -> list[str]:
    """Return the command line of the user's pager: $MDMEM_PAGER, $PAGER, less; [] for none."""
    import shlex
    import shutil  # needed on a terminal only: loading it takes as long as a search

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
            pass  # printed without a pager then
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
