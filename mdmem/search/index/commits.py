"""Commits to the index (Whoosh's, not git's): add new and changed notes and remove missing ones, in many if needed."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from itertools import islice

from mdmem.errors import BusyError
from mdmem.named_tuple import NamedTuple
from mdmem.search.index import completion, contents, layout, scan_record
from mdmem.search.index.layout import NEW, DamagedError
from mdmem.search.index.store import current
from mdmem.search.index.tiers import to_join
from mdmem.vault import disk, people
from mdmem.vault.layout import day_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mdmem.config import Config
    from mdmem.privacy import Rules
    from mdmem.progress import CountCallback
    from mdmem.search.index.contents import Segment
    from mdmem.search.index.scan import Comparison, Diff
    from mdmem.search.index.view import View
    from mdmem.search.index.writer import Batch
    from mdmem.vault.disk import MetFile, WalkedFile

NOTES_PER_COMMIT, NOTES_IN_TIME = 2_500, 500
"""Maximum number of notes per commit, without and with a time limit. With one, the process serves a user and holds
other data."""
FEW_NOTES = 1_000
"""With more notes than this, segments are not merged in the same commit, because both are held in memory."""


class Changes(NamedTuple):
    """The result of an update.

    rebuilt: whether the index was rebuilt, and `reason` why. complete: nothing was left for later.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    rebuilt: bool = False
    reason: str = ""
    complete: bool = True


class UpdateLimits(NamedTuple):
    """Time limits and callbacks of an update.

    wait_seconds: how long to wait for another writer. deadline: on `time.monotonic`; no note is begun after it (None:
    no limit).
    progress: called with the number of notes done and the total. met: called for every file, if all are checked.
    unread: called with the path of each changed file that cannot be read, for the moment or for good.
    """

    wait_seconds: float
    deadline: float | None = None
    progress: CountCallback | None = None
    met: MetFile | None = None
    unread: Callable[[str], None] | None = None


def write(config: Config, diff: Diff, limits: UpdateLimits, *, is_new: bool = False) -> Changes:
    """Index new and changed files and remove missing ones, in as many commits as needed.

    is_new: there is no index yet.
    """
    from mdmem.search.index import writer  # loads Whoosh, which a read-only process does not need

    if limits.deadline is None:
        step = NOTES_PER_COMMIT
        files = sorted(diff.files, key=lambda entry: entry.path.rpartition("/"))
        # Notes without a day come before the newest ones: they are needed most.
        files.sort(key=lambda entry: day_of(entry.path) or "~", reverse=True)
    else:
        step = NOTES_IN_TIME
        files = sorted(diff.files, key=lambda entry: -entry.mtime_ns)
    tally = _Tally(len(files) + len(diff.gone), limits)
    with writer.locked(config.index_dir, limits.wait_seconds):
        for start in range(0, len(files) or 1, step):
            chunk = files[start : start + step]
            with writer.change(config.index_dir, merge=len(chunk) <= FEW_NOTES) as batch:
                _check_exists(batch, is_new=is_new and start == 0)
                if start == 0:
                    tally.forget(batch, diff.gone)
                tally.index(batch, config.vault, chunk)
            if tally.late:
                break
    reason = NEW if is_new else ""
    return Changes(tally.added, tally.changed, tally.removed, is_new, reason, complete=not tally.late)


def build(
    config: Config,
    walk: Comparison,
    differing: Iterator[tuple[WalkedFile, bool]],
    view: View | None,
    limits: UpdateLimits,
) -> Changes | None:
    """Index many files as they are found, with a second process; None if another process changed the index before."""
    from mdmem.search.index import builder, joining, writer

    changed: deque[WalkedFile] = deque()

    def new() -> Iterator[WalkedFile]:
        for entry, is_known in differing:
            if is_known:
                changed.append(entry)
            else:
                yield entry

    tally = _Tally(0, limits)
    with writer.locked(config.index_dir, limits.wait_seconds):
        if current(config) is not view:
            return None
        is_new = view is None
        with builder.SecondProcess(config, new()) as helper:
            for chunk in helper.chunks():
                tally.total = helper.total
                with builder.without_collections(), writer.change(config.index_dir, merge=False) as batch:
                    _check_exists(batch, is_new=is_new)
                    is_new = False
                    tally.take(batch, config.vault, chunk, helper.finished())
                _index_some(config, tally, changed, NOTES_PER_COMMIT)
                completion.record_progress(config)
                with suppress(OSError):  # the index is whole; the next full update joins them
                    joining.join_next(config.index_dir)
        while changed:
            _index_some(config, tally, changed, 1)
        gone = walk.gone()
        while paths := list(islice(gone, NOTES_PER_COMMIT)):
            with writer.change(config.index_dir) as batch:
                tally.forget(batch, paths)
    return Changes(tally.added, tally.changed, tally.removed, view is None, NEW if view is None else "")


