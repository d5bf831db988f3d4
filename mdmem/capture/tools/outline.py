"""Outline: renders any JSON value as text for reading and search, without brackets and quotes."""

from __future__ import annotations

from mdmem.capture.tools import limits as _limits
from mdmem.vault.note import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mdmem.capture.tools.limits import Limits

_MAX_DEPTH = 8
_KEY_CHARS = 200


def render(value: Any, limits: Limits) -> str:
    """Render a value as indented `key: value` and `- item` lines, no more than the limits can keep.

    Each string is cut to the limits. Values nested deeper than 8 levels are only counted.
    """
    lines: list[str] = []
    room = 4 * limits.max_chars
    for line in _lines(value, 0, limits):
        lines.append(line)
        room -= len(line) + 1
        if room < 0:
            lines.append("… the rest left out …")
            break
    return "\n".join(lines)


def _lines(value: Any, depth: int, limits: Limits) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{one_line(_scalar(key, limits), _KEY_CHARS)}:", item, depth, limits)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _entry("-", item, depth, limits)
    else:
        yield from _scalar(value, limits).split("\n")


def _entry(label: str, item: Any, depth: int, limits: Limits) -> Iterator[str]:
    """Yield one key or list item: on one line if possible, else with its content indented below."""
    if isinstance(item, (dict, list)) and item:
        if depth >= _MAX_DEPTH:
            yield f"{label} … {len(item):,} nested deeper …"
            return
        lines = _lines(item, depth + 1, limits)
        yield f"- {next(lines)}" if label == "-" else label
        for line in lines:
            yield f"  {line}"
        return
    first, *following = _scalar(item, limits).split("\n")
    yield label if following else f"{label} {first}".rstrip()
    for line in [first, *following] if following else []:
        yield f"  {line}"


def _scalar(value: Any, limits: Limits) -> str:
    if isinstance(value, str):
        return _limits.tidy(value, limits.max_chars, limits.max_lines).rstrip("\n")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a number of {value.bit_length():,} bits"  # Python refuses to write very long numbers
    if isinstance(value, (int, float)):
        return str(value)
    return {"dict": "(empty)", "list": "(empty)"}.get(type(value).__name__, f"({type(value).__name__})")
