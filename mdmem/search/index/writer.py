"""Writer: writes the index with Whoosh's segment writer, through our own storage and codec. Sole importer of whoosh.

Whoosh provides the frame: schema, documents, segments, merging, commits. Its slow parts are replaced. Its own codec
pickles and deflates a tuple for every 128 postings, and copies a whole segment at every open; ours writes arrays, which
`mdmem.search.index.store` reads without importing Whoosh, whose import costs four interpreter starts.
`Searcher.refresh()`, `reader(reuse=)` and `BufferedWriter`, which bring deleted notes back, are never used.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict, deque
from contextlib import contextmanager
from functools import cached_property
from itertools import repeat
from types import ModuleType

from mdmem import files
from mdmem.errors import BusyError
from mdmem.search.index import contents, dictionary, joining, layout, store, tally
from mdmem.search.index.contents import Contents, Segment
from mdmem.search.index.layout import FIELDS, IndexRow
from mdmem.search.index.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from mdmem.search.index.document import Document


@contextmanager
def _without_needless_imports() -> Iterator[None]:
    """Import Whoosh without two modules that it loads but does not need, which take half of its import time.

    `cached_property`, which loads asyncio, is replaced by the standard library's; from `urllib.request`, one name is
    imported and never called. Both stand-ins are removed at once, so that no other import finds them.
    """
    needed: dict[str, tuple[str, Any]] = {
        "cached_property": ("cached_property", cached_property),
        "urllib.request": ("urlretrieve", None),
    }
    replaced = [name for name in needed if name not in sys.modules]
    for name in replaced:
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], *needed[name])
    try:
        yield
    finally:
        for name in replaced:
            del sys.modules[name]


with _without_needless_imports():
    from whoosh import fields
    from whoosh.codec import base
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC, FileIndex
    from whoosh.writing import SegmentWriter


# -- the interface to Whoosh ------------------------------------------------------------------------------


SCHEMA = fields.Schema(row=fields.STORED())
"""Whoosh has only one field: a note's terms come counted, and go into our own posting lists."""


class Storage(FileStorage):
    """The folder of an index, without temporary files: segments are written there as a whole."""

    def temp_storage(self, name: str | None = None) -> Storage:
        """Return this storage: nothing uses temporary files."""
        return self

    def destroy(self) -> None:
        """Do nothing: there are no temporary files."""


class Index(FileIndex):
    """An index with our own table of contents: Whoosh's is a pickle."""

    def __init__(self, folder: str, newest: Contents) -> None:
        self.storage = Storage(folder)
        self.indexname = "notes"
        self.contents = newest

    def _read_toc(self) -> TOC:
        return TOC(SCHEMA, list(self.contents.segments), self.contents.generation)


class Codec(base.Codec):
    """Two files per segment: `.terms` with the terms and posting lists, `.rows` with the rows of notes."""

    length_stats = False

    def per_document_writer(self, storage: Storage, segment: Segment) -> RowWriter:
        """Return the collector of rows."""
        return RowWriter(storage, segment)

    def field_writer(self, storage: Storage, segment: Segment) -> TermWriter:
        """Return the writer of posting lists."""
        return TermWriter(storage, segment)

    def new_segment(self, storage: Storage, indexname: str) -> Segment:
        """Return a new segment."""
        return Segment()


