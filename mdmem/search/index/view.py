"""View: one generation of the index, with common numbers for the notes of all its segments."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import cached_property, wraps
from heapq import merge
from itertools import chain, compress, groupby, islice
from operator import add

from mdmem.search.index import layout
from mdmem.search.index.dictionary import shifted, without
from mdmem.search.index.folders import MAX_FOLDERS, Few, Leaf, Members, Rows
from mdmem.vault.layout import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from mdmem.search.index.table import Table
    from mdmem.search.index.tally import NoteCounts

    _Given = ParamSpec("_Given")
    _Answer = TypeVar("_Answer")

MAX_COUNTS = 10_000
"""Maximum number of terms whose frequency is cached."""
MAX_ANSWERS = 16
"""Maximum number of answers cached with a view."""


def cached_with_view(
    function: Callable[Concatenate[View, _Given], _Answer],
) -> Callable[Concatenate[View, _Given], _Answer]:
    """Cache a function's answers for a view as long as the view exists."""

    @wraps(function)
    def cached(view: View, /, *args: _Given.args, **named: _Given.kwargs) -> _Answer:
        key = (function, args, *named.items())
        if key not in view.answers:
            if len(view.answers) >= MAX_ANSWERS:
                view.answers.clear()
            view.answers[key] = function(view, *args, **named)
        answer: _Answer = view.answers[key]
        return answer

    return cached


