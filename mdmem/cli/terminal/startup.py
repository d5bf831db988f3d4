"""What commands need first, without click: the vault's configuration, the query from words and options, and a fence.

The fence marks output to an agent as memory, so that no part of it is stored as something new.
"""

from __future__ import annotations

import os
import sys

from mdmem.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mdmem.config import Config
    from mdmem.search.query import Query


def query(given: Mapping[str, Any], text: str = "") -> Query:
    """Return the query of the words, with the filters of the options added.

    Raises UsageError when an option's value cannot be read; in the words, that is only a hint.
    """
    from mdmem.search import query as language

    parsed = language.parse(text)
    if given.get("failed"):
        given = {**given, "is_": (*given.get("is_", ()), "failed")}
    filters = {key.rstrip("_"): value for key, value in given.items() if value and key != "failed"}
    filtered = language.with_filters(parsed, filters, as_options=True)
    refused = filtered.hints[len(parsed.hints) :]
    if refused:
        raise UsageError(refused[0])
    if {"since", "until"} <= filters.keys() and (filtered.since or 0) >= (filtered.until or 0):
        raise UsageError("Nothing is after --since and before --until: the first time must be earlier.")
    return filtered


def vault_config(given_vault: str | None) -> Config:
    """Return the configuration of a vault; print what is wrong with its settings on stderr.

    Raises VaultError when there is no vault.
    """
    from mdmem import config

    loaded = config.load(given_vault)
    if not os.path.isdir(loaded.vault):  # noqa: PTH112 - nothing else here needs pathlib
        from mdmem import moved

        raise moved.missing(loaded.state_dir, loaded.vault)
    for warning in loaded.warnings:
        print(f"mdmem: {warning}", file=sys.stderr, flush=True)
    return loaded


def here() -> str:
    """Return the current folder; "" if it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib costs more than the rest of a plain search
    except OSError:
        return ""


def is_dumb() -> bool:
    """Whether the terminal shows escape codes as text."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def is_plain() -> bool:
    """Whether output has no colors: the terminal shows none, or NO_COLOR (no-color.org) asks for none."""
    return is_dumb() or bool(os.environ.get("NO_COLOR"))


AGENT_VARIABLES = {
    "CLAUDECODE": "claude-code", "CODEX_THREAD_ID": "codex", "GEMINI_CLI": "gemini", "OPENCODE": "opencode",
    "COPILOT_CLI": "copilot",
}  # fmt: skip
"""Environment variables that agents set for the commands they run -> the agent."""


def calling_agent() -> str:
    """Return the agent that runs this command; "" for a person."""
    return next((name for variable, name in AGENT_VARIABLES.items() if os.environ.get(variable)), "")


FENCED = frozenset(
    [
        "search", "prompts", "related", "fixes", "about", "show", "list", "sessions", "history", "timeline",
        "decisions", "todo", "proposals", "digest", "log", "review", "why", "diff",
    ]
)  # fmt: skip
"""The commands that print text of notes."""

_FOR_PROGRAMS = frozenset(["--json", "--raw", "--path", "--open", "--queries", "-h", "--help"])
"""With these options, a program reads the output, or it contains no note."""


def begin_fence(command: str | None) -> str:
    """Print the start of the fence if an agent reads a command's output as text; return the end, "" for no fence."""
    is_text = command in FENCED and _FOR_PROGRAMS.isdisjoint(sys.argv)
    if not is_text or sys.stdout.isatty() or not calling_agent():
        return ""
    nonce = os.urandom(4).hex()
    print(f"<mdmem-context id={nonce}>")
    return f"</mdmem-context id={nonce}>"
