"""How a segment of the index lies on disk: posting lists, and a table with a row for each note.

Numbers are arrays in the machine's own order, so that they are read and written at the speed of a copy;
the index is a cache of this machine, and its stamp holds the order. Nothing here knows the engine.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mdmem.hashing import sha256
from mdmem.vault.layout import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    class Stored(Protocol):
        """The bytes of a file or of memory, read in slices without a step."""

        def __len__(self) -> int: ...

        def __getitem__(self, part: slice[Any, Any, Any], /) -> bytes: ...

    class TermLists(Protocol):
        """The posting lists of some notes, by field and term."""

        def count(self, field: str, term: str) -> int:
            """Return in how many rows a term occurs."""
            ...

        def postings(self, field: str, term: str) -> Postings | None:
            """Return a term's posting list."""
            ...

        def starting_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
            """Yield the terms that begin with `prefix`, in order, and in how many rows each occurs."""
            ...

        def keys(self, field: str, prefix: str, limit: int) -> list[bytes]:
            """Return the first `limit` keys of terms that begin with `prefix`, in order."""
            ...

        def postings_of_many(self, field: str, prefix: str, is_wanted: Callable[[bytes], bool]) -> Iterator[Postings]:
            """Yield the posting lists of the terms that begin with `prefix` and whose keys are wanted."""
            ...


VERSION = 11
"""Raised whenever the same notes lie differently on disk: an index of another version is rebuilt."""

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
    "decision", "lesson", "preference", "task", "day", "plan",
)  # fmt: skip
"""The kinds whose notes can be told apart without reading facts; others are the first."""
SKETCH_SIZE = 8

_CODES: dict[str, Literal["q", "Q", "B"]] = {"mtime_ns": "q", "size": "q", "inode": "Q", "digest": "Q",
                                             "created": "q", "flags": "B"}  # fmt: skip
_WIDTHS = {name: array(code).itemsize for name, code in _CODES.items()}
_FACTS_PER_BLOCK = 32
_BLOCKS_KEPT = 64
"""Number of blocks of a segment that stay unpacked, so that reading the facts of all notes does not hold them all."""


NEW = "there was none"
"""Why an index is made for the first time."""


class DamagedError(Exception):
    """A file of the index is not what was written; the index must be rebuilt."""


def digest(data: bytes) -> int:
    """Return the first 8 bytes of the SHA-256 of a file, as a number."""
    return int.from_bytes(sha256(data)[:8], "little")


def key(field: str, term: str) -> bytes:
    """Return what a term is found by: the byte for its field, and the term."""
    return FIELDS[field] + term.encode("utf-8", "replace")


# -- posting lists -----------------------------------------------------------------------------------

_WIDE, _WEIGHTED = 1, 2
ONE_ROW = Struct("=BH")
"""A posting list of one row without a weight. No other list has its size."""


def encode_postings(rows: Sequence[int], weights: Sequence[int] | None) -> bytes:
    """Pack a posting list: a byte that says how, the rows (2 bytes each, or 4), the weights (1 byte, at most 255).

    weights: None where each is 1.
    """
    if len(rows) == 1 and not weights and rows[0] <= 0xFFFF:
        return ONE_ROW.pack(0, rows[0])  # most lists are so short
    wide = rows[-1] > 0xFFFF
    weighted = weights is not None and max(weights) > 1
    head = bytes((wide * _WIDE | weighted * _WEIGHTED,))
    packed = head + array("I" if wide else "H", rows).tobytes()
    if not weighted or not weights:
        return packed
    return packed + (weights if isinstance(weights, bytes) else bytes([min(weight, 255) for weight in weights]))


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
    """Return how many rows a packed list of `size` bytes has, from its first byte alone.

    Raises:
        DamagedError: when no list has this length.
    """
    count, rest = divmod(size - 1, (4 if head & _WIDE else 2) + (1 if head & _WEIGHTED else 0))
    if rest or head > (_WIDE | _WEIGHTED):
        raise DamagedError("a posting list has an impossible length")
    return count


# -- the table of notes ------------------------------------------------------------------------------


def place_in_sequence(name: str) -> tuple[int, str]:
    """Return by what the files of a folder are put in order: the number that a name begins with, then the name."""
    name = name[name.rfind("/") + 1 :]
    digits = len(name) - len(name.lstrip("0123456789"))
    return int(name[:digits] or 0), name


class TableContent(NamedTuple):
    """What a table is made of, note by note.

    folders, folder_of: as `Table` returns them. names: of the files. numbers, lengths: return a column by its name.
    counts: what the notes come to; see `tally`.
    """

    folders: Sequence[str]
    folder_of: array[int]
    names: Sequence[str]
    numbers: Callable[[str], array[int]]
    lengths: Callable[[str], array[int]]
    sketches: Iterable[bytes]
    facts: Iterable[dict[str, Any]]
    counts: Iterable[Mapping[Any, int]] = ()


