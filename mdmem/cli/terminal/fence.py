"""Fence: what mdmem prints to an agent is marked as memory, so that no part of it is stored as something new."""

from __future__ import annotations

import os
import sys

AGENT_VARIABLES = ("CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "COPILOT_CLI")
"""What agents set for the commands that they run."""

FENCED = frozenset(
    ["search", "related", "show", "list", "sessions", "history", "timeline", "digest", "log", "review", "why", "diff"]
)
"""The commands that print what notes say."""

_FOR_PROGRAMS = frozenset(["--json", "--raw", "--path", "--open", "--queries", "-h", "--help"])
"""With these options a program reads the output, or there is none of a note."""


def begin(command: str | None) -> str:
    """Print the beginning of the fence where an agent reads a command's output as text; return its end, "" for none."""
    is_text = command in FENCED and _FOR_PROGRAMS.isdisjoint(sys.argv)
    if not is_text or sys.stdout.isatty() or not any(os.environ.get(name) for name in AGENT_VARIABLES):
        return ""
    nonce = os.urandom(4).hex()
    print(f"<mdmem-context id={nonce}>")
    return f"</mdmem-context id={nonce}>"
