"""Three-way merge of texts."""

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
"""Prefix of the temporary folders, in the git directory, for the three texts of a merge."""


_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)")
_STRUCTURE = re.compile(rb"\s*(?:$|[-*+>|#]|\d+[.)]\s|`{3}|~{3})")
"""Matches a line that is or ends a block: blank, list item, table row, quote, heading, fence."""
_ITEM = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s")


class KeptBoth(NamedTuple):
    """A place that both sides changed differently; the text contains both versions.

    one, other: first and last line of each version, from 1. They may share lines.
    """

    one: tuple[int, int]
    other: tuple[int, int]


class Versions(NamedTuple):
    """The lines of both sides in one place; equal where they agree."""

    ours: list[bytes]
    theirs: list[bytes]

    @property
    def agree(self) -> bool:
        """Whether both sides are equal."""
        return self.ours == self.theirs


class Merged(NamedTuple):
    """The merged text, and the places where it contains both versions."""

    data: bytes
    kept: tuple[KeptBoth, ...] = ()


def three_way(
    repo: Repository, ours: bytes, base: bytes, theirs: bytes, *, union: bool = False, added: bool = False
) -> Merged:
    """Merge the changes from `base` to `theirs` into `ours`; swapping the sides gives the same result.

    union: keep both sides' lines where both changed the same ones, without reporting a place. added: apply both
    sides' changes, except where both replaced the same line.

    Raises GitError when git fails.
    """
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    arguments = ["merge-file", "-p", "--marker-size", str(MARK_CHARS), "--union" if union else "--diff3"]
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=repo.git_dir) as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        result = repository.attempt(repo, *arguments, *map(str, paths))
    if not 0 <= result.status <= 127:  # negative: a signal ended it
        raise GitError(f"git could not merge two texts in {repo.root}: {repository.reason(result)}")
    return _with_both_versions(result.out, added) if result.status else Merged(result.out)


class _Place(NamedTuple):
    """The lines of a place that both sides changed: ours, the common ancestor's, theirs."""

    ours: list[bytes]
    base: list[bytes]
    theirs: list[bytes]


def _with_both_versions(data: bytes, added: bool) -> Merged:
    """Replace each of git's conflict blocks by both versions, one after the other."""
    fences = [mark * MARK_CHARS for mark in (b"<", b"|", b"=", b">")]
    parts: list[Versions] = []
    place = _Place([], [], [])
    at = 0
    for line in data.split(b"\n"):
        fence = fences.index(line[:MARK_CHARS]) + 1 if line[:MARK_CHARS] in fences else 0
        if fence == len(fences):
            parts += _resolve(place, added)
            place, at = _Place([], [], []), 0
        elif fence:
            at = fence
        elif at:
            place[at - 1].append(line)
        else:
            parts += _agreed([line])
    lines, kept = _join(parts)
    return Merged(b"\n".join(lines), kept)


def _resolve(place: _Place, added: bool) -> list[Versions]:
    """Resolve one conflict block into lines on which both sides agree, and versions for a person to choose."""
    together = _with_all_changes(place) if added else None
    if together is not None:
        return _agreed(together)
    head, middle, tail = _around_difference(place.ours, place.theirs)
    if added or not place.base:  # no line was deleted by one side and changed by the other
        longer = _longer(middle)
        middle = middle if longer is None else Versions(longer, longer)
    middles = _agreed(middle.ours) if middle.agree else [middle]
    return [*_agreed(head), *middles, *_agreed(tail)]


def _with_all_changes(place: _Place) -> list[bytes] | None:
    """Apply both sides' changes; None where both replaced the same line."""
    ours, base, theirs = place
    if not base:
        head, middle, tail = _around_difference(ours, theirs)
        first, second = sorted(middle)
        return [*head, *first, *second, *tail]
    our_pairs, their_pairs = _aligned(base, ours), _aligned(base, theirs)
    unchanged = {at for at, _ in our_pairs} & {at for at, _ in their_pairs}
    both_dropped_a_line = len({at for at, _ in (*our_pairs, *their_pairs)}) < len(base)
    if both_dropped_a_line and len(ours) > len(our_pairs) and len(theirs) > len(their_pairs):
        return None
    added_at: list[list[list[bytes]]] = [[] for _ in range(len(base) + 1)]
    for lines, pairs in ((ours, our_pairs), (theirs, their_pairs)):
        ends = zip([(-1, -1), *pairs], [*pairs, (len(base), len(lines))], strict=True)
        for (before, start), (_, end) in ends:
            added_at[before + 1].append(lines[start + 1 : end])
    merged: list[bytes] = []
    for at, additions in enumerate(added_at):
        merged += [line for lines in sorted(additions) for line in lines]
        merged += [base[at]] if at in unchanged else []
    return merged


def _aligned(base: list[bytes], lines: list[bytes]) -> list[tuple[int, int]]:
    """Return the pairs of positions at which two lists have the same line."""
    if (places := _positions(base, lines)) is not None:
        return list(enumerate(places))
    if (places := _positions(lines, base)) is not None:
        return [(at, number) for number, at in enumerate(places)]
    blocks = SequenceMatcher(None, base, lines, autojunk=False).get_matching_blocks()
    return [(block.a + more, block.b + more) for block in blocks for more in range(block.size)]


