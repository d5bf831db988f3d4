"""Entities: issue numbers, addresses, packages, and symbols in backticks that a text names, by rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 20_000
_RULES = (
    re.compile(r"(?<![\w&/])(#\d{1,7})\b"),
    re.compile(r"\b(https?://[^\s<>()\[\]\"'`]{3,200}[^\s<>()\[\]\"'`.,;:!?])"),
    re.compile(r"^[ \t>+-]*(?:from|import) ([A-Za-z_]\w{1,40})\b", re.MULTILINE),
    re.compile(r"No module named '([A-Za-z_]\w{1,40})"),
    re.compile(r"\b(?:pip|uv|npm|pnpm|yarn|cargo|poetry|gem) (?:install|add) (?:-\S+ )*(@?[A-Za-z][\w./-]{1,60})"),
    re.compile(r"\b(?:require\(|from )['\"](@?[A-Za-z][\w./-]{1,60})['\"]"),
    re.compile(r"(?<!`)`([A-Za-z_][\w.]{2,60})(?:\(\))?`(?!`)"),
)


def named_in(text: str) -> Iterator[str]:
    """Yield the entities of a text, each once, in the order of the rules."""
    text = text[:MAX_CHARS]
    yield from dict.fromkeys(name for rule in _RULES for name in rule.findall(text))
