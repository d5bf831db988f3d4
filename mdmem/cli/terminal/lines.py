"""Lines of pieces, each with a style: in color on a terminal, plain text in a pipe, for which rich is not loaded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mdmem.cli.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    Piece = tuple[str, str]
    """A text, and its style as rich names it."""


def terminal() -> Console | None:
    """Return rich's console where a person is looking, None in a pipe."""
    return render.console() if render.is_terminal() else None


def write(console: Console | None, lines: Iterable[Iterable[Piece]]) -> None:
    """Print lines, each of pieces; to stdout as plain text when there is no console."""
    if console is None:
        sys.stdout.write("".join(["".join([text for text, _ in line]) + "\n" for line in lines]))
        return
    from rich.text import Text

    for line in lines:
        text = Text.assemble(*line)
        # Wrapped between words; a path that is longer than the screen stays one word, to be copied.
        room = console.width - (len(text.plain) - len(text.plain.lstrip()))
        console.print(text, soft_wrap=any(len(word) > room for word in text.plain.split()))
