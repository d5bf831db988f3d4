"""The status line: registers it in Claude Code's settings, unless the user has another one."""

from __future__ import annotations

from typing import Any

from mdmem.agents.install import entries, json_text, launcher
from mdmem.agents.install.command_line import command, is_own
from mdmem.agents.install.registration import SettingsChange, open_settings, put
from mdmem.errors import ConfigError, UsageError

AGENT = "claude-code"
KEY = "statusLine"


def supported(names: list[str]) -> list[str]:
    """Return the agents in `names` that have a status line. Raises UsageError when none has."""
    if AGENT not in names:
        raise UsageError(f"--status-line is for {AGENT}: `mdmem install {AGENT} --status-line`.")
    return [AGENT]


def register(agent: str, scope: str, *, vault: str | None, dry_run: bool) -> SettingsChange:
    """Register mdmem's status line with the agent.

    Raises ConfigError when the user has another status line, or the settings cannot be parsed.
    """
    known_agent, file = open_settings(agent, scope)
    text = file.text or ""
    present = _present(text, file.path)
    if present is not None and not is_own(_command(present)):
        raise ConfigError(
            f"{file.path} has a status line of your own, which stays. To show both, let your script also run"
            " `mdmem status --line`."
        )
    status_line = {"type": "command", "command": command("status", agent, vault)}
    if present is None:
        text = json_text.append(text if text.strip() else "{}\n", (), status_line, KEY)
    elif present != status_line:
        text = json_text.replace(text, (KEY,), status_line)
    if not dry_run:
        launcher.use(file.path)
    change = SettingsChange(
        agent, known_agent.title, scope, file.path, "unchanged", note="The line is below the prompt."
    )
    return put(change, file, text, keep_first=True, dry_run=dry_run)


def unregister(agent: str, scope: str) -> bool:
    """Remove mdmem's status line from the agent's settings; return whether it was there.

    Raises ConfigError when the settings cannot be parsed or written.
    """
    if agent != AGENT:
        return False
    _, file = open_settings(agent, scope)
    present = _present(file.text or "", file.path)
    if present is None or not is_own(_command(present)):
        return False
    file.write(json_text.remove(file.text or "", (KEY,)))
    launcher.leave(file.path)
    return True


def _present(text: str, path: str) -> Any:
    return entries.parsed(text, path).get(KEY)


def _command(present: Any) -> Any:
    return present.get("command") if isinstance(present, dict) else None
