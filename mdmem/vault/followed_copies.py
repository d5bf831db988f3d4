"""Notes that follow files outside the vault: an agent's own memory, instruction files such as CLAUDE.md."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.vault import note

DIGEST = "source_digest"
"""Front matter key with the digest of the copied text."""

CONFLICT = "source_changed"
"""Front matter key of a conflict: the digest of the file's newer text, when a person has edited its note."""


def is_edited(parsed: note.Parsed) -> bool:
    """Whether a person has edited the note since the file was copied; also True when no digest was recorded."""
    return parsed.meta.get(DIGEST) != note.fingerprint(parsed.fact("title"), parsed.body)


def is_ahead(ours: bytes, theirs: bytes) -> bool | None:
    """Whether `ours` wins over `theirs`; None when both were edited, or they are not copies of files.

    The file may differ between machines. A version that a person edited in the vault wins, else the one that was
    saved last.
    """
    our_note, their_note = note.parse(ours), note.parse(theirs)
    if DIGEST not in our_note.meta or DIGEST not in their_note.meta:
        return None
    edited = is_edited(our_note), is_edited(their_note)
    if any(edited):
        return None if all(edited) else edited[0]
    first, second = ((timestamps.epoch(side.fact("created")), side.body) for side in (our_note, their_note))
    return first >= second
