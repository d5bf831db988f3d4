"""Three texts into one: what two sides made of a common one."""

from __future__ import annotations

import tempfile
from difflib import SequenceMatcher
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

    union: where both changed the same lines, keep the lines of both, unmarked. added: do what both did, wherever
    they have not both put something else in the place of the same line.

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
    """Write both versions of each place between marks; with `added`, what was only added or deleted without."""
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
    together = _together(place) if added else None
    if together is not None:
        done += together
        return False
    ours, _, theirs = place
    before = _shared(ours, theirs)
    after = _shared(ours[before:][::-1], theirs[before:][::-1])
    ends = (ours[:before], ours[len(ours) - after :])
    ours, theirs = (lines[before : len(lines) - after] for lines in (ours, theirs))
    if not place.base and not (ours and theirs):  # one has lines more, and nothing was there to be deleted
        done += [*ends[0], *ours, *theirs, *ends[1]]
        return False
    done += [*ends[0], BEGIN, *ours, MIDDLE, *theirs, END, *ends[1]]
    return True


def _together(place: _Place) -> list[bytes] | None:
    """Do what both sides did; None where both put something else in the place of the same line."""
    ours, base, theirs = place
    if not base:
        before = _shared(ours, theirs)
        after = _shared(ours[before:][::-1], theirs[before:][::-1])
        middles = sorted(lines[before : len(lines) - after] for lines in (ours, theirs))
        return [*ours[:before], *middles[0], *middles[1], *ours[len(ours) - after :]]
    one, other = _aligned(base, ours), _aligned(base, theirs)
    kept = {at for at, _ in one} & {at for at, _ in other}
    is_gone_twice = len({at for at, _ in (*one, *other)}) < len(base)
    if is_gone_twice and len(ours) > len(one) and len(theirs) > len(other):
        return None
    new: list[list[list[bytes]]] = [[] for _ in range(len(base) + 1)]
    for lines, pairs in ((ours, one), (theirs, other)):
        ends = zip([(-1, -1), *pairs], [*pairs, (len(base), len(lines))], strict=True)
        for (before, start), (_, end) in ends:
            new[before + 1].append(lines[start + 1 : end])
    made: list[bytes] = []
    for at, additions in enumerate(new):
        made += [line for lines in sorted(additions) for line in lines]
        made += [base[at]] if at in kept else []
    return made


def _aligned(base: list[bytes], lines: list[bytes]) -> list[tuple[int, int]]:
    """Return which lines of two lists are the same ones, by their places in both."""
    if (places := _found(base, lines)) is not None:
        return list(enumerate(places))
    if (places := _found(lines, base)) is not None:
        return [(at, number) for number, at in enumerate(places)]
    blocks = SequenceMatcher(None, base, lines, autojunk=False).get_matching_blocks()
    return [(block.a + more, block.b + more) for block in blocks for more in range(block.size)]


def _found(lines: list[bytes], among: list[bytes]) -> list[int] | None:
    """Return where lines stand among others, in their order; None when some do not."""
    places: list[int] = []
    at = -1
    for line in lines:
        try:
            at = among.index(line, at + 1)
        except ValueError:
            return None
        places.append(at)
    return places


def _shared(one: list[bytes], other: list[bytes]) -> int:
    """Count the lines that two lists begin with alike."""
    same = (at for at, (line, like) in enumerate(zip(one, other, strict=False)) if line != like)
    return next(same, min(len(one), len(other)))
