"""Group changed files by the session that made them, and write a commit message for each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from mdmem import plural, timestamps
from mdmem.history import attribution, pages
from mdmem.history.attribution import AgentChanges
from mdmem.history.changes import OWN_FILES, Change, is_own
from mdmem.history.git import objects
from mdmem.privacy import withheld
from mdmem.vault import generated, is_in_journal, journal, layout, note, packed, people

MAX_SUBJECT_CHARS = 100
MAX_LISTED = 20

SESSION_FORMAT = "%(trailers:key=Mdmem-Session,valueonly,separator=%x2C)"
"""Format with which `git log` prints the session of a commit."""

COUNTED = {
    "prompt": "prompt",
    "observation": "tool run",
    "response": "answer",
    "summary": "summary",
    "plan": "to-do list",
    "note": "note",
    "decision": "decision",
    "lesson": "lesson",
    "preference": "preference",
    "task": "task",
    "ghost": "ghost memory",
    "agent": "agent memory",
}
"""Kinds that a subject counts, in this order, and what it calls them."""


class File(NamedTuple):
    """A changed file, its bytes (b"" when deleted) and its front matter."""

    change: Change
    data: bytes
    meta: dict[str, object]


class CommitGroup(NamedTuple):
    """The files of one commit.

    session: the one that wrote them; "" for a person's changes, for notes taken out of an archive, and for what an
        agent wrote or changed on purpose. author: that agent, "" for a person. Of a session with nothing but its page:
        who wrote on that, an agent or "hand"; "" for nobody.
    pages: generated pages that the message does not mention: start page, projects, days, other sessions.
    unpacked: the session whose notes were taken out of their archive, which is the last file.
    edited: paths of those among them that have changed since.
    """

    session: str
    files: list[File]
    pages: tuple[File, ...] = ()
    unpacked: str = ""
    edited: frozenset[str] = frozenset()
    author: str = ""


def group(files: list[File], before: Mapping[str, bytes], by_agents: AgentChanges) -> list[CommitGroup]:
    """Group files by session, in order of time; then what agents wrote on purpose; a person's changes come last.

    Pages that changed only in their generated part join the last session, to save a commit of their own.
    before: blob id -> earlier text of the files for which `was_wanted` is true. by_agents: recorded changes of agents.
    """
    sessions: dict[str, list[File]] = {}
    moved = _moved(files)
    unpacked = list(_unpacked(files, before))
    unpacked_paths = {file.change.path for members in unpacked for file in members.files}
    for file in files:
        if file.change.path not in unpacked_paths:
            sessions.setdefault("" if file.change.path in moved else _session_of(file, before), []).append(file)
    by_hand = sessions.pop("", [])
    _move_new_project_pages(by_hand, sessions.values())
    listed = [file for file in by_hand if is_generated(file) and _is_upkeep(file, before)]
    by_hand = [file for file in by_hand if file not in listed]
    alone = {session for session, members in sessions.items() if all(is_generated(file) for file in members)}
    writers = {session: _writer(sessions[session], before, by_agents) for session in alone}
    alone = {session for session in alone if not writers[session]}
    # A session with nothing but its page joins the other pages, unless somebody wrote on it.
    if listed or len(alone) > 1 or len(alone) < len(sessions):
        listed += [file for session in sorted(alone) for file in sessions.pop(session)]
    groups = [
        *unpacked,
        *sorted(
            (CommitGroup(session, members, author=writers.get(session, "")) for session, members in sessions.items()),
            key=happened,
        ),
    ]
    if groups:
        groups[-1] = groups[-1]._replace(pages=tuple(listed))
        listed = []
    groups += [CommitGroup("", [], tuple(listed))] if listed else []
    authors: dict[str, list[File]] = {}
    for file in by_hand:
        author = "" if file.change.path in moved else _author(file) or _changer(file, by_agents)
        authors.setdefault(author, []).append(file)
    return [*groups, *(CommitGroup("", authors[name], author=name) for name in sorted(authors, reverse=True))]


def _author(file: File) -> str:
    """Return the agent that wrote a new note on purpose, or a memory of its own; "" for a person's change."""
    if note.is_internal(file.change.path, file.meta.get("kind", "")) and file.change.kind != "deleted":
        return "an agent"
    return attribution.name(str(file.meta.get("agent") or "")) if file.change.kind == "added" else ""


