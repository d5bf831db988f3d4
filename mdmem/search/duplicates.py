"""Notes that say the same: runs of one command, readings of one file, an answer given twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mdmem.search.index.layout import SKETCH_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mdmem.search.index.view import View

SHARED = SKETCH_SIZE - 1
"""How many of the hashes in their sketches notes share that say the same: nine in ten of their words, about."""
LENGTH_RATIO = 0.9


def collapse(view: View, notes: Iterable[int]) -> Iterator[tuple[int, int | None]]:
    """Yield each note, in order, with the earlier one that says the same, or None when it says something new.

    Notes say the same when they are of one kind, about as long, and share nearly all of their words; a note of
    fewer words than a sketch has hashes is compared by all of them. A pinned or edited note stands for itself.
    """
    with_hash: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    lengths, flags = view.lengths("body"), view.numbers("flags")
    for note in notes:
        hashes = [number for number in view.sketch(note) if number]
        shared = Counter(other for number in hashes for other in with_hash.get(number, ()))
        same = None
        for other, count in shared.most_common(3):
            needed = SHARED if len(hashes) == sizes[other] == SKETCH_SIZE else max(len(hashes), sizes[other])
            if count >= needed and _alike(lengths[note], lengths[other]) and flags[note] == flags[other]:
                same = other
                break
        yield note, same
        if same is None:
            sizes[note] = len(hashes)
            for number in hashes:
                with_hash.setdefault(number, []).append(note)


def _alike(a: int, b: int) -> bool:
    return min(a, b) >= LENGTH_RATIO * max(a, b)
