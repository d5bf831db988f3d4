"""Store: one event's note on its way into the vault, or into the spool when the vault cannot take it."""

from __future__ import annotations

import os

from mdmem import journal, note, privacy, project, vault
from mdmem.capture import entry, turn, window
from mdmem.capture.session import REPEAT_SECONDS, Session, folder_words
from mdmem.digest import short
from mdmem.errors import VaultError
from mdmem.journal import numbers
from mdmem.slug import slug as make_slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config

PRIVATE = "private"
"""Why nothing of a private turn is stored."""


class Outcome:
    """What became of an event.

    stored: a note is on disk; added: it was not there before. error: it should have been and is not, and why:
    an exception's type, never its text; waits: it lies in the spool. ignored: why nothing was to be stored.
    private, redacted: what was taken out. unclosed: a private tag was never closed.
    """

    __slots__ = (
        "added", "error", "id", "ignored", "kind", "path", "private", "redacted", "stored", "unclosed", "waits",
    )  # fmt: skip

    def __init__(self, ignored: str = "") -> None:
        self.stored = False
        self.added = False
        self.id = ""
        self.path = ""
        self.kind = ""
        self.private = 0
        self.redacted = 0
        self.unclosed = False
        self.error = ""
        self.waits = False
        self.ignored = ignored


