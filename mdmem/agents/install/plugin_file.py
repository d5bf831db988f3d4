"""Plugin file: a file of mdmem's own with the command lines, for an agent without hooks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from mdmem.agents.install import launcher
from mdmem.agents.install.command_line import command
from mdmem.errors import ConfigError

if TYPE_CHECKING:
    from mdmem.agents.install.catalog import KnownAgent

_MARK = "mdmem's plugin for"
_PLACE = "__COMMANDS__"


def render(agent: KnownAgent, vault: str, *, shared: bool = False) -> str:
    """Return the plugin's text.

    vault: the vault to name; "" leaves it to the settings. shared: for a file that other people get too.

    Raises ConfigError when this installation of mdmem has no such template.
    """
    commands = {verb: command(verb, agent.name, vault, shared=shared) for _, verb, _, _ in agent.module.HOOKS}
    return _template(agent.plugin).replace(_PLACE, json.dumps(commands, indent=2, ensure_ascii=False))


def lines(text: str, path: str) -> list[str]:
    """Return the command lines in a plugin file.

    Raises ConfigError when `text`, the content of `path`, is somebody else's plugin.
    """
    if _MARK not in text:
        raise ConfigError(f"{path} is not one of mdmem's files. It was not changed. Move it away and try again.")
    start = text.find("{", text.find("const COMMANDS"))
    try:
        commands = json.loads(text[start : text.find("\n}", start) + 2])
        return [str(line) for line in commands.values()]
    except (ValueError, AttributeError):
        return [_MARK]  # changed by hand, but still mdmem's


def _template(name: str) -> str:
    for folder in (launcher.PACKAGE, os.path.dirname(launcher.PACKAGE)):  # as installed, or in a checkout
        path = os.path.join(folder, "templates", *name.split("/"))
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise ConfigError(f"This installation of mdmem has no template {name}. Install mdmem again.")
