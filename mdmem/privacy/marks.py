"""Marks: the replacements that earlier cleaning left in a text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_MARK = 64
"""Maximum length of a mark with its kind, in characters."""


def cuts(text: str, start: int, end: int, marks: tuple[str, ...]) -> bool:
    """Whether a span begins or ends inside a mark."""
    return any(True for _ in _cut(text, start, end, marks))


def whole(text: str, start: int, end: int, marks: tuple[str, ...]) -> tuple[int, int]:
    """Return a span with the whole of each mark inside which it begins or ends."""
    cut = list(_cut(text, start, end, marks))
    return min([start, *[at for at, _ in cut]]), max([end, *[close for _, close in cut]])


def _cut(text: str, start: int, end: int, marks: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    for mark in marks:
        at = text.find(mark, max(0, start - _LONGEST_MARK), end)
        while at >= 0:
            close = at + len(mark)
            if mark[0] == "[" and mark[-1] != "]":  # its kind may follow
                is_whole = text[close : close + 1] in ("]", ":")
                close = text.find("]", close, at + _LONGEST_MARK) + 1 if is_whole else 0
            if at <= start < close or at < end < close:
                yield at, close
            at = text.find(mark, at + 1, end)


def around(text: str, marks: tuple[str, ...], size: int) -> list[tuple[int, int]]:
    """List the spans of a text that cover `size` characters around each mark, in order; overlapping ones are joined."""
    positions: list[int] = []
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            positions.append(at)
            at = text.find(mark, at + size)
        last_position = text.rfind(mark)
        positions += [last_position] if last_position >= 0 else []
    places: list[tuple[int, int]] = []
    for at in sorted(positions):
        start, end = max(0, at - size), at + 2 * size + _LONGEST_MARK
        if places and start <= places[-1][1]:
            start = places.pop()[0]
        places.append((start, end))
    return places
