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
import stat
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from mdmem import files, privacy
from mdmem.config import Config
from mdmem.history import changes
from mdmem.history.changes import Change, State
from mdmem.history.git import git_index, objects, part, repository, writer
from mdmem.history.git.objects import Tree
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
FOLDERS_AT_ONCE = 500
"""Number of trees of a commit in memory at a time."""

STEP_NS = 2_000_000_000
"""Coarsest resolution of a file system's times: an mtime this recent may stay the same after another change."""

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


class SeenFolders(NamedTuple):
    """The stored result of the last scan.

    branch, head, stamp (of the index), rules: the state of the repository; the index then matched the commit.
    times: mtime of each folder in ns; -1: to be read again, as its mtime is too recent or it has uncommitted changes.
    left: paths that differ from the commit; in a `Scan`, only those in folders that it did not read.
    began_ns: when the scan began. whole, cost: time and CPU seconds of the last full scan.
    token: from the watcher.
    """

    branch: str
    head: str
    stamp: git_index.Stamp | None
    rules: int
    times: dict[str, int]
    left: list[str]
    began_ns: int
    whole: float
    cost: float
    token: str


class Scan(NamedTuple):
    """The result of a scan: the vault compared with its last commit, and what to store once that is dealt with.

    stamp: that of the index. is_plain: index and files correspond to the commit, so that the next scan may be fast.
    """

    state: State
    seen: SeenFolders
    stamp: git_index.Stamp | None
    is_plain: bool


_Entries = list["os.DirEntry[str]"]


class _UnsureError(Exception):
    """A fast scan cannot decide: a full scan is needed."""


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
        except (_UnsureError, PermissionError):  # git passes over what cannot be read
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
    config: Config, scan: Scan, *, head: str, stamp: git_index.Stamp | None, uncommitted: Iterable[Change]
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
        times, _ = _walk(str(repo.root), last.times if last else {}, began_ns)
    except _UnsureError:
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
        touched = differing = list(filter(None, os.fsdecode(repository.run(repo, *arguments)).split("\0")))
        if len(differing) > MANY_TOUCHED:
            raise _UnsureError
    doubted = frozenset((*before.left, *touched))  # the last scan may have missed what was touched just before it
    moved = before.times.keys() & touched
    to_read = {path.rpartition("/")[0] for path in doubted} | moved
    times, listed = _walk(str(repo.root), before.times, began_ns, to_read, is_heard=is_heard and not moved)
    state = _state(repo, before, listed, doubted)
    same = set(differing).difference(change.path for change in (*state.changes, *state.beside))
    if any(git_index.may_convert(disk.read_file(str(repo.root), path) or b"") for path in same):
        raise _UnsureError
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
    _refuse_other(str(repo.root), listed)
    times = {folder: mtime_ns for folder, mtime_ns in before.times.items() if folder not in session_folders}
    state = _state(repo, before._replace(times=times), listed, frozenset((*before.left, *only)))
    differing = [path for path in before.left if path.rpartition("/")[0] not in listed]
    to_read_again = dict.fromkeys(listed, -1)
    return Scan(state, before._replace(times={**before.times, **to_read_again}, left=differing), index, is_plain=True)


