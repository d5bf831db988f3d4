"""Lines: reads the objects in a JSONL file, which may be hundreds of megabytes long and still growing.

Also reads whole JSON documents and databases.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from mdmem.transcripts.saved import BytesCallback, Skipped, ignore_bytes

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is skipped without being held in memory."""

MAX_HELD_BYTES = 16 * 1024 * 1024
"""Lines of a file up to this size are decoded once and kept; those of a larger file at every pass."""

_DECODER = json.JSONDecoder(strict=False)  # accepts unescaped control characters


HEAD_BYTES = 1 << 16
"""Size of a file's head, by which its format is recognized."""

SQLITE_SIGNATURE = b"SQLite format 3\0"
_WAIT_SECONDS = 2.0


def head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the beginning of a file; b"" if it cannot be read or is not a regular file, such as a pipe."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


class Lines:
    """The JSON objects in the lines of a file, up to its last line end when this was created.

    Can be iterated several times; skipped lines are counted in `skipped` the first time.
    """

    def __init__(self, path: Path, skipped: Skipped) -> None:
        """Take the file's size; reading starts with the iteration. Raises OSError when the file is missing."""
        self.path = path
        self.size = path.stat().st_size
        self._skipped = skipped
        self._counted = False
        self._held: list[dict[str, Any]] | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if self._held is not None:
            return iter(self._held)
        if self.size > MAX_HELD_BYTES:
            return self._read()
        self._held = list(self._read())
        return iter(self._held)

    def telling(self, report: BytesCallback) -> Iterator[dict[str, Any]]:
        """Yield the lines, reporting before each its offset in bytes (approximate for smaller files)."""
        if self.size > MAX_HELD_BYTES:
            yield from self._read(report)
            return
        lines = list(self)
        for place, line in enumerate(lines):
            report(self.size * place // len(lines))
            yield line

    def _read(self, report: BytesCallback = ignore_bytes) -> Iterator[dict[str, Any]]:
        skipped: Skipped = Skipped() if self._counted else self._skipped
        self._counted = True
        with self.path.open("rb", buffering=1 << 20) as file:
            place = 0
            for line in _whole(file, self.size, skipped):
                report(place)
                place += len(line)
                value = decode(line, skipped)
                if value is not None:
                    yield value


def _whole(file: BinaryIO, room: int, skipped: Skipped) -> Iterator[bytes]:
    """Yield each line that ends within the first `room` bytes; a partial last line is counted."""
    while room > 0:
        line = file.readline(min(room, MAX_LINE_BYTES))
        room -= len(line)
        if line.endswith(b"\n"):
            yield line
        elif room <= 0 or not line:
            skipped["half-written line"] += bool(line.strip())
            return
        else:
            skipped["line too long"] += 1
            room -= _pass_over(file, room)


def _pass_over(file: BinaryIO, room: int) -> int:
    """Skip to the end of a line; return the number of bytes read."""
    count = 0
    while count < room:
        piece = file.readline(min(room - count, 1 << 20))
        count += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return count


def document(path: Path, most: int, skipped: Skipped) -> Any:
    """Return what a JSON file holds; None, which is counted, if it is none or longer than `most` bytes.

    Raises OSError when it cannot be read.
    """
    if path.stat().st_size > most:
        skipped["file too long"] += 1
        return None
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        skipped["unreadable file"] += 1
        return None


def decode(line: bytes, skipped: Skipped) -> dict[str, Any] | None:
    """Decode one line; None if it is not a JSON object, which is counted unless the line is empty."""
    try:
        value = _DECODER.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    skipped["unreadable line"] += bool(line.strip())
    return None


def is_database(first: bytes) -> bool:
    """Whether a file that begins with `first` is a database; only its tables tell of which program."""
    return first.startswith(SQLITE_SIGNATURE)


def in_databases(pattern: str, query: str, title: str) -> Callable[[Path], Iterator[Path]]:
    """Return a function that finds the sessions in the databases below a folder, or in a database.

    pattern: of the databases' names. query: returns the column `id`. title: as for `rows`.
    """

    def find(root: Path) -> Iterator[Path]:
        for base in [root] if root.is_file() else sorted(root.rglob(pattern)):
            with suppress(OSError):  # of another program or an unknown version
                yield from [base / str(row["id"]) for row in rows(base, query, (), title)]

    return find


def rows(base: Path, query: str, values: Sequence[str] | Mapping[str, str], title: str) -> list[dict[str, Any]]:
    """Return the rows of a query on a database that is opened read-only, and closed whatever the caller does.

    title: the program's usual name, for the message.

    Raises OSError when it cannot be read or lacks these tables.
    """
    import sqlite3  # not every Python has it

    try:
        with closing(sqlite3.connect(f"file:{quote(str(base))}?mode=ro", uri=True, timeout=_WAIT_SECONDS)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = lambda data: data.decode("utf-8", "replace")  # one bad byte costs no other row
            return [dict(row) for row in database.execute(query, values)]
    except sqlite3.Error as error:
        raise OSError(f"{base} cannot be read as the database of {title}: {error}") from error
