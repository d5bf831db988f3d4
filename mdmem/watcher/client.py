"""Asking the watcher, which keeps a warm searcher, over a local socket; without one, callers search in-process.

A request is a line of words, a line with the asker's version of mdmem, lines `NAME=value` of its environment, an empty
line, and a body. The watcher sends a line break at once, to show that it is at work, and then the answer. Nothing slow
is imported: asking costs less than loading an index.
"""

from __future__ import annotations

import time

from mdmem import __version__
from mdmem.system import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - the type that `socket.socket` extends
    from collections.abc import Mapping
    from typing import Any

    from mdmem.config import Config

MAX_BYTES = 64 * 1024 * 1024

NAME = "watch"
"""The socket's name in the vault's runtime folder."""

TOUCHED_SECONDS = 2.0

SILENT_SECONDS, SILENT_SHARE = 0.5, 1 / 8
"""How long a watcher may take to begin an answer, at least, and as a part of the time for all of it: one at work needs
milliseconds, one that was stopped never does."""

LINK = "link"
"""Asks whoever serves the vault's pages for a link that opens a browser."""

ANYBODY = frozenset(["status", "stop", LINK])
"""What an mdmem of another version can ask, too; it waits the whole time."""

SILENCE_SECONDS = 60.0
"""How long nothing is asked where nobody began to answer: a server asks again once the watcher is back."""

_silent: dict[tuple[str, str], float] = {}
"""Folder and name of sockets at which nobody began to answer, and when."""

PASSED = ("CURSOR_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "XDG_CONFIG_HOME")
"""What an answer may hang on in the asker's environment, beside mdmem's own variables."""


def is_passed(name: str) -> bool:
    """Whether a variable of the environment belongs to a request."""
    return name.startswith("MDMEM_") or name in PASSED


def sender(config: Config) -> str:
    """Return which mdmem asks: a watcher of another version or with other folders would answer differently."""
    text = " ".join((__version__, config.state_dir, config.index_dir)).replace("\n", " ")
    return text.encode("utf-8", "replace").decode()


def ask(
    config: Config, words: str, env: Mapping[str, str], body: bytes, *, seconds: float, name: str = NAME
) -> bytes | None:
    """Ask the watcher, or who listens at the socket `name`; None when nobody does, or answers within `seconds`.

    One that has not begun to after `SILENT_SECONDS` is not waited for, and is asked nothing for `SILENCE_SECONDS`.
    """
    place = (config.runtime_dir, name)
    is_patient = words in ANYBODY
    started = time.monotonic()
    if not is_patient and place in _silent and started < _silent[place] + SILENCE_SECONDS:
        return None
    deadline = started + (seconds if is_patient else min(seconds, max(SILENT_SECONDS, seconds * SILENT_SHARE)))
    try:
        link = local.connect(config.runtime_dir, name, deadline)
    except OSError:
        return None
    if link is None:
        return None
    lines = [words, sender(config), *(f"{name}={value}" for name, value in env.items() if is_passed(name))]
    head = "\n".join([line.replace("\n", " ") for line in lines]) + "\n\n"

    def in_time() -> Socket:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        return link

    try:
        data = memoryview(head.encode("utf-8", "replace") + body)
        while data:
            data = data[in_time().send(data[: 1 << 16]) :]
        link.shutdown(1)  # no more is written
        pieces = []
        while piece := in_time().recv(1 << 16):
            pieces.append(piece)
            deadline = started + seconds
        answer = b"".join(pieces).removeprefix(b"\n")
    except TimeoutError:
        if deadline < started + seconds:
            _silent[place] = time.monotonic()
        return None
    except OSError:
        return None
    finally:
        link.close()
    # One that declines says nothing, and an answer that was cut off, by a watcher that died, lacks its last byte.
    return answer[:-1] if answer.endswith(b"\n") else None


def touched(config: Config, token: str) -> tuple[str, list[str] | None]:
    """Ask what was touched since a token was given; give a new one, and None where nobody knows what was touched."""
    import json

    said = ask(config, f"touched {token}", {}, b"", seconds=TOUCHED_SECONDS)
    now, paths = json.loads(said) if said is not None else ("", None)
    return now, paths


def status(config: Config) -> dict[str, Any]:
    """Return the watcher's status; `running` is False when there is none, or when it is `silent`."""
    import json

    said = ask(config, "status", {}, b"", seconds=2.0)
    found: dict[str, Any] = json.loads(said) if said else {"running": False, "vault": config.vault}
    if not said and _listens(config):
        found["silent"] = True
    return found


def _listens(config: Config) -> bool:
    """Whether a process has the watcher's socket open, whether it answers or not: the system takes the connection."""
    try:
        link = local.connect(config.runtime_dir, NAME, time.monotonic() + SILENT_SECONDS)
    except (TimeoutError, BlockingIOError):
        return True  # it has not taken those before us
    except OSError:
        return False
    if link is not None:
        link.close()
    return link is not None
