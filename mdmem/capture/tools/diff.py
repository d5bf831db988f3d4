"""Diff: renders an edit as a unified diff, whatever form the agent sent."""

from __future__ import annotations

from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTEXT_LINES = 3


class Hunk(Value):
    """One hunk of a diff.

    head: the `@@` line; a bare `@@` if the position in the file is unknown.
    body: the lines with their marks (space, `-`, `+`), joined by line breaks.
    """

    head: str
    body: str
    added: int
    removed: int


def render(hunks: list[Hunk], path: str) -> str:
    """Render the hunks of one file as a unified diff; a path inside the project gets git's `a/` and `b/`."""
    if not hunks:
        return ""
    inside = path[:1] != "/" and path[1:2] != ":"
    names = [f"--- {'a/' * inside}{path}", f"+++ {'b/' * inside}{path}"]
    return "\n".join([*names, *[f"{hunk.head}\n{hunk.body}" for hunk in hunks]])


def of_patch(patch: Any) -> list[Hunk]:
    """Parse a tool's `structuredPatch`, a list of hunks with marked lines; invalid hunks are skipped."""
    if not isinstance(patch, list):
        return []
    return [_from_patch(hunk) for hunk in patch if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list)]


def _from_patch(hunk: dict[str, Any]) -> Hunk:
    lines = [line for line in hunk["lines"] if isinstance(line, str) and line]  # "": was in a private section
    marks = [line[:1] for line in lines]
    numbers = [hunk.get(key) for key in ("oldStart", "oldLines", "newStart", "newLines")]
    has_numbers = all(type(number) is int and 0 <= number < 10**9 for number in numbers)
    head = "@@ -{},{} +{},{} @@".format(*numbers) if has_numbers else "@@"
    return Hunk(head, "\n".join(lines), marks.count("+"), marks.count("-"))


def of_texts(old: str, new: str, *, numbered: bool = True) -> list[Hunk]:
    """Return the hunks that turn one text into the other, in linear time.

    The shared start and end are context. The rest becomes one hunk of `-` and `+` lines or, if the number of lines did
    not change (as when a name is replaced everywhere), one hunk per changed place.
    numbered: the texts are whole files, so line numbers are known.
    """
    start, end = _shared_ends(old, new)
    before = _lines(old[:start])[-_CONTEXT_LINES:]
    after = _lines(old[len(old) - end :][: 1024 * _CONTEXT_LINES])[:_CONTEXT_LINES]
    old_lines, new_lines = _lines(old[start : len(old) - end]), _lines(new[start : len(new) - end])
    first = old.count("\n", 0, start) + 1 if numbered else 0
    changes = _changes(old_lines, new_lines)
    return [_hunk(group, before, old_lines, new_lines, after, first) for group in _groups(changes)]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _shared_ends(old: str, new: str) -> tuple[int, int]:
    """Return the number of characters, in whole lines, that two texts share at their start and end."""
    start = old.rfind("\n", 0, _shared(old, new)) + 1
    end = _shared(old[start:], new[start:], from_end=True)
    if not (_begins_line(old, len(old) - end, start) and _begins_line(new, len(new) - end, start)):
        newline = old.find("\n", len(old) - end)
        end = len(old) - newline - 1 if newline >= 0 else 0
    return start, end


def _begins_line(text: str, place: int, start: int) -> bool:
    return place == start or text[place - 1] == "\n"


def _shared(a: str, b: str, *, from_end: bool = False) -> int:
    """Return how many characters two texts share; a binary search over slices, which are compared fast."""
    low, high = 0, min(len(a), len(b)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if from_end:
            same = a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]
        else:
            same = a[low:middle] == b[low:middle]
        low, high = (middle, high) if same else (low, middle)
    return low


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """Return the changed places: where each begins, and its old and new number of lines."""
    if len(old) != len(new):
        return [(0, len(old), len(new))]
    places = [place for place, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    changes: list[tuple[int, int, int]] = []
    for place in places:
        if changes and sum(changes[-1][:2]) == place:
            begin, count, _ = changes.pop()
            changes.append((begin, count + 1, count + 1))
        else:
            changes.append((place, 1, 1))
    return changes


def _groups(changes: list[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """Group changes whose context would touch."""
    groups: list[list[tuple[int, int, int]]] = []
    for change in changes:
        if groups and change[0] - sum(groups[-1][-1][:2]) <= 2 * _CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(
    group: list[tuple[int, int, int]], before: list[str], old: list[str], new: list[str], after: list[str], first: int
) -> Hunk:
    """Build one hunk; `first` is the line number of `old[0]` in the file, 0 if unknown."""
    around = before + old + after
    shift = len(before)  # offset of `old` in `around`
    place = start = max(0, group[0][0] + shift - _CONTEXT_LINES)
    lines: list[str] = []
    for begin, old_count, new_count in group:
        lines += [" " + line for line in around[place : begin + shift]]
        lines += ["-" + line for line in old[begin : begin + old_count]]
        lines += ["+" + line for line in new[begin : begin + new_count]]
        place = begin + shift + old_count
    lines += [" " + line for line in around[place : place + _CONTEXT_LINES]]
    removed, added = sum([old_count for _, old_count, _ in group]), sum([new_count for _, _, new_count in group])
    number, same = first - shift + start, len(lines) - removed - added
    head = f"@@ -{number},{same + removed} +{number},{same + added} @@" if first else "@@"
    return Hunk(head, "\n".join(lines), added, removed)
