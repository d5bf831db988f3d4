"""The tools that write notes on request, add to them, pin them, and mark them as out of date."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mdmem.errors import UsageError
from mdmem.history import attribution
from mdmem.server import lookup
from mdmem.server.access import Access
from mdmem.server.internal.memories import own_tags
from mdmem.server.reading import NoteReference
from mdmem.vault import archives, layout, user_notes
from mdmem.vault.note import one_line

MAX_PROJECT_CHARS = 80
MAX_CLIENT_CHARS = 60

MAX_TEXT_CHARS = 1_000_000
"""Maximum length of a text to clean: much more than a note can hold."""

Text = Annotated[
    str, Field(description="Markdown. Private sections and secrets are removed.", max_length=MAX_TEXT_CHARS)
]


class WrittenNote(TypedDict):
    """A note after a change."""

    id: str
    path: str
    done: str


def add_note(
    access: Access,
    text: Text,
    title: Annotated[str, Field(description="One line; default: the first line.")] = "",
    kind: Annotated[str, Field(description="note, decision, lesson, preference or task.")] = "note",
    supersedes: Annotated[str, Field(description="The earlier note that this one replaces.")] = "",
    tags: Annotated[tuple[str, ...], Field(description="Words to find it by.")] = (),
    project: Annotated[str, Field(description="Default: the current one; `-` is none.")] = "",
    pinned: Annotated[bool, Field(description="Shown at the start of every session.")] = False,
    propose: Annotated[bool, Field(description="Let the user decide later; for notes that nobody asked for.")] = False,
) -> WrittenNote:
    """Save a decision, a fact or a lesson as a note of its own, when the user asks for it."""
    from mdmem.learn import decisions  # not needed when a server starts

    proposed = propose and not access.config.settings.learn.accept
    named = one_line(project or access.project, MAX_PROJECT_CHARS)
    added = decisions.add(
        access.config,
        title,
        text,
        kind=kind,
        supersedes=lookup.resolve(access, supersedes)[0] if supersedes else "",
        project="" if project == "-" else layout.project_called(access.config.vault, named),
        tags=own_tags(access.config, tags),
        pinned=pinned,
        agent=_client(access),
        proposed=proposed,
        now=time.time(),
    )
    return _written(
        access, added.id, added.path, "Proposed; it waits for the user's decision." if proposed else "Saved."
    )


def append_note(access: Access, note: NoteReference, text: Text) -> WrittenNote:
    """Add a paragraph at the end of a note that somebody wrote. Captured notes cannot be added to."""
    path, parsed = lookup.resolve(access, note)
    with attribution.to_agent(access.config, path, _client(access)):
        user_notes.append(access.config, path, text)
    return _written(access, parsed.fact("id"), path, "Added.")


def pin(
    access: Access, note: NoteReference, pinned: Annotated[bool, Field(description="false removes the pin.")] = True
) -> WrittenNote:
    """Pin a note, so that it is shown at the start of every session of its project, or unpin it."""
    path, parsed = lookup.resolve(access, note)
    notice = archives.notice(access.config, path)
    with attribution.to_agent(access.config, path, _client(access)):
        changed = user_notes.set_keys(access.config, path, {"pinned": True if pinned else None})
    done = ("Pinned." if pinned else "No longer pinned.") if changed else "Nothing to change."
    done = f"{done} {notice}".rstrip()
    return _written(access, parsed.fact("id"), path, done)


def supersede(
    access: Access,
    note: NoteReference,
    by: Annotated[str, Field(description="The note that replaces it; or give `text`.")] = "",
    text: Annotated[str, Field(description="Text of a new note that replaces it.", max_length=MAX_TEXT_CHARS)] = "",
    title: Annotated[str, Field(description="The new note's title.")] = "",
) -> WrittenNote:
    """Mark a note as out of date, and name or write its replacement. It is kept, but no longer given to agents."""
    if bool(by) == bool(text):
        raise UsageError("Give either `by` (a note) or `text` (for a new note), but not both.")
    path, parsed = lookup.resolve(access, note)
    old_id = parsed.fact("id") or path
    if by:
        new_path, replacement = lookup.resolve(access, by)
        new_id = replacement.fact("id") or new_path
    else:
        project = layout.project_named(path, parsed.meta)
        added = user_notes.add(
            access.config, title, text, project=project, supersedes=old_id, agent=_client(access), now=time.time()
        )
        new_path, new_id = added.path, added.id
    if new_path == path:
        raise UsageError("A note cannot supersede itself.")
    notice = archives.notice(access.config, path)
    with attribution.to_agent(access.config, path, _client(access)):
        user_notes.set_keys(access.config, path, {"superseded_by": new_id})
    return _written(access, new_id, new_path, f"It supersedes {old_id}. {notice}".rstrip())


def _client(access: Access) -> str:
    """Return the name of the program that calls, for what it writes."""
    return one_line(access.client, MAX_CLIENT_CHARS)


def _written(access: Access, name: str, path: str, done: str) -> WrittenNote:
    return {"id": access.line(name, 60), "path": access.line(path, 300), "done": done}


def written_text(written: WrittenNote) -> list[str]:
    """Return what was done as text."""
    return [f"{written['done']} [mem:{written['id']}] {written['path']}"]
