"""Printing values: JSON, styled lines, tables. Output to a pipe is plain text, and does not load rich."""

from __future__ import annotations

import math
import sys
from itertools import accumulate

from mdmem.cli.terminal import startup
from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import Console
    from rich.markdown import Markdown
    from rich.text import Text

Piece = tuple[str, str]
"""A text and its style, in rich's notation."""


def toml(value: Any) -> str:
    """Return a setting's value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if not isinstance(value, str):
        return str(value)
    import json  # a plain search needs none

    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the one that TOML adds


def as_json(value: Any) -> str:
    """Return a value as JSON, without escaping other scripts; bytes of a file name that are not text stay escaped.

    A named tuple becomes an object, and a number that JSON lacks, such as infinity, a string. What a terminal would
    obey is escaped: control characters, also those above ASCII, and direction marks.
    """
    import json  # a plain search needs none

    value = _jsonable(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    if text.isprintable():
        return text
    if "\\ud" in ascii(text):
        return json.dumps(value, default=str)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_OBEYED = lazy("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Matches what JSON leaves as it is, and a terminal obeys."""


def print_json(value: Any) -> None:
    """Print a value as JSON on one line."""
    print(as_json(value))


def print_outcome(text: str, value: Any, *, as_json: bool) -> None:
    """Print what a command has done: a text for people, without control characters, or a value as JSON."""
    import click  # a plain search needs none

    if as_json:
        print_json(value)
    else:
        click.echo(safe(text))


def print_array(values: Iterable[Any]) -> None:
    """Print values as a JSON array on one line, each as soon as it is there."""
    print("[", end="")
    for place, value in enumerate(values):
        print(", " if place else "", as_json(value), sep="", end="")
    print("]")


