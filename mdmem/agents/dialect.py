"""Dialect: helpers for what the payloads of several agents have in common."""

from __future__ import annotations

from mdmem.agents import payload
from mdmem.hashing import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def decoded(value: Any) -> Any:
    """Decode a value that came as a JSON object or list in a string; return anything else unchanged."""
    if type(value) is not str or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return payload.load(value)
    except (ValueError, RecursionError):
        return value


def made_id(*facts: Any) -> str:
    """Return an id for a tool run without one; the same facts give the same id."""
    return f"made-{short(repr(facts), 16)}"


def mcp_name(tool: str, prefix: str) -> str:
    """Return the name of mdmem's own MCP tools, `<prefix><tool>` in this agent, in the common form."""
    return f"mcp__mdmem__{tool.removeprefix(prefix)}" if tool.startswith(prefix) else tool


def exit_code(text: str) -> int | None:
    """Parse an exit code; None for anything else. Those of Windows have ten digits and may be negative."""
    digits = text.strip()
    plain = digits.removeprefix("-")
    return int(digits) if plain.isdecimal() and plain.isascii() and len(plain) <= 10 else None


def failure(exit_code: Any, output: str) -> str | None:
    """Return the error of a command that ended with `exit_code`, in Claude Code's words; None if it succeeded."""
    if type(exit_code) is not int or exit_code == 0:
        return None
    return f"Exit code {exit_code}\n{output}"


def seconds(value: Any) -> float | None:
    """Parse a time in seconds or milliseconds since the epoch or in ISO 8601; None for anything else."""
    if type(value) in (int, float) and 0 < value < 1 << 53:
        return float(value) / (1000 if value > 100_000_000_000 else 1)
    if type(value) is not str or not 10 <= len(value) <= 40:
        return None
    from datetime import datetime

    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
