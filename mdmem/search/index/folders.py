"""Folders: an open segment of the index, and the folders of its notes."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import chain, count
from operator import sub

from mdmem.named_tuple import NamedTuple
from mdmem.search.index import layout
from mdmem.search.index.dictionary import shifted
from mdmem.search.index.table import FEW, code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mdmem.search.index.table import Table

MANY = 4
"""With this many times more notes than folders, it is faster to search the end of each folder."""
_MANY_MORE = 4
"""Into a list with this many times more notes, the others are inserted one by one."""
MAX_FOLDERS = 2_000
"""Maximum number of folders for which something is cached."""


class Leaf(NamedTuple):
    """An open segment. start: the number of its first note."""

    start: int
    terms: layout.TermLists
    table: Table
    deleted: set[int]

    @property
    def live(self) -> int:
        """Return the number of notes that are not deleted."""
        return len(self.table) - len(self.deleted)


class _Numbering(NamedTuple):
    """The numbering of folders across segments.

    numbers: folder key -> number. For each segment: of_leaf, the numbers of its own folders, in order; new, its own
    indexes of the folders that no earlier segment has; firsts, the number of the first of these.
    """

    numbers: dict[int, int]
    of_leaf: list[Sequence[int]]
    new: list[Sequence[int]]
    firsts: list[int]


class Folders:
    """The folders of all segments with common numbers: a folder in several segments has one number.

    Equal folders are recognized by key; names are read on demand. Holds no reference to a view, so that an unused view
    is freed.
    """

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._tables = [leaf.table for leaf in leaves]
        self._own: dict[int, dict[int, int]] = {}
        self._names: dict[int, str] = {}

    @cached_property
    def _numbering(self) -> _Numbering:
        numbering = _Numbering({}, [], [], [])
        numbers = numbering.numbers
        for table in self._tables:
            keys, first = table.folder_keys(), len(numbers)
            numbering.firsts.append(first)
            if numbers.keys().isdisjoint(keys):
                numbers.update(zip(keys, range(first, first + len(keys)), strict=True))
                numbering.of_leaf.append(range(first, first + len(keys)))
                numbering.new.append(range(len(keys)))
            else:
                new = [own for own, key in enumerate(keys) if key not in numbers]
                numbers.update(zip(map(keys.__getitem__, new), count(first), strict=False))
                numbering.of_leaf.append(array("I", map(numbers.__getitem__, keys)))
                numbering.new.append(new)
        return numbering

    def __len__(self) -> int:
        return len(self._numbering.numbers)

    def __getitem__(self, number: int) -> str:
        name = self._names.get(number)
        if name is None:
            if len(self._names) >= MAX_FOLDERS:
                self._names.clear()
            _, _, new, firsts = self._numbering
            place = bisect_right(firsts, number) - 1
            own = new[place][number - firsts[place]]
            name = self._names[number] = self._tables[place].folder(own)
        return name

    def __iter__(self) -> Iterator[str]:
        for table, new in zip(self._tables, self._numbering.new, strict=True):
            names = table.folders()
            yield from names if isinstance(new, range) else map(names.__getitem__, new)

    def find(self, folder: str) -> int | None:
        """Return the number of a folder, or None if it has no notes."""
        return self._numbering.numbers.get(layout.folder_key(folder))

    def of_leaf(self, place: int, own: Iterable[int]) -> Iterable[int]:
        """Return the common numbers of folders, given a segment's own numbers."""
        numbers = self._numbering.of_leaf[place]
        if not isinstance(own, array):
            return map(numbers.__getitem__, own)
        if isinstance(numbers, range):
            return shifted(own, numbers.start) if numbers.start else own
        common = list(numbers)  # which an array would create again for each row
        return array("I", [common[number] for number in own])

    def own_numbers(self, folder: int) -> Iterator[tuple[int, int]]:
        """Yield the positions of the segments that have a folder, each with its own number for it."""
        for place, numbers in enumerate(self._numbering.of_leaf):
            if isinstance(numbers, range):
                if folder in numbers:
                    yield place, folder - numbers.start
                continue
            if place not in self._own:
                self._own[place] = dict(zip(numbers, range(len(numbers)), strict=True))
            own = self._own[place].get(folder)
            if own is not None:
                yield place, own

    def sizes(self) -> list[int]:
        """Return the number of notes of each folder, by folder number, including deleted ones."""
        sizes = [0] * len(self)
        for numbers, table in zip(self._numbering.of_leaf, self._tables, strict=True):
            if isinstance(numbers, range):
                sizes[numbers.start : numbers.stop] = map(sub, table.member_ends, chain((0,), table.member_ends))
                continue
            begin = 0
            for number, end in zip(numbers, table.member_ends, strict=True):
                sizes[number] += end - begin
                begin = end
        return sizes

    def is_session(self) -> bytes:
        """Return for each folder, by number, whether it is an agent's session: 1 or 0."""
        return b"".join(
            table.is_session if isinstance(new, range) else bytes(map(table.is_session.__getitem__, new))
            for table, new in zip(self._tables, self._numbering.new, strict=True)
        )


