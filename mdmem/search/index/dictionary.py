"""Dictionary: all terms of a segment, sorted, with their posting lists.

Keys (a byte for the field, then the term) are in blocks of 64, so that a look-up reads two small pieces of the file
and never all of it. Posting lists follow one another. Nothing is read before it is needed.
"""

from __future__ import annotations

import marshal
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, compress, islice, pairwise

from mdmem.named_tuple import NamedTuple
from mdmem.search.index.layout import DamagedError, Postings, count_postings, decode_postings
from mdmem.search.index.layout import key as key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Set
    from typing import Literal

    from mdmem.search.index.layout import SliceReader

KEYS_PER_BLOCK = 64
BLOCKS_KEPT = 128
"""Number of decoded blocks kept per segment: some 600 kB, however large the segment is."""


_MANY_LOOK_UPS = 200
"""From this many look-ups on, the first keys of a segment's blocks are unpacked, which makes each look-up faster."""


def pack(items: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield the packed form of keys and values, piece by piece; keys must be in ascending order."""
    blocks: list[bytes] = []
    firsts: list[bytes] = []
    sums = array("I")
    ends = array("Q", [0])
    items = iter(items)
    while block_items := list(islice(items, KEYS_PER_BLOCK)):
        keys = [key for key, _ in block_items]
        values = [value for _, value in block_items]
        yield b"".join(values)
        ends = array("Q", accumulate(map(len, values), initial=ends[-1]))
        block = marshal.dumps((keys, ends.tobytes()))
        blocks.append(block)
        firsts.append(keys[0])
        sums.append(zlib.crc32(block))
    yield from blocks
    starts = array("Q", accumulate(map(len, blocks), initial=ends[-1]))
    first_ends = array("I", accumulate(map(len, firsts), initial=0))
    guide = b"".join([starts.tobytes(), first_ends.tobytes(), sums.tobytes(), *firsts])
    yield guide
    yield array("Q", [len(blocks), len(guide), zlib.crc32(guide)]).tobytes()


class _Guide:
    """For all blocks, in order: the first key, the start, the checksum; and the end of the last block.

    Packed, it takes a quarter of the memory of objects; most of its keys are never looked at.
    """

    def __init__(self, packed: bytes, count: int) -> None:
        starts, first_ends, sums = 8 * (count + 1), 4 * (count + 1), 4 * count
        self.count = count
        numbers = memoryview(packed)  # avoids copies, which would cost a large segment as much as reading it
        self.starts = numbers[:starts].cast("Q")
        self._ends = numbers[starts : starts + first_ends].cast("I")
        self.sums = numbers[starts + first_ends : starts + first_ends + sums].cast("I")
        self._packed, self._keys_at = packed, starts + first_ends + sums
        self._look_ups = 0
        if self._ends[-1] != len(packed) - self._keys_at:
            raise DamagedError("a dictionary of terms has a guide of the wrong length")

    def first(self, number: int) -> bytes:
        """Return the first key of a block."""
        at = self._keys_at
        return self._packed[at + self._ends[number] : at + self._ends[number + 1]]

    def block(self, key: bytes) -> int:
        """Return the number of the last block whose first key is not after `key`, or -1."""
        self._look_ups += 1
        if self._look_ups < _MANY_LOOK_UPS:
            return bisect_right(range(self.count), key, key=self.first) - 1
        return bisect_right(self._firsts, key) - 1

    @cached_property
    def _firsts(self) -> list[bytes]:
        return list(map(self.first, range(self.count)))


class _Block(NamedTuple):
    """Sorted keys, and the ends of their posting lists, after the start of the first."""

    keys: list[bytes]
    ends: array[int]


class Dictionary:
    """A segment's posting lists, by field and term."""

    def __init__(self, data: SliceReader) -> None:
        self._data = data
        self._blocks: dict[int, _Block] = {}

    @cached_property
    def _guide(self) -> _Guide:
        if len(self._data) < 24:
            raise DamagedError("a dictionary of terms is cut short")
        count, size, checksum = array("Q", self._data[-24:])
        guide = self._data[-24 - size : -24]
        if len(guide) != size or zlib.crc32(guide) != checksum:
            raise DamagedError("a dictionary of terms has no readable guide")
        return _Guide(guide, count)

    def _block(self, number: int) -> _Block:
        """Return a block, kept decoded."""
        if number not in self._blocks:
            if len(self._blocks) >= BLOCKS_KEPT:
                self._blocks.clear()
            self._blocks[number] = self._read(number)
        return self._blocks[number]

    def _blocks_from(self, start: bytes) -> Iterator[_Block]:
        """Yield the blocks from the one that may have `start` on, without keeping them: there may be many."""
        for number in range(max(0, self._guide.block(start)), self._guide.count):
            yield self._blocks.get(number) or self._read(number)

    def _read(self, number: int) -> _Block:
        guide = self._guide
        data = self._data[guide.starts[number] : guide.starts[number + 1]]
        if zlib.crc32(data) != guide.sums[number]:
            raise DamagedError("a block of a dictionary has a wrong checksum")
        keys, ends = marshal.loads(data)
        return _Block(keys, array("Q", ends))

    def _find(self, field: str, term: str) -> tuple[int, int] | None:
        """Return the start and end of a term's posting list, or None."""
        key = key_of(field, term)
        number = self._guide.block(key)
        if number < 0:
            return None
        keys, ends = self._block(number)
        place = bisect_left(keys, key)
        if place == len(keys) or keys[place] != key:
            return None
        return ends[place], ends[place + 1]

    def count(self, field: str, term: str) -> int:
        """Return the number of rows with a term, including deleted ones."""
        position = self._find(field, term)
        if position is None:
            return 0
        start, end = position
        return count_postings(self._data[start : start + 1][0], end - start)

    def postings(self, field: str, term: str) -> Postings | None:
        """Return a term's posting list, or None."""
        position = self._find(field, term)
        return decode_postings(self._data[position[0] : position[1]]) if position else None

    def starting_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms that begin with `prefix`, in order, each with its number of rows."""
        start = key_of(field, prefix)
        for key, value in self._from(start):
            if not key.startswith(start):
                return
            yield key[1:].decode("utf-8", "replace"), count_postings(value[0], len(value))

    def packed(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every key with its packed posting list, in the order of keys."""
        return self._from(b"")

    def keys(self, field: str, prefix: str, limit: int) -> list[bytes]:
        """Return the first `limit` keys of terms that begin with `prefix`, in order."""
        found_keys: list[bytes] = []
        for keys, _ in self._beginning(field, prefix):
            found_keys += keys[: limit - len(found_keys)]
            if len(found_keys) >= limit:
                break
        return found_keys

    def postings_of_many(
        self, field: str, prefix: str, is_wanted: Callable[[bytes], bool], part: bytes = b""
    ) -> Iterator[Postings]:
        """Yield the posting lists of the terms that begin with `prefix` and whose keys are wanted.

        part: bytes that all wanted keys contain, if known; blocks without it are skipped.
        """
        for keys, ends in self._beginning(field, prefix):
            if part and part not in b"\0".join(keys):
                continue
            wanted = [place for place, key in enumerate(keys) if is_wanted(key)]
            start, end = (ends[wanted[0]], ends[wanted[-1] + 1]) if wanted else (0, 0)
            lists = self._data[start:end]  # one read for all of a block
            for place in wanted:
                yield decode_postings(lists[ends[place] - start : ends[place + 1] - start])

    def _beginning(self, field: str, prefix: str) -> Iterator[tuple[list[bytes], array[int]]]:
        """Yield the keys that begin with `prefix`, block by block, with the ends of their posting lists."""
        start = key_of(field, prefix)
        end = start + b"\xff"  # a byte that no UTF-8 text has
        for keys, ends in self._blocks_from(start):
            first, last = bisect_left(keys, start), bisect_left(keys, end)
            yield keys[first:last], ends[first : last + 1]
            if last < len(keys):
                return

    def some_keys(self) -> Iterator[bytes]:
        """Yield a sample of the keys, in order: the first of each block."""
        return map(self._guide.first, range(self._guide.count))

    def _from(self, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        for keys, ends in self._blocks_from(start):
            begin = bisect_left(keys, start)
            values = self._data[ends[begin] : ends[-1]]
            for place in range(begin, len(keys)):
                yield keys[place], values[ends[place] - ends[begin] : ends[place + 1] - ends[begin]]


_MANY_ROWS, _ROWS_AT_ONCE = 64, 8_192


def shifted(rows: array[int], by: int, code: Literal["H", "I"] = "I") -> array[int]:
    """Return rows with `by` added to each.

    For many rows, all are added to at once as one large integer, ten times as fast as a loop.

    code: the array's type code, which must be wide enough for each result.
    """
    if len(rows) < _MANY_ROWS:
        return array(code, [by + row for row in rows])
    if len(rows) > _ROWS_AT_ONCE:  # a longer number would not fit into the processor's cache
        result = array(code)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            result += shifted(rows[start : start + _ROWS_AT_ONCE], by, code)
        return result
    data: bytes | bytearray = rows.tobytes()
    order = sys.byteorder
    if rows.typecode != code:  # from two bytes per row to four
        narrow, data, low = data, bytearray(2 * len(data)), 0 if order == "little" else 2
        data[low::4], data[low + 1 :: 4] = narrow[::2], narrow[1::2]
    addend = int.from_bytes(by.to_bytes(len(data) // len(rows), order) * len(rows), order)
    return array(code, (int.from_bytes(data, order) + addend).to_bytes(len(data), order))


_MANY_MORE = 8
"""In a list with this many times more rows, deleted rows are found by bisection."""


def without(postings: Postings, deleted: Set[int]) -> Postings:
    """Return a posting list without the deleted rows; a few are found by bisection instead of checking every row."""
    rows, weights = postings
    if len(deleted) * _MANY_MORE > len(rows):
        kept = [row not in deleted for row in rows]
        return array(rows.typecode, compress(rows, kept)), bytes(compress(weights, kept)) if weights else None
    places = sorted(place for row in deleted if rows[place := bisect_left(rows, row, hi=len(rows) - 1)] == row)
    if not places:
        return postings
    between = [slice(first + 1, last) for first, last in pairwise([-1, *places, len(rows)])]
    remaining = array(rows.typecode, b"".join([rows[part].tobytes() for part in between]))
    return remaining, b"".join([weights[part] for part in between]) if weights else None
