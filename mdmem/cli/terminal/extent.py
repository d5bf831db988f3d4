"""The line below a list that says how much of it is shown, and how to see the rest: the same for every command."""

from __future__ import annotations

import sys

from mdmem import plural


def tell(
    thing: str, shown: int, total: int | None, *, offset: int = 0, skips: bool = False, whole: bool = False
) -> None:
    """Print the line on stderr; nothing below a list that is shown whole, unless `whole`.

    total: None if there are more, and nobody has counted them. skips: whether the command has `--offset`.
    """
    if text := line(thing, shown, total, offset=offset, skips=skips, whole=whole):
        say(text)


def line(thing: str, shown: int, total: int | None, *, offset: int, skips: bool, whole: bool) -> str:
    """Return the line that `tell` prints, "" for none."""
    last = offset + shown
    if total is not None and last >= total and not (whole or offset):
        return ""
    if total is not None and not shown:
        only = plural.number(total, f"{thing} matches", f"{thing}s match")
        return f"Only {only}; --offset {offset} skips {'it' if total == 1 else 'all of them'}." if total else ""
    if total is None:
        return f"{plural.number(shown, thing)} shown; --limit 0 shows all"
    places = f"{offset + 1}–{last}" if shown > 1 else f"{last}"
    rest = "; --limit 0 shows all" if last < total else ""
    more = f", --offset {last} the next ones" if rest and skips else ""
    return f"{places} of {plural.number(total, thing)}{rest}{more}"


def say(text: str) -> None:
    """Print a remark on stderr, after the output: if the pager still holds that back, so is the remark."""
    remarks = getattr(sys.stdout, "remarks", None)
    if remarks is None:
        print(text, file=sys.stderr, flush=True)
    else:
        remarks.append(text)
