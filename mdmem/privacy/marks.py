"""Marks: what stands where something was taken out before."""

from __future__ import annotations

_LONGEST_MARK = 64
"""A mark with its kind is not longer, in characters."""


def cuts(text: str, start: int, end: int, marks: tuple[str, ...]) -> bool:
    """Whether a span begins or ends inside a mark."""
    for mark in marks:
        at = text.find(mark, max(0, start - _LONGEST_MARK), end)
        while at >= 0:
            close = text.find("]", at) + 1 if mark[0] == "[" else at + len(mark)
            if at <= start < close or at < end < close:
                return True
            at = text.find(mark, at + 1, end)
    return False
