"""Sessions from the index: a row for each, and the turns of one, without reading files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.history import session_log
from mdmem.history.session_log import LoggedSession
from mdmem.search import runs, solved
from mdmem.search.index.layout import KIND_STEP, KINDS
from mdmem.search.index.tally import QUARTER_SECONDS
from mdmem.search.index.view import View, cached_with_view
from mdmem.vault import journal, layout, note
from mdmem.vault import turns as numbered_turns
from mdmem.views import conversation, figures, rows
from mdmem.views.rows import NoteRow

_PROMPT, _RUN, _PAGE = (KINDS.index(kind) for kind in ("prompt", "observation", "session"))


class SessionRow(NamedTuple):
    """One session. started, ended: ISO 8601 in UTC. outcome: the title of `turns.telling_answer`, "" without one.

    failed, edits: number of its tool runs that failed, and that changed files. private: number of its notes from which
    a private section or a secret was removed. page: the path of its page, "" without one. seconds: the time worked, as
    `timestamps.worked` counts it.
    """

    session: str
    project: str
    agent: str
    branch: str
    title: str
    outcome: str
    started: str
    ended: str
    notes: int
    prompts: int
    runs: int
    failed: int
    edits: int
    private: int
    page: str
    seconds: float

    @property
    def tag(self) -> str:
        """Return the session tag at the end of its folder's name."""
        return journal.session_tag(self.session)

    @property
    def day(self) -> str:
        """Return the local day on which it began."""
        return timestamps.local_day(timestamps.epoch(self.started))


class SessionTurn(NamedTuple):
    """A prompt with its tool runs and answers. rows: all its notes in order, including the prompt."""

    number: int
    rows: list[NoteRow]


@cached_with_view
def table(view: View) -> tuple[SessionRow, ...]:
    """Return a row for every session, newest first."""
    return tuple(sorted(each(view), key=lambda row: row.started, reverse=True))


def latest(view: View) -> SessionRow | None:
    """Return the session that `latest` names, as in `conversation.find`; None without sessions."""
    known = table(view)
    term = conversation.latest(view, "") if known else ""  # which looks at every note before it finds none
    return next((row for row in known if conversation.term_of(row.session) == term), None)


def each(view: View) -> Iterator[SessionRow]:
    """Yield a row for every session."""
    sets = _Sets(view)
    all_rows = (sets.row(view.notes("facet", term)) for term in view.terms("facet", "session:") if len(term) > 8)
    return (row for row in all_rows if row is not None)


def logged(
    config: Config, first: str, last: str, *, failed: bool = False, **conditions: str
) -> Iterator[LoggedSession]:
    """Yield the sessions that began in a span, from their pages, newest first.

    first, last: times as notes write them, "" for no bound. failed: only those in which something failed.
    conditions: as for `session_log.sessions`.
    """
    among = rows.ask(config, lambda view: {row.session for row in table(view) if row.failed}) if failed else None
    for logged_session in session_log.sessions(config, since=first, **conditions):
        if last and logged_session.started >= last:
            continue
        if among is None or logged_session.session in among:
            yield logged_session


@cached_with_view
def projects(view: View) -> tuple[str, ...]:
    """Return the names of all projects: by latest session, newest first, then those with notes only."""
    names = dict.fromkeys(row.project for row in table(view) if row.project)
    known = {name.lower() for name in names}
    for term in view.terms("facet", "project:"):
        if term[8:] and term[8:] not in known:
            number = next((number for number in view.each("facet", term) if number not in view.internal), None)
            names |= {str(view.facts(number).get("project", "")): None} if number is not None else {}
    return tuple(name for name in names if name)


def project_called(view: View, root: str, name: str) -> str:
    """Return the project that is meant by a name in any case, or by the one that its folder had before."""
    called = layout.project_called(root, name)
    if called in layout.projects(root):
        return called
    names = {str(view.facts(number).get("project", "")) for number in view.of_project(name)}
    return names.pop() if len(names) == 1 else name


