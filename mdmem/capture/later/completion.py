"""Completion: what a note's own source tells later is put into it, unless a person has touched the note.

A run that was called a success turns out to have failed, a sub-agent in the background answers, an exit code or a
duration becomes known. Whatever else stands in the note stays.
"""

from __future__ import annotations

from mdmem import timestamps
from mdmem.agents import BACKGROUND
from mdmem.capture.tools.teamwork import LATER
from mdmem.vault import disk, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = (*LATER, BACKGROUND)
"""The status of a run whose end is not known yet."""

_ADDED = ("exit_code", "duration_ms", "tokens_in", "tokens_out")
_TOLD_ANEW = ("title", "success", "exit_code", "duration_ms", "error", "status", "files", "matches", "digest")


def is_wanted(meta: dict[str, Any], made: note.Note) -> bool:
    """Whether `made`, the same event as its source tells it now, knows what the note with `meta` does not."""
    return _is_told_anew(meta, made) or any(key in made.meta and key not in meta for key in _ADDED)


def _is_told_anew(meta: dict[str, Any], made: note.Note) -> bool:
    failed = meta.get("success") is True and made.meta.get("success") is False
    return failed or (meta.get("status") in OPEN and made.meta.get("status") not in OPEN)


def complete(folder: disk.Folder, name: str, made: note.Note, *, durable: bool = True) -> note.Note | None:
    """Put what `made` knows into the note of that name; return the note as it is now, None when it was left alone.

    Raises:
        OSError: when it cannot be written.
    """
    data = disk.read(folder, name)
    parsed = note.parse(data or b"")
    if data is None or not is_wanted(parsed.meta, made) or not people.is_untouched(parsed, data, made.meta.get("tags")):
        return None
    meta, body = dict(parsed.meta), parsed.body
    if _is_told_anew(meta, made):
        body = made.body
        for key in _TOLD_ANEW:
            meta.pop(key, None)
        meta = _ordered(meta, {key: made.meta[key] for key in _TOLD_ANEW if key in made.meta})
    else:
        meta = _ordered(meta, {key: made.meta[key] for key in _ADDED if key in made.meta and key not in meta})
    return put(folder, name, data, note.Note(meta, "", body), durable=durable)


def renew(folder: disk.Folder, name: str, made: note.Note, *, durable: bool = True) -> None:
    """Put the state that `made` tells in the place of an earlier one, unless a person has changed or deleted that.

    What an earlier list still had to do and this one no longer names stays as dropped, `- [-]`.

    Raises:
        OSError: when it cannot be written.
    """
    data = disk.read(folder, name)
    parsed = note.parse(data or b"")
    meta = parsed.meta
    before = timestamps.epoch(str(meta.get("updated") or meta.get("created", "")))
    is_old = timestamps.epoch(str(made.meta["created"])) < before
    if data is None or parsed.problem or note.is_edited(parsed) or set(meta) - note.OF_CAPTURE - {"done"} or is_old:
        return
    body = _with_dropped(parsed.body, made.body)
    digest = note.fingerprint(made.title, body)
    if meta.get("digest") == digest:
        return
    told = {"title": made.title, "updated": made.meta["created"], "digest": digest}
    put(folder, name, data, note.Note(_ordered(meta, told), "", body), durable=durable)


_OPEN_ITEM, _DROPPED_ITEM = "- [ ] ", "- [-] "
MAX_DROPPED = 20


def _with_dropped(before: str, after: str) -> str:
    """Return a list with what an earlier one had open, or as dropped, and this one does not name."""
    named = {line[len(_OPEN_ITEM) :] for line in after.splitlines() if line.startswith("- [")}
    lines = [line for line in before.splitlines() if line.startswith((_OPEN_ITEM, _DROPPED_ITEM))]
    gone = [text for text in dict.fromkeys(line[len(_OPEN_ITEM) :] for line in lines) if text not in named]
    return "\n".join([after.strip("\n"), *(f"{_DROPPED_ITEM}{text}" for text in gone[-MAX_DROPPED:])])


def put(folder: disk.Folder, name: str, data: bytes, changed: note.Note, *, durable: bool = True) -> note.Note | None:
    """Put a changed note in the place of `data`; return it, or None when somebody has written the file meanwhile."""
    changed = note.Note(changed.meta, "", changed.body.strip("\n") + "\n")
    text = note.render(changed).encode("utf-8", "replace")
    return changed if disk.replace(folder, name, data, text, durable=durable) else None


def _ordered(meta: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Return front matter with more keys, each at the place where a new note has it."""
    head = ("id", "kind", "title", "created")
    both = {**meta, **added}
    rest = sorted((key for key in both if key not in head), key=note.place)
    return {key: both[key] for key in (*head, *rest) if key in both}
