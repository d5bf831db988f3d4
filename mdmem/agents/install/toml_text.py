"""TOML text: edits the keys of one table in place, so that every byte outside the change stays the same.

Done by hand, because tomlkit takes a comment above a table for the end of the table before, and removes it with that.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Sequence
from typing import Any


def loads(text: str) -> dict[str, Any]:
    """Decode a document. Raises ValueError when it is not TOML; the message names line and column."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def with_table(text: str, path: tuple[str, ...], values: dict[str, str | list[str]]) -> str:
    """Return the text with these keys of the table at `path` set; a missing table is added at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}{newline}" for key, value in values.items()]
    span = next(((start, end) for _, start, end, names in _tables(text) if names == path), None)
    if span is not None:
        start, end = span
        return text[:start] + "".join(lines) + _without_keys(text[start:end], values) + text[end:]
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}[{'.'.join(path)}]{newline}{''.join(lines)}"


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the table at `path` and its sub-tables, and without the empty line before each."""
    while (table := _first_within(text, path)) is not None:
        start, end = table
        text = _without_gap(text[:start]) + text[end:]
    return text


def _without_gap(before: str) -> str:
    if not before.strip():
        return ""
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2):
            return before.removesuffix(newline)
    return before


def _without_keys(text: str, keys: Collection[str]) -> str:
    """Remove these keys, even if their value spans several lines."""
    lines = text.splitlines(keepends=True)
    remaining, at = "", 0
    while at < len(lines):
        end = last_line(lines, at) + 1
        remaining += "" if key(lines[at]) in keys else "".join(lines[at:end])
        at = end
    return remaining


def _first_within(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    return next(((header, end) for header, _, end, names in _tables(text) if names[: len(path)] == path), None)


def _tables(text: str) -> list[tuple[int, int, int, tuple[str, ...]]]:
    """Return the tables: position of the header, start and end of the lines, and the names in the header.

    A table ends before the empty lines and comments above the next one.
    """
    tables: list[tuple[int, int, int, tuple[str, ...]]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        names = header(line)
        if names is not None:
            tables.append((at, at + len(line), len(text), names))
        at += len(line)
    stops = [header for header, _, _, _ in tables[1:]] + [len(text)]
    return [
        (header, start, _above(text, start, stop), names)
        for (header, start, _, names), stop in zip(tables, stops[: len(tables)], strict=True)
    ]


def _above(text: str, start: int, stop: int) -> int:
    """Return the end of the table's last line with a key, before the lines that belong to the next table."""
    if stop == len(text):
        return stop
    lines = text[start:stop].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return start + sum(map(len, lines))


def header(line: str) -> tuple[str, ...] | None:
    """Return the names in a table's header; None for any other line, such as the second line of a list."""
    if not line.lstrip(" \t").startswith("["):
        return None
    try:
        value: Any = tomllib.loads(line)
    except ValueError:
        return None
    names = []
    while isinstance(value, dict) and len(value) == 1:
        name, value = next(iter(value.items()))
        names.append(name)
        value = value[0] if isinstance(value, list) and len(value) == 1 else value  # `[[name]]`
    return tuple(names) if value == {} else None


def key(line: str) -> str:
    """Return the key that a line sets, or ""."""
    name, equals, _ = line.partition("=")
    return name.strip().strip("\"'") if equals else ""


def last_line(lines: Sequence[str], at: int) -> int:
    """Return the index of the line that ends the value beginning on line `at`."""
    for last in range(at, len(lines)):
        try:
            tomllib.loads("".join(f"{line.rstrip()}\n" for line in lines[at : last + 1]))
        except tomllib.TOMLDecodeError:
            continue
        return last
    return at
