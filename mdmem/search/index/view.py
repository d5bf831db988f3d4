"""One generation of the index, as one: its segments' rows are numbered through, and a note is such a number."""

from __future__ import annotations

from array import array
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.hashing import sha256
from mdmem.search.index import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mdmem.search.index.dictionary import Dictionary
    from mdmem.search.index.pending import Terms


def path_facet(path: str) -> str:
    """Return the facet that finds a note by its path: 64 bits of a hash, since paths are long."""
    return f"path:{sha256(path.encode('utf-8', 'surrogatepass'))[:8].hex()}"


class Leaf(NamedTuple):
    """A segment, opened. start: the number of its first note."""

    start: int
    terms: Dictionary | Terms
    table: layout.Table
    deleted: set[int]


class View:
    """What can be found in the index at one moment; it does not change, and stays readable when the index does.

    size: how many note numbers there are, deleted ones included. live: how many are not deleted.
    files: what it is read from, with size, time and inode.
    """

    def __init__(self, leaves: Sequence[Leaf], files: dict[str, tuple[int, int, int]]) -> None:
        self.files = files
        self.leaves = leaves
        self.size = sum(len(leaf.table) for leaf in leaves)
        self.live = self.size - sum(len(leaf.deleted) for leaf in leaves)
        self._arrays: dict[str, array[int]] = {}
        self._averages: dict[str, float] = {}
        self._sequences: dict[int, tuple[list[int], dict[int, int]]] = {}

    # -- words

    def count(self, field: str, term: str) -> int:
        """Return in how many notes a term occurs; notes deleted since the last merge still count."""
        return sum(leaf.terms.count(field, term) for leaf in self.leaves)

    def postings(self, field: str, term: str) -> list[tuple[Sequence[int], bytes | None]]:
        """Return the notes in which a term occurs, with how often (None: once in each), segment by segment."""
        found: list[tuple[Sequence[int], bytes | None]] = []
        for leaf in self.leaves:
            postings = leaf.terms.postings(field, term)
            if postings is None:
                continue
            notes: Sequence[int] = postings[0]
            weights = postings[1]
            if leaf.start:
                notes = [leaf.start + row for row in notes]
            if not leaf.deleted.isdisjoint(postings[0]):
                kept = [row not in leaf.deleted for row in postings[0]]
                notes = list(compress(notes, kept))
                weights = bytes(compress(weights, kept)) if weights else None
            found.append((notes, weights))
        return found

    def notes(self, field: str, term: str) -> set[int]:
        """Return the notes in which a term occurs."""
        return {note for notes, _ in self.postings(field, term) for note in notes}

    def starting_with(self, field: str, prefix: str, limit: int = 1_000_000) -> dict[str, int]:
        """Return the terms that begin with `prefix`, at most `limit` of a segment, and how often they occur."""
        found: dict[str, int] = {}
        for leaf in self.leaves:
            for place, (term, count) in enumerate(leaf.terms.starting_with(field, prefix)):
                if place >= limit:
                    break
                found[term] = found.get(term, 0) + count
        return found

    # -- notes

    @cached_property
    def deleted(self) -> frozenset[int]:
        """Return the numbers that stand for no note any more."""
        return frozenset(leaf.start + row for leaf in self.leaves for row in leaf.deleted)

    @cached_property
    def alive(self) -> list[bool]:
        """For every number, whether it stands for a note."""
        alive = [True] * self.size
        for note in self.deleted:
            alive[note] = False
        return alive

    @cached_property
    def all(self) -> Sequence[int]:
        """Return every note."""
        return [note for note in range(self.size) if note not in self.deleted] if self.deleted else range(self.size)

    @cached_property
    def _places(self) -> tuple[list[str], list[int], list[str]]:
        numbers: dict[str, int] = {}
        folder_of: list[int] = []
        names: list[str] = []
        for leaf in self.leaves:
            folders, of_row, of_name = leaf.table.places()
            number_of = [numbers.setdefault(folder, len(numbers)) for folder in folders]
            folder_of += [number_of[folder] for folder in of_row]
            names += of_name
        return list(numbers), folder_of, names

    @property
    def folders(self) -> list[str]:
        """Return the folders that hold notes, by number: vault-relative, without a slash at the end."""
        return self._places[0]

    @property
    def folder_of(self) -> list[int]:
        """Return the number of each note's folder."""
        return self._places[1]

    def path(self, note: int) -> str:
        """Return a note's path: vault-relative, POSIX."""
        folders, folder_of, names = self._places
        folder = folders[folder_of[note]]
        return f"{folder}/{names[note]}" if folder else names[note]

    def paths(self) -> list[str]:
        """Return the path of every number, those of deleted notes included."""
        folders, folder_of, names = self._places
        starts = [f"{folder}/" if folder else "" for folder in folders]
        return [starts[folder] + name for folder, name in zip(folder_of, names, strict=True)]

    def find(self, path: str) -> int | None:
        """Find the note at a path."""
        facet = path_facet(path)
        for leaf in reversed(self.leaves):
            postings = leaf.terms.postings("facet", facet)
            for row in postings[0] if postings else ():
                if row not in leaf.deleted:
                    return leaf.start + row
        return None

    def name(self, note: int) -> str:
        """Return a note's file name."""
        return self._places[2][note]

    @cached_property
    def members(self) -> list[list[int]]:
        """Return the notes of each folder, by the folder's number."""
        members: list[list[int]] = [[] for _ in self.folders]
        for note, folder in enumerate(self.folder_of):
            members[folder].append(note)
        if self.deleted:
            members = [[note for note in notes if note not in self.deleted] for notes in members]
        return members

    @cached_property
    def is_session(self) -> list[bool]:
        """For every folder, by its number, whether it is an agent's session: `journal/<project>/<day>/<session>`."""
        return [folder.startswith("journal/") and folder.count("/") == 3 for folder in self.folders]

    @cached_property
    def folder_sizes(self) -> list[int]:
        """Return how many notes each folder has, by the folder's number."""
        return [len(notes) for notes in self.members]

    @cached_property
    def average_members(self) -> float:
        """Return the mean number of notes in a folder, the vault's own not counted; 1 when there is none."""
        inside = [len(notes) for number, notes in enumerate(self.members) if notes and number != self.root]
        return sum(inside) / len(inside) if inside else 1.0

    @cached_property
    def root(self) -> int:
        """Return the number of the vault's own folder, or -1 when no note lies in it."""
        return self._folder_numbers.get("", -1)

    def neighbours(self, note: int, reach: int) -> list[int]:
        """Return the notes up to `reach` places before and after a note, where files are numbered in their folder."""
        folder = self.folder_of[note]
        if folder not in self._sequences:
            flags = self.numbers("flags")
            numbered = [member for member in self.members[folder] if flags[member] & layout.FLAGS["numbered"]]
            numbered.sort(key=self._place_in_sequence)
            self._sequences[folder] = (numbered, {member: place for place, member in enumerate(numbered)})
        sequence, places = self._sequences[folder]
        place = places.get(note)
        if place is None:
            return []
        return sequence[max(0, place - reach) : place] + sequence[place + 1 : place + 1 + reach]

    def _place_in_sequence(self, note: int) -> tuple[int, str]:
        name = self.name(note)
        digits = len(name) - len(name.lstrip("0123456789"))
        return int(name[:digits] or 0), name

    @cached_property
    def _folder_numbers(self) -> dict[str, int]:
        return {folder: number for number, folder in enumerate(self.folders)}

    def members_of(self, folder: str) -> list[int]:
        """Return the notes that lie in a folder itself."""
        number = self._folder_numbers.get(folder)
        return [] if number is None else self.members[number]

    def _leaf(self, note: int) -> Leaf:
        return next(leaf for leaf in reversed(self.leaves) if leaf.start <= note)

    def facts(self, note: int) -> dict[str, Any]:
        """Return what a result shows of a note."""
        leaf = self._leaf(note)
        return leaf.table.facts(note - leaf.start)

    def sketch(self, note: int) -> tuple[int, ...]:
        """Return the sketch of a note's words."""
        leaf = self._leaf(note)
        return leaf.table.sketch(note - leaf.start)

    def number(self, name: str, note: int) -> int:
        """Return one number of a note: mtime_ns, size, inode, digest, created or flags."""
        leaf = self._leaf(note)
        return leaf.table.number(name, note - leaf.start)

    def stamp(self, note: int) -> tuple[int, int, int]:
        """Return the time, size and inode of a note's file when it was read."""
        leaf = self._leaf(note)
        row = note - leaf.start
        return leaf.table.number("mtime_ns", row), leaf.table.number("size", row), leaf.table.number("inode", row)

    def numbers(self, name: str) -> array[int]:
        """Return a number of all notes: mtime_ns, size, inode, digest, created or flags."""
        return self._once(name, lambda table: table.numbers(name))

    def lengths(self, field: str) -> array[int]:
        """Return the length of a text field, in terms, of all notes."""
        return self._once(f"length {field}", lambda table: table.lengths(field))

    def average_length(self, field: str) -> float:
        """Return the mean length of a text field, over the notes that have it; 1 when none has."""
        if field not in self._averages:
            lengths = self.lengths(field)
            self._averages[field] = sum(lengths) / ((len(lengths) - lengths.count(0)) or 1) or 1.0
        return self._averages[field]

    def _once(self, key: str, read: Callable[[layout.Table], array[int]]) -> array[int]:
        if key not in self._arrays:
            joined = None
            for leaf in self.leaves:
                part = read(leaf.table)
                joined = joined + part if joined is not None else part
            self._arrays[key] = joined if joined is not None else array("q")
        return self._arrays[key]