def _changer(file: File, by_agents: AgentChanges) -> str:
    """Return the agent that made all that has changed in a note; "" if a person had a part in it."""
    old = file.change.oid
    if old not in by_agents.of:
        return ""
    return attribution.agent_of(by_agents, file.change.path, old, objects.blob_id(file.data, old))


def _move_new_project_pages(by_hand: list[File], sessions: Collection[list[File]]) -> None:
    """Move each new project's page to the session that created it: by its folder, or by a run in another project."""
    for file in [file for file in by_hand if file.change.kind == "added" and file.meta.get("kind") == "project"]:
        folder, name = file.change.path.removesuffix("project.md"), layout.project_of(file.change.path)
        creators = (members for members in sessions if any(_is_of(each, folder, name) for each in members))
        creator = next(creators, None)
        if creator:
            by_hand.remove(file)
            creator.append(file)


def _is_of(file: File, folder: str, project: str) -> bool:
    return file.change.path.startswith(folder) or file.meta.get("project") == project


def _unpacked(files: list[File], before: Mapping[str, bytes]) -> Iterator[CommitGroup]:
    """Yield the notes of each session whose archive is gone because a change, or its going on, unpacked it."""
    added = {file.change.path: file for file in files if file.change.kind == "added"}
    for archive in files:
        folder = layout.archived_in(archive.change.path) if archive.change.kind == "deleted" else ""
        archived = packed.parse(before.get(archive.change.oid, b"")) if folder else {}
        paths = [f"{folder}/{name}" for name in archived if f"{folder}/{name}" in added]
        if paths:
            notes = [added[path] for path in paths]
            session = next((str(file.meta["session"]) for file in notes if file.meta.get("session")), "")
            edited = frozenset(path for path in paths if added[path].data != archived[layout.split(path)[1]])
            yield CommitGroup("", [*notes, archive], (), session, edited)


def is_upkeep(members: CommitGroup, before: Mapping[str, bytes]) -> bool:
    """Whether a group changes only the generated parts of pages. before: as for `group`."""
    return all(is_generated(file) and _is_upkeep(file, before) for file in members.files)


def _is_upkeep(file: File, before: Mapping[str, bytes]) -> bool:
    """Whether a page changed only in its generated part, or got one; also True when its earlier text is unknown."""
    earlier = before.get(file.change.oid)
    if earlier is None or pages.with_generated(earlier, file.data) == file.data:
        return True
    text = generated.outside(file.data.decode("utf-8", "surrogateescape"))
    return text.strip() == earlier.decode("utf-8", "surrogateescape").strip()


def _writer(session_pages: list[File], before: Mapping[str, bytes], by_agents: AgentChanges) -> str:
    """Return who wrote on a session's page: an agent, or "hand"; "" for nobody.

    mdmem itself changes only the generated part, and a title that is a placeholder.
    """
    for page in session_pages:
        earlier = note.parse(before.get(page.change.oid, b"")).meta
        placeholders = (journal.untitled(str(earlier.get("created", ""))), withheld.MARK)
        is_untitled = earlier.get("title") in placeholders
        if not is_untitled and not _is_upkeep(page, before):
            return _changer(page, by_agents) or "hand"
    return ""


def was_wanted(file: File) -> bool:
    """Whether only a file's earlier text can tell mdmem's change of it from a person's."""
    if file.change.kind == "deleted":
        return bool(layout.archived_in(file.change.path))
    is_changed = file.change.kind == "changed"
    return is_generated(file) or (is_changed and file.meta.get("kind") in note.CAPTURED)


