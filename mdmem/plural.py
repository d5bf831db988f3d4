"""Counts with nouns: `1 note`, `1,204 notes`, `2 memories`."""

from __future__ import annotations


def number(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun. things: the plural, unless it is formed with -s, or -ies after -ry."""
    many = things or (f"{thing[:-1]}ies" if thing.endswith("ry") else f"{thing}s")
    return f"{count:,} {thing if count == 1 else many}"