def _as_it_was(repo: Repository, before: SeenFolders, began_ns: int) -> git_index.Stamp:
    """Return the stamp of the index, if the repository is as the last scan left it.

    Raises:
        _UnsureError: when it is not.
    """
    shown = repository.attempt(repo, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD").out.decode("utf-8", "replace")
    is_same = shown.split("\n")[:2] == [before.head, before.branch] and _rules(repo) == before.rules
    index = git_index.stamp(repo.git_dir / "index")
    is_same = is_same and index == before.stamp and writer.marked(repo) is None
    if index is None or not is_same or began_ns < before.began_ns:
        raise _UnsureError
    return index


def _state(repo: Repository, last: SeenFolders, listed: Collection[str], doubted: Collection[str]) -> State:
    """Compare folders with the last commit. doubted: files that may differ whatever their times say.

    Only some folders are in memory at a time: there may be as many files as the vault has.

    Raises:
        _UnsureError: when git has to decide.
    """
    differing: list[Change] = []
    root, folders = str(repo.root), iter(listed)
    while some_folders := list(islice(folders, FOLDERS_AT_ONCE)):
        if any("\n" in folder for folder in some_folders):
            raise _UnsureError
        trees = objects.trees(repo, last.head, some_folders)
        for folder in some_folders:
            entries = _entries(root, folder) or []
            differing += _compare(folder, entries, trees.get(folder, {}), last, listed, doubted)
        if len(differing) > changes.MOST:
            raise _UnsureError
    differing = sorted(_without_ignored(repo, differing))
    if any(change.path.rpartition("/")[2] in changes.RULES for change in differing):
        raise _UnsureError
    in_vault = [change for change in differing if changes.is_own(change.path)]
    beside = [change for change in differing if not changes.is_own(change.path)]
    return State(last.branch, last.head, in_vault, [], beside)


def _refuse_other(root: str, folders: Collection[str]) -> None:
    """Refuse a folder behind a link or in another repository.

    Raises:
        _UnsureError: when there is one.
    """
    with_parents = {path for folder in folders for path in accumulate(folder.split("/"), _join)}
    for folder in with_parents - {""}:
        is_other = _time(root, folder) is None and os.path.lexists(f"{root}/{folder}")
        if is_other or os.path.lexists(f"{root}/{folder}/.git"):
            raise _UnsureError


def _entries(root: str, folder: str) -> _Entries | None:
    """List a folder; None when it was deleted.

    Raises:
        _UnsureError: when it cannot be read.
    """
    try:
        with os.scandir(f"{root}/{folder}") as scan:
            return [entry for entry in scan if folder or entry.name != ".git"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _UnsureError from error


def _walk(
    root: str, before: Mapping[str, int], began_ns: int, to_read: Collection[str] = (), *, is_heard: bool = False
) -> tuple[dict[str, int], set[str]]:
    """Read the folders that are new or have another mtime; return the times of all folders, and which were read.

    to_read: folders to read in any case. is_heard: no other known folder has changed. Deleted folders count as read.

    Raises:
        _UnsureError: when a folder cannot be read. GitError: when git would wait for a pipe.
    """
    times: dict[str, int] = {}
    listed: set[str] = set()
    nested: list[str] = []
    pending = [] if before else [""]
    for folder, known_ns in before.items():  # inlined: calling `_time` thousands of times is slow
        if is_heard and known_ns >= 0 and folder not in to_read:
            times[folder] = known_ns
            continue
        try:
            status = os.lstat(f"{root}/{folder}")
            if status.st_mtime_ns == known_ns and stat.S_IFMT(status.st_mode) == stat.S_IFDIR and folder not in to_read:
                times[folder] = known_ns
                continue
        except OSError:
            pass
        pending.append(folder)
    while pending:
        folder = pending.pop()
        at_ns = _time(root, folder)
        entries = _entries(root, folder)
        listed.add(folder)
        if entries is None:
            continue
        special = [entry.name for entry in entries if entry.name.startswith(".git")]
        changes.refuse_pipes(Path(root, folder), special)
        if ".git" in special:
            nested.append(f"{folder}/")  # a nested repository: only a full scan handles it
            continue
        times[folder] = at_ns if at_ns is not None and at_ns < began_ns - STEP_NS else -1
        below = (_join(folder, entry.name) for entry in entries if entry.is_dir(follow_symlinks=False))
        pending += (path for path in below if path not in before and path not in listed)
    if nested:
        times = {folder: known_ns for folder, known_ns in times.items() if not f"{folder}/".startswith(tuple(nested))}
    return times, listed


def _time(root: str, folder: str) -> int | None:
    try:
        status = os.lstat(f"{root}/{folder}" if folder else root)
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISDIR(status.st_mode) else None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _compare(
    folder: str,
    entries: _Entries,
    tree: Tree,
    before: SeenFolders,
    listed: Collection[str],
    doubted: Collection[str],
) -> Iterable[Change]:
    """Yield how a folder differs from the commit's tree."""
    unmatched = dict(tree)
    deleted_names = {_folded(name) for name in unmatched.keys() - {entry.name for entry in entries}}
    for entry in entries:
        path = _join(folder, entry.name)
        mode, oid = unmatched.pop(entry.name, ("", ""))
        if entry.name == ".git" or (mode and (mode == "40000") != entry.is_dir(follow_symlinks=False)):
            raise _UnsureError
        if entry.is_dir(follow_symlinks=False):
            continue
        if not mode:
            if _folded(entry.name) in deleted_names:
                raise _UnsureError  # the file system may treat both names as one
            if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield Change(path, "added")
        elif not mode.startswith("100") or not entry.is_file(follow_symlinks=False):
            raise _UnsureError
        elif (path in doubted or _may_differ(entry, folder, before)) and objects.blob_id(_read(entry), oid) != oid:
            yield Change(path, "changed", oid)
    for name, (mode, oid) in unmatched.items():
        if mode.startswith("100"):
            yield Change(_join(folder, name), "deleted", oid)
        elif mode != "40000" or _join(folder, name) not in listed:
            raise _UnsureError


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _may_differ(entry: os.DirEntry[str], folder: str, before: SeenFolders) -> bool:
    """Whether a file's times allow that it has changed since the last scan."""
    if os.name == "nt":
        return True
    status = entry.stat(follow_symlinks=False)
    return folder not in before.times or max(status.st_ctime_ns, status.st_mtime_ns) > before.began_ns - STEP_NS


def _read(entry: os.DirEntry[str]) -> bytes:
    if entry.stat(follow_symlinks=False).st_size >= disk.MAX_READ_BYTES:
        raise _UnsureError
    try:
        return Path(entry.path).read_bytes()
    except OSError as error:
        raise _UnsureError from error


def _without_ignored(repo: Repository, differing: list[Change]) -> list[Change]:
    added = b"".join(b"./" + os.fsencode(change.path) + b"\0" for change in differing if change.kind == "added")
    if not added:
        return differing
    arguments = ("check-ignore", "-z", "--stdin", "--no-index")
    result = repository.attempt(repo, *arguments, stdin=added, env={"GIT_LITERAL_PATHSPECS": "0"})
    if result.status not in (0, 1):
        raise _UnsureError
    ignored = frozenset(path.removeprefix("./") for path in os.fsdecode(result.out).split("\0"))
    return [change for change in differing if change.path not in ignored]
