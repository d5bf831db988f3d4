"""The index written: by Whoosh's segment writer, through a storage and a codec of our own. Sole importer of whoosh.

Whoosh gives the frame: schema, documents, segments, merging, commits. What it does slowly is replaced. Its own
codec pickles and deflates a tuple for every 128 postings, and copies a whole segment at every open; ours writes
arrays, and `mdmem.search.index.store` reads them without importing Whoosh, which costs four interpreter starts.
`Searcher.refresh()`, `reader(reuse=)` and `BufferedWriter`, which bring deleted notes back, are never used.
"""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import contextmanager
from functools import cached_property
from itertools import repeat
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mdmem import system
from mdmem.errors import BusyError
from mdmem.search.index import contents, dictionary, layout, store, tally
from mdmem.search.index.contents import Contents, Segment
from mdmem.search.index.layout import FIELDS, NEW, TEXT_FIELDS, DamagedError, IndexRow
from mdmem.search.index.tiers import to_merge
from mdmem.search.index.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mdmem.search.index.document import Document
    from mdmem.search.index.view import Leaf


@contextmanager
def _without_needless_imports() -> Iterator[None]:
    """Let Whoosh be imported without two modules that it loads and does not need, half of its import time.

    `cached_property`, which brings asyncio, is the standard library's here; of `urllib.request` one name is
    imported and never called. Both names are given back at once, so that nobody else meets a stand-in.
    """
    needed: dict[str, tuple[str, Any]] = {
        "cached_property": ("cached_property", cached_property),
        "urllib.request": ("urlretrieve", None),
    }
    placed = [name for name in needed if name not in sys.modules]
    for name in placed:
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], *needed[name])
    try:
        yield
    finally:
        for name in placed:
            del sys.modules[name]


with _without_needless_imports():
    from whoosh import fields, formats
    from whoosh.codec import base
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC, FileIndex
    from whoosh.writing import SegmentWriter


# -- what Whoosh is given ----------------------------------------------------------------------------


class Words(fields.FieldType):
    """A field that is given its terms counted: the analysis is not Whoosh's."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), analyzer=None, scorable=True)

    def index(self, value: Mapping[str, int], **_: Any) -> Iterator[tuple[bytes, int, int, bytes]]:
        """Return each term as Whoosh wants it: bytes, frequency, weight, nothing else."""
        return ((term.encode("utf-8", "replace"), times, times, b"") for term, times in value.items())


SCHEMA = fields.Schema(row=fields.STORED(), facet=Words(), **{field: Words() for field in TEXT_FIELDS})


class Storage(FileStorage):
    """The folder of an index; segments go there whole, and nothing temporary does."""

    def temp_storage(self, name: str | None = None) -> Storage:
        """Return what is taken for a place for temporary files, of which ours have none."""
        return self

    def destroy(self) -> None:
        """Of a place for temporary files: there is nothing to remove."""

    def write(self, segment: Segment, extension: str, data: bytes) -> None:
        """Write a file of a segment, and let the segment remember what it should be."""
        path = os.path.join(self.folder, segment.name + extension)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        segment.files[extension] = (len(data), zlib.crc32(data), os.stat(path).st_mtime_ns)


class Index(FileIndex):
    """An index whose table of contents is ours: Whoosh's own is a pickle."""

    def __init__(self, folder: str, found: Contents) -> None:
        self.storage = Storage(folder)
        self.indexname = "notes"
        self.contents = found

    def _read_toc(self) -> TOC:
        return TOC(SCHEMA, list(self.contents.segments), self.contents.generation)


class Codec(base.Codec):
    """Two files a segment: `.terms` with every posting list beside its term, `.rows` with what is kept of a note."""

    length_stats = False

    def per_document_writer(self, storage: Storage, segment: Segment) -> RowWriter:
        """Return what collects rows."""
        return RowWriter(storage, segment)

    def field_writer(self, storage: Storage, segment: Segment) -> TermWriter:
        """Return what writes posting lists."""
        return TermWriter(storage, segment)

    def new_segment(self, storage: Storage, indexname: str) -> Segment:
        """Begin a segment."""
        return Segment()


