"""Freshness: updates the index before a search, and rechecks files before they are shown.

A short scan before each search notices added, renamed and removed notes, and recent edits in place. An old note edited
in place is noticed when it is shown, when the query has a word that no note has, when nothing is found, or when its
share comes; `mdmem index` checks every file. In a very large vault, a background process checks most notes, and the
user is told.
"""

from __future__ import annotations

import sys
import time

from mdmem import __version__, files
from mdmem.errors import BusyError, MdmemError
from mdmem.hashing import short
from mdmem.search import index
from mdmem.search.index import catchup, completion, contents, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from mdmem.config import Config
    from mdmem.progress import CountCallback
    from mdmem.search.index import Changes
    from mdmem.search.index.view import View

    _Answer = TypeVar("_Answer")

WAIT_SECONDS, BUSY_SECONDS = 1.0, 0.1
"""Time that a search waits for another writing process: without an index, and with one."""
MOST_AT_ONCE = catchup.MOST_AT_ONCE
BUSY = index.Changes(complete=False)
"""Result of `bring_up_to_date` if another process is writing."""
CHECKING = (
    "Older notes are being checked for changes in the background."
    " To find what was just written into one of them, search again in a minute."
)

NOT_CHECKED = "Older notes were not checked for changes: no process could be started. `mdmem index` checks them all."


def bring_up_to_date(
    config: Config,
    *,
    quick: bool = True,
    paths: Iterable[str] | None = None,
    budget_seconds: float | None = None,
    wait_seconds: float | None = None,
    share: int = index.SHARE,
    most: int | None = None,
    damage: Exception | None = None,
) -> tuple[Changes, tuple[str, ...]]:
    """Update the index before a search; return the changes, and messages for the user: a rebuild, a failed write.

    most: if a vault with more notes than this has no complete index, index the newest and start a background process
        for the rest. damage: the error that reading the index raised. The other arguments are those of `index.update`.
        A search never fails because another process is writing: it uses the index as it is.

    Raises VaultError when the index folder cannot be read, and the vault is too large to be searched without an index.
    """
    if quick and paths is None and damage is None and is_followed(config):
        return index.Changes(), ()
    try:
        if wait_seconds is None:
            wait_seconds = BUSY_SECONDS if _has_index(config) else WAIT_SECONDS
        reason = index.repair(config, damage, wait_seconds) if damage is not None else ""
        changes = index.update(
            config,
            paths=paths,
            quick=quick,
            progress=_progress_report(),
            budget_seconds=budget_seconds,
            wait_seconds=wait_seconds,
            share=share,
            most=most,
        )
    except BusyError as error:
        if most is not None and completion.is_running(config):
            return BUSY, (_in_background(config),)
        return BUSY, (f"{error} The newest notes may be missing here.",)
    except index.OtherVersionError as error:
        from mdmem.search import temporary_index

        if not temporary_index.use(config, error):
            raise
        return index.update(config, paths=paths, most=most), (str(error),)
    except OSError as error:
        if paths is None and budget_seconds is None and _use_temporary_index(config, error):
            changes = index.update(config, most=most)
            return changes, (_ELSEWHERE.format(error.filename or "The index", error.strerror),)
        why = f"{error.strerror or error}: {error.filename}" if error.filename else error.strerror or error
        return index.Changes(complete=False), (f"The index cannot be written ({why}): newest notes may be missing.",)
    reason = reason or ("" if changes.reason == index.NEW else changes.reason)
    if most is not None and not changes.complete:
        return changes, (_in_background(config, reason),)
    return changes, (_rebuilt(config, reason),) if reason else ()


def _rebuilt(config: Config, reason: str) -> str:
    if reason == layout.OTHER_VERSION and _is_in_turn(config):
        return _IN_TURN.format(version=__version__, program=sys.executable)
    return f"Rebuilt the index: {reason}."


_IN_TURN = (
    "Rebuilt the index again: several versions of mdmem use this vault in turn, and each rebuilds it. Keep one of them;"
    " this is mdmem {version} of {program}."
)


def _is_in_turn(config: Config) -> bool:
    """Whether this version has replaced another's index twice within a day; also record that it does so now.

    Once is not enough: an upgrade may be undone and made again.
    """
    path, now = f"{config.state_dir}/index-of-{short(contents.STAMP, 8)}", time.time()
    times = [float(line) for line in files.logged(path, _MAX_BYTES) if line.isdecimal()]
    try:
        files.log(path, f"{now:.0f}", _MAX_BYTES)
    except OSError:
        return False
    return sum(abs(now - before) < _DAY for before in times) >= 2


_DAY, _MAX_BYTES = 86_400, 4096


def _progress_report() -> CountCallback:
    """Return a callback for the progress of an update that tells the user once if the update takes long."""
    began = time.monotonic()
    is_told = False

    def report(_: int, total: int) -> None:
        nonlocal is_told
        if is_told:
            return
        from mdmem import progress  # an update has loaded it, for its lock

        if is_told := time.monotonic() - began >= progress.TOLD_AFTER_SECONDS:
            progress.tell(f"Updating the index{f': {total:,} notes have changed' if total > 1 else ''}.")

    return report


