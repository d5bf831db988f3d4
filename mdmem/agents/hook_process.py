"""Hook process: code shared by the processes that an agent starts: output, logged failures, plugin hooks that defer."""

from __future__ import annotations

import os

from mdmem import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.agents import Event

_BOTH = ("mdmem-run hook", "mdmem-run' hook", "mdmem.recall.hook", "mdmem hook claude-code")
"""Substrings of the commands that store events and answer them: the launcher's, an earlier version's module, and one
that a person wrote."""

STORES = (*_BOTH, "mdmem.capture.hook")
"""Substrings that identify the registered commands that store events."""

ANSWERS = (*_BOTH, "mdmem.inject.process", "mdmem.recall.inject", "mdmem inject claude-code")
"""Substrings that identify the registered commands that answer events with memories."""


PRINT_SECONDS = 1.0
"""Time limit for writing a piece of output: the write blocks if the pipe is full and the agent does not read."""
_PIECE_BYTES = 4096
"""Size of a piece of output; a pipe takes that much at once."""


def defers_to_user_hooks(words: list[str], event: Event, env: Mapping[str, str], marks: tuple[str, ...]) -> bool:
    """Whether this is a plugin's process that must stay silent, because the user's own hooks get the same event.

    words: the command's arguments. marks: `STORES` or `ANSWERS`.
    """
    if "--plugin" not in words:
        return False
    from mdmem.agents import claude_code

    return claude_code.is_registered(marks, event.cwd, env)


def print_bytes(out: bytes) -> None:
    """Write `out` to stdout; if nobody reads any of it for `PRINT_SECONDS`, end the process with status 0."""
    while out:
        try:
            system.alarm(PRINT_SECONDS, lambda *_: os._exit(0))
        except Exception:  # noqa: BLE001, S110 - without a limit, the text is printed all the same
            pass
        try:
            out = out[os.write(1, out[:_PIECE_BYTES]) :]
        except OSError:
            return  # the agent has closed its end


def log_failure(what: str, error: BaseException, vault: str | None) -> None:
    """Log a failure, if logging still works."""
    try:
        from mdmem import config, log

        log.write(config.load(vault), what, error)
    except BaseException:  # noqa: BLE001 - not even the log may hurt the agent
        return
