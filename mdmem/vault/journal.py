"""Find sessions and projects in the journal: by its folders, and faster by records in the state folder.

The folders are the truth. A session's record in the user's state folder is a cache: a list of lines that only
grows. The write half appends these kinds:

    start TAB seconds TAB source            the session began, was resumed or compacted
    folder TAB journal/project/…/name       where its notes are; the last such line counts
    ? TAB name                              about to be published
    + TAB name TAB kind TAB created TAB ... published
    = TAB 001-002-                          a number that is taken without a line of its own for a note
    skipped TAB hash                        a prompt that took a number, but is not stored
    private TAB lines TAB key               how much its private memory holds
    cron TAB hash                           a prompt that the host will send by itself
    end TAB seconds TAB reason

Modules of `capture` add lines for their own use: `asked`, `hidden` and `told`, `judged`, `left-behind`, `open`
and `shut`, `shell`, `transcript`, `unseen`. Lines of an unknown kind are skipped.
"""

from __future__ import annotations

import os

from mdmem import files, timestamps
from mdmem.hashing import sha256, short
from mdmem.hook_errors import VaultError
from mdmem.vault import JOURNAL, disk, front_matter, is_in_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from mdmem.agents import Event
    from mdmem.config import Config
    from mdmem.project import Project

FORMER_PAGE = "session.md"
"""File name of session pages in version 0.1; `doctor --fix` renames them after their folders."""
PRIVATE = "private"
"""Kind of the lines in a session's record that say how much its private memory holds."""
PROJECT_PAGE = "project.md"
RECALLED = "recalled:"
"""Beginning of the marks in a session's `given` file for prompts that got what they asked for."""

_MAX_GIVEN_BYTES = 2 * 1024 * 1024
_ID = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:")
_HEX_AND_DASH = frozenset("0123456789abcdefABCDEF-")


def recalled_mark(prompt: str) -> str:
    """Return the mark in a session's `given` file for a prompt that got what it asked for."""
    return f"{RECALLED}{short(prompt.strip(), 10)}"


