"""Pack a session's notes into one file, and unpack it again, without changing a byte of a note."""

from __future__ import annotations

import itertools
import re
import shlex

from mdmem.errors import VaultError
from mdmem.vault import disk, front_matter, journal, layout, leftovers, note, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from mdmem.config import Config

MAX_BYTES = 16 * 1024 * 1024
"""A session with more text is not packed."""

ADDED = "archive"
"""Base name of the note for text that somebody wrote into an archive outside its notes."""

_KEPT = ("title", "created", "ended", "project", "session", "agent")
_TEXT = """
# {title}

{count} notes of one session, packed by `mdmem archive`. mdmem finds, shows and cites each one as before; `mdmem archive --undo {year}` takes them apart.
"""  # noqa: E501 - a paragraph of Markdown is one line
_COUNTS = re.compile(r"\d+ notes of one session, packed by `mdmem archive`\..*")


def sessions(root: str, year: str, project: str) -> list[str]:
    """Return the folders of a year's unpacked sessions, vault-relative; project: only this journal folder."""
    folders = layout.sessions(root, project)
    return sorted(folder for folder in folders if layout.archive_of(folder) and layout.day_of(folder)[:4] == year)


def packed_sessions(root: str, year: str, project: str) -> Iterator[str]:
    """Yield the folders of a year's packed sessions, vault-relative; project: only this journal folder."""
    for path in sorted(layout.archives(root, project)):
        folder = disk.archived_folder(root, path)
        if folder and layout.day_of(folder)[:4] == year:
            yield folder


def read(root: str, folder: str) -> dict[str, bytes]:
    """Return the notes of a session, by name. Raises VaultError with the reason why they cannot be packed."""
    notes: dict[str, bytes] = {}
    for name in sorted(disk.names_in(root, folder)):
        data = disk.read_path(root, f"{folder}/{name}") if disk.is_note_path(name, ours=False) else None
        if data is None:
            raise VaultError(f"it contains {name}, which is not a note")
        if not packed.can_hold(data):
            raise VaultError(f"{name} contains the line that separates packed notes")
        notes[name] = data
    if sum(map(len, notes.values())) > MAX_BYTES:
        raise VaultError(f"it has more than {MAX_BYTES // 1024**2} MiB of text")
    return notes


def pack(config: Config, folder: str, notes: dict[str, bytes]) -> list[str]:
    """Write a session's notes into one file, then delete their own; return the changed paths.

    A note that is edited meanwhile keeps its file, which takes precedence over the packed one. Run it again after an
    interruption.

    Raises OSError or VaultError when the vault cannot be written.
    """
    target = layout.archive_of(folder)
    archive_name = target.rpartition("/")[2]
    data = render(folder, notes)
    with disk.open_parent(config.vault, target, create=True, durable=config.durable) as parent:
        disk.replace(parent, archive_name, disk.read(parent, archive_name), data, durable=config.durable)
        written = disk.read(parent, archive_name) == data
    if not written:
        raise VaultError(f"{target} is being changed by another program")
    with disk.open_folder(config.vault, tuple(folder.split("/"))) as session:
        for name, text in notes.items():
            if disk.read(session, name) == text:
                disk.remove(session, name)
    for emptied in {f"{folder}/{name}".rpartition("/")[0] for name in notes} | {folder}:
        leftovers.remove_empty(config.vault, emptied.split("/"), least=2)
    return [target, *(f"{folder}/{name}" for name in notes)]


def render(folder: str, notes: dict[str, bytes]) -> bytes:
    """Return the archive of these notes, given by name; the session's page comes first."""
    page = journal.page_of(notes, folder)
    order = [page, *(name for name in notes if name != page)] if page else list(notes)
    return packed.render(_head(folder, notes, page), ((name, notes[name]) for name in order))


def _head(folder: str, notes: dict[str, bytes], page: str) -> bytes:
    meta = _head_meta(folder, notes, page)
    text = _TEXT.format(title=note.one_line(meta["title"]), count=len(notes), year=layout.day_of(folder)[:4])
    return (front_matter.render(meta) + text).encode("utf-8", "replace")


def _head_meta(folder: str, notes: dict[str, bytes], page: str) -> dict[str, Any]:
    meta = note.parse(notes[page]).meta if page else {}
    title = str(meta.get("title") or folder.rpartition("/")[2])
    copied = {key: meta[key] for key in _KEPT if key in meta}
    return {"id": note.make_id("archive", folder), "kind": "archive", "title": title, **copied, "tags": ["archive"]}


