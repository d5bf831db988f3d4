"""Upkeep of the pages by which a vault is walked: start page, project pages, and the links of session pages.

They are made of the index, between markers, after a turn and around a sync; never in a hook. A page whose markers a
person has removed is theirs alone.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import files
from mdmem.errors import MdmemError
from mdmem.search import freshness
from mdmem.vault import disk, generated, journal, note, template
from mdmem.views import listed, project_page, session_page, start_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.search.index.view import View
    from mdmem.views.listed import Listing
    from mdmem.views.sessions import SessionRow

REST = 50
"""In the background, pages are made again after so many times the processor time that it took last."""
_STAMP = "pages"
_SLACK_SECONDS = 2.0


def refresh(config: Config, *, now: float, background: bool = False) -> int:
    """Bring the pages up to date as far as the vault has changed; return how many were written.

    now: seconds since the epoch. background: leave it for later when it was done a moment ago, and say nothing of an
    index that cannot be brought up to date.
    """
    seen, count, cost = _read_stamp(config)
    if background and 0 <= now - seen < REST * cost:
        return 0
    began = time.process_time()
    try:
        freshness.bring_up_to_date(config, wait_seconds=0)
        done = freshness.answered(config, lambda view: _refresh(config, view, seen, count))
    except (MdmemError, OSError):
        if background:
            return 0
        raise
    if done is None:
        return 0
    written, sessions = done
    _write_stamp(config, now, sessions, time.process_time() - began)
    return written


def rebuild(config: Config, *, now: float) -> int:
    """Make all pages anew; return how many were written."""
    files.remove(_stamp(config))
    return refresh(config, now=now)


def _refresh(config: Config, view: View, seen: float, count: int) -> tuple[int, int]:
    found = listed.Listing(config, view)
    every = count > len(found.sessions)  # some are gone: their neighbors link to nothing
    written = sum(_put(config, path, lines) for path, lines in _changed(config, found, 0.0 if every else seen))
    return written, len(found.sessions)


def _changed(config: Config, found: Listing, seen: float) -> Iterator[tuple[str, list[str]]]:
    """Yield the pages that may have to be written: of sessions that changed since `seen`, and of all projects."""
    by_project: dict[str, list[SessionRow]] = {}
    for one in found.sessions:
        if one.page.startswith("journal/") and one.page.count("/") > 3:
            by_project.setdefault(one.page.split("/")[1], []).append(one)
    fresh = _fresh_folders(found.view, seen - _SLACK_SECONDS)
    for held in by_project.values():
        new = [one.page.rpartition("/")[0] in fresh for one in held]
        for place, one in enumerate(held):
            if any(new[max(place - 1, 0) : place + 2]):
                around = (held[place + 1] if place + 1 < len(held) else None, held[place - 1] if place else None)
                was = generated.inside(disk.read_path(config.vault, one.page) or b"")
                yield one.page, session_page.lines(found, one, was, around)
    for name in by_project:
        yield f"journal/{name}/{journal.PROJECT_PAGE}", project_page.lines(found, name)
    yield start_page.PATH, start_page.lines(found)


def _fresh_folders(view: View, seconds: float) -> set[str]:
    """Return the folders of which a note was written since; a time that is not to be relied on is -1."""
    changed, folder_of, folders = view.numbers("mtime_ns"), view.folder_of, view.folders
    since = seconds * 1e9
    return {folders[folder_of[number]] for number in view.all if changed[number] >= since or changed[number] < 0}


def _put(config: Config, path: str, lines: list[str]) -> bool:
    """Write the part between the markers of a page; what a person saves at the same moment is kept."""
    *parts, name = path.split("/")
    old = disk.read_path(config.vault, path)
    if old is None or len(old) >= disk.MAX_READ_BYTES:
        return False
    new = generated.replaced(_with_markers(path, old), lines)
    if new == old:
        return False
    with disk.open_folder(config.vault, tuple(parts)) as folder:
        return disk.replace(folder, name, old, new, durable=config.durable)


def _with_markers(path: str, data: bytes) -> bytes:
    """Return a page that nobody has changed since an earlier version made it with the markers that it lacks."""
    shape = {start_page.PATH: "vault/README.md", journal.PROJECT_PAGE: "notes/project.md"}.get(path.rpartition("/")[2])
    if shape is None or generated.BEGIN.encode() in data:
        return data
    parsed = note.parse(data)
    made = template.fill(template.load(shape), {"title": str(parsed.meta.get("title", ""))})
    marks = f"\n{generated.BEGIN}\n{generated.END}\n"
    return data.rstrip() + b"\n" + marks.encode() if parsed.body.strip() == made.removesuffix(marks).strip() else data


def _stamp(config: Config) -> str:
    return str(Path(config.state_dir, _STAMP))


def _read_stamp(config: Config) -> tuple[float, int, float]:
    """Return when the pages were made last, of how many sessions, and what it cost in seconds; zeros before that."""
    try:
        seen, count, cost = files.read(_stamp(config), 200).split()
        return float(seen), int(count), float(cost)
    except (OSError, ValueError):
        return 0.0, 0, 0.0


def _write_stamp(config: Config, now: float, count: int, cost: float) -> None:
    try:
        files.replace(_stamp(config), f"{now:.3f} {count} {cost:.3f}".encode())
    except OSError:
        return  # the next time all pages are looked at again
