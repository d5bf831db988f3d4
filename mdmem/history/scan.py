"""Find what has changed in a vault: by a full scan, or by a fast scan of the folders with a new mtime.

A fast scan costs one lstat per folder and reads no index: it compares the contents of changed folders with the last
commit. A file changed in place leaves its folder's mtime as it was. To find it, git compares the mtimes of all tracked
files when a person asks; a watcher that reports touched files, or a limit to some paths, makes that unnecessary.
A full scan runs when it is due, and when the repository is not as the last scan left it.
The stored state is a cache: losing it costs one full scan.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from mdmem import files, privacy
from mdmem.config import Config
from mdmem.history import changes, folder_scan
from mdmem.history.changes import Change, State
from mdmem.history.folder_scan import SeenFolders, UnsureError
from mdmem.history.git import git_index, part, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.vault import disk, layout, people

NAME = "folders-seen"
"""State file with the vault's folders as of the last scan."""

REST = 50
"""In the background, a full scan is due after this many times the CPU time of the last one."""

WHOLE_SECONDS = 3600.0
"""After this long, a command that a person runs makes a full scan: a folder's mtime may be wrong."""

MANY_TOUCHED = 500
"""Maximum number of files whose content a fast scan compares because git has no current mtime for them, as after a
commit. A full scan updates git's mtimes."""

LEAST_SECONDS = 0.001
MAX_BYTES = 64 * 1024 * 1024
"""Size of the state file above which it is not read."""

Touched = Callable[[str], tuple[str, list[str] | None]]
"""Asks a watcher: takes an earlier token, returns a new one and the paths touched in between; None: it cannot tell."""


class ScanMode(NamedTuple):
    """How to scan. background: a fast scan will do until a full one is due. touched: asks a watcher.

    only: the paths that matter, so that changes in place elsewhere may be missed; None for all.
    """

    background: bool = False
    touched: Touched | None = None
    only: Collection[str] | None = None


EVERY_FILE = ScanMode()


class Scan(NamedTuple):
    """The result of a scan: the vault compared with its last commit, and what to store once that is dealt with.

    stamp: that of the index. is_plain: index and files correspond to the commit, so that the next scan may be fast.
    """

    state: State
    seen: SeenFolders
    stamp: git_index.IndexStamp | None
    is_plain: bool


def find(config: Config, repo: Repository, mode: ScanMode, lock_fd: int) -> Scan:
    """Compare the vault with its last commit, by a fast scan if that will do. Raises what `changes.find` raises."""
    changes.refuse_half_way(repo)
    changes.refuse_pipes(repo.root, changes.RULES)
    last = _load(config)
    token, touched = last.token if last else "", None  # an older token only yields more touched paths
    if mode.touched:
        token, touched = mode.touched(token)
    is_heard = touched is not None
    valid_seconds = math.inf if is_heard or mode.only is not None else WHOLE_SECONDS
    if last and not is_heard and mode.background:
        touched, valid_seconds = [], REST * last.cost
    if last and 0 <= time.time() - last.whole < valid_seconds:
        try:
            if mode.only is None:
                return _fast(repo, last, token, touched, is_heard=is_heard)
            return _among(repo, last, mode.only)
        except (UnsureError, PermissionError):  # git passes over what cannot be read
            pass
    return _full(repo, last, token, lock_fd, mode.only)


def further(repo: Repository, scan: Scan, lock_fd: int) -> Scan:
    """List the changes that a scan had no room for; it keeps the folder times of the first listing.

    Raises what `changes.find` raises.
    """
    state, stamp = changes.compare(repo, lock_fd, scan.state.after)
    is_plain = scan.is_plain and not state.staged and writer.marked(repo) is None
    return scan._replace(state=state, stamp=stamp, is_plain=is_plain)


def keep(
    config: Config, scan: Scan, *, head: str, stamp: git_index.IndexStamp | None, uncommitted: Iterable[Change]
) -> None:
    """Store the result of a scan, once it is dealt with.

    head, stamp: of the repository and its index now. uncommitted: what still differs from the commit.
    """
    stamp = stamp if scan.is_plain else None
    paths = {change.path for change in uncommitted}
    to_read_again = dict.fromkeys((path.rpartition("/")[0] for path in paths), -1)
    paths.update(scan.seen.left)
    times = {**scan.seen.times, **to_read_again}
    for path in people.private_names(privacy.Rules.of(config.settings), [*times, *paths]):
        paths.discard(path)
        times.pop(path, None)
        times.update(dict.fromkeys(times.keys() & {path.rpartition("/")[0]}, -1))  # to be read again each time
    seen = scan.seen._replace(head=head, stamp=stamp, left=sorted(paths), times=times)
    try:
        files.replace(_file(config), json.dumps(seen).encode())
    except OSError:
        forget(config)  # a full disk only costs the fast scan


