"""Pending: adds notes that are not indexed yet to a view in memory, for one search.

A prompt comes when the previous turn's notes are a second old. Indexing them would mean loading Whoosh, waiting for a
lock and writing; rereading a few of them at every prompt costs a tenth of that. The next search with more time indexes
them, or the next prompt that finds too many of them.
"""

from __future__ import annotations

import time
from itertools import islice

from mdmem.search.index import catchup, layout, scan, scan_record
from mdmem.search.index.folders import Leaf
from mdmem.search.index.scan import Diff
from mdmem.search.index.store import opened
from mdmem.search.index.table import Table
from mdmem.search.index.view import View
from mdmem.vault import disk, journal, people
from mdmem.vault.layout import folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdmem.config import Config
    from mdmem.search.index.document import Document

MAX_NOTES = 16
"""With more notes than this, indexing pays."""
MAX_READ = 1_000
"""Maximum number of files with other inodes whose content is compared: a prompt is waiting."""


def glance(config: Config, without_session: str = "", share: int = 0) -> View | None:
    """Return a view of the vault after a quick scan, without writing: notes not in the index yet are held in memory.

    without_session: ignore new notes of this session, which need not be read; the current prompt is among them. share:
    number of notes checked besides those that changed last.
    None: there is no usable index, or too much is new; the caller should call `update`.

    Raises VaultError when there is no vault.
    """
    catchup.check_vault(config)
    started_ns = time.time_ns()
    view = opened(config)
    before = scan_record.load(config.index_dir)
    if view is None or before is None:
        return None
    folders = before.times.changed(config.vault)
    if catchup.is_most(view, folders):
        return None
    seen = scan.in_changed_folders(config.vault, before.times, folders)
    in_place, changed = catchup.in_place(config, view, before, share, MAX_READ)
    diff = scan.differences(view, seen).with_more(in_place)
    wanted = _without(diff, without_session) if without_session else diff
    if wanted:
        return overlay(view, config.vault, wanted)
    if not diff:
        scan_record.remember(config, before, changed, seen, diff, started_ns)
    return view


def _without(diff: Diff, session: str) -> Diff:
    """Return a diff without the notes in a session's folder."""
    tails = tuple(f"-{tag}" for tag in journal.session_tags(session))
    return Diff(
        [entry for entry in diff.files if not folder_of(entry.path).endswith(tails)],
        [path for path in diff.gone if not folder_of(path).endswith(tails)],
    )


class Terms:
    """The posting lists of a few documents, with the interface of a segment's dictionary."""

    def __init__(self, documents: list[Document]) -> None:
        self._lists: dict[str, dict[str, tuple[list[int], list[int]]]] = {field: {} for field in layout.FIELDS}
        for row, document in enumerate(documents):
            for field, words in {**document.words, "facet": document.facets}.items():
                for term, times in words.items():
                    rows, weights = self._lists[field].setdefault(term, ([], []))
                    rows.append(row)
                    weights.append(times)

    def count(self, field: str, term: str) -> int:
        """Return the number of rows with a term."""
        return len(self._lists[field].get(term, ((), ()))[0])

    def postings(self, field: str, term: str) -> layout.Postings | None:
        """Return a term's posting list, or None."""
        lists = self._lists[field].get(term)
        return layout.decode_postings(layout.encode_postings(*lists)) if lists else None

    def starting_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms that begin with `prefix`, in order, each with its number of rows."""
        for term in sorted(self._lists[field]):
            if term.startswith(prefix):
                yield term, self.count(field, term)

    def keys(self, field: str, prefix: str, limit: int) -> list[bytes]:
        """Return the first `limit` keys of terms that begin with `prefix`, in order."""
        return [layout.key(field, term) for term, _ in islice(self.starting_with(field, prefix), limit)]

    def postings_of_many(
        self,
        field: str,
        prefix: str,
        is_wanted: Callable[[bytes], bool],
        part: bytes = b"",  # noqa: ARG002 - there are few
    ) -> Iterator[layout.Postings]:
        """Yield the posting lists of the terms that begin with `prefix` and whose keys are wanted."""
        for term, _ in self.starting_with(field, prefix):
            if is_wanted(layout.key(field, term)) and (postings := self.postings(field, term)):
                yield postings


def overlay(view: View, root: str, diff: Diff) -> View | None:
    """Return a view of the present vault: the index, with changed notes replaced by their present content.

    None: so much changed that the index should be updated.
    """
    if len(diff.files) > MAX_NOTES:
        return None
    from mdmem.search.index import document

    rules = people.rules_of(root)
    contents = [(entry, disk.readable(root, entry.path)) for entry in diff.files]
    documents = [
        document.build(root, entry, data, mtime_ns=-1, is_kept=False, rules=rules)
        for entry, data in contents
        if data is not None
    ]
    replaced = [view.find(path) for path in (*diff.gone, *(entry.path for entry in diff.files))]
    outdated = {note for note in replaced if note is not None}
    leaves = [_without_notes(leaf, outdated) for leaf in view.leaves]
    table = Table(layout.encode_table([document.row for document in documents]), len(documents))
    return View([*leaves, Leaf(view.size, Terms(documents), table, set())], {})


def _without_notes(leaf: Leaf, notes: set[int]) -> Leaf:
    rows = {note - leaf.start for note in notes if leaf.start <= note < leaf.start + len(leaf.table)}
    return leaf._replace(deleted=leaf.deleted | rows)
