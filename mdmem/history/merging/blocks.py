"""Two versions of a place in a text, one after the other: each whole, no fence left open, nothing there twice."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

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


def agreed(lines: list[bytes]) -> list[Versions]:
    """Return lines on which both sides agree, each by itself."""
    return [Versions([line], [line]) for line in lines]


def longer(versions: Versions) -> list[bytes] | None:
    """Return the version that has all lines of the other; None when each has some of its own."""
    one, other = sorted(versions, key=lambda lines: (-len(lines), lines))
    return one if Counter(other) <= Counter(one) else None


def joined(parts: list[Versions]) -> tuple[list[bytes], tuple[KeptBoth, ...]]:
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
