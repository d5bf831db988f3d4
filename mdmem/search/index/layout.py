"""Layout: the file format of an index segment: posting lists, and a table with one row per note.

Numbers are arrays in native byte order, read and written as fast as a copy; the index is a cache of this machine, and
its stamp includes the byte order. This module does not know the search engine.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from itertools import accumulate, chain, islice
from struct import Struct

from mdmem.errors import MdmemError
from mdmem.hashing import sha256
from mdmem.named_tuple import NamedTuple
from mdmem.vault.layout import is_session, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal, Protocol

    class SliceReader(Protocol):
        """The bytes of a file or of memory, read in slices without a step."""

        def __len__(self) -> int: ...

        def __getitem__(self, part: slice[Any, Any, Any], /) -> bytes: ...

    class TermLists(Protocol):
        """The posting lists of some notes, by field and term."""

        def count(self, field: str, term: str) -> int:
            """Return the number of rows with a term."""
            ...

        def postings(self, field: str, term: str) -> Postings | None:
            """Return a term's posting list, or None."""
            ...

        def starting_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
            """Yield the terms that begin with `prefix`, in order, each with its number of rows."""
            ...

        def keys(self, field: str, prefix: str, limit: int) -> list[bytes]:
            """Return the first `limit` keys of terms that begin with `prefix`, in order."""
            ...

        def postings_of_many(
            self, field: str, prefix: str, is_wanted: Callable[[bytes], bool], part: bytes = b""
        ) -> Iterator[Postings]:
            """Yield the posting lists of terms that begin with `prefix`, with wanted keys that contain `part`."""
            ...


VERSION = 26
"""Increased whenever the format changes, or what is read from a note: an index of another version is rebuilt."""

LEFT = "has:left"
"""The facet of answers that may end with what is left to do: `Open: …`, `Next steps`, `… is not tested yet`."""
BOXES = "has:boxes"
"""The facet of answers with a list of boxes, ticked or not."""

REPLACED = "replaced:"
"""Begins the facet of a prompt or answer for a term of what it says is replaced."""

MARKS = "has:marks"
"""The facet of notes with one of `note.MARKS` in their front matter."""

FORMER = "former-project:"
"""Begins the facet for the project that a note in the journal was stored with, if its folder was renamed since."""

Postings = tuple["array[int]", bytes | None]
"""The rows with a term, ascending, and its frequency in each (None: always 1)."""


class IndexRow(NamedTuple):
    """What the index stores of one note, apart from its words.

    path: relative to the vault, POSIX. mtime_ns, size, inode: the file's when it was read; mtime_ns is -1 if the file
    was so fresh that a change within the same clock tick could be missed.
    digest: the first 8 bytes of its SHA-256. created: seconds since 1970, from the note or its file.
    flags: a sum of FLAGS, plus KIND_STEP times the index of its kind in KINDS.
    sketch: the smallest hashes of its words, similar for similar texts.
    lengths: the number of terms of each text field, in the order of TEXT_FIELDS.
    facts: what a result shows (id, kind, title, ...), so that no file must be read for it.
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
"""Prefixes of the keys of each field's terms, which also define their order."""
FLAGS = {"pinned": 1, "edited": 2, "numbered": 4}
KIND_STEP = 8
KINDS = (
    "", "prompt", "response", "observation", "summary", "note", "session", "project", "ghost", "agent",
    "decision", "lesson", "preference", "task", "day", "plan",
)  # fmt: skip
"""Kinds that can be told apart without reading facts; the first stands for all others."""
SKETCH_SIZE = 8

CODES: dict[str, Literal["q", "Q", "B"]] = {"mtime_ns": "q", "size": "q", "inode": "Q", "digest": "Q",
                                            "created": "q", "flags": "B"}  # fmt: skip
MAX_NS = (1 << 63) - 1
"""Maximum time from 1970 to that of a file, in ns: from 1677 to 2262."""
FACTS_PER_BLOCK = 32

NEW = "there was none"
"""The reason for building an index for the first time."""

OTHER_VERSION = "it was made by another version of mdmem"
"""The reason for rebuilding an index that cannot be read because its layout may be another."""