def _jsonable(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def warn(text: str) -> None:
    """Print a warning on stderr, without control characters."""
    import click  # a plain search needs none

    click.secho(safe(text), err=True, fg="yellow")


def console(*, stderr: bool = False) -> Console:
    """Return rich's console for stdout or stderr: color on a terminal only (and not with NO_COLOR)."""
    import shutil  # a plain search needs none

    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:  # rich would exit with status 1
            raise BrokenPipeError

    columns, lines = shutil.get_terminal_size() if startup.is_dumb() else (None, None)  # to rich, each is 80 wide
    return PipedConsole(stderr=stderr, highlight=False, soft_wrap=True, width=columns, height=lines)


def is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def safe(text: str) -> str:
    """Return stored text without control characters, except line breaks and tabs."""
    if text.isprintable():
        return text
    from mdmem.vault import note

    return "".join(c if note.is_legible(c) or c in "\n\t" else "\ufffd" for c in text)


def markdown(text: str) -> Markdown:
    """Return a note's Markdown for rich's console. HTML is shown as text, as in the web pages; rich leaves it out."""
    from rich.markdown import Markdown

    from mdmem.views import markup

    rendered = Markdown("")
    rendered.parsed = markup.parsed(text)
    return rendered


# -- lines and tables ------------------------------------------------------------------------------


def terminal() -> Console | None:
    """Return rich's console on a terminal, None in a pipe."""
    return console() if is_terminal() else None


def write(lines: Iterable[Iterable[Piece]]) -> None:
    """Print lines of styled pieces, in color on a terminal, without control characters."""
    screen = terminal()
    if screen is None:
        sys.stdout.writelines(safe("".join([text for text, _ in line])) + "\n" for line in lines)
        return
    from rich.text import Text

    for line in lines:
        text = Text.assemble(*_safe(line))
        indent = len(text.plain) - len(text.plain.lstrip())
        _wrapped(screen, Text(" " * indent), text[indent:])


def _safe(line: Iterable[Piece]) -> Iterator[Piece]:
    return ((safe(text), style) for text, style in line)


def block(pieces: Iterable[Piece], indent: int) -> None:
    """Print a text of styled pieces, indented, and wrapped on a terminal."""
    screen = terminal()
    if screen is None:
        lines = safe("".join([text for text, _ in pieces])).splitlines(keepends=True)
        print("".join([" " * indent + line if line.strip() else line for line in lines]))
        return
    from rich.text import Text

    _wrapped(screen, Text(" " * indent), Text.assemble(*_safe(pieces)), folds=True)


def hanging(first: Sequence[Piece], rest: Iterable[Piece]) -> None:
    """Print a line; on a terminal, what does not fit is wrapped below the `rest`, not below the `first` pieces.

    On a narrow terminal, the `first` pieces get a line of their own.
    """
    screen = terminal()
    if screen is None:
        write([[*first, *rest]])
        return
    from rich.text import Text

    lead, below = Text.assemble(*_safe(first)), Text.assemble(*_safe(rest))
    if lead.cell_len + min(below.cell_len, LEAST_BELOW) > screen.width:
        lead.rstrip()
        screen.print(lead, soft_wrap=True)
        lead = Text(GAP)
    _wrapped(screen, lead, below)


def _wrapped(screen: Console, first: Text, rest: Text, *, folds: bool = False) -> None:
    """Print a text, wrapped between words and indented below its start.

    folds: break what is longer than a line, such as a path; else nothing is wrapped, so that it can be copied.
    """
    room = max(1, screen.width - first.cell_len)
    is_whole = not folds and any(len(word) > room for word in rest.plain.split())
    lead = first
    for line in [rest] if is_whole else rest.wrap(screen, room, overflow="fold") or [rest]:
        shown = lead + line
        shown.rstrip()
        screen.print(shown, soft_wrap=True)
        lead = type(first)(" " * first.cell_len)


GAP = "  "
MIN_CHARS = 12
"""Minimum width of a cropped column."""
LEAST_LAST = 40
"""If cropping would leave the last column narrower than this, it gets a line of its own."""
LEAST_BELOW = 20
"""Minimum width that the columns which do not fit must leave it on that line; else they get one of their own too."""


LEAST_FITTED = 24
"""Minimum width of a text that is shortened in its middle."""
KEPT_END = 14
"""Characters at its end that are kept: the id in the name of a note's file, the tag in that of a session's folder."""


class Column(NamedTuple):
    """How one column looks. style: in rich's notation. gives: cropped if the line does not fit.

    styles: styles by a cell's text, which override `style`.
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


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], indent: str = "") -> None:
    """Print rows, one line each. Line breaks in cells become spaces; empty columns are left out.

    Columns that give are cropped to the terminal's width, and printed whole in a pipe. On a narrow terminal, the title
    and the columns that do not fit get a line of their own.
    """
    screen = terminal()
    filled, cells, widest = _read(len(columns), rows)
    if not filled:
        return
    columns = [columns[place] for place in filled]
    room = screen.width - len(indent) if screen and screen.is_terminal else None
    widths = _widths(columns, widest, room)
    fits = room is None or sum(widths) + len(GAP) * (len(widths) - 1) <= room
    if room is None or (fits and widths[-1] >= min(LEAST_LAST, widest[-1])):
        write([(indent, ""), *_line(columns, row, widths)] for row in cells)
        return
    widths = _widths(columns[:-1], widest, room)
    cut, last_width = _below(widths, room)
    has_title = columns[-1].gives
    if cut < len(widths) and (0 <= last_width < LEAST_BELOW or not has_title) and _below(widest[:-1], room)[1] >= 0:
        widths = list(widest[:-1])  # on a line of their own, these columns have room to be whole
        cut, last_width = _below(widths, room)
    least = LEAST_BELOW if has_title else widest[-1]
    cuts = sorted({0, min(cut, len(widths)), *([] if last_width >= least else [len(widths)])})
    title_width = last_width if last_width >= least else room - len(GAP)
    widths.append(max(title_width, MIN_CHARS) if has_title else widest[-1])
    write(
        [(indent + GAP * bool(start), ""), *_line(columns[start:end], row[start:end], widths[start:end])]
        for row in cells
        for start, end in zip(cuts, [*cuts[1:], len(columns)], strict=True)
    )


def _below(widths: Sequence[int], room: int) -> tuple[int, int]:
    """Return how many columns fit on the first line, and the room that the others leave on the second."""
    ends = accumulate(width + len(GAP) for width in widths)
    cut = max(sum(end - len(GAP) <= room for end in ends), 1)
    return cut, room - len(GAP) - sum(width + len(GAP) for width in widths[cut:])


def _read(count: int, rows: Iterable[Sequence[str]]) -> tuple[list[int], Iterator[list[str]], list[int]]:
    """Read rows of `count` cells; return the places of the columns that are not empty, their cells, and their widths.

    A row is held as one string to save memory: a vault may have very many notes.
    """
    widest, longest = [0] * count, [0] * count
    packed_rows = []
    for row in rows:
        cells = [" ".join(safe(cell).split()) for cell in row]
        widest = list(map(max, widest, map(_width, cells)))
        longest = list(map(max, longest, map(len, cells)))
        packed_rows.append("\0".join(cells))
    filled = [place for place in range(count) if longest[place]]
    split = (row.split("\0") for row in packed_rows)
    return filled, ([cells[place] for place in filled] for cells in split), [widest[place] for place in filled]


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
    """Return the width of a text in terminal columns: two for most Chinese characters, none for accents."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cropped(text: str, width: int) -> str:
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, width - 1).rstrip()}…"


def fitted(line: Sequence[Piece]) -> list[Piece]:
    """Return a line that fits on the terminal: if need be, its second piece is shortened in the middle."""
    screen = terminal()
    fits, (text, style) = list(line), line[1]
    over = sum(_width(piece) for piece, _ in line) - screen.width if screen else 0
    room = max(_width(text) - over, LEAST_FITTED)
    if over > 0 and room < _width(text):
        fits[1] = _cropped(text[:-KEPT_END], room - KEPT_END) + text[-KEPT_END:], style
    return fits


def _widths(columns: Sequence[Column], widest: Sequence[int], room: int | None) -> list[int]:
    """Return the width of each column. widest: the width of each one's widest cell, possibly of further columns too."""
    widths = list(widest[: len(columns)])
    giving = [place for place, column in enumerate(columns) if column.gives]
    if room is None or not giving:
        return widths
    over = sum(widths) + len(GAP) * (len(widths) - 1) - room
    for place in giving:  # the title is the last column, so it is cropped last
        less = min(max(over, 0), max(widths[place] - MIN_CHARS, 0))
        widths[place] -= less
        over -= less
    return widths


def bar(value: float, most: float, chars: int) -> str:
    """Draw a value as a bar, in eighths of a block; anything above 0 is visible. chars: the length for `most`."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(round(value / most * chars * 8), 1)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