def forget(config: Config) -> None:
    """Remove the stored state, so that the next scan is a full one."""
    files.remove(_file(config))


def _file(config: Config) -> str:
    return str(Path(config.state_dir, NAME))


def _load(config: Config) -> SeenFolders | None:
    try:
        loaded = SeenFolders(*json.loads(files.read_own(_file(config), MAX_BYTES)))
    except (OSError, ValueError, TypeError):
        return None
    return loaded._replace(stamp=(loaded.stamp[0], loaded.stamp[1], loaded.stamp[2]) if loaded.stamp else None)


def _full(repo: Repository, last: SeenFolders | None, token: str, lock_fd: int, only: Collection[str] | None) -> Scan:
    """Compare all files through a copy of the index; file times that git learns there are published to the index."""
    began_ns, began, cpu_before = time.time_ns(), time.time(), _children_seconds()
    rules = _rules(repo)
    try:
        times, _ = folder_scan.walk(str(repo.root), last.times if last else {}, began_ns)
    except UnsureError:
        times = {}
    state, index = changes.compare(repo, lock_fd, only=only)
    # A fast scan compares with the commit: it would take files that a partial vault lacks for deleted.
    is_all = bool(times) and not (state.staged or state.is_cut)
    is_plain = is_all and writer.marked(repo) is None and not part.load(repo)
    cost = max(_children_seconds() - cpu_before, LEAST_SECONDS)
    seen = SeenFolders(state.branch, state.head, index, rules, times, [], began_ns, began, cost, token)
    return Scan(state, seen, index, is_plain)


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _rules(repo: Repository) -> int:
    """Return the mtime of this clone's own ignore rules in ns, 0 without any."""
    try:
        return (repo.common_dir / "info" / "exclude").stat().st_mtime_ns
    except OSError:
        return 0


def _fast(repo: Repository, before: SeenFolders, token: str, touched: list[str] | None, *, is_heard: bool) -> Scan:
    """Compare changed folders, and those with touched files. touched: None to have git find changed files.

    is_heard: a watcher reported all changes: no mtime of a folder is read, unless one was moved or deleted with others.
    """
    began_ns = time.time_ns()
    index = _as_it_was(repo, before, began_ns)
    differing: list[str] = []
    if touched is None:
        arguments = ("diff-files", "--name-only", "--ignore-submodules=all", "-z")
        touched = differing = list(repository.each(repo, *arguments))
        if len(differing) > MANY_TOUCHED:
            raise UnsureError
    doubted = frozenset((*before.left, *touched))  # the last scan may have missed what was touched just before it
    moved = before.times.keys() & touched
    to_read = {path.rpartition("/")[0] for path in doubted} | moved
    times, listed = folder_scan.walk(str(repo.root), before.times, began_ns, to_read, is_heard=is_heard and not moved)
    state = folder_scan.compare(repo, before, listed, doubted)
    same = set(differing).difference(change.path for change in (*state.changes, *state.beside))
    if any(git_index.may_convert(disk.read_file(str(repo.root), path) or b"") for path in same):
        raise UnsureError
    new = before._replace(times=times, left=[], began_ns=began_ns, token=token)
    return Scan(state, new, index, is_plain=True)


def _among(repo: Repository, before: SeenFolders, only: Collection[str]) -> Scan:
    """Compare only the folders of these paths; what is stored makes the next scan read them again.

    Of a session all files are compared: what its page may name depends on the notes beside it.
    """
    index = _as_it_was(repo, before, time.time_ns())
    sessions = {layout.session_of(path) for path in only} - {""}
    session_folders = set(sessions)
    for session in sessions:
        session_folders.update(f"{session}/{name}" for name in layout.folders(f"{repo.root}/{session}"))
    listed = session_folders.union(path.rpartition("/")[0] for path in only)
    folder_scan.refuse_other(str(repo.root), listed)
    times = {folder: mtime_ns for folder, mtime_ns in before.times.items() if folder not in session_folders}
    state = folder_scan.compare(repo, before._replace(times=times), listed, frozenset((*before.left, *only)))
    differing = [path for path in before.left if path.rpartition("/")[0] not in listed]
    to_read_again = dict.fromkeys(listed, -1)
    return Scan(state, before._replace(times={**before.times, **to_read_again}, left=differing), index, is_plain=True)


def _as_it_was(repo: Repository, before: SeenFolders, began_ns: int) -> git_index.IndexStamp:
    """Return the stamp of the index, if the repository is as the last scan left it.

    Raises UnsureError when it is not.
    """
    shown = repository.attempt(repo, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD").out.decode("utf-8", "replace")
    is_same = shown.split("\n")[:2] == [before.head, before.branch] and _rules(repo) == before.rules
    index = git_index.stamp(repo.git_dir / "index")
    is_same = is_same and index == before.stamp and writer.marked(repo) is None
    if index is None or not is_same or began_ns < before.began_ns:
        raise UnsureError
    return index
