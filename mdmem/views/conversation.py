"""A session read from its notes, in the order of what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem import timestamps
from mdmem.vault import disk, journal, note, turns
from mdmem.views import rows, which_session

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.vault.turns import Place


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
        return sorted(timestamps.utc(str(step.meta["created"])) for step in self.steps if step.meta.get("created"))


def read(config: Config, name: str, *, project: str = "") -> Conversation:
    """Read the session that `name` means: "latest", an id or its beginning, its folder's name, or a note in it.

    project: "latest" is the last session of this project.

    Raises:
        NotFoundError: when there is no such session.
        AmbiguousError: when more than one has this name.
    """

    def answer(view: View) -> tuple[str, list[str]]:
        term = which_session.find(config, view, name, project=project)
        return term, [view.path(number) for number in view.notes("facet", term)]

    term, paths = rows.ask(config, answer)
    files = [(path, note.parse(data)) for path in paths if (data := disk.read_path(config.vault, path)) is not None]
    steps = [
        ConversationStep(path, parsed.meta, parsed.body)
        for path, parsed in files
        if parsed.meta.get("kind") != "session"
    ]
    page = next((parsed.meta for _, parsed in files if parsed.meta.get("kind") == "session"), {})
    made = Conversation("", page, [step for _, turn in turns.numbered(steps, _place) for step in turn])
    return made._replace(session=made.fact("session") or term.partition(":")[2])


def _place(step: ConversationStep) -> Place:
    """Return the numbers that a file's name begins with, and what orders notes with the same ones, or without any."""
    name = step.path.rpartition("/")[2]
    numbers = journal.numbers(name) or (turns.NO_NUMBER, 0)
    return numbers, timestamps.epoch(str(step.meta.get("created", ""))), name, step.kind == "prompt"
