"""Contents: an index's table of contents: its segments, and which of their notes are deleted.

It is one small file that each commit replaces as a whole. It is marshalled with a checksum, never pickled: data in the
user's cache folder, wherever it came from, never runs as code.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from array import array

from mdmem import __version__, files
from mdmem.named_tuple import NamedTuple
from mdmem.search.index import layout
from mdmem.search.index.layout import DamagedError
from mdmem.search.text import analysis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

NAME = "contents"
MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of an index file that is read as a whole."""

_BUFFER_BYTES = 256 * 1024

LOCK = "writer.lock"
FOLDERS = "looked"
"""File with the times of the scanned folders (`scan_record`)."""

TURN = "turn"
STAMP = f"mdmem {__version__}, analysis {analysis.VERSION}, layout {layout.VERSION}, {sys.byteorder}, {marshal.version}"
"""All that determines an index's content and layout: an index with another stamp is rebuilt."""

_used: set[tuple[str, str]] = set()
"""Folder and stamp of each index that this process has read or written."""


class Segment:
    """An immutable part of the index, and which of its notes were deleted since.

    files: for each extension, the file's size, checksum, and mtime in ns. Whoosh's writers call the methods.
    """

    def __init__(
        self, name: str = "", count: int = 0, deleted: bytes = b"", files: dict[str, tuple[int, int, int]] | None = None
    ) -> None:
        self.name = name or os.urandom(8).hex()
        self.count = count
        self.deleted = set(array("I", deleted))
        self.files = files or {}

    def record(self) -> tuple[str, int, bytes, dict[str, tuple[int, int, int]]]:
        """Return the arguments that create this `Segment`."""
        return self.name, self.count, array("I", sorted(self.deleted)).tobytes(), self.files

    @property
    def live(self) -> int:
        """Return the number of notes that are not deleted."""
        return self.count - len(self.deleted)

    def doc_count_all(self) -> int:
        """Return the number of notes, including deleted ones."""
        return self.count

    def set_doc_count(self, count: int) -> None:
        """Set the number of notes."""
        self.count = count

    def delete_document(self, row: int, delete: bool = True) -> None:  # noqa: ARG002 - deletions are never undone
        """Delete a note."""
        self.deleted.add(row)

    def should_assemble(self) -> bool:
        """Return False: the segment's files stay separate."""
        return False


class Contents(NamedTuple):
    """One generation of an index."""

    generation: int
    segments: list[Segment]


def load(folder: str) -> Contents | None:
    """Return the newest generation, or None if there is none.

    Raises:
        DamagedError: when it cannot be read, or is another version's.
        OtherVersionError: when it is another version's and replaced one of ours: the two would rebuild it in turn.
    """
    try:
        data = files.read_own(os.path.join(folder, NAME), MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(data) < 4 or zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
        raise DamagedError("its table of contents is damaged")
    stamp, *rest = marshal.loads(data[4:])
    if stamp != STAMP:
        raise layout.OtherVersionError if (folder, STAMP) in _used else DamagedError(layout.OTHER_VERSION)
    _used.add((folder, STAMP))
    generation, records = rest
    return Contents(generation, [Segment(*record) for record in records])


def write(folder: str, segment: Segment, extension: str, data: Iterable[bytes]) -> None:
    """Write a file of a segment piece by piece, and record its size, checksum and mtime in the segment."""
    path = os.path.join(folder, segment.name + extension)
    size = checksum = 0
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", _BUFFER_BYTES) as file:
        for piece in data:
            file.write(piece)
            size += len(piece)
            checksum = zlib.crc32(piece, checksum)
    segment.files[extension] = (size, checksum, os.stat(path).st_mtime_ns)


def publish(folder: str, contents: Contents) -> None:
    """Make a generation the newest, atomically, and remove files that no longer belong to any."""
    record: tuple[Any, ...] = (STAMP, contents.generation, [segment.record() for segment in contents.segments])
    data = marshal.dumps(record)
    _used.add((folder, STAMP))
    files.replace(os.path.join(folder, NAME), zlib.crc32(data).to_bytes(4, "little") + data)
    remove_unused(folder, contents)


def remove_unused(folder: str, contents: Contents) -> None:
    """Remove files that belong to no segment: of earlier generations, other versions, or killed writers."""
    used = {NAME, LOCK, FOLDERS, TURN}
    used |= {f"{segment.name}{extension}" for segment in contents.segments for extension in segment.files}
    for name in os.listdir(folder):
        if name not in used:
            try:
                os.unlink(os.path.join(folder, name))
            except OSError:
                continue  # a folder, or already gone: harmless
