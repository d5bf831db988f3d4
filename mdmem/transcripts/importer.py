"""Importer: stores transcripts and folders in the vault through the same code as hooks."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import files, privacy, system
from mdmem.capture import pending
from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.progress import ProgressCallback, ignore, reporting
from mdmem.transcripts import markdown, sources
from mdmem.transcripts.imported import ImportedFiles
from mdmem.transcripts.replay import Replay
from mdmem.transcripts.saved import ReadOptions, SavedEvent, Skipped, is_quiet
from mdmem.transcripts.sources import Transcript
from mdmem.vault import journal, layout, projects

if TYPE_CHECKING:
    from mdmem.history.deletions import Deletions

_FAILURES_IN_A_ROW = 5
_TURN_EVENTS = 100
"""A longer turn is stored in parts of this many events, to limit memory."""


class Tally:
    """The result of an import.

    added: kind of note, or `picture` -> number of new ones. known: number of events already stored.
    completed: number of stored notes that were completed. sessions: number of sessions with a new note.
    private: number of events not stored because they are private. skipped: reason -> number of things skipped.
    failed: number of notes that should have been stored; unremembered: those of them whose private text could not be
    remembered. withheld: number of events with a text that could not be checked.
    """

    def __init__(self) -> None:
        self.added: Counter[str] = Counter()
        self.known = 0
        self.completed = 0
        self.private = 0
        self.failed = 0
        self.unremembered = 0
        self.withheld = 0
        self.sessions = 0
        self.files = 0
        self.skipped: Skipped = Skipped()


class Import:
    """An import: the vault, the cache of earlier runs, and the result so far.

    since: skip events before this time. ended: a turn that was over by this time is known to be over.
    report_bytes: called from time to time with the bytes of transcripts read. stopped: whether to end early.
    places: the folders of the sessions.
    deleted: notes and sessions that their owner has deleted. purged: whether a note id was purged. Both stay away.
    imported_before: returns the paths of imported notes that were ever committed: if gone, these stay away as well.
    """

    def __init__(
        self,
        config: Config,
        imported: ImportedFiles,
        env: Mapping[str, str],
        *,
        stopped: Callable[[], int] = lambda: False,
        deleted: Deletions | None = None,
        purged: Callable[[str], bool] = lambda _: False,
        imported_before: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self.deleted = deleted
        self.purged = purged
        self.imported_before = imported_before
        self.config = config
        self.imported = imported
        self.env = env
        self.report_bytes: Callable[[int], None] = lambda _: None
        self.since = self.ended = 0.0
        self.stopped = stopped
        self.tally = Tally()
        self.places: dict[str, None] = {}
        self._bytes = 0
        self._failures = 0
        self._tags = _tags(config)

    def transcripts(self, found: Iterable[Transcript], now: float) -> None:
        """Store transcripts one after the other; after a stop, the next run does the rest.

        now: the current time, to tell finished sessions from running ones.

        Raises OSError or VaultError when the vault cannot be written.
        """
        with self._synced(), _scratch(self.config) as scratch:
            for transcript in found:
                if not _can_read(sources.file_of(transcript.path)):
                    self.tally.skipped[_UNREADABLE] += 1
                    continue
                left_out = self._left_out()
                is_over = self._transcript(transcript, now, scratch)
                if self.stopped():
                    return
                self.tally.files += 1
                self._bytes += transcript.size
                self.report_bytes(self._bytes)
                if is_over and left_out == self._left_out():
                    self.imported.add(transcript.path, transcript.size, transcript.changed_ns)

    @cached_property
    def _roots(self) -> dict[str, str]:
        return projects.roots(self.config)

    def _left_out(self) -> tuple[int, ...]:
        """Return the counts of what a later run may still store."""
        return self.tally.failed, self.tally.withheld, self.tally.skipped[_DELETED], self.tally.skipped[_UNREADABLE]

    def _read(self, transcript: Transcript, options: ReadOptions) -> Iterator[SavedEvent]:
        """Yield the events of a transcript, up to where it cannot be read."""
        try:
            yield from transcript.source.read(transcript.path, options)
        except OSError:
            self.tally.skipped[_UNREADABLE] += 1

    def _transcript(self, transcript: Transcript, now: float, scratch: str) -> bool:
        """Store one transcript; return whether its session is over."""
        last = transcript.changed_ns / 1e9
        before = self._bytes
        options = ReadOptions(
            self.tally.skipped,
            now,
            self.ended,
            self.config.settings.capture.subagents,
            lambda at: self.report_bytes(before + at),
            privacy.Rules.of(self.config.settings),
            self._roots if transcript.source.is_retold else {},
        )
        read = self._read(transcript, options)
        # a resumed session's file can contain several sessions
        for session, saved in itertools.groupby(read, key=lambda saved_event: journal.session_id(saved_event.event)):
            with self._replay(transcript, session, scratch, now) as replay:
                if transcript.source.is_retold and replay.is_of_another(transcript.source.agent):
                    self.tally.skipped[_RETOLD] += 1
                    continue
                forgotten = self._forgotten_at(session)
                for turn in _by_turn(saved):
                    if self.stopped():
                        break
                    replay.foresee(saved_event.event for saved_event in turn)
                    last = self._turn(replay, turn, last, forgotten)
            self.tally.sessions += replay.added > 0
            self.tally.completed += replay.completed
            if self.stopped():
                break
        return is_quiet(last, now)

    def _forgotten_at(self, session: str) -> float:
        """Return when a session was deleted as a whole, in seconds since the epoch; 0 if it was not."""
        deleted_at = self.deleted.sessions if self.deleted else {}
        return max((deleted_at.get(tag, 0.0) for tag in journal.session_tags(session)), default=0.0)

    def _turn(self, replay: Replay, saved: list[SavedEvent], last: float, forgotten: float) -> float:
        """Store the events of one turn that are later than `forgotten`; return the time of the last one."""
        for saved_event in saved:
            if self.stopped():
                break
            last = saved_event.at
            if saved_event.at < self.since or saved_event.passed_over:
                continue
            if saved_event.at <= forgotten:
                self.tally.skipped[_DELETED] += 1
                continue
            self.places[saved_event.event.cwd] = None
            branch, commit = saved_event.branch, saved_event.commit
            outcome = replay.capture(saved_event.event, saved_event.at, self.env, branch=branch, commit=commit)
            self._count(outcome)
        return last

    def _replay(self, transcript: Transcript, session: str, scratch: str, now: float) -> Replay:
        tags = journal.session_tags(session)
        # A hook may create the folder of a running session at any moment, so it is searched for.
        absent = self._tags.isdisjoint(tags) and is_quiet(transcript.changed_ns / 1e9, now)
        self._tags.update(tags)
        return Replay(
            self.config,
            session,
            scratch,
            loose=transcript.source.loose,
            absent=absent,
            again=self.imported.again,
            deleted=self.deleted and self.deleted.notes,
            purged=self.purged,
        )

    def _count(self, outcome: pending.Outcome) -> None:
        is_unremembered = outcome.error == pending.UNREMEMBERED
        self.tally.unremembered += is_unremembered
        self._failures = self._failures + 1 if outcome.error and not is_unremembered else 0
        if self._failures >= _FAILURES_IN_A_ROW:
            raise VaultError(
                f"The vault at {self.config.vault} cannot be written. What was read so far is queued; `mdmem doctor`"
                " says why. Then run the import again."
            )
        if outcome.withheld:
            self.tally.withheld += 1
            self.tally.skipped[markdown.unchecked("text", outcome.why)] += 1
        if outcome.error:
            self.tally.failed += 1
        elif outcome.added:
            self.tally.added[outcome.kind] += 1
        elif outcome.stored:
            self.tally.known += 1
        elif outcome.ignored == pending.PRIVATE:
            self.tally.private += 1
        elif outcome.ignored in _REASONS:
            self.tally.skipped[_REASONS[outcome.ignored]] += 1

    def folders(self, found: Iterable[markdown.MarkdownFolder], report: ProgressCallback = ignore) -> None:
        """Copy folders of markdown; report: progress callback, counts files.

        Raises OSError or VaultError when the vault cannot be written.
        """
        every = [(into, name) for into in self._into(found) for name in markdown.files(into.folder)]
        with self._synced():
            for into, name in reporting(every, "Importing files", report):
                if self.stopped():
                    return
                self._file(into, name)

    def count_gone(self, found: Iterable[markdown.MarkdownFolder]) -> int:
        """Return how many notes of folders that were not imported yet a person has deleted or moved."""
        unread = (
            (into, [name for name in markdown.files(into.folder) if not self.imported.has_now(into.folder.root / name)])
            for into in self._into(found)
        )
        return sum(markdown.count_gone(into, names) for into, names in unread)

    def _into(self, found: Iterable[markdown.MarkdownFolder]) -> Iterator[markdown.FolderImport]:
        rules = privacy.Rules.of(self.config.settings, skips_slow=True)
        gone = markdown.Gone(self.imported_before(), self.purged)
        return (markdown.FolderImport.of(self.config, rules, folder, gone, self.tally.skipped) for folder in found)

    def _file(self, into: markdown.FolderImport, name: str) -> None:
        path = into.folder.root / name
        try:
            facts = path.stat()
            if self.imported.has(path, facts.st_size, facts.st_mtime_ns):
                self.tally.known += 1
                return
            added = markdown.bring(into, name)
        except (FileNotFoundError, PermissionError):
            if _can_read(path):
                raise  # the vault cannot be written
            self.tally.skipped[_UNREADABLE] += 1
            return
        self.tally.added += added
        self.imported.add(path, facts.st_size, facts.st_mtime_ns)

    @contextlib.contextmanager
    def _synced(self) -> Iterator[None]:
        """Sync everything to disk once, at the end, even after an error."""
        try:
            yield
        finally:
            if self.tally.added and self.config.durable and hasattr(os, "sync"):  # Windows can sync files only
                os.sync()


_UNREADABLE = "file that cannot be read"
_RETOLD = "session that the vault has from the agent itself"
_DELETED = "event of a session that you deleted (--again imports it)"

_REASONS = {
    pending.PAUSED: "event while storing was paused",
    pending.SWITCHED_OFF: "event of a session that is paused",
    pending.EXCLUDED: "event in an excluded project",
    pending.EXCLUDED_TOOL: "run of an excluded tool",
    pending.NOT_TYPED: "prompt that nobody typed",
}
"""Reason why an event was not stored -> its name in the summary; other reasons are not reported."""


def _by_turn(saved: Iterable[SavedEvent]) -> Iterator[list[SavedEvent]]:
    """Yield a session's events turn by turn; a very long turn comes in parts."""
    turn: list[SavedEvent] = []
    for saved_event in saved:
        begins = saved_event.event.name == "UserPromptSubmit" and not saved_event.passed_over
        if turn and (begins or len(turn) >= _TURN_EVENTS):
            yield turn
            turn = []
        turn.append(saved_event)
    if turn:
        yield turn


def _tags(config: Config) -> set[str]:
    """Return the tags of all sessions with a folder in the journal."""
    return {folder.rpartition("-")[2] for folder in layout.sessions(config.vault)}


@contextlib.contextmanager
def _scratch(config: Config) -> Iterator[str]:
    """Yield a folder for this run's marks, and remove those of killed runs."""
    home = _usable(Path(config.runtime_dir), Path(config.state_dir) / "run")
    for leftover in home.glob("import-*"):
        process = leftover.name.split("-")[1]
        if not (process.isdecimal() and system.is_running(int(process))):
            shutil.rmtree(leftover, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=f"import-{os.getpid()}-", dir=home)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _can_read(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _usable(folder: Path, other: Path) -> Path:
    """Return a folder if it can be written, else the other one, creating it if needed."""
    with contextlib.suppress(OSError):
        files.make_folder(str(folder))
        if os.access(folder, os.W_OK):
            return folder
    files.make_folder(str(other))
    return other
