"""What the vault knows about a file, a symbol, a number such as #123, a commit, a package, an address, a command or
an error.

The index has the entities of each note. For names that no rule recognizes, only notes that people wrote are searched.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from heapq import nlargest
from itertools import chain, islice
from typing import NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.learn import decisions, relations, work
from mdmem.learn.decisions import Decision
from mdmem.learn.work import OpenItem
from mdmem.search import freshness, runs, select, solved
from mdmem.search.index.document import mentioned_files, path_tails
from mdmem.search.index.view import View
from mdmem.search.solved import Fix
from mdmem.search.text import analysis, entities, errors
from mdmem.vault import is_in_journal, journal, note, people

MAX_NOTES = 500
"""Maximum number of notes that name an entity, and of notes read when no rule recognizes it."""
MAX_TURNS = 60
MAX_SESSIONS = 10
MAX_CHANGES = 10
MAX_TOGETHER = 10
MAX_FIXES = 20


class KnownSession(NamedTuple):
    """A session that names an entity. latest: when it last did. note: id of the note that did."""

    session: str
    title: str
    project: str
    latest: str
    note: str


class EntityLink(NamedTuple):
    """A typed link of a note that names an entity. of: that note's id."""

    of: str
    relation: str
    id: str
    title: str


class FileChange(NamedTuple):
    """An edit of a file."""

    id: str
    title: str
    created: str


class Knowledge(NamedTuple):
    """What is known about an entity. kind: as `kind_of` returns it. changed: edits of a file, newest first.
    links: typed links of its decisions. together: other entities and files of the same turns, each with how often.
    """

    entity: str
    kind: str
    decisions: list[Decision]
    open_work: list[OpenItem]
    fixes: list[Fix]
    sessions: list[KnownSession]
    changed: list[FileChange]
    links: list[EntityLink]
    together: list[tuple[str, int]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.decisions or self.open_work or self.fixes or self.sessions)


def kind_of(entity: str) -> str:
    """Return the kind of an entity by its spelling: file, number, commit, address, error, command or name."""
    if re.fullmatch(r"#\d+", entity):
        return "number"
    if "://" in entity:
        return "error" if " " in entity else "address"
    if entities.is_commit(entity):
        return "commit"
    if " " in entity:
        return "error" if errors.signatures(entity) else "command"
    return "file" if "/" in entity or list(mentioned_files(entity)) == [entity.lstrip("./")] else "name"


def about(config: Config, entity: str, *, project: str = "", now: float) -> Knowledge:
    """Return what is known about an entity. project: only in this one. now: seconds since the epoch."""
    entity = entity.strip()
    in_force = decisions.listed(config, project=project, kinds=decisions.KINDS)
    open_items = work.open_work(config, project, now=now)

    def answer(view: View) -> Knowledge:
        kind = kind_of(entity)
        naming = decisions.of_project(view, _naming(config, view, entity, kind) - view.internal, project)
        newest = _newest(view, naming)
        whole = re.compile(rf"(?<!\w){re.escape(entity)}(?!\w)")
        decided = [decision for decision in in_force if view.find(decision.path) in naming]
        return Knowledge(
            entity,
            kind,
            decided,
            [item for item in open_items if whole.search(f"{item.text}\n{item.detail}") or _is_of(view, item, naming)],
            solved.Finder(config, view).around(naming, MAX_FIXES),
            sessions=_sessions(view, newest),
            changed=_changes(view, newest) if kind == "file" else [],
            links=_links(config, view, decided),
            together=_together(view, entity, kind, newest),
        )

    return freshness.ask(config, answer)


def _is_of(view: View, item: OpenItem, naming: set[int]) -> bool:
    """Whether open work comes from one of these notes; not for a list of tasks, whose items differ."""
    return view.find(item.path) in naming and not (item.kind == "task" and is_in_journal(item.path))


# -- the notes that name an entity -------------------------------------------------------------------


def _naming(config: Config, view: View, entity: str, kind: str) -> set[int]:
    """Return the notes that name an entity, by the index, else the newest notes that contain it."""
    if kind == "file":
        tails = path_tails(entity)
        return view.notes("facet", f"file:{tails[0]}") if tails else set()
    by_index = _NAMING[kind](view, entity)
    if kind in ("number", "commit", "address"):
        return by_index
    written = view.of_kinds(note.WRITTEN)
    in_text = select.newest_with_phrase(view, config.vault, entity, written if by_index else None, MAX_NOTES)
    return by_index.union(in_text)


def _by_name(view: View, entity: str) -> set[int]:
    """Return the notes that name a symbol or a package by a rule; for an identifier, all that contain the word."""
    numbers = view.notes("facet", *entities.facets([entity.removesuffix("()")]))
    terms = dict.fromkeys(analysis.terms(entity))
    if len(terms) > 1 and len(analysis.words(entity)) == 1:
        numbers = numbers.union(*(view.notes(field, next(iter(terms))) for field in ("body", "title")))
    return numbers


