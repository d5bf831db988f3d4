"""Upkeep: removes old state and finishes the pages of sessions that broke off. Runs after a turn, never in a hook."""

from __future__ import annotations

import os

from mdmem import files, launch, system, timestamps
from mdmem.capture import marks, page
from mdmem.capture.pending import RETRY_FOLDER
from mdmem.capture.session import Session
from mdmem.hook_errors import VaultError
from mdmem.privacy import memory
from mdmem.vault import disk, journal, leftovers, pauses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

DAY_SECONDS = 86_400.0
ENDED_DAYS = 30
"""Days that the state of an ended session is kept, in case it is resumed."""

SILENT_DAYS = 180
"""Days that the state of a session without an end, and a project's cached folder, is kept."""

QUIET_SECONDS = 600.0
"""A session that has stored nothing for this long may have broken off."""


EVERY_SECONDS = 3600.0
"""Minimum time between two runs."""

_KEY_CHARS = 16


def look_after(config: Config, now: float) -> bool:
    """Finish pages and remove old state and leftovers, at most once an hour; return whether it ran."""
    if not launch.is_compiled():
        launch.compile_all()  # mdmem was upgraded, and hooks do not write bytecode
    stamp = os.path.join(config.state_dir, "looked-after")
    last = _changed(stamp)
    if 0 <= now - last < EVERY_SECONDS:
        return False
    began = _steady_since(stamp, last, now)
    _write_stamp(stamp, began, now)
    launch.compile_all()  # what is left: hooks do not write bytecode
    finish_pages(config, now)
    if now - began >= DAY_SECONDS:
        prune(config, now)
    leftovers.reap(config.vault, now)
    return True


def _steady_since(stamp: str, last: float, now: float) -> float:
    """Return since when the clock is known to be steady: after a jump or a long pause without mdmem, since `now`.

    A clock that is wrong for a while would make everything look old, a running session's private memory too.
    """
    try:
        began = timestamps.seconds_of(files.read_own(stamp, 64).decode())
    except (OSError, ValueError):
        return now
    return began if began <= now and now - last < ENDED_DAYS * DAY_SECONDS else now


def prune(config: Config, now: float) -> int:
    """Remove the state of ended sessions and the temporary files of killed writers; return the number of files removed.

    Session state is a cache: if such a session is resumed after all, it is rebuilt from the session's folder.
    """
    removed = memory.prune(config, now) + pauses.prune(config, now)
    records = dict(_records(config))
    over = {key for key, path in records.items() if _is_over(path, now)}
    for folder in (os.path.join(config.state_dir, "sessions"), config.runtime_dir):
        for name in system.names_in(folder):
            path = os.path.join(folder, name)
            key = name.partition(".")[0]
            if len(key) != _KEY_CHARS:
                continue  # not a session's file, such as the watcher's socket
            if name.endswith(f".{marks.FLAG}"):
                is_old = _age(path, now) > memory.KEPT_DAYS * DAY_SECONDS
            else:
                is_old = key in over or (key not in records and _age(path, now) > ENDED_DAYS * DAY_SECONDS)
            removed += is_old and files.remove(path)
    removed += leftovers.reap_folders(config.runtime_dir, leftovers.STOPGAP)
    projects = os.path.join(config.state_dir, "projects")
    silent = (os.path.join(projects, name) for name in system.names_in(projects))
    removed += sum(files.remove(path) for path in silent if _age(path, now) > SILENT_DAYS * DAY_SECONDS)
    for part in ("", "sessions", "projects", RETRY_FOLDER):
        for name in system.names_in(os.path.join(config.state_dir, part)):
            path = os.path.join(config.state_dir, part, name)
            if name.endswith(".tmp") and _age(path, now) > leftovers.TEMP_SECONDS:
                removed += files.remove(path)
    return removed


def finish_pages(config: Config, now: float) -> int:
    """Update the pages of sessions that broke off after storing more notes; return how many were updated."""
    changed = 0
    for _, path in _records(config):
        if QUIET_SECONDS < _age(path, now) < SILENT_DAYS * DAY_SECONDS:
            try:
                changed += _finish(config, path)
            except (OSError, VaultError):
                continue  # its folder is gone or not writable
    return changed


def _finish(config: Config, path: str) -> bool:
    place = journal.Record(config, "", path).folder
    if not place:
        return False
    with disk.open_folder(config.vault, place) as folder:
        name = journal.page_in(folder)
        if not name:
            return False
        written = folder.handle.stat(name).st_mtime
        session = Session(config, journal.session_in(folder, name))
        if session.path != path or written >= os.stat(path).st_mtime or session.has_current_page():
            return False
        folder.lock()
        session.catch_up(folder)
        changed = page.update(session, folder)
        session.mark_page(folder)
        return changed


def _is_over(path: str, now: float) -> bool:
    age = _age(path, now)
    if age <= ENDED_DAYS * DAY_SECONDS:
        return False
    try:
        data = files.read_own(path, disk.MAX_READ_BYTES)
    except OSError:
        return False
    days = memory.KEPT_DAYS if f"\n{journal.PRIVATE}\t".encode() in data else SILENT_DAYS
    return age > days * DAY_SECONDS or data.rfind(b"\nend\t") > data.rfind(b"\nstart\t")


def _records(config: Config) -> Iterator[tuple[str, str]]:
    folder = os.path.join(config.state_dir, "sessions")
    for name in system.names_in(folder):
        if "." not in name:
            yield name, os.path.join(folder, name)


def _age(path: str, now: float) -> float:
    return now - (_changed(path) or now)


def _changed(path: str) -> float:
    """Return a file's mtime; 0 if there is none."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _write_stamp(path: str, began: float, now: float) -> None:
    try:
        files.replace(path, f"{began:.0f}".encode())
        os.utime(path, (now, now))
    except OSError:
        return
