"""The notes as rows: what the index knows of each, without reading a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from mdmem.errors import BusyError
from mdmem.search import freshness, staged
from mdmem.search import select as allowing
from mdmem.search.index.layout import FLAGS
from mdmem.vault import disk, note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.search.query import Query

_Answer = TypeVar("_Answer")


class NoteRow(NamedTuple):
    """One note. created: ISO 8601 in UTC. success: whether the run of a tool went well; None for other notes."""

    id: str
    path: str
    kind: str
    title: str
    created: str
    project: str
    session: str
    agent: str
    tool: str
    prompt: int
    sequence: int
    success: bool | None
    pinned: bool
    files: list[str]


def ask(config: Config, answer: Callable[[View], _Answer]) -> _Answer:
    """Return what `answer` makes of the index, brought up to date; what a user should know of that goes to stderr.

    Raises:
        BusyError: when there is no index yet, and another process makes it.
    """
    for notice in freshness.bring_up_to_date(config)[1]:
        click.echo(f"mdmem: {notice}", err=True)
    found = freshness.answered(config, lambda view: (answer(view),))
    if found is None:
        raise BusyError("Another process is building the index. Try again in a moment.")
    return found[0]


def select(view: View, root: str, query: Query, *, pages: bool = False) -> list[int]:
    """Return the numbers of the notes that a query allows, newest first.

    pages: also those of sessions and projects, which are otherwise left out unless their kind is asked for.
    """
    kinds = {value for condition in query.filters if condition.key == "kind" for value in condition.values}
    internal = bool(kinds) and kinds <= set(note.INTERNAL)
    chosen = allowing.allowed(view, root, query, internal=internal, here=staged.ANYWHERE)
    kept = set(view.all) if chosen is None else chosen
    if not kinds and not pages:
        for kind in note.PAGES:
            kept = kept - view.notes("facet", f"kind:{kind}")
    return in_order(view, kept)[::-1]


def in_order(view: View, numbers: Iterable[int]) -> list[int]:
    """Sort notes as they came; those of one second, in the order of their files."""
    created, paths = view.numbers("created"), view.paths()
    return sorted(numbers, key=lambda number: (created[number], paths[number]))


def row(view: View, number: int) -> NoteRow:
    """Return one note as a row."""
    facts = view.facts(number)
    return NoteRow(
        id=facts["id"],
        path=view.path(number),
        kind=facts["kind"],
        title=facts["title"],
        created=disk.iso_time(view.number("created", number)),
        project=_text(facts, "project"),
        session=_text(facts, "session"),
        agent=_text(facts, "agent"),
        tool=_text(facts, "tool"),
        prompt=_number(facts, "prompt"),
        sequence=_number(facts, "sequence"),
        success=facts.get("success") if isinstance(facts.get("success"), bool) else None,
        pinned=bool(view.number("flags", number) & FLAGS["pinned"]),
        files=facts.get("files", []),
    )


def _text(facts: dict[str, Any], key: str) -> str:
    return str(facts.get(key, ""))


def _number(facts: dict[str, Any], key: str) -> int:
    value = facts.get(key)
    return value if isinstance(value, int) else 0
