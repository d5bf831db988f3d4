"""Catch-up: updates the index from the vault, in the same way for a watcher, a search and `mdmem index`."""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from heapq import nlargest
from itertools import chain, islice

from mdmem.errors import BusyError, MdmemError, no_vault
from mdmem.named_tuple import NamedTuple
from mdmem.search.index import completion, contents, layout, scan, scan_record
from mdmem.search.index.folder_times import FolderTimes
from mdmem.search.index.layout import NEW, DamagedError
from mdmem.search.index.scan import Diff
from mdmem.search.index.store import current
from mdmem.search.index.tiers import to_join
from mdmem.vault import disk
from mdmem.vault.layout import day_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sized

    from mdmem.config import Config
    from mdmem.search.index.contents import Segment
    from mdmem.search.index.scan import Stamped
    from mdmem.search.index.scan_record import ScanRecord
    from mdmem.search.index.view import View
    from mdmem.search.index.writer import Batch
    from mdmem.vault.disk import MetFile, WalkedFile

    Progress = Callable[[int, int], None]

NOTES_PER_COMMIT, NOTES_IN_TIME = 2_500, 500
"""Maximum number of notes per commit, without and with a time limit. With one, the process serves a user and holds
other data."""
FEW_NOTES = 1_000
"""With more notes than this, segments are not merged in the same commit, because both are held in memory."""
MANY_NOTES = 4_000
"""Minimum number of new notes for which a second process pays."""
MAX_IN_TIME = 20_000
"""Maximum number of files indexed under a time limit, the newest."""
MOST_AT_ONCE = 10_000
"""A larger vault is not indexed completely while somebody waits: it would take minutes."""
FIRST_NOTES = 1_000
"""Number of notes, the newest, indexed at once in a vault that is too large to be indexed while somebody waits."""
MANY_FOLDERS = 1_000
"""If more folders have changed, every file is checked, which needs no list in memory."""
WAIT_SECONDS = 30.0
"""Default time to wait for another writer."""


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
    """

    wait_seconds: float
    deadline: float | None = None
    progress: Progress | None = None
    met: MetFile | None = None


def update(
    config: Config,
    *,
    paths: Iterable[str] | None = None,
    quick: bool = False,
    progress: Progress | None = None,
    budget_seconds: float | None = None,
    wait_seconds: float = WAIT_SECONDS,
    share: int = scan_record.SHARE,
    most: int | None = None,
) -> Changes:
    """Update the index from the vault.

    paths: check only these files and folders (vault-relative or absolute; they may be gone).
    quick: check only folders whose mtime changed, the notes that changed last, and a share of the others: one stat per
    folder instead of per file. This misses an old note edited in place until its share comes or every file is checked.
    share: number of those others; 0 for callers that check every file from time to time; `scan_record.EVERY` for all
    or, in a large vault, for the likeliest ones.
    progress: called with the number of notes done and the total, 0 while unknown.
    budget_seconds: no note is begun after this time; the newest come first.
    most: if a vault with more notes than this has no complete index, index only the newest.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        VaultError: when there is no vault; the index is then unchanged.
    """
    deadline = None if budget_seconds is None else time.monotonic() + budget_seconds
    limits = UpdateLimits(wait_seconds, deadline, progress)
    return update_within(config, limits, paths, share=share if quick else None, most=most)


def update_within(
    config: Config, limits: UpdateLimits, paths: Iterable[str] | None, share: int | None = None, most: int | None = None
) -> Changes:
    """Update the index as `update` does. share: None to check every file."""
    check_vault(config)
    try:
        if most is not None and (begun := begin(config, most, limits.wait_seconds)):
            return begun
        changes = _update(config, paths, limits, share=share)
        if paths is None and share is None and limits.deadline is None:
            _join_segments(config, limits)
        return changes
    except (MdmemError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - a damaged index raises anything; retried once
        reason = repair(config, error, limits.wait_seconds)
        begun = begin(config, most, limits.wait_seconds) if most is not None else None
        changes = begun or _update(config, None, limits)
        if begun is None and limits.deadline is None:
            _join_segments(config, limits)
        return changes._replace(rebuilt=True, reason=reason) if reason else changes


def repair(config: Config, error: Exception, wait_seconds: float = WAIT_SECONDS) -> str:
    """Remove the damaged parts of an index whose reading raised `error`; return what was wrong, or "".

    The other notes can still be found; the removed ones count as new when every file is checked next. If the index is
    whole, nothing is removed for an error of the system, such as a full disk while a page is written, or lack of
    memory.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        OSError, MemoryError: when the system lacks the resources to check.
    """
    from mdmem.search.index import writer

    is_suspect = not isinstance(error, OSError | MemoryError | RecursionError)
    if not writer.remove_damaged(config.index_dir, wait_seconds=wait_seconds, is_suspect=is_suspect):
        return ""
    return str(error) if isinstance(error, DamagedError) else f"it cannot be read ({error!r:.200})"


def begin(config: Config, most: int, wait_seconds: float) -> Changes | None:
    """Index the newest notes of a vault with more than `most` notes and no complete index; None for any other vault.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        DamagedError: when the index cannot be read.
    """
    if completion.is_complete(config):
        return None
    view = current(config)
    entries = scan.newest(config.vault, most + 1)
    if len(entries) <= most:
        return None
    in_journal = (entry for entry in entries if entry.path.startswith("journal/"))
    seen = scan.Seen(config.vault, list(islice(in_journal, FIRST_NOTES)), [])
    comparison = scan.Comparison(view, seen)
    diff = Diff([entry for entry, _ in comparison], [])
    changes = _write(config, diff, UpdateLimits(wait_seconds), is_new=view is None) if diff else Changes()
    return changes._replace(complete=False)


def _update(config: Config, paths: Iterable[str] | None, limits: UpdateLimits, *, share: int | None = None) -> Changes:
    """Update the index. share: as for `update`; None to check every file."""
    started_ns = time.time_ns()
    view = current(config)
    before = scan_record.load(config.index_dir) if view is not None and paths is None else None
    if view is None or (paths is None and (share is None or before is None)):
        return _update_all(config, view, before, limits)
    if paths is not None:
        seen = scan.at_paths(config.vault, paths)
    else:
        times = before.times if before else FolderTimes.of({})
        folders = times.changed(config.vault)
        if is_most(view, folders) if limits.deadline is not None else len(folders) > MANY_FOLDERS:
            return _update_all(config, view, before, limits)
        seen = scan.in_changed_folders(config.vault, times, folders)
    diff = scan.differences(view, seen)
    changed: list[Stamped] = []
    if before is not None:
        here, changed = in_place(config, view, before, share or 0)
        diff = diff.with_more(here)
    changes = _write(config, diff, limits) if diff else Changes()
    if changes.complete and paths is None:
        scan_record.remember(config, before, changed, seen, diff, started_ns)
    return changes


def is_most(view: View, folders: Sized) -> bool:
    """Whether so many folders changed that checking every file is about as fast, and takes much less memory."""
    return len(folders) > MANY_FOLDERS and 2 * len(folders) > len(view.folders)


def _update_all(config: Config, view: View | None, before: ScanRecord | None, limits: UpdateLimits) -> Changes:
    """Update the index from every file, indexing while the vault is walked.

    view: the present index, or None. before: the record of earlier scans.
    """
    started_ns = time.time_ns()
    seen = scan.everywhere(config.vault, limits.met)
    walk = scan.Comparison(view, seen)
    differing = iter(walk)
    has_more = False
    if limits.deadline is None:
        ahead = list(islice(differing, MANY_NOTES))
        if len(ahead) == MANY_NOTES:
            changes = _build(config, walk, chain(ahead, differing), view, limits)
            if changes is None:  # another process has changed the index in the meantime
                return _update_all(config, current(config), before, limits)
            scan_record.remember(config, before, [], seen, Diff([], []), started_ns)
            return changes
        files = [entry for entry, _ in ahead]
    else:
        newest = nlargest(MAX_IN_TIME + 1, (entry for entry, _ in differing), key=lambda entry: entry.mtime_ns)
        files, has_more = newest[:MAX_IN_TIME], len(newest) > MAX_IN_TIME
    diff = Diff(files, list(walk.gone()))
    changes = Changes()
    if diff or view is None:
        changes = _write(config, diff, limits, is_new=view is None)
        changes = changes._replace(complete=changes.complete and not has_more)
    if changes.complete:
        scan_record.remember(config, before, [], seen, diff, started_ns)
    return changes


def _build(
    config: Config,
    walk: scan.Comparison,
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
    with writer.alone(config.index_dir, limits.wait_seconds):
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


def _join_segments(config: Config, limits: UpdateLimits) -> None:
    """Join groups of segments one after the other, if there are too many; others may write in between."""
    while (newest := contents.load(config.index_dir)) and to_join([segment.live for segment in newest.segments]):
        from mdmem.search.index import joining, writer

        if limits.progress is not None:
            limits.progress(sum(segment.live for segment in newest.segments), 0)  # the total is unknown
        try:
            with writer.alone(config.index_dir, limits.wait_seconds):
                if not joining.join_next(config.index_dir):
                    return
        except (BusyError, OSError):
            return  # the index is whole; the next full update joins them


def in_place(config: Config, view: View, before: ScanRecord, share: int) -> tuple[Diff, list[Stamped]]:
    """Check for files edited in place: those that changed last, and a share of the others."""
    diff, changed = scan.at_files(config.vault, view, before.changed)
    turn = scan_record.turn(config.index_dir, view, share) if share else ()
    others = (note for note in turn if note not in view.deleted)
    return diff.with_more(scan.at_notes(config.vault, view, others)), changed


def check_vault(config: Config) -> None:
    """Raise VaultError when there is no vault."""
    if not os.path.isdir(config.vault):
        raise no_vault(config.vault)


def rebuild(config: Config, *, progress: Progress | None = None) -> Changes:
    """Delete the index and rebuild it.

    Raises BusyError when another process is writing for longer than `WAIT_SECONDS`.
    """
    from mdmem.search.index import writer

    writer.discard(config.index_dir, wait_seconds=WAIT_SECONDS)
    return update(config, progress=progress)


def _write(config: Config, diff: Diff, limits: UpdateLimits, *, is_new: bool = False) -> Changes:
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
    with writer.alone(config.index_dir, limits.wait_seconds):
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
        for entry in entries:
            self.late = self._limits.deadline is not None and time.monotonic() >= self._limits.deadline
            if self.late:
                return
            self._index(batch, root, entry)
            self._step()

    def _index(self, batch: Batch, root: str, entry: WalkedFile) -> None:
        from mdmem.search.index import document  # slow to load; readers do not need it

        note = batch.view.find(entry.path)
        mtime_ns = scan_record.reliable_mtime(entry.mtime_ns)
        data = disk.readable(root, entry.path)
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
        batch.add(document.build(root, entry, data, mtime_ns=mtime_ns))

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
