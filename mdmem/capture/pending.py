"""Pending: an event being captured, the note made from it, and the outcome."""

from __future__ import annotations

import os

from mdmem import files, privacy, project
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
IN_STATE = "kept in state"  # recorded for the session page or for later events

UNSEEN = "unseen-prompt"
"""`Outcome.error` of an event left out because its turn may be private: no hook has judged its prompt."""
UNREMEMBERED = "unremembered"
"""`Outcome.error` of a saved event whose private text could not be remembered: a later import stores it."""
UNREAD_EXCLUSIONS = "unread-exclusions"
"""`Outcome.error` of an excluded event if a file cannot be read that says what is excluded."""
LOST_PRIVATE = "private-lost"
"""Suffix of a session's file that says that its private memory was found damaged."""

RETRY_FOLDER = "spool"
"""The retry queue's folder in the state folder; `queued` removes it when it is empty."""


FAILING_FILES = {"commit": "commit-fails", "sync": "sync-fails"}
"""Command -> file in the state folder that exists while each run of it fails."""


def has_queued(config: Config) -> bool:
    """Whether notes may be queued, without loading the retry queue."""
    return os.path.exists(os.path.join(config.state_dir, RETRY_FOLDER))


def has_failing(config: Config) -> bool:
    """Whether a commit or a sync has failed, without loading `failing`, which knows since when."""
    return any(os.path.exists(os.path.join(config.state_dir, name)) for name in FAILING_FILES.values())


class Outcome(Value):
    """The result of capturing an event.

    stored: the note is on disk. added: it was not there before. error: why it should be there and is not, as the name
    of an exception's type, never its text. why: what the user can do about it, if known. waits: it is in the retry
    queue. counted: `mdmem status` counts the loss. ignored: why nothing was to be stored, a constant above, or "".
    private, redacted: number of private texts and secrets removed. hidden: the size of the private sections. of_turn:
    the same for the tool runs and answers of the turn that ends. unclosed: a private tag was never closed, or (stray)
    never opened. unknown: elements that look like private tags but are not. unmarked: private text could not be marked
    or remembered, so nothing of the session is stored for now. too_long: number of characters cut from a note.
    withheld: a text could not be checked, so the note is stored without it. failing: sentences about commands that have
    failed for long.
    """

    ignored: str = ""
    stored: bool = False
    added: bool = False
    id: str = ""
    path: str = ""
    kind: str = ""
    private: int = 0
    redacted: int = 0
    hidden: privacy.Hidden = privacy.Hidden()
    of_turn: privacy.Hidden = privacy.Hidden()
    unclosed: bool = False
    stray: bool = False
    unknown: list[str] = []  # noqa: RUF012 - never changed, like the other defaults
    unmarked: bool = False
    error: str = ""
    why: str = ""
    waits: bool = False
    counted: bool = False
    too_long: int = 0
    withheld: bool = False
    failing: list[str] = []  # noqa: RUF012

    @property
    def is_lost(self) -> bool:
        """Whether the event should have been stored, but is neither in the vault nor in the retry queue."""
        return bool(self.error) and not (self.stored or self.waits or self.ignored)

    @property
    def is_worth_telling(self) -> bool:
        """Whether there may be something to tell the user."""
        hidden = self.private or self.unclosed or self.unknown or self.of_turn.sections
        return bool(hidden or self.error or self.unmarked or self.too_long or self.withheld or self.failing)


