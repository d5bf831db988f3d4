"""How a segment of the index lies on disk: posting lists, and a table with a row for each note.

Numbers are arrays in the machine's own order, so that they are read and written at the speed of a copy;
the index is a cache of this machine, and its stamp holds the order. Nothing here knows the engine.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.hashing import sha256

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 9
"""Raised whenever the same notes lie differently on disk: an index of another version is made anew."""

Postings = tuple["array[int]", bytes | None]
"""The rows in which a term occurs, ascending, and how often in each (None: once everywhere)."""


class IndexRow(NamedTuple):
    """What the index keeps of one note, apart from its words.

    path: vault-relative, POSIX. mtime_ns, size, inode: of the file when it was read; mtime_ns is -1 when the
        file was so fresh that a change in the same tick of the clock could be missed.
    digest: the first 8 bytes of its SHA-256. created: seconds since 1970, from the note or its file.
    flags: a sum of FLAGS, and KIND_STEP times the place of its kind in KINDS.
    sketch: the smallest hashes of its words, alike for alike texts.
    lengths: how many terms each text field holds, in the order of TEXT_FIELDS.
    facts: what a result shows (id, kind, title, ...), so that no file has to be read for it.
    """

    path: str
    mtime_ns: int
    size: int
    inode: int
    digest: int
    created: int
    flags: int
    sketch: tuple[int, ...]
    lengths: tuple[int, ...]
    facts: dict[str, Any]


TEXT_FIELDS = ("body", "title", "meta", "date")
FIELDS = {"body": b"b", "date": b"d", "facet": b"f", "meta": b"m", "title": b"t"}
"""What the keys of each field's terms begin with, in their order."""
FLAGS = {"pinned": 1, "edited": 2, "numbered": 4}
KIND_STEP = 8
KINDS = (
    "", "prompt", "response", "observation", "summary", "note", "session", "project", "ghost", "agent",
    "decision", "lesson", "preference", "task",
)  # fmt: skip
"""The kinds whose notes can be told apart without reading facts; others are the first."""
SKETCH_SIZE = 8

_NUMBERS = (("mtime_ns", "q"), ("size", "q"), ("inode", "Q"), ("digest", "Q"), ("created", "q"), ("flags", "B"))
_FACTS_PER_BLOCK = 32


NEW = "there was none"
"""Why an index is made for the first time."""


class DamagedError(Exception):
    """A file of the index is not what was written; the index must be made anew."""


def digest(data: bytes) -> int:
    """Return the first 8 bytes of the SHA-256 of a file, as a number."""
    return int.from_bytes(sha256(data)[:8], "little")


# -- posting lists -----------------------------------------------------------------------------------

_WIDE, _WEIGHTED = 1, 2


def encode_postings(rows: Sequence[int], weights: Sequence[float]) -> bytes:
    """Pack a posting list: a byte that says how, the rows (2 bytes each, or 4), the weights (1 byte, at most 255)."""
    wide = rows[-1] > 0xFFFF
    weighted = max(weights) > 1
    head = bytes((wide * _WIDE | weighted * _WEIGHTED,))
    packed = head + array("I" if wide else "H", rows).tobytes()
    return packed + bytes([int(min(weight, 255)) for weight in weights]) if weighted else packed


def decode_postings(data: bytes) -> Postings:
    """Unpack what `encode_postings` packed.

    Raises:
        DamagedError: when it was not packed so.
    """
    count = count_postings(data[0], len(data))
    wide, weighted = data[0] & _WIDE, data[0] & _WEIGHTED
    end = 1 + count * (4 if wide else 2)
    return array("I" if wide else "H", data[1:end]), (data[end:] if weighted else None)


def count_postings(head: int, size: int) -> int:
    """Return how many rows a packed list of `size` bytes has, from its first byte alone."""
    count, rest = divmod(size - 1, (4 if head & _WIDE else 2) + (1 if head & _WEIGHTED else 0))
    if rest or head > (_WIDE | _WEIGHTED):
        raise DamagedError("a posting list has an impossible length")
    return count


# -- the table of notes ------------------------------------------------------------------------------


def encode_table(rows: list[IndexRow]) -> bytes:
    """Pack rows column by column, with a directory at the end that holds a checksum of each column."""
    folders: dict[str, int] = {}
    folder_of = array("I")
    names = []
    for row in rows:
        folder, _, name = row.path.rpartition("/")
        folder_of.append(folders.setdefault(folder, len(folders)))
        names.append(name)
    columns = {
        "folders": marshal.dumps(list(folders)),
        "folder_of": folder_of.tobytes(),
        "names": marshal.dumps(names),
        "sketch": array("I", [number for row in rows for number in row.sketch]).tobytes(),
    }
    for name, code in _NUMBERS:
        columns[name] = array(code, [getattr(row, name) for row in rows]).tobytes()
    for place, name in enumerate(TEXT_FIELDS):
        columns[f"length_{name}"] = array("I", [row.lengths[place] for row in rows]).tobytes()
    columns["facts"], columns["fact_blocks"] = _encode_facts([row.facts for row in rows])
    return _join(columns)


