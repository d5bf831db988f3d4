"""A session read from its notes, in the order of what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.errors import AmbiguousError, NotFoundError
from mdmem.search import index
from mdmem.vault import disk, journal, note
from mdmem.views import rows

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.search.index.view import View


class ConversationStep(NamedTuple):
    """One note of a session, as its file says now."""

    path: str
    meta: dict[str, Any]
    body: str

    @property
    def kind(self) -> str:
        """Return what sort of note it is."""
        return str(self.meta.get("kind", "note"))


class Conversation(NamedTuple):
    """One session. session: its id. page: its page's front matter, {} without one. steps: its other notes in order."""

    session: str
    page: dict[str, Any]
    steps: list[ConversationStep]

    def fact(self, key: str) -> str:
        """Return what the page says, or the first note that says it."""
        metas = (self.page, *(step.meta for step in self.steps))
        return next((str(meta[key]) for meta in metas if meta.get(key)), "")

    @property
    def title(self) -> str:
        """Return the page's title, else the first prompt's."""
        asked = (step.meta.get("title") for step in self.steps if step.kind == "prompt")
        return str(self.page.get("title") or next(asked, "") or self.session)

    @property
    def times(self) -> list[str]:
        """When its notes were made, in order."""
        return sorted(str(step.meta["created"]) for step in self.steps if step.meta.get("created"))


def read(config: Config, name: str, *, project: str = "") -> Conversation:
    """Read the session that `name` means: "latest", an id or its beginning, its folder's name, or a note in it.

    project: "latest" is the last session of this project.

    Raises:
        NotFoundError: when there is no such session.
        AmbiguousError: when more than one has this name.
    """

    def answer(view: View) -> tuple[str, list[str]]:
        term = _latest(view, project) if name == "latest" else _named(config, view, name)
        return term, [view.path(number) for number in view.notes("facet", term)]

    term, paths = rows.ask(config, answer)
    files = [(path, note.parse(data)) for path in paths if (data := disk.read_path(config.vault, path)) is not None]
    steps = [
        ConversationStep(path, parsed.meta, parsed.body)
        for path, parsed in files
        if parsed.meta.get("kind") != "session"
    ]
    page = next((parsed.meta for _, parsed in files if parsed.meta.get("kind") == "session"), {})
    made = Conversation("", page, sorted(steps, key=_place))
    return made._replace(session=made.fact("session") or term.partition(":")[2])


def _place(step: ConversationStep) -> tuple[object, ...]:
    """Order by the numbers that a file's name begins with; a note without them lies where its time puts it."""
    name = step.path.rpartition("/")[2]
    return (*(journal.numbers(name) or (1 << 30, 0)), str(step.meta.get("created", "")), name)


def _latest(view: View, project: str) -> str:
    within = view.notes("facet", f"project:{project.lower()}") if project else None
    for number in view.newest():
        session = str(view.facts(number).get("session", "")) if within is None or number in within else ""
        if session:
            return f"session:{session}".lower()
    where = f"of {project} " if project else ""
    raise NotFoundError(f"The vault has no session {where}yet. `mdmem status` says which agents are registered.")


def _named(config: Config, view: View, name: str) -> str:
    wanted = name.strip().rstrip("/")
    terms = _of_session(view, wanted) or _of_folder(view, wanted) or _of_note(config, view, wanted)
    if not terms:
        raise NotFoundError(f"There is no session {name!r:.60}. `mdmem sessions` lists them.")
    if len(terms) > 1:
        some = ", ".join(term.partition(":")[2][:13] for term in terms[:4])
        raise AmbiguousError(f"{len(terms)} sessions have ids that begin with {name!r:.40}: {some}. Type more.")
    return terms[0]


def _of_session(view: View, name: str) -> list[str]:
    """Return the terms of the session that is `name`, else of those whose id begins or whose folder ends with it."""
    if name and view.count("facet", f"session:{name.lower()}"):
        return [f"session:{name.lower()}"]
    terms = list(view.starting_with("facet", f"session:{name.lower()}")) if name else []
    every = view.starting_with("facet", "session:") if not terms else ()
    return terms or [term for term in every if journal.session_tag(term.partition(":")[2]) == name.lower()]


def _of_folder(view: View, name: str) -> list[str]:
    last = name.rpartition("/")[2]
    folders = {folder for folder in view.folders if folder.rpartition("/")[2] == last and folder.endswith(name)}
    found = {view.facts(number).get("session") for folder in folders for number in view.members_of(folder)}
    return [f"session:{session}".lower() for session in found if session]


def _of_note(config: Config, view: View, name: str) -> list[str]:
    try:
        path = index.resolve(config, name)
    except NotFoundError:
        return []
    number = view.find(path)
    session = view.facts(number).get("session") if number is not None else None
    if not session:
        raise NotFoundError(f"The note {name!r:.60} belongs to no session. `mdmem show` shows it.")
    return [f"session:{session}".lower()]