class Draft:
    """A note on its way: what makes it, and how it is told from every other.

    identity: what comes between session id and kind in its identity; () for an event without an id of its
    own, which is then known by its number and its cleaned text.
    by_text: its cleaned text is part of its identity, since one id can stand for several of them.
    """

    __slots__ = ("build", "by_text", "identity", "kind", "label", "meta", "origin", "source", "tags")

    def __init__(
        self,
        kind: str,
        source: Any,
        build: Callable[[Any], note.Draft | None],
        *,
        identity: tuple[str, ...] = (),
        label: str = "",
        origin: str = "tool",
        meta: dict[str, Any] | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.source = source
        self.build = build
        self.identity = identity
        self.label = label or kind
        self.origin = origin
        self.meta = meta or {}
        self.tags = tags
        self.by_text = False


class Capture:
    """One event being captured: what every rule may ask for."""

    __slots__ = ("config", "event", "now", "project", "rules", "session")

    def __init__(self, config: Config, event: Event, now: float) -> None:
        self.rules = privacy.Rules.of(config.settings)
        # Cleaned at once: a folder's name becomes a project's, and half a character or NUL is no path.
        event.cwd = privacy.clean(event.cwd, rules=self.rules, origin="tool").value.replace("\0", "")
        self.config = config
        self.event = event
        self.now = now
        self.session = Session(config, journal.session_id(event))
        self.project = self._public(project.identify(event.cwd))

    def _public(self, found: project.Project) -> project.Project:
        """Name a project whose remote or path holds something private by what is left of them."""
        where = found.remote or found.root
        clean = privacy.clean(where, rules=self.rules, origin="tool").value
        return found if clean == where else project.Project(make_slug(clean) or "private", clean)

    def home(self, created: str) -> str:
        """Name the project's folder in the journal, which is made when there is none.

        Raises:
            OSError, VaultError: when the vault cannot be written.
        """
        name = journal.recall_project(self.config, journal.identity(self.project))
        if name:
            return name
        from mdmem.capture import projects

        return projects.folder_name(self.config, self.project, created, self.rules)

    def prompt_number(self) -> int:
        """Say which prompt the event belongs to; 0 before the first."""
        return self.session.prompt_number(self.event.prompt_id)

    def prompt_note(self) -> str:
        """Name the note of the prompt that the event belongs to; "" when the agent does not say."""
        return note.make_id(self.session.id, self.event.prompt_id, "prompt") if self.event.prompt_id else ""

    def is_deleted(self, made: note.Note) -> bool:  # noqa: ARG002 - a replay knows what was deleted
        """Say whether the note is known to have been deleted for good."""
        return False

    def known(self, draft: Draft, made: note.Note) -> str | None:  # noqa: ARG002 - a replay looks at the draft
        """Give the file under which the note `made` was, or was to be, published."""
        return self.session.known(made.id)

    def update_page(self) -> None:
        """Bring the session's page up to date."""
        from mdmem import log
        from mdmem.capture import page

        try:
            folder = self.session.open_folder()
            if folder is None:
                return
            with folder:
                folder.lock()
                self.session.catch_up(folder)
                page.update(self.session, folder)
        except (OSError, VaultError) as error:
            log.write(self.config, "session page not updated", error)  # the next turn's end updates it


def store(at: Capture, draft: Draft) -> Outcome:
    """Clean and store what an event leaves; a note that the vault does not take waits in the spool, or is told lost."""
    event, session = at.event, at.session
    context = {
        **draft.meta,
        "subagent": (event.extra.get("agent_type") or "unknown") if event.subagent else "",
        "project": at.project.name,
        "session": session.id,
        "prompt": 0,
        "sequence": 0,
        "agent": event.agent,
        "cwd": event.cwd[:1024],
        "branch": at.project.branch,
        "staged": _staged(at),
        "commit": at.project.commit,
        "tags": list(draft.tags),
    }
    through = window.Window()
    made, cleaned = note.new(
        draft.kind,
        through.narrow(draft.source),
        lambda clean: draft.build(through.widen(clean)),
        identity=(session.id, *draft.identity, draft.kind),
        created=vault.iso_time(at.now),
        context=context,
        rules=at.rules,
        origin=draft.origin,
        echo=turn.load_echo(at),
    )
    turn.remember_echo(at, cleaned.spans)
    outcome = Outcome()
    outcome.kind = draft.kind
    outcome.private, outcome.redacted, outcome.unclosed = cleaned.private, cleaned.redacted, cleaned.unclosed
    if made is None:
        outcome.ignored = PRIVATE if cleaned.private else "nothing to store"
        return outcome
    if draft.by_text:
        made.meta["id"] = note.make_id(session.id, *draft.identity, short(made.body, 16), draft.kind)
    outcome.id = made.id
    begins = not session.folder
    try:
        _wait_behind(at)
        publish(at, draft, made, outcome)
    except (OSError, VaultError) as error:
        from mdmem import log
        from mdmem.capture import spool

        outcome.error = type(error).__name__
        outcome.waits = spool.keep(at, draft, made)
        log.write(at.config, f"{draft.kind} {'waits in the spool' if outcome.waits else 'is lost'}", error)
    if begins and outcome.added:
        at.update_page()  # a session that is broken off in its first turn has said what it was about
    return outcome


def _wait_behind(at: Capture) -> None:
    """Keep a session's notes in their order: while earlier ones still wait, this one does too."""
    if os.path.exists(os.path.join(at.config.state_dir, "spool")):
        from mdmem.capture import spool

        if spool.waits(at.config, at.session.key):
            raise VaultError("Earlier notes of this session are still waiting.")


def _staged(at: Capture) -> str:
    """Name the code branch that the note waits on, where the settings say that notes do."""
    if at.config.settings["capture.branches"] != "stage":
        return ""
    from mdmem.capture import branch

    return branch.staged(at.project)


def publish(at: Capture, draft: Draft, made: note.Note, outcome: Outcome) -> None:
    """Give a note its place and number, and put it there.

    Raises:
        OSError, VaultError: when the vault cannot take it.
    """
    if at.is_deleted(made):
        outcome.stored = True
        return
    session, created = at.session, str(made.meta["created"])
    home = at.home(created)
    made.meta["project"] = home
    words = folder_words(made.title) if draft.kind == "prompt" else ""
    with session.make_folder(home, words, lambda: _first_page(session, made), at.now) as folder:
        folder.lock()
        session.catch_up(folder)
        prompt, sequence, name = _number(at, draft, made)
        if name is None:
            made.meta["prompt"], made.meta["sequence"] = prompt, sequence
            label = str(made.meta.get("tool") or draft.label)
            name = note.file_name(made, label, prompt, sequence, session.name_room(folder))
        if not session.is_published(name):
            made.meta["prompt"], made.meta["sequence"] = numbers(name)
            session.publish(folder, name, made, entry.facts(made))
            outcome.added = True
    outcome.stored, outcome.id = True, made.id
    outcome.path = f"{'/'.join(session.folder)}/{name}"


def _first_page(session: Session, made: note.Note) -> note.Note:
    from mdmem.capture import page  # for the first note of a session only

    return page.first(session, made)


def _number(at: Capture, draft: Draft, made: note.Note) -> tuple[int, int, str | None]:
    """Say which prompt and sequence a note gets, and which file it is when it was delivered before."""
    session = at.session
    last = session.prompt_number() if draft.kind == "prompt" else at.prompt_number()
    prompt, sequence = (last + 1, 0) if draft.kind == "prompt" else (last, session.next_sequence(last))
    if draft.identity:
        return prompt, sequence, at.known(draft, made)

    words = short(f"{made.title}\0{made.body}", 16)

    def numbered(place: str) -> str:
        return note.make_id(session.id, place, words, draft.kind)

    made.meta["id"] = numbered(f"prompt {last}")
    name = session.known(made.id)
    if name and _is_recent(session, name, at.now):
        return prompt, sequence, name
    # The same words again, later: another prompt, another run.
    made.meta["id"] = numbered(f"prompt {prompt}" if draft.kind == "prompt" or not name else f"{prompt} {sequence}")
    return prompt, sequence, None


def _is_recent(session: Session, name: str, now: float) -> bool:
    for found in session.published():
        if found[0] == name and len(found) > 2:
            return abs(now - vault.epoch(found[2])) <= REPEAT_SECONDS
    return False