class Pool:
    """Postings of a segment that is being written, grouped by term as they come. Whoosh's own sorts tuples."""

    def __init__(self) -> None:
        self._lists: dict[bytes, tuple[list[int], list[float]]] = {}

    def add(self, item: tuple[str, bytes, int, float, bytes]) -> None:
        """Take one posting: field, term, row, weight."""
        field, term, row, weight, _ = item
        rows, weights = self._lists.setdefault(FIELDS[field] + term, ([], []))
        rows.append(row)
        weights.append(weight)

    def extend(self, key: bytes, rows: Iterable[int], weights: Iterable[float]) -> None:
        """Take a whole list, by field and term in one; its rows come after those that are here."""
        all_rows, all_weights = self._lists.setdefault(key, ([], []))
        all_rows.extend(rows)
        all_weights.extend(weights)

    def iter_postings(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every list, packed, in the order of keys."""
        for key in sorted(self._lists):
            yield key, layout.encode_postings(*self._lists[key])

    def cleanup(self) -> None:
        """There is nothing on disk to remove."""


class RowWriter(base.PerDocumentWriter):
    """Collects the rows of a segment and writes them when it is closed."""

    def __init__(self, storage: Storage, segment: Segment) -> None:
        self._storage = storage
        self._segment = segment
        self.rows: list[IndexRow] = []
        self.is_closed = False

    def start_doc(self, docnum: int) -> None:
        """Nothing is written before the end."""

    def add_field(self, fieldname: str, fieldobj: Any, value: IndexRow | None, length: int) -> None:
        """Take the one stored field; lengths are in it already."""
        if value is not None:
            self.rows.append(value)

    def cancel_doc(self) -> None:
        """A note is taken whole or not at all."""

    def close(self) -> None:
        """Write the rows, if there are any."""
        if self.rows:
            self._storage.write(self._segment, ".rows", layout.encode_table(self.rows, tally.of(self.rows)))
        self.is_closed = True


class TermWriter(base.FieldWriter):
    """Writes the dictionary of a segment."""

    def __init__(self, storage: Storage, segment: Segment) -> None:
        self._storage = storage
        self._segment = segment
        self.is_closed = False

    def add_postings(self, schema: Any, lengths: None, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Write all posting lists."""
        self._storage.write(self._segment, ".terms", dictionary.encode(items))

    def close(self) -> None:
        """All is written already."""
        self.is_closed = True


class Writer(SegmentWriter):
    """Whoosh's writer, with postings grouped from the start, and committing to our table of contents."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, codec=Codec(), compound=False, _lk=False)
        self.pool = Pool()

    def move(self, leaf: Leaf) -> None:
        """Write a segment's notes again, into the one that is being made."""
        assert isinstance(leaf.terms, dictionary.Dictionary)
        kept = [row for row in range(len(leaf.table)) if row not in leaf.deleted]
        new_row = {row: self.docnum + place for place, row in enumerate(kept)}
        for key, (rows, weights) in leaf.terms.everything():
            pairs = [(new_row[row], n) for row, n in zip(rows, weights or repeat(1), strict=False) if row in new_row]
            if pairs:
                self.pool.extend(key, *zip(*pairs, strict=True))
        self.perdocwriter.rows += leaf.table.rows(kept)
        self.docnum += len(kept)
        self._added = True

    def _commit_toc(self, segments: list[Segment]) -> None:
        contents.publish(self.storage.folder, Contents(self.generation, segments))


# -- changing an index -------------------------------------------------------------------------------


class Batch:
    """Changes that are being made.

    view: the index before them; the numbers of notes are its. damage: why the index had to be begun anew, or "".
    """

    def __init__(self, writer: Writer, view: View, damage: str) -> None:
        self._writer = writer
        self.view = view
        self.damage = damage

    def add(self, document: Document) -> None:
        """Put a note in; an older version of it is not removed."""
        self._writer.add_document(row=document.row, facet=document.facets, **document.words)

    def remove(self, note: int) -> None:
        """Take a note out."""
        self._writer.delete_document(note)


@contextmanager
def changing(folder: str, *, wait_seconds: float) -> Iterator[Batch]:
    """Change the index in a folder: what is done in the `with` block becomes visible at its end, together, or never.

    Raises:
        BusyError: when another process is writing and does not end within `wait_seconds`.
        ConfigError: when the folder is not the user's own.
    """
    with _locked(folder, wait_seconds):
        found, view, damage = _open_or_begin(folder)
        writer = Writer(Index(folder, found))
        try:
            yield Batch(writer, view, damage)
        except BaseException:
            writer.cancel()
            raise
        writer.commit(mergetype=_merge_with(view))


def discard(folder: str, *, wait_seconds: float) -> None:
    """Throw an index away; the next writer finds none.

    Raises:
        BusyError: when another process is writing and does not end within `wait_seconds`.
        ConfigError: when the folder is not the user's own.
    """
    with _locked(folder, wait_seconds):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                import shutil

                shutil.rmtree(path)
            elif name != contents.LOCK:
                os.unlink(path)


@contextmanager
def _locked(folder: str, wait_seconds: float) -> Iterator[None]:
    store.own_folder(folder)
    lock = os.open(os.path.join(folder, contents.LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not system.lock(lock, wait_seconds):
            raise BusyError(f"Another process is writing the index in {folder}. Try again in a moment.")
        yield
    finally:
        os.close(lock)


def _open_or_begin(folder: str) -> tuple[Contents, View, str]:
    """Open the index, or begin an empty one where none can be opened, and return why."""
    try:
        view = store.open_view(folder)
        found = contents.load(folder)
        if view is not None and found is not None:
            return found, view, ""
        damage = NEW
    except DamagedError as error:
        damage = str(error)
    empty = Contents(0, [])
    contents.remove_unused(folder, empty)
    return empty, View([], {}), damage


def _merge_with(view: View) -> Any:
    """Make Whoosh's merge policy: it says which segments stay, and moves the notes of the others."""

    def merge(writer: Writer, segments: list[Segment]) -> list[Segment]:
        chosen = to_merge([segment.live for segment in segments], [len(segment.deleted) for segment in segments])
        for number in chosen:
            leaf = view.leaves[number]
            if segments[number].live:
                writer.move(leaf._replace(deleted=segments[number].deleted))
        return [segment for number, segment in enumerate(segments) if number not in chosen]

    return merge
