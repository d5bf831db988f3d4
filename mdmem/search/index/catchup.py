"""The index brought up to date with the vault: one way for a watcher, a search and `mdmem index` alike."""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from heapq import nlargest
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from mdmem.errors import BusyError, MdmemError, no_vault
from mdmem.search.index import completion, contents, layout, scan, scan_record
from mdmem.search.index.folder_times import FolderTimes
from mdmem.search.index.layout import NEW, DamagedError
from mdmem.search.index.scan import Diff
from mdmem.search.index.store import current
from mdmem.search.index.tiers import to_join
from mdmem.vault import disk
from mdmem.vault.layout import day_of

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
"""Where time is short, somebody asks this process, which holds other things than the notes of a commit."""
FEW_NOTES = 1_000
"""More notes than this are put in without segments being put together meanwhile: either is held in memory."""
MANY_NOTES = 4_000
"""Number of new notes from which on a second process pays."""
MAX_IN_TIME = 20_000
"""Of more files than this, no more than the newest are looked at where time is short."""
MOST_AT_ONCE = 10_000
"""The notes of a larger vault are not indexed while somebody waits for an answer: it would take minutes."""
FIRST_NOTES = 1_000
"""Of a vault that is too large to be indexed while somebody waits, so many notes are indexed at once: the newest."""
MANY_FOLDERS = 1_000
"""Where more folders than this have changed, every file is looked at: of that no list is held."""
WAIT_SECONDS = 30.0
"""How long another writer is waited for, unless the caller knows better."""


