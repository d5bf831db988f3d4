"""A segment of an index that is open, and the folders in which its notes lie."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from mdmem.search.index import layout
from mdmem.vault.layout import is_session

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence

MAX_FOLDERS = 2_000
"""Number of folders of which something is cached."""


class Leaf(NamedTuple):
    """A segment, opened. start: the number of its first note."""

    start: int
    terms: layout.TermLists
    table: layout.Table
    deleted: set[int]

    @property
    def live(self) -> int:
        """Return how many of its notes are not deleted."""
        return len(self.table) - len(self.deleted)


class Folders(NamedTuple):
    """The folders of all segments, numbered through. It knows no view, which is gone as soon as nobody has it.

    numbers: by name. of_leaf: for each segment the numbers of its own folders; None where they are the same.
    """

    leaves: Sequence[Leaf]
    starts: Sequence[int]
    numbers: dict[str, int]
    of_leaf: list[list[int] | None]

    @classmethod
    def of(cls, leaves: Sequence[Leaf], starts: Sequence[int]) -> Folders:
        """Number the folders of segments. starts: the first note of each."""
        numbers: dict[str, int] = {}
        of_leaf: list[list[int] | None] = []
        for leaf in leaves:
            found = leaf.table.folders()
            of_leaf.append([numbers.setdefault(folder, len(numbers)) for folder in found] if numbers else None)
            numbers = numbers or {folder: number for number, folder in enumerate(found)}
        return cls(leaves, starts, numbers, of_leaf)

    def place(self, note: int) -> int:
        """Return the place of the segment in which a note lies."""
        return bisect_right(self.starts, note) - 1

    def name(self, note: int) -> str:
        """Return a note's file name; of one in a part of a session with the part before it."""
        leaf = self.leaves[self.place(note)]
        return leaf.table.name(note - leaf.start)


class Members:
    """The notes of each folder, in the order of its files, looked up when they are asked for."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._known: dict[int, list[int]] = {}

    @cached_property
    def _parts(self) -> list[tuple[Leaf, array[int], array[int]]]:
        return [(leaf, *leaf.table.members()) for leaf in self._folders.leaves]

    def __getitem__(self, folder: int) -> list[int]:
        if folder not in self._known:
            if len(self._known) >= MAX_FOLDERS:
                self._known.clear()
            parts = list(self._in_segments(folder))
            found = list(chain.from_iterable(parts))
            if len(parts) > 1:  # within a segment they are in order
                found.sort(key=lambda note: layout.place_in_sequence(self._folders.name(note)))
            self._known[folder] = found
        return self._known[folder]

    def of(self, folder: str) -> Iterator[int]:
        """Yield the notes of a folder by its name, in no order, and keep nothing of them."""
        number = self._folders.numbers.get(folder)
        return chain.from_iterable(() if number is None else self._in_segments(number))

    @cached_property
    def _own_numbers(self) -> list[dict[int, int] | range]:
        """For each segment, the number that it gives to a folder, by the folder's number in the view."""
        of_leaf = zip(self._parts, self._folders.of_leaf, strict=True)
        return [
            range(len(ends)) if numbers is None else dict(zip(numbers, range(len(ends)), strict=True))
            for (_, _, ends), numbers in of_leaf
        ]

    def _in_segments(self, folder: int) -> Iterator[list[int]]:
        for (leaf, rows, ends), numbers in zip(self._parts, self._own_numbers, strict=True):
            if folder in numbers:
                number = numbers[folder]
                own = rows[ends[number - 1] if number else 0 : ends[number]]
                yield [leaf.start + row for row in own if row not in leaf.deleted]


class Sessions(dict[int, bool]):
    """Whether each folder is an agent's session, by its number, found out when it is asked for."""

    def __init__(self, folders: list[str]) -> None:
        super().__init__()
        self._folders = folders

    def __missing__(self, folder: int) -> bool:
        found = self[folder] = is_session(self._folders[folder])
        return found

    def count(self) -> int:
        """Return how many folders are sessions."""
        return sum(self[folder] for folder in range(len(self._folders)))


class FolderOf(dict[int, int]):
    """The number of the folder of each of a few notes, looked up when it is asked for."""

    def __init__(self, folders: Folders) -> None:
        super().__init__()
        self._folders = folders

    def __missing__(self, note: int) -> int:
        place = self._folders.place(note)
        leaf, number_of = self._folders.leaves[place], self._folders.of_leaf[place]
        own = leaf.table.folder_of[note - leaf.start]
        found = self[note] = own if number_of is None else number_of[own]
        return found