def _encode_facts(facts: list[dict[str, Any]]) -> tuple[bytes, bytes]:
    blocks = [
        zlib.compress(marshal.dumps(facts[i : i + _FACTS_PER_BLOCK]), 1) for i in range(0, len(facts), _FACTS_PER_BLOCK)
    ]
    ends = array("I")
    for block in blocks:
        ends.append((ends[-1] if ends else 0) + len(block))
    return b"".join(blocks), ends.tobytes()


def _join(columns: dict[str, bytes]) -> bytes:
    directory = {}
    position = 0
    for name, data in columns.items():
        directory[name] = (position, len(data), zlib.crc32(data))
        position += len(data)
    tail = marshal.dumps(directory)
    return b"".join([*columns.values(), tail, array("I", [len(tail), zlib.crc32(tail)]).tobytes()])


class Table:
    """The rows of one segment, each column read and checked when it is first asked for."""

    def __init__(self, data: memoryview, count: int) -> None:
        self._data = data
        self._count = count
        self._directory = _read_directory(data)
        self._facts: dict[int, list[dict[str, Any]]] = {}

    def __len__(self) -> int:
        return self._count

    def _column(self, name: str) -> memoryview:
        start, size, checksum = self._directory[name]
        data = self._data[start : start + size]
        if zlib.crc32(data) != checksum:
            raise DamagedError(f"the column {name} of a segment does not have its checksum")
        return data

    def _array(self, name: str, code: str, width: int = 1) -> array[int]:
        column = array(code, self._column(name).tobytes())
        if len(column) != self._count * width:
            raise DamagedError(f"the column {name} of a segment has {len(column)} values, not {self._count * width}")
        return column

    def numbers(self, name: str) -> array[int]:
        """Return a column of numbers: mtime_ns, size, inode, digest, created or flags."""
        return self._array(name, dict(_NUMBERS)[name])

    def number(self, name: str, row: int) -> int:
        """Return one number, without reading the whole column."""
        code = dict(_NUMBERS)[name]
        width = array(code).itemsize
        start = self._directory[name][0] + row * width
        return array(code, self._data[start : start + width].tobytes())[0]

    def lengths(self, field: str) -> array[int]:
        """Return the length of a text field, in terms, for every row."""
        return self._array(f"length_{field}", "I")

    def sketch(self, row: int) -> tuple[int, ...]:
        """Return the row's sketch of its words."""
        start = self._directory["sketch"][0] + row * 4 * SKETCH_SIZE
        return tuple(array("I", self._data[start : start + 4 * SKETCH_SIZE].tobytes()))

    def places(self) -> tuple[list[str], array[int], list[str]]:
        """Return the folders, the number of each row's folder, and each row's file name."""
        folders: list[str] = marshal.loads(self._column("folders"))
        names: list[str] = marshal.loads(self._column("names"))
        if len(names) != self._count:
            raise DamagedError("a segment's table of names is too short")
        return folders, self._array("folder_of", "I"), names

    def facts(self, row: int) -> dict[str, Any]:
        """Return what a result shows of a row."""
        block, place = divmod(row, _FACTS_PER_BLOCK)
        if block not in self._facts:
            ends = array("I", self._column("fact_blocks").tobytes())
            start = self._directory["facts"][0]
            data = self._data[start + (ends[block - 1] if block else 0) : start + ends[block]]
            try:
                self._facts[block] = marshal.loads(zlib.decompress(data))
            except zlib.error as error:
                raise DamagedError("the facts of a segment cannot be unpacked") from error
        return self._facts[block][place]

    def rows(self, keep: list[int]) -> list[IndexRow]:
        """Return rows as they were put in: for moving them to another segment."""
        folders, folder_of, names = self.places()
        columns = {name: self.numbers(name) for name, _ in _NUMBERS}
        lengths = [self.lengths(field) for field in TEXT_FIELDS]
        return [
            IndexRow(
                path=f"{folders[folder_of[row]]}/{names[row]}" if folders[folder_of[row]] else names[row],
                sketch=self.sketch(row),
                lengths=tuple(length[row] for length in lengths),
                facts=self.facts(row),
                **{name: column[row] for name, column in columns.items()},
            )
            for row in keep
        ]


def _read_directory(data: memoryview) -> dict[str, tuple[int, int, int]]:
    if len(data) < 8:
        raise DamagedError("the table of a segment is cut short")
    size, checksum = array("I", data[-8:].tobytes())
    tail = data[-8 - size : -8]
    if len(tail) != size or zlib.crc32(tail) != checksum:
        raise DamagedError("the table of a segment has no readable directory")
    directory: dict[str, tuple[int, int, int]] = marshal.loads(tail)
    return directory
