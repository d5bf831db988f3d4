"""Eligibility: why a note is never shown to an agent."""

from __future__ import annotations

import os

from mdmem.vault import note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.vault.note import Parsed


def left_out(parsed: Parsed, agent: str = "") -> str:
    """Return why a note is never shown to an agent, or "". agent: an agent that loads some files itself."""
    if not parsed.meta and not parsed.body.strip():
        return "its file is gone"
    if people.keeps_private(parsed.meta):
        return "private"
    if agent and agent in (parsed.meta.get("loaded_by") or ()) and not _is_switched_off(parsed):
        return "the agent loads its source file itself"
    status = parsed.meta.get("status")
    return "superseded" if parsed.meta.get("superseded_by") else str(status) if status in note.WITHHELD else ""


def _is_switched_off(parsed: Parsed) -> bool:
    """Whether a note is from Claude Code's auto memory and the user's settings have switched that off."""
    if not parsed.fact("source").endswith("/MEMORY.md"):
        return False
    from mdmem import files
    from mdmem.agents import claude_code

    settings = files.try_read_any(claude_code.settings_file("user", "", os.environ), 1024 * 1024)
    return '"autoMemoryEnabled":false' in "".join(settings.decode("utf-8", "replace").split())
