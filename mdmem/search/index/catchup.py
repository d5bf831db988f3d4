"""Catch-up: finds what the index lacks and updates it, in the same way for a watcher, a search and `mdmem index`."""

from __future__ import annotations

import os
import sys
import time
from heapq import nlargest
from itertools import chain, islice

from mdmem.errors import MdmemError, no_vault
from mdmem.search.index import commits, completion, scan, scan_record
from mdmem.search.index.commits import Changes, UpdateLimits
from mdmem.search.index.layout import DamagedError
from mdmem.search.index.scan import Diff
from mdmem.search.index.store import current
from mdmem.vault import is_in_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sized

    from mdmem.config import Config
    from mdmem.progress import CountCallback
    from mdmem.search.index.scan import Stamped
    from mdmem.search.index.scan_record import ScanRecord
    from mdmem.search.index.view import View

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


def update(
    config: Config,
    *,
    paths: Iterable[str] | None = None,
    quick: bool = False,
    progress: CountCallback | None = None,
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
            commits.join_segments(config, limits)
        return changes
    except (MdmemError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - a damaged index raises anything; retried once
        reason = repair(config, error, limits.wait_seconds)
        begun = begin(config, most, limits.wait_seconds) if most is not None else None
        changes = begun or _update(config, None, limits)
        if begun is None and limits.deadline is None:
            commits.join_segments(config, limits)
        return changes._replace(rebuilt=True, reason=reason) if reason else changes


def repair(config: Config, error: Exception, wait_seconds: float = WAIT_SECONDS) -> str:
    """Remove the damaged parts of an index whose reading raised `error`; return what was wrong, or "".

    The other notes can still be found; the removed ones count as new when every file is checked next. If the index is
    whole, nothing is removed for an error of the system, such as a full disk while a page is written or lack of
    memory, nor of the program, such as a module that is missing for a moment during an upgrade.

    Raises:
        BusyError: when another process is writing for longer than `wait_seconds`.
        OSError, MemoryError: when the system lacks the resources to check.
    """
    from mdmem.search.index import writer

    is_suspect = not isinstance(error, _NO_DAMAGE)
    if not writer.remove_damaged(config.index_dir, wait_seconds=wait_seconds, is_suspect=is_suspect):
        return ""
    return str(error) if isinstance(error, DamagedError) else f"it cannot be read ({error!r:.200})"


_NO_DAMAGE = (OSError, MemoryError, RecursionError, ImportError, NameError, SyntaxError)
"""Errors that the content of an index cannot cause."""


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
    in_journal = (entry for entry in entries if is_in_journal(entry.path))
    seen = scan.Seen(config.vault, list(islice(in_journal, FIRST_NOTES)), [])
    comparison = scan.Comparison(view, seen)
    diff = Diff([entry for entry, _ in comparison], [])
    changes = commits.write(config, diff, UpdateLimits(wait_seconds), is_new=view is None) if diff else Changes()
    return changes._replace(complete=False)


def _update(config: Config, paths: Iterable[str] | None, limits: UpdateLimits, *, share: int | None = None) -> Changes:
    """Update the index. share: as for `update`; None to check every file."""
    started_ns = time.time_ns()
    view = current(config)
    before = scan_record.load(config.index_dir) if view is not None and paths is None else None
    if view is None:
        return _update_all(config, view, before, limits)
    if paths is not None:
        seen = scan.at_paths(config.vault, paths)
    elif share is None or before is None:
        return _update_all(config, view, before, limits)
    else:
        folders = before.times.changed(config.vault)
        if is_most(view, folders) if limits.deadline is not None else len(folders) > MANY_FOLDERS:
            return _update_all(config, view, before, limits)
        seen = scan.in_changed_folders(config.vault, before.times, folders)
    diff = scan.differences(view, seen)
    changed: list[Stamped] = []
    if before is not None:
        here, changed = in_place(config, view, before, share or 0)
        diff = diff.with_more(here)
    changes = commits.write(config, diff, limits) if diff else Changes()
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
    walk = scan.Comparison(view, seen, reads=limits.deadline is None)
    differing = iter(walk)
    has_more = False
    if limits.deadline is None:
        ahead = list(islice(differing, MANY_NOTES))
        if len(ahead) == MANY_NOTES:
            changes = commits.build(config, walk, chain(ahead, differing), view, limits)
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
        changes = commits.write(config, diff, limits, is_new=view is None)
        changes = changes._replace(complete=changes.complete and not has_more)
    if changes.complete:
        scan_record.remember(config, before, [], seen, diff, started_ns)
    return changes


def in_place(
    config: Config, view: View, before: ScanRecord, share: int, most_read: int = sys.maxsize
) -> tuple[Diff, list[Stamped]]:
    """Check for files edited in place: those that changed last, and a share of the others.

    most_read: as for `scan.at_notes`.
    """
    diff, changed = scan.at_files(config.vault, view, before.changed)
    turn = scan_record.turn(config.index_dir, view, share) if share else ()
    deleted = view.deleted
    others = (note for note in turn if note not in deleted) if deleted else turn
    return diff.with_more(scan.at_notes(config.vault, view, others, most_read)), changed


def check_vault(config: Config) -> None:
    """Raise VaultError when there is no vault."""
    if not os.path.isdir(config.vault):
        raise no_vault(config.vault)


def rebuild(config: Config, *, progress: CountCallback | None = None) -> Changes:
    """Delete the index and rebuild it.

    Raises BusyError when another process is writing for longer than `WAIT_SECONDS`.
    """
    from mdmem.search.index import writer

    writer.discard(config.index_dir, wait_seconds=WAIT_SECONDS)
    return update(config, progress=progress)
