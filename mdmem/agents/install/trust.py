"""Trust: what Codex has noted of the hooks that its user has reviewed, beside the file that registers them."""

from __future__ import annotations

import os
from typing import Any

from mdmem.agents import codex
from mdmem.agents.install import toml_text
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError

_STATE = ("hooks", "state")


def forget(agent: str, hooks_file: str) -> None:
    """Take out of Codex's settings what it has noted of the hooks in a file that held mdmem's alone.

    A settings file that cannot be read or written is left alone: what stays in it does nothing.
    """
    if agent != codex.NAME:
        return
    try:
        file = SettingsFile(os.path.join(os.path.dirname(hooks_file), "config.toml"))
        text = file.text or ""
        for key in _noted(text, hooks_file):
            text = toml_text.without_table(text, (*_STATE, key))
        if not _noted(text, ""):
            text = toml_text.without_table(text, _STATE)
        if file.text is not None and text != file.text:
            file.write(text, keep_first=False)
    except (ConfigError, ValueError):
        return


def unreviewed(agent: str, hooks_file: str, own: int) -> str:
    """Return what is wrong when Codex has not noted a review of mdmem's hooks, which it then skips in silence; or "".

    own: how many hooks mdmem has in that file.
    """
    if agent != codex.NAME:
        return ""
    try:
        text = SettingsFile(os.path.join(os.path.dirname(hooks_file), "config.toml")).text or ""
        noted = len(_noted(text, hooks_file))
    except (ConfigError, ValueError):
        return ""
    if noted >= own:
        return ""
    many = f"{own - noted} of mdmem's {own} hooks were" if noted else "mdmem's hooks were"
    return f"{many} never reviewed in Codex, which skips them without a word: nothing is stored."


def _noted(text: str, hooks_file: str) -> list[str]:
    """Return the keys that begin with a hooks file's path."""
    value: Any = toml_text.loads(text)
    for key in _STATE:
        value = value.get(key) if isinstance(value, dict) else None
    return [key for key in value if key.startswith(hooks_file)] if isinstance(value, dict) else []
