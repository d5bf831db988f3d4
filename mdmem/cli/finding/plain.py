"""A plain search, for words with the most common options, runs without click: loading that takes longer than searching.

All other command lines, and values that must be checked, are left to the click command.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_FLAGS = {"--json": "as_json", "--all": "every"}
_NUMBERS = {"-n": "limit", "--limit": "limit", "--offset": "offset"}
_FILTERS = {"--kind": "kind", "--project": "project", "--session": "session", "--tool": "tool", "--file": "file"}


def run(line: Sequence[str]) -> bool:
    """Run a plain search; return False, with nothing done, for any other command line."""
    given_vault, command = (line[1], line[2:]) if line[:1] == ["--vault"] and len(line) > 2 else (None, line)
    parsed = None if os.environ.get("_MDMEM_COMPLETE") else parse(command)
    if parsed is None:
        return False
    from mdmem.cli.finding import hits
    from mdmem.cli.terminal import startup

    end = startup.begin_fence("search")
    try:
        text, filters, how = parsed
        config = startup.vault_config(given_vault)
        limit = how["limit"] or hits.EVERYTHING
        query = startup.query(filters, text)
        result = hits.run(config, query, sort="relevance", limit=limit, offset=how["offset"], collapse=not how["every"])
        files = [] if filters or how["offset"] else hits.files_with_words(config, text, limit)
        hits.show(config, result, files, offset=how["offset"], limit=limit, as_json=how["as_json"], words=text)
    finally:
        if end:
            print(end)
    return True


def parse(line: Sequence[str]) -> tuple[str, dict[str, Any], dict[str, Any]] | None:
    """Return the words, the filters and the other options of a plain search; None for any other command line."""
    if line[:1] != ["search"]:
        return None
    how: dict[str, Any] = {"limit": 10, "offset": 0, "every": False, "as_json": False}
    words: list[str] = []
    filters: dict[str, Any] = {}
    remaining = iter(line[1:])
    for word in remaining:
        name, equals, value = word.partition("=")
        if word[:1] != "-":
            words.append(word)
        elif word in _FLAGS:
            how[_FLAGS[word]] = True
        elif name in _NUMBERS or name in _FILTERS:
            if not equals or name == "-n":
                value = next(remaining, "-") if not equals else "-"
            if value[:1] == "-" or (name in _NUMBERS and not _is_number(value)):
                return None
            if name in _NUMBERS:
                how[_NUMBERS[name]] = int(value)
            else:
                filters[_FILTERS[name]] = (*filters.get(_FILTERS[name], ()), value)
        else:
            return None
    text = " ".join(words)
    return (text, filters, how) if text.strip() else None


def _is_number(value: str) -> bool:
    """Whether a value is a number that needs no check; click rejects one that is too large."""
    return value.isascii() and value.isdigit() and len(value) < 10
