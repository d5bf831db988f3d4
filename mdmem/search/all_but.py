"""Collections of notes: all but some, and notes without scores, with no entry for each; and what sets share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.search.index.view import View


class AllBut(Set[int]):
    """The notes of a view except some; `&`, `|` and `-` return plain sets."""

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


class Unranked(Mapping[int, float]):
    """Notes with a score of 0 each, in any collection."""

    def __init__(self, notes: Collection[int]) -> None:
        self._notes = notes

    def __getitem__(self, note: int) -> float:
        return 0.0

    def __iter__(self) -> Iterator[int]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)


def in_all(sets: Iterable[set[int]]) -> set[int]:
    """Return the notes that each of some sets has; none if there are no sets. Stops once no note is left."""
    notes: set[int] | None = None
    for having in sets:
        notes = having if notes is None else notes & having
        if not notes:
            break
    return notes or set()