class Record:
    """The record of one session of one agent; a missing file is an empty record.

    key: its name in the state folder. path: its file. data: its bytes. Each line begins and ends with a newline,
    so that a line truncated by a full disk or a kill does not spoil others.
    """

    __slots__ = ("_end", "_inode", "_searched", "data", "id", "key", "path")

    def __init__(self, config: Config, session: str, path: str = "") -> None:
        """Read the record of the session with this id, or the one in the file `path`."""
        self.id = session
        self.key = short(session, 16)
        self.path = path or os.path.join(config.state_dir, "sessions", self.key)
        self.data = b""
        self._end = self._inode = 0
        self._searched: dict[bytes, tuple[int, int]] = {}
        self.read()

    def read(self) -> None:
        """Read what was added since the last read; if the file is gone, keep what is known."""
        try:
            fd = files.open_to_read(self.path)
        except OSError:
            return
        try:
            state = os.fstat(fd)
            if state.st_ino != self._inode or state.st_size < self._end:
                self.data, self._end, self._inode = b"", 0, state.st_ino
                self._searched.clear()
            if state.st_size > self._end:
                os.lseek(fd, self._end, os.SEEK_SET)  # Windows has no `pread`
                added = os.read(fd, state.st_size - self._end)
                self.data = self.data + added if self.data else added
                self._end += len(added)
        except OSError:
            pass  # a folder, or a failing disk: keep what is known
        finally:
            os.close(fd)

    @property
    def text(self) -> str:
        """Return the whole record."""
        return self.data.decode("utf-8", "replace")

    def lines(self, kind: str) -> list[list[str]]:
        """Return the fields, without the kind, of all complete lines of one kind, oldest first."""
        begin = f"\n{kind}\t".encode()
        found: list[list[str]] = []
        start = self.data.find(begin) if self.last(begin) >= 0 else -1
        while start >= 0 and (end := self.data.find(b"\n", start + 1)) >= 0:
            found.append(self.data[start + len(begin) : end].decode("utf-8", "replace").split("\t"))
            start = self.data.find(begin, end)
        return found

    def last(self, part: bytes) -> int:
        """Return where `part` last begins in the record, -1 if nowhere.

        The record only grows, so another search for the same part needs to look only at what was added since.
        """
        end, at = self._searched.get(part, (0, -1))
        if end < len(self.data):
            at = max(at, self.data.rfind(part, max(0, end - len(part))))
            if at >= 0:
                self._searched[part] = len(self.data), at
        return at

    @property
    def folder(self) -> tuple[str, ...]:
        """Return the parts of the vault-relative folder of its notes; () when the record does not know it."""
        begin = self.last(b"\nfolder\t") + 8
        end = self.data.find(b"\n", begin)
        if begin < 8 or end < 0:
            return ()
        parts = tuple(self.data[begin:end].decode("utf-8", "replace").split("/"))
        return parts if len(parts) > 3 and parts[0] == JOURNAL else ()

    def flag(self, name: str) -> str:
        """Return the path of a marker file of this session in the state folder."""
        return f"{self.path}.{name}"

    def given(self) -> frozenset[str]:
        """Return ids of notes given to the session and still in its context, and other marks."""
        return frozenset(files.try_read_own(self.flag("given"), _MAX_GIVEN_BYTES).decode("utf-8", "replace").split())

    def name_of(self, note_id: str) -> str:
        """Return the file name under which a note was or was about to be published; "" when unknown."""
        tail = f"-{note_id}.md"
        return next((name for name in self.names_with(tail) if name.endswith(tail) and numbers(name)), "")

    def names_with(self, part: str) -> Iterator[str]:
        """Yield file names, or on `=` lines their beginnings, from the lines that contain `part`, newest first."""
        searched = part.encode()
        end = self.last(searched)
        while end >= 0:
            start, stop = self.data.rfind(b"\n", 0, end) + 1, self.data.find(b"\n", end)
            kind, _, fields = self.data[start : stop if stop >= 0 else len(self.data)].partition(b"\t")
            if kind in (b"?", b"+", b"="):
                yield fields.partition(b"\t")[0].decode("utf-8", "replace")
            end = self.data.rfind(searched, 0, start)

    def published_with(self, part: str) -> list[str]:
        """Return the file names of published notes whose lines contain `part`, oldest first."""
        searched = part.encode()
        names = []
        at = self.data.find(searched)
        while at >= 0 and (end := self.data.find(b"\n", at)) >= 0:
            start = self.data.rfind(b"\n", 0, at) + 1
            if self.data.startswith(b"+\t", start):
                names.append(self.data[start + 2 : end].partition(b"\t")[0].decode("utf-8", "replace"))
            at = self.data.find(searched, end)
        return names

    def is_published(self, name: str) -> bool:
        """Whether a note with this file name was published."""
        line = b"\n+\t" + name.encode()
        return self.data.rfind(line + b"\t") >= 0 or self.data.rfind(line + b"\n") >= 0


def session_id(event: Event) -> str:
    """Return a session's id as the agent sent it, or a hash if it is malformed, too long or looks like a secret.

    Every note of the session contains the id.
    """
    raw = event.session
    if not raw:
        return f"{event.agent}-without-session"
    return raw if _is_uuid(raw) or _is_plain_id(raw) else _uuid_of(raw)


def _uuid_of(raw: str) -> str:
    """Hash an id into the form of a UUID: the gate takes other random strings of this length for secrets."""
    digits = sha256(raw.encode("utf-8", "surrogatepass")).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text[8:24:5] == "----" and _HEX_AND_DASH.issuperset(text)


def _is_plain_id(text: str) -> bool:
    if len(text) > 128 or not _ID.issuperset(text):
        return False
    from mdmem import privacy

    return bool(privacy.clean(text, origin="tool").value == text)


def numbers(name: str) -> tuple[int, ...]:
    """Parse prompt number and sequence from a note's file name, with or without a part; () for other files."""
    leaf = name[name.rfind("/") + 1 :]
    if leaf[3:8:4] == "--" and leaf.endswith(".md"):  # as nearly all names are
        digits = leaf[:3] + leaf[4:7]
        if digits.isdigit() and digits.isascii():
            return int(leaf[:3]), int(leaf[4:7])
    first, _, tail = leaf.partition("-")
    second, dash, rest = tail.partition("-")
    good = dash and name.endswith(".md") and first.isdigit() and second.isdigit() and len(first) < 9 and len(second) < 9
    if not (good and first.isascii() and second.isascii()):
        return ()
    is_page = len(first) == len("HHMM") and len(rest.rpartition("-")[2]) == len("00893aaf.md")  # `404 errors …`
    is_day = len(second) < len("000")  # `2026-09-14 My notes.md`
    return () if is_page or is_day else (int(first), int(second))