def _by_commit(view: View, entity: str) -> set[int]:
    """Return the notes that name a commit, by a longer or shorter part of its hash."""
    start = next(entities.facets([entity[: entities.MIN_HASH_CHARS]]))
    full = next(entities.facets([entity]))
    same = (term for term in view.starting_with("facet", start) if term.startswith(full) or full.startswith(term))
    return view.with_any(same)


def _by_command(view: View, entity: str) -> set[int]:
    """Return the runs of a command; with arguments, the newest of the runs that have them."""
    program = entities.command_of(entity)
    run_numbers = view.notes("facet", *entities.facets([program])) if program else set()
    if entity == program:
        return run_numbers
    words = set(entity.split())
    return {
        number for number in _newest(view, run_numbers) if words <= {*runs.line(view.facts(number)["title"]).split()}
    }


def _by_error(view: View, entity: str) -> set[int]:
    """Return the runs that failed with this error."""
    return view.with_any(errors.facet(signature) for signature in errors.signatures(entity))


_NAMING = {
    "name": _by_name,
    "number": _by_name,
    "address": _by_name,
    "commit": _by_commit,
    "command": _by_command,
    "error": _by_error,
}


def _newest(view: View, numbers: set[int]) -> list[int]:
    created = view.numbers("created")
    return nlargest(MAX_NOTES, numbers, key=lambda number: (created[number], view.name(number)))


# -- what they say -----------------------------------------------------------------------------------


def _sessions(view: View, numbers: list[int]) -> list[KnownSession]:
    """Return the sessions of these notes, newest first."""
    created = view.numbers("created")
    pages = view.notes("facet", "kind:session")
    sessions: dict[str, KnownSession] = {}
    for number in numbers:
        facts = view.facts(number)
        session = str(facts.get("session", ""))
        if session and session not in sessions and number not in pages and len(sessions) < MAX_SESSIONS:
            page = next(iter(view.of_session(session) & pages), number)
            sessions[session] = KnownSession(
                session,
                str(view.facts(page)["title"]),
                str(facts.get("project", "")),
                timestamps.iso_time(created[number]),
                str(facts["id"]),
            )
    return list(sessions.values())


def _changes(view: View, numbers: list[int]) -> list[FileChange]:
    """Return the newest edits among these notes."""
    created = view.numbers("created")
    edits = solved.edits(view, frozenset(numbers))
    newest = [number for number in numbers if number in edits][:MAX_CHANGES]
    rows = ((view.facts(number), timestamps.iso_time(created[number])) for number in newest)
    return [FileChange(str(facts["id"]), str(facts["title"]), time) for facts, time in rows]


def _links(config: Config, view: View, decided: list[Decision]) -> list[EntityLink]:
    """Return the typed links of decisions."""
    links = (
        EntityLink(decision.id, link.relation, link.id, link.title)
        for decision in decided
        for link in relations.of_note(config, view, decision.path, people.load_clean(config.vault, decision.path).meta)
    )
    return list(islice(links, MAX_SESSIONS))


def _together(view: View, entity: str, kind: str, numbers: list[int]) -> list[tuple[str, int]]:
    """Count other entities and changed files over the newest turns; of equal counts, the rarer one comes first."""
    turns: dict[tuple[int, int | None], set[str]] = {}
    for number in numbers:
        turn = _turn(view, number)
        if turn is not None and len(turns) < MAX_TURNS:
            turns[view.folder_of[number], turn] = set()
    edits = solved.edits(view)
    for folder in {folder for folder, _ in turns}:
        for number in view.members[folder]:
            names = turns.get((folder, _turn(view, number)))
            if names is not None:
                names.update(_named_in(view, edits, number))
    counted = Counter(chain.from_iterable(turns.values()))
    own = path_tails(entity)[:1]
    lower = entity.lower()
    others = [
        (name, count)
        for name, count in counted.items()
        if name.lower() != lower and (kind != "file" or own[0] not in path_tails(name))
    ]
    return sorted(others, key=lambda item: (-item[1], _spread(view, item[0]), item[0]))[:MAX_TOGETHER]


def _named_in(view: View, edits: set[int], number: int) -> Iterator[str]:
    facts = view.facts(number)
    yield from facts.get("named", ())
    yield from map(str, facts.get("files", ()) if number in edits else ())


def _spread(view: View, name: str) -> int:
    """Return the number of notes that name an entity as a power of two: small differences do not matter."""
    return int(math.log2(1 + view.count("facet", next(entities.facets([name])))))


def _turn(view: View, number: int) -> int | None:
    return next(iter(journal.numbers(view.name(number))), None)
