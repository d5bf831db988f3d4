"""A session: finding it by a name, and reading its notes in order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Set
from typing import Any, NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import AmbiguousError, NotFoundError
from mdmem.search import index
from mdmem.search.index.view import View
from mdmem.vault import disk, journal, layout, note, turns
from mdmem.views import rows


class ConversationStep(NamedTuple):
    """One note of a session, read from its file."""

    path: str
    meta: dict[str, Any]
    body: str

    @property
    def kind(self) -> str:
        """Return the note's kind."""
        return str(self.meta.get("kind", "note"))


class Conversation(NamedTuple):
    """One session. session: its id. page: its page's front matter, {} without one. steps: its other notes in order."""

    session: str
    page: dict[str, Any]
    steps: list[ConversationStep]

    def fact(self, key: str) -> str:
        """Return a value from the page's front matter, else from the first note that has it."""
        metas = (self.page, *(step.meta for step in self.steps))
        return next((str(meta[key]) for meta in metas if meta.get(key)), "")

    @property
    def title(self) -> str:
        """Return the page's title, else the first prompt's."""
        prompt_titles = (step.meta.get("title") for step in self.steps if step.kind == "prompt")
        return str(self.page.get("title") or next(prompt_titles, "") or self.session)

    @property
    def times(self) -> list[str]:
        """Return the times of its notes, in order."""
        return sorted(timestamps.utc(str(step.meta["created"])) for step in self.steps if step.meta.get("created"))


def read(config: Config, name: str, *, project: str = "") -> Conversation:
    """Return the session named by "latest", an id or its beginning, its folder's name, or a note in it.

    project: "latest" is the latest session of this project.

    Raises:
        NotFoundError: when there is no such session.
        AmbiguousError: when more than one has this name.
    """

    def answer(view: View) -> tuple[str, list[str]]:
        term = find(config, view, name, project=project)
        return term, [view.path(number) for number in view.notes("facet", term)]

    term, paths = rows.ask(config, answer)
    files = ((path, note.parse(data)) for path in paths if (data := disk.read_path(config.vault, path)) is not None)
    conversation = of_notes(
        ConversationStep(path, {**parsed.meta, "project": layout.project_named(path, parsed.meta)}, parsed.body)
        for path, parsed in files
    )
    return conversation._replace(session=conversation.session or term.partition(":")[2])


_WHOLE_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|ses_[0-9A-Za-z]{20,}")


def id_of(config: Config, name: str) -> str:
    """Return the id of the session that `name` means, as for `read`; one with a whole id need not be stored yet.

    Raises what `read` raises.
    """
    if _WHOLE_ID.fullmatch(name):
        return name

    def answer(view: View) -> str:
        term = find(config, view, name)
        ids = (str(view.facts(number).get("session")) for number in view.notes("facet", term))
        return next((session for session in ids if term_of(session) == term), term.removeprefix(KEY))

    return rows.ask(config, answer)


def of_notes(notes: Iterable[ConversationStep]) -> Conversation:
    """Return a session made of its notes, its page among them, in order."""
    pages: list[ConversationStep] = []
    steps: list[ConversationStep] = []
    for step in notes:
        (pages if step.kind == "session" else steps).append(step)
    page = pages[0].meta if pages else {}
    conversation = Conversation("", page, [step for _, turn in turns.numbered(steps, _place) for step in turn])
    return conversation._replace(session=conversation.fact("session"))


def _place(step: ConversationStep) -> turns.NotePlace:
    return turns.place(step.path, str(step.meta.get("created", "")), step.kind)


LATEST = ("latest", "last")
"""Names of the session that the newest note is from."""
KEY = "session:"
"""Prefix of the index's terms for sessions."""


def term_of(session: str) -> str:
    """Return the index's term for the session with this id."""
    return f"{KEY}{session}".lower()


def find(config: Config, view: View, name: str, *, project: str = "") -> str:
    """Return the index's term for the session that `name` means. project: restricts "latest" to a project.

    Raises:
        NotFoundError: when there is no such session.
        AmbiguousError: when more than one has this name.
    """
    if name in LATEST:
        term = latest(view, project)
        if not term:
            of_project = f"of {project} " if project else ""
            raise NotFoundError(
                f"The vault has no session {of_project}yet. `mdmem status` shows which agents are registered."
            )
        return term
    name_or_path = name.strip().rstrip("/")
    terms = candidates(view, name_or_path) or _of_note(config, view, name_or_path)
    if not terms:
        from mdmem.history import forget

        if deleted := forget.deleted_session(config, name_or_path):
            raise NotFoundError(deleted)
    return only(terms, name)


def candidates(view: View, name: str) -> list[str]:
    """Return the terms of sessions with this id, else of those whose id starts with it or whose folder ends with it."""
    if not name:
        return []
    if view.notes("facet", term_of(name)):
        return [term_of(name)]
    beginning_with = sorted(view.remaining("facet", term_of(name)))
    all_terms = sorted(view.remaining("facet", KEY)) if not beginning_with else ()
    with_tag = [term for term in all_terms if journal.session_tag(term.removeprefix(KEY)) == name.lower()]
    return beginning_with or with_tag or _of_folder(view, name)


def only(terms: list[str], name: str) -> str:
    """Return the only term.

    Raises:
        NotFoundError: when there is none.
        AmbiguousError: when there are several.
    """
    if not terms:
        from mdmem import when

        on = f" --on {shlex.quote(name)}" if when.span(name, when.now()) else ""
        raise NotFoundError(f"There is no session {name!r:.60}. `mdmem sessions{on:.60}` lists them.")
    if len(terms) > 1:
        examples = ", ".join(term.removeprefix(KEY)[:13] for term in terms[:4])
        raise AmbiguousError(
            f"{len(terms)} sessions have ids that begin with {name!r:.40}: {examples}. Give more characters."
        )
    return terms[0]


def latest(
    view: View, project: str, *, hidden: Set[int] = frozenset(), seen: Callable[[int], bool] | None = None
) -> str:
    """Return the term of the session of the newest note in a session's folder; "" when there is none.

    A note elsewhere that only mentions a session, as a person may write it, is no sign that it is the latest one.
    hidden: notes to skip, besides internal ones. seen: tells whether another note may be used.
    """
    hidden = hidden | view.internal
    within = view.of_project(project) if project else None
    for number in view.newest():
        if number not in hidden and (within is None or number in within):
            session = view.facts(number).get("session")
            if session and layout.is_in_session(view.path(number)) and (seen is None or seen(number)):
                return term_of(str(session))
    return ""


def _of_folder(view: View, name: str) -> list[str]:
    name = layout.folder_of(f"{name}/")  # a part of a session means the session
    folder_name = name.rpartition("/")[2]
    folders = {folder for folder in view.folders if folder.rpartition("/")[2] == folder_name and folder.endswith(name)}
    ids = {view.facts(number).get("session") for folder in folders for number in view.members_of(folder)}
    return [term_of(str(session)) for session in ids if session]


def _of_note(config: Config, view: View, name: str) -> list[str]:
    try:
        path = index.resolve(config, name)
    except NotFoundError:
        return []
    number = view.find(path)
    session = view.facts(number).get("session") if number is not None else None
    if not session:
        raise NotFoundError(f"The note {name!r:.60} belongs to no session. `mdmem show` shows it.")
    return [term_of(str(session))]
