"""Joining: joins segments into fewer, larger ones, because every open and search reads each of them.

A build makes a segment of every few thousand notes, so that it needs little memory and can be interrupted. Afterwards
adjacent segments are joined, piece by piece from file to file. An interrupted join changes nothing: the next generation
removes what it wrote.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import accumulate, chain, compress, count

from mdmem.search.index import contents, dictionary, layout, store
from mdmem.search.index.contents import Contents, Segment
from mdmem.search.index.dictionary import Dictionary
from mdmem.search.index.tiers import to_join, to_merge
from mdmem.search.index.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mdmem.search.index.folders import Leaf
    from mdmem.search.index.table import Table

    Renumber = Sequence[int]
    """For each row of a segment its new row; -1 for a deleted one."""


def join_next(folder: str) -> bool:
    """Join the next segments that should be one; return False if there are none. The caller must hold the index's lock.

    Raises DamagedError when a segment is damaged.
    """
    before = contents.load(folder)
    chosen = before and to_join([segment.live for segment in before.segments])
    if before is None or not chosen:
        return False
    view = store.newest(folder)
    if view is None or len(view.leaves) != len(before.segments):
        return False
    first, last = chosen
    try:
        joined = _join(folder, view.leaves[first:last])
    except BaseException:
        contents.remove_unused(folder, before)
        raise
    segments = [*before.segments[:first], joined, *before.segments[last:]]
    contents.publish(folder, Contents(before.generation + 1, segments))
    return True


def with_merged(folder: str, view: View, segments: list[Segment]) -> list[Segment]:
    """Return the segments of a new generation, with small ones merged into the new segment.

    view: the previous generation, whose segments come first; the others are new.

    Raises DamagedError when a segment is damaged.
    """
    known, new = segments[: len(view.leaves)], segments[len(view.leaves) :]
    chosen = to_merge([segment.live for segment in known], [len(segment.deleted) for segment in known])
    if not chosen:
        return segments
    leaves = [view.leaves[place]._replace(deleted=known[place].deleted) for place in chosen if known[place].live]
    leaves += (store.leaf(folder, segment) for segment in new)
    kept = [segment for place, segment in enumerate(known) if place not in chosen]
    return [*kept, _join(folder, leaves)] if leaves else kept


def _join(folder: str, leaves: Sequence[Leaf]) -> Segment:
    """Write a segment with the notes of others, in the same order."""
    starts = accumulate((len(leaf.table) for leaf in leaves), initial=0)
    view = View([leaf._replace(start=start) for start, leaf in zip(starts, leaves, strict=False)], {})
    segment = Segment("", view.live)
    contents.write(folder, segment, ".terms", dictionary.pack(_terms(view.leaves)))
    contents.write(folder, segment, ".rows", layout.pack_table(_table(view)))
    return segment


def _terms(leaves: Sequence[Leaf]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the posting lists of all segments, with the notes' new rows."""
    new = _new_rows(leaves)
    starts = [numbers.start if isinstance(numbers, range) else None for numbers in new]
    unpack, pack, size = layout.ONE_ROW.unpack, layout.ONE_ROW.pack, layout.ONE_ROW.size
    for key, lists in _by_key(leaves):
        place, data = lists[0]
        start = starts[place]
        if len(lists) == 1 and len(data) == size and start is not None:  # most terms occur in one note
            yield key, pack(0, start + unpack(data)[1])
            continue
        rows = array("H")
        weights: bytearray | None = None
        for place, data in lists:
            start, times = starts[place], None
            if start is not None and len(data) == size:
                rows.append(start + unpack(data)[1])
            else:
                own, times = _renumbered(new[place], *layout.decode_postings(data))
                if times and weights is None:
                    weights = bytearray(b"\1" * len(rows))
                rows += own
            if weights is not None:
                weights += times or b"\1" * (len(rows) - len(weights))
        if rows:
            yield key, layout.encode_postings(rows, bytes(weights) if weights else None)


def _renumbered(new: Renumber, rows: array[int], times: bytes | None) -> tuple[array[int], bytes | None]:
    """Return a posting list with the notes' new rows."""
    if not isinstance(new, range):
        kept = [new[row] >= 0 for row in rows]
        rows = array("I", compress(rows, kept))
        times = bytes(compress(times, kept)) if times else None
    elif rows.typecode == "H":
        return (dictionary.shifted(rows, new.start, "H") if new.start else rows), times
    return array("H", map(new.__getitem__, rows)), times


def _by_key(leaves: Sequence[Leaf]) -> Iterator[tuple[bytes, list[tuple[int, bytes]]]]:
    """Yield every key of the segments, in order, with its lists and the positions of their segments.

    Sorts some thousand keys at a time, in a third of the time of a merge.
    """
    dictionaries = [leaf.terms for leaf in leaves if isinstance(leaf.terms, Dictionary)]
    streams = [terms.packed() for terms in dictionaries]
    ahead = [next(stream, None) for stream in streams]
    steps = sorted(key for terms in dictionaries for key in terms.some_keys())[:: len(dictionaries)]
    for step in (*steps, b"\xff"):  # greater than every key
        lists: defaultdict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
        for place, stream in enumerate(streams):
            item = ahead[place]
            while item is not None and item[0] < step:
                lists[item[0]].append((place, item[1]))
                item = next(stream, None)
            ahead[place] = item
        yield from sorted(lists.items())


def _new_rows(leaves: Iterable[Leaf]) -> list[Renumber]:
    """Return for each segment the new row of each of its rows."""
    new_rows: list[Renumber] = []
    start = 0
    for leaf in leaves:
        if leaf.deleted:
            following = count(start)
            new_rows.append([-1 if row in leaf.deleted else next(following) for row in range(len(leaf.table))])
        else:
            new_rows.append(range(start, start + len(leaf.table)))
        start += leaf.live
    return new_rows


def _table(view: View) -> layout.TableContent:
    """Return the notes of a view as the content of one table."""
    alive = [True] * view.size
    for note in view.deleted:
        alive[note] = False
    numbers: dict[int, int] = {}
    folders = compress(view.numbers("folder_of"), alive)
    folder_of = array("I", (numbers.setdefault(folder, len(numbers)) for folder in folders))
    tables = [leaf.table for leaf in view.leaves]

    def column(read: Callable[[Table], array[int]]) -> array[int]:
        first, *others = map(read, tables)
        for other in others:
            first.extend(other)
        return array(first.typecode, compress(first, alive)) if view.deleted else first

    return layout.TableContent(
        folders=list(map(list(view.folders).__getitem__, numbers)),
        folder_of=folder_of,
        names=list(compress(chain.from_iterable(table.names() for table in tables), alive)),
        numbers=lambda name: column(lambda table: table.numbers(name)),
        lengths=lambda field: column(lambda table: table.numbers(f"length_{field}")),
        sketches=compress(chain.from_iterable(table.sketches() for table in tables), alive),
        facts=compress(chain.from_iterable(table.all_facts() for table in tables), alive),
        counts=view.counts(),
    )
