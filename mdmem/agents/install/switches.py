"""Switches: settings with which a user has switched an agent's hooks off, so that mdmem's never run."""

from __future__ import annotations

import os
from typing import Any

from mdmem.agents.install import json_text, toml_text
from mdmem.agents.install.catalog import SCOPES, KnownAgent, OffSwitch, located
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError


def problem(agent: KnownAgent, hooks_file: str, text: str) -> ConfigError | None:
    """Return the problem if an agent runs no hooks of mdmem because its settings say so.

    text: the content of the hooks file. The settings of every scope count, for they switch off hooks of all scopes;
    those of a project are the ones of the current folder, and override the user's.
    """
    narrowest_first = [located(agent.settings, scope) for scope in reversed(SCOPES)]
    places = dict.fromkeys(filter(None, (*narrowest_first, hooks_file)))
    for switch in agent.switches:
        for place in places:
            path = os.path.join(os.path.dirname(place), switch.file) if switch.file else place
            value = _value(switch, path, text if path == hooks_file else None)
            if _is_off(switch, value):
                key = f"{'.'.join(switch.place)} in {path}"
                why = f"{key} switches hooks off, so {agent.title} skips mdmem's and nothing is stored."
                return ConfigError(why, "Remove that setting.")
            if isinstance(value, bool):
                break  # wider settings are overridden; only lists are joined
    return None


def _value(switch: OffSwitch, path: str, text: str | None) -> Any:
    """Return the value of a switch in a settings file; None without one. text: the file's content, None to read it."""
    try:
        content = text if text is not None else SettingsFile(path).text or ""
        decoded = toml_text.loads(content) if path.endswith(".toml") else json_text.loads(content or "{}")
    except (ConfigError, ValueError):
        return None
    return json_text.at(decoded, switch.place)


def _is_off(switch: OffSwitch, value: Any) -> bool:
    if isinstance(value, list):
        return any(str(item).startswith(str(switch.off)) for item in value)
    return value is switch.off
