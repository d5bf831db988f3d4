"""About: what the vault knows of a file, a symbol, a number such as #123, a commit, a package or an address."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from mdmem.learn import asking, decisions, entities, fixes, relations, work
from mdmem.search import freshness, select
from mdmem.search.index.document import mentioned_files, path_tails
from mdmem.vault import disk, journal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.learn.decisions import Decision
    from mdmem.learn.fixes import Fix
    from mdmem.learn.work import OpenItem
    from mdmem.search.index.view import View

MAX_NOTES = 500
MAX_SESSIONS = 10
MAX_TOGETHER = 10
MAX_READ = 60
"""So many of the newest notes that name an entity are read for what they name as well."""
_FIXES = 200
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


class KnownSession(NamedTuple):
    """A session that names an entity. latest: when it did so last. note: the id of the note in which it did."""

    session: str
    title: str
    project: str
    latest: str
    note: str


class EntityLink(NamedTuple):
    """A typed link of one of the notes that name an entity. of: that note's id."""

    of: str
    relation: str
    id: str
    title: str


class Knowledge(NamedTuple):
    """What is known of an entity. kind: file, number, commit, address or name. changed: ids of edits of a file, the
    last one first. links: what joins its decisions to other notes. together: what was named or worked on in the same
    turns, with how often.
    """

    entity: str
    kind: str
    decisions: list[Decision]
    open_work: list[OpenItem]
    fixes: list[Fix]
    sessions: list[KnownSession]
    changed: list[str]
    links: list[EntityLink]
    together: list[tuple[str, int]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.decisions or self.open_work or self.fixes or self.sessions)


def kind_of(entity: str) -> str:
    """Return what an entity is, by its spelling."""
    if re.fullmatch(r"#\d+", entity):
        return "number"
    if "://" in entity:
        return "address"
    if _COMMIT.fullmatch(entity) and re.search(r"\d", entity):
        return "commit"
    return "file" if "/" in entity or list(mentioned_files(entity)) == [entity.lstrip("./")] else "name"


def about(config: Config, entity: str, *, project: str = "", now: float) -> Knowledge:
    """Return what is known of an entity. project: only in this one. now: seconds since the epoch."""
    entity = entity.strip()
    kind = kind_of(entity)
    freshness.bring_up_to_date(config)
    paths = _paths(config, entity, kind, project)
    decided = decisions.listed(config, project=project, kinds=decisions.KINDS, update=False)
    open_ = work.open_work(config, project, now=now, update=False)
    solved = fixes.fixes(config, project=project, limit=_FIXES, update=False)
    found = Knowledge(
        entity,
        kind,
        [one for one in decided if one.path in paths],
        [one for one in open_ if one.path in paths or _names(entity, (one.text, one.detail))],
        [one for one in solved if _solves(one, entity, kind)],
        [],
        [],
        [],
        [],
    )
    return asking.ask(config, lambda view: _with_sessions(config, view, found, paths), update=False)


def _names(entity: str, texts: Iterable[str]) -> bool:
    whole = re.compile(rf"(?<![\w]){re.escape(entity)}(?!\w)")
    return any(whole.search(text) for text in texts)


def _solves(fix: Fix, entity: str, kind: str) -> bool:
    """Whether a fix changed the file, or names the entity."""
    tails = path_tails(entity) if kind == "file" else []
    in_file = any(tails[0] in path_tails(file) for file in fix.files) if tails else False
    return in_file or _names(entity, (fix.error, fix.command, fix.diff))


def _paths(config: Config, entity: str, kind: str, project: str) -> frozenset[str]:
    """Return the notes that name an entity: by the files that the index knows, else by the text as it stands."""
    if kind == "file":
        tails = path_tails(entity)

        def named(view: View) -> frozenset[str]:
            found = view.notes("facet", f"file:{tails[0]}") - view.notes("facet", "is:internal") if tails else set()
            kept = asking.of_project(view, found, project)
            return frozenset(view.path(number) for number in kept)

        return asking.ask(config, named, update=False)

    def saying(view: View) -> frozenset[str]:
        among = asking.of_project(view, set(view.all) - view.notes("facet", "is:internal"), project)
        found = select.newest_with_phrase(view, config.vault, entity, among)
        said = (number for number, text in found if kind != "number" or _names(entity, (text,)))
        return frozenset(view.path(number) for number in islice(said, MAX_NOTES))

    return asking.ask(config, saying, update=False)


def _with_sessions(config: Config, view: View, found: Knowledge, paths: frozenset[str]) -> Knowledge:
    created = view.numbers("created")
    known = [number for path in paths if (number := view.find(path)) is not None]
    numbers = sorted(known, key=lambda number: (created[number], view.name(number)), reverse=True)
    pages = view.notes("facet", "kind:session")
    latest: dict[str, KnownSession] = {}
    for number in numbers:
        facts = view.facts(number)
        session = str(facts.get("session", ""))
        if session and session not in latest and number not in pages and len(latest) < MAX_SESSIONS:
            page = next(iter(view.notes("facet", f"session:{session}".lower()) & pages), number)
            latest[session] = KnownSession(
                session,
                str(view.facts(page)["title"]),
                str(facts.get("project", "")),
                disk.iso_time(created[number]),
                str(facts["id"]),
            )
    edits = fixes.changing(view)
    changed = [str(view.facts(number)["id"]) for number in numbers if number in edits and found.kind == "file"]
    links = [
        EntityLink(one.id, link.relation, link.id, link.title)
        for one in found.decisions
        for link in relations.of_note(config, view, one.path, asking.read(config, one.path).meta)
    ]
    together = _together(config, view, found, numbers)
    return found._replace(
        sessions=list(latest.values()), changed=changed[:10], links=links[:MAX_SESSIONS], together=together
    )


def _together(config: Config, view: View, found: Knowledge, numbers: list[int]) -> list[tuple[str, int]]:
    """Count by turns the files that were changed, and what the notes that name the entity name as well."""
    edits = fixes.changing(view)
    by_turn: dict[tuple[int, int], set[str]] = {}
    for place, number in enumerate(numbers):
        turn = _turn(view, number)
        if turn is None:
            continue
        key = (view.folder_of[number], turn)
        if key not in by_turn:
            members = (one for one in edits.intersection(view.members[key[0]]) if _turn(view, one) == turn)
            by_turn[key] = {str(file) for one in members for file in view.facts(one).get("files", ())}
        if place < MAX_READ:
            by_turn[key].update(entities.named_in(asking.read(config, view.path(number)).body))
    counted = Counter(name for names in by_turn.values() for name in names)
    own = path_tails(found.entity)[:1]
    others = [
        (name, count)
        for name, count in counted.items()
        if name != found.entity and (not own or own[0] not in path_tails(name))
    ]
    return sorted(others, key=lambda item: (-item[1], item[0]))[:MAX_TOGETHER]


def _turn(view: View, number: int) -> int | None:
    return next(iter(journal.numbers(view.name(number))), None)
