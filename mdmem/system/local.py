"""A local socket: a Unix socket in a folder of the user's own, else a port on loopback with a password.

The port is used where the system has no Unix sockets, and where the folder's path is too long for one. Its number and
the password lie in a file beside, for the user alone; whoever connects says the password first.
"""

from __future__ import annotations

import os
import stat
import time

from mdmem import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - the type that `socket.socket` extends

MAX_PATH_BYTES = 100
"""The kernel takes about 104 bytes for a socket's path on some systems, 108 on others."""

PASSWORD_CHARS = 32


def unix_path(folder: str, name: str) -> str:
    """Return the path of the Unix socket `name` in a folder; "" where there can be none."""
    import _socket

    path = os.path.join(folder, f"{name}.sock")
    return path if hasattr(_socket, "AF_UNIX") and len(os.fsencode(path)) <= MAX_PATH_BYTES else ""


def port_path(folder: str, name: str) -> str:
    """Return the path of the file that holds the port's number and password."""
    return os.path.join(folder, f"{name}.port")


def connect(folder: str, name: str, deadline: float) -> Socket | None:
    """Connect to the socket `name` in a folder before `deadline` (on the monotonic clock); None when nobody listens.

    Raises:
        OSError: when the connection fails.
    """
    port = None
    path = os.path.join(folder, f"{name}.sock")
    try:
        found = os.lstat(path)
    except OSError:
        port = _port(port_path(folder, name))
        if port is None:
            return None
    else:
        if not stat.S_ISSOCK(found.st_mode) or not system.own(found):
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


def _port(path: str) -> tuple[int, bytes] | None:
    """Read a port's number and password; None when there is none of the user's own."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or not system.own(found):
            return None
        with open(path, "rb") as file:
            number, _, password = file.read(64).partition(b" ")
        return (int(number), password) if len(password) == PASSWORD_CHARS else None
    except (OSError, ValueError):
        return None


class Bound:
    """A server's address: where it listens, and the password of those who connect (b"": none is asked for)."""

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
        """Return what to bind."""
        return ("127.0.0.1", 0) if self.password else unix_path(self.folder, self.name)

    def publish(self, server: Socket) -> None:
        """Publish a socket that has bound the address."""
        if self.password:
            path = port_path(self.folder, self.name)
            temp = f"{path}.{os.getpid()}.tmp"
            fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(fd, "wb") as file:
                file.write(b"%d %b" % (server.getsockname()[1], self.password))
            os.replace(temp, path)

    def remove(self) -> None:
        """Remove what others found it by, also what a server that was killed has left."""
        for path in (os.path.join(self.folder, f"{self.name}.sock"), port_path(self.folder, self.name)):
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def admits(self, link: Socket) -> bool:
        """Whether who connected is the user, by the system's word or by the password."""
        if self.password:
            import hmac

            said = b""
            while len(said) < len(self.password) and (piece := link.recv(len(self.password) - len(said))):
                said += piece
            return hmac.compare_digest(said, self.password)
        import socket
        import struct

        if not hasattr(socket, "SO_PEERCRED"):
            return True  # the socket's mode says so
        data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1]) == os.getuid()
