"""Local sockets: a Unix socket in a private folder, else a loopback port with a password.

A port is used where the system has no Unix sockets, or the folder's path is too long for one. A private file has its
number and the password, which clients send first.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from mdmem import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - the type that `socket.socket` extends

MAX_PATH_BYTES = 100
"""Systems limit the path of a socket to 104 or 108 bytes."""

PASSWORD_CHARS = 32


def unix_path(folder: str, name: str) -> str:
    """Return the path of the Unix socket `name` in a folder; "" when there cannot be one."""
    import _socket

    path = os.path.join(folder, f"{name}.sock")
    return path if hasattr(_socket, "AF_UNIX") and len(os.fsencode(path)) <= MAX_PATH_BYTES else ""


def port_path(folder: str, name: str) -> str:
    """Return the path of the file with the port's number and password."""
    return os.path.join(folder, f"{name}.port")


def connect(folder: str, name: str, deadline: float) -> Socket | None:
    """Connect to the socket `name` in a folder before `deadline` (monotonic clock); None when nobody listens.

    Raises OSError when the connection fails.
    """
    port = None
    path = os.path.join(folder, f"{name}.sock")
    try:
        status = os.lstat(path)
    except OSError:
        port = _port(port_path(folder, name))
        if port is None:
            return None
    else:
        if not stat.S_ISSOCK(status.st_mode) or not system.own(status):
            return None
    import _socket

    link = _socket.socket(_socket.AF_UNIX if port is None else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        if port is None:
            link.connect(path)
        else:
            link.connect(("127.0.0.1", port[0]))
            link.send(port[1])
    except BaseException:
        link.close()
        raise
    return link


def suspended_server(link: Socket) -> int:
    """Return the id of the process at the other end if it is suspended; 0 if not, or where that is not reported."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return 0
    process = int.from_bytes(link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[:4], sys.byteorder)
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return 0
    return process if state in (b"T", b"t") else 0


def _port(path: str) -> tuple[int, bytes] | None:
    """Read the number and password of a port; None when there is none that belongs to the user."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or not system.own(status):
            return None
        with open(path, "rb") as file:
            number, _, password = file.read(64).partition(b" ")
        return (int(number), password) if len(password) == PASSWORD_CHARS else None
    except (OSError, ValueError):
        return None


class Bound:
    """A server's address, and the password that clients must send (b"": none)."""

    __slots__ = ("family", "folder", "name", "password")

    def __init__(self, folder: str, name: str) -> None:
        import socket

        self.folder = folder
        self.name = name
        unix = bool(unix_path(folder, name))
        self.family: int = socket.AF_UNIX if unix else socket.AF_INET
        self.password = b"" if unix else os.urandom(PASSWORD_CHARS // 2).hex().encode()

    @property
    def address(self) -> str | tuple[str, int]:
        """Return the address to bind."""
        return ("127.0.0.1", 0) if self.password else unix_path(self.folder, self.name)

    def publish(self, server: Socket) -> None:
        """Make a bound socket findable for clients."""
        if self.password:
            path = port_path(self.folder, self.name)
            temp = f"{path}.{os.getpid()}.tmp"
            fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(fd, "wb") as file:
                file.write(b"%d %b" % (server.getsockname()[1], self.password))
            os.replace(temp, path)

    def remove(self) -> None:
        """Remove the files by which clients find the socket, also those of a killed server."""
        for path in (os.path.join(self.folder, f"{self.name}.sock"), port_path(self.folder, self.name)):
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def admits(self, link: Socket) -> bool:
        """Whether a client is the user, by the system's credentials or by the password."""
        if self.password:
            import hmac

            received = b""
            while len(received) < len(self.password) and (piece := link.recv(len(self.password) - len(received))):
                received += piece
            return hmac.compare_digest(received, self.password)
        import socket
        import struct

        if not hasattr(socket, "SO_PEERCRED"):
            return True  # guaranteed by the socket's mode
        data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1]) == os.getuid()
