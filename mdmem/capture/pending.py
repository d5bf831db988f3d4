"""Pending: an event on its way into the vault, the note that it leaves, and what became of it."""

from __future__ import annotations

import os

from mdmem import privacy, project
from mdmem.capture.session import Session
from mdmem.hashing import short
from mdmem.slug import slug as make_slug
from mdmem.values import Value
from mdmem.vault import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.vault import disk, note

# Why an event leaves no note: the values of `Outcome.ignored`.
PRIVATE = "private"
PAUSED = "paused at that time"
SWITCHED_OFF = "switched off"
EXCLUDED = "excluded"
EXCLUDED_TOOL = "excluded tool"
NOT_TYPED = "not typed"
EMPTY = "empty"
SUBAGENT = "sub-agent"
OWN_LOOKUP = "own look-up"
UNKNOWN = "unknown event"
IN_STATE = "kept in state"  # what it says is recorded, for its session's page or for later events

UNSEEN = "unseen-prompt"
"""The `Outcome.error` of an event that was left out since its turn may be private: no hook has judged its prompt."""


class Outcome:
    """What became of an event.

    stored: a note is on disk; added: it was not there before. error: it should have been and is not, and why:
    an exception's type, never its text; why: what the user can do about it, if that is known; waits: it lies in
    the retry queue. counted: `mdmem status` counts it as lost. ignored: why nothing was to be stored, one of the
    constants above, or "".
    private, redacted: what was taken out. hidden: how much of it stood in private sections; `of_turn` is that of the
    tool runs and answers of a turn that ends. unclosed: a private tag was never closed, or (stray) never opened.
    unknown: elements that look like private tags and are none. unmarked: what is private could not be marked or
    remembered, so that nothing of the session is stored for now. too_long: how many characters a note had no room for.
    """

    __slots__ = (
        "added", "counted", "error", "hidden", "id", "ignored", "kind", "of_turn", "path", "private", "redacted",
        "stored", "stray", "too_long", "unclosed", "unknown", "unmarked", "waits", "why",
    )  # fmt: skip

    def __init__(self, ignored: str = "") -> None:
        self.stored = False
        self.added = False
        self.id = ""
        self.path = ""
        self.kind = ""
        self.private = 0
        self.redacted = 0
        self.hidden = privacy.Hidden()
        self.of_turn = privacy.Hidden()
        self.unclosed = False
        self.stray = False
        self.unknown: list[str] = []
        self.unmarked = False
        self.error = ""
        self.why = ""
        self.waits = False
        self.counted = False
        self.too_long = 0
        self.ignored = ignored

    @property
    def is_lost(self) -> bool:
        """Whether it should have been stored, and is neither in the vault nor in the retry queue."""
        return bool(self.error) and not (self.stored or self.waits or self.ignored)

    @property
    def is_worth_telling(self) -> bool:
        """Whether there may be something that the user should know."""
        hidden = self.private or self.unclosed or self.unknown or self.of_turn.sections
        return bool(hidden or self.error or self.unmarked or self.too_long)


class PendingNote(Value):
    """A note on its way: what makes it, and how it is told from every other.

    identity: what comes between session id and kind in its identity; () for an event without an id of its
    own, which is then known by its number and its cleaned text.
    by_text: its cleaned text is part of its identity, since one id can stand for several of them.
    chars: how long its body may be; 0: as long as the body of any note.
    is_state: it stands for a state, such as a to-do list: a later one of the same identity takes its place.
    """

    kind: str
    source: Any
    build: Callable[[Any], note.Draft | None]
    identity: tuple[str, ...] = ()
    label: str = ""
    origin: str = "tool"
    meta: dict[str, Any] = {}  # noqa: RUF012 - copied for each
    tags: tuple[str, ...] = ()
    chars: int = 0
    by_text: bool = False
    is_state: bool = False


class Capture:
    """One event being captured: what every rule may ask for.

    live: it happens now, and the user can be told of it.
    """

    live = True
    __slots__ = ("config", "event", "left_out", "now", "project", "rules", "session")

    def __init__(self, config: Config, event: Event, now: float) -> None:
        self.rules = privacy.Rules.of(config.settings)
        self.left_out = 0
        # Cleaned at once: a folder's name becomes a project's, and a lone surrogate or a NUL is not a path.
        event.cwd = privacy.clean(event.cwd, rules=self.rules, origin="tool").value.replace("\0", "")
        self.config = config
        self.event = event
        self.now = now
        self.session = Session(config, journal.session_id(event), event.agent)
        self.project = self._public(project.identify(event.cwd))

    def _public(self, found: project.Project) -> project.Project:
        """Rename a project whose remote or path holds something private by what is left of them."""
        if self.rules.home and found.root == self.rules.home:
            found.name = "home"  # the folder's own name is the user's
        where = found.remote or found.root
        clean = privacy.clean(where, rules=self.rules, origin="tool").value
        return found if clean == where else project.Project(make_slug(clean) or "private", clean)

    def home(self, created: str) -> str:
        """Return the project's folder in the journal, which is made when there is none.

        Raises:
            OSError, VaultError: when the vault cannot be written.
        """
        name = journal.recall_project(self.config, journal.identity(self.project))
        if name:
            return name
        from mdmem.capture import projects

        return projects.folder_name(self.config, self.project, created, self.rules)

    def session_keys(self) -> tuple[str, ...]:
        """Return the key of the session, and of the one that it works for, if it is a sub-agent's own."""
        parent = self.event.extra.get("parent_session")
        return (self.session.key, short(parent, 16)) if parent else (self.session.key,)

    def memory_of(self, key: str) -> str:
        """Return the path of what a session remembers as private (`privacy.memory`); it need not exist."""
        return os.path.join(self.config.state_dir, "private", key)

    def load_echo(self) -> privacy.Echo | None:
        """Return what the session's private sections said, in a form that only tells it when it is met again."""
        known = [key for key in self.session_keys() if os.path.exists(self.memory_of(key))]
        if not known:
            return None
        from mdmem.privacy import memory

        return memory.load(self.config, *known)

    def prompt_number(self) -> int:
        """Return which prompt the event belongs to; 0 before the first."""
        return self.session.prompt_number(self.event.prompt_id)

    def prompt_note(self) -> str:
        """Return the note of the prompt that the event belongs to; "" when the agent does not say."""
        return self.session.note_id(self.event.prompt_id, "prompt") if self.event.prompt_id else ""

    def is_deleted(self, made: note.Note) -> bool:  # noqa: ARG002 - a replay knows what was deleted
        """Whether the note is known to have been deleted for good."""
        return False

    def known(self, draft: PendingNote, made: note.Note) -> str | None:  # noqa: ARG002 - a replay looks at the draft
        """Return the file under which the note `made` was, or was to be, published."""
        return self.session.name_of(made.id) or None

    def complete(self, folder: disk.Folder, name: str, made: note.Note) -> None:
        """Do nothing with a note that was delivered before; a replay may know more of it."""

    def update_page(self) -> None:
        """Update the session's page."""
        from mdmem.capture import page

        page.refresh(self.session)