def contents(folder: str, data: bytes, taken: Collection[str] = ()) -> dict[str, bytes]:
    """Return an archive's notes by name, with an extra note for text that somebody wrote beside them.

    taken: names that the extra note must not get.
    """
    notes = packed.parse(data)
    own_meta = _head_meta(folder, notes, journal.page_of(notes, folder))
    header, body, _ = front_matter.split(front_matter.text_of(packed.without_notes(data)))
    meta = {key: value for key, value in front_matter.read(header or "")[0].items() if own_meta.get(key) != value}
    if note.is_made_id(meta.get("id")):
        del meta["id"]  # made from the folder's former name
    heading = f"# {note.one_line(own_meta['title'])}"
    words = "\n".join(line for line in body.split("\n") if line != heading and not _COUNTS.fullmatch(line)).strip()
    if meta or words:
        names = (f"{ADDED}-{number}.md" if number > 1 else f"{ADDED}.md" for number in itertools.count(1))
        name = next(name for name in names if name not in notes and name not in taken)
        notes[name] = ((front_matter.render(meta) if meta else "") + words + "\n").encode()
    return notes


def unpack_archive_of(config: Config, path: str) -> list[str]:
    """Unpack the archive that contains a note, if it is packed; return the changed paths.

    Raises OSError or VaultError when the vault cannot be written.
    """
    return unpack(config, layout.folder_of(path)) if disk.is_packed(config.vault, path) else []


def file_of(config: Config, path: str) -> str:
    """Return the file that holds a note: its own, or that of the archived session it is packed in; vault-relative."""
    return layout.archive_of(layout.folder_of(path)) if disk.is_packed(config.vault, path) else path


def notice(config: Config, path: str) -> str:
    """Return a sentence on what changing this note does to its archive; "" when it is not packed."""
    if not disk.is_packed(config.vault, path):
        return ""
    year = layout.day_of(path)[:4]
    return f"This unpacks its archived session; `mdmem archive {year}` packs it again."


def unpack(config: Config, folder: str) -> list[str]:
    """Write a session's packed notes as single files; return the changed paths.

    Existing files are not overwritten. Text that somebody wrote into the archive becomes a note too.

    Raises OSError or VaultError when the archive has lost its end, or the vault cannot be written.
    """
    target = layout.archive_of(folder)
    data = disk.read_file(config.vault, target) or b""
    if packed.is_cut_off(data):
        raise VaultError(f"{target} has lost its end, and so notes. {restoring(target)}")
    notes = contents(folder, data, disk.names_in(config.vault, folder))
    with disk.open_folder(config.vault, tuple(folder.split("/")), create=True, durable=config.durable) as session:
        for name, text in notes.items():
            disk.create(session, name, text, durable=config.durable)
    *archive_folder, archive_name = target.split("/")
    with disk.open_parent(config.vault, target) as parent:
        if disk.read(parent, archive_name) != data:
            raise VaultError(f"{target} is being changed by another program")
        parent.handle.remove(archive_name)
    leftovers.remove_empty(config.vault, archive_folder, least=2)
    return [target, *(f"{folder}/{name}" for name in notes)]


def restoring(path: str) -> str:
    """Return a sentence on how to restore a damaged archive from history."""
    return f"In the vault's folder, `git checkout HEAD -- {shlex.quote(path)}` restores it."


def unpack_session(config: Config, session: str, most: int | None = None) -> tuple[str, ...]:
    """Unpack the archive of a session with this id; return its folder's path as parts, () without an archive.

    most: search only this many folders of days, the latest ones.

    Raises OSError or VaultError when the vault cannot be written.
    """
    tails = tuple(f"-{tag}" for tag in journal.session_tags(session))
    for path in layout.archives(config.vault, most=most):
        folder = layout.archived_in(path)
        if folder.endswith(tails) and _session_in(config, path) == session:
            unpack(config, folder)
            return tuple(folder.split("/"))
    return ()


def _session_in(config: Config, path: str) -> str:
    """Return the session id in an archive's front matter, "" without one."""
    return str(front_matter.of(disk.read_file(config.vault, path)).get("session", ""))
