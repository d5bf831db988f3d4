"""Open work: reads what a project's sessions left undone from the generated part of the project's page."""

from __future__ import annotations

import os
from functools import partial

from mdmem import timestamps
from mdmem.hashing import short
from mdmem.inject import eligibility
from mdmem.inject.rendering.block import Item, Section
from mdmem.lazy_pattern import lazy
from mdmem.search import turn_groups
from mdmem.search.asking import small_talk
from mdmem.search.text import undone
from mdmem.vault import JOURNAL, disk, generated, journal, layout, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from mdmem.inject.occasion import Occasion
    from mdmem.vault.note import Parsed

HEADING = "Open work"
MAX_ITEMS = 8
TOOLS = ("todowrite", "write_todos", "todo_write", "update_todo", "update_plan", "taskcreate", "taskupdate")
"""Tools that keep an agent's list of tasks, in lower case."""
TASK = lazy(r"Task (?P<number>\S+?)(?:: (?P<subject>.+)| [a-z ]+?(?:: (?P<again>.+))?)?$")
"""The title of a note of TaskCreate or TaskUpdate."""
OVER = ("completed", "deleted", "cancelled", "done")
"""States of a task that is not open."""
STALE_SECONDS = 30 * 86_400
"""What is older is not given, except tasks that people wrote; `mdmem todo` lists it."""


def of_project(occasion: Occasion, shown: Collection[str] = (), current: str = "", told: str = "") -> Section:
    """Return a project's open work, newest first, without what was closed since its page was written.

    shown: the folders of sessions that are shown with what their answers leave to do, in the text `told`, except for
    what is only not done yet, which may be missing from it. current: the session's folder.
    """
    folder = f"{JOURNAL}/{occasion.project}"
    page = people.load_clean(occasion.config.vault, f"{folder}/{journal.PROJECT_PAGE}", occasion.gate.rules)
    _, tables, _ = generated.parts_of(page.body)
    lines = tables.partition(f"\n## {HEADING}\n")[2].partition("\n## ")[0].splitlines()
    finished = _Finished(occasion)
    of_line = partial(_item, occasion, folder, shown, told, finished, current)
    items = [item for line in lines if (item := of_line(line)) is not None]
    return Section(HEADING, items[:MAX_ITEMS])


class _Finished:
    """The tasks that sessions' lists say are over, read once a session."""

    def __init__(self, occasion: Occasion) -> None:
        self._root = occasion.config.vault
        self._known: dict[str, frozenset[str]] = {}

    def has(self, title: str, folders: Iterable[str]) -> bool:
        """Whether one of these sessions has finished a task."""
        text = small_talk.plain_text(title)
        return any(text in self._of(folder) for folder in dict.fromkeys(folders))

    def _of(self, folder: str) -> frozenset[str]:
        if folder not in self._known:
            self._known[folder] = frozenset(map(small_talk.plain_text, self._read(folder)))
        return self._known[folder]

    def _read(self, folder: str) -> Iterator[str]:
        names = filter(journal.numbers, disk.names_in(self._root, folder))
        subjects: dict[str, str] = {}
        over: dict[str, bool] = {}
        for name in sorted((name for name in names if turn_groups.source(name) in TOOLS), key=journal.numbers):
            parsed = people.load_clean(self._root, f"{folder}/{name}")
            task = TASK.match(parsed.fact("title"))
            if task is None:
                yield from (line[6:] for line in parsed.body.splitlines() if line.startswith("- [x] "))
                continue
            subjects[task["number"]] = task["subject"] or task["again"] or subjects.get(task["number"], "")
            if status := parsed.fact("status"):
                over[task["number"]] = status in OVER
        yield from (subjects[number] for number in subjects if over.get(number) and subjects[number])


def _item(
    occasion: Occasion, folder: str, shown: Collection[str], told: str, finished: _Finished, current: str, line: str
) -> Item | None:
    """Parse a line such as `- To do: [Write it](2026-09-14/…/001-001-todowrite-….md)`; None if it is closed."""
    kind, _, link = line.removeprefix("- ").partition(": [")
    escaped, _, place = link.rpartition("](")
    path = os.path.normpath(f"{folder}/{generated.path_of(place.rstrip(')'))}").replace(os.sep, "/")
    if not path.endswith(".md") or path.startswith(".."):
        return None
    parsed = people.load_clean(occasion.config.vault, path, occasion.gate.rules)
    if not parsed.meta.get("id") or eligibility.left_out(parsed):
        return None
    name, title = str(parsed.meta["id"]), generated.unescaped(escaped)
    done, staged = parsed.meta.get("done"), str(parsed.meta.get("staged") or occasion.here.branch)
    if (
        done is True
        or (isinstance(done, list) and short(f"{name}\0{title}", 8) in done)
        or staged != occasion.here.branch
    ):
        return None
    if f"- [x] {title}\n" in f"{parsed.body}\n":
        return None
    session, _ = layout.split(path)
    own = [session] if "-taskcreate-" in path else []
    if kind == "To do" and finished.has(title, [*own, *([current] if current else [])]):
        return None
    source = str(parsed.meta.get("kind"))
    is_told = source == "response" and session in shown and (title in told or not undone.clause(title))
    if is_told or (source != "task" and _is_stale(occasion, parsed)):
        return None
    if kind == "Still fails" and _passed_since(occasion, path, parsed):
        return None
    error = parsed.fact("error") if kind == "Still fails" else ""
    return Item(
        id=name,
        kind=kind.lower(),
        title=occasion.gate.stored(title),
        date=timestamps.readable(str(parsed.meta.get("updated") or parsed.meta.get("created", "")))[:10],
        text=occasion.gate.stored(error),
        is_listed=True,  # of an answer or a list, one line is shown
    )


def _is_stale(occasion: Occasion, parsed: Parsed) -> bool:
    """Whether a note is so old that nobody knows whether it still holds."""
    return timestamps.epoch(parsed.fact("updated") or parsed.fact("created")) < occasion.now - STALE_SECONDS


def _passed_since(occasion: Occasion, path: str, failed: Parsed) -> bool:
    """Whether the last run of the same command in the session succeeded."""
    folder, name = layout.split(path)
    words = _words(name)
    notes = filter(journal.numbers, disk.names_in(occasion.config.vault, folder))
    runs = [run for run in notes if _words(run) == words]
    last = people.load_clean(occasion.config.vault, f"{folder}/{max([name, *runs], key=journal.numbers)}").meta
    return last.get("success") is True and last.get("command") == failed.meta.get("command")


def _words(name: str) -> str:
    """Return a file's name without its numbers and its id."""
    return name.split("-", 2)[-1].rpartition("-")[0]
