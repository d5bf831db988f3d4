"""Three texts into one: what two sides made of a common one."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from mdmem.errors import GitError
from mdmem.history.git import git_index, repository
from mdmem.history.git.repository import Repository

MARK_CHARS = 31

FOLDER_PREFIX = git_index.MERGE_FOLDERS.removesuffix("*")
"""Begins the name of the folder, in the git folder, where three texts lie while they are merged."""


_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)")
_STRUCTURE = re.compile(rb"\s*(?:$|[-*+>|#]|\d+[.)]\s|`{3}|~{3})")
"""Matches a line that is a block by itself, or ends one: blank, an item, a row, a quote, a heading, a fence."""
_ITEM = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s")


class KeptBoth(NamedTuple):
    """A place of a text that both sides have put something else in: both versions are there.

    one, other: the first line of each, counted from 1, and the last. They may share lines.
    """

    one: tuple[int, int]
    other: tuple[int, int]


class Versions(NamedTuple):
    """The lines that two sides have in one place; the same ones where they agree."""

    ours: list[bytes]
    theirs: list[bytes]

    @property
    def agree(self) -> bool:
        """Whether there is nothing to choose."""
        return self.ours == self.theirs


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

    Raises GitError when git fails.
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
            parts += _agreed([line])
    lines, kept = _joined(parts)
    return Merged(b"\n".join(lines), kept)


def _settled(place: _Place, added: bool) -> list[Versions]:
    """Return what becomes of one place: lines on which both sides agree, and versions of which a person chooses."""
    together = _together(place) if added else None
    if together is not None:
        return _agreed(together)
    ours, _, theirs = place
    before = _shared(ours, theirs)
    after = _shared(ours[before:][::-1], theirs[before:][::-1])
    middle = Versions(ours[before : len(ours) - after], theirs[before : len(theirs) - after])
    if added or not place.base:  # nothing that was there was deleted by one and changed by the other
        whole = _longer(middle)
        middle = middle if whole is None else Versions(whole, whole)
    middles = _agreed(middle.ours) if middle.agree else [middle]
    return [*_agreed(ours[:before]), *middles, *_agreed(ours[len(ours) - after :])]


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
    found = SequenceMatcher(None, base, lines, autojunk=False).get_matching_blocks()
    return [(block.a + more, block.b + more) for block in found for more in range(block.size)]


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


# -- two versions of a place, one after the other: each whole, no fence left open, nothing there twice --


def _agreed(lines: list[bytes]) -> list[Versions]:
    """Return lines on which both sides agree, each by itself."""
    return [Versions([line], [line]) for line in lines]


def _longer(versions: Versions) -> list[bytes] | None:
    """Return the version that has all lines of the other; None when each has some of its own."""
    one, other = sorted(versions, key=lambda lines: (-len(lines), lines))
    return one if Counter(other) <= Counter(one) else None


def _joined(parts: list[Versions]) -> tuple[list[bytes], tuple[KeptBoth, ...]]:
    """Write parts as one text, and name the places that have both versions.

    The same for either direction. Two versions that are paragraphs by themselves stay so.
    """
    lines: list[bytes] = []
    kept: list[KeptBoth] = []
    parts = _whole(parts)
    fence = b""
    for at, part in enumerate(parts):
        if part.agree:
            lines += part.ours
        else:
            below = parts[at + 1].ours[0] if at + 1 < len(parts) else b""
            is_alone = not fence and not b"".join(lines[-1:]).strip() and not below.strip()
            made, place = _in_turn(part, is_alone=is_alone)
            kept.append(KeptBoth(*((len(lines) + first, len(lines) + last) for first, last in place)))
            lines += made
        fence = _fence_after(part.ours, fence)
    return lines, tuple(kept)


def _in_turn(versions: Versions, *, is_alone: bool) -> tuple[list[bytes], KeptBoth]:
    """Return one version and then the other; lines in which one ends and the other begins are there once."""
    first, second = sorted(versions, key=lambda lines: (_fence_after(lines, b"") != b"", lines))
    for one, other in ((first, second), (second, first)):
        shared = next(
            size for size in range(min(len(one), len(other)), -1, -1) if one[len(one) - size :] == other[:size]
        )
        if shared:
            begin = len(one) - shared + 1
            return [*one, *other[shared:]], KeptBoth((1, len(one)), (begin, begin + len(other) - 1))
    are_apart = is_alone and first and second and not (_ITEM.match(first[-1]) and _ITEM.match(second[0]))
    gap = [b"\r" if first[-1].endswith(b"\r") else b""] if are_apart else []
    begin = len(first) + len(gap) + 1
    return [*first, *gap, *second], KeptBoth((1, len(first)), (begin, begin + len(second) - 1))


def _whole(parts: list[Versions]) -> list[Versions]:
    """Widen the places with two versions until each holds whole blocks.

    A fence that one version opens is closed in it; two places of one paragraph, or of one fence, are one place.
    """
    done: list[Versions] = []
    fence = b""
    at = 0
    while at < len(parts):
        end = at + 1
        if not parts[at].agree:
            end = _closed(parts, at, fence)
            while (more := _same_block(parts, end, fence)) >= end:
                end = _closed(parts, more, fence)
        ours, theirs = ([line for part in parts[at:end] for line in part[side]] for side in (0, 1))
        done.append(Versions(ours, theirs))
        fence = _fence_after(ours, fence)
        at = end
    return done


def _closed(parts: list[Versions], at: int, fence: bytes) -> int:
    """Return where a place ends that begins at `at`: where both versions are in the same fence again, or in none."""
    states = (fence, fence)
    for end in range(at, len(parts)):
        states = (_fence_after(parts[end].ours, states[0]), _fence_after(parts[end].theirs, states[1]))
        if states == (fence, fence):
            return end + 1
    return at + 1  # a fence that is never closed: it was written so


def _same_block(parts: list[Versions], end: int, fence: bytes) -> int:
    """Return where the next place with two versions is, when only lines of the same block are in between; else -1."""
    for at in range(end, len(parts)):
        if not parts[at].agree:
            return at
        line = parts[at].ours
        if _fence_after(line, fence) != fence or (not fence and any(map(_STRUCTURE.match, line))):
            break
    return -1


def _fence_after(lines: list[bytes], fence: bytes) -> bytes:
    """Return the fence that is open after these lines, when `fence` was before them; b"" for none."""
    for line in lines:
        found = _FENCE.match(line.rstrip())
        if found and not fence:
            fence = found[1]
        elif found and not found[2].strip() and found[1].startswith(fence):
            fence = b""
    return fence