def id_in(path: str) -> str:
    """Return a captured note's id from its file name: ten characters after the last dash; "" when there is none."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return stem[-10:] if len(stem) > 11 and stem[-11] == "-" and stem[-10:].isalnum() else ""


# -- sessions --------------------------------------------------------------------------------------


def untitled(created: str) -> str:
    """Return the title for the page of a session without prompts."""
    return f"Session of {created[:10]} {created[11:16]}"


def page_name(folder: str) -> str:
    """Return the file name of a session's page: that of its folder, as editors expect of folder notes."""
    return f"{folder.rpartition('/')[2]}.md"


def page_paths(folder: str) -> tuple[str, str]:
    """Return the two possible vault paths of a folder's page: the current one, and that of version 0.1."""
    return f"{folder}/{page_name(folder)}", f"{folder}/{FORMER_PAGE}"


def is_page(path: str) -> bool:
    """Whether a vault path is that of a session's page, also in a renamed folder."""
    folder, _, name = path.rpartition("/")
    if not is_in_journal(path):
        return False
    if path in page_paths(folder):
        return True
    usual_name = page_name(folder)
    is_own = usual_name.rpartition("-")[2] == name.rpartition("-")[2] or not is_like_a_page(usual_name)
    from mdmem.vault import layout

    return layout.is_session(folder) and is_like_a_page(name) and is_own


def page_of(names: Collection[str], folder: str) -> str:
    """Return the page among the file names in a session's folder; "" when it has none.

    In a renamed folder the page still has the old name.
    """
    for name in (page_name(folder), FORMER_PAGE):
        if name in names:
            return name
    candidates = [name for name in names if is_like_a_page(name)]
    return candidates[0] if len(candidates) == 1 else ""


def is_like_a_page(name: str) -> bool:
    """Whether a file name has the form of a session folder's: time, words, session tag."""
    tag = name.removesuffix(".md").rpartition("-")[2]
    return name.endswith(".md") and name[:4].isdigit() and name[4:5] == "-" and len(tag) == 8 and not numbers(name)


def names_with_parts(folder: disk.Folder) -> list[str]:
    """Return the names in a session's open folder, with those in its parts as `part2/NAME`."""
    names = folder.names()
    parts = [name for name in names if name.startswith("part")]
    if parts:
        from mdmem.vault import layout

        for part in filter(layout.is_part, parts):
            try:
                with folder.below(part) as part_folder:
                    names += [f"{part}/{name}" for name in part_folder.names()]
            except (FileNotFoundError, VaultError):
                continue  # a file or a link with that name
    return names


def page_in(folder: disk.Folder) -> str:
    """Return the file name of the page in a session's open folder; "" when it has none."""
    name = page_name(os.path.basename(folder.path))
    return name if folder.has(name) else page_of(folder.names(), folder.path)


def read_page(root: str, folder: str) -> bytes:
    """Read the page of a session's folder, which may have been renamed; b"" when it has none."""
    name = page_of(disk.names_in(root, folder), folder)
    return (name and disk.read_path(root, f"{folder}/{name}")) or b""


def began(root: str, folder: str) -> float:
    """Return when a session began by its page, or else its first note, in seconds since the epoch; 0 if unknown."""
    try:
        if moment := _created(disk.read_path(root, f"{folder}/{page_name(folder)}")):
            return moment
        first = _first_note(disk.names_in(root, folder))
        return _created(read_page(root, folder)) or _created(disk.read_path(root, f"{folder}/{first}"))
    except (OSError, VaultError):
        return 0.0


def _created(data: bytes | None) -> float:
    return timestamps.epoch(str(front_matter.of(data).get("created", "")))


def event_identity(agent: str, session: str, *event: str) -> tuple[str, ...]:
    """Return the identity of an event: two agents may use the same session and prompt ids.

    Claude Code's name is left out, to keep the ids that existing vaults have.
    """
    return (session, *event) if agent == "claude-code" else (agent, session, *event)


_HEAD_BYTES = 64 * 1024


def parents(transcript: str) -> set[str]:
    """Return the ids of the sessions that a transcript begins with: its own, and those it was forked from.

    transcript: its path; a missing file has none.
    """
    data = files.try_read_any(transcript, _HEAD_BYTES)
    ids = set()
    for name in (b'"sessionId"', b'"forked_from_id"', b'"parent_session_id"'):
        for part in data.split(name)[1:]:
            pieces = part[:200].split(b'"')
            if len(pieces) > 2 and pieces[0].strip() == b":":
                ids.add(pieces[1].decode("utf-8", "replace"))
    return ids


