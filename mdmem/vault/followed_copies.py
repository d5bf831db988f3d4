"""Notes that are copies of files elsewhere, and follow them: an agent's memory, instruction files such as CLAUDE.md."""

from __future__ import annotations

from mdmem import timestamps
from mdmem.vault import note

DIGEST = "source_digest"
"""The front matter key with the digest of what was taken in."""

CONFLICT = "source_changed"
"""The key that names a conflict: the digest of what the file says, where a person has edited its note meanwhile."""


def is_edited(parsed: note.Parsed) -> bool:
    """Whether a person has changed the note of a followed file since it was taken in; one of unknown origin counts."""
    return parsed.meta.get(DIGEST) != note.fingerprint(str(parsed.meta.get("title", "")), parsed.body)


def is_ahead(ours: bytes, theirs: bytes) -> bool | None:
    """Whether, of two versions of such a note, the text of `ours` holds; None for other notes, and two edited ones.

    The file may differ from machine to machine: the one that was saved last counts, and any that a person has edited
    in the vault.
    """
    one, other = note.parse(ours), note.parse(theirs)
    if DIGEST not in one.meta or DIGEST not in other.meta:
        return None
    edited = is_edited(one), is_edited(other)
    if any(edited):
        return None if all(edited) else edited[0]
    first, second = ((timestamps.epoch(str(side.meta.get("created", ""))), side.body) for side in (one, other))
    return first >= second
