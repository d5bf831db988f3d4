"""Counts the notes created today without the index, which takes longer to load than a status line may take.

It counts what the home screen counts: notes, no pages or internal memories, by the time in their front matter. Only
files written today are read: those of folders that got a file today.
"""

from __future__ import annotations

import os
import time

from mdmem import timestamps
from mdmem.vault import JOURNAL, disk, is_in_journal, journal, layout, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config

_HEAD_BYTES = 8 * 1024
_CAPTURED_BYTES = 2 * 1024
"""The size of a captured note's beginning that has its kind and time."""
_UNCOUNTED = frozenset([*note.PAGES, *note.INTERNAL])


def count(config: Config, now: float) -> int:
    """Return the number of notes created on this local day.

    Notes of a session that began before yesterday count only if this machine stored one of them today.
    """
    year, month, day = time.localtime(now)[:3]
    begin, end = (time.mktime((year, month, day + days, 0, 0, 0, 0, 0, -1)) for days in (0, 1))
    return sum(begin <= _created(config.vault, path, mtime) < end for path, mtime in _written(config, now, begin))


def _written(config: Config, now: float, since: float) -> Iterator[tuple[str, float]]:
    """Yield path and mtime of the files written since."""
    root = config.vault
    ours = os.path.exists(f"{root}/mdmem.toml")
    days = layout.days_anywhere(since - 1, now)
    for folder in dict.fromkeys([*layout.sessions_of(root, days), *_recorded(config, since)]):
        yield from _below(root, folder, since)
    for name in layout.projects(root):
        yield from _in(root, f"{JOURNAL}/{name}", since)
    yield from (file for file in _in(root, "", since) if disk.is_note_path(file[0], ours=ours))
    for name in layout.folders(root):
        if name not in (JOURNAL, "internal") and not (ours and name == "templates"):
            yield from _below(root, name, since)


def _recorded(config: Config, since: float) -> Iterator[str]:
    """Yield the folders of the sessions that this machine has stored an event of since."""
    try:
        with os.scandir(os.path.join(config.state_dir, "sessions")) as scan:
            recent = [item.path for item in scan if "." not in item.name and item.stat().st_mtime >= since]
    except OSError:
        return
    for path in recent:
        if folder := journal.Record(config, "", path).folder:
            yield "/".join(folder)


def _below(root: str, folder: str, since: float) -> Iterator[tuple[str, float]]:
    yield from _in(root, folder, since)
    for name in layout.folders(f"{root}/{folder}"):
        yield from _below(root, f"{folder}/{name}", since)


def _in(root: str, folder: str, since: float) -> Iterator[tuple[str, float]]:
    """Yield path and mtime of a folder's Markdown files written since; a folder got none if it has not changed."""
    prefix = f"{folder}/" if folder else ""
    try:
        if os.stat(f"{root}/{folder}").st_mtime < since:
            return
        with os.scandir(f"{root}/{folder}") as scan:
            files = [item for item in scan if item.name.endswith(disk.NOTE_ENDINGS) and item.name[:1] != "."]
        regular = [item for item in files if item.is_file(follow_symlinks=False)]  # opening a named pipe would wait
        times = [(item.name, item.stat(follow_symlinks=False).st_mtime) for item in regular]
    except OSError:
        return
    yield from ((prefix + name, mtime) for name, mtime in times if mtime >= since)


def _created(root: str, path: str, mtime: float) -> float:
    """Return when a note was created, in seconds since the epoch; 0 for what is not counted."""
    try:
        with open(f"{root}/{path}", "rb") as file:
            data = file.read(_HEAD_BYTES)
            if created := _captured(path, data):
                return created
            if data.startswith(b"---") and b"\n---" not in data[3:]:
                data += file.read()
    except OSError:
        return 0.0
    meta = note.parse(data).meta
    if note.kind_of(meta).lower() in _UNCOUNTED:
        return 0.0
    if created := timestamps.epoch(str(meta.get("created", ""))):
        return created
    from mdmem.vault import creation  # `datetime` is slow to load, and hooks write a plain time

    moment = creation.when_made(meta, path)
    return moment.timestamp() if moment else mtime


def _captured(path: str, data: bytes) -> float:
    """Return when a captured note was created, without parsing it, which is slow for many; 0 if it is another note."""
    if not (is_in_journal(path) and journal.numbers(path) and data.startswith(b"---\n")):
        return 0.0
    head = data[:_CAPTURED_BYTES].partition(b"\n---")[0]
    kind, created = (head.partition(key)[2].partition(b"\n")[0] for key in (b"\nkind: ", b"\ncreated: "))
    is_captured = kind.decode("utf-8", "replace") in note.CAPTURED
    return timestamps.epoch(created.decode("utf-8", "replace")) if is_captured else 0.0
