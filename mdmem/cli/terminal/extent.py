"""The line below a list that says how much of it is shown, and how to see the rest: the same for every command."""

from __future__ import annotations

import sys
from itertools import islice

from mdmem import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def part(items: Iterator[Any], offset: int, limit: int) -> tuple[list[Any], bool]:
    """Return `limit` items after the first `offset` (0: all), and whether there are more."""
    shown = list(islice(items, offset, offset + limit if limit else None))
    return shown, next(items, None) is not None


def print_extent(
    thing: str,
    shown: int,
    total: int | None,
    *,
    offset: int | None = None,
    whole: bool = False,
    more_than: int = 0,
) -> None:
    """Print on stderr how much of a list is shown; print nothing if all of it is, unless `whole`.

    total: None if they were not all counted: then there are more, and more than `more_than`; if none is shown, `offset`
    skips all.
    offset: None for a command without `--offset`.
    """
    skipped = offset or 0
    last = skipped + shown
    if shown and (total is None or last < total or whole or skipped):
        places = f"{skipped + 1}–{last}" if shown > 1 else f"{last}"
        rest = "; --limit 0 shows all" if total is None or last < total else ""
        more = f", --offset {last} the next ones" if rest and offset is not None else ""
        least = max(last, more_than)
        count = f"more than {plural.number(least, thing)}" if total is None else plural.number(total, thing)
        print_remark(f"{places} of {count}{rest}{more}")
    elif not shown and offset and total is None:
        print_remark(f"--offset {offset} skips all {thing}s that match.")
    elif not shown and total:
        only = plural.number(total, f"{thing} matches", f"{thing}s match")
        print_remark(f"Only {only}; --offset {offset} skips {'it' if total == 1 else 'all of them'}.")


def print_remark(text: str) -> None:
    """Print a remark on stderr after the output: while the pager holds the output back, the remark waits too."""
    remarks = getattr(sys.stdout, "remarks", None)
    if remarks is None:
        print(text, file=sys.stderr, flush=True)
    else:
        remarks.append(text)
