"""Three texts into one: what two sides made of a common one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from mdmem.errors import GitError
from mdmem.history.git import git_index, repository
from mdmem.history.git.repository import Repository

BEGIN = b"<!-- mdmem:both: one version -->"
MIDDLE = b"<!-- mdmem:both: the other version -->"
END = b"<!-- mdmem:both: end -->"
"""Around two texts of which a person is to choose; comments, so that the note reads and is found as before."""

MARK_CHARS = 31

FOLDER_PREFIX = git_index.MERGE_FOLDERS.removesuffix("*")
"""Begins the name of the folder, in the git folder, where three texts lie while they are merged."""


class Merged(NamedTuple):
    """The result, and how many places both sides had changed differently; there, both texts are in it, marked."""

    data: bytes
    conflicts: int


def three_way(
    repo: Repository, ours: bytes, base: bytes, theirs: bytes, *, union: bool = False, added: bool = False
) -> Merged:
    """Bring what `theirs` did to `base` into `ours`.

    union: where both changed the same lines, keep the lines of both, unmarked. added: do so where both only added some.

    Raises:
        GitError: when git fails.
    """
    if ours == theirs or base == theirs:
        return Merged(ours, 0)
    if base == ours:
        return Merged(theirs, 0)
    words = ["merge-file", "-p", "--marker-size", str(MARK_CHARS), "--union" if union else "--diff3"]
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=repo.git_dir) as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        done = repository.attempt(repo, *words, *map(str, paths))
    if done.status > 127:
        raise GitError(f"git could not merge two texts in {repo.root}: {repository.reason(done)}")
    return _marked(done.out, added) if done.status and not union else Merged(done.out, done.status)


class _Place(NamedTuple):
    """The lines of one place that both sides had changed, in our version, in what both come from, in theirs."""

    ours: list[bytes]
    base: list[bytes]
    theirs: list[bytes]


def _marked(data: bytes, added: bool) -> Merged:
    """Write both versions of each place between marks; with `added`, lines that both sides only added without."""
    fences = [mark * MARK_CHARS for mark in (b"<", b"|", b"=", b">")]
    done: list[bytes] = []
    place = _Place([], [], [])
    at = conflicts = 0
    for line in data.split(b"\n"):
        fence = fences.index(line[:MARK_CHARS]) + 1 if line[:MARK_CHARS] in fences else 0
        if fence == len(fences):
            conflicts += _settle(place, done, added)
            place, at = _Place([], [], []), 0
        elif fence:
            at = fence
        elif at:
            place[at - 1].append(line)
        else:
            done.append(line)
    return Merged(b"\n".join(done), conflicts)


def _settle(place: _Place, done: list[bytes], added: bool) -> bool:
    """Append what becomes of one place; return whether a person is to choose."""
    ours, base, theirs = place
    before = _shared(ours, theirs)
    after = _shared(ours[before:][::-1], theirs[before:][::-1])
    ends = (ours[:before], ours[len(ours) - after :])
    ours, theirs = (lines[before : len(lines) - after] for lines in (ours, theirs))
    choose = bool(base) or not added
    if choose:
        middle = [BEGIN, *ours, MIDDLE, *theirs, END]
    else:
        middle = [line for lines in sorted((ours, theirs)) for line in lines]
    done += [*ends[0], *middle, *ends[1]]
    return choose


def _shared(one: list[bytes], other: list[bytes]) -> int:
    """Count the lines that two lists begin with alike."""
    same = (at for at, (line, like) in enumerate(zip(one, other, strict=False)) if line != like)
    return next(same, min(len(one), len(other)))
