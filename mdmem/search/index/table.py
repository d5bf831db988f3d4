"""Table: the rows of a segment, read column by column: whole, or only some rows if few are needed."""

from __future__ import annotations

import marshal
import sys
import zlib
from array import array
from functools import cached_property
from itertools import chain, pairwise
from operator import sub

from mdmem.search.index.layout import CODES, FACTS_PER_BLOCK, SKETCH_SIZE, TEXT_FIELDS, DamagedError, IndexRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any, Literal

    from mdmem.search.index.layout import SliceReader

FEW = 128
"""If more than one in this many rows is needed, the whole column is read."""
NEAR = 1_000
"""One more read costs as much as reading this many unneeded rows."""
_FEW_FOLDERS = 10
"""If more than one in this many folders is needed, all names are read at once."""
_WIDTHS = {code: array(code).itemsize for code in "qQBI"}
_BLOCKS_KEPT = 8
"""Number of decoded blocks kept per segment, so that reading the facts of all notes does not hold them all."""


def code(column: str) -> Literal["q", "Q", "B", "I"]:
    """Return the `array` type code of a column."""
    return CODES.get(column, "I")


class Table:
    """The rows of one segment; each column is read and checked on first use."""

    def __init__(self, data: SliceReader, count: int) -> None:
        self._data = data
        self._count = count
        self._directory = _read_directory(data)
        self._facts: dict[int, list[dict[str, Any]]] = {}
        self._named = 0

    def __len__(self) -> int:
        return self._count

    def _column(self, name: str) -> bytes:
        start, size, checksum = self._directory[name]
        data = self._data[start : start + size]
        if zlib.crc32(data) != checksum:
            raise DamagedError(f"the column {name} of a segment has a wrong checksum")
        return data

    def packed(self, name: str) -> bytes:
        """Return a column of numbers as the bytes of its array; see `numbers`."""
        column = self._column(name)
        if len(column) != self._count * _WIDTHS[code(name)]:
            raise DamagedError(f"the column {name} of a segment has {len(column)} bytes for {self._count} notes")
        return column

    def numbers(self, name: str) -> array[int]:
        """Return a column of numbers: mtime_ns, size, inode, digest, created, flags, folder_of or `length_FIELD`.

        folder_of has each row's folder number; a length is that of a text field, in terms.
        """
        return array(code(name), self.packed(name))

    def number(self, name: str, row: int) -> int:
        """Return one number without reading the whole column. Raises DamagedError when the row does not exist."""
        return self.some_numbers(name, row, row + 1)[0]

    def some_numbers(self, name: str, first: int, last: int) -> array[int]:
        """Return the numbers of rows `first` to `last`, exclusive, without reading the whole column."""
        width = _WIDTHS[code(name)]
        start, size, _ = self._directory[name]
        if not 0 <= first <= last <= size // width:
            raise DamagedError(f"the column {name} of a segment has no rows {first} to {last}")
        return array(code(name), self._data[start + first * width : start + last * width])

    def numbers_at(self, name: str, rows: Sequence[int]) -> list[int]:
        """Return the numbers of some rows, in ascending order; rows far apart are read one by one."""
        if rows and rows[-1] - rows[0] < NEAR * len(rows):
            between = self.some_numbers(name, rows[0], rows[-1] + 1)
            return [between[row - rows[0]] for row in rows]
        return [self.number(name, row) for row in rows]

    def sketch(self, row: int) -> tuple[int, ...]:
        """Return a row's sketch of its words."""
        start = self._directory["sketch"][0] + row * 4 * SKETCH_SIZE
        return tuple(array("I", self._data[start : start + 4 * SKETCH_SIZE]))

    def sketches(self) -> Iterator[bytes]:
        """Yield every row's sketch, packed."""
        data, size = self._column("sketch"), 4 * SKETCH_SIZE
        return (data[start : start + size] for start in range(0, len(data), size))

    def total_length(self, field: str) -> tuple[int, int]:
        """Return the total length of a text field, and the number of rows that have it."""
        total, having = array("Q", self._column(f"sum_{field}"))
        return total, having

    def folders(self) -> list[str]:
        """Return the rows' folders, by number."""
        return _cut(self._column("folders"), [0, *self._folder_ends])

    def folder(self, number: int) -> str:
        """Return the folder with a number."""
        start, ends = self._directory["folders"][0], self._folder_ends
        return _text(self._data[start + (ends[number - 1] if number else 0) : start + ends[number]])

    def some_folders(self, numbers: Collection[int]) -> Iterable[tuple[int, str]]:
        """Return the numbers and paths of some folders."""
        if len(numbers) * _FEW_FOLDERS > len(self._folder_ends):
            folders = self.folders()
            return ((number, folders[number]) for number in numbers)
        return ((number, self.folder(number)) for number in numbers)

    def folder_keys(self) -> array[int]:
        """Return the key of each folder, by number; see `folder_key`."""
        return array("Q", self._column("folder_keys"))

    @cached_property
    def is_session(self) -> bytes:
        """For each folder, by number, 1 if it is an agent's session, else 0."""
        return self._column("is_session")

    @cached_property
    def _folder_ends(self) -> array[int]:
        return array("I", self._column("folder_ends"))

    def name(self, row: int) -> str:
        """Return a row's file name."""
        begin, end = self._name_at(row)
        start = self._directory["names"][0]
        return _text(self._data[start + begin : start + end])

    def _name_at(self, row: int) -> tuple[int, int]:
        """Return the start and end of a row's name; after many calls, all positions are read."""
        self._named += 1
        if self._named * FEW < self._count and "_name_ends" not in self.__dict__:
            ends = self.some_numbers("name_ends", max(row - 1, 0), row + 1)
        else:
            ends = self._name_ends[max(row - 1, 0) : row + 1]
        return ends[-2] if row else 0, ends[-1]

    def names(self) -> list[str]:
        """Return the file names of all rows."""
        return _cut(self._column("names"), [0, *self._name_ends])

    def some_names(self, first: int, last: int) -> list[str]:
        """Return the file names of rows `first` to `last`, exclusive, without reading the whole column."""
        start = self._directory["names"][0]
        ends = [*(() if first else (0,)), *self.some_numbers("name_ends", max(first - 1, 0), last)]
        return _cut(self._data[start + ends[0] : start + ends[-1]], ends)

    def names_at(self, rows: Sequence[int]) -> list[str]:
        """Return the file names of some rows, in ascending order; rows far apart are read one by one."""
        if not rows or rows[-1] - rows[0] >= FEW * len(rows):
            return [self.name(row) for row in rows]
        first = rows[0]
        ends = [*(() if first else (0,)), *self.some_numbers("name_ends", max(first - 1, 0), rows[-1] + 1)]
        start, begin = self._directory["names"][0], ends[0]
        names = self._data[start + begin : start + ends[-1]]
        return [_text(names[ends[row - first] - begin : ends[row - first + 1] - begin]) for row in rows]

    @cached_property
    def _name_ends(self) -> array[int]:
        return self.numbers("name_ends")

    @cached_property
    def member_ends(self) -> array[int]:
        """Return the end of each folder's rows among those of all folders."""
        return array("I", self._column("member_ends"))

    @cached_property
    def is_by_folder(self) -> bool:
        """Whether the rows are sorted by folder number."""
        sizes = map(sub, self.member_ends, chain((0,), self.member_ends))
        cells = [number.to_bytes(_WIDTHS["I"], sys.byteorder) * size for number, size in enumerate(sizes)]
        return b"".join(cells) == self.packed("folder_of")

    def members_of(self, folder: int) -> array[int]:
        """Return the rows of a folder, given its number, in the order of its files."""
        ends = self.member_ends
        return self.some_numbers("members", ends[folder - 1] if folder else 0, ends[folder])

    def counts(self) -> list[dict[Any, int]]:
        """Return the totals of the rows; see `tally`."""
        counts: list[dict[Any, int]] = marshal.loads(self._column("counts"))
        return counts

    def newest(self) -> array[int]:
        """Return the rows sorted by time, newest first; those of the same second by path, the last first."""
        return self.numbers("newest")

    def facts(self, row: int) -> dict[str, Any]:
        """Return a row's facts."""
        block, place = divmod(row, FACTS_PER_BLOCK)
        if block not in self._facts:
            if len(self._facts) >= _BLOCKS_KEPT:
                self._facts.clear()
            self._facts[block] = self._fact_block(block)
        return self._facts[block][place]

    def all_facts(self) -> Iterator[dict[str, Any]]:
        """Yield every row's facts, without caching."""
        for block in range(-(-self._count // FACTS_PER_BLOCK)):
            yield from self._fact_block(block)

    def _fact_block(self, block: int) -> list[dict[str, Any]]:
        ends = array("I", self._column("fact_blocks"))
        start = self._directory["facts"][0]
        data = self._data[start + (ends[block - 1] if block else 0) : start + ends[block]]
        try:
            facts: list[dict[str, Any]] = marshal.loads(zlib.decompress(data))
        except zlib.error as error:
            raise DamagedError("the facts of a segment cannot be unpacked") from error
        return facts

    def rows(self, keep: Sequence[int]) -> list[IndexRow]:
        """Return rows in their original form, for moving them to another segment."""
        folders, folder_of = self.folders(), self.numbers("folder_of")
        names, ends = self._column("names"), self._name_ends
        columns = {name: self.numbers(name) for name in CODES}
        lengths = [self.numbers(f"length_{field}") for field in TEXT_FIELDS]

        def path(row: int) -> str:
            folder, name = folders[folder_of[row]], _text(names[ends[row - 1] if row else 0 : ends[row]])
            return f"{folder}/{name}" if folder else name

        return [
            IndexRow(
                path=path(row),
                sketch=self.sketch(row),
                lengths=tuple(length[row] for length in lengths),
                facts=self.facts(row),
                **{name: column[row] for name, column in columns.items()},
            )
            for row in keep
        ]


def _cut(data: bytes, ends: list[int]) -> list[str]:
    """Return the names in a part of their column. ends: of the names, after the start of the part."""
    begin = ends[0]
    return [data[start - begin : end - begin].decode("utf-8", "surrogatepass") for start, end in pairwise(ends)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _read_directory(data: SliceReader) -> dict[str, tuple[int, int, int]]:
    if len(data) < 8:
        raise DamagedError("the table of a segment is cut short")
    size, checksum = array("I", data[-8:])
    tail = data[-8 - size : -8]
    if len(tail) != size or zlib.crc32(tail) != checksum:
        raise DamagedError("the table of a segment has no readable directory")
    directory: dict[str, tuple[int, int, int]] = marshal.loads(tail)
    return directory
