"""Open session: a session whose folder stays open between events, for an import, which stores many."""

from __future__ import annotations

import os
from contextlib import suppress

from mdmem.capture import page_entry
from mdmem.capture.session import Session
from mdmem.privacy import withheld
from mdmem.vault import disk, journal
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mdmem.config import Config
    from mdmem.vault import note

TWIN_SECONDS = 60
"""Maximum difference between the times that a hook and a transcript give for one event."""

_SURE_SECONDS = {"summary": TWIN_SECONDS, "response": 5}
"""Kinds that hooks and transcripts word differently: notes this close in time are the same, whatever their titles."""

_HEAD_BYTES = 4096


class OpenSession(Session):
    """A session that caches its record; its folder is locked only while a note is stored.

    aliases: a prompt's id -> its number, for prompts stored under another id.
    deleted: notes of any session that were published and deleted, id -> name, whatever the record says.
    """

    __slots__ = (
        "_absent", "_caught_up", "_claimed", "_folder", "_learned", "_loose", "_marks", "_names", "_old", "_published",
        "_sequences", "aliases",
    )  # fmt: skip
    max_days = None  # imported sessions may be old

    def __init__(
        self,
        config: Config,
        session_id: str,
        loose: frozenset[str],
        *,
        absent: bool = False,
        deleted: Mapping[str, str],
    ) -> None:
        self._absent = absent
        self._folder: _Held | None = None
        self._caught_up = False
        self._learned = 0
        self._names: dict[str, str] = dict(deleted)
        self._published: set[str] = set(deleted.values())
        self._sequences: dict[int, int] = {}
        self._loose = loose
        self._marks = config.runtime_dir
        self._old: list[page_entry.PageEntry] | None = None
        self._claimed: set[str] = set()
        self.aliases: dict[str, int] = {}
        super().__init__(config, session_id)

    def flag(self, name: str) -> str:
        """Return the path of a marker file, separate from the live session's."""
        return os.path.join(self._marks, f"{self.key}.{name}")

    # -- the record --------------------------------------------------------------------------------

    def read(self) -> None:
        """Read what was added to the record since the last call."""
        super().read()
        if len(self.data) < self._learned:  # rewritten by another process
            self._learned = 0
        whole = self.data.rfind(b"\n") + 1
        for line in self.data[self._learned : whole].split(b"\n"):
            if line[:2] in (b"?\t", b"+\t", b"=\t"):
                self._learn(line[:1], line[2:].partition(b"\t")[0].decode("utf-8", "replace"))
        self._learned = max(self._learned, whole)

    def _learn(self, kind: bytes, name: str) -> None:
        prompt, sequence = numbers(name if kind != b"=" else f"{name}.md") or (-1, 0)
        self._sequences[prompt] = max(sequence, self._sequences.get(prompt, 0))
        if kind != b"=":
            self._names[journal.id_in(name) or name] = name
        if kind == b"+":
            self._published.add(name)

    def append(self, *fields: str) -> None:
        """Add a line to the record, unless it is a second beginning, or an end no later than a known one."""
        if fields[0] == "start" and self.began:
            return
        if fields[0] == "end" and any(now >= float(fields[1]) for now, _ in self.moments("end")):
            return
        super().append(*fields)

    def name_of(self, note_id: str) -> str:
        """Return the file name under which a note was published or was about to be; "" if unknown."""
        return self._names.get(note_id, "")

    def is_published(self, name: str) -> bool:
        """Whether a note was written to its file."""
        return name in self._published

    def next_sequence(self, prompt: int) -> int:
        """Return the next free number within a prompt."""
        return self._sequences.get(prompt, 0) + 1

    def prompt_number(self, prompt_id: str = "") -> int:
        """Return the number of an event's prompt, even if it is stored under another id."""
        return self.aliases.get(prompt_id) or super().prompt_number(prompt_id)

    def forget(self) -> None:
        """Forget the notes of a folder that is gone."""
        try:
            os.unlink(self.path)
        except OSError:
            return
        self.data = b""
        self._end = self._inode = self._learned = 0
        self._names.clear()
        self._published.clear()
        self._sequences.clear()

    # -- the folder --------------------------------------------------------------------------------

    def open_folder(self) -> disk.Folder | None:
        """Return the folder, which stays open; None if there is none yet."""
        if self._folder is None:
            folder = super().open_folder()
            self._folder = _Held(folder.handle) if folder else None
        return self._folder

    def find_folder(self) -> tuple[str, ...]:
        """Search the vault for the session's folder, unless the caller knows that there is none."""
        return () if self._absent and not self.folder else super().find_folder()

    def make_folder(self, project: str, words: str, page: Callable[[], note.Note], now: float) -> disk.Folder:
        """Return the folder; create it with its page if there is none."""
        if self._folder is None:
            folder = super().make_folder(project, words, page, now)
            self._folder = self._folder or _Held(folder.handle)
        return self._folder

    def catch_up(self, folder: disk.Folder) -> None:
        """Reread the record under the folder's lock; the first time, check it against the folder."""
        if self._caught_up:
            self.read()
            return
        super().catch_up(folder)
        self._caught_up = True

    def take_in(self) -> None:
        """Record notes that are in the folder but not in the record, because their writer was killed."""
        folder = self.open_folder()
        if folder is None:
            return
        with folder:
            folder.lock()
            self.catch_up(folder)
            for name in sorted(filter(numbers, journal.names_with_parts(folder)), key=numbers):
                if (journal.id_in(name) or name) not in self._names:
                    self.append("+", name)
            self.read()

    def close(self) -> None:
        """Close the folder."""
        if self._folder is not None:
            self._folder.handle.close()
            self._folder = None

    # -- what was stored before --------------------------------------------------------------------

    def is_marked(self, name: str) -> bool:
        """Whether something private was removed from a note, or withheld; True if the note is gone, to be safe."""
        folder = self.open_folder()
        try:
            data = disk.read(folder, name) if folder else None
        except OSError:
            return True
        return data is None or b"\nprivate: " in data[:_HEAD_BYTES] or withheld.MARK.encode() in data

    def twin(self, kind: str, title: str, now: float) -> str | None:
        """Return the note that a hook stored for the same event under another id, or None.

        Only notes that existed before this import and that no event has claimed are considered.
        """
        if kind not in self._loose:
            return None
        for old in self._before():
            apart = abs(old.moment - now)
            same = old.title == title or apart <= _SURE_SECONDS.get(kind, -1)
            if old.kind == kind and apart <= TWIN_SECONDS and same and old.name not in self._claimed:
                return old.name
        return None

    def claim(self, name: str) -> None:
        """Record that a note belongs to an event, so that it is not taken for another event's."""
        self._claimed.add(name)

    def _before(self) -> list[page_entry.PageEntry]:
        """Return the notes that can be twins; reads them once, before notes of their kind are added."""
        if self._old is None:
            folder = self.open_folder()
            every = journal.names_with_parts(folder) if folder else []
            names = [name for name in every if numbers(name) and self._can_be_twin(name)]
            self._old = [page_entry.read(folder, name) for name in sorted(names, key=numbers)] if folder else []
        return self._old

    def _can_be_twin(self, name: str) -> bool:
        return "observation" in self._loose or name.split("-", 3)[2] in self._loose


class _Held(disk.Folder):
    """A folder that a `with` statement unlocks but leaves open."""

    __slots__ = ()

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.handle.unlock()
