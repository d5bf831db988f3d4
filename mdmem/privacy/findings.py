"""What was removed from a text, and where it was before anything was."""

from __future__ import annotations

from mdmem.values import Value

Edit = tuple[int, int, str, str]
"""Start, end, what stands there instead, and the rule that asks for it."""


class Finding(Value):
    """One thing that a rule takes out of a text: where it is (`line` and `column` count from 1), never what."""

    rule: str
    start: int
    end: int
    line: int
    column: int


def locate(text: str, history: list[list[Edit]]) -> tuple[Finding, ...]:
    """Trace the edits of every step back to places in the text that came in; in order."""
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
    """Return where rising positions were before `edits` were made; what an edit put there was where it begins."""
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