class PendingNote(Value):
    """A note to be built and stored.

    identity: the part of the note's identity between session id and kind. () for an event without an id: its note is
    identified by its number and its cleaned text.
    by_text: the cleaned text is part of the identity, because one id can stand for several notes.
    chars: maximum length of the body (0: the limit of all notes).
    is_state: the note holds a state, such as a to-do list, and a later one of the same identity replaces it.
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
    """One event being captured, with all that the rules need.

    live: the event happens now, so the user can be told about it.
    unchecked: why the folder could not be cleaned and is withheld; None if it was.
    """

    live = True
    __slots__ = ("config", "event", "left_out", "now", "project", "rules", "session", "unchecked")

    def __init__(self, config: Config, event: Event, now: float) -> None:
        self.rules = privacy.Rules.of(config.settings, skips_slow=True)
        self.left_out = 0
        # Clean at once: the folder's name becomes the project's. A lone surrogate or NUL is invalid in a path.
        folder = privacy.clean(event.cwd, rules=self.rules, origin="tool")
        event.cwd, self.unchecked = folder.value.replace("\0", ""), folder.failure
        self.config = config
        self.event = event
        self.now = now
        self.session = Session(config, journal.session_id(event), event.agent)
        self.project = self._public(project.identify(event.cwd))

    def _public(self, identified: project.Project) -> project.Project:
        """Return the project, renamed after its cleaned remote or path if those hold something private."""
        if self.rules.home and identified.root == self.rules.home:
            identified.name = "home"  # the folder's own name is the user's
        where = identified.remote or identified.root
        clean = privacy.clean(where, rules=self.rules, origin="tool").value
        return identified if clean == where else project.Project(make_slug(clean) or "private", clean)

    def project_folder(self, created: str) -> str:
        """Return the name of the project's folder in the journal, creating the folder if needed.

        Raises OSError or VaultError when the vault cannot be written.
        """
        name = journal.recall_project(self.config, journal.identity(self.project))
        if name:
            return name
        from mdmem.capture import projects

        return projects.folder_name(self.config, self.project, created, self.rules)

    def session_keys(self) -> tuple[str, ...]:
        """Return the session's key and, for a sub-agent with its own session, the parent session's key."""
        parent = self.event.extra.get("parent_session")
        return (self.session.key, short(parent, 16)) if parent else (self.session.key,)

    def memory_of(self, key: str) -> str:
        """Return the path of a session's private memory (`privacy.memory`); it need not exist."""
        return os.path.join(self.config.state_dir, "private", key)

    def former_memory(self) -> str:
        """Return the path of what version 0.1 remembered as private of the session; its form is no longer read."""
        return os.path.join(self.config.runtime_dir, f"{self.session.key}.echo")

    def has_lost_private(self) -> bool:
        """Whether the session's private memory holds less than was put into it, so that it recognizes too little."""
        recorded = self.session.lines(journal.PRIVATE)
        if not recorded:
            return False
        from mdmem.privacy import memory

        lines, sign = memory.extent(self.config, self.session.key)
        if all(_is_covered(line, lines, sign) for line in recorded):
            return False
        from mdmem import log

        flag = self.session.flag(LOST_PRIVATE)
        log.once(self.config, flag, "what is private in a session is lost: the rest is not stored")
        return True

    def load_echo(self) -> privacy.Echo | None:
        """Return the session's private memory, which can recognize private text but not reproduce it; None if empty."""
        keys = [key for key in self.session_keys() if files.may_exist(self.memory_of(key))]
        if not keys:
            return None
        from mdmem.privacy import memory

        return memory.load(self.config, *keys)

    def prompt_number(self) -> int:
        """Return the number of the event's prompt; 0 before the first."""
        return self.session.prompt_number(self.event.prompt_id)

    def prompt_note(self) -> str:
        """Return the id of the note of the event's prompt; "" if the agent gives no prompt id."""
        return self.session.note_id(self.event.prompt_id, "prompt") if self.event.prompt_id else ""

    def is_deleted(self, built: note.Note) -> bool:  # noqa: ARG002 - a replay knows what was deleted
        """Whether the note is known to have been deleted for good."""
        return False

    def published_name(self, draft: PendingNote, built: note.Note) -> str | None:  # noqa: ARG002 - a replay looks at the draft
        """Return the file name under which a note was published, or was about to be; None for a new note."""
        return self.session.name_of(built.id) or None

    def complete(self, folder: disk.Folder, name: str, built: note.Note) -> None:
        """Do nothing with a note that was delivered before; a replay overrides this to complete it."""

    def update_page(self) -> None:
        """Update the session's page."""
        from mdmem.capture import page

        page.refresh(self.session)


def _is_covered(line: list[str], lines: int, sign: str) -> bool:
    """Whether a private memory of this extent holds what a line of the record says, which a full disk may have cut."""
    count, key = (*line, "")[:2]
    return lines >= (int(count) if count.isdecimal() else 0) and sign.startswith(key)