class Changes(NamedTuple):
    """What bringing the index up to date came to.

    rebuilt: it was, and `reason` says why. complete: nothing was left for later.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    rebuilt: bool = False
    reason: str = ""
    complete: bool = True


class UpdateLimits(NamedTuple):
    """How long an update may take, and who is told how far it is.

    wait_seconds: how long another writer is waited for. deadline: no further note is begun after this moment of
    `time.monotonic`; None: all are indexed. progress: is told how many notes are done, and of how many. met: is told
    of every file that is looked at, where all are.
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

    paths: look at these files and folders only (vault-relative or absolute; they need not exist any more).
    quick: look only into folders whose time has changed, at the notes that changed last and at a share of the others:
        one stat a folder and not one a file. What it misses is an old note that was changed in place, until its share
        has come or somebody looks at every file. share: so many of them, 0 for who looks at every file now and then,
        `scan_record.EVERY` for all, or, in a large vault, for those that are likeliest to be changed.
    progress: is told how many notes are done, and of how many: 0 as long as that is not known.
    budget_seconds: no further note is begun after this; the newest come first.
    most: where a vault of more notes than this has no complete index, index the newest, and leave the others.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        VaultError: when there is no vault: nothing is forgotten then.
    """
    deadline = None if budget_seconds is None else time.monotonic() + budget_seconds
    limits = UpdateLimits(wait_seconds, deadline, progress)
    return update_within(config, limits, paths, share=share if quick else None, most=most)


def update_within(
    config: Config, limits: UpdateLimits, paths: Iterable[str] | None, share: int | None = None, most: int | None = None
) -> Changes:
    """Update the index from the vault, and raise, as `update` does; share: None to look at every file."""
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
    except Exception as error:  # noqa: BLE001 - whatever a damaged index makes a reader do; once, not twice
        reason = repair(config, error, limits.wait_seconds)
        begun = begin(config, most, limits.wait_seconds) if most is not None else None
        changes = begun or _update(config, None, limits)
        if begun is None and limits.deadline is None:
            _join_segments(config, limits)
        return changes._replace(rebuilt=True, reason=reason) if reason else changes


def repair(config: Config, error: Exception, wait_seconds: float = WAIT_SECONDS) -> str:
    """Remove what is damaged of an index whose reading raised `error`; return what was wrong with it, or "".

    The other notes are found still; those that were removed are new to whoever looks at every file next. Nothing is
    removed of a whole index for what the system refused, such as to write a page that is made of it on a full disk,
    or memory.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        OSError, MemoryError: when the system lacks what it takes to tell.
    """
    from mdmem.search.index import writer

    is_suspect = not isinstance(error, OSError | MemoryError | RecursionError)
    if not writer.remove_damaged(config.index_dir, wait_seconds=wait_seconds, is_suspect=is_suspect):
        return ""
    return str(error) if isinstance(error, DamagedError) else f"it cannot be read ({error!r:.200})"


def begin(config: Config, most: int, wait_seconds: float) -> Changes | None:
    """Index the newest notes of a vault that has more than `most` and no complete index; None for any other vault.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        DamagedError: when the index cannot be read.
    """
    view = current(config)
    if view is not None and scan_record.load(config.index_dir) is not None:
        return None
    entries = scan.newest(config.vault, most + 1)
    if len(entries) <= most:
        return None
    in_journal = (entry for entry in entries if entry.path.startswith("journal/"))
    comparison = scan.Comparison(view, list(islice(in_journal, FIRST_NOTES)))
    diff = Diff([entry for entry, _ in comparison], [])
    changes = _write(config, diff, UpdateLimits(wait_seconds), is_new=view is None) if diff else Changes()
    return changes._replace(complete=False)


def _update(config: Config, paths: Iterable[str] | None, limits: UpdateLimits, *, share: int | None = None) -> Changes:
    """Update the index; share: as for `update`, None to look at every file."""
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
    """Whether so many folders have changed that looking at every file takes about as long, and much less memory."""
    return len(folders) > MANY_FOLDERS and 2 * len(folders) > len(view.folders)


def _update_all(config: Config, view: View | None, before: ScanRecord | None, limits: UpdateLimits) -> Changes:
    """Update the index from every file; the files are indexed while the vault is walked.

    view: of the index, None when there is none. before: what is kept of earlier looks.
    """
    started_ns = time.time_ns()
    seen = scan.everywhere(config.vault, limits.met)
    walk = scan.Comparison(view, seen.entries)
    differing = iter(walk)
    left = False
    if limits.deadline is None:
        ahead = list(islice(differing, MANY_NOTES))
        if len(ahead) == MANY_NOTES:
            changes = _build(config, walk, chain(ahead, differing), view, limits)
            if changes is None:  # another process has changed the index meanwhile
                return _update_all(config, current(config), before, limits)
            scan_record.remember(config, before, [], seen, Diff([], []), started_ns)
            return changes
        files = [entry for entry, _ in ahead]
    else:
        newest = nlargest(MAX_IN_TIME + 1, (entry for entry, _ in differing), key=lambda entry: entry.mtime_ns)
        files, left = newest[:MAX_IN_TIME], len(newest) > MAX_IN_TIME
    diff = Diff(files, list(walk.gone()))
    changes = Changes()
    if diff or view is None:
        changes = _write(config, diff, limits, is_new=view is None)
        changes = changes._replace(complete=changes.complete and not left)
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
    """Index many files as they are found, with the help of a second process; None when the index is another by now."""
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
                    _check_there(batch, is_new=is_new)
                    is_new = False
                    tally.take(batch, config.vault, chunk, helper.finished())
                _index_some(config, tally, changed, NOTES_PER_COMMIT)
                completion.step(config)
                with suppress(OSError):  # the index is whole, and whoever looks at every file next joins them
                    joining.join_next(config.index_dir)
        while changed:
            _index_some(config, tally, changed, 1)
        gone = walk.gone()
        while some := list(islice(gone, NOTES_PER_COMMIT)):
            with writer.change(config.index_dir) as batch:
                tally.forget(batch, some)
    return Changes(tally.added, tally.changed, tally.removed, view is None, NEW if view is None else "")


def _check_there(batch: Batch, *, is_new: bool) -> None:
    if batch.is_first and not is_new:
        raise DamagedError(NEW)  # it went away between looking and writing


def _index_some(config: Config, tally: _Tally, waiting: deque[WalkedFile], least: int) -> None:
    """Index files that have changed, as many as one commit takes, when at least so many wait."""
    from mdmem.search.index import writer

    if len(waiting) >= least:
        some = [waiting.popleft() for _ in range(min(len(waiting), NOTES_PER_COMMIT))]
        with writer.change(config.index_dir, merge=len(some) <= FEW_NOTES) as batch:
            tally.index(batch, config.vault, some)


def _join_segments(config: Config, limits: UpdateLimits) -> None:
    """Join segments that are many, one group after the other; others may write between them."""
    while (found := contents.load(config.index_dir)) and to_join([segment.live for segment in found.segments]):
        from mdmem.search.index import joining, writer

        if limits.progress is not None:
            limits.progress(sum(segment.live for segment in found.segments), 0)  # how long it takes is not known
        try:
            with writer.alone(config.index_dir, limits.wait_seconds):
                if not joining.join_next(config.index_dir):
                    return
        except (BusyError, OSError):
            return  # the index is whole, and whoever looks at every file next joins them


def in_place(config: Config, view: View, before: ScanRecord, share: int) -> tuple[Diff, list[Stamped]]:
    """Look for what was changed in place: at the files that changed last, and at a share of the others."""
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
    """Index what is new or changed and forget what is gone, in as many commits as it takes.

    is_new: there is no index yet.
    """
    from mdmem.search.index import writer  # it loads Whoosh, which a process that only reads does without

    if limits.deadline is None:
        step = NOTES_PER_COMMIT
        files = sorted(diff.files, key=lambda entry: entry.path.rpartition("/"))
        # Notes without a day come before the newest: they are wanted most.
        files.sort(key=lambda entry: day_of(entry.path) or "~", reverse=True)
    else:
        step = NOTES_IN_TIME
        files = sorted(diff.files, key=lambda entry: -entry.mtime_ns)
    tally = _Tally(len(files) + len(diff.gone), limits)
    with writer.alone(config.index_dir, limits.wait_seconds):
        for start in range(0, len(files) or 1, step):
            some = files[start : start + step]
            with writer.change(config.index_dir, merge=len(some) <= FEW_NOTES) as batch:
                _check_there(batch, is_new=is_new and start == 0)
                if start == 0:
                    tally.forget(batch, diff.gone)
                tally.index(batch, config.vault, some)
            if tally.late:
                break
    reason = NEW if is_new else ""
    return Changes(tally.added, tally.changed, tally.removed, is_new, reason, complete=not tally.late)


class _Tally:
    """The work of one update as it proceeds."""

    def __init__(self, total: int, limits: UpdateLimits) -> None:
        self.total = total
        self._limits = limits
        self._done = 0
        self.added = self.changed = self.removed = 0
        self.late = False

    def forget(self, batch: Batch, paths: list[str]) -> None:
        """Take the notes at these paths out of the index."""
        for path in paths:
            note = batch.view.find(path)
            if note is not None:
                batch.remove(note)
                self.removed += 1
            self._step()

    def take(self, batch: Batch, root: str, files: Iterable[WalkedFile], made: list[Segment]) -> None:
        """Put files in that the index does not have, and segments that the second process has made of such files."""
        self._add(batch, root, files)
        batch.adopt(made)
        count = sum(segment.count for segment in made)
        self.added += count
        self._step(count)

    def _add(self, batch: Batch, root: str, entries: Iterable[WalkedFile]) -> None:
        from mdmem.search.index import builder

        for found in builder.read(root, entries):
            if found is not None:
                batch.add(found)
                self.added += 1
            self._step()

    def index(self, batch: Batch, root: str, entries: list[WalkedFile]) -> None:
        """Put these files into the index as they are now, in place of what it has of them."""
        for entry in entries:
            self.late = self._limits.deadline is not None and time.monotonic() >= self._limits.deadline
            if self.late:
                return
            self._index(batch, root, entry)
            self._step()

    def _index(self, batch: Batch, root: str, entry: WalkedFile) -> None:
        from mdmem.search.index import document  # its patterns cost a process that only reads too much

        note = batch.view.find(entry.path)
        mtime_ns = -1 if scan_record.fresh(entry.mtime_ns, time.time_ns()) else entry.mtime_ns
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
    """Whether nothing needs to be written for this file, whose time, size or inode was another.

    Another process may have indexed it meanwhile. And where only the inode differs, the text is looked at:
    some file systems make inodes up, and must not make every note new at every look.
    """
    if view.number("mtime_ns", note) != entry.mtime_ns or view.number("size", note) != entry.size:
        return False
    return view.number("inode", note) == entry.inode or view.number("digest", note) == digest
