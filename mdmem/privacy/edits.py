"""Edits inside a private section whose tags are elsewhere in the file.

If the agent sends the file as it was before the edit (`originalFile`), each line and replacement is looked up in the
file before and after the edit to see what is private. Otherwise `edited` undoes the edit in the file on disk
(`files_after`).
"""

from __future__ import annotations

from bisect import bisect

from mdmem.privacy import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.privacy.job import Job

_ORIGINALS = ("originalFile", "originalFileContents", "original_file")
PAIRS = (("old_string", "new_string"), ("oldString", "newString"), ("old_str", "new_str"), ("oldText", "newText"))
_MAX_WORK_CHARS = 8 * 1024 * 1024
"""Limit of a file's length times its number of edits. Above it, all replacements in a file with tags are hidden."""

Columns = dict[int, tuple[int, int]]
"""Line number, from 0 -> its private columns, as start and end."""


def hide(value: Any, job: Job) -> Any:
    """Return a tool run (`input`, `response`) without changes inside private sections of the edited file."""
    response = value.get("response") if isinstance(value, dict) else None
    if not isinstance(response, dict):
        return value
    original = next((response[key] for key in _ORIGINALS if isinstance(response.get(key), str)), "")
    if not (text.may_hold_private(original, job.rules) or (original and _adds_tags(value.get("input"), job))):
        return value
    patch = response.get("structuredPatch")
    if isinstance(patch, list):
        response = {**response, "structuredPatch": _patch(patch, original, job)}
    return {
        **value,
        "input": replacements(value.get("input"), original, job),
        "response": replacements(response, original, job),
    }


def _adds_tags(tool_input: Any, job: Job) -> bool:
    """Whether one of several edits may write a private tag."""
    listed = tool_input.get("edits") if isinstance(tool_input, dict) else None
    replacements = [edit for edit in listed if isinstance(edit, dict)] if isinstance(listed, list) else []
    written = [edit.get(new) for edit in replacements for _, new in PAIRS]
    return any(isinstance(new, str) and text.may_hold_private(new, job.rules) for new in written)


# -- replacements


def replacements(tool_input: Any, original: str, job: Job) -> Any:
    """Hide the parts of each replacement that are private in the file. Several edits are applied in order."""
    if not isinstance(tool_input, dict):
        return tool_input
    tool_input, current = _replacement(tool_input, original, job)
    edits = tool_input.get("edits")
    if not isinstance(edits, list):
        return tool_input
    if len(original) * len(edits) > _MAX_WORK_CHARS:
        return {**tool_input, "edits": [without(edit, job) for edit in edits]}
    hidden = []
    for edit in edits:
        if isinstance(edit, dict):
            edit, current = _replacement(edit, current, job)
        hidden.append(edit)
    if current != original:
        sections(current, job)  # an earlier edit may have written between the tags of a later one
    return {**tool_input, "edits": hidden}


def _replacement(edit: dict[str, Any], current: str, job: Job) -> tuple[dict[str, Any], str]:
    """Return a replacement without its private parts, and the file after it."""
    for old_key, new_key in PAIRS:
        old, new = edit.get(old_key), edit.get(new_key)
        if isinstance(old, str) and isinstance(new, str) and old and old in current:
            pieces = current.split(old, limit_of(edit))
            after = new.join(pieces)
            hidden_old = _at_places(old, current, pieces, job)
            return {**edit, old_key: hidden_old, new_key: _at_places(new, after, pieces, job)}, after
    return edit, current


def _at_places(part: str, whole: str, pieces: list[str], job: Job) -> str:
    """Hide the private span of `part`, which occurs in `whole` between the `pieces`."""
    hidden = sections(whole, job)
    starts = [start for start, _ in hidden]
    covered: list[tuple[int, int]] = []
    at = -len(part)
    for piece in pieces[:-1]:
        at += len(part) + len(piece)
        number = max(bisect(starts, at) - 1, 0)
        while number < len(hidden) and hidden[number][0] < at + len(part):
            start, end = hidden[number]
            if end > at:
                covered.append((max(start - at, 0), min(end - at, len(part))))
            number += 1
    if not covered:
        return part
    return cut(part, min(start for start, _ in covered), max(end for _, end in covered), job)