class _Sets:
    """The columns and marks of notes for counting sessions; bytes, because sets would take too much memory."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._created, self._flags = view.numbers("created"), view.numbers("flags")
        self._internal = view.internal
        self._failed = _marked(view, view.each("facet", "is:failed"))
        self._private = _marked(view, view.each("facet", "is:private"), view.each("facet", "is:redacted"))
        self._edits = _marked(view, solved.each_edit(view))
        shells = (view.each("facet", f"tool:{name}") for name in runs.SHELLS)
        self._works = _marked(view, solved.each_edit(view), *shells)
        self._same: dict[str, str] = {}

    def row(self, numbers: set[int]) -> SessionRow | None:
        """Return the row of the session with these notes; None if all are internal."""
        notes = self._view.by_time(numbers - self._internal)
        if not notes:
            return None
        kinds: dict[int, list[int]] = {}
        for number in notes:
            kinds.setdefault(self._flags[number] // KIND_STEP, []).append(number)
        pages, prompts = kinds.get(_PAGE, []), kinds.get(_PROMPT, [])
        steps = [number for number in notes if number not in pages] or notes
        told = numbered_turns.telling_answer(map(self._kind, steps))
        facts = self._view.facts((pages or steps)[0])
        head = self._view.facts((pages or prompts or steps)[0])
        started = self._created[steps[0]]
        if pages and timestamps.is_clock_set_back(started, self._created[pages[0]]):
            started = self._created[pages[0]]
        return SessionRow(
            session=str(facts.get("session", "")),
            project=self._once(facts.get("project", "")),
            agent=self._once(facts.get("agent", "")),
            branch=str(facts.get("branch", "")),
            title=str(head["title"]),
            outcome=str(self._view.facts(steps[told])["title"]) if told >= 0 else "",
            started=timestamps.iso_time(started),
            ended=timestamps.iso_time(self._created[steps[-1]]),
            notes=len(notes) - len(pages),
            prompts=len(prompts),
            runs=len(kinds.get(_RUN, ())),
            failed=sum(map(self._failed.__getitem__, notes)),
            edits=sum(map(self._edits.__getitem__, notes)),
            private=sum(map(self._private.__getitem__, notes)),
            page=self._view.path(pages[0]) if pages else "",
            seconds=timestamps.worked(self._created[step] for step in steps),
        )

    def _kind(self, number: int) -> str:
        return numbered_turns.WORK if self._works[number] else KINDS[self._flags[number] // KIND_STEP]

    def _once(self, value: object) -> str:
        """Return a text interned, because many sessions have the same one."""
        return self._same.setdefault(str(value), str(value))


def _marked(view: View, *notes: Iterable[int]) -> bytearray:
    """Return 1 or 0 for every note: whether it is among these."""
    marks = bytearray(view.size)
    for number in chain.from_iterable(notes):
        marks[number] = 1
    return marks


def files_changed_most(view: View, among: set[int], *, edits: int, most: int) -> list[tuple[str, int]]:
    """Return the files that were changed most in the newest edits among these notes, with the number of edits.

    edits: number of edits considered. most: maximum number of files.
    """
    created = view.numbers("created")
    newest = nlargest(edits, solved.each_edit(view, among), key=created.__getitem__)
    counted = Counter(str(file) for number in newest for file in view.facts(number).get("files", ()))
    return list(figures.ranked(counted, most).items())


@cached_with_view
def by_day(view: View, project: str = "") -> dict[str, int]:
    """Return the number of notes of each local day, without pages and internal memories.

    For the whole vault, they were counted when the index was written.
    """
    if not project:
        return figures.days(view.counts().quarters)
    flags, pages = view.numbers("flags"), {KINDS.index(kind) for kind in note.PAGES}
    return _counted(view, (number for number in view.of_project(project) if flags[number] // KIND_STEP not in pages))


@cached_with_view
def written_by_day(view: View, project: str = "") -> dict[str, int]:
    """Return the number of notes that people and agents wrote on each local day, without internal memories."""
    written = view.of_kinds(note.WRITTEN)
    return _counted(view, written & view.of_project(project) if project else written)


def _counted(view: View, numbers: Iterable[int]) -> dict[str, int]:
    created, internal = view.numbers("created"), view.internal
    return figures.days(Counter(created[number] // QUARTER_SECONDS for number in numbers if number not in internal))


def turns(view: View, session: str) -> list[SessionTurn]:
    """Return the turns of a session, oldest first, without its page."""
    notes = view.of_session(session) - view.internal
    note_rows = [rows.row(view, number) for number in notes - view.notes("facet", "kind:session")]
    return group(note_rows)


def group(note_rows: Iterable[NoteRow]) -> list[SessionTurn]:
    """Group rows of one session into turns; rows without a number come last, in a turn numbered 0.

    If two machines used the same prompt numbers, the turns are renumbered by time.
    """
    in_turns = numbered_turns.numbered(note_rows, _place)
    return [SessionTurn(number if number < numbered_turns.NO_NUMBER else 0, notes) for number, notes in in_turns]


def _place(row: NoteRow) -> numbered_turns.NotePlace:
    in_front_matter = row.prompt or numbered_turns.NO_NUMBER, row.sequence
    return numbered_turns.place(row.path, row.created, row.kind, otherwise=in_front_matter)
