"""Folder scan: lists the folders of a vault that have changed, and compares their files with the last commit.

It reads no index of git: of a folder it needs an lstat, of a changed one also its names, and the commit's tree of it.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mdmem.history import changes
from mdmem.history.changes import Change, State
from mdmem.history.git import git_index, objects, repository
from mdmem.history.git.environment import PATTERNS
from mdmem.history.git.objects import TreeEntries
from mdmem.history.git.repository import Repository
from mdmem.lazy_pattern import lazy
from mdmem.vault import disk, layout

FOLDERS_AT_ONCE = 500
"""Number of trees of a commit in memory at a time."""

STEP_NS = 2_000_000_000
"""Coarsest resolution of a file system's times: an mtime this recent may stay the same after another change."""


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
    stamp: git_index.IndexStamp | None
    rules: int
    times: dict[str, int]
    left: list[str]
    began_ns: int
    whole: float
    cost: float
    token: str


_Entries = list["os.DirEntry[str]"]


class UnsureError(Exception):
    """A fast scan cannot decide: a full scan is needed."""


def walk(
    root: str, before: Mapping[str, int], began_ns: int, to_read: Collection[str] = (), *, is_heard: bool = False
) -> tuple[dict[str, int], set[str]]:
    """Read the folders that are new or have another mtime; return the times of all folders, and which were read.

    to_read: folders to read in any case. is_heard: no other known folder has changed. Deleted folders count as read.

    Raises UnsureError when a folder cannot be read, GitError when git would wait for a pipe.
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


def compare(repo: Repository, last: SeenFolders, listed: Collection[str], doubted: Collection[str]) -> State:
    """Compare folders with the last commit. doubted: files that may differ whatever their times say.

    Only some folders are in memory at a time: there may be as many files as the vault has.

    Raises UnsureError when git has to decide.
    """
    differing: list[Change] = []
    root, folders = str(repo.root), iter(listed)
    while some_folders := list(islice(folders, FOLDERS_AT_ONCE)):
        if any("\n" in folder for folder in some_folders):
            raise UnsureError
        trees = objects.trees(repo, last.head, some_folders)
        for folder in some_folders:
            entries = _entries(root, folder) or []
            differing += _differences(folder, entries, trees.get(folder, {}), last, listed, doubted)
        if len(differing) > changes.MOST:
            raise UnsureError
    differing = sorted(_without_ignored(repo, differing))
    if any(change.path.rpartition("/")[2] in changes.RULES for change in differing):
        raise UnsureError
    in_vault = [change for change in differing if changes.is_own(change.path)]
    beside = [change for change in differing if not changes.is_own(change.path)]
    return State(last.branch, last.head, in_vault, [], beside)


def _differences(
    folder: str,
    entries: _Entries,
    tree: TreeEntries,
    before: SeenFolders,
    listed: Collection[str],
    doubted: Collection[str],
) -> Iterable[Change]:
    """Yield how a folder differs from the commit's tree."""
    unmatched = dict(tree)
    deleted_names = {folded(name) for name in unmatched.keys() - {entry.name for entry in entries}}
    for entry in entries:
        path = _join(folder, entry.name)
        mode, oid = unmatched.pop(entry.name, ("", ""))
        if entry.name == ".git" or (mode and (mode == "40000") != entry.is_dir(follow_symlinks=False)):
            raise UnsureError
        if entry.is_dir(follow_symlinks=False):
            continue
        if not mode:
            if folded(entry.name) in deleted_names:
                raise UnsureError  # the file system may treat both names as one
            if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield Change(path, "added")
        elif not mode.startswith("100") or not entry.is_file(follow_symlinks=False):
            raise UnsureError
        elif (path in doubted or _may_differ(entry, folder, before)) and objects.blob_id(_read(entry), oid) != oid:
            yield Change(path, "changed", oid)
    for name, (mode, oid) in unmatched.items():
        if mode.startswith("100"):
            yield Change(_join(folder, name), "deleted", oid)
        elif mode != "40000" or _join(folder, name) not in listed:
            raise UnsureError


def folded(name: str) -> str:
    """Return what some system may take a name or path for: two names that any system takes for one are the same."""
    if name.isascii():
        return name.lower()
    visible = _IGNORABLE.sub("", unicodedata.normalize("NFD", name))
    return unicodedata.normalize("NFD", visible.upper().casefold())


_IGNORABLE = lazy(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Characters that are not shown, which disks with Unicode's case folding skip when they compare names."""


def _may_differ(entry: os.DirEntry[str], folder: str, before: SeenFolders) -> bool:
    """Whether a file's times allow that it has changed since the last scan."""
    if os.name == "nt":
        return True
    status = entry.stat(follow_symlinks=False)
    return folder not in before.times or max(status.st_ctime_ns, status.st_mtime_ns) > before.began_ns - STEP_NS


def _read(entry: os.DirEntry[str]) -> bytes:
    if entry.stat(follow_symlinks=False).st_size >= disk.MAX_READ_BYTES:
        raise UnsureError
    try:
        return Path(entry.path).read_bytes()
    except OSError as error:
        raise UnsureError from error


def _without_ignored(repo: Repository, differing: list[Change]) -> list[Change]:
    added = b"".join(b"./" + os.fsencode(change.path) + b"\0" for change in differing if change.kind == "added")
    if not added:
        return differing
    arguments = ("check-ignore", "-z", "--stdin", "--no-index")
    result = repository.attempt(repo, *arguments, stdin=added, env=PATTERNS)
    if result.status not in (0, 1):
        raise UnsureError
    ignored = frozenset(path.removeprefix("./") for path in os.fsdecode(result.out).split("\0"))
    return [change for change in differing if change.path not in ignored]


def refuse_other(root: str, folders: Collection[str]) -> None:
    """Refuse a folder behind a link or in another repository. Raises UnsureError when there is one."""
    with_parents = {path for folder in folders for path in (folder, *layout.folders_above(folder))}
    for folder in with_parents - {""}:
        is_other = _time(root, folder) is None and os.path.lexists(f"{root}/{folder}")
        if is_other or os.path.lexists(f"{root}/{folder}/.git"):
            raise UnsureError


def _entries(root: str, folder: str) -> _Entries | None:
    """List a folder; None when it was deleted. Raises UnsureError when it cannot be read."""
    try:
        with os.scandir(f"{root}/{folder}") as scan:
            return [entry for entry in scan if folder or entry.name != ".git"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnsureError from error


def _time(root: str, folder: str) -> int | None:
    try:
        status = os.lstat(f"{root}/{folder}" if folder else root)
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISDIR(status.st_mode) else None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
