"""Check sessions: notes of a wrong clock, and one session in two folders, as when its folder was away for a while.

It was away in `git stash`, or on another branch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmem import timestamps
from mdmem.capture import page
from mdmem.capture.session import Session
from mdmem.config import Config
from mdmem.health import HealthFinding, migration, to_edit, warning
from mdmem.history import pages
from mdmem.vault import disk, journal, note


def wrong_clock(path: str, parsed: note.Parsed) -> Iterator[HealthFinding]:
    """Find that a note was captured while the clock was wrong."""
    created = parsed.fact("created")
    seconds = timestamps.epoch(created)
    is_captured = parsed.meta.get("kind") in (*note.CAPTURED, "session")
    if is_captured and seconds and timestamps.is_impossible(seconds, timestamps.now(os.environ)):
        text = f"{path} has the date {created[:10]}: the clock of this machine was wrong when it was written."
        yield warning(text, f"{to_edit(path)} and correct the line `created`.")


def in_two_folders(config: Config, *paths: str) -> HealthFinding:
    """Find that two pages are those of one session, whose notes can be moved into the folder that has the first."""
    folders = {path.rpartition("/")[0]: path for path in paths}
    places = {name: sorted(filter(None, map(journal.numbers, disk.names_in(config.vault, name)))) for name in folders}
    kept, later = sorted(folders, key=lambda folder: (places[folder][:1], folder))
    text = f"{kept} and {later} are one session."
    names = disk.names_in(config.vault, later)
    is_packed = any(disk.is_packed(config.vault, path) for path in paths)
    is_safe = not (
        any("/" in name for name in (*names, *disk.names_in(config.vault, kept)))
        or set(places[kept]) & set(places[later])
        or pages.is_worded(config.vault, disk.read_path(config.vault, folders[later]) or b"")
        or is_packed
    )
    if not is_safe:
        return warning(text, f"Move their notes into one of them, and delete the other's page: {folders[later]}")
    fix = partial(_join, config, kept, later, folders[later])
    return warning(text, f"`mdmem doctor --fix` moves the notes of the second into {kept}.", fix)


def _join(config: Config, kept: str, later: str, page_path: str) -> None:
    """Move the files of the later folder into the other, and lead links there. Run it again after an interruption."""
    root = Path(config.vault)
    meta = note.parse(journal.read_page(config.vault, kept)).meta
    for file in sorted((root / later).iterdir()):
        target = root / kept / file.name
        if file != root / page_path and not target.exists():
            file.rename(target)
    if [file.name for file in (root / later).iterdir()] == [Path(page_path).name]:
        (root / page_path).unlink()
        (root / later).rmdir()
    migration.update_links(config, {Path(later).name.encode(): Path(kept).name.encode()})
    page.refresh(Session(config, str(meta.get("session", "")), str(meta.get("agent", ""))))
