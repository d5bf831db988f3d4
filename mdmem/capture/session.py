"""Where a session's notes go: its folder in the vault, the next number, and what is already stored.

The folder is the truth. The record in the state folder (`journal.Record`) is a cache of it, and is rebuilt from the
folder when it is missing or out of date. Numbers are taken with the session's folder locked: two hooks never get the
same number, and an event that is delivered twice, even concurrently, finds its own id and leaves one note.
"""

from __future__ import annotations

import os
import time

from mdmem import files, timestamps
from mdmem.agents import aliases
from mdmem.slug import slug
from mdmem.vault import JOURNAL, MAX_PATH_CHARS, disk, journal, note
from mdmem.vault.journal import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar

    from mdmem.config import Config

REPEAT_SECONDS = 5
"""An event without an id that comes again within this time is the same event, delivered twice."""

MAX_NAME_BYTES = 140
"""Maximum length of a note's name; encrypted home folders allow 143."""

_LEAST_NAME_CHARS = 64  # room that the session folder's path leaves for the names of its notes
_WORDS_BYTES = 40
_MAX_FILES = 50
_RACE_SECONDS = 600
_SEEN, _PAGE = b"\nseen\t", "page"
_FEW = 300
"""Sessions with fewer notes have no parts, so their hooks need not compute one."""


