"""The protocol: optional advice in an agent's instruction file on when to save a note."""

from __future__ import annotations

import os
from pathlib import Path

from mdmem.agents.install.catalog import AGENTS
from mdmem.agents.install.registration import SettingsChange
from mdmem.agents.install.settings_file import SettingsFile, diff
from mdmem.transcripts import promotion

NAME = "protocol"
"""The name in the markers around the text, in place of a note's id."""
MAX_CHARS = 1_500
TITLE = "Memory"
TEXT = """
Sessions are recorded by mdmem's hooks without your help. Save a note only for what other sessions should find first
and what neither the code nor git says: a decision with its reason, a preference of the user, a lesson that cost
time. Most turns save nothing.

- The user asks to remember something: `mdmem note` or the MCP tool `add_note`.
- You think something is worth keeping: the same with `--propose`, or `propose: true`; the user decides later.
- First check what is already decided: `mdmem decisions WORDS`. `--supersedes` names the note that yours contradicts.

A note makes one statement, in this order:

1. the statement, one sentence that stays true without this conversation,
2. `Why:` the reason, with the citation `[mem:ID]` of the turn that says so, if there is one,
3. `How to apply:` what to do or avoid because of it.

Never put secrets into a note.
"""


def of_agent(name: str, *, wanted: bool, dry_run: bool = False) -> list[SettingsChange]:
    """Write the text into the user's instruction file of an agent, or remove it; return [] when nothing changes.

    Everything outside the markers stays as it is.

    Raises ConfigError when the file cannot be read or written.
    """
    row = AGENTS.get(name)
    if row is None or not row.own_instructions:
        return []
    path = Path(row.module.folder(os.environ)) / row.own_instructions
    if not path.is_file() and not wanted:
        return []
    file = SettingsFile(str(path))
    before = file.text or ""
    after = promotion.with_note(file.text, NAME, TITLE, TEXT) if wanted else promotion.without_note(before, NAME)
    if after == before:
        return []
    change = SettingsChange(name, row.title, "user", file.path, "updated" if wanted else "removed")
    if dry_run:
        return [change._replace(diff=diff(before, after, file.path))]
    if promotion.is_ours(before, after):
        file.delete()
    else:
        file.write(after, keep_first=False)
    return [change._replace(note="It says when a note is worth saving (learn.protocol)." if wanted else "")]