class Pool:
    """The postings of a segment being written, grouped by field and term on arrival; Whoosh's own pool sorts tuples.

    Most terms occur once in a note, so only other frequencies are kept, by row.
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, list[int]]] = {field: defaultdict(list) for field in FIELDS}
        self._times: dict[str, dict[str, dict[int, int]]] = {field: defaultdict(dict) for field in FIELDS}

    def take(self, field: str, row: int, words: Mapping[str, int]) -> None:
        """Add a note's terms with their frequencies; rows come in ascending order."""
        by_term, times_of = self._rows[field], self._times[field]
        deque(map(list.append, map(by_term.__getitem__, words), repeat(row)), maxlen=0)  # half the time of a loop
        for term, times in [item for item in words.items() if item[1] != 1]:
            times_of[term][row] = times

    def iter_postings(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every encoded posting list in the order of keys, freeing each."""
        for field, begin in sorted(FIELDS.items(), key=lambda item: item[1]):
            by_term, times_of = self._rows.pop(field), self._times.pop(field)
            for term in [term for term in by_term if not term.isascii()]:
                written = term.encode("utf-8", "replace").decode("utf-8")
                if written != term:  # has a lone surrogate
                    self._join(by_term, times_of, term, written)
            for term in sorted(by_term):  # code points sort like their UTF-8
                rows = by_term.pop(term)
                times = times_of.get(term)
                weights = list(map(times.get, rows, repeat(1))) if times else None
                yield begin + term.encode("utf-8"), layout.encode_postings(rows, weights)

    @staticmethod
    def _join(by_term: dict[str, list[int]], times_of: dict[str, dict[int, int]], term: str, into: str) -> None:
        rows, times = by_term.pop(term), times_of.pop(term, {})
        times_of_into = times_of.get(into, {})
        for row in by_term.get(into, ()):
            times[row] = times.get(row, 0 if row not in rows else 1) + times_of_into.get(row, 1)
        by_term[into] = sorted({*rows, *by_term.get(into, ())})
        times_of[into] = times

    def cleanup(self) -> None:
        """Do nothing: nothing is on disk."""


class RowWriter(base.PerDocumentWriter):
    """Collects the rows of a segment and writes them when it is closed."""

    def __init__(self, storage: Storage, segment: Segment) -> None:
        self._storage = storage
        self._segment = segment
        self.rows: list[IndexRow] = []
        self.is_closed = False

    def close(self) -> None:
        """Write the rows, if there are any."""
        if self.rows:
            rows = [layout.encode_table(self.rows, tally.of(self.rows))]
            contents.write(self._storage.folder, self._segment, ".rows", rows)
        self.is_closed = True


class TermWriter(base.FieldWriter):
    """Writes the dictionary of a segment."""

    def __init__(self, storage: Storage, segment: Segment) -> None:
        self._storage = storage
        self._segment = segment
        self.is_closed = False

    def add_postings(self, schema: Any, lengths: None, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Write all posting lists."""
        contents.write(self._storage.folder, self._segment, ".terms", dictionary.pack(items))

    def close(self) -> None:
        """Do nothing: everything is written already."""
        self.is_closed = True


class Writer(SegmentWriter):
    """Whoosh's writer with our pool of postings and our table of contents."""

    def __init__(self, index: Index, merged: View | None = None) -> None:
        """Start writing. merged: the previous index, whose small segments are merged (None: merge none)."""
        super().__init__(index, codec=Codec(), compound=False, _lk=False)
        self.pool = Pool()
        self._merged = merged

    def put(self, document: Document) -> None:
        """Add a note."""
        self.perdocwriter.rows.append(document.row)
        for field, words in document.words.items():
            self.pool.take(field, self.docnum, words)
        self.pool.take("facet", self.docnum, document.facets)
        self.docnum += 1
        self._added = True

    def segment(self) -> Segment:
        """Write the added notes as a segment that belongs to no index yet."""
        if not self._added:
            return Segment("none")
        segment: Segment = self._finalize_segment()
        return segment

    def _commit_toc(self, segments: list[Segment]) -> None:
        if self._merged is not None:
            segments = joining.with_merged(self.storage.folder, self._merged, segments)
        contents.publish(self.storage.folder, Contents(self.generation, segments))


# -- changing an index -------------------------------------------------------------------------------


class Batch:
    """A set of changes in progress.

    view: the index before them, with its note numbers. is_first: there was no index. is_empty: nothing has changed.
    """

    def __init__(self, writer: Writer, view: View, *, is_first: bool) -> None:
        self._writer = writer
        self.view = view
        self.is_first = is_first
        self.is_empty = not is_first

    def add(self, document: Document) -> None:
        """Add a note; an older version of it is not removed."""
        self.is_empty = False
        self._writer.put(document)

    def adopt(self, segments: list[Segment]) -> None:
        """Add segments that another process has made from notes not in the index."""
        self.is_empty &= not segments
        self._writer.segments.extend(segments)

    def remove(self, note: int) -> None:
        """Remove a note."""
        self.is_empty = False
        self._writer.delete_document(note)


@contextmanager
def change(folder: str, *, merge: bool = True) -> Iterator[Batch]:
    """Change an index that the caller has locked with `alone`; the changes become visible after the block, atomically.

    merge: merge small segments.

    Raises DamagedError when the index cannot be read.
    """
    view, before = store.newest(folder), contents.load(folder)
    is_first = before is None or view is None
    if before is None or view is None:
        before, view = Contents(0, []), View([], {})
        contents.remove_unused(folder, before)
        files.remove(os.path.join(folder, contents.FOLDERS))  # it belongs to an earlier index
    writer = Writer(Index(folder, before), view if merge else None)
    batch = Batch(writer, view, is_first=is_first)
    try:
        yield batch
    except BaseException:
        writer.cancel()
        raise
    if batch.is_empty:
        writer.cancel()  # a new table of contents would make all readers open the index again
    else:
        writer.commit(merge=False)


def discard(folder: str, *, wait_seconds: float) -> None:
    """Delete an index; the next writer finds none.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        ConfigError: when the folder is not the user's own.
    """
    with locked(folder, wait_seconds):
        _remove_all(folder)


def _remove_all(folder: str) -> None:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            import shutil

            shutil.rmtree(path)
        elif name != contents.LOCK:
            os.unlink(path)


def remove_damaged(folder: str, *, wait_seconds: float, is_suspect: bool) -> bool:
    """Remove the damaged segments of an index; return whether something was wrong with it.

    All of it is removed if the damaged segments cannot be determined or, with `is_suspect`, if reading failed although
    every segment is undamaged. Nothing is removed if another process has done so already.

    Raises:
        BusyError, ConfigError: as in `discard`.
        OSError, MemoryError: as in `store.is_whole`.
    """
    with locked(folder, wait_seconds):
        was_open = store.is_open(folder)
        try:
            before = contents.load(folder)
        except Exception as error:  # a damaged file may raise anything
            if store.is_lacking(error) or isinstance(error, layout.OtherVersionError):
                raise
            before = None
        whole = [segment for segment in before.segments if store.is_whole(folder, segment)] if before else []
        if before is None or (is_suspect and was_open and len(whole) == len(before.segments)):
            _remove_all(folder)
        elif len(whole) < len(before.segments):
            files.remove(os.path.join(folder, contents.FOLDERS))  # every file is checked again
            contents.publish(folder, Contents(before.generation + 1, whole))
        else:
            return is_suspect  # another process has repaired it
        return True


@contextmanager
def locked(folder: str, wait_seconds: float) -> Iterator[None]:
    """Lock the index in a folder for the `with` block, so that no other process writes it.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        ConfigError: when the folder is not the user's own.
    """
    store.own_folder(folder)
    lock = files.open_lock(os.path.join(folder, contents.LOCK))
    try:
        if not files.lock(lock, wait_seconds, f"Waiting for another process that writes the index in {folder}"):
            raise BusyError(
                f"Another process is writing the index in {folder}: a watcher (`mdmem watch --status`), a search or"
                " `mdmem index`. Try again in a moment."
            )
        yield
    finally:
        os.close(lock)