def is_generated(file: File) -> bool:
    """Whether a changed file is a page with a generated part, which may be all that changed.

    A new page of a day counts too.
    """
    path, kind = file.change.path, file.meta.get("kind")
    listed = path == "README.md" or kind in ("project", "day") or journal.is_page(path)
    changed = file.change.kind == "changed" or (file.change.kind == "added" and kind == "day")
    return changed and listed and generated.lines_of(file.data.decode("utf-8", "surrogateescape")) is not None


def render(members: CommitGroup, root: str) -> str:
    """Render the commit message of a group: subject, prompts or changed files, trailers."""
    if members.unpacked:
        return _unpacking(members, root)
    if not members.session:
        return _changes(members.files, members.author or "hand") if members.files else _pages(members.pages)
    title = _session_title(members, root)
    asks = [str(file.meta.get("title", "")) for file in members.files if file.meta.get("kind") == "prompt"]
    project = _project(members)
    if len(asks) == 1:
        title = asks[0]  # distinguishes single turns of a session
    kinds = counts(str(file.meta.get("kind")) for file in members.files)
    kinds = kinds or (f"{_SESSION_PAGE}, by {members.author}" if members.author else _SESSION_PAGE)
    return f"{_subject(project, title, kinds)}\n{_list(map(note.one_line, asks), len(asks))}\n{_trailers(members)}"


def _list(rows: Iterable[str], total: int) -> str:
    """Write the first rows as a list below an empty line, and the number of the others; "" for none."""
    lines = list(islice(rows, MAX_LISTED))
    lines += [f"and {total - MAX_LISTED} more"] if total > MAX_LISTED else []
    return "".join(["\n", *(f"- {line}\n" for line in lines)]) if lines else ""


def _unpacking(members: CommitGroup, root: str) -> str:
    count = plural.number(len(members.files) - 1, "note")
    subject = _subject(_project(members), _session_title(members, root), f"unpacked: {count}")
    edited = (f"edit {_name(file)}" for file in members.files if file.change.path in members.edited)
    return f"{subject}\n{_list(edited, len(members.edited))}"


def _project(members: CommitGroup) -> str:
    names = (note.one_line(str(file.meta["project"]), 40) for file in members.files if file.meta.get("project"))
    return next(names, "")


def happened(members: CommitGroup) -> float:
    """Return when the newest note of a session was created; 0 for a person's changes, or when no note says it."""
    if not members.session:
        return 0.0
    return max(timestamps.epoch(str(file.meta.get("created", ""))) for file in members.files)


def _moved(files: list[File]) -> set[str]:
    """Return the added files whose content is that of a deleted one: a person has moved them."""
    deleted_ids = {file.change.oid for file in files if file.change.kind == "deleted"}
    example = next(iter(deleted_ids), "")
    added = (file for file in files if deleted_ids and file.change.kind == "added")
    return {file.change.path for file in added if objects.blob_id(file.data, example) in deleted_ids}


def _session_of(file: File, before: Mapping[str, bytes]) -> str:
    """Return the session a file belongs to; "" where a person changed a captured note since, and outside the journal.

    A note in `notes/` with a session's id is a person's or was written on request: undoing the session leaves it.
    """
    if not is_in_journal(file.change.path):
        return ""
    machine_written = file.change.kind == "added" or (
        file.change.kind == "changed"
        and (journal.is_page(file.change.path) or file.meta.get("kind") == "session" or _is_recaptured(file, before))
    )
    return note.one_line(str(file.meta.get("session") or "")) if machine_written else ""


def _is_recaptured(file: File, before: Mapping[str, bytes]) -> bool:
    """Whether mdmem has stored a note again, as with a sub-agent's late answer: it has a new digest, which it matches.

    A person's edit leaves the digest as it was.
    """
    now, earlier = note.parse(file.data), note.parse(before.get(file.change.oid, b""))
    return people.is_captured(now) and now.meta["digest"] != earlier.meta.get("digest")


