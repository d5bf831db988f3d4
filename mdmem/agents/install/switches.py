"""Switches: settings with which a user has switched an agent's hooks off, so that mdmem's never run."""

from __future__ import annotations

import os

from mdmem.agents.install import json_text, toml_text
from mdmem.agents.install.known import SCOPES, KnownAgent, OffSwitch, located
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError


def problem(agent: KnownAgent, hooks_file: str, text: str) -> ConfigError | None:
    """Return the problem if an agent runs no hooks of mdmem because its settings say so.

    text: the content of the hooks file. The settings of every scope count, for they switch off hooks of all scopes;
    those of a project are the ones of the current folder.
    """
    others = (located(agent.settings, scope) for scope in SCOPES)
    for place in dict.fromkeys([hooks_file, *filter(None, others)]):
        for switch in agent.switches:
            path = os.path.join(os.path.dirname(place), switch.file) if switch.file else place
            if _is_off(switch, path, text if path == hooks_file else None):
                key = f"{'.'.join(switch.place)} in {path}"
                why = f"{key} switches hooks off, so {agent.title} skips mdmem's and nothing is stored."
                return ConfigError(why, "Remove that setting.")
    return None


def _is_off(switch: OffSwitch, path: str, text: str | None) -> bool:
    """Whether the settings in a file switch hooks off. text: its content, None to read it."""
    try:
        content = text if text is not None else SettingsFile(path).text or ""
        decoded = toml_text.loads(content) if path.endswith(".toml") else json_text.loads(content or "{}")
    except (ConfigError, ValueError):
        return False
    value = json_text.at(decoded, switch.place)
    if isinstance(value, list):
        return any(str(item).startswith(str(switch.off)) for item in value)
    return value is switch.off
