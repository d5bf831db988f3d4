"""Three texts into one: what two sides made of a common one."""

from __future__ import annotations

import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from mdmem.errors import GitError
from mdmem.history.git import git_index, repository
from mdmem.history.git.repository import Repository
from mdmem.history.merging import blocks
from mdmem.history.merging.blocks import KeptBoth, Versions

MARK_CHARS = 31

FOLDER_PREFIX = git_index.MERGE_FOLDERS.removesuffix("*")
"""Begins the name of the folder, in the git folder, where three texts lie while they are merged."""


class Merged(NamedTuple):
    """The result, and the places that both sides have changed differently, where both versions are kept."""

    data: bytes
    kept: tuple[KeptBoth, ...] = ()


def three_way(
    repo: Repository, ours: bytes, base: bytes, theirs: bytes, *, union: bool = False, added: bool = False
) -> Merged:
    """Merge what `theirs` did to `base` into `ours`; the result is the same whichever of the two is ours.

    union: where both changed the same lines, keep the lines of both; that is no place to choose. added: do what
    both did, wherever they have not both put something else in the place of the same line.

    Raises:
        GitError: when git fails.
    """
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    words = ["merge-file", "-p", "--marker-size", str(MARK_CHARS), "--union" if union else "--diff3"]
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=repo.git_dir) as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        done = repository.attempt(repo, *words, *map(str, paths))
    if done.status > 127:
        raise GitError(f"git could not merge two texts in {repo.root}: {repository.reason(done)}")
    return _with_both(done.out, added) if done.status and not union else Merged(done.out)


class _Place(NamedTuple):
    """The lines of one place that both sides had changed, in our version, in what both come from, in theirs."""

    ours: list[bytes]
    base: list[bytes]
    theirs: list[bytes]


def _with_both(data: bytes, added: bool) -> Merged:
    """Put both versions of each place, one after the other, where git has put its marks."""
    fences = [mark * MARK_CHARS for mark in (b"<", b"|", b"=", b">")]
    parts: list[Versions] = []
    place = _Place([], [], [])
    at = 0
    for line in data.split(b"\n"):
        fence = fences.index(line[:MARK_CHARS]) + 1 if line[:MARK_CHARS] in fences else 0
        if fence == len(fences):
            parts += _settled(place, added)
            place, at = _Place([], [], []), 0
        elif fence:
            at = fence
        elif at:
            place[at - 1].append(line)
        else:
            parts += blocks.agreed([line])
    lines, kept = blocks.joined(parts)
    return Merged(b"\n".join(lines), kept)


def _settled(place: _Place, added: bool) -> list[Versions]:
    """Return what becomes of one place: lines on which both sides agree, and versions of which a person chooses."""
    together = _together(place) if added else None
    if together is not None:
        return blocks.agreed(together)
    ours, _, theirs = place
    before = _shared(ours, theirs)
    after = _shared(ours[before:][::-1], theirs[before:][::-1])
    middle = Versions(ours[before : len(ours) - after], theirs[before : len(theirs) - after])
    if added or not place.base:  # nothing that was there was deleted by one and changed by the other
        whole = blocks.longer(middle)
        middle = middle if whole is None else Versions(whole, whole)
    middles = blocks.agreed(middle.ours) if middle.agree else [middle]
    return [*blocks.agreed(ours[:before]), *middles, *blocks.agreed(ours[len(ours) - after :])]


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
