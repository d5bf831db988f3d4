"""Replay: stores a session's saved events in one go, by the same rules as hooks.

The session's folder stays open. Notes stored before are recognized by their ids. The page is written once, at the end.
A replay has its own marks (is the turn private, what did private sections say) and does not touch those of the live
session. It never renumbers or rewrites a note, except to complete it, and never restores a deleted one.
"""

from __future__ import annotations

from mdmem import privacy, project
from mdmem.capture import events, page, remembered
from mdmem.capture.later import completion
from mdmem.capture.pending import PAUSED, SUBAGENT, UNREMEMBERED, Capture, Outcome, PendingNote
from mdmem.capture.session import facts
from mdmem.config import Config
from mdmem.transcripts.open_session import OpenSession
from mdmem.vault import disk, front_matter, journal, note, pauses
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mdmem.agents import Event


class Replay:
    """Stores the events of one session, oldest first; use it in a `with` statement.

    added, completed: number of new notes, and of stored notes that were completed.
    twins: the id that a note has by the transcript -> the file that a hook stored under another id.
    """

    def __init__(
        self,
        config: Config,
        session: str,
        scratch: str,
        *,
        loose: frozenset[str] = frozenset(),
        absent: bool = False,
        again: bool = False,
        deleted: Mapping[str, str] | None = None,
        purged: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Open the session called `session`, an agent's own id as `journal.session_id` gives it.

        scratch: a folder with mode 0700 that nobody else uses, for this replay's marks.
        loose: the kinds of notes that a hook may have stored under another id than the transcript gives. A note with
        the same title and time is then the same note.
        absent: the vault is known to have no folder of this session, so none is searched for.
        again: store a session again whose folder is gone; otherwise what its owner deleted stays away.
        deleted: notes known to be deleted, id -> file name, even if the record does not know them.
        purged: whether a note's id must never come back.

        Raises OSError or VaultError when the session's folder cannot be opened.
        """
        # The caller syncs the file system once, at the end.
        settings = config.settings.changed({"capture.durability": "process"})
        self.config = Config(config.vault, config.index_dir, config.state_dir, scratch, settings)
        self.session = OpenSession(self.config, session, loose, absent=absent, deleted=deleted or {})
        if self.session.open_folder() is not None:
            self.session.take_in()
        elif again:
            self.session.forget()
        self.rules = privacy.Rules.of(config.settings, skips_slow=True)
        self.added = self.completed = 0
        self.twins: dict[str, str] = {}
        self.purged = purged
        self._is_unremembered = False
        self._unchecked: BaseException | None = None
        self._pauses = pauses.times(config, self.session.key)
        self._places: dict[tuple[str, str, str], tuple[str, project.Project]] = {}
        self._project_folders: dict[str, str] = {}

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        """Update the session's page if notes were added, and close the folder."""
        try:
            if self.added or self.completed:
                page.refresh(self.session)
        finally:
            self.session.close()

    def is_of_another(self, agent: str) -> bool:
        """Whether the vault has this session already, stored for another agent than this one."""
        if self.session.open_folder() is None:
            return False
        page = front_matter.of(journal.read_page(self.config.vault, "/".join(self.session.folder)))
        return str(page.get("agent") or agent) != agent

    def capture(
        self, event: Event, now: float, env: Mapping[str, str], *, branch: str = "", commit: str = ""
    ) -> Outcome:
        """Store one event.

        now: when it happened. branch, commit: the project's at that time, if known.

        Raises OSError or VaultError for faults of mdmem's own folders.
        """
        ignored = events.ignores(self.config, event)
        if ignored:
            return Outcome(ignored)
        self.session.agent = event.agent
        outcome = self._stored_before(event)
        if outcome is None and self._is_unremembered:
            outcome = Outcome()
            outcome.error = UNREMEMBERED
        if outcome is None:
            at = _Replayed(self, event, now, self._place(event, branch, commit))
            at.unchecked = self._unchecked
            paused = any(begin <= now <= end for begin, end in self._pauses)
            outcome = events.pass_over(at, PAUSED) if paused else events.handle(at, env)
            if outcome.withheld:
                self._unchecked = None  # told once
        self.added += outcome.added
        return outcome

    def foresee(self, coming: Iterable[Event]) -> None:
        """Learn the private text of coming events, so that it is masked in the events before them too.

        A turn is one document: only a later tool's output may mark what an earlier one printed as private.
        If it cannot be remembered, nothing more of the session is stored.
        """
        for event in coming:
            if events.ignores(self.config, event) in ("", SUBAGENT):
                at = _Replayed(self, event, 0.0, self._place(event, "", ""))
                if not remembered.learn_from(at) and not at.has_lost_private():
                    self._is_unremembered = True

    def project_folder(self, at: _Replayed, created: str) -> str:
        """Return the folder of an event's project, looked up once."""
        root = at.project.root
        if root not in self._project_folders:
            self._project_folders[root] = Capture.project_folder(at, created)
        return self._project_folders[root]

    def _place(self, event: Event, branch: str, commit: str) -> project.Project:
        """Return the project of an event as it is now, with the branch and commit of that time.

        Also cleans the event's `cwd`, as a capture does, and notes why if it had to be withheld.
        """
        key = (event.cwd, branch, commit)
        if key not in self._places:
            at = Capture(self.config, event, 0.0)
            at.project.branch, at.project.commit = branch, commit
            self._places[key] = (event.cwd, at.project)
            self._unchecked = self._unchecked or at.unchecked
        event.cwd, identified = self._places[key]
        return identified

    def _stored_before(self, event: Event) -> Outcome | None:
        """Return the outcome of an event whose note is already stored, recognized by its id without cleaning it again.

        None if the event must be captured, also when private text was removed from its note.
        """
        kind, event_id = _own_id(event)
        if not event_id:
            return None
        name = self.session.name_of(self.session.note_id(event_id, kind))
        if not name or not self.session.is_published(name) or self.session.is_marked(name):
            return None
        if kind == "observation" and self._knows_more(event, name):
            return None
        self.session.claim(name)
        outcome = Outcome()
        outcome.kind, outcome.stored = kind, True
        return outcome

    def _knows_more(self, event: Event, name: str) -> bool:
        """Whether an event may know more than its note: a failure, an answer, an exit code or a duration."""
        folder = self.session.open_folder()
        meta = note.parse(disk.read(folder, name) or b"").meta if folder else {}
        response = event.tool_response if isinstance(event.tool_response, dict) else {}
        return bool(
            (event.error is not None and meta.get("success") is True)
            or (meta.get("status") in completion.OPEN and response.get("status") not in completion.OPEN)
            or (event.duration_ms is not None and "duration_ms" not in meta)
            or (type(response.get("exit_code")) is int and "exit_code" not in meta)
        )


def _own_id(event: Event) -> tuple[str, str]:
    """Return the kind of an event's note, and the event's own id if that alone makes the note's id, else ""."""
    if event.name == "UserPromptSubmit":
        return "prompt", event.prompt_id
    return "observation", event.tool_use_id if event.name in ("PostToolUse", "PostToolUseFailure") else ""


class _Replayed(Capture):
    """One event of a replay."""

    live = False
    __slots__ = ("replay",)

    session: OpenSession

    def __init__(self, replay: Replay, event: Event, now: float, where: project.Project) -> None:
        self.replay = replay
        self.left_out, self.unchecked = 0, None
        self.config = replay.config
        self.event = event
        self.now = now
        self.session = replay.session
        self.project = where
        self.rules = replay.rules

    def project_folder(self, created: str) -> str:
        """Return the project's folder in the journal."""
        return self.replay.project_folder(self, created)

    def is_deleted(self, built: note.Note) -> bool:
        """Whether the note was purged, or deleted with its whole session, for which no folder is created."""
        if self.replay.purged(built.id):
            return True
        return self.session.is_published(self.session.name_of(built.id)) and self.session.open_folder() is None

    def published_name(self, draft: PendingNote, built: note.Note) -> str | None:
        """Return the file of a note that is already stored, even under the id that a hook gave it."""
        twins = self.replay.twins
        name = self.session.name_of(built.id) or twins.get(built.id)
        name = name or self.session.twin(draft.kind, built.title, self.now)
        if name is None:
            return None
        twins[built.id] = name  # the transcript may contain it twice
        self.session.claim(name)
        if draft.kind == "prompt":
            self.session.aliases[self.event.prompt_id] = numbers(name)[0]
        return name

    def complete(self, folder: disk.Folder, name: str, built: note.Note) -> None:
        """Complete a stored note with what the transcript knows."""
        changed = completion.complete(folder, name, built, durable=False)
        if changed is not None:
            self.session.append("+", name, *facts(changed))
            self.replay.completed += 1

    def update_page(self) -> None:
        """Do nothing: the page is updated at the end of the replay."""
