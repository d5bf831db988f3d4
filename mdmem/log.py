"""The log: one line per problem, in the user's state folder, without any content.

A line has the time, the action, and an error's type and place. The message of an error may quote what somebody
typed, so it is never written.
"""

from __future__ import annotations

import os
import sys
import time

from mdmem import files, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config

LOG = "log"

MAX_BYTES = 256 * 1024
"""A longer log is renamed to `log.1`, replacing an older one."""


def once(config: Config, flag: str, what: str) -> None:
    """Add a line unless the file `flag` exists, which is then created."""
    try:
        if files.claim(flag):
            write(config, what)
    except OSError:
        return


def write(config: Config, what: str, error: BaseException | None = None) -> bool:
    """Add a line; False when it cannot be written."""
    path = os.path.join(config.state_dir, LOG)
    try:
        files.log(path, f"{timestamps.iso_time(time.time())} {what}{_describe(error)}", MAX_BYTES)
    except (OSError, ValueError):
        return False
    if os.environ.get("MDMEM_DEBUG"):
        _trace(path, error)
    return True


def _describe(error: BaseException | None) -> str:
    if error is None:
        return ""
    code = f" errno={error.errno}" if isinstance(error, OSError) and error.errno else ""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    place = f" at {os.path.basename(step.tb_frame.f_code.co_filename)}:{step.tb_lineno}" if step else ""
    return f": {type(error).__name__}{code}{place}"


def _trace(path: str, error: BaseException | None) -> None:
    """With MDMEM_DEBUG=1, add the traceback of an error: files, lines and functions, no values."""
    step = error.__traceback__ if error else None
    lines = []
    while step is not None:
        code = step.tb_frame.f_code
        lines.append(f"    {os.path.relpath(code.co_filename, sys.prefix)}:{step.tb_lineno} {code.co_name}\n")
        step = step.tb_next
    try:
        files.append(path, "".join(lines).encode("utf-8", "replace"))
    except OSError:
        return
