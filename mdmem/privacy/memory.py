"""The private memory: remembers a session's private text and secrets as long as the session can be resumed.

Each session has a file in the user's state folder, with a line for each telling part: a keyed digest and its anchor
(`echo.EchoRecord`), never text. All files share one key, so that a fork can copy its parent's lines unchanged. Lines
are only appended, each time in a single write, so that any number of processes may write at once.
"""

from __future__ import annotations

import os

from mdmem import files, moved, system
from mdmem.hashing import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.privacy.echo import Echo, EchoRecord

KEPT_DAYS = 90
"""A session's private memory is deleted after this many days without use."""

_KEY = "key"
_KEY_BYTES = 32
_FORGOTTEN = 15
"""A line with this value in place of where a part counts revokes an earlier line."""

_LINE_CHARS = 6 + 3 + 3 + 1 + 16
_LONGEST_FILE = 4 * 1024 * 1024


class TooMuchPrivateError(OSError):
    """A session has more private text than mdmem remembers, so what follows may repeat it unrecognized."""


def folder(config: Config) -> str:
    """Return the folder of all memories, which may not exist yet."""
    return os.path.join(config.state_dir, "private")


def load(config: Config, *sessions: str) -> Echo | None:
    """Return the echo of the private text of sessions, given by their keys; None if they have none.

    Raises:
        OSError: a memory exists but cannot be read.
    """
    lines = b"".join(_read(os.path.join(folder(config), session)) for session in sessions)
    return _echo(config, lines) if lines else None


def load_all(config: Config) -> Echo | None:
    """Return the echo of all sessions' private text, for notes that are written without naming a session."""
    return load(config, *sessions(config))


def sessions(config: Config) -> list[str]:
    """List the keys of the sessions that have a memory. Raises OSError when the disk cannot be read."""
    try:
        return sorted(name for name in os.listdir(folder(config)) if name.isalnum() and name != _KEY)
    except (FileNotFoundError, NotADirectoryError):
        return []


def learn(config: Config, session: str, spans: Iterable[str], secrets: Iterable[str] = ()) -> tuple[int, str]:
    """Remember the texts of private sections, and secrets, for a session. They are on disk when this returns.

    Return the memory's `extent`.

    Raises:
        TooMuchPrivateError: there is more private text than is remembered.
        OSError: the memory cannot be written.
    """
    from mdmem.privacy import echo

    key, spans = _make_key(config), tuple(spans)
    path = os.path.join(folder(config), session)
    stored = _read(path)
    new = echo.records(key, spans, _parse(stored), secrets)
    if echo.are_cut(spans) or (new and len(stored) + (len(new) + 1) * (_LINE_CHARS + 1) > _LONGEST_FILE):
        raise TooMuchPrivateError(
            system.code("EFBIG"), "This session has more private text than mdmem remembers.", path
        )
    if new:
        _append(path, b"\n".join(map(_line, new)), durable=config.settings.capture.durability == "power")
    return _count(stored) + len(new), _sign(key)


def extent(config: Config, session: str) -> tuple[int, str]:
    """Return how much a session's memory holds: its number of lines, which only grows, and a sign of the key they need.

    Raises:
        OSError: it cannot be read.
    """
    return _count(_read(os.path.join(folder(config), session))), _sign(_read(os.path.join(folder(config), _KEY)))


def _count(data: bytes) -> int:
    """Return the number of lines that are whole and in mdmem's digits."""
    return sum(len(line) == _LINE_CHARS and not line.translate(None, _LETTERS) for line in data.split(b"\n"))


def _sign(key: bytes) -> str:
    return short(key.hex(), 8)


def load_without(config: Config, session: str, spans: Iterable[str]) -> Echo | None:
    """Return the echo of a session's private text, except for texts that the user now wants stored.

    Raises:
        OSError: the memory cannot be read or written.
    """
    from mdmem.privacy import echo

    key = _make_key(config)
    digests = {record[4] for record in echo.records(key, spans)}
    remaining = [record for record in _parse(_read(os.path.join(folder(config), session))) if record[4] not in digests]
    return echo.Echo(key, remaining) if remaining else None


def forget(config: Config, session: str, spans: Iterable[str]) -> None:
    """Forget texts of a session that the user now wants stored.

    Raises:
        OSError: the memory cannot be written.
    """
    from mdmem.privacy import echo

    path = os.path.join(folder(config), session)
    digests = {record[4] for record in echo.records(_make_key(config), spans)}
    revoked = [(*record[:3], _FORGOTTEN, record[4]) for record in _parse(_read(path)) if record[4] in digests]
    if revoked:
        _append(path, b"\n".join(map(_line, revoked)), durable=config.settings.capture.durability == "power")


