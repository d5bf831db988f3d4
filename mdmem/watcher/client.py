"""Ask the watcher, which keeps an index open, over a local socket; without a watcher, callers search in-process.

A request is a line of words, a line with the client's version and folders, lines `NAME=value` of its environment, an
empty line, and a body. The watcher sends a newline at once, to show that it is alive, and then the answer. Nothing
slow is imported: asking costs less than loading an index.
"""

from __future__ import annotations

import time

from mdmem import __version__
from mdmem.system import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - the type that `socket.socket` extends
    from collections.abc import Callable, Mapping
    from typing import Any

    from mdmem.config import Config

MAX_BYTES = 64 * 1024 * 1024

NAME = "watch"
"""The socket's name in the vault's runtime folder."""

TOUCHED_SECONDS = INDEXED_SECONDS = 2.0

SILENT_SECONDS, SILENT_SHARE = 0.5, 1 / 8
"""How long a watcher may take to begin an answer: at least, and as a share of the total time. A live one needs
milliseconds, a stopped one never begins."""

INDEXED = "indexed"
"""Request to add all changes to the index. It is declined if that takes long, or if some may be unknown."""

LINK = "link"
"""Request for a link that opens the vault's pages in a browser."""

ANYBODY = frozenset(["status", "stop", LINK])
"""Requests allowed from other versions of mdmem; they wait for the total time."""

SILENCE_SECONDS = 60.0
"""How long a socket that gave no sign is not asked again."""

_silent: dict[tuple[str, str], float] = {}
"""(Folder, name) of a socket that gave no sign -> when."""

PASSED = ("CURSOR_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "XDG_CONFIG_HOME")
"""Variables of the client's environment that an answer may depend on, besides mdmem's own."""


def is_passed(name: str) -> bool:
    """Whether an environment variable is sent with a request."""
    return name.startswith("MDMEM_") or name in PASSED


def sender(config: Config) -> str:
    """Identify the client: a watcher of another version or with other folders would answer differently."""
    text = " ".join((__version__, config.state_dir, config.index_dir)).replace("\n", " ")
    return text.encode("utf-8", "replace").decode()


def ask(
    config: Config,
    words: str,
    env: Mapping[str, str],
    body: bytes | Callable[[], bytes],
    *,
    seconds: float,
    name: str = NAME,
) -> bytes | None:
    """Ask the server at the socket `name`; None when there is none, or it does not answer within `seconds`.

    body: or a function that returns it, called only if there is a server. If the server has not begun to answer after
    `SILENT_SECONDS`, it is not asked again for `SILENCE_SECONDS`.
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
        data = memoryview(head.encode("utf-8", "replace") + (body() if callable(body) else body))
        while data:
            data = data[in_time().send(data[: 1 << 16]) :]
        link.shutdown(1)  # end of the request
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
    # A declined request has no answer, and one cut off by a killed watcher lacks its last byte.
    return answer[:-1] if answer.endswith(b"\n") else None


def touched(config: Config, token: str) -> tuple[str, list[str] | None]:
    """Return a new token and the paths touched since `token`; None for the paths when nobody knows them."""
    import json

    answer = ask(config, f"touched {token}", {}, b"", seconds=TOUCHED_SECONDS)
    new_token, paths = json.loads(answer) if answer is not None else ("", None)
    return new_token, paths


def has_indexed_all(config: Config) -> bool:
    """Whether the watcher has just added all changes to the index, so that no file needs to be checked."""
    return ask(config, INDEXED, {}, b"", seconds=INDEXED_SECONDS) is not None


def status(config: Config) -> dict[str, Any]:
    """Return the watcher's status; `running` is False when there is none or it does not answer (`silent`).

    `suspended` is the id of its process if the system reports that this is suspended, so that it cannot answer.
    """
    import json

    listens, suspended = _listens(config)
    answer = ask(config, "status", {}, b"", seconds=2.0) if listens and not suspended else None
    result: dict[str, Any] = json.loads(answer) if answer else {"running": False, "vault": config.vault}
    if listens and not answer and (suspended or _listens(config)[0]):
        result["silent"] = True
    if suspended:
        result["suspended"] = suspended
    return result


def _listens(config: Config) -> tuple[bool, int]:
    """Return whether a process has the watcher's socket open, and its id if the system reports that it is suspended.

    The system accepts connections even if the process does not answer.
    """
    try:
        link = local.connect(config.runtime_dir, NAME, time.monotonic() + SILENT_SECONDS)
    except (TimeoutError, BlockingIOError):
        return True, 0  # its queue of connections is full
    except OSError:
        return False, 0
    if link is None:
        return False, 0
    try:
        return True, local.suspended_server(link)
    finally:
        link.close()
