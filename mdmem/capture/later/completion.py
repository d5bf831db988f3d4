"""Completion: adds what becomes known later to a note, unless a person has touched it.

For example, a run turns out to have failed, a background sub-agent answers, an exit code or duration becomes known, or
a text that was withheld can now be cleaned.
Everything else in the note stays.
"""

from __future__ import annotations

from mdmem import timestamps
from mdmem.agents import BACKGROUND
from mdmem.capture.tools.teamwork import LATER
from mdmem.privacy.withheld import MARK
from mdmem.vault import disk, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = (*LATER, BACKGROUND)
"""Status of a run that has not ended yet."""

_ADDED = ("exit_code", "duration_ms", "tokens_in", "tokens_out")
_REPLACED = ("title", "success", "exit_code", "duration_ms", "error", "status", "files", "matches", "digest")


def is_wanted(before: note.Parsed, later: note.Note) -> bool:
    """Whether a later source of the same event knows something that its note does not."""
    return _is_outdated(before, later) or any(key in later.meta and key not in before.meta for key in _ADDED)


def _is_outdated(before: note.Parsed, later: note.Note) -> bool:
    meta = before.meta
    failed = meta.get("success") is True and later.meta.get("success") is False
    ended = meta.get("status") in OPEN and later.meta.get("status") not in OPEN
    return failed or ended or later.body.count(MARK) < before.body.count(MARK)


def complete(folder: disk.Folder, name: str, later: note.Note, *, durable: bool) -> note.Note | None:
    """Update a note with what a later source knows of its event; return the new note, or None if it was left alone.

    Raises OSError when it cannot be written.
    """
    data = disk.read(folder, name)
    parsed = note.parse(data or b"")
    if data is None or not is_wanted(parsed, later):
        return None
    if not people.is_untouched(parsed, data, later.meta.get("tags")):
        return None
    meta, body = dict(parsed.meta), parsed.body
    if _is_outdated(parsed, later):
        body = later.body
        for key in _REPLACED:
            meta.pop(key, None)
        meta = _ordered(meta, {key: later.meta[key] for key in _REPLACED if key in later.meta})
    else:
        meta = _ordered(meta, {key: later.meta[key] for key in _ADDED if key in later.meta and key not in meta})
    return put(folder, name, data, note.Note(meta, "", body), durable=durable)


def renew(folder: disk.Folder, name: str, later: note.Note, *, durable: bool) -> None:
    """Replace an earlier state by a later one, unless a person has changed or deleted the note.

    Open items of the earlier list that the new one no longer has are kept as dropped, `- [-]`.

    Raises OSError when it cannot be written.
    """
    data = disk.read(folder, name)
    parsed = note.parse(data or b"")
    meta = parsed.meta
    before = timestamps.epoch(str(meta.get("updated") or meta.get("created", "")))
    is_old = timestamps.epoch(str(later.meta["created"])) < before
    if data is None or parsed.problem or note.is_edited(parsed) or set(meta) - note.OF_CAPTURE - {"done"} or is_old:
        return
    body = _with_dropped(parsed.body, later.body)
    digest = note.fingerprint(later.title, body)
    if meta.get("digest") == digest:
        return
    renewed = {"title": later.title, "updated": later.meta["created"], "digest": digest}
    put(folder, name, data, note.Note(_ordered(meta, renewed), "", body), durable=durable)


_OPEN_ITEM, _DROPPED_ITEM = "- [ ] ", "- [-] "
MAX_DROPPED = 20


def _with_dropped(before: str, after: str) -> str:
    """Return the list `after`, with the open or dropped items of `before` that it lacks added as dropped."""
    listed = {line[len(_OPEN_ITEM) :] for line in after.splitlines() if line.startswith("- [")}
    lines = [line for line in before.splitlines() if line.startswith((_OPEN_ITEM, _DROPPED_ITEM))]
    dropped = [text for text in dict.fromkeys(line[len(_OPEN_ITEM) :] for line in lines) if text not in listed]
    return "\n".join([after.strip("\n"), *(f"{_DROPPED_ITEM}{text}" for text in dropped[-MAX_DROPPED:])])


def put(folder: disk.Folder, name: str, data: bytes, changed: note.Note, *, durable: bool = True) -> note.Note | None:
    """Replace `data` by a changed note; return it, or None if the file was changed in the meantime."""
    changed = note.Note(changed.meta, "", changed.body.strip("\n") + "\n")
    text = note.render(changed).encode("utf-8", "replace")
    return changed if disk.replace(folder, name, data, text, durable=durable) else None


def _ordered(meta: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Return the front matter with keys added in the order of new notes."""
    head = ("id", "kind", "title", "created")
    all_keys = {**meta, **added}
    others = sorted((key for key in all_keys if key not in head), key=note.position_of)
    return {key: all_keys[key] for key in (*head, *others) if key in all_keys}
