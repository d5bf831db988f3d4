"""TOOLS: the tools of the server. A new tool is a function over an `Access` and a row here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from mdmem.server import entries, learned, prompts, reading, remembering, revising, sessions, writing
from mdmem.server.access import FOR_TEXT, FOR_TITLES, FOR_WRITING


class Tool(NamedTuple):
    """One tool. function: takes an `Access` first, returns plain values; its signature and docstring are the schema.

    text: returns those values as lines. writes, destructive, idempotent: hints for the client.
    extra: a name, a pattern and a schema; arguments that match the pattern are passed as one object of that name.
    needs: the trust that an accessor needs; 0 for tools that work with the accessor's own memories.
    """

    function: Callable[..., Any]
    title: str
    text: Callable[[Any], Iterable[str]]
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False
    extra: tuple[str, str, dict[str, Any]] | None = None
    needs: float = FOR_TITLES

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return self.function.__name__


_FEELINGS = ("feelings", "^feel_[a-z0-9_]+$", {"type": "number", "minimum": 0, "maximum": 1})
_writing = partial(Tool, writes=True, needs=FOR_WRITING)
_remembering = partial(Tool, needs=0)

TOOLS: tuple[Tool, ...] = (
    Tool(reading.search, "Search memory", entries.lines),
    Tool(reading.timeline, "What happened around a note", reading.timeline_text),
    Tool(reading.get_notes, "Read notes whole", reading.notes_text, needs=FOR_TEXT),
    Tool(prompts.search_user_prompts, "Search what the user asked", prompts.prompts_text),
    Tool(sessions.get_session, "Read a session", sessions.session_text),
    Tool(reading.file_history, "What is known about a file", entries.lines, needs=FOR_TEXT),
    Tool(reading.recent, "The newest notes", entries.lines),
    Tool(reading.related, "Similar notes", entries.lines, needs=FOR_TEXT),
    Tool(sessions.project_context, "A project at a glance", sessions.context_text),
    Tool(learned.fixes, "What solved an error", learned.fixes_text, needs=FOR_TEXT),
    Tool(learned.open_work, "What was left open", learned.open_text, needs=FOR_TEXT),
    Tool(sessions.stats, "How much is remembered", sessions.stats_text),
    _writing(writing.add_note, "Save a note", writing.written_text),
    _writing(writing.append_note, "Add to a note", writing.written_text),
    _writing(writing.pin, "Pin a note", writing.written_text, idempotent=True),
    _writing(writing.supersede, "Mark a note as out of date", writing.written_text),
    _writing(revising.edit_note, "Edit a note", revising.revised_text, destructive=True),
    _writing(revising.move_note, "Move a note", revising.revised_text),
    _writing(revising.delete_note, "Delete a note", revising.revised_text, destructive=True),
    _writing(revising.undo_change, "Undo a change", revising.revised_text),
    _remembering(
        remembering.remember_create_internal_memory,
        "Remember for yourself",
        remembering.stored_text,
        writes=True,
        extra=_FEELINGS,
    ),
    _remembering(
        remembering.remember_update_internal_memory,
        "Change a memory of yours",
        remembering.stored_text,
        writes=True,
        destructive=True,
        extra=_FEELINGS,
    ),
    _remembering(remembering.remember_search_internal_memory, "Search your memories", remembering.memories_text),
    _remembering(remembering.remember_query_internal_memory, "Ask your memories", remembering.memories_text),
    _remembering(remembering.remember_search_internal_memory_by, "Sort your memories", remembering.memories_text),
    _remembering(
        remembering.remember_publish, "Publish a memory of yours", remembering.stored_text, writes=True, idempotent=True
    ),
)