def inherit(config: Config, session: str, parents: Iterable[str]) -> None:
    """Copy the memories of other sessions into a session.

    Raises:
        OSError: the memory cannot be written.
    """
    own_lines = _read(os.path.join(folder(config), session)).split(b"\n")
    lines = {line for parent in parents for line in _read(os.path.join(folder(config), parent)).split(b"\n")}
    new = sorted(line for line in lines.difference(own_lines) if len(line) == _LINE_CHARS)
    if new:
        _append(os.path.join(folder(config), session), b"\n".join(new), durable=False)


def prune(config: Config, now: float) -> int:
    """Delete memories that were not used for `KEPT_DAYS`; return how many were deleted."""
    deleted = 0
    try:
        keys = sessions(config)
    except OSError:
        return 0
    for session in keys:
        path = os.path.join(folder(config), session)
        try:
            if now - max(os.lstat(path).st_mtime, _last_event(config, session)) > KEPT_DAYS * 86_400:
                os.unlink(path)
                deleted += 1
        except OSError:
            continue
    return deleted


def _last_event(config: Config, session: str) -> float:
    """Return when the session's record was last written; 0 if it has none."""
    try:
        return os.lstat(os.path.join(config.state_dir, "sessions", session)).st_mtime
    except OSError:
        return 0.0


# -- files


def _echo(config: Config, lines: bytes) -> Echo | None:
    from mdmem.privacy import echo

    records, key = _parse(lines), _read(os.path.join(folder(config), _KEY))
    return echo.Echo(key, records) if records and len(key) == _KEY_BYTES else None


def _make_key(config: Config) -> bytes:
    """Return the key of this vault's memories, creating it if there is no valid one.

    Raises:
        OSError: it cannot be written.
    """
    path = os.path.join(folder(config), _KEY)
    key = _read(path)
    if len(key) == _KEY_BYTES:
        return key
    temp = f"{path}.{os.getpid()}.tmp"
    files.replace(temp, os.urandom(_KEY_BYTES))
    try:
        moved.remember(config.state_dir, config.vault)
        opened = system.open_folder(folder(config))
        try:
            if key:
                opened.replace(os.path.basename(temp), _KEY)  # a damaged key recognizes nothing
            else:
                opened.publish(os.path.basename(temp), _KEY)  # unless another process was first
        finally:
            opened.close()
    finally:
        files.remove(temp)
    return files.read_own(path, _KEY_BYTES)


def _read(path: str) -> bytes:
    """Return a file's contents; b"" if there is no such file.

    Raises:
        OSError: it exists but cannot be read, so that private text would not be recognized.
    """
    try:
        return files.read_own(path, _LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError, files.NotRegularError):
        return b""


def _append(path: str, data: bytes, *, durable: bool) -> None:
    """Append lines to a file. They start on a new line, so that an incomplete earlier write damages only itself."""
    file = files.open_to_append(path)
    try:
        files.write_all(file, b"\n" + data + b"\n")
        if durable:
            system.sync(file)
    finally:
        os.close(file)


# -- lines, in hexadecimal with consonants for digits, so that they never look like a number or a word

_DIGITS, _LETTERS = b"0123456789abcdef", b"GHJKLMNPQRSTVWXZ"
_WRITTEN = bytes.maketrans(_DIGITS, _LETTERS)
_READ = bytes.maketrans(_LETTERS, _DIGITS)


def _line(record: EchoRecord) -> bytes:
    anchor, at, length, boundary, digest = record
    return f"{anchor:06x}{at:03x}{length:03x}{boundary:01x}{digest.hex()}".encode().translate(_WRITTEN)


def _parse(data: bytes) -> list[EchoRecord]:
    """Parse the lines of a memory, without incomplete and revoked ones."""
    records: dict[tuple[bytes, int], EchoRecord] = {}
    for line in data.translate(_READ).split(b"\n"):
        if len(line) == _LINE_CHARS:
            try:
                numbers = int(line[:6], 16), int(line[6:9], 16), int(line[9:12], 16), int(line[12:13], 16)
                digest = bytes.fromhex(line[13:].decode("ascii"))
            except ValueError:
                continue
            if numbers[3] != _FORGOTTEN:
                records[digest, numbers[3]] = (*numbers, digest)
                continue
            for boundary in range(_FORGOTTEN):
                records.pop((digest, boundary), None)
    return list(records.values())