class View:
    """An immutable snapshot of the index; it stays readable when the index changes.

    size: number of note numbers, including deleted ones. live: number of notes that are not deleted.
    files: the files it is read from, with size, mtime and inode.
    matches: cached matches by term and weight; see `matches.known_match`.
    folders: the folders with notes, by number: relative to the vault, without a trailing slash.
    turn_kinds: cached kinds of turns, by folder and turn number; see `turn_groups.Kinds`.
    answers: cached answers by function and arguments; see `cached_with_view`.
    """

    def __init__(self, leaves: Sequence[Leaf], files: dict[str, tuple[int, int, int]]) -> None:
        self.files = files
        self.leaves = leaves
        self.size = sum(len(leaf.table) for leaf in leaves)
        self.live = self.size - sum(len(leaf.deleted) for leaf in leaves)
        self._numbered = Rows(leaves)
        self.folders = self._numbered.folders
        self._arrays: dict[str, array[int]] = {}
        self._averages: dict[str, float] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self.matches: dict[tuple[str, float], Any] = {}
        self.turn_kinds: dict[tuple[int, int], int] = {}
        self.answers: dict[tuple[Any, ...], Any] = {}
        self._sequences: dict[int, tuple[list[int], dict[int, int]]] = {}
        self._few: dict[str, Few] = {}

    # -- words

    def count(self, field: str, term: str) -> int:
        """Return the number of notes with a term; notes deleted since the last merge still count."""
        count = self._counts.get((field, term))
        if count is None:
            if len(self._counts) >= MAX_COUNTS:
                self._counts.clear()
            count = self._counts[field, term] = sum(leaf.terms.count(field, term) for leaf in self.leaves)
        return count

    def postings(self, field: str, term: str) -> list[tuple[Sequence[int], bytes | None]]:
        """Return the notes with a term and their term frequencies (None: all 1), one entry per segment that has any."""
        lists: list[tuple[Sequence[int], bytes | None]] = []
        for leaf in self.leaves:
            postings = leaf.terms.postings(field, term)
            if postings is None:
                continue
            rows, weights = without(postings, leaf.deleted) if leaf.deleted else postings
            if rows:
                lists.append((shifted(rows, leaf.start) if leaf.start else rows, weights))
        return lists

    def each(self, field: str, term: str) -> Iterator[int]:
        """Yield the notes with a term, without a set, which might hold all notes."""
        return chain.from_iterable(notes for notes, _ in self.postings(field, term))

    def notes(self, field: str, term: str) -> set[int]:
        """Return the notes with a term."""
        return set(self.each(field, term))

    def with_any(self, facets: Iterable[str]) -> set[int]:
        """Return the notes with one of these facets."""
        return set(chain.from_iterable(self.each("facet", facet) for facet in facets))

    def of_kinds(self, kinds: Iterable[str]) -> set[int]:
        """Return the notes of these kinds."""
        return self.with_any(f"kind:{kind}" for kind in kinds)

    def of_project(self, name: str) -> set[int]:
        """Return the notes of a project, by its name or a former one; "" for notes of no project."""
        return self.notes("facet", f"project:{name}".lower()) | self.notes("facet", f"{layout.FORMER}{name}".lower())

    def of_session(self, session: str) -> set[int]:
        """Return the notes of the session with this id, including its page."""
        return self.notes("facet", f"session:{session}".lower())

    @cached_property
    def internal(self) -> frozenset[int]:
        """Return the internal memories."""
        return frozenset(self.notes("facet", "is:internal"))

    def starting_with(self, field: str, prefix: str, limit: int = 1_000_000) -> dict[str, int]:
        """Return the first `limit` terms that begin with `prefix`, in order, each with its number of notes."""
        counts: dict[str, int] = {}
        for leaf in self.leaves:
            for place, (term, count) in enumerate(leaf.terms.starting_with(field, prefix)):
                if place >= limit:
                    break
                counts[term] = counts.get(term, 0) + count
        return dict(sorted(counts.items())[:limit]) if len(self.leaves) > 1 else counts

    def terms(self, field: str, prefix: str) -> Iterator[str]:
        """Yield the terms that begin with `prefix`, in order, without a list: there may be one for every note."""
        of_leaves = ((term for term, _ in leaf.terms.starting_with(field, prefix)) for leaf in self.leaves)
        return (term for term, _ in groupby(merge(*of_leaves)))

    def remaining(self, field: str, prefix: str) -> set[str]:
        """Return the terms that begin with `prefix` and occur in a note that is not deleted."""
        remaining: set[bytes] = set()
        for leaf in self.leaves:
            keys = leaf.terms.keys(field, prefix, self.size)
            lists = leaf.terms.postings_of_many(field, prefix, bool) if leaf.deleted else ()
            gone = {key for key, (rows, _) in zip(keys, lists, strict=False) if leaf.deleted.issuperset(rows)}
            remaining.update(key for key in keys if key not in gone)
        return {key[1:].decode("utf-8", "replace") for key in remaining}

    def words_of_length(self, prefix: str, lengths: range, limit: int) -> Iterator[str]:
        """Yield the words of bodies with one of these lengths among the first `limit` that begin with `prefix`."""
        known: list[bytes] = []
        for leaf in self.leaves:
            own = leaf.terms.keys("body", prefix, limit)
            known = sorted({*known, *own})[:limit] if known else own
        least = lengths.start + 1  # with the byte for the field; a letter has a byte or more
        terms = (key[1:].decode("utf-8", "replace") for key in known if len(key) >= least)
        return (term for term in terms if len(term) in lengths)

    def with_facets(self, start: str, is_wanted: Callable[[bytes], object], part: bytes = b"") -> set[int]:
        """Return the notes with a wanted facet that begins with `start`.

        is_wanted: gets the rest of a facet. part: bytes that every wanted facet contains, if known.
        """
        known = 1 + len(start.encode("utf-8", "surrogatepass"))

        def is_wanted_key(key: bytes) -> bool:
            return bool(is_wanted(key[known:]))

        notes: set[int] = set()
        for leaf in self.leaves:
            for rows, _ in leaf.terms.postings_of_many("facet", start, is_wanted_key, part):
                notes.update([leaf.start + row for row in rows] if leaf.start else rows)
        return notes - self.deleted if self.deleted else notes

    # -- notes

    @cached_property
    def deleted(self) -> frozenset[int]:
        """Return the numbers of deleted notes."""
        return frozenset(leaf.start + row for leaf in self.leaves for row in leaf.deleted)

    @cached_property
    def all(self) -> Sequence[int]:
        """Return every note."""
        is_live = bytearray(b"\1") * (self.size if self.deleted else 0)
        for note in self.deleted:
            is_live[note] = 0
        return array("I", compress(range(self.size), is_live)) if self.deleted else range(self.size)

    @property
    def folder_of(self) -> Few | array[int]:
        """Return the folder number of each note."""
        return self.numbers_of("folder_of")

    def path(self, note: int) -> str:
        """Return a note's path: relative to the vault, POSIX."""
        folder = self.folders[self.folder_of[note]]
        return f"{folder}/{self.name(note)}" if folder else self.name(note)

    def paths(self, notes: Collection[int]) -> Iterator[str]:
        """Yield the paths of notes, ordered by number; those close to each other are read at once."""
        for leaf, rows in self.in_leaves(notes):
            own = leaf.table.numbers_at("folder_of", rows)
            starts = {number: f"{folder}/" if folder else "" for number, folder in leaf.table.some_folders(set(own))}
            yield from map(add, map(starts.__getitem__, own), leaf.table.names_at(rows))

    def in_leaves(self, notes: Collection[int]) -> Iterator[tuple[Leaf, list[int]]]:
        """Return the segments of notes, each with the rows of these notes in ascending order."""
        return ((leaf, rows) for _, leaf, rows in self._numbered.in_leaves(notes))

    def some_paths(self, first: int, last: int) -> list[str]:
        """Return the paths of note numbers `first` to `last`, exclusive, including deleted ones."""
        paths: list[str] = []
        for leaf, start, end in self._rows(first, last):
            own = leaf.table.some_numbers("folder_of", start, end)
            starts = {number: f"{folder}/" if folder else "" for number, folder in leaf.table.some_folders(set(own))}
            paths += map(add, map(starts.__getitem__, own), leaf.table.some_names(start, end))
        return paths

    def _rows(self, first: int, last: int) -> Iterator[tuple[Leaf, int, int]]:
        """Yield the segments of these notes, each with its first row and the one after the last."""
        for leaf in self.leaves:
            start, end = max(first - leaf.start, 0), min(last - leaf.start, len(leaf.table))
            if start < end:
                yield leaf, start, end

    def find(self, path: str) -> int | None:
        """Return the note at a path, or None."""
        facet = layout.path_facet(path)
        for leaf in reversed(self.leaves):
            postings = leaf.terms.postings("facet", facet)
            for row in postings[0] if postings else ():
                if row not in leaf.deleted:
                    return leaf.start + row
        return None

    def name(self, note: int) -> str:
        """Return a note's file name, including the part of the session that it is in."""
        return self._numbered.name(note)

    def names(self, notes: Sequence[int]) -> list[str]:
        """Return the file names of notes; those close to each other, as in a folder, are read at once."""
        names = chain.from_iterable(leaf.table.names_at(rows) for leaf, rows in self.in_leaves(notes))
        by_note = dict(zip(sorted(notes), names, strict=True))
        return [by_note[note] for note in notes]

    def by_time(self, notes: Iterable[int]) -> list[int]:
        """Return notes in the order of their creation, and those of the same second in that of their file names."""
        created = self.numbers("created").__getitem__
        groups = (list(group) for _, group in groupby(sorted(notes, key=created), key=created))
        return [note for group in groups for note in (sorted(group, key=self.name) if len(group) > 1 else group)]

    @cached_property
    def members(self) -> Members:
        """Return the notes of each folder, by folder number."""
        return Members(self._numbered)

    @cached_property
    def is_session(self) -> bytes:
        """For each folder, by number, 1 if it is an agent's session, else 0."""
        return self.folders.is_session()

    @cached_property
    def folder_sizes(self) -> list[int]:
        """Return the number of notes of each folder, by folder number."""
        sizes = self.folders.sizes()
        for place, leaf in enumerate(self.leaves):
            own = leaf.table.numbers_at("folder_of", sorted(leaf.deleted))
            for number in self.folders.of_leaf(place, array("I", own)):
                sizes[number] -= 1
        return sizes

    def in_folders(self, notes: Sequence[int]) -> Mapping[int, int] | Iterable[int]:
        """Return the folder of each of a segment's notes (ascending), or for many notes, their number per folder."""
        return self._numbered.counts(notes) or map(self.numbers_of("folder_of", notes).__getitem__, notes)

    @cached_property
    def average_members(self) -> float:
        """Return the mean number of notes per folder, without the vault's own; 1 if there are none."""
        sizes, root = self.folder_sizes, self.root
        alone = sizes[root] if root >= 0 else 0
        having = len(sizes) - sizes.count(0) - bool(alone)
        return (sum(sizes) - alone) / having if having else 1.0

    @cached_property
    def root(self) -> int:
        """Return the number of the vault's own folder, or -1 if it has no notes."""
        number = self.folders.find("")
        return -1 if number is None else number

    def neighbors(self, note: int, reach: int) -> list[tuple[int, int]]:
        """Return up to `reach` notes before and after a note in its folder's numbered sequence, each after its offset.

        The note before has the offset -1, the next one 1.
        """
        folder = self.folder_of[note]
        if folder not in self._sequences:
            if len(self._sequences) >= MAX_FOLDERS:
                self._sequences.clear()
            flags = self.numbers("flags")
            numbered = [member for member in self.members[folder] if flags[member] & layout.FLAGS["numbered"]]
            self._sequences[folder] = (numbered, {member: place for place, member in enumerate(numbered)})
        sequence, places = self._sequences[folder]
        place = places.get(note)
        if place is None:
            return []
        first, end = max(0, place - reach), min(place + reach + 1, len(sequence))
        return [(at - place, sequence[at]) for at in range(first, end) if at != place]

    def members_of(self, folder: str) -> list[int]:
        """Return the notes directly in a folder; for a session's, including those in its parts."""
        number = self.folders.find(folder)
        return [] if number is None else self.members[number]

    def lying_in(self, folder: str) -> Iterator[int]:
        """Yield the notes directly in a folder on disk, which may be a part of a session."""
        above, name = split(f"{folder}/")
        return (note for note in self.members_of(above) if self.name(note).rpartition("/")[0] == name[:-1])

    def newest(self) -> Iterator[int]:
        """Yield every note, newest first; those of the same second by path, the last first."""

        def of_leaf(leaf: Leaf) -> Iterator[int]:
            return (leaf.start + row for row in leaf.table.newest() if row not in leaf.deleted)

        created = self.numbers("created").__getitem__
        merged = merge(*map(of_leaf, self.leaves), key=created, reverse=True)
        for _, equals in groupby(merged, key=created):
            group = list(equals)
            yield from group if len(group) == 1 else sorted(group, key=self.path, reverse=True)

    def counts(self, notes: Iterable[int] | None = None) -> NoteCounts:
        """Return the totals of these notes (None: all except internal memories)."""
        from mdmem.search.index import tally

        if notes is not None:
            of_leaf: dict[int, list[int]] = {}
            for note in notes:
                leaf = self._numbered.leaf(note)
                of_leaf.setdefault(leaf.start, []).append(note - leaf.start)
            rows = (row for leaf in self.leaves for row in leaf.table.rows(of_leaf.get(leaf.start, ())))
            return tally.total([tally.of(rows, internal=True)], tally.of([]))

        def counts_of(table: Table) -> NoteCounts:
            stored = table.counts()
            return tally.NoteCounts(*stored) if stored else tally.of(table.rows(range(len(table))))

        deleted = ((leaf.table, numbers) for leaf in self.leaves if (numbers := tally.deleted(leaf)))
        deleted_rows = (row for table, numbers in deleted for row in table.rows(numbers))
        return tally.total((counts_of(leaf.table) for leaf in self.leaves), tally.of(deleted_rows))

    def bytes(self, notes: Iterable[int] | None = None) -> int:
        """Return the total size of these notes' files (None: all)."""
        sizes = self.numbers("size")
        if notes is not None:
            return sum(map(sizes.__getitem__, notes))
        return sum(sizes) - sum(sizes[note] for note in self.deleted)

    def within(self, first: float, last: float) -> Iterator[int]:
        """Yield the notes created from `first` on and before `last`, in seconds since 1970."""
        created = self.numbers("created")
        for leaf in self.leaves:
            rows, start = leaf.table.newest(), leaf.start
            low = bisect_right(rows, -last, key=lambda row: -created[start + row])
            high = bisect_right(rows, -first, key=lambda row: -created[start + row])
            yield from (start + row for row in rows[low:high] if row not in leaf.deleted)

    def between(self, first: float, last: float) -> set[int]:
        """Return the notes of `within` as a set."""
        return set(self.within(first, last))

    def latest(self, count: int) -> set[int]:
        """Return the newest `count` notes, and all of the same second as the last of them."""
        last = next(islice(self.newest(), count - 1, None), None)
        return set(self.all) if last is None else self.between(self.number("created", last), float("inf"))

    def facts(self, note: int) -> dict[str, Any]:
        """Return a note's facts."""
        leaf = self._numbered.leaf(note)
        return leaf.table.facts(note - leaf.start)

    def sketch(self, note: int) -> tuple[int, ...]:
        """Return a note's sketch of its words."""
        leaf = self._numbered.leaf(note)
        return leaf.table.sketch(note - leaf.start)

    def number(self, name: str, note: int) -> int:
        """Return one number of a note: mtime_ns, size, inode, digest, created or flags."""
        leaf = self._numbered.leaf(note)
        return leaf.table.number(name, note - leaf.start)

    def kind(self, note: int) -> str:
        """Return a note's kind; "" for one that is not in `KINDS`."""
        return layout.KINDS[self.numbers("flags")[note] // layout.KIND_STEP]

    def stamp(self, note: int) -> tuple[int, int, int]:
        """Return the mtime, size and inode of a note's file when it was read."""
        leaf = self._numbered.leaf(note)
        row = note - leaf.start
        return leaf.table.number("mtime_ns", row), leaf.table.number("size", row), leaf.table.number("inode", row)

    def stamps(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return the stamps of notes `first` to `last`, exclusive."""
        stamps: list[tuple[int, int, int]] = []
        for leaf, start, end in self._rows(first, last):
            columns = [leaf.table.some_numbers(name, start, end) for name in ("mtime_ns", "size", "inode")]
            stamps += zip(*columns, strict=True)
        return stamps

    def numbers(self, name: str) -> array[int]:
        """Return a column for all notes: mtime_ns, size, inode, digest, created, flags, folder_of or `length_FIELD`."""
        if name not in self._arrays:
            few = self._few.pop(name, None)
            self._arrays[name] = self._numbered.numbers(name) if few is None else few.all
        return self._arrays[name]

    def numbers_of(self, name: str, *notes: Collection[int]) -> Few | array[int]:
        """Return a column for some notes, by note; others can be looked up too, but are read one by one."""
        if name in self._arrays:
            return self._arrays[name]
        if name not in self._few:
            self._few[name] = Few(self._numbered, name, self.size)
        few = self._few[name]
        return few if few.take(notes) else self.numbers(name)

    def lengths(self, field: str) -> array[int]:
        """Return the lengths of a text field, in terms, for all notes."""
        return self.numbers(f"length_{field}")

    def average_length(self, field: str) -> float:
        """Return the mean length of a text field among the notes that have it; 1 if none has."""
        if field not in self._averages:
            sums = [leaf.table.total_length(field) for leaf in self.leaves]
            self._averages[field] = sum(total for total, _ in sums) / (sum(having for _, having in sums) or 1) or 1.0
        return self._averages[field]
