"""Command line: what an agent runs to reach mdmem: the launcher, with a verb, the agent, and perhaps a vault."""

from __future__ import annotations

import ast
import os
import shlex
from typing import Any

from mdmem import config
from mdmem.agents.install import launcher

_FORMER = ("mdmem.recall.hook", "mdmem.inject.process", "mdmem.cli", "mdmem.capture.status_line",
           "mdmem.capture.hook", "mdmem.recall.inject")  # fmt: skip
"""Modules that commands without a launcher run: they are mdmem's too, and `mdmem install` replaces them."""


_GONE = (
    '{"systemMessage": "mdmem stores nothing: the program that its hooks start is gone. '
    'Run `mdmem install %s` to restore it."}'
)
_REFUSERS = ("gemini",)
"""Agents that take a hook whose program is not there for a refusal, and pass no prompt on; others show an error."""


def words(verb: str, agent: str, vault: str | None = None) -> list[str]:
    """Return the program and the arguments for `hook`, `inject`, `status`, or `commit`."""
    return [*launcher.words(), verb, agent, *(["--vault", vault] if vault else [])]


def command(verb: str, agent: str, vault: str | None = None, *, shared: bool = False) -> str:
    """Write those as a line for a shell: sh, bash, zsh and fish take it alike, and it needs none.

    shared: for a file that others get, too: it does nothing where there is no launcher, and finds one in any home.
    """
    line = words(verb, agent, vault)
    if _is_windows():
        return " ".join(map(_quoted, line))
    if not shared and agent not in _REFUSERS:
        return shlex.join(line)
    place = shlex.quote(line[0])
    home = f"{config.home()}{os.sep}"
    if shared and line[0].startswith(home) and shlex.quote(line[0][len(home) :]) == line[0][len(home) :]:
        place = f"~/{line[0][len(home) :]}"
    told = f" && echo {shlex.quote(_GONE % agent)}" if verb == "hook" and not shared else ""
    return f"[ ! -x {place} ]{told} || exec {place} {shlex.join(line[1:])}"


def _quoted(word: str) -> str:
    """Return a word as a Windows program reads it from its command line."""
    if word and " " not in word:
        return word
    return '"' + word + "\\" * (len(word) - len(word.rstrip("\\"))) + '"'


def needs_no_shell(agent: str) -> bool:
    """Whether an agent is given a program and its arguments: on Windows, where there may be no shell that it knows."""
    return _is_windows() and agent == "claude-code"


def is_own(line: Any) -> bool:
    """Whether a registered command is mdmem's, of whatever version and place."""
    return isinstance(line, str) and any(word in line for word in (launcher.NAME, *_FORMER))


def vault_of(line: str) -> str:
    """Read the vault that a registered hook or injection names, or ""."""
    try:
        given = shlex.split(line, posix=not _is_windows())
        if "--vault" in given[:-1]:
            return given[given.index("--vault") + 1].strip('"')
        _, vault = ast.literal_eval(f"({given[-1].rpartition(' main(')[2]}")
    except (ValueError, SyntaxError, IndexError, TypeError):
        return ""
    return vault if isinstance(vault, str) else ""


def _is_windows() -> bool:
    return os.name == "nt"
