"""Facts: what a session's record keeps of a note, so that its page can be made without reading the note again."""

from __future__ import annotations

from mdmem.agents import aliases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.vault import note

MAX_FILES = 50


def of_note(made: note.Note) -> tuple[str, ...]:
    """Return what the record keeps of a note, so that its page can be made without reading it again."""
    meta = made.meta
    success = "0" if meta.get("success") is False else "1"
    files = "\x1f".join(changed_files(meta)[:MAX_FILES])
    return (kind(meta), str(meta["created"]), success, made_commit(meta), files)


def made_commit(meta: dict[str, Any]) -> str:
    """Return the commits that a run made, and behind a colon what the last one says."""
    commits, subject = str(meta.get("made_commit", "")), str(meta.get("commit_subject", ""))
    return f"{commits}: {subject}" if commits and subject else commits


def kind(meta: dict[str, Any]) -> str:
    """Return a note's kind; the answer of a sub-agent is one of its own."""
    said = str(meta.get("kind", "observation"))
    return "subagent" if said == "response" and meta.get("subagent") else said


def changed_files(meta: dict[str, Any]) -> list[str]:
    """Read the files that a note says it changed; a read or a search touches nothing."""
    found = meta.get("files")
    if not isinstance(found, list) or not aliases.changes_files(str(meta.get("tool", ""))):
        return []
    return [str(item) for item in found]
