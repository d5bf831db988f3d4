"""Command line: the command that an agent runs to reach mdmem: launcher, verb, agent and perhaps a vault."""

from __future__ import annotations

import ast
import os
import re
import shlex
from typing import Any

from mdmem import config
from mdmem.agents.install import launcher

_FORMER = ("mdmem.recall.hook", "mdmem.inject.process", "mdmem.cli", "mdmem.capture.status_line",
           "mdmem.capture.hook", "mdmem.recall.inject")  # fmt: skip
"""Modules run by mdmem's commands from before the launcher; `mdmem install` replaces such commands."""


_GONE = (
    '{"systemMessage": "mdmem stores nothing: the program that its hooks start is gone. '
    'Run `mdmem install %s` to restore it."}'
)
_REFUSERS = ("gemini",)
"""Agents that reject the prompt if a hook's program is missing; others only show an error."""


def words(verb: str, agent: str, vault: str | None) -> list[str]:
    """Return the program and arguments for `hook`, `inject`, `status` or `commit`."""
    return [*launcher.words(), verb, agent, *(["--vault", vault] if vault else [])]


def command(verb: str, agent: str, vault: str | None = None, *, shared: bool = False) -> str:
    """Return `words` as one line for sh, bash, zsh or fish, which also works without a shell.

    shared: for a file that other people get too: it works in any home folder and does nothing without a launcher.
    """
    line = words(verb, agent, vault)
    if launcher.is_windows():
        return " ".join(map(_quoted, line))
    if not shared and agent not in _REFUSERS:
        return shlex.join(line)
    *shell, file = launcher.words()
    place = shlex.quote(file)
    home = f"{config.home()}{os.sep}"
    if shared and file.startswith(home) and shlex.quote(file[len(home) :]) == file[len(home) :]:
        place = f"~/{file[len(home) :]}"
    message = f" && echo {shlex.quote(_GONE % agent)}" if verb == "hook" and not shared else ""
    there = f"[ ! -{'f' if shell else 'x'} {place} ]"
    return f"{there}{message} || exec {' '.join([*shell, place])} {shlex.join(line[len(shell) + 1 :])}"


def _quoted(word: str) -> str:
    """Return a word quoted for a Windows command line."""
    if word and " " not in word:
        return word
    return '"' + word + "\\" * (len(word) - len(word.rstrip("\\"))) + '"'


def needs_no_shell(agent: str) -> bool:
    """Whether the agent gets a program and arguments instead of a line: on Windows it may not have a shell it knows."""
    return launcher.is_windows() and agent == "claude-code"


_BY_HAND = re.compile(r"""(?:^|[\s/\\;&"'])mdmem(?:\.exe)?["']?(?:\s+--vault[\s=]\S+)?\s+(?:hook|inject)\s""")
"""A command that somebody wrote, such as `python3 -m mdmem hook claude-code`: with ours, it would store twice."""


def is_own(line: Any) -> bool:
    """Whether a registered command is mdmem's, of any version and location, or written by hand for its hooks."""
    if not isinstance(line, str):
        return False
    return any(word in line for word in (launcher.NAME, *_FORMER)) or bool(_BY_HAND.search(line))


def launcher_of(line: str) -> str:
    """Return the path of the launcher that a registered command starts, or ""; one may be elsewhere (XDG_DATA_HOME)."""
    try:
        parts = shlex.split(line, posix=not launcher.is_windows())
    except ValueError:
        return ""
    named = (part.strip('"') for part in parts if launcher.NAME in os.path.basename(part))
    return os.path.expanduser(next(named, ""))


def vault_of(line: str) -> str:
    """Return the vault that a registered command names, or ""."""
    try:
        arguments = shlex.split(line, posix=not launcher.is_windows())
        if "--vault" in arguments[:-1]:
            return arguments[arguments.index("--vault") + 1].strip('"')
        _, vault = ast.literal_eval(f"({arguments[-1].rpartition(' main(')[2]}")
    except (ValueError, SyntaxError, IndexError, TypeError):
        return ""
    return vault if isinstance(vault, str) else ""