def _session_title(members: CommitGroup, root: str) -> str:
    titles = {str(file.meta.get("kind")): str(file.meta.get("title") or "") for file in reversed(members.files)}
    if "session" not in titles:
        folder = layout.folder_of(members.files[0].change.path)
        meta = note.parse(journal.read_page(root, folder) if folder else b"").meta
        titles["session"] = "" if people.stays_here(meta) else str(meta.get("title") or "")
    return titles["session"] or titles.get("prompt") or f"Session {journal.session_tag(members.session)}"


def counts(every: Iterable[str]) -> str:
    """Count notes by kind, as subjects do: `1 prompt, 4 tool runs`."""
    kinds = Counter(every)
    return ", ".join(plural.number(kinds[kind], name) for kind, name in COUNTED.items() if kinds[kind])


def _subject(project: str, title: str, kinds: str) -> str:
    head, tail = f"{project}: " if project else "", f" ({kinds})"
    return head + _cut(note.one_line(title), MAX_SUBJECT_CHARS - len(head) - len(tail)) + tail


def _cut(line: str, chars: int) -> str:
    """Shorten a line with an ellipsis, after a word unless that loses more than half of the allowed length."""
    if len(line) <= chars:
        return line
    words = line[:chars].rpartition(" ")[0]
    return f"{words if len(words) > chars // 2 else line[: chars - 1]}…"


def _trailers(members: CommitGroup) -> str:
    lines = [f"Mdmem-Session: {members.session}"]
    for key in ("project", "agent"):
        values = {note.one_line(str(file.meta[key])): None for file in members.files if file.meta.get(key)}
        lines += [f"Mdmem-{key.capitalize()}: {value}" for value in values]
    return "\n".join(lines) + "\n"


VERBS = {"added": "add", "changed": "edit", "deleted": "delete"}


_PAGES = "Pages: "
_SESSION_PAGE = "session page"


def names_pages(subject: str) -> bool:
    """Whether a commit with this subject changes only pages."""
    return subject.startswith(_PAGES) or subject.endswith(f" ({_SESSION_PAGE})")


def _pages(files: Sequence[File]) -> str:
    """Write the commit message for generated pages: start page, projects, days, sessions."""
    parts = ["start page"] if any(file.change.path == "README.md" for file in files) else []
    counted = {kind: sum(file.meta.get("kind") == kind for file in files) for kind in ("project", "day")}
    counted["session"] = sum(journal.is_page(file.change.path) for file in files)
    parts += [plural.number(count, name) for name, count in counted.items() if count]
    return f"{_PAGES}{', '.join(parts)}\n"


def _changes(files: list[File], author: str) -> str:
    if all(file.change.path in OWN_FILES or file.change.path == "README.md" for file in files):
        return f"Vault: {', '.join(file.change.path for file in files)}\n"
    kinds = Counter(file.change.kind for file in files)
    moved = _moved(files)
    noun = "note" if all(is_own(file.change.path) for file in files) else "file"
    if len(moved) == kinds["added"] == kinds["deleted"] == len(files) / 2:
        return f"By hand: move {plural.number(len(moved), noun)}\n"
    if len(files) == 1:
        subject = f"By {author}: {VERBS[files[0].change.kind]} {_name(files[0])}"
    else:
        counts = [f"{VERBS[kind]} {plural.number(kinds[kind], noun)}" for kind in VERBS if kinds[kind]]
        subject = f"By {author}: {', '.join(counts)}"
    rows = (f"{VERBS[file.change.kind]} {_name(file)}" for file in files)
    return f"{note.one_line(subject, MAX_SUBJECT_CHARS)}\n{_list(rows, len(files)) if len(files) > 1 else ''}"


def _name(file: File) -> str:
    return note.one_line(str(file.meta.get("title") or file.change.path))