def encode_table(rows: list[IndexRow], counts: Iterable[Mapping[Any, int]] = ()) -> bytes:
    """Pack rows column by column; counts: what they come to, see `tally`."""
    folders: dict[str, int] = {}
    folder_of = array("I")
    names = []
    for row in rows:
        folder, name = split(row.path)
        folder_of.append(folders.setdefault(folder, len(folders)))
        names.append(name)
    content = TableContent(
        folders=list(folders),
        folder_of=folder_of,
        names=names,
        numbers=lambda name: array(_CODES[name], [getattr(row, name) for row in rows]),
        lengths=lambda field: array("I", [row.lengths[TEXT_FIELDS.index(field)] for row in rows]),
        sketches=(array("I", row.sketch).tobytes() for row in rows),
        facts=(row.facts for row in rows),
        counts=counts,
    )
    return b"".join(pack_table(content))


def pack_table(content: TableContent) -> Iterator[bytes]:
    """Yield a table, column by column, and at the end a directory that holds where each is, and its checksum."""
    directory = {}
    position = 0
    for name, data in _columns(content):
        yield data
        directory[name] = (position, len(data), zlib.crc32(data))
        position += len(data)
    tail = marshal.dumps(directory)
    yield tail
    yield array("I", [len(tail), zlib.crc32(tail)]).tobytes()


def _columns(content: TableContent) -> Iterator[tuple[str, bytes]]:
    folders, folder_of, names = content.folders, content.folder_of, content.names
    members: list[list[int]] = [[] for _ in folders]
    for place, folder in enumerate(folder_of):
        members[folder].append(place)
    for found in members:
        found.sort(key=lambda place: place_in_sequence(names[place]))
    yield "folders", marshal.dumps(list(folders))
    yield "folder_of", folder_of.tobytes()
    yield "members", array("I", chain.from_iterable(members)).tobytes()
    yield "member_ends", array("I", accumulate(map(len, members))).tobytes()
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    yield "names", b"".join(encoded)
    yield "name_ends", array("I", accumulate(map(len, encoded))).tobytes()
    created = content.numbers("created")
    starts = [f"{folder}/" if folder else "" for folder in folders]
    newest = sorted(
        range(len(names)), key=lambda place: (created[place], starts[folder_of[place]] + names[place]), reverse=True
    )
    yield "newest", array("I", newest).tobytes()
    yield "counts", marshal.dumps([dict(part) for part in content.counts])
    yield "sketch", b"".join(content.sketches)
    for name in _CODES:
        yield name, content.numbers(name).tobytes()
    for field in TEXT_FIELDS:
        lengths = content.lengths(field)
        yield f"length_{field}", lengths.tobytes()
        yield f"sum_{field}", array("Q", [sum(lengths), len(lengths) - lengths.count(0)]).tobytes()
    facts, ends = _encode_facts(content.facts)
    yield "facts", facts
    yield "fact_blocks", ends


def _encode_facts(facts: Iterable[dict[str, Any]]) -> tuple[bytes, bytes]:
    """Pack what results show of the rows, some rows at a time; return that, and where each such block ends."""
    rest = iter(facts)
    blocks = []
    while some := list(islice(rest, _FACTS_PER_BLOCK)):
        blocks.append(zlib.compress(marshal.dumps(some), 1))
    return b"".join(blocks), array("I", accumulate(map(len, blocks))).tobytes()


