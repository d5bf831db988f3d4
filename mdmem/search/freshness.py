"""Freshness: the index brought up to date before it is asked, and files looked at again before they are shown.

A short look before each question sees what was added, renamed or removed, and what was changed in place lately. An old
note that was changed in place is seen when it is shown, when a word is asked for that no note has, when nothing is
found, or when its turn has come; `mdmem index` looks at every file. Where there are very many notes, a process in the
background looks at most of them, and the user is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mdmem.errors import BusyError, MdmemError
from mdmem.search import index
from mdmem.search.index import catchup, completion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mdmem.config import Config
    from mdmem.search.index import Changes
    from mdmem.search.index.view import View

WAIT_SECONDS, BUSY_SECONDS = 1.0, 0.1
"""How long a search waits for another process that is writing: when there is no index yet, and when there is one."""
MOST_AT_ONCE = catchup.MOST_AT_ONCE
BUSY = index.Changes(complete=False)
"""What `bring_up_to_date` returns where another process is writing."""
LOOKING = (
    "Older notes are being checked for changes in the background."
    " To find what was just written into one of them, search again in a minute."
)

NOT_LOOKED = "Older notes were not checked for changes: no process could be started. `mdmem index` checks them all."

_Answer = TypeVar("_Answer")


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
    """Update the index before it is asked; return what a user should know: it was rebuilt, or is not writable.

    most: where a vault of more notes than this has no complete index, index the newest, and let a process in the
        background do the rest. damage: what reading the index raised. The other arguments are those of
        `index.update`. A search never fails because someone else is writing: it answers from what is there.
    """
    try:
        if wait_seconds is None:
            wait_seconds = BUSY_SECONDS if _has_index(config) else WAIT_SECONDS
        reason = index.repair(config, damage, wait_seconds) if damage is not None else ""
        changes = index.update(
            config,
            paths=paths,
            quick=quick,
            budget_seconds=budget_seconds,
            wait_seconds=wait_seconds,
            share=share,
            most=most,
        )
    except BusyError as error:
        if most is not None and completion.is_running(config):
            return BUSY, (_in_background(config),)
        return BUSY, (f"{error} The newest notes may be missing here.",)
    except OSError as error:
        return index.Changes(complete=False), (f"The index cannot be written ({error}): newest notes may be missing.",)
    reason = reason or ("" if changes.reason == index.NEW else changes.reason)
    if most is not None and not changes.complete:
        return changes, (_in_background(config, reason),)
    return changes, (f"Rebuilt the index: {reason}.",) if reason else ()


def look_at_all(config: Config) -> tuple[str, ...]:
    """Look for notes that were changed in place, wherever they are; return what a user should know.

    In a large vault nobody waits until each has been looked at: a process in the background does it.
    """
    if is_followed(config):
        return ()
    bring_up_to_date(config, share=index.EVERY, most=MOST_AT_ONCE)
    view = index.opened(config)
    if view is None or not index.is_large(view):
        return ()
    return (LOOKING,) if completion.look(config) else (NOT_LOOKED,)


followers: dict[str, Callable[[], bool]] = {}
"""The folder of an index -> whether it has all that happened to the vault so far, as a watcher in this process knows:
what was heard of and is not in it yet is taken in first."""


def is_followed(config: Config) -> bool:
    """Whether a watcher in this process has taken in all changes, so that no file needs to be looked at."""
    has_taken_in = followers.get(config.index_dir)
    return has_taken_in is not None and has_taken_in()


def _in_background(config: Config, reason: str = "") -> str:
    """Start a process that finishes the index, unless one is at work, and return what a user is told of it.

    reason: why it is rebuilt, or "".
    """
    if not completion.finish(config):  # the system starts no process, or state cannot be written
        said = _told(config, f"incomplete{f', since {reason}' if reason else ''}")
        return f"{said} `mdmem index` completes it."
    return _told(config, f"being rebuilt in the background, since {reason}" if reason else _BUILT)


def being_built(config: Config) -> str:
    """Return what a user is told while a process finishes the index in the background; "" else."""
    return _told(config, _BUILT) if completion.is_running(config) else ""


_BUILT = "being built in the background"


def _told(config: Config, what: str) -> str:
    view = index.opened(config)
    notes = f"{view.live if view else 0:,}"
    return f"The index is {what}: {notes} notes are in it so far, and others are not found yet."


def past_writers(config: Config, changes: Changes, notices: tuple[str, ...]) -> tuple[View | None, tuple[str, ...]]:
    """Return a view with the newest notes held in memory where another process is writing the index, and what to tell.

    None: the index is up to date, or so much is new that the answer comes from what is there.
    """
    if changes is not BUSY:
        return None, notices
    try:
        view = index.glance(config)
    except Exception:  # noqa: BLE001 - a damaged index: whoever asks it finds that out and rebuilds it
        view = None
    return view, () if view is not None else notices


def _has_index(config: Config) -> bool:
    try:
        return index.current(config) is not None
    except Exception:  # noqa: BLE001 - a damaged index is none; the update that follows says so
        return False


def ask(config: Config, answer: Callable[[View], _Answer]) -> _Answer:
    """Return what `answer` makes of the index as it is.

    Raises BusyError when there is no index yet, and another process makes it.
    """
    found = answered(config, lambda view: (answer(view),))
    if found is None:
        raise BusyError("Another process is building the index. Try again in a moment.")
    return found[0]


def answered(config: Config, answer: Callable[[View], _Answer], view: View | None = None) -> _Answer | None:
    """Ask the index; None when there is none. What turns out to be damaged of it is rebuilt, and it is asked again.

    In a large vault a process in the background rebuilds it, and the rest is asked; `untold` returns what to tell.

    view: ask this one first.

    Raises BusyError when it is damaged and another process is writing it.
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
"""What `untold` returns, by the folder of the index: `answered` returns an answer and cannot say it."""


def untold(config: Config) -> tuple[str, ...]:
    """Return, once, what the user should know of an index that was damaged when it was asked."""
    return _untold.pop(config.index_dir, ())