_ELSEWHERE = "{} cannot be read ({}): the notes themselves were read. `mdmem doctor --only state` says what to do."


def _use_temporary_index(config: Config, error: OSError) -> bool:
    """Use another folder for the index until this process ends, if its own cannot be read; return whether it does."""
    if not isinstance(error, PermissionError) or _has_index(config):
        return False
    from mdmem.search import temporary_index

    return temporary_index.use(config, error)


def glance(config: Config, without_session: str = "", share: int = 0) -> View | None:
    """Return the view of `index.glance`; without a scan if a watcher in this process has indexed all changes."""
    return index.opened(config) if is_followed(config) else index.glance(config, without_session, share)


def check_all(config: Config) -> tuple[str, ...]:
    """Check all notes for edits in place; return messages for the user.

    In a large vault, a background process does this, so that nobody waits for it.
    """
    if is_followed(config):
        return ()
    bring_up_to_date(config, share=index.EVERY, most=MOST_AT_ONCE)
    view = index.opened(config)
    if view is None or not index.is_large(view):
        return ()
    return (CHECKING,) if completion.check_files(config) else (NOT_CHECKED,)


followers: dict[str, Callable[[], bool]] = {}
"""Folder of an index -> function of a watcher in this process that adds pending changes to the index, and returns
whether it is complete."""


def is_followed(config: Config) -> bool:
    """Whether a watcher in this process has added all changes, so that no file needs to be checked."""
    has_taken_in = followers.get(config.index_dir)
    return has_taken_in is not None and index.is_complete(config) and has_taken_in()


def _in_background(config: Config, reason: str = "") -> str:
    """Start a process that finishes the index, unless one is running; return the message for the user.

    reason: why it is rebuilt, or "".
    """
    if not completion.finish(config):  # no process could be started, or the state folder is not writable
        message = _progress(config, f"incomplete{f', since {reason}' if reason else ''}")
        return f"{message} `mdmem index` completes it."
    return _progress(config, f"being rebuilt in the background, since {reason}" if reason else _BUILT)


def being_built(config: Config) -> str:
    """Return the message while a background process finishes the index; "" otherwise."""
    return _progress(config, _BUILT) if completion.is_running(config) else ""


_BUILT = "being built in the background"


def _progress(config: Config, state: str) -> str:
    view = index.opened(config)
    notes = f"{view.live if view else 0:,}"
    return f"The index is {state}: {notes} notes are in it so far, and others are not found yet."


def past_writers(config: Config, changes: Changes, notices: tuple[str, ...]) -> tuple[View | None, tuple[str, ...]]:
    """Return a view with the newest notes in memory if another process is writing the index, and messages for the user.

    None: the index is up to date, or so much is new that the search uses the index as it is.
    """
    view = with_newest(config) if changes is BUSY else None
    return view, () if view is not None else notices


def with_newest(config: Config) -> View | None:
    """Return a view with the notes that the index lacks in memory; None if it is damaged, or so much is new."""
    try:
        return index.glance(config)
    except Exception:  # noqa: BLE001 - the next reader of a damaged index repairs it
        return None


def _has_index(config: Config) -> bool:
    try:
        return index.current(config) is not None
    except Exception:  # noqa: BLE001 - a damaged index counts as none; the update reports it
        return False


def ask(config: Config, answer: Callable[[View], _Answer]) -> _Answer:
    """Return the result of `answer` for the present index.

    Raises BusyError when there is no index yet and another process is building it.
    """
    result = answered(config, lambda view: (answer(view),))
    if result is None:
        raise BusyError("Another process is building the index. Try again in a moment.")
    return result[0]


def answered(config: Config, answer: Callable[[View], _Answer], view: View | None = None) -> _Answer | None:
    """Return the result of `answer` for the index; None if there is none. A damaged index is repaired and asked again.

    In a large vault, a background process rebuilds what was removed, and the rest is asked; `untold` returns the
    message.

    view: ask this one first.

    Raises BusyError when the index is damaged and another process is writing it.
    """
    try:
        view = view or index.current(config)
        return answer(view) if view is not None else None
    except MdmemError:
        raise
    except Exception as error:
        wait = catchup.WAIT_SECONDS
        changes, notices = bring_up_to_date(config, wait_seconds=wait, most=MOST_AT_ONCE, damage=error)
        if changes is BUSY:
            raise BusyError(notices[0]) from error
        _untold[config.index_dir] = notices
    view = index.current(config)
    return answer(view) if view is not None else None


_untold: dict[str, tuple[str, ...]] = {}
"""Messages for `untold`, by index folder: `answered` cannot return them."""


def untold(config: Config) -> tuple[str, ...]:
    """Return, once, the messages about an index that was found damaged."""
    return _untold.pop(config.index_dir, ())