class Session(journal.Record):
    """One session of one agent: its record, and its folder in the vault.

    max_days: how many folders of days to search for a session that the state folder does not know (None: all).
    """

    __slots__ = ("_is_new", "agent", "config")
    max_days: ClassVar[int | None] = journal.MAX_DAYS

    def __init__(self, config: Config, session_id: str, agent: str = "claude-code") -> None:
        self.config = config
        self.agent = agent
        self._is_new = False
        super().__init__(config, session_id)

    def identity(self, *event: str) -> tuple[str, ...]:
        """Return the identity of an event of this session."""
        return journal.event_identity(self.agent, self.id, *event)

    def note_id(self, *event: str) -> str:
        """Return the id of the note for an event of this session."""
        return note.make_id(*self.identity(*event))

    # -- the record --------------------------------------------------------------------------------

    def append(self, *fields: str) -> None:
        """Add a line to the record; `read` picks it up. A failed write only costs time later: see `_has_gap`."""
        self._append([fields])

    def _append(self, lines: Iterable[tuple[str, ...]]) -> None:
        data = b"".join([_line(fields) for fields in lines])
        written = 0
        try:
            written = files.append(self.path, data)
        except OSError:
            pass  # state is a cache
        if written < len(data):
            self.data += data
            self._end = min(self._end, files.drop_last_byte(self.path, b"\n"))

    def moments(self, kind: str) -> list[tuple[float, str]]:
        """Return time and reason of each line of one kind, without repetitions within REPEAT_SECONDS."""
        moments: list[tuple[float, str]] = []
        for line in self.lines(kind):
            now, why = _seconds(line[0]), line[1] if len(line) > 1 else ""
            if now and not (moments and why == moments[-1][1] and abs(now - moments[-1][0]) <= REPEAT_SECONDS):
                moments.append((now, why))
        return moments

    @property
    def began(self) -> float:
        """Return when the session began, in seconds since the epoch; 0 if no event says so."""
        return next((now for now, _ in self.moments("start")), 0.0)

    def is_continuous(self) -> bool:
        """Whether the record has existed since the session began or since its first note, so that it knows every turn.

        Such a record begins with a note that was about to be published ("?"), not with one found in the folder ("+").
        """
        first = self.data.find(b"\n?\t")
        return (first >= 0 and self.data.find(b"\n+\t", 0, first) < 0) or self._began_here()

    def _began_here(self) -> bool:
        return any(why in ("startup", "clear") for _, why in self.moments("start")[:1])

    # -- the folder --------------------------------------------------------------------------------

    def open_folder(self) -> disk.Folder | None:
        """Open the session's folder, searching for it if the record does not know it; None if there is none."""
        recorded = self.folder
        if recorded:
            try:
                return disk.open_folder(self.config.vault, recorded)
            except FileNotFoundError:
                pass  # moved or deleted by its owner
        elif self._is_new or self._began_here():
            return None  # nothing to look for
        located = self.find_folder()
        self._is_new = not (located or recorded)
        return disk.open_folder(self.config.vault, located) if located else None

    def find_folder(self) -> tuple[str, ...]:
        """Search the vault and its archives for the session's folder; () if there is none.

        Only the last `max_days` are searched, unless the record names a folder.
        """
        from mdmem.vault import layout  # here and below: needed only for a session's first note

        most = None if self.folder else self.max_days
        folder = journal.find_session(self.config, self.id, renamed=bool(self.folder), most=most)
        if folder or not any(layout.archived_in(path) for path in layout.archives(self.config.vault)):
            return folder
        from mdmem.vault import archives

        return archives.unpack_session(self.config, self.id, most)

    def make_folder(self, project: str, words: str, page: Callable[[], note.Note], now: float) -> disk.Folder:
        """Open the session's folder; create it with its page if there is none.

        project: the project's folder name. words: the slug of the first prompt. page: builds the session page.
        now: the session's start, unless the record knows it.

        Raises OSError or VaultError when the vault cannot be written.
        """
        folder = self.open_folder()
        if folder and not _lacks_page(folder):
            return folder
        if folder:
            folder.handle.close()  # another hook is creating it, or was killed while it did
        durable = self.config.durable
        with disk.open_folder(self.config.vault, (JOURNAL,), create=True, durable=durable) as above:
            above.lock()  # two first hooks of a session must not create two folders, even in two projects
            parts = self._created_meanwhile(now) or self._free_place(project, words, now)
            folder = disk.open_folder(self.config.vault, parts, create=True, durable=durable)
            if _lacks_page(folder):
                name = journal.page_name(parts[-1])
                disk.create(folder, name, note.render(page()).encode("utf-8", "replace"), durable=durable)
            return folder

    def _created_meanwhile(self, now: float) -> tuple[str, ...]:
        """Return the folder that a parallel first hook of this session has just created; () if there is none.

        Only the session's first day is searched: the record knows older folders, or `open_folder` has searched for
        them.
        """
        began = self.began or now
        days = {timestamps.local_day(moment) for moment in (began, began - _RACE_SECONDS)}
        return journal.find_session(self.config, self.id, renamed=bool(self.folder), days=days)

    def _free_place(self, project: str, words: str, now: float) -> tuple[str, ...]:
        """Return a folder that no other session has: two session ids may share their first characters."""
        from mdmem.vault import layout

        began = time.localtime(self.began or now)
        above = layout.for_new_session(self.config.vault, project, time.strftime("%Y-%m-%d", began))
        head = time.strftime("%H%M", began)
        parts: tuple[str, ...] = ()
        for tag in journal.session_tags(self.id):
            available, fixed = MAX_PATH_CHARS - len("/".join(above)) - 2, len(f"{head}--{tag}")
            for_folder = (available - len(".md")) // 2  # its page has the same name
            room = min(available - _LEAST_NAME_CHARS, for_folder) - fixed
            cut = words[: max(room, 0)].rstrip("-")
            parts = (*above, f"{head}-{cut}-{tag}" if cut else f"{head}-{tag}")
            if not os.path.lexists(os.path.join(self.config.vault, *parts)):
                break
        return parts

    # -- numbering ---------------------------------------------------------------------------------

    def catch_up(self, folder: disk.Folder) -> None:
        """Reread the record under the folder's lock, and add the folder's notes if the record does not match it.

        Only this function writes the folder's name into the record, so a record that names a folder also knows its
        notes. A resumed session is listed again: notes may have come from another machine. So is one whose folder has
        changed since its last note: a power cut may have taken whole lines off the record's end, but not the notes.
        """
        self.read()
        path = os.path.relpath(folder.path, self.config.vault).replace(os.sep, "/")
        last = self.last(b"\nfolder\t")
        is_known = "/".join(self.folder) == path and self.last(b"\nstart\t") < last
        is_known = is_known and not _has_gap(self.data, max(last, self._checked_to()))
        if is_known and self._is_unchanged(folder):
            return
        recorded = {line[0] for line in self.lines("+")}
        names = sorted(filter(numbers, journal.names_with_parts(folder)), key=numbers)
        new = [name for name in names if name not in recorded]
        if is_known and not new:
            return
        highest = _highest_numbers({*names, *recorded}) if new else []
        self._append([("folder", path), *[("+", name) for name in new], *[("=", name) for name in highest]])
        self.read()

    def _is_unchanged(self, folder: disk.Folder) -> bool:
        """Whether the folder is as it was after the last note of the record, or after the page was updated."""
        seen = self._seen(folder)
        start = self.data.rfind(_SEEN)
        return bool(seen) and self.data.startswith((_line(("seen", seen)), _line(("seen", seen, ""))[:-1]), start)

    def mark_page(self, folder: disk.Folder) -> None:
        """Record that the page is up to date, and that the folder has changed since `catch_up` by its page alone."""
        self.append(*self._seen_line(folder, self._count()), _PAGE)

    def has_current_page(self) -> bool:
        """Whether nothing was recorded since `mark_page`."""
        last = self.data[self.data.rfind(b"\n\n") + 1 :]
        return last.startswith(_SEEN) and last.endswith(f"\t{_PAGE}\n".encode())

    def _checked_to(self) -> int:
        """Return where the last line "seen" but one begins; -1 without one.

        The hook that wrote the last one had checked the record up to its predecessor's, under the folder's lock.
        """
        last = self.data.rfind(_SEEN)
        return self.data.rfind(_SEEN, 0, last) if last > 0 else -1

    def _count(self) -> int:
        """Return the number of notes in the record: what the last line "seen" says, and the notes after it."""
        last = self.data.rfind(_SEEN)
        end = self.data.find(b"\n", last + 1)
        count = self.data[max(last, 0) : end].split(b"\t")[2:] if last >= 0 else []
        is_whole = bool(count) and count[0].isdigit() and self.data[end : end + 2] in (b"\n", b"\n\n")
        return int(count[0]) + self.data.count(b"\n+\t", last) if is_whole else self.data.count(b"\n+\t")

    def _seen_line(self, folder: disk.Folder, count: int) -> tuple[str, ...]:
        return ("seen", self._seen(folder), str(count))

    def _seen(self, folder: disk.Folder) -> str:
        """Return when the folder, and the part for the next note, last got or lost a file; "" if unknown."""
        part = self.next_part()
        try:
            return " ".join([str(folder.handle.stat(name).st_mtime_ns) for name in ((".", part[:-1]) if part else ".")])
        except OSError:
            return ""

    def published(self) -> list[list[str]]:
        """Return the session's notes in order: each one's file name, then the facts in the record."""
        return [line for _, line in self.placed()]

    def placed(self) -> list[tuple[tuple[int, ...], list[str]]]:
        """Return what `published` does, each with the note's numbers: prompt and sequence."""
        longest: dict[str, list[str]] = {}
        for text in self.text.split("\n+\t")[1:]:
            fields, end, _ = text.partition("\n")
            line = fields.split("\t")
            if end and len(line) >= len(longest.get(line[0], ())):  # without an end, it is cut off
                longest[line[0]] = line
        placed = ((numbers(name), line) for name, line in longest.items())
        return sorted([(place, line) for place, line in placed if place], key=lambda each: each[0])

    def captured(self) -> set[str]:
        """Return the file names of the notes that hooks of this mdmem published; version 0.1 wrote no line "seen"."""
        lines = self.data.split(b"\n\n")
        return {
            line.split(b"\t", 2)[1].decode("utf-8", "replace")
            for number, line in enumerate(lines[:-1])
            if line[:2] == b"+\t" and lines[number + 1][:5] == b"seen\t"
        }

    def prompt_number(self, prompt_id: str = "") -> int:
        """Return the number of the prompt with this id, or of the last one; 0 before the first."""
        return self.number_of(self.note_id(prompt_id, "prompt") if prompt_id else "")

    def number_of(self, prompt_note: str) -> int:
        """Return the number of the prompt whose note has this id, or of the last one; 0 before the first."""
        name = self.name_of(prompt_note) if prompt_note else ""
        if name:
            return numbers(name)[0]
        places = (numbers(f"{name}.md") for name in self.names_with("-000-"))
        return next((place[0] for place in places if place and not place[1]), 0)

    def skip_prompt(self, name: str) -> None:
        """Use up a number for a prompt that is not stored. name: identifies the prompt, so that it takes only one."""
        if f"\nskipped\t{name}\n".encode() not in self.data:
            self.append("=", f"{self.prompt_number() + 1:03d}-000-")
            self.append("skipped", name)

    def next_sequence(self, prompt: int) -> int:
        """Return the next free number within a prompt; the prompt itself is 0."""
        places = (numbers(f"{name}.md") for name in self.names_with(f"\t{prompt:03d}-"))
        return next((place[1] + 1 for place in places if place and place[0] == prompt), 1)

    def name_room(self, folder: disk.Folder, part: str) -> int:
        """Return the maximum length of a note's name in this folder, after the part that `next_part` returns."""
        above = len(os.path.relpath(folder.path, self.config.vault)) + 1 + len(part)
        return min(MAX_NAME_BYTES, MAX_PATH_CHARS - above)

    def next_part(self) -> str:
        """Return the subfolder for the next note, with a slash; "" while there are few notes."""
        count = self._count()
        if count < _FEW:
            return ""
        from mdmem.vault import layout

        return layout.part_for(count)

    def publish(self, folder: disk.Folder, name: str, built: note.Note) -> None:
        """Write a note under its name, and record it before ("?") and after ("+").

        So a hook that was killed in between differs from a note that its owner deleted.

        Raises OSError when it cannot be stored.
        """
        if "/" in name:  # numbers are looked up by names without a part
            self.append("=", f"{numbers(name)[0]:03d}-{numbers(name)[1]:03d}-")
        self.append("?", name)
        try:
            disk.create(folder, name, note.render(built).encode("utf-8", "replace"), durable=self.config.durable)
        except disk.NotSyncedError as error:
            from mdmem import log

            log.write(self.config, "a note is stored, but may not survive a power cut", error)
        self._append([("+", name, *facts(built)), self._seen_line(folder, self._count() + 1)])