class Table:
    """The rows of one segment, each column read and checked when it is first asked for."""

    def __init__(self, data: Stored, count: int) -> None:
        self._data = data
        self._count = count
        self._directory = _read_directory(data)
        self._facts: dict[int, list[dict[str, Any]]] = {}

    def __len__(self) -> int:
        return self._count

    def _column(self, name: str) -> bytes:
        start, size, checksum = self._directory[name]
        data = self._data[start : start + size]
        if zlib.crc32(data) != checksum:
            raise DamagedError(f"the column {name} of a segment does not have its checksum")
        return data

    def _array(self, name: str, code: str) -> array[int]:
        column = array(code, self._column(name))
        if len(column) != self._count:
            raise DamagedError(f"the column {name} of a segment has {len(column)} values, not {self._count}")
        return column

    def numbers(self, name: str) -> array[int]:
        """Return a column of numbers: mtime_ns, size, inode, digest, created or flags."""
        return self._array(name, _CODES[name])

    def number(self, name: str, row: int) -> int:
        """Return one number, without reading the whole column.

        Raises:
            DamagedError: when the column has no such row.
        """
        width = _WIDTHS[name]
        start, size, _ = self._directory[name]
        if not 0 <= row * width < size:
            raise DamagedError(f"the column {name} of a segment has no row {row}")
        return array(_CODES[name], self._data[start + row * width : start + row * width + width])[0]

    def some_numbers(self, name: str, first: int, last: int) -> array[int]:
        """Return the numbers of the rows from `first` on, before `last`, without reading the whole column."""
        width = _WIDTHS[name]
        start, size, _ = self._directory[name]
        if not 0 <= first <= last <= size // width:
            raise DamagedError(f"the column {name} of a segment does not have the rows {first} to {last}")
        return array(_CODES[name], self._data[start + first * width : start + last * width])

    def lengths(self, field: str) -> array[int]:
        """Return the length of a text field, in terms, for every row."""
        return self._array(f"length_{field}", "I")

    def sketch(self, row: int) -> tuple[int, ...]:
        """Return the row's sketch of its words."""
        start = self._directory["sketch"][0] + row * 4 * SKETCH_SIZE
        return tuple(array("I", self._data[start : start + 4 * SKETCH_SIZE]))

    def sketches(self) -> Iterator[bytes]:
        """Yield every row's sketch, packed."""
        data, size = self._column("sketch"), 4 * SKETCH_SIZE
        return (data[start : start + size] for start in range(0, len(data), size))

    def total_length(self, field: str) -> tuple[int, int]:
        """Return the sum of the lengths of a text field, and how many rows have it."""
        total, having = array("Q", self._column(f"sum_{field}"))
        return total, having

    def folders(self) -> list[str]:
        """Return the folders in which the rows lie, by number."""
        folders: list[str] = marshal.loads(self._column("folders"))
        return folders

    @cached_property
    def folder_of(self) -> array[int]:
        """Return the number of each row's folder."""
        return self._array("folder_of", "I")

    def name(self, row: int) -> str:
        """Return a row's file name."""
        start, ends = self._directory["names"][0], self._name_ends
        return str(self._data[start + (ends[row - 1] if row else 0) : start + ends[row]], "utf-8", "surrogatepass")

    def names(self) -> list[str]:
        """Return the file name of every row."""
        return _cut(self._column("names"), [0, *self._name_ends])

    def some_names(self, first: int, last: int) -> list[str]:
        """Return the file names of the rows from `first` on, before `last`, without reading the whole column."""
        start = self._directory["names"][0]
        ends = [self._name_ends[first - 1] if first else 0, *self._name_ends[first:last]]
        return _cut(self._data[start + ends[0] : start + ends[-1]], ends)

    @cached_property
    def _name_ends(self) -> array[int]:
        return self._array("name_ends", "I")

    def members(self) -> tuple[array[int], array[int]]:
        """Return the rows of all folders, each folder's in the order of its files, and where those of each end."""
        return self._array("members", "I"), array("I", self._column("member_ends"))

    def counts(self) -> list[dict[Any, int]]:
        """Return what the rows come to."""
        counts: list[dict[Any, int]] = marshal.loads(self._column("counts"))
        return counts

    def newest(self) -> array[int]:
        """Return the rows by their time, the newest first; those of one second by their paths, the last first."""
        return self._array("newest", "I")

    def facts(self, row: int) -> dict[str, Any]:
        """Return what a result shows of a row."""
        block, place = divmod(row, _FACTS_PER_BLOCK)
        if block not in self._facts:
            if len(self._facts) >= _BLOCKS_KEPT:
                self._facts.clear()
            self._facts[block] = self._fact_block(block)
        return self._facts[block][place]

    def all_facts(self) -> Iterator[dict[str, Any]]:
        """Yield what a result shows of every row, and keep nothing of it."""
        for block in range(-(-self._count // _FACTS_PER_BLOCK)):
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
        """Return rows as they were put in: for moving them to another segment."""
        folders, folder_of, names = self.folders(), self.folder_of, self.names()
        columns = {name: self.numbers(name) for name in _CODES}
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


def _cut(data: bytes, ends: list[int]) -> list[str]:
    """Return the names in a part of their column. ends: of each, behind where the part begins."""
    begin = ends[0]
    return [data[one - begin : two - begin].decode("utf-8", "surrogatepass") for one, two in pairwise(ends)]


def _read_directory(data: Stored) -> dict[str, tuple[int, int, int]]:
    if len(data) < 8:
        raise DamagedError("the table of a segment is cut short")
    size, checksum = array("I", data[-8:])
    tail = data[-8 - size : -8]
    if len(tail) != size or zlib.crc32(tail) != checksum:
        raise DamagedError("the table of a segment has no readable directory")
    directory: dict[str, tuple[int, int, int]] = marshal.loads(tail)
    return directory
