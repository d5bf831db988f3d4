"""A number with its thing: `1 note`, `1,204 notes`, `2 memories`."""

from __future__ import annotations


def number(count: int, thing: str, things: str = "") -> str:
    """Write a number with its thing. things: the plural, where it is not made with -s, or -ies after -ry."""
    many = things or (f"{thing[:-1]}ies" if thing.endswith("ry") else f"{thing}s")
    return f"{count:,} {thing if count == 1 else many}"
