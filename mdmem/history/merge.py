"""Three texts into one: what two sides made of a common one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from mdmem.errors import GitError
from mdmem.history import index, repository
from mdmem.history.repository import Repository

BEGIN = b"<!-- mdmem:both: one version -->"
MIDDLE = b"<!-- mdmem:both: the other version -->"
END = b"<!-- mdmem:both: end -->"
"""Around two texts of which a person is to choose; comments, so that the note reads and is found as before."""

MARK_CHARS = 31

FOLDER_PREFIX = index.MERGE_FOLDERS.removesuffix("*")
"""Begins the name of the folder, in the git folder, where three texts lie while they are merged."""


class Merged(NamedTuple):
    """The result, and how many places both sides had changed differently; there, both texts are in it, marked."""

    data: bytes
    conflicts: int


def three_way(repo: Repository, ours: bytes, base: bytes, theirs: bytes, *, union: bool = False) -> Merged:
    """Bring what `theirs` did to `base` into `ours`.

    union: where both changed the same lines, keep the lines of both, unmarked.

    Raises:
        GitError: when git fails.
    """
    if ours == theirs or base == theirs:
        return Merged(ours, 0)
    if base == ours:
        return Merged(theirs, 0)
    words = ["merge-file", "-p", "--marker-size", str(MARK_CHARS), *(["--union"] if union else [])]
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=repo.git_dir) as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        done = repository.attempt(repo, *words, *map(str, paths))
    if done.status > 127:
        raise GitError(f"git could not merge two texts in {repo.root}: {repository.reason(done)}")
    return Merged(_marked(done.out) if done.status else done.out, done.status)


def _marked(data: bytes) -> bytes:
    marks = {b"<" * MARK_CHARS: BEGIN, b"=" * MARK_CHARS: MIDDLE, b">" * MARK_CHARS: END}
    lines = data.split(b"\n")
    return b"\n".join(marks.get(line[:MARK_CHARS], line) for line in lines)
