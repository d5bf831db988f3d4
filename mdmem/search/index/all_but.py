"""All notes without some, as a set that holds only those it is without: there may be a million others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdmem.search.index.view import View


class AllBut(Set[int]):
    """The notes of a view without some; what is made of it with `&`, `|` or `-` is a set."""

    def __init__(self, view: View, without: Set[int]) -> None:
        self._size = view.size
        self._without = without | view.deleted if view.deleted else without

    @classmethod
    def _from_iterable(cls, notes: Iterable[int]) -> Set[int]:  # type: ignore[override]
        return set(notes)

    def __contains__(self, note: object) -> bool:
        return note not in self._without

    def __iter__(self) -> Iterator[int]:
        return (note for note in range(self._size) if note not in self._without)

    def __len__(self) -> int:
        return self._size - len(self._without)
