"""Asking the watcher, which keeps a warm searcher, over a unix socket; without one, everyone does it himself.

A request is a line of words, a line that says which mdmem asks, lines `NAME=value` of the asker's environment,
an empty line, and a body; the answer is bytes until the end. Nothing slow is imported: the whole question costs
less than loading an index.
"""

from __future__ import annotations

import os
import stat
import time

from mdmem import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.config import Config

MAX_PATH_BYTES = 100
"""The kernel takes about 104 bytes for a socket's path on some systems, 108 on others."""

MAX_BYTES = 64 * 1024 * 1024

PASSED = ("CURSOR_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "XDG_CONFIG_HOME")
"""What an answer may hang on in the asker's environment, beside mdmem's own variables."""


def socket_path(config: Config) -> str:
    """Name the socket of the vault's watcher: in the runtime folder, or in a short place when that is too long."""
    path = os.path.join(config.runtime_dir, "watch.sock")
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    return os.path.join(f"/tmp/mdmem-{os.getuid()}", f"{os.path.basename(config.state_dir)[-8:]}.sock")  # noqa: S108


def is_passed(name: str) -> bool:
    """Say whether a variable of the environment belongs to a request."""
    return name.startswith("MDMEM_") or name in PASSED


def sender(config: Config) -> str:
    """Say which mdmem asks: a watcher of another version, or with other folders, would not answer as this one does."""
    text = " ".join((__version__, config.state_dir, config.index_dir)).replace("\n", " ")
    return text.encode("utf-8", "replace").decode()


def ask(config: Config, words: str, env: Mapping[str, str], body: bytes, *, seconds: float) -> bytes | None:
    """Ask the watcher; None when there is none, it declines, or it does not answer within `seconds`."""
    deadline = time.monotonic() + seconds
    path = socket_path(config)
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return None
    lines = [words, sender(config), *(f"{name}={value}" for name, value in env.items() if is_passed(name))]
    head = "\n".join([line.replace("\n", " ") for line in lines]) + "\n\n"
    from _socket import AF_UNIX, SHUT_WR, SOCK_STREAM, socket

    link = socket(AF_UNIX, SOCK_STREAM)

    def in_time() -> socket:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        return link

    try:
        in_time().connect(path)
        data = memoryview(head.encode("utf-8", "replace") + body)
        while data:
            data = data[in_time().send(data[: 1 << 16]) :]
        link.shutdown(SHUT_WR)
        pieces = []
        while piece := in_time().recv(1 << 16):
            pieces.append(piece)
        answer = b"".join(pieces)
    except OSError:
        return None
    finally:
        link.close()
    # One that declines says nothing, and an answer that was cut off, by a watcher that died, lacks its last byte.
    return answer[:-1] if answer.endswith(b"\n") else None
