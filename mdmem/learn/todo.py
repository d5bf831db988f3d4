"""Task lists of agents and people, read from the notes that they left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mdmem import timestamps
from mdmem.agents import aliases
from mdmem.capture.tools import body
from mdmem.config import Config
from mdmem.inject.open_work import OVER, TASK
from mdmem.inject.rendering import excerpts, unfinished
from mdmem.vault import note, people

_ITEM = re.compile(r"^[ \t]*[-*+] \[([ xX-])\] (\S.*)$", re.MULTILINE)


_WAITS = re.compile(r"^(Blocked by|Blocks) task (.+)$", re.MULTILINE)


class Listed(NamedTuple):
    """An item of a list. path, id: of the note with its last state. at: that note's time. is_done: done or dropped.

    blocked_by: ids of the notes of tasks that it waits for. is_said: said in a sentence, which nobody can tick.
    """

    text: str
    is_done: bool
    path: str
    id: str
    at: str
    blocked_by: tuple[str, ...] = ()
    is_dropped: bool = False
    is_said: bool = False


def of_session(config: Config, paths: Iterable[str]) -> list[Listed]:
    """Return the last state of a session's list. paths: the notes of its `open_work.TOOLS`, oldest first."""
    lists: list[tuple[str, str, note.Parsed]] = []
    tasks: dict[str, Listed] = {}
    waits: dict[str, set[str]] = {}
    for path in paths:
        parsed = people.try_load_clean(config.vault, path)
        tool = aliases.resolve(parsed.fact("tool"), {})[0]
        if parsed.meta.get("success") is False:
            continue
        if tool == "TodoWrite":
            lists.append((_time(parsed), path, parsed))
        else:
            _take(tasks, parsed, path)
            _take_blockers(waits, parsed)
    latest = max(lists, key=lambda entry: entry[:2], default=None)
    items = list(_items(latest[2], latest[1])) if latest else []
    return [*items, *(_waiting(tasks, name, waits.get(name, set())) for name in tasks)]


def _time(parsed: note.Parsed) -> str:
    return timestamps.utc(str(parsed.meta.get("updated") or parsed.meta.get("created", "")))


def _listed(
    parsed: note.Parsed, path: str, text: str, is_done: bool = False, *, is_dropped: bool = False, is_said: bool = False
) -> Listed:
    return Listed(text, is_done, path, parsed.fact("id"), _time(parsed), is_dropped=is_dropped, is_said=is_said)


def of_answers(config: Config, paths: Iterable[str]) -> list[Listed]:
    """Return the boxes that answers list, without those of a plan for tests, which say what the reader may do."""
    return [listed for path in paths for listed in _boxes(people.try_load_clean(config.vault, path), path)]


def _boxes(parsed: note.Parsed, path: str) -> Iterator[Listed]:
    for label, sentence in excerpts.sentences(parsed.body):
        text = note.one_line(sentence[len(unfinished.BOX) :])
        if sentence.startswith(("[ ] ", "[x] ", "[X] ")) and text and not label.lower().startswith(_PLANS):
            yield _listed(parsed, path, text, sentence[1] != " ")


def left_by_answer(config: Config, path: str, *, worked: bool) -> list[Listed]:
    """Return what an answer says at its end is left to do, in words. worked: as for `unfinished.at_end`."""
    parsed = people.try_load_clean(config.vault, path)
    left = unfinished.at_end(list(excerpts.sentences(parsed.body)), worked=worked)[:_MAX_LEFT]
    return [_listed(parsed, path, note.one_line(sentence), is_said=True) for sentence in left]


_MAX_LEFT = 5
_PLANS = ("test plan", "testing", "checklist", "how to test")


def _take_blockers(waits: dict[str, set[str]], parsed: note.Parsed) -> None:
    """Add the blockers that a TaskUpdate names."""
    task = TASK.match(parsed.fact("title"))
    if task is None:
        return
    for how, names in _WAITS.findall(parsed.body):
        for name in names.split(", "):
            blocked, blocker = (task["number"], name) if how == "Blocked by" else (name, task["number"])
            waits.setdefault(blocked, set()).add(blocker)


def _waiting(tasks: dict[str, Listed], name: str, blockers: set[str]) -> Listed:
    open_ = [tasks[blocker].id for blocker in sorted(blockers) if blocker in tasks and not tasks[blocker].is_done]
    return tasks[name]._replace(blocked_by=tuple(open_))


def _items(parsed: note.Parsed, path: str) -> Iterator[Listed]:
    for mark, text in _ITEM.findall(parsed.body):
        yield _listed(parsed, path, note.one_line(body.read_inline(text)), mark != " ", is_dropped=mark == "-")


def _take(tasks: dict[str, Listed], parsed: note.Parsed, path: str) -> None:
    """Update the session's tasks from a TaskCreate or TaskUpdate."""
    title = parsed.fact("title")
    match = TASK.match(title)
    if match is None:
        if title.startswith("Task: "):  # without a number, no update can be matched to it
            tasks[title] = _listed(parsed, path, title[6:])
        return
    task = tasks.get(match["number"])
    subject = match["subject"] or match["again"] or (task.text if task else "")
    status = parsed.fact("status")
    is_done = status in OVER or (not status and task is not None and task.is_done)
    if subject:
        changed = _listed(parsed, path, subject, is_done)
        tasks[match["number"]] = changed._replace(path=task.path, id=task.id) if task else changed
