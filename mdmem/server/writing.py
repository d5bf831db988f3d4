"""The tools that write: notes of the user's own, at the user's word. What hooks captured is never rewritten."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import owned
from mdmem.errors import UsageError
from mdmem.note import one_line
from mdmem.server import index, shown
from mdmem.server.internal.memories import own_tags
from mdmem.server.reach import Reach
from mdmem.server.reading import Note

MAX_PROJECT_CHARS = 80

Text = Annotated[str, Field(description="Markdown. Private sections and secrets are taken out.")]


class Written(TypedDict):
    """A note as it is now."""

    id: str
    path: str
    done: str


def add_note(
    at: Reach,
    text: Text,
    title: Annotated[str, Field(description="What it says, on one line; without it the first line.")] = "",
    tags: Annotated[tuple[str, ...], Field(description="Such as `decision`.")] = (),
    project: Annotated[str, Field(description="Its name; without it the one that is worked in. `-` is none.")] = "",
    pinned: Annotated[bool, Field(description="Shown at the start of every session.")] = False,
) -> Written:
    """Save something to remember as a note of its own: a decision, a fact, a lesson. When the user asks for it."""
    made = owned.add(
        at.config,
        title,
        text,
        project="" if project == "-" else one_line(project or at.project, MAX_PROJECT_CHARS),
        tags=own_tags(at.config, tags),
        pinned=pinned,
        now=time.time(),
    )
    return _written(at, made.id, made.path, "Saved.")


def append_note(at: Reach, note: Note, text: Text) -> Written:
    """Add a paragraph at the end of a note that somebody wrote. Captured notes cannot be added to."""
    path, parsed = index.resolve(at, note)
    owned.append(at.config, path, text)
    return _written(at, str(parsed.meta.get("id", "")), path, "Added.")


def pin(
    at: Reach, note: Note, pinned: Annotated[bool, Field(description="false takes the pin out.")] = True
) -> Written:
    """Pin a note, so that it is shown at the start of every session of its project, or unpin it."""
    path, parsed = index.resolve(at, note)
    changed = owned.set_keys(at.config, path, {"pinned": True if pinned else None})
    done = ("Pinned." if pinned else "No longer pinned.") if changed else "It was so already."
    return _written(at, str(parsed.meta.get("id", "")), path, done)


def supersede(
    at: Reach,
    note: Note,
    by: Annotated[str, Field(description="The note that holds now; or give `text` for a new one.")] = "",
    text: Annotated[str, Field(description="What holds now, in a new note.")] = "",
    title: Annotated[str, Field(description="The new note's title.")] = "",
) -> Written:
    """Mark a note as out of date and say what holds now; the old one stays, and is no longer offered."""
    if bool(by) == bool(text):
        raise UsageError("Give either `by` (a note) or `text` (for a new note), not both and not none.")
    path, parsed = index.resolve(at, note)
    old = str(parsed.meta.get("id", "")) or path
    if by:
        new_path, new = index.resolve(at, by)
        name = str(new.meta.get("id", "")) or new_path
    else:
        project = str(parsed.meta.get("project", ""))
        made = owned.add(at.config, title, text, project=project, extra_meta={"supersedes": old}, now=time.time())
        new_path, name = made.path, made.id
    if new_path == path:
        raise UsageError("A note cannot supersede itself.")
    owned.set_keys(at.config, path, {"superseded_by": name})
    return _written(at, name, new_path, f"It holds instead of {old}.")


def _written(at: Reach, name: str, path: str, done: str) -> Written:
    return {"id": shown.line(at.gate, name, 60), "path": shown.line(at.gate, path, 300), "done": done}


def written_text(made: Written) -> list[str]:
    """Write what was done as text."""
    return [f"{made['done']} [mem:{made['id']}] {made['path']}"]
