"""How values look on a terminal: tables, dates, highlighted snippets; plain text in a pipe."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def toml(value: Any) -> str:
    """Write a setting's value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if not isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's, but for one


def as_json(value: Any) -> str:
    """Write a value as JSON, readable in any script; bytes of a file name that are no text stay escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a number in somebody's front matter that JSON does not have
        return as_json(_without_nan(value))
    return text if text.isascii() or "\\ud" not in ascii(text) else json.dumps(value)


def print_json(value: Any) -> None:
    """Print a value as JSON on a line."""
    print(as_json(value))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def console(*, stderr: bool = False) -> Console:
    """Return rich's console for stdout or stderr: color on a terminal only (NO_COLOR is honoured)."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def is_terminal() -> bool:
    """Return whether a person is looking."""
    return sys.stdout.isatty()


def safe(text: str) -> str:
    """Return stored text without control characters, but for line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" or c == "\u200d" else "\ufffd" for c in text)
