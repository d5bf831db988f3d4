"""The user's index: what they staged stays staged, and `git status` stays clean.

Commits are made without an index. Then the entries of the committed files, and only those, are updated in a
private copy, which replaces the index by git's own lock protocol before the branch moves. `index.lock` is made as
a hard link to the private copy: this tells a lock that a killed mdmem left from one of another program, which is
never touched.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from mdmem.history.git import checked_out, part, repository, writer
from mdmem.history.git.repository import Repository

PREFIX = "mdmem-index-"
PURGE_FOLDER = "mdmem-purge"
MERGE_FOLDERS = "mdmem-merge-*"

ABANDONED_SECONDS = 600.0
"""Merging takes milliseconds. It runs without the committer's lock, so only age shows that a folder is abandoned."""

GONE = b"0" * 6

BYTES = "* -text -eol -ident"

LARGE_BYTES = 4 << 20
"""From this size (about 25,000 notes), an index is kept in `SHORT_PATHS`, unless git's `index.version` is set there."""

SHORT_PATHS = 4
"""The version of git's index format in which paths are shortened by what they share (`man gitformat-index`).

git writes the whole index for every commit: 40 % fewer bytes in this version. git recommends it for many files
(`feature.manyFiles`).
"""


IndexStamp = tuple[int, int, int]
"""Identifies a version of a file: inode, size, mtime in nanoseconds."""


class Copy(NamedTuple):
    """A private copy of the index. seen: the index's stamp when it was copied; None when there was no index."""

    path: Path
    seen: IndexStamp | None


class IndexEntry(NamedTuple):
    """An index entry: mode as six digits, or `GONE`; the object's id in hex; the path as bytes."""

    mode: bytes
    oid: bytes
    path: bytes


class Published(Enum):
    """The outcome of `publish`."""

    YES = "it is the index now"
    CHANGED = "the index has changed since the copy was taken"
    BUSY = "another git keeps the index locked"


@contextmanager
def copied(repo: Repository) -> Iterator[Copy]:
    """Copy the index; the copy is removed at the end."""
    path = repo.git_dir / f"{PREFIX}{secrets.token_hex(6)}"
    seen = stamp(repo.git_dir / "index")
    try:
        if seen:
            _take_copy(repo.git_dir / "index", path)
        yield Copy(path, seen)
    finally:
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".lock").unlink(missing_ok=True)


def _take_copy(index: Path, path: Path) -> None:
    """Link the index under a second name. Every git writes a new file and renames it, so this one never changes.

    Without links, copy it with its mtime: git distrusts entries that are as new as the index.
    """
    try:
        path.hardlink_to(index)
    except (OSError, NotImplementedError):
        shutil.copy2(index, path)


def env(copy: Copy) -> dict[str, str]:
    """Return the environment in which git uses the copy, and may write refreshed file times to it."""
    return {"GIT_INDEX_FILE": str(copy.path), "GIT_OPTIONAL_LOCKS": "1"}


def catch_up(repo: Repository, lock_fd: int) -> bool:
    """Finish an interrupted commit and bring the index up to the last commit; False when another git interferes."""
    if writer.marked(repo) is None:
        return True
    branch = checked_out.branch(repo)
    writer.heal(repo, branch)
    tip = writer.tip(repo, branch)
    head, goal = writer.interrupted(repo)
    target = goal if goal and head == tip else tip
    with copied(repo) as copy:
        _bring_copy(repo, copy, target, lock_fd)
        if publish(repo, copy) is not Published.YES:
            return False
    if target != tip and not writer.move(repo, branch, tip, target, lock_fd):
        return False
    writer.unmark(repo)
    return True


def catch_up_copy(repo: Repository, copy: Copy, lock_fd: int) -> None:
    """Bring a copy up to the last commit, if an interrupted run left the index before or after it."""
    if writer.marked(repo) is not None:
        _bring_copy(repo, copy, checked_out.tip(repo), lock_fd)


def _bring_copy(repo: Repository, copy: Copy, target: str, lock_fd: int) -> None:
    """Bring a copy to commit `target` from either commit at which an interrupted run may have left the index."""
    base, (_, goal) = writer.marked(repo), writer.interrupted(repo)
    if goal:
        advance(repo, copy, goal, target, lock_fd)
    if base is not None:
        advance(repo, copy, base, target, lock_fd)


