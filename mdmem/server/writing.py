"""The tools that write: notes of the user's own, on request. What hooks captured is never rewritten."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mdmem.errors import UsageError
from mdmem.server import lookup
from mdmem.server.access import Access
from mdmem.server.internal.memories import own_tags
from mdmem.server.reading import Note
from mdmem.vault import archives, user_notes
from mdmem.vault.note import one_line

MAX_PROJECT_CHARS = 80

Text = Annotated[str, Field(description="Markdown. Private sections and secrets are removed.")]


class WrittenNote(TypedDict):
    """A note as it is now."""

    id: str
    path: str
    done: str


def add_note(
    at: Access,
    text: Text,
    title: Annotated[str, Field(description="One line; without it the first line.")] = "",
    kind: Annotated[str, Field(description="note, decision, lesson, preference or task.")] = "note",
    supersedes: Annotated[str, Field(description="The note that no longer holds because of it.")] = "",
    tags: Annotated[tuple[str, ...], Field(description="Words to find it by.")] = (),
    project: Annotated[str, Field(description="Default: the current one; `-` is none.")] = "",
    pinned: Annotated[bool, Field(description="Shown at the start of every session.")] = False,
    propose: Annotated[bool, Field(description="Let the user decide, for what nobody asked to save.")] = False,
) -> WrittenNote:
    """Save something to remember as a note of its own: a decision, a fact, a lesson. When the user asks for it."""
    from mdmem.learn import decisions  # a server that starts needs none of it

    proposed = propose and not at.config.settings.learn.accept
    made = decisions.add(
        at.config,
        title,
        text,
        kind=kind,
        supersedes=lookup.resolve(at, supersedes)[0] if supersedes else "",
        project="" if project == "-" else one_line(project or at.project, MAX_PROJECT_CHARS),
        tags=own_tags(at.config, tags),
        pinned=pinned,
        proposed=proposed,
        now=time.time(),
    )
    return _written(at, made.id, made.path, "Proposed: it waits for the user's decision." if proposed else "Saved.")


def append_note(at: Access, note: Note, text: Text) -> WrittenNote:
    """Add a paragraph at the end of a note that somebody wrote. Captured notes cannot be added to."""
    path, parsed = lookup.resolve(at, note)
    user_notes.append(at.config, path, text)
    return _written(at, str(parsed.meta.get("id", "")), path, "Added.")


def pin(
    at: Access, note: Note, pinned: Annotated[bool, Field(description="false removes the pin.")] = True
) -> WrittenNote:
    """Pin a note, so that it is shown at the start of every session of its project, or unpin it."""
    path, parsed = lookup.resolve(at, note)
    notice = archives.notice(at.config, path)
    changed = user_notes.set_keys(at.config, path, {"pinned": True if pinned else None})
    done = ("Pinned." if pinned else "No longer pinned.") if changed else "Nothing to change."
    done = f"{done} {notice}".rstrip()
    return _written(at, str(parsed.meta.get("id", "")), path, done)


def supersede(
    at: Access,
    note: Note,
    by: Annotated[str, Field(description="The note that holds now; or give `text`.")] = "",
    text: Annotated[str, Field(description="What holds now, in a new note.")] = "",
    title: Annotated[str, Field(description="The new note's title.")] = "",
) -> WrittenNote:
    """Mark a note as out of date and say what holds now; the old one is kept, but no longer offered."""
    if bool(by) == bool(text):
        raise UsageError("Give either `by` (a note) or `text` (for a new note), but not both.")
    path, parsed = lookup.resolve(at, note)
    old = str(parsed.meta.get("id", "")) or path
    if by:
        new_path, new = lookup.resolve(at, by)
        name = str(new.meta.get("id", "")) or new_path
    else:
        project = str(parsed.meta.get("project", ""))
        made = user_notes.add(at.config, title, text, project=project, supersedes=old, now=time.time())
        new_path, name = made.path, made.id
    if new_path == path:
        raise UsageError("A note cannot supersede itself.")
    notice = archives.notice(at.config, path)
    user_notes.set_keys(at.config, path, {"superseded_by": name})
    return _written(at, name, new_path, f"It supersedes {old}. {notice}".rstrip())


def _written(at: Access, name: str, path: str, done: str) -> WrittenNote:
    return {"id": at.line(name, 60), "path": at.line(path, 300), "done": done}


def written_text(made: WrittenNote) -> list[str]:
    """Write what was done as text."""
    return [f"{made['done']} [mem:{made['id']}] {made['path']}"]
