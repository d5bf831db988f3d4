"""Findings: what was removed from a text, at its offsets in the original."""

from __future__ import annotations

from mdmem.values import Value

Edit = tuple[int, int, str, str]
"""Start, end, replacement, and the name of the rule."""


class Finding(Value):
    """One removal: its rule and place (`line` and `column` count from 1), never its text."""

    rule: str
    start: int
    end: int
    line: int
    column: int


def locate(text: str, history: list[list[Edit]]) -> tuple[Finding, ...]:
    """Trace the edits of all steps back to places in the original text; return them in order."""
    places: list[tuple[int, int, str]] = []
    for number, edits in enumerate(history):
        starts = [edit[0] for edit in edits]
        ends = [edit[1] for edit in edits]
        for earlier in reversed(history[:number]):
            starts, ends = _before(starts, earlier), _before(ends, earlier)
        places += zip(starts, ends, (edit[3] for edit in edits), strict=True)
    findings: list[Finding] = []
    line = 1
    at = line_start = 0
    for start, end, rule in sorted(places):
        line += text.count("\n", at, start)
        line_start = text.rfind("\n", line_start, start) + 1 or line_start
        at = start
        findings.append(Finding(rule, start, end, line, start - line_start + 1))
    return tuple(findings)


def _before(positions: list[int], edits: list[Edit]) -> list[int]:
    """Return where ascending positions were before `edits`. Positions in a replacement map to the edit's start."""
    result: list[int] = []
    shift = number = 0
    for position in positions:
        while number < len(edits):
            start, end, instead, _ = edits[number]
            if position < start + shift + len(instead):
                break
            shift += len(instead) - (end - start)
            number += 1
        inside = number < len(edits) and position > edits[number][0] + shift
        result.append(edits[number][0] if inside else position - shift)
    return result