class OtherVersionError(MdmemError):
    """Another version of mdmem has replaced the index that this process uses."""

    def __init__(self) -> None:
        super().__init__(
            "Another version of mdmem has rebuilt the index since this program was started. Restart the program;"
            " an agent restarts its MCP server with the next session."
        )


class DamagedError(Exception):
    """A file of the index is damaged; the index must be rebuilt."""


def folder_key(folder: str) -> int:
    """Return a key that identifies a folder without its name: 56 bits of a hash, which stay a small integer."""
    return int.from_bytes(sha256(folder.encode("utf-8", "surrogatepass"))[:7], "little")


def path_facet(path: str) -> str:
    """Return the facet for a note's path: 64 bits of a hash, since paths are long."""
    return f"path:{sha256(path.encode('utf-8', 'surrogatepass'))[:8].hex()}"


def digest(data: bytes) -> int:
    """Return the first 8 bytes of the SHA-256 of a file's content, as an integer."""
    return int.from_bytes(sha256(data)[:8], "little")


def key(field: str, term: str) -> bytes:
    """Return the key of a term: the byte for its field, and the term."""
    return FIELDS[field] + term.encode("utf-8", "replace")


# -- posting lists -----------------------------------------------------------------------------------

_WIDE, _WEIGHTED = 1, 2
ONE_ROW = Struct("=BH")
"""A posting list of one row without a weight; no other list has its size."""


def encode_postings(rows: Sequence[int], weights: Sequence[int] | None) -> bytes:
    """Encode a posting list: a byte for the format, rows of 2 or 4 bytes, weights of 1 byte (at most 255).

    weights: None if all are 1.
    """
    if len(rows) == 1 and not weights and rows[0] <= 0xFFFF:
        return ONE_ROW.pack(0, rows[0])  # most lists have one row
    wide = rows[-1] > 0xFFFF
    most = max(weights) if weights else 1
    head = bytes((wide * _WIDE | (most > 1) * _WEIGHTED,))
    packed = head + array("I" if wide else "H", rows).tobytes()
    if most == 1 or not weights:
        return packed
    return packed + bytes(weights if most <= 255 else [min(weight, 255) for weight in weights])


def decode_postings(data: bytes) -> Postings:
    """Decode what `encode_postings` returned. Raises DamagedError when the data is invalid."""
    count = count_postings(data[0], len(data))
    wide, weighted = data[0] & _WIDE, data[0] & _WEIGHTED
    end = 1 + count * (4 if wide else 2)
    return array("I" if wide else "H", data[1:end]), (data[end:] if weighted else None)


def count_postings(head: int, size: int) -> int:
    """Return the number of rows in an encoded list of `size` bytes, from its first byte.

    Raises DamagedError when no list can have this size.
    """
    count, surplus = divmod(size - 1, (4 if head & _WIDE else 2) + (1 if head & _WEIGHTED else 0))
    if surplus or head > (_WIDE | _WEIGHTED):
        raise DamagedError("a posting list has an impossible length")
    return count


# -- the table of notes ------------------------------------------------------------------------------


def place_in_sequence(name: str) -> tuple[int, str]:
    """Return a sort key for the files of a folder: the number at the start of the name, then the name."""
    name = name[name.rfind("/") + 1 :]
    digits = len(name) - len(name.lstrip("0123456789"))
    return int(name[:digits] or 0), name


class TableContent(NamedTuple):
    """The content of a table, note by note.

    folders, folder_of: as in a table. names: of the files. numbers, lengths: functions that return a column.
    counts: the totals of the notes; see `tally`.
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
    """Encode rows column by column. counts: their totals; see `tally`."""
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
    """Yield a table column by column, followed by a directory with each column's position and checksum."""
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
    for rows in members:
        rows.sort(key=lambda place: place_in_sequence(names[place]))
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
    """Return the facts encoded in compressed blocks of several rows, and the ends of the blocks."""
    remaining = iter(facts)
    blocks = []
    while in_block := list(islice(remaining, FACTS_PER_BLOCK)):
        blocks.append(zlib.compress(marshal.dumps(in_block), 1))
    return b"".join(blocks), array("I", accumulate(map(len, blocks))).tobytes()