def move(repo: Repository, copy: Copy, branch: str, head: str, goal: str, lock_fd: int) -> bool:
    """Publish the copy, then move the branch from `head` to `goal`; False when either had changed: look again.

    This is git's own order. Another git that commits in between commits our index entries too, and we retry. In the
    other order its index would lack our files, and its commit would revert ours. When another git holds the index
    lock, only the branch moves, and the next run updates the index.
    """
    writer.mark(repo, head, goal)
    published = publish(repo, copy)
    if published is Published.CHANGED:
        writer.mark(repo, head)
        return False
    seen = stamp(repo.git_dir / "index")
    if not writer.move(repo, branch, head, goal, lock_fd):
        return False
    if published is Published.YES and stamp(repo.git_dir / "index") == seen:
        writer.unmark(repo)
    return True


def follow(repo: Repository, branch: str, head: str, goal: str, lock_fd: int) -> None:
    """Move index and branch from `head` to `goal`, unless another git moves the branch meanwhile."""
    for _ in range(3):
        with copied(repo) as copy:
            advance(repo, copy, head, goal, lock_fd)
            if move(repo, copy, branch, head, goal, lock_fd) or writer.tip(repo, branch) != head:
                break
    else:
        writer.move(repo, branch, head, goal, lock_fd)
    catch_up(repo, lock_fd)


def advance(repo: Repository, copy: Copy, base: str, head: str, lock_fd: int) -> None:
    """Update a copy from commit `base` to commit `head`, except for paths that did not match `base`.

    "" means no commit.
    """
    if base == head:
        return
    base, head = (oid or repository.empty_tree(repo) for oid in (base, head))
    command = ("diff-index", "--cached", "--name-only", "--no-renames", "-z", base)
    staged = set(repository.fields(repo, *command, env=env(copy)))
    update(repo, copy, (entry for entry in tree_changes(repo, base, head) if entry.path not in staged), lock_fd)


def tree_changes(repo: Repository, base: str, head: str) -> Iterator[IndexEntry]:
    """Yield the files that differ in `head` from `base`; a deleted file has the mode `GONE`."""
    for meta, path in _compared(repo, base, head):
        yield IndexEntry(GONE if meta.endswith(b" D") else meta.split(b" ")[1], meta.split(b" ")[3], path)


def files_changed(
    repo: Repository, base: str, head: str
) -> Iterator[tuple[str, tuple[str, str] | None, tuple[str, str] | None]]:
    """Yield the paths that differ between two commits, each with (mode, id) before and after; None for no file.

    base: "" means no commit.
    """
    for meta, path in _compared(repo, base or repository.empty_tree(repo), head):
        old_mode, new_mode, old_id, new_id, _ = meta.decode("ascii").removeprefix(":").split(" ")
        yield (
            os.fsdecode(path),
            (old_mode, old_id) if old_mode.strip("0") else None,
            (new_mode, new_id) if new_mode.strip("0") else None,
        )


def _compared(repo: Repository, base: str, head: str) -> Iterator[tuple[bytes, bytes]]:
    fields = repository.fields(repo, "diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", base, head)
    return zip(fields, fields, strict=True)


def may_convert(data: bytes) -> bool:
    """Whether git may list an unchanged file as changed, because it converts line endings and `$Id$`."""
    return b"\r" in data or b"$Id" in data


def keep_bytes(repo: Repository) -> None:
    """Make git compare files byte by byte in this clone, whatever the vault's .gitattributes say about line endings."""
    file = repo.common_dir / "info" / "attributes"
    text = file.read_text("utf-8") if file.is_file() else ""
    if BYTES not in text:
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text.rstrip()}\n{BYTES}\n".lstrip(), encoding="utf-8")


def update(repo: Repository, copy: Copy, entries: Iterable[IndexEntry], lock_fd: int) -> None:
    """Write any number of entries into a copy."""
    vault_part = part.load(repo)
    may_lack = bool(vault_part or part.NEVER_IN_NAMES)
    with tempfile.TemporaryFile(dir=repo.git_dir) as lines, tempfile.TemporaryFile(dir=repo.git_dir) as absent:
        for entry in entries:
            lines.write(b"%b %b\t%b\0" % entry)
            if may_lack and entry.mode != GONE and part.is_absent(repo, vault_part, os.fsdecode(entry.path)):
                absent.write(b"%b\0" % entry.path)
        index_info = (*_shortened(repo, copy), "--index-info")
        for lines_file, options in ((lines, index_info), (absent, ("--skip-worktree", "--stdin"))):
            if lines_file.tell():
                lines_file.seek(0)
                repository.run(repo, "update-index", "-z", *options, stdin=lines_file, env=env(copy), lock_fd=lock_fd)


