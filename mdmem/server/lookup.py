"""Queries of the index: one at a time, after an update, without notes that the request may not see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from mdmem import log
from mdmem.config import Config
from mdmem.errors import BusyError, MdmemError, NotFoundError, UsageError
from mdmem.history import pages
from mdmem.search import freshness, index, withheld
from mdmem.search import query as language
from mdmem.search.index.view import View, cached_with_view
from mdmem.search.query import Filter, Query
from mdmem.server.access import Access
from mdmem.system import memory
from mdmem.vault import disk, generated, journal, layout, note, people
from mdmem.watcher import inotify

BUDGET_SECONDS = 5.0
"""Seconds that a query waits for new notes to be indexed; the rest is indexed afterwards."""
SWEEP_SECONDS = 30.0
"""Seconds between checks of every file: a query itself only notices changed folders."""
SWEEP_DELAY_SECONDS = 1.0
"""Seconds after a query before such a check starts, so that the answer comes first."""
MANY_NOTES = 256
"""After more new notes than this at once, freed memory is returned to the system."""

_Answer = TypeVar("_Answer")
_index_lock = threading.RLock()
"""Held by one query at a time: queries are pure computation, so several at once would not be faster."""
_swept: dict[str, float] = {}


def ask(access: Access, answer: Callable[[View], _Answer], default: _Answer) -> tuple[_Answer, tuple[str, ...]]:
    """Query the current index; return the answer, and hints for the user."""
    with fresh(access.config) as notices:
        result = freshness.answered(access.config, answer)
    return (default if result is None else result), (*notices, *freshness.untold(access.config))


@contextmanager
def fresh(config: Config) -> Iterator[tuple[str, ...]]:
    """Lock the index and apply pending changes; every file is checked afterwards, in the background."""
    with _index_lock:
        yield _updated(config)
    _sweep(config)


def _updated(config: Config) -> tuple[str, ...]:
    """Update the index, unless nothing has changed; return hints for the user."""
    queue = inotify.of(config.vault)
    if queue.is_unchanged(index.opened(config)):
        return ()
    touched = sorted(queue.touched)
    quick = not queue.is_lost
    most = freshness.MOST_AT_ONCE
    changes, notices = freshness.bring_up_to_date(
        config, quick=quick, budget_seconds=BUDGET_SECONDS, share=0, most=most
    )
    indexed = sum(changes[:3])
    if touched and not notices:
        touched_changes, notices = freshness.bring_up_to_date(config, budget_seconds=BUDGET_SECONDS, paths=touched)
        changes = changes._replace(complete=changes.complete and touched_changes.complete)
        indexed += sum(touched_changes[:3])
    if indexed > MANY_NOTES:
        memory.release_free_memory()
    if changes.complete and not notices:
        queue.record_scan(index.folders_seen(config), index.opened(config))
    return notices


def is_sweep_due(config: Config) -> bool:
    """Whether it is time to check every file again."""
    return time.monotonic() - _swept.get(config.vault, -SWEEP_SECONDS) >= SWEEP_SECONDS


def _sweep(config: Config) -> None:
    if not is_sweep_due(config) or freshness.being_built(config):
        return
    _swept[config.vault] = time.monotonic()

    def work() -> None:
        try:
            index.update_in_process(config, wait_seconds=1.0)
        except (MdmemError, OSError) as error:
            log.write(config, "the index could not be brought up to date", error)
        _swept[config.vault] = time.monotonic()

    timer = threading.Timer(SWEEP_DELAY_SECONDS, work)
    timer.daemon = True
    timer.start()


def without_hidden(access: Access, query: Query) -> Query:
    """Return the query without notes that stay on this machine: not even their number may answer it."""
    hidden = Filter("project", tuple(sorted(name.lower() for name in access.hidden)), wanted=False)
    others = Filter(withheld.KEY, (access.project,), wanted=False)
    return query._replace(filters=(*query.filters, hidden, others))


def parsed(access: Access, text: str, **filters: Any) -> Query:
    """Parse a query in mdmem's query language, with separate filters; an empty filter is ignored.

    Raises UsageError when a filter cannot be read: the answer must not contain what it should exclude.
    """
    query = language.parse(text)
    narrowed = language.with_filters(query, {key: value or None for key, value in filters.items()})
    refused = narrowed.hints[len(query.hints) :]
    if refused:
        raise UsageError(" ".join(refused))
    return without_hidden(access, narrowed)


def resolve(access: Access, reference: str) -> tuple[str, note.Parsed]:
    """Return path and content of the note named by `mem:ID`, an id, an unambiguous beginning of one, or a path.

    Raises NotFoundError when no visible note matches, or more than one.
    """
    name = note.id_in_reference(reference)
    at_path = _at_path(access, name)
    if at_path is not None:
        return at_path
    none: list[tuple[str, note.Parsed]] = []
    is_whole = True
    try:
        with _index_lock:
            matches = freshness.answered(access.config, lambda view: _by_id(access, view, name.lower())) or none
        if not matches:
            matches, notices = ask(access, lambda view: _by_id(access, view, name.lower()), none)
            is_whole = not notices
    except (BusyError, OSError):  # the index cannot be written or read now
        matches, is_whole = none, False
    if not (matches or is_whole):
        matches = [
            (path, parsed) for path in index.in_files(access.config, name.lower()) if (parsed := read(access, path))
        ]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise NotFoundError(f"No note has the id or path {reference!r:.80}. `search` finds notes by their words.")
    names = ", ".join(str(parsed.meta.get("id", path)) for path, parsed in matches[:5])
    raise NotFoundError(f"{len(matches)} notes have ids that begin with {name!r:.40}: {names}. Give more characters.")


def titled(access: Access, title: str) -> tuple[str, note.Parsed] | None:
    """Return path and content of the only visible note with this title, in any case; None for none or several."""
    found, _ = ask(access, lambda view: [view.path(number) for number in index.with_title(view, title)], list[str]())
    visible = ((path, parsed) for path in found if (parsed := read(access, path)) is not None)
    first = next(visible, None)
    return first if next(visible, None) is None else None


def read(access: Access, path: str) -> note.Parsed | None:
    """Return a note if it may be seen, else None."""
    return visible_note(access, path, content(access, path))


def content(access: Access, path: str) -> bytes | None:
    """Return what may be shown of a file: of a page, nothing of notes that may not be seen. A commit drops it there."""
    root, data = access.config.vault, disk.read_path(access.config.vault, path)
    if data is None or generated.BEGIN.encode() not in data:
        return data
    unseen = freshness.answered(access.config, lambda view: _unseen(view, access.project)) or set()
    beside = f"{layout.folder_of(path)}/"
    names = [other.removeprefix(beside) for other in unseen if other.startswith(beside) and journal.numbers(other)]
    shown = pages.without(root, path, data, names, access.config.settings.privacy.marker) if names else data
    return pages.unlisted(path, shown, unseen)


@cached_with_view
def _unseen(view: View, project: str) -> set[str]:
    """Return the paths of notes that a project is not shown, and of sessions that are called after one of these."""
    notes = withheld.from_project(view, project)
    titles = {(view.folder_of[number], str(view.facts(number)["title"])) for number in notes}
    beside = {number for folder, _ in titles for number in view.members[folder] if view.kind(number) == "session"}
    called = {number for number in beside if (view.folder_of[number], str(view.facts(number)["title"])) in titles}
    return {view.path(number) for number in notes | called}


def visible_note(access: Access, path: str, data: bytes | None) -> note.Parsed | None:
    """Return the note in a file's content, if it may be seen."""
    parsed = note.parse(data) if data is not None else None
    if parsed is None or people.is_unchecked(parsed) or not access.sees(path, parsed.meta):
        return None
    if not (parsed.meta.get("id") and parsed.meta.get("title")):  # written by hand: the index names it
        facts = freshness.answered(access.config, lambda view: _facts_at(view, path)) or {}
        parsed.meta.update({key: parsed.meta.get(key) or facts[key] for key in ("id", "title") if key in facts})
    return parsed


def _facts_at(view: View, path: str) -> dict[str, Any]:
    number = view.find(path)
    return {} if number is None else view.facts(number)


def _at_path(access: Access, name: str) -> tuple[str, note.Parsed] | None:
    """Return path and content of the note at a path, with or without `.md`, if it may be seen."""
    root = access.config.vault
    path = name[len(root) :].lstrip("/") if name.startswith(f"{root}/") else name
    for candidate in (path, f"{path}.md"):
        if "/" in candidate and disk.is_note_path(candidate) and (parsed := read(access, candidate)) is not None:
            return candidate, parsed
    return None


def _by_id(access: Access, view: View, name: str) -> list[tuple[str, note.Parsed]]:
    paths = sorted(view.path(number) for number in index.with_id(view, name))
    return [(path, parsed) for path in paths if (parsed := read(access, path)) is not None]
