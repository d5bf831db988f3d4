"""Duplicates: finds notes that say the same: runs of one command, reads of one file, a repeated answer."""

from __future__ import annotations

from mdmem.search.index.layout import SKETCH_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdmem.search.index.view import View

SHARED = SKETCH_SIZE - 1
"""Number of sketch hashes that two notes must share to say the same: about nine in ten of their words."""
LENGTH_RATIO = 0.9

_LAST = 4
_MAX_COMPARED = 32
"""Maximum number of notes under one key that a further note is compared with, the first ones."""


def collapse(view: View, notes: Iterable[int]) -> Iterator[tuple[int, int | None]]:
    """Yield each note in order, with the earlier note that says the same, or None.

    Notes say the same if they are of the same kind, about as long, and share nearly all words. A note with fewer words
    than a sketch has hashes is compared by all of them. A pinned or edited note equals only notes with the same flags.
    """
    with_key: dict[int, int | list[int]] = {}
    lengths, flags = view.lengths("body"), view.numbers("flags")

    def says_the_same(other: int, note: int, hashes: Sequence[int]) -> bool:
        if flags[note] != flags[other] or not _alike(lengths[note], lengths[other]):
            return False
        others = _hashes(view, other)
        needed = SHARED if len(hashes) == len(others) == SKETCH_SIZE else max(len(hashes), len(others))
        return len(set(hashes).intersection(others)) >= needed

    for note in notes:
        hashes = _hashes(view, note)
        keys = _keys(hashes)
        known = dict.fromkeys(other for key in keys for other in _listed(with_key.get(key)))
        same = next((other for other in known if says_the_same(other, note, hashes)), None)
        yield note, same
        if same is None:
            for key in keys:
                _add(with_key, key, note)


def _hashes(view: View, note: int) -> list[int]:
    return [number for number in view.sketch(note) if number]


def _keys(hashes: Sequence[int]) -> list[int]:
    """Return keys such that notes which share enough hashes have a key in common.

    If two sketches differ in one hash, their `_LAST` greatest hashes differ in one at most.
    """
    if len(hashes) < SKETCH_SIZE:
        return [sum(hashes)] if hashes else []
    last = hashes[-_LAST:]
    return [sum(last) - number for number in last]


def _listed(notes: int | list[int] | None) -> Sequence[int]:
    return () if notes is None else (notes,) if isinstance(notes, int) else notes


def _add(with_key: dict[int, int | list[int]], key: int, note: int) -> None:
    """Add a note under a key. A list is created only for a second note, because there may be as many keys as notes."""
    notes = with_key.setdefault(key, note)
    if isinstance(notes, list):
        if len(notes) < _MAX_COMPARED:
            notes.append(note)
    elif notes != note:
        with_key[key] = [notes, note]


def _alike(a: int, b: int) -> bool:
    return min(a, b) >= LENGTH_RATIO * max(a, b)
