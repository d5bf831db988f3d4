"""Switches: settings with which a user has switched an agent's hooks off, so that mdmem's never run."""

from __future__ import annotations

import os

from mdmem.agents.install import json_text, toml_text
from mdmem.agents.install.known import KnownAgent, OffSwitch
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError


def problem(agent: KnownAgent, hooks_file: str, text: str) -> ConfigError | None:
    """Return the problem if an agent runs no hooks of mdmem because its settings say so.

    text: the content of the hooks file.
    """
    for switch in agent.switches:
        path = os.path.join(os.path.dirname(hooks_file), switch.file) if switch.file else hooks_file
        if _is_off(switch, path, text):
            place = f"{'.'.join(switch.place)} in {path}"
            why = f"{place} switches hooks off, so {agent.title} skips mdmem's and nothing is stored."
            return ConfigError(why, "Remove that setting.")
    return None


def _is_off(switch: OffSwitch, path: str, text: str) -> bool:
    try:
        content = SettingsFile(path).text or "" if switch.file else text
        decoded = toml_text.loads(content) if path.endswith(".toml") else json_text.loads(content or "{}")
    except (ConfigError, ValueError):
        return False
    value = json_text.at(decoded, switch.place)
    if isinstance(value, list):
        return any(str(item).startswith(str(switch.off)) for item in value)
    return value is switch.off
