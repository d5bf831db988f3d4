"""Store: writes an event's note into the vault, or into the retry queue when the vault cannot be written."""

from __future__ import annotations

import os

from mdmem import privacy, project, timestamps
from mdmem.capture import turn
from mdmem.capture.session import REPEAT_SECONDS, Session, folder_words
from mdmem.hashing import short
from mdmem.hook_errors import DeadlineError, VaultError
from mdmem.slug import slug as make_slug
from mdmem.values import Value
from mdmem.vault import disk, journal, note
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.agents import Event
    from mdmem.config import Config

MAX_LONG_BYTES = 1024 * 1024 + 64 * 1024
"""No note is longer, whatever the settings say: a prompt of a megabyte, and what a template puts around it."""

_LONG_CHARS = 96 * 1024
"""A shorter text is stored without `window`, which most hooks need not import."""
_LONG_DEPTH = 8

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


class Outcome:
    """What became of an event.

    stored: a note is on disk; added: it was not there before. error: it should have been and is not, and why:
    an exception's type, never its text; why: what the user can do about it, if that is known; waits: it lies in
    the retry queue. ignored: why nothing was to be stored, one of the constants above, or "".
    private, redacted: what was taken out. hidden: how much of it stood in private sections; `of_turn` is that of the
    tool runs and answers of a turn that ends. unclosed: a private tag was never closed, or (stray) never opened.
    unknown: elements that look like private tags and are none. unmarked: what is private could not be marked or
    remembered, so that nothing of the session is stored for now. too_long: how many characters a note had no room for.
    """

    __slots__ = (
        "added", "error", "hidden", "id", "ignored", "kind", "of_turn", "path", "private", "redacted", "stored",
        "stray", "too_long", "unclosed", "unknown", "unmarked", "waits", "why",
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
        # Cleaned at once: a folder's name becomes a project's, and a lone surrogate or a NUL is no path.
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

    def prompt_number(self) -> int:
        """Return which prompt the event belongs to; 0 before the first."""
        return self.session.prompt_number(self.event.prompt_id)

    def prompt_note(self) -> str:
        """Return the note of the prompt that the event belongs to; "" when the agent does not say."""
        return self.session.note_id(self.event.prompt_id, "prompt") if self.event.prompt_id else ""

    def is_deleted(self, made: note.Note) -> bool:  # noqa: ARG002 - a replay knows what was deleted
        """Return whether the note is known to have been deleted for good."""
        return False

    def known(self, draft: PendingNote, made: note.Note) -> str | None:  # noqa: ARG002 - a replay looks at the draft
        """Return the file under which the note `made` was, or was to be, published."""
        return self.session.known(made.id)

    def complete(self, folder: disk.Folder, name: str, made: note.Note) -> None:
        """Do nothing with a note that was delivered before; a replay may know more of it."""

    def expect_late(self) -> None:
        """Mark the session's own transcript to be read later, for what hooks cannot know."""
        from mdmem.capture import late

        late.expect(self)

    def update_page(self) -> None:
        """Update the session's page."""
        from mdmem.capture import page

        page.refresh(self.session)


def make(at: Capture, draft: PendingNote, echo: privacy.Echo | None) -> tuple[note.Note | None, privacy.Cleaned]:
    """Return a draft's note, cleaned and not stored, and what was taken out; `echo` knows what was private before."""
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
    source, build = _windowed(at, draft) if _holds_long(draft.source) else (draft.source, draft.build)
    wanted = note.NoteRequest(
        draft.kind,
        source,
        build,
        identity=session.identity(*draft.identity, draft.kind),
        created=timestamps.note_time(at.now),
        context=context,
        origin=draft.origin,
        max_bytes=max(note.MAX_NOTE_BYTES, min(4 * draft.chars, MAX_LONG_BYTES) + 2 * note.MAX_META_BYTES),
    )
    return note.new(wanted, at.rules, echo)


def _holds_long(value: Any, depth: int = 0) -> bool:
    """Whether a text in there is so long that its middle is never stored."""
    if isinstance(value, str):
        return len(value) > _LONG_CHARS
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth <= _LONG_DEPTH and any(_holds_long(item, depth + 1) for item in items)


def _windowed(at: Capture, draft: PendingNote) -> tuple[Any, Callable[[Any], note.Draft | None]]:
    """Return what the note is made of without the middles of long texts, and what builds it with blanks for them."""
    from mdmem.capture import window

    through = window.Window(at.rules, draft.chars)
    return through.narrow(draft.source), lambda clean: draft.build(through.widen(clean))


def store(at: Capture, draft: PendingNote) -> Outcome:
    """Clean and store what an event leaves; a note that the vault does not take is queued, or is told lost."""
    session = at.session
    made, cleaned = make(at, draft, turn.load_echo(at))
    outcome = Outcome()
    outcome.kind = str(made.meta["kind"]) if made else draft.kind
    outcome.private, outcome.redacted, outcome.unclosed = cleaned.private, cleaned.redacted, cleaned.unclosed
    outcome.hidden, outcome.stray = cleaned.hidden, cleaned.stray
    outcome.too_long = at.left_out
    outcome.unmarked = not turn.learn(at, cleaned.spans)
    if outcome.unmarked:
        turn.withhold(at)
        outcome.ignored = PRIVATE  # what repeats it later could not be told from the rest
        return outcome
    if made is None:
        outcome.ignored = PRIVATE if cleaned.private else EMPTY
        return outcome
    if draft.by_text:
        made.meta["id"] = session.note_id(*draft.identity, short(made.body, 16), draft.kind)
    outcome.id = made.id
    begins = not session.folder
    try:
        _wait_behind(at)
        publish(at, draft, made, outcome)
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - whatever it was, the note is to wait, not to be lost
        from mdmem import log
        from mdmem.capture import retry_queue

        outcome.error = type(error).__name__
        outcome.waits = retry_queue.keep(at, draft, made)
        log.write(at.config, f"{draft.kind} {'is queued' if outcome.waits else 'is lost'}", error)
    if begins and outcome.added:
        at.update_page()  # a session that is broken off in its first turn has said what it was about
    return outcome


def _wait_behind(at: Capture) -> None:
    """Keep a session's notes in their order: while earlier ones still wait, this one does too."""
    if os.path.exists(os.path.join(at.config.state_dir, "spool")):
        from mdmem.capture import retry_queue

        if retry_queue.waits(at.config, at.session.key):
            raise VaultError("Earlier notes of this session are still queued.")


def _staged(at: Capture) -> str:
    """Return the code branch that the note waits on until it is merged, where the settings say that notes do.

    A branch that is gone, as in an old transcript, keeps nothing back: nobody could ever be on it again.
    """
    where = at.project
    if at.config.settings.capture.branches != "stage" or not where.branch:
        return ""
    default = project.default_branch(where.worktree)
    waits = default not in ("", where.branch) and project.has_branch(where.worktree, where.branch)
    return where.branch if waits else ""


def publish(at: Capture, draft: PendingNote, made: note.Note, outcome: Outcome) -> None:
    """Choose a note's place and number, and put it there.

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
            label = str(made.meta.get("tool") or draft.label or draft.kind)
            name = note.file_name(made, label, prompt, sequence, session.name_room(folder))
        if not session.is_published(name):
            made.meta["prompt"], made.meta["sequence"] = numbers(name)
            _link_page(made, folder)
            session.publish(folder, name, made)
            outcome.added = True
        elif draft.is_state:
            from mdmem.capture import completion

            completion.renew(folder, name, made, durable=at.live and at.config.durable)
        else:
            at.complete(folder, name, made)
    outcome.stored, outcome.id = True, made.id
    outcome.path = f"{'/'.join(session.folder)}/{name}"


def _link_page(made: note.Note, folder: disk.Folder) -> None:
    """Link a note to its session's page, as a property that editors follow."""
    page = journal.page_in(folder)
    if page and page != journal.FORMER_PAGE:  # a link goes by name alone, and 0.1 called every page the same
        made.meta["page"] = f"[[{page.removesuffix('.md')}]]"


def _first_page(session: Session, made: note.Note) -> note.Note:
    from mdmem.capture import page  # for the first note of a session only

    return page.first(session, made)


def _number(at: Capture, draft: PendingNote, made: note.Note) -> tuple[int, int, str | None]:
    """Return which prompt and sequence a note gets, and which file it is when it was delivered before."""
    session = at.session
    last = session.prompt_number() if draft.kind == "prompt" else at.prompt_number()
    prompt, sequence = (last + 1, 0) if draft.kind == "prompt" else (last, session.next_sequence(last))
    if draft.identity:
        return prompt, sequence, at.known(draft, made)

    words = short(f"{made.title}\0{made.body}", 16)

    def numbered(place: str) -> str:
        return session.note_id(place, words, draft.kind)

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
            return abs(now - timestamps.epoch(found[2])) <= REPEAT_SECONDS
    return False