def limit_of(edit: dict[str, Any]) -> int:
    """Return the maximum number of places that a replacement changes; -1 for all."""
    return -1 if True in (edit.get("replace_all"), edit.get("replaceAll")) else 1


def without(edit: Any, job: Job) -> Any:
    """Return a replacement with its old and new text replaced by the marker."""
    if not isinstance(edit, dict):
        return edit
    keys = {key for pair in PAIRS for key in pair}
    return {key: job.rules.marker if key in keys else item for key, item in edit.items()}


# -- patches


def _patch(patch: list[Any], original: str, job: Job) -> list[Any]:
    """Hide the lines of hunks that are private in the file before or after the patch."""
    places, after = _applied(patch, original.split("\n"))
    before_columns, after_columns = columns_of(original, job), columns_of(after, job)
    return [
        _hunk(hunk, *place, before_columns, after_columns, job) if place else hunk
        for hunk, place in zip(patch, places, strict=True)
    ]


def _applied(patch: list[Any], lines: list[str]) -> tuple[list[tuple[int, int] | None], str]:
    """Return each hunk's first line in the file before and after, and the file after."""
    places: list[tuple[int, int] | None] = []
    after: list[str] = []
    at = 0
    for hunk in patch:
        start = hunk.get("oldStart") if isinstance(hunk, dict) else None
        if type(start) is not int or not isinstance(hunk.get("lines"), list):
            places.append(None)
            continue
        start = max(at, start - 1)
        after += lines[at:start]
        places.append((start, len(after)))
        marked = [line for line in hunk["lines"] if isinstance(line, str)]
        after += [line[1:] for line in marked if line[:1] in "+ "]
        at = start + sum(line[:1] in "- " for line in marked)
    return places, "\n".join([*after, *lines[at:]])


def _hunk(hunk: dict[str, Any], old: int, new: int, before: Columns, after: Columns, job: Job) -> dict[str, Any]:
    lines: list[Any] = []
    is_inside = False
    for line in hunk["lines"]:
        if not isinstance(line, str) or line[:1] not in ("+", "-", " ", ""):
            lines.append(line)
            continue
        columns = []
        if line[:1] != "+":
            columns.append(before.get(old))
            old += 1
        if line[:1] != "-":
            columns.append(after.get(new))
            new += 1
        private_columns = [place for place in columns if place]
        hidden = _line(line, private_columns, is_inside, job) if private_columns else line
        is_inside = bool(private_columns) and len(hidden) <= 1 + len(job.rules.marker)
        lines.append(hidden)
    return {**hunk, "lines": lines}


def _line(line: str, columns: list[tuple[int, int]], is_inside: bool, job: Job) -> str:
    start, end = min(first for first, _ in columns), max(last for _, last in columns)
    if is_inside and start == 0 and end >= len(line) - 1:
        return ""  # one marker stands for all of these lines
    return line[:1] + cut(line[1:], start, end, job)


def columns_of(whole: str, job: Job) -> Columns:
    """Return the private columns of each line."""
    columns: Columns = {}
    starts = [0]
    for line in whole.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for start, end in sections(whole, job):
        for number in range(bisect(starts, start) - 1, bisect(starts, end - 1)):
            first, last = max(start - starts[number], 0), min(end, starts[number + 1] - 1) - starts[number]
            before = columns.get(number, (first, last))
            columns[number] = min(first, before[0]), max(last, before[1])
    return columns


# -- shared


def sections(whole: str, job: Job) -> list[tuple[int, int]]:
    """Return the spans of a file's private sections, and remember what they say for the second pass."""
    private = text.private_sections(whole, text.lower(whole), job)
    job.spans += [whole[first:last] for _, _, first, last, _ in private if whole[first:last].strip()]
    return [(start, end) for start, end, _, _, _ in private]


def cut(part: str, start: int, end: int, job: Job) -> str:
    """Return `part` with the marker in place of `start` to `end`, and count it as a private section."""
    job.cleaned.private += 1
    job.cleaned.hidden.add(part[start:end])
    return part[:start] + job.rules.marker + part[end:]
