"""Rows of cells in aligned columns: cropped to the width of a terminal, whole in a pipe."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from mdmem.cli.terminal import lines, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mdmem.cli.terminal.lines import Piece

GAP = "  "
MIN_CHARS = 12
"""A column that gives way is never narrower than this."""
LEAST_LAST = 20
"""Where the last column would be narrower than this, and says more, it gets a line of its own."""


class Column(NamedTuple):
    """How one column looks. style: as rich names it. gives: is cropped where the line would not fit.

    styles: a style for a cell's text, before `style`.
    """

    style: str = ""
    gives: bool = False
    right: bool = False
    styles: dict[str, str] = {}  # noqa: RUF012 - never changed


KIND_STYLES = {
    "prompt": "cyan", "response": "green", "note": "magenta", "summary": "blue", "session": "bold", "project": "bold",
    **dict.fromkeys(("decision", "lesson", "preference", "task"), "magenta"),
}  # fmt: skip
WHEN = Column("dim")
KIND = Column(styles=KIND_STYLES)
PROJECT = Column("dim", gives=True)
ID = Column("yellow")
NUMBER = Column(right=True)
TITLE = Column(gives=True)
PATH = Column("dim")


def show(console: Console | None, columns: Sequence[Column], rows: Iterable[Sequence[str]], indent: str = "") -> None:
    """Print rows, a line each; a cell's line breaks become spaces. Columns that are empty throughout are left out.

    On a narrow terminal a title that could hardly be read any more gets a line of its own, and what does not fit above.
    console: None, for a pipe, prints to stdout; see `lines.terminal`.
    """
    cells = [[" ".join(render.safe(cell).split()) for cell in row] for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    if not kept:
        return
    cells = [[row[place] for place in kept] for row in cells]
    columns = [columns[place] for place in kept]
    room = console.width - len(indent) if console and console.is_terminal else None
    lengths = [[_width(cell) for cell in row] for row in cells]
    widths = _widths(columns, lengths, room)
    if room is None or widths[-1] >= min(LEAST_LAST, max(row[-1] for row in lengths)):
        lines.write(console, ([(indent, ""), *_line(columns, row, widths)] for row in cells))
        return
    widths = _widths(columns[:-1], lengths, room)
    ends = accumulate(width + len(GAP) for width in widths)
    cut = max(sum(end - len(GAP) <= room for end in ends), 1)
    left = room - len(GAP) - sum(width + len(GAP) for width in widths[cut:])
    cuts = [0, cut] if left >= LEAST_LAST else [0, cut, len(columns) - 1]
    widths.append(max(left if left >= LEAST_LAST else room - len(GAP), MIN_CHARS))
    for row in cells:
        parts = [
            [(indent + GAP * bool(start), ""), *_line(columns[start:end], row[start:end], widths[start:end])]
            for start, end in zip(cuts, [*cuts[1:], len(columns)], strict=True)
        ]
        lines.write(console, parts)


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> Iterator[Piece]:
    """Yield the pieces of one line, each with its style; the last column is not padded."""
    for place, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
        text = cell if _width(cell) <= width else _cropped(cell, width)
        padding = " " * (width - _width(text))
        if column.right:
            yield padding, ""
        yield text, column.styles.get(cell, column.style)
        if place < len(row) - 1:
            yield GAP if column.right else padding + GAP, ""


def _width(text: str) -> int:
    """Count the columns of a terminal that a text takes: two for most of Chinese, none for accents."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cropped(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, width - 1).rstrip()}…"


def _widths(columns: Sequence[Column], lengths: Sequence[Sequence[int]], room: int | None) -> list[int]:
    """Return how wide each column is; of `lengths`, the columns' own places are looked at."""
    widths = [max((row[place] for row in lengths), default=0) for place in range(len(columns))]
    giving = [place for place, column in enumerate(columns) if column.gives]
    if room is None or not giving:
        return widths
    over = sum(widths) + len(GAP) * (len(widths) - 1) - room
    for place in giving:  # the last one is the title: what a person reads gives way last
        less = min(max(over, 0), max(widths[place] - MIN_CHARS, 0))
        widths[place] -= less
        over -= less
    return widths


def bar(value: float, most: float, width: int = 24) -> str:
    """Draw a value as a bar of blocks, an eighth of a block fine; anything but 0 is seen."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(round(value / most * width * 8), 1)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