def skip_worktree(
    repo: Repository, paths: Iterable[str], copy: Copy | None = None, *, skip: bool = True, lock_fd: int | None = None
) -> None:
    """Mark files that a partial vault lacks, so that nobody takes them for deleted, or remove the mark.

    copy: in this copy of the index; None: in the index itself.
    """
    how = "--skip-worktree" if skip else "--no-skip-worktree"
    with tempfile.TemporaryFile(dir=repo.git_dir) as listed:
        listed.writelines(os.fsencode(path) + b"\0" for path in paths)
        if listed.tell():
            listed.seek(0)
            changed = env(copy) if copy else None
            repository.run(repo, "update-index", "-z", how, "--stdin", stdin=listed, env=changed, lock_fd=lock_fd)


@contextmanager
def read_from(repo: Repository, base: str, lock_fd: int) -> Iterator[Copy]:
    """Make a private index with the files of a commit; it is removed at the end, unless it is published."""
    copy = Copy(repo.git_dir / f"{PREFIX}{secrets.token_hex(6)}", None)
    try:
        repository.run(repo, "read-tree", base, env=env(copy), lock_fd=lock_fd)
        yield copy
    finally:
        copy.path.unlink(missing_ok=True)


def _shortened(repo: Repository, copy: Copy) -> tuple[str, ...]:
    """Return the words that make git keep a large index in `SHORT_PATHS`."""
    if not copy.path.exists() or copy.path.stat().st_size < LARGE_BYTES:
        return ()
    with copy.path.open("rb") as file:
        version = int.from_bytes(file.read(8)[4:])
    if version == SHORT_PATHS or repository.attempt(repo, "config", "index.version").status == 0:
        return ()
    return "--index-version", str(SHORT_PATHS)


def tree_with(repo: Repository, base: str, entries: Iterable[IndexEntry], lock_fd: int) -> str:
    """Return the id of a tree: that of commit `base` with these entries added or replaced."""
    with read_from(repo, base, lock_fd) as copy:
        update(repo, copy, entries, lock_fd)
        return repository.run(repo, "write-tree", env=env(copy), lock_fd=lock_fd).decode("ascii").strip()


def publish(repo: Repository, copy: Copy, wait_seconds: float = 0.5) -> Published:
    """Replace the index by the copy, unless the index has changed since or another git holds its lock."""
    if not copy.path.exists():
        return Published.YES  # an index without entries
    lock = repo.git_dir / "index.lock"
    if not _link(copy.path, lock, wait_seconds):
        return Published.BUSY
    try:
        if stamp(repo.git_dir / "index") != copy.seen:
            lock.unlink()
            return Published.CHANGED
        if stamp(copy.path) == copy.seen:
            lock.unlink()  # git wrote nothing, and rename(2) between two names of one file keeps both
            return Published.YES
        lock.replace(repo.git_dir / "index")
    except OSError:
        lock.unlink(missing_ok=True)  # a leftover lock would block every git
        raise
    return Published.YES


def heal(repo: Repository) -> None:
    """Remove what a killed mdmem left: private copies, our locks of the index and `PENDING`, temporary folders.

    Call it with the committer's lock held, when no other process of ours uses them.
    """
    writer.unlock_pending(repo)
    lock = repo.git_dir / "index.lock"
    for leftover in repo.git_dir.glob(PREFIX + "*"):
        if lock.exists() and leftover.exists() and lock.samefile(leftover):
            lock.unlink(missing_ok=True)
        leftover.unlink(missing_ok=True)
    shutil.rmtree(repo.git_dir / PURGE_FOLDER, ignore_errors=True)
    for folder in repo.git_dir.glob(MERGE_FOLDERS):
        with suppress(FileNotFoundError):
            if abs(time.time() - folder.stat().st_mtime) > ABANDONED_SECONDS:  # the clock may have been set back
                shutil.rmtree(folder, ignore_errors=True)


def _link(source: Path, lock: Path, wait_seconds: float) -> bool:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            _link_or_copy(source, lock)
        except FileExistsError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _link_or_copy(source: Path, lock: Path) -> None:
    try:
        lock.hardlink_to(source)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # no hard links here
        with lock.open("xb") as file:
            try:
                file.write(source.read_bytes())
                file.flush()
            except OSError:
                lock.unlink()
                raise


def stamp(path: Path) -> IndexStamp | None:
    """Return the stamp of an index or its copy; None when there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
