"""Segments: private sections that open in one string of a payload and close in another.

Strings whose paths in a payload differ only in list indices are segments of one text: the lines of a patch and of all
its hunks, the cells of a notebook, the content blocks of an answer, the edits of a file. Strings under different keys
are different texts, so that a tag in a command does not hide the command's output.
"""

from __future__ import annotations

from mdmem.privacy import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mdmem.privacy.findings import Edit
    from mdmem.privacy.job import Job

_INDEX = "[]"
_RESOURCE = "[]\0resource"


def hide(value: Any, job: Job, max_depth: int) -> Any:
    """Return a JSON value of the same shape without private sections that span several of its strings."""
    groups: dict[str, list[str]] = {}
    _gather(value, "", groups, max_depth)
    cleaned: dict[str, Iterator[str]] = {}
    for place, segments in groups.items():
        if len(segments) > 1 and any(text.may_hold_private(segment, job.rules) for segment in segments):
            cleaned[place] = iter(_without_sections([text.storable(segment) for segment in segments], job))
    return _rebuilt(value, "", cleaned, max_depth) if cleaned else value


def _gather(value: Any, place: str, groups: dict[str, list[str]], depth: int) -> None:
    """Collect the strings inside lists, in order, by their path without list indices."""
    if isinstance(value, str):
        if _INDEX in place:
            groups.setdefault(place, []).append(value)
    elif depth < 0:
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (str, dict, list, tuple)):
                _gather(item, _below(place, key), groups, depth - 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _gather(item, place + _INDEX, groups, depth - 1)


def _below(place: str, key: Any) -> str:
    """Return the path of a key's value. The text of a resource has the path of the content blocks around it."""
    if key == "text" and place.endswith(_RESOURCE):
        place = place.removesuffix(_RESOURCE) + _INDEX
    return f"{place}\0{key}"


def _rebuilt(value: Any, place: str, cleaned: dict[str, Iterator[str]], depth: int) -> Any:
    """Return the value with its segments replaced by the cleaned ones. Walks in the same order as `_gather`."""
    if isinstance(value, str):
        return next(cleaned[place]) if place in cleaned else value
    if depth >= 0 and isinstance(value, dict):
        return {key: _rebuilt(item, _below(place, key), cleaned, depth - 1) for key, item in value.items()}
    if depth >= 0 and isinstance(value, (list, tuple)):
        return [_rebuilt(item, place + _INDEX, cleaned, depth - 1) for item in value]
    return value


def _without_sections(segments: list[str], job: Job) -> list[str]:
    whole = "\n".join(segments)
    return _spread(segments, text.private_edits(whole, text.lower(whole), job))


def _spread(segments: list[str], edits: list[Edit]) -> list[str]:
    """Apply the edits of the joined text to its segments. The marker goes to the segment where a section begins."""
    result: list[str] = []
    number = begin = 0
    for segment in segments:
        end = begin + len(segment)
        parts: list[str] = []
        at = begin
        while number < len(edits) and edits[number][0] <= end:
            first, last, instead, _ = edits[number]
            if first >= begin:
                parts += (segment[at - begin : first - begin], instead)
            at = max(at, last)
            if last > end:
                break  # the edit continues in the next segment
            number += 1
        parts.append(segment[at - begin :])
        result.append("".join(parts))
        begin = end + 1
    return result
