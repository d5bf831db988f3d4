"""Tool runs that need the file on disk: edits inside private sections, and output that shows a part of a file.

A replacement is undone in that file, which gives the text before the edit. The hunk of a patch is located by the
lines that it leaves; the lines that it removes are as private as those around them. In doubt, they are hidden. Output
that shows a part of a file is cleaned by the second pass, which knows what the file's sections say.
"""

from __future__ import annotations

from mdmem.privacy import edits, text
from mdmem.privacy.edits import Columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mdmem.privacy.job import Job

_DEEPEST = 8
_MOST_COMPARED = 100
"""With more sections than this, all of them are remembered if one is repeated, instead of comparing each."""
_HEADS = ("@@", "***", "---", "+++", "diff ")


def hide(value: dict[str, Any], job: Job) -> dict[str, Any]:
    """Return a tool run without the private part of its edits, and without `files_after` and `files_shown`.

    The sections of `files_after` decide what is private. Those of `files_shown` that the run repeats are remembered
    for the second pass.
    """
    after = [whole for whole in value.get("files_after", ()) if text.may_hold_private(whole, job.rules)]
    shown = value.get("files_shown", ())
    value = {key: item for key, item in value.items() if key not in ("files_after", "files_shown")}
    known_spans = len(job.spans)
    for whole in shown:
        edits.sections(whole, job)
    spans = list(dict.fromkeys(job.spans[known_spans:]))
    if not (spans and _shows(value, spans)):
        spans = []
    elif 1 < len(spans) <= _MOST_COMPARED:
        spans = [span for span in spans if _shows(value, [span])]
    job.spans[known_spans:] = spans
    for whole in after:
        columns = edits.columns_of(whole, job)
        if columns:
            for key in ("input", "response"):
                value[key] = _patches(_undone(value.get(key), whole, job), whole, columns, job)
    return value


def _shows(value: Any, spans: list[str]) -> bool:
    """Whether any text of a value repeats a part of these sections, in any form."""
    lines = [line.strip() for span in spans for line in span.split("\n") if len(line.strip()) >= text.SHORTEST_REVEALED]
    texts = list(_texts(value, _DEEPEST))
    if any(line in part for part in texts for line in lines):
        return True
    from mdmem.privacy import echo

    memory = echo.of(spans)
    return any(memory.find(part) for part in texts)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth >= 0:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _texts(item, depth - 1)


def _undone(tool_input: Any, after: str, job: Job) -> Any:
    """Hide the private parts of replacements by undoing them in the file; all of them if that fails."""
    if not isinstance(tool_input, dict):
        return tool_input
    listed = tool_input.get("edits")
    replacements = [tool_input]
    if isinstance(listed, list):
        replacements += (replacement for replacement in listed if isinstance(replacement, dict))
    before = after
    for replacement in reversed(replacements):
        for old_key, new_key in edits.PAIRS:
            old, new = replacement.get(old_key), replacement.get(new_key)
            if isinstance(old, str) and isinstance(new, str):
                if not new or new not in before:
                    return _all_hidden(tool_input, job)
                before = old.join(before.split(new, edits.limit_of(replacement)))
    return edits.replacements(tool_input, before, job)


def _all_hidden(tool_input: dict[str, Any], job: Job) -> dict[str, Any]:
    tool_input = edits.without(tool_input, job)
    if isinstance(tool_input.get("edits"), list):
        tool_input = {**tool_input, "edits": [edits.without(edit, job) for edit in tool_input["edits"]]}
    job.cleaned.private += 1
    return tool_input


def _patches(value: Any, after: str, columns: Columns, job: Job) -> Any:
    """Hide changes to private lines in all patches of a value."""
    if isinstance(value, str):
        is_patch = "\n-" in value and ("@@" in value or "*** " in value)
        return _patch(value, after, columns, job) if is_patch else value
    if isinstance(value, dict):
        return {key: _patches(item, after, columns, job) for key, item in value.items()}
    return [_patches(item, after, columns, job) for item in value] if isinstance(value, list) else value


def _patch(patch: str, after: str, columns: Columns, job: Job) -> str:
    lines = patch.split("\n")
    begin = 0
    for number in range(len(lines) + 1):
        if number == len(lines) or lines[number].startswith(_HEADS):
            lines[begin:number] = _hunk(lines[begin:number], after, columns, job)
            begin = number + 1
    return "\n".join(lines)


def _hunk(lines: list[str], after: str, columns: Columns, job: Job) -> list[str]:
    """Hide the private lines of one hunk; the number of lines stays the same."""
    if not any(line[:1] == "-" for line in lines):
        return lines
    remaining = [line[1:] for line in lines if line[:1] != "-"]
    while remaining and not remaining[-1]:
        remaining.pop()
    position = f"\n{after}\n".find("\n" + "\n".join(remaining) + "\n") if remaining else -1
    at = after.count("\n", 0, position) if position >= 0 else -1
    hidden = []
    for line in lines:
        is_private = position < 0 or at in columns or (line[:1] == "-" and at - 1 in columns)
        if line[:1] != "-":
            at += 1
            is_private = is_private and position >= 0
        hidden.append(edits.cut(line, 1, len(line), job) if is_private and line[1:].strip() else line)
    return hidden