def _lacks_page(folder: disk.Folder) -> bool:
    """Whether the folder still needs its page; with notes but no page, the owner has deleted it."""
    return not journal.page_in(folder) and not any(map(numbers, folder.names()))


def _line(fields: tuple[str, ...]) -> bytes:
    text = "\t".join([field.replace("\t", " ").replace("\n", " ").replace("\r", " ") for field in fields])
    return f"\n{text}\n".encode("utf-8", "replace")


def _has_gap(data: bytes, start: int) -> bool:
    """Whether a line of a record is missing or cut off, as on a full disk: then one lacks the newline at its end."""
    return data.count(b"\n", start) != 2 * data.count(b"\n\n", start) + 2


def _highest_numbers(names: Iterable[str]) -> list[str]:
    """Return the highest number of each prompt, the last prompt last, so that numbering continues after all of them."""
    highest: dict[int, int] = {}
    for prompt, sequence in filter(None, map(numbers, names)):
        highest[prompt] = max(sequence, highest.get(prompt, 0))
    starts = [f"{prompt:03d}-{sequence:03d}-" for prompt, sequence in sorted(highest.items())]
    return [*starts[:-1], f"{max(highest):03d}-000-", starts[-1]] if starts else []


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def folder_words(title: str) -> str:
    """Return the readable part of a session folder's name, at most 40 bytes."""
    return note.cut_bytes(slug(title), _WORDS_BYTES)


# -- the facts that the record keeps of a note ---------------------------------------------------------------


def facts(built: note.Note) -> tuple[str, ...]:
    """Return the facts for the record, so that the session page can be built without rereading the note."""
    meta = built.meta
    success = "0" if meta.get("success") is False else "1"
    changed = "\x1f".join(changed_files(meta)[:_MAX_FILES])
    return (kind_of(meta), str(meta["created"]), success, made_commit(meta), changed)


def made_commit(meta: dict[str, Any]) -> str:
    """Return the commits that a run made, then a colon and the last one's subject."""
    commits, subject = str(meta.get("made_commit", "")), str(meta.get("commit_subject", ""))
    return f"{commits}: {subject}" if commits and subject else commits


def kind_of(meta: dict[str, Any]) -> str:
    """Return a note's kind, or "subagent" for a sub-agent's answer."""
    kind = str(meta.get("kind", "observation"))
    return "subagent" if kind == "response" and meta.get("subagent") else kind


def changed_files(meta: dict[str, Any]) -> list[str]:
    """Return the files that a note's tool changed; reads and searches change none."""
    files = meta.get("files")
    if not isinstance(files, list) or not aliases.changes_files(str(meta.get("tool", ""))):
        return []
    return [str(item) for item in files]