def _positions(lines: list[bytes], among: list[bytes]) -> list[int] | None:
    """Return the positions of `lines` as a subsequence of `among`; None when they are not one."""
    places: list[int] = []
    at = -1
    for line in lines:
        try:
            at = among.index(line, at + 1)
        except ValueError:
            return None
        places.append(at)
    return places


def _around_difference(ours: list[bytes], theirs: list[bytes]) -> tuple[list[bytes], Versions, list[bytes]]:
    """Split two lists of lines into their common beginning, what differs, and their common end."""
    before = _common_prefix(ours, theirs)
    after = _common_prefix(ours[before:][::-1], theirs[before:][::-1])
    middle = Versions(ours[before : len(ours) - after], theirs[before : len(theirs) - after])
    return ours[:before], middle, ours[len(ours) - after :]


def _common_prefix(one: list[bytes], other: list[bytes]) -> int:
    """Return the length of the common prefix of two lists."""
    same = (at for at, (line, other_line) in enumerate(zip(one, other, strict=False)) if line != other_line)
    return next(same, min(len(one), len(other)))


# -- both versions of a place, one after the other: whole blocks, no open fence, no repeated lines ------


def _agreed(lines: list[bytes]) -> list[Versions]:
    """Return each line as a part on which both sides agree."""
    return [Versions([line], [line]) for line in lines]


def _longer(versions: Versions) -> list[bytes] | None:
    """Return the version that contains all lines of the other; None when each has lines of its own."""
    longer, shorter = sorted(versions, key=lambda lines: (-len(lines), lines))
    return longer if Counter(shorter) <= Counter(longer) else None


def _join(parts: list[Versions]) -> tuple[list[bytes], tuple[KeptBoth, ...]]:
    """Join parts into one text; also return the places that have both versions.

    Swapping the sides gives the same result. Versions that are separate paragraphs stay separate.
    """
    lines: list[bytes] = []
    kept: list[KeptBoth] = []
    parts = _widen_to_blocks(parts)
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
    """Return one version followed by the other; lines in which they overlap appear once."""
    first, second = sorted(versions, key=lambda lines: (_fence_after(lines, b"") != b"", lines))
    for upper, lower in ((first, second), (second, first)):
        overlap = _overlap(upper, lower)
        if overlap:
            begin = len(upper) - overlap + 1
            return [*upper, *lower[overlap:]], KeptBoth((1, len(upper)), (begin, begin + len(lower) - 1))
    are_apart = is_alone and first and not (_ITEM.match(first[-1]) and _ITEM.match(second[0]))
    gap = [b"\r" if first[-1].endswith(b"\r") else b""] if are_apart else []
    begin = len(first) + len(gap) + 1
    return [*first, *gap, *second], KeptBoth((1, len(first)), (begin, begin + len(second) - 1))


def _overlap(upper: list[bytes], lower: list[bytes]) -> int:
    """Return how many lines at the end of one list are also the beginning of the other."""
    sizes = range(min(len(upper), len(lower)), 0, -1)
    return next((size for size in sizes if upper[-size:] == lower[:size]), 0)


def _widen_to_blocks(parts: list[Versions]) -> list[Versions]:
    """Widen places with two versions to whole blocks.

    A fence is closed in the version that opens it; two places in one paragraph or fence become one.
    """
    widened: list[Versions] = []
    fence = b""
    at = 0
    while at < len(parts):
        end = at + 1
        if not parts[at].agree:
            end = _closed(parts, at, fence)
            while (more := _same_block(parts, end, fence)) >= end:
                end = _closed(parts, more, fence)
        ours, theirs = ([line for part in parts[at:end] for line in part[side]] for side in (0, 1))
        widened.append(Versions(ours, theirs))
        fence = _fence_after(ours, fence)
        at = end
    return widened


def _closed(parts: list[Versions], at: int, fence: bytes) -> int:
    """Return the end of a place that begins at `at`: where the fences that both versions opened are closed."""
    states = (fence, fence)
    for end in range(at, len(parts)):
        states = (_fence_after(parts[end].ours, states[0]), _fence_after(parts[end].theirs, states[1]))
        if states == (fence, fence):
            return end + 1
    return at + 1  # the fence is never closed in the original either


def _same_block(parts: list[Versions], end: int, fence: bytes) -> int:
    """Return where the next place with two versions is, if it is in the same block; else -1."""
    for at in range(end, len(parts)):
        if not parts[at].agree:
            return at
        line = parts[at].ours
        if _fence_after(line, fence) != fence or (not fence and any(map(_STRUCTURE.match, line))):
            break
    return -1


def _fence_after(lines: list[bytes], fence: bytes) -> bytes:
    """Return the fence that is open after these lines, b"" for none. fence: the one open before them."""
    for line in lines:
        mark = _FENCE.match(line.rstrip())
        if mark and not fence:
            fence = mark[1]
        elif mark and not mark[2].strip() and mark[1].startswith(fence):
            fence = b""
    return fence
