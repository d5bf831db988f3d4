"""Columns: the cells below a name in the first line of a table, in linear time.

Each line is cut into cells once, whatever its length and however many names are in it or above it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class ColumnCells:
    """A text's lines as rows of cells. Names in it are asked for in ascending order."""

    __slots__ = ("_column", "_counted", "_line_end", "_read", "_rows", "_sign", "_signs", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_end = self._column = self._counted = self._signs = 0  # of the last name and its line
        self._sign = ""
        self._read: dict[tuple[str, int, int], int] = {}  # sign, column and signs in a row -> the end of the last row
        self._rows: dict[tuple[int, str], tuple[list[str], list[int], int]] = {}

    def below(self, at: int, end: int) -> Iterator[tuple[int, int]]:
        """Return the offset and size of each cell below the name at `at`, without blanks and quotes around it.

        Cells that were returned for a name above are left out.
        """
        self._go_to(at, end)
        if not self._sign:
            return
        key = (self._sign, self._column, self._signs)
        begin = max(self._line_end, self._read.get(key, 0)) + 1
        cells, starts, stop = self._row(begin)
        while len(cells) == self._signs + 1:
            self._read[key] = stop
            cell = cells[self._column]
            yield starts[self._column] + len(cell) - len(cell.lstrip(" \"'")), len(cell.strip(" \"'\r"))
            cells, starts, stop = self._row(stop + 1)

    def _go_to(self, at: int, end: int) -> None:
        """Find the sign that separates cells in a name's line, and the name's column; no sign in the last line."""
        text = self._text
        if at >= self._line_end:
            start = text.rfind("\n", self._line_end, at) + 1
            stop = text.find("\n", end)
            line = text[start:stop] if stop >= 0 else ""
            self._sign = next((sign for sign in ("|", ",", ";", "\t") if sign in line), "")
            self._column, self._counted, self._signs = 0, start, line.count(self._sign)
            self._line_end = stop if stop >= 0 else len(text)
        if self._sign:
            self._column += text.count(self._sign, self._counted, at)
            self._counted = at

    def _row(self, begin: int) -> tuple[list[str], list[int], int]:
        """Return the cells of the line at `begin`, where each starts, and where the line ends."""
        if (begin, self._sign) not in self._rows:
            stop = self._text.find("\n", begin)
            stop = stop if stop >= 0 else len(self._text)
            cells, starts, start = self._text[begin:stop].split(self._sign), [], begin
            for cell in cells:
                starts.append(start)
                start += len(cell) + 1
            self._rows[begin, self._sign] = (cells, starts, stop)
        return self._rows[begin, self._sign]
