"""Trust: Codex's record of the hooks that its user has reviewed, in its settings beside the hooks file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mdmem.agents import codex
from mdmem.agents import text as as_text
from mdmem.agents.install import entries, json_text, toml_text
from mdmem.agents.install.command_line import is_own
from mdmem.agents.install.settings_file import SettingsFile
from mdmem.errors import ConfigError

_STATE = ("hooks", "state")


def forget(agent: str, hooks_file: str) -> None:
    """Remove Codex's record of the hooks in a file that held only mdmem's hooks.

    Settings that cannot be read or written are left alone; a record that stays is harmless.
    """
    if agent != codex.NAME:
        return
    with suppress(ConfigError, ValueError):
        file = SettingsFile(os.path.join(os.path.dirname(hooks_file), "config.toml"))
        text = file.text or ""
        for key in _noted(text, hooks_file):
            text = toml_text.without_table(text, (*_STATE, key))
        if not _noted(text, ""):
            text = toml_text.without_table(text, _STATE)
        if file.text is not None and text != file.text:
            file.write(text, keep_first=False)


def unreviewed(agent: str, hooks_file: str, text: str, heard: float) -> ConfigError | None:
    """Return the problem if Codex skips mdmem's hooks because they were not reviewed in their present form.

    text: the content of the hooks file. heard: when Codex last ran one, in seconds since the epoch. If that was after
    the file was written, Codex runs hooks that were never reviewed, as with `--dangerously-bypass-hook-trust`. It says
    nothing of hooks that have changed: a session from before the change still runs the earlier ones.
    """
    if agent != codex.NAME:
        return None
    try:
        hashes = dict(_own_hooks(hooks_file, text))
        state = SettingsFile(os.path.join(os.path.dirname(hooks_file), "config.toml")).text or ""
        noted = {key: _noted_hash(state, key) for key in _noted(state, hooks_file) if key in hashes}
    except (ConfigError, ValueError):
        return None
    changed = sum(noted_hash.startswith(_SHA) and noted_hash != hashes[key] for key, noted_hash in noted.items())
    missing = len(hashes) - len(noted)
    if not (missing or changed):
        return None
    why = "were never reviewed in Codex" if missing else "have changed since you reviewed them in Codex"
    unreviewed_count = missing or changed
    if missing == len(hashes) and heard > _written(hooks_file):
        return None
    many = "mdmem's hooks" if unreviewed_count == len(hashes) else f"{unreviewed_count} of mdmem's {len(hashes)} hooks"
    text = f"{many} {why}, so Codex silently skips them and nothing is stored."
    return ConfigError(text, "Type /hooks in Codex to review them.")


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


_SHA = "sha256:"
_UNHEARD = frozenset(["StopFailure"])
"""Events unknown to Codex 0.169, which lists no hooks of theirs for review."""


def _own_hooks(hooks_file: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield Codex's key for each of mdmem's hooks, and the hash that it records when the present form is reviewed."""
    for event, groups in entries.parsed(text, hooks_file).get("hooks", {}).items():
        for at, group in enumerate(groups if event not in _UNHEARD else ()):
            for number, handler in enumerate(group.get("hooks", ()) if isinstance(group, dict) else ()):
                if isinstance(handler, dict) and is_own(handler.get("command")):
                    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
                    yield f"{hooks_file}:{name}:{at}:{number}", _hash(name, group.get("matcher"), handler)


def _hash(event: str, matcher: Any, handler: dict[str, Any]) -> str:
    """Return Codex 0.169's hash of a hook: that of its JSON on one line, with sorted keys."""
    hook = {key: handler.get(key) for key in ("command", "timeout", "type") if handler.get(key) is not None}
    facts = {"event_name": event, "hooks": [{**hook, "async": handler.get("async") is True}]}
    facts |= {"matcher": matcher} if matcher is not None else {}
    line = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _SHA + hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()


def _noted_hash(state: str, key: str) -> str:
    return as_text(json_text.at(toml_text.loads(state), (*_STATE, key, "trusted_hash")))


def _noted(text: str, hooks_file: str) -> list[str]:
    """Return the recorded keys that begin with a hooks file's path."""
    value = json_text.at(toml_text.loads(text), _STATE)
    return [key for key in value if key.startswith(hooks_file)] if isinstance(value, dict) else []