def session_tag(session: str) -> str:
    """Return a session's name of eight characters: the start of a random UUID, else of a hash.

    Only version 4 begins with random digits. Version 7 begins with the time, so that sessions of the same minute
    would share their tag.
    """
    head = session[:8]
    uuid4 = len(session) == 36 and session[14] == "4" and session.count("-") == 4
    return head.lower() if uuid4 and head.isalnum() and head.isascii() else short(session, 8)


def session_tags(session: str) -> tuple[str, str]:
    """Return the possible tags of a session's folder: the usual one, and the one used if another session has that."""
    return session_tag(session), short(session, 8)


MAX_DAYS = 1_000
"""Maximum number of day folders searched for an unknown session while somebody waits."""


def find_session(
    config: Config, session: str, *, renamed: bool = False, days: Iterable[str] | None = None, most: int | None = None
) -> tuple[str, ...]:
    """Return the parts of a session's folder in the vault; () when it has none.

    A folder with an unusual name was renamed by somebody: its page says which session it belongs to.
    renamed: also check the pages of folders with another session's tag.
    days: only sessions that began on these days: `2026-09-14`. most: search only this many day folders, the latest.
    """
    from mdmem.vault import layout

    if days is not None:
        folders = layout.sessions_of(config.vault, days)
    else:
        folders = layout.sessions(config.vault) if most is None else layout.last_sessions(config.vault, most)
    tails = tuple(f"-{tag}" for tag in session_tags(session))
    sessions = list(folders)
    tagged = [folder for folder in sessions if folder.endswith(tails)]
    untagged = (folder for folder in sessions if not folder.endswith(tails))
    others = [folder for folder in untagged if renamed or not is_like_a_page(page_name(folder))]
    matching = next((folder for folder in tagged if session_of(config.vault, folder) in (session, "")), "")
    matching = matching or next((folder for folder in others if session_of(config.vault, folder) == session), "")
    return tuple(matching.split("/")) if matching else ()


def session_of(root: str, folder: str) -> str:
    """Return the id of the session in a folder, from its page, else its first note; "" when neither tells."""
    names = disk.names_in(root, folder)
    for name in filter(None, (page_of(names, folder), _first_note(names))):
        if session := front_matter.of(disk.readable(root, f"{folder}/{name}")).get("session"):
            return str(session)
    return ""


def _first_note(names: Iterable[str]) -> str:
    """Return the name of a session's first note, "" without one."""
    return min(filter(numbers, names), key=numbers, default="")


def session_in(folder: disk.Folder, name: str) -> str:
    """Return the session id in a note's front matter, "" without one."""
    return str(front_matter.of(disk.read(folder, name)).get("session", ""))


# -- projects --------------------------------------------------------------------------------------


def project_page(project: str) -> str:
    """Return the vault path of a project's page. project: its folder's name in the journal."""
    return f"{JOURNAL}/{project}/{PROJECT_PAGE}"


def identity(project: Project) -> str:
    """Return a project's identity: its remote, which is the same on all machines, else its path."""
    return project.remote or f"path:{project.root}"


def recall_project(config: Config, identity: str) -> str:
    """Return a project's folder name from state; "" when it is unknown, or the project's page has changed since."""
    try:
        stamp, _, name = files.read_own(project_pointer(config, identity), 600).decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    plain = name and "/" not in name and not name.startswith(".")
    return name if plain and (stamp == project_stamp(config, name) or has_hidden_page(config, name)) else ""


def has_hidden_page(config: Config, name: str) -> bool:
    """Whether a project's page, which may keep it on this machine, is only hidden, as a sync program has it."""
    from mdmem.vault import unreadable  # only when the page has changed

    return unreadable.why_missing(config.vault, project_page(name)) != ""


def project_pointer(config: Config, identity: str) -> str:
    """Return the state file with the stamp of a project's page and the name of its folder."""
    return os.path.join(config.state_dir, "projects", short(identity, 16))


def project_stamp(config: Config, name: str) -> str:
    """Return mtime, size and inode of a project's page as a text; "" when there is no page."""
    try:
        state = os.stat(os.path.join(config.vault, project_page(name)), follow_symlinks=False)
    except OSError:
        return ""
    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"
