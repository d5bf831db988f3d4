"""How a segment of the index lies on disk: posting lists, and a table with a row for each note.

Numbers are arrays in the machine's own order, so that they are read and written at the speed of a copy;
the index is a cache of this machine, and its stamp holds the order. Nothing here knows the engine.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from itertools import accumulate, chain, islice
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mdmem.hashing import sha256
from mdmem.vault.layout import is_session, split

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

        def postings_of_many(
            self, field: str, prefix: str, is_wanted: Callable[[bytes], bool], part: bytes = b""
        ) -> Iterator[Postings]:
            """Yield the lists of the terms that begin with `prefix` and whose keys are wanted and have `part`."""
            ...


VERSION = 12
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

CODES: dict[str, Literal["q", "Q", "B"]] = {"mtime_ns": "q", "size": "q", "inode": "Q", "digest": "Q",
                                            "created": "q", "flags": "B"}  # fmt: skip
FACTS_PER_BLOCK = 32

NEW = "there was none"
"""Why an index is made for the first time."""


class DamagedError(Exception):
    """A file of the index is not what was written; the index must be rebuilt."""


def folder_key(folder: str) -> int:
    """Return by what a folder is told from others without its name: 56 bits of a hash, which are a small number."""
    return int.from_bytes(sha256(folder.encode("utf-8", "surrogatepass"))[:7], "little")


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
    """Unpack what `encode_postings` packed. Raises DamagedError when it was not packed so."""
    count = count_postings(data[0], len(data))
    wide, weighted = data[0] & _WIDE, data[0] & _WEIGHTED
    end = 1 + count * (4 if wide else 2)
    return array("I" if wide else "H", data[1:end]), (data[end:] if weighted else None)


def count_postings(head: int, size: int) -> int:
    """Return how many rows a packed list of `size` bytes has, from its first byte alone.

    Raises DamagedError when no list has this length.
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

    folders, folder_of: as a table returns them. names: of the files. numbers, lengths: return a column by its name.
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
        numbers=lambda name: array(CODES[name], [getattr(row, name) for row in rows]),
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
    paths = [folder.encode("utf-8", "surrogatepass") for folder in folders]
    yield "folders", b"".join(paths)
    yield "folder_ends", array("I", accumulate(map(len, paths))).tobytes()
    yield "folder_keys", array("Q", map(folder_key, folders)).tobytes()
    yield "is_session", bytes(map(is_session, folders))
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
    for name in CODES:
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
    while some := list(islice(rest, FACTS_PER_BLOCK)):
        blocks.append(zlib.compress(marshal.dumps(some), 1))
    return b"".join(blocks), array("I", accumulate(map(len, blocks))).tobytes()