def join_segments(config: Config, limits: UpdateLimits) -> None:
    """Join groups of segments one after the other, if there are too many; others may write in between."""
    while (newest := contents.load(config.index_dir)) and to_join([segment.live for segment in newest.segments]):
        from mdmem.search.index import joining, writer

        if limits.progress is not None:
            limits.progress(sum(segment.live for segment in newest.segments), 0)  # the total is unknown
        try:
            with writer.locked(config.index_dir, limits.wait_seconds):
                if not joining.join_next(config.index_dir):
                    return
        except (BusyError, OSError):
            return  # the index is whole; the next full update joins them


def _check_exists(batch: Batch, *, is_new: bool) -> None:
    """Raise DamagedError when the index was removed between checking and writing."""
    if batch.is_first and not is_new:
        raise DamagedError(NEW)


def _index_some(config: Config, tally: _Tally, waiting: deque[WalkedFile], least: int) -> None:
    """Index changed files, as many as one commit takes, if at least `least` are waiting."""
    from mdmem.search.index import writer

    if len(waiting) >= least:
        files = [waiting.popleft() for _ in range(min(len(waiting), NOTES_PER_COMMIT))]
        with writer.change(config.index_dir, merge=len(files) <= FEW_NOTES) as batch:
            tally.index(batch, config.vault, files)


class _Tally:
    """The progress of one update."""

    def __init__(self, total: int, limits: UpdateLimits) -> None:
        self.total = total
        self._limits = limits
        self._done = 0
        self.added = self.changed = self.removed = 0
        self.late = False

    def forget(self, batch: Batch, paths: list[str]) -> None:
        """Remove the notes at these paths from the index."""
        for path in paths:
            note = batch.view.find(path)
            if note is not None:
                batch.remove(note)
                self.removed += 1
            self._step()

    def take(self, batch: Batch, root: str, files: Iterable[WalkedFile], segments: list[Segment]) -> None:
        """Add files that are not in the index, and the segments that the second process has made of such files."""
        self._add(batch, root, files)
        batch.adopt(segments)
        count = sum(segment.count for segment in segments)
        self.added += count
        self._step(count)

    def _add(self, batch: Batch, root: str, entries: Iterable[WalkedFile]) -> None:
        from mdmem.search.index import builder

        for note in builder.read(root, entries):
            if note is not None:
                batch.add(note)
                self.added += 1
            self._step()

    def index(self, batch: Batch, root: str, entries: list[WalkedFile]) -> None:
        """Index these files as they are now, replacing their older entries."""
        rules = people.rules_of(root)
        for entry in entries:
            self.late = self._limits.deadline is not None and time.monotonic() >= self._limits.deadline
            if self.late:
                return
            self._index(batch, root, entry, rules)
            self._step()

    def _index(self, batch: Batch, root: str, entry: WalkedFile, rules: Rules) -> None:
        from mdmem.search.index import document  # slow to load; readers do not need it

        note = batch.view.find(entry.path)
        mtime_ns = scan_record.reliable_mtime(entry.mtime_ns)
        data = None
        try:
            data = disk.read_path(root, entry.path)
        except PermissionError:
            if self._limits.unread is not None:
                self._limits.unread(entry.path)
        if data is None:
            if note is not None:
                batch.remove(note)
                self.removed += 1
            return
        if note is None:
            self.added += 1
        elif _up_to_date(batch.view, note, entry, layout.digest(data)):
            return
        else:
            batch.remove(note)
            self.changed += 1
        batch.add(document.build(root, entry, data, mtime_ns=mtime_ns, rules=rules))

    def _step(self, notes: int = 1) -> None:
        self._done += notes
        if notes and self._limits.progress is not None:
            self._limits.progress(self._done, self.total)


def _up_to_date(view: View, note: int, entry: WalkedFile, digest: int) -> bool:
    """Whether a file with a different time, size or inode needs no indexing.

    Another process may have indexed it already. If only the inode differs, the content decides: some file systems make
    inodes up, and must not make every note new at each check.
    """
    if view.number("mtime_ns", note) != entry.mtime_ns or view.number("size", note) != entry.size:
        return False
    return view.number("inode", note) == entry.inode or view.number("digest", note) == digest
