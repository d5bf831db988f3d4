"""Counts with nouns, `1 note`, `1,204 notes`, `2 memories`, and lists cut short, `a, b and 3 more`."""

from __future__ import annotations


def number(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun. things: the plural, unless it is formed with -s, or -ies after -ry."""
    many = things or (f"{thing[:-1]}ies" if thing.endswith("ry") else f"{thing}s")
    return f"{count:,} {thing if count == 1 else many}"


def some(names: list[str], most: int, separator: str = ", ") -> str:
    """Return the first names, at most so many, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{separator.join(names[:most])}{more}"
