"""Tiers: chooses which segments to merge, so that there are always few.

Every segment costs each search and open a little; merging costs rewriting. With these numbers, a note is written nine
times in a vault's life, one commit in twenty rewrites more than 20 notes, and there are at most eight segments besides
those too large to be merged in a commit.
"""

from __future__ import annotations

from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SEGMENTS = 8
RATIO = 2
SMALL_NOTES = 4096
"""Maximum number of notes that a commit rewrites; they are held in memory."""
MAX_DELETED = 0.3


def to_merge(live: Sequence[int], deleted: Sequence[int]) -> list[int]:
    """Return the segments that one segment should replace; together they have at most `SMALL_NOTES` notes.

    live, deleted: number of live and deleted notes of each segment, in the same order.
    """
    small = sorted((i for i, count in enumerate(live) if count <= SMALL_NOTES), key=lambda i: live[i])
    shrunk = [i for i in small if deleted[i] and deleted[i] >= MAX_DELETED * (live[i] + deleted[i])]
    rest = [i for i in small if i not in shrunk]
    shrunk = [i for i, total in zip(shrunk, accumulate(live[i] for i in shrunk), strict=True) if total <= SMALL_NOTES]
    if len(rest) < MAX_SEGMENTS:
        return shrunk
    group = rest[:2]
    total = sum(live[i] for i in [*shrunk, *group])
    for i in rest[2:]:
        if live[i] > RATIO * total or total + live[i] > SMALL_NOTES:
            break
        group.append(i)
        total += live[i]
    return shrunk + (group if total <= SMALL_NOTES else [])


MAX_JOINED = 32_768
"""Maximum number of notes in a joined segment: a build that joins at its end then stays below 120 MB."""
LEAST_JOINED, FEW_SEGMENTS = 10_000, 4
"""Joining fewer notes or segments has no noticeable benefit."""


def to_join(live: Sequence[int]) -> tuple[int, int] | None:
    """Return the range of adjacent segments that should become one segment (start, end), or None.

    live: the segments' numbers of live notes. None of those in the range has more than half of its notes, so that a
    note is rewritten only as often as the vault doubles.
    """
    for first in range(len(live) if len(live) > MAX_SEGMENTS else 0):
        total, largest = 0, 0
        last = first
        while last < len(live) and total + live[last] <= MAX_JOINED:
            total += live[last]
            largest = max(largest, live[last])
            last += 1
        if last - first >= FEW_SEGMENTS and total >= LEAST_JOINED and 2 * largest <= total:
            return first, last
    return None
