"""Open work: unfinished tasks, checks that still fail, prompts without an answer, interrupted turns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain, islice, takewhile
from typing import NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.hashing import short
from mdmem.history import attribution
from mdmem.inject.open_work import OVER, TOOLS
from mdmem.learn import decisions, taken_up, todo
from mdmem.search import freshness, runs, turn_groups
from mdmem.search.asking import corrections, shape, small_talk
from mdmem.search.asking.english import SURE
from mdmem.search.index import layout
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.index.view import View
from mdmem.vault import journal, people, user_notes

MAX_DAYS, MAX_NOTES = 180, 10_000
"""Limits of the search by age in days and by number of notes."""
STALE_DAYS = 30
"""Older work is proposed to be dropped."""
AT_WORK_SECONDS = 900.0
"""A session with a note this recent may still be running, and its prompt may still be answered."""
_DAY = 86_400
_FAILED, _PROMPT, _RESPONSE = "failure", KINDS.index("prompt"), KINDS.index("response")
KEY_CHARS = 8
"""Length of the ids of open items and proposals."""


class OpenItem(NamedTuple):
    """A piece of open work.

    key: its name for `mdmem todo --done`. kind: task, failure, prompt or interrupted. detail: a failure's error line.
    id, path: of the note it comes from. blocked_by: ids of notes it waits for. is_stale: older than STALE_DAYS.
    """

    key: str
    kind: str
    text: str
    detail: str
    project: str
    session: str
    created: str
    id: str
    path: str
    blocked_by: list[str]
    is_stale: bool


def open_work(config: Config, project: str = "", *, now: float) -> list[OpenItem]:
    """Return the open work of a project ("": all projects), newest first. now: seconds since the epoch."""
    return freshness.ask(config, lambda view: in_view(config, view, project, now))


def in_view(config: Config, view: View, project: str, now: float) -> list[OpenItem]:
    """Return the open work of a project ("": all projects) in one state of the index, newest first."""
    items = _Project(config, view, project, now).items()
    pages = view.notes("facet", "kind:session")
    superseded = {name for name in {item.session for item in items} if _is_superseded(config, view, pages, name)}
    still_open = (item for item in items if item.session not in superseded)
    return sorted(still_open, key=lambda item: (item.created, item.key), reverse=True)


def closed(config: Config, project: str = "", *, now: float) -> list[OpenItem]:
    """Return the finished items of lists, latest first, with the time they were finished; does not update the index."""
    items = freshness.ask(config, lambda view: list(_Project(config, view, project, now).done()))
    return sorted(items, key=lambda item: (item.created, item.key), reverse=True)


def mark_done(config: Config, key: str, *, now: float, agent: str = "") -> OpenItem:
    """Close a piece of open work by `done` in its note's front matter. agent: the one that asks, "" for a person.

    Raises:
        NotFoundError: when no open work has this key.
        UsageError, VaultError, BusyError, OSError: when the note cannot be changed.
    """
    _, notices = freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
    matching = [item for item in open_work(config, now=now) if item.key == key.strip("[]#")]
    if not matching:
        lists = ("`mdmem todo` lists what is open.", *notices)
        raise NotFoundError(f"No open work has the id {key!r:.40}. {' '.join(lists)}")
    item = matching[0]
    meta = people.load_clean(config.vault, item.path).meta
    in_list = str(meta.get("kind")) in ("observation", "plan", "response") and item.kind == "task"
    value = [*_marked(meta), item.key] if in_list else True
    with attribution.to_agent(config, item.path, agent):
        user_notes.set_keys(config, item.path, {"done": value})
    return item


def _marked(meta: Mapping[str, object]) -> list[str]:
    keys = meta.get("done")
    return [str(key) for key in keys] if isinstance(keys, list) else []


def _is_superseded(config: Config, view: View, pages: set[int], session: str) -> bool:
    pages_of_session = view.of_session(session) & pages if session else set()
    return any(decisions.marks_of(config, view, page).get("superseded_by") for page in pages_of_session)


def _is_answer(name: str) -> bool:
    return turn_groups.source(name) == "response" and "-subagent-" not in name


class _Project:
    """Finds open work in the notes of one project, or of all."""

    def __init__(self, config: Config, view: View, project: str, now: float) -> None:
        self._config, self._view, self._now = config, view, now
        self._created = view.numbers("created")
        since = now - MAX_DAYS * _DAY
        recent = set(takewhile(lambda number: self._created[number] > since, islice(view.newest(), MAX_NOTES)))
        self._notes = recent - view.internal
        if project:
            self._notes &= view.of_project(project)
        self._known: dict[int, Mapping[str, object]] = {}

    def items(self) -> list[OpenItem]:
        """Return all open work."""
        return [*self._tasks(), *self._task_notes(), *self._failures(), *self._turns()]

    def _of_tools(self, names: Iterable[str]) -> list[int]:
        return self._view.by_time(self._notes & self._view.with_any(f"tool:{name}" for name in names))

    @cached_property
    def _failed(self) -> set[int]:
        return self._view.notes("facet", "is:failed")

    def _read_facts(self) -> None:
        """Read the facts of prompts and commands in one pass: those of many notes are packed together."""
        if not self._known:
            numbers = self._of_tools(runs.SHELLS) + self._of_kind(_PROMPT, self._notes)
            self._known = {number: self._view.facts(number) for number in sorted(numbers)}

    def _facts_of(self, number: int) -> Mapping[str, object]:
        return self._known.get(number) or self._view.facts(number)

    def _title(self, number: int) -> str:
        return str(self._facts_of(number)["title"])

    def _item(self, number: int, kind: str, text: str, *, detail: str = "", blocked_by: list[str] | None = None,
              created: str = "") -> OpenItem:  # fmt: skip
        facts = self._facts_of(number)
        name = str(facts["id"])
        created = created or timestamps.iso_time(self._created[number])
        return OpenItem(
            key=short(f"{name}\0{text}", KEY_CHARS),
            kind=kind,
            text=text,
            detail=detail,
            project=str(facts.get("project", "")),
            session=str(facts.get("session", "")),
            created=created,
            id=name,
            path=self._view.path(number),
            blocked_by=blocked_by or [],
            is_stale=timestamps.epoch(created) < self._now - STALE_DAYS * _DAY,
        )

    # -- tasks

    def done(self) -> Iterator[OpenItem]:
        """Yield the finished items of lists, without dropped ones."""
        return (item for item, one, _ in self._listed() if one.is_done and not one.is_dropped)

    def _tasks(self) -> Iterator[OpenItem]:
        return (item for item, one, note in self._listed() if not one.is_done and not self._is_done(item, note))

    def _listed(self) -> Iterator[tuple[OpenItem, todo.Listed, int]]:
        """Yield the items of the project's lists with their last state, each with the number of its note."""
        sessions: dict[str, list[int]] = {}
        for number in self._of_tools(TOOLS):
            sessions.setdefault(str(self._view.facts(number).get("session", "")), []).append(number)
        every: list[tuple[list[int], Callable[[Config, Iterable[str]], list[todo.Listed]]]]
        every = [(numbers, todo.of_session) for numbers in sessions.values()]
        every += [([number], todo.of_answers) for number in self._last_answers(layout.BOXES)]
        every += [([number], partial(self._left_by, number)) for number in self._last_answers(layout.LEFT)]
        latest: dict[tuple[str, str], tuple[str, int, todo.Listed]] = {}
        for numbers, read in every:
            project = str(self._view.facts(numbers[0]).get("project", ""))
            by_path = {self._view.path(number): number for number in numbers}
            for listed in read(self._config, by_path):
                identity = (project, small_talk.plain_text(listed.text))
                if identity not in latest or latest[identity][0] <= listed.at:
                    latest[identity] = (listed.at, by_path[listed.path], listed)
        for at, number, listed in latest.values():
            if not listed.is_done and self._is_taken_up(number, listed.text, asked=not listed.is_said):
                continue
            yield self._item(number, "task", listed.text, created=at, blocked_by=[*listed.blocked_by]), listed, number

    @cached_property
    def _is_taken_up(self) -> taken_up.TakenUpTest:
        return taken_up.finder(self._view, self._notes)

    def _last_answers(self, facet: str) -> Iterator[int]:
        """Yield each session's last answer with this facet, unless a file was changed after it: nobody ticks a plan."""
        view, last = self._view, dict[object, int]()
        answers = view.notes("facet", facet) & self._notes
        for number in sorted(answers, key=lambda number: (journal.numbers(view.name(number)), self._created[number])):
            last[view.facts(number).get("session") or number] = number
        return (number for number in last.values() if not self._is_replaced(number, facet))

    def _is_replaced(self, number: int, facet: str) -> bool:
        """Whether later notes of its session take the place of its last answer with a facet.

        Of what is only said, and may be old, a mere "thanks" or a question does not, but "no, we won't" does.
        """
        view = self._view
        session = str(view.facts(number).get("session", ""))
        others, place = view.of_session(session) if session else (), journal.numbers(view.name(number))
        later = {other for other in others if journal.numbers(view.name(other)) > place}
        names = list(map(view.name, later))
        is_changed = any(map(turn_groups.is_edit, names))
        if is_changed or facet == layout.BOXES:
            return is_changed
        worked = {journal.numbers(name)[0] for name in names if turn_groups.is_shell(name)}
        is_done = any(_is_answer(name) and journal.numbers(name)[0] in worked for name in names)
        is_old = self._created[number] <= self._now - STALE_DAYS * _DAY
        return is_old or is_done or any(corrections.declines(self._title(n)) for n in self._of_kind(_PROMPT, later))

    def _left_by(self, number: int, config: Config, _: Iterable[str]) -> list[todo.Listed]:
        worked = any(map(turn_groups.is_work, map(self._view.name, self._turn(number))))
        return todo.left_by_answer(config, self._view.path(number), worked=worked)

    def _task_notes(self) -> Iterator[OpenItem]:
        """Yield open tasks that are notes of their own."""
        for number in self._view.notes("facet", "kind:task") & self._notes:
            parsed = people.try_load_clean(self._config.vault, self._view.path(number))
            meta = parsed.meta
            is_over = meta.get("done") or meta.get("superseded_by") or str(meta.get("status", "")).lower() in OVER
            if meta and not is_over:
                yield self._item(number, "task", str(self._view.facts(number)["title"]),
                                 blocked_by=decisions.linked_ids(meta.get("blocked_by")))  # fmt: skip

    # -- failures

    def _failures(self) -> Iterator[OpenItem]:
        """Yield the last failed run of each check that has not passed since."""
        failing: dict[str, dict[runs.CommandRun, int]] = {}
        if not self._failed & self._notes:
            return
        self._read_facts()
        for number in self._of_tools(runs.SHELLS):
            facts = self._facts_of(number)
            of_project = failing.setdefault(str(facts.get("project", "")), {})
            if not of_project and number not in self._failed:
                continue  # without reading the command: there is nothing that it could close
            command_line = runs.line(str(facts["title"]))
            command = runs.check(command_line)
            if command is None:
                continue
            if number in self._failed:
                of_project.pop(command, None)
                of_project[command] = number
            else:
                passed = runs.checks(command_line)
                for failed in list(of_project):
                    if any(runs.closes(run, failed) for run in passed):
                        del of_project[failed]
        for number in chain.from_iterable(numbers.values() for numbers in failing.values()):
            meta = people.try_load_clean(self._config.vault, self._view.path(number)).meta
            if not meta.get("done") and str(meta.get("status")) != "interrupted":
                yield self._item(number, _FAILED, runs.line(self._title(number)),
                                 detail=str(meta.get("error", "")))  # fmt: skip

    # -- turns

    def _turns(self) -> Iterator[OpenItem]:
        """Yield each session's last prompt if it has no answer or its turn was interrupted."""
        asked = list(self._asked())
        unanswered = [(prompts, kind) for prompts in asked if (kind := self._kind_of_turn(prompts[-1]))]
        if unanswered:
            self._read_facts()
        last_requests = [(self._last_request(prompts), kind) for prompts, kind in unanswered]
        requests = [(number, kind) for number, kind in last_requests if number is not None]
        begun = self._begun(asked) if requests else {}
        last_asked: dict[tuple[str, str], int] = {}
        for number in self._notes & self._view.notes("facet", "kind:prompt") if requests else ():
            facts = self._facts_of(number)
            prompt_key = (str(facts.get("project", "")), small_talk.plain_text(str(facts["title"])))
            last_asked[prompt_key] = max(last_asked.get(prompt_key, 0), self._created[number])
        for number, kind in requests:
            item = self._item(number, kind, self._title(number))
            again = last_asked.get((item.project, small_talk.plain_text(item.text)), 0)
            is_over = again > timestamps.epoch(item.created) or self._is_continued(number, begun)
            if not is_over and not self._is_taken_up(number, item.text, asked=True) and not self._is_done(item, number):
                yield item

    def _is_continued(self, number: int, begun: Mapping[str, list[list[int]]]) -> bool:
        """Whether the project's next session began by continuing this, with an answer. begun: of `_begun`."""
        created = self._created
        sessions = begun.get(str(self._facts_of(number).get("project", "")), [])
        following = bisect_right(sessions, created[number], key=lambda prompts: created[prompts[0]])
        going_on = takewhile(lambda prompt: turn_groups.goes_on(self._title(prompt)), chain(*sessions[following:][:1]))
        return any(not self._kind_of_turn(prompt) for prompt in going_on)

    def _begun(self, asked: Iterable[list[int]]) -> dict[str, list[list[int]]]:
        """Return each project's sessions by their beginning. asked: each session's prompts."""
        begun: dict[str, list[list[int]]] = {}
        for prompts in sorted(asked, key=lambda prompts: self._created[prompts[0]]):
            begun.setdefault(str(self._facts_of(prompts[0]).get("project", "")), []).append(prompts)
        return begun

    def _asked(self) -> Iterator[list[int]]:
        """Yield the prompts of each session that is not at work, in order."""
        view, created = self._view, self._created
        prompts = self._of_kind(_PROMPT, self._notes)
        position = dict(zip(prompts, map(journal.numbers, view.names(prompts)), strict=True))
        folders: dict[int, list[int]] = {}
        for number in sorted(filter(position.get, prompts), key=position.__getitem__):
            folders.setdefault(view.folder_of[number], []).append(number)
        fresh = (number for number in self._notes if created[number] > self._now - AT_WORK_SECONDS)
        at_work = {view.folder_of[number] for number in fresh if journal.numbers(view.name(number))}
        return (numbers for folder, numbers in folders.items() if folder not in at_work)

    def _of_kind(self, kind: int, numbers: Iterable[int]) -> list[int]:
        flags = self._view.numbers("flags")
        return [number for number in numbers if flags[number] // KIND_STEP == kind]

    def _kind_of_turn(self, prompt: int) -> str:
        """Return the kind of open work that a prompt's turn is, if it is its session's last; "" if it was answered."""
        turn = self._turn(prompt)
        answers = [n for n in self._of_kind(_RESPONSE, turn) if "-subagent-" not in self._view.name(n)]
        failed = self._failed.intersection(answers)  # only those may have no success
        if len(failed) < len(answers) or any(self._view.facts(n).get("success") is not False for n in failed):
            return ""
        return "interrupted" if answers or len(turn) > 1 else "prompt"

    def _turn(self, prompt: int) -> list[int]:
        """Return the notes of a prompt's turn; the names of earlier ones are not read."""
        view = self._view
        wanted = journal.numbers(view.name(prompt))[:1]
        turn = []
        for number in reversed(view.members[view.folder_of[prompt]]):
            found = journal.numbers(view.name(number))[:1]
            if found and found < wanted:
                break
            if found == wanted and number in self._notes:
                turn.append(number)
        return turn

    def _last_request(self, prompts: list[int]) -> int | None:
        """Return the last prompt that asks for work; None without one."""
        for number in reversed(prompts):
            title = self._title(number)
            if turn_groups.goes_on(title):
                continue
            words, question = small_talk.plain_text(title), shape.of(title)
            if words in small_talk.DISMISSED or words.startswith("/"):
                return None
            # a question about earlier work opens none
            return None if question is not None and question.grade == SURE else number
        return None

    def _is_done(self, item: OpenItem, number: int) -> bool:
        meta = decisions.marks_of(self._config, self._view, number)
        return meta.get("done") is True or item.key in _marked(meta)