class Rows:
    """The rows of all segments with common note numbers, read on demand; holds no reference to a view."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = leaves
        self.folders = Folders(leaves)
        self._starts = [leaf.start for leaf in leaves]

    def leaf(self, note: int) -> Leaf:
        """Return the segment of a note."""
        return self.leaves[bisect_right(self._starts, note) - 1]

    def name(self, note: int) -> str:
        """Return a note's file name, including the part of the session that it is in."""
        leaf = self.leaf(note)
        return leaf.table.name(note - leaf.start)

    def numbers(self, name: str) -> array[int]:
        """Return a column of numbers for all notes; see `Table.numbers`."""
        joined = array(code(name))
        for place, leaf in enumerate(self.leaves):
            if place and name == "folder_of":
                joined.extend(self.folders.of_leaf(place, leaf.table.numbers(name)))
            else:
                joined.frombytes(leaf.table.packed(name))
        return joined

    def counts(self, notes: Sequence[int]) -> dict[int, int]:
        """Return how many of a segment's notes, in ascending order, each folder has; {} if that is not faster."""
        place = bisect_right(self._starts, notes[0]) - 1
        leaf = self.leaves[place]
        ends = leaf.table.member_ends
        if len(notes) < MANY * len(ends) or not leaf.table.is_by_folder:
            return {}
        counts, begin = {}, 0
        for folder, end in zip(self.folders.of_leaf(place, range(len(ends))), ends, strict=True):
            last = bisect_left(notes, leaf.start + end, begin)
            if last > begin:
                counts[folder] = last - begin
            begin = last
        return counts

    def number(self, name: str, note: int) -> int:
        """Return one note's number in a column."""
        place = bisect_right(self._starts, note) - 1
        leaf = self.leaves[place]
        value = leaf.table.number(name, note - leaf.start)
        return next(iter(self.folders.of_leaf(place, (value,)))) if name == "folder_of" else value

    def numbers_of(self, name: str, notes: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield some notes in order, each with its number in a column."""
        for place, leaf, rows in self.in_leaves(notes):
            values: Iterable[int] = leaf.table.numbers_at(name, rows)
            if name == "folder_of":
                values = self.folders.of_leaf(place, values)
            yield from zip((leaf.start + row for row in rows), values, strict=True)

    def in_leaves(self, notes: Collection[int]) -> Iterator[tuple[int, Leaf, list[int]]]:
        """Yield the segments of notes, each with its place and the rows of these notes in ascending order."""
        ordered, end = sorted(notes), 0
        for place, leaf in enumerate(self.leaves):
            begin, end = end, bisect_left(ordered, leaf.start + len(leaf.table), end)
            if begin < end:
                yield place, leaf, [note - leaf.start for note in ordered[begin:end]]


class Members:
    """The notes of each folder, in the order of its files, read on demand."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._known: dict[int, list[int]] = {}

    def __getitem__(self, folder: int) -> list[int]:
        if folder not in self._known:
            if len(self._known) >= MAX_FOLDERS:
                self._known.clear()
            self._known[folder] = self._in_order(sorted(self._in_segments(folder), key=len))
        return self._known[folder]

    def _in_order(self, parts: list[list[int]]) -> list[int]:
        """Merge the lists of a folder's notes, one per segment and sorted each; the longest one comes last."""

        def place(note: int) -> tuple[int, str]:
            return layout.place_in_sequence(self._rows.name(note))

        longest = parts.pop() if parts else []
        others = list(chain.from_iterable(parts))
        if len(others) * _MANY_MORE >= len(longest):
            return sorted([*longest, *others], key=place) if others else longest
        for note in others:  # such as a session's page: a sort would read each name
            at = place(note)
            if at >= place(longest[-1]):  # as nearly every page is: its name begins with a time
                longest.append(note)
            else:
                longest.insert(bisect_right(longest, at, key=place), note)
        return longest

    def of(self, folder: str) -> Iterator[int]:
        """Yield the notes of a folder, given its name, unordered and without caching."""
        number = self._rows.folders.find(folder)
        return chain.from_iterable(() if number is None else self._in_segments(number))

    def _in_segments(self, folder: int) -> Iterator[list[int]]:
        for place, number in self._rows.folders.own_numbers(folder):
            leaf = self._rows.leaves[place]
            rows, start = leaf.table.members_of(number), leaf.start
            if leaf.deleted:
                yield [start + row for row in rows if row not in leaf.deleted]
            else:
                yield [start + row for row in rows]


class Few(dict[int, int]):
    """A column's numbers for a few notes, read on demand; once many are needed, the whole column is read."""

    def __init__(self, rows: Rows, name: str, size: int) -> None:
        super().__init__()
        self._rows = rows
        self._name = name
        self._size = size

    @cached_property
    def all(self) -> array[int]:
        """Return the whole column."""
        return self._rows.numbers(self._name)

    def take(self, lists: Collection[Collection[int]]) -> bool:
        """Read the numbers of these notes too; return False if reading the whole column is better."""
        if not lists:
            return len(self) * FEW < self._size
        if sum(map(len, lists)) * FEW > self._size:
            return False
        others = {note for note in chain.from_iterable(lists) if note not in self}
        if (len(self) + len(others)) * FEW > self._size:
            return False
        self.update(self._rows.numbers_of(self._name, others))
        return True

    def __missing__(self, note: int) -> int:
        if len(self) * FEW >= self._size:
            return self.all[note]
        number = self[note] = self._rows.number(self._name, note)
        return number
