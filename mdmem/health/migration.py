"""Migrate what a vault of an earlier version has in another layout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmem import plural
from mdmem.config import Config
from mdmem.health import HealthFinding, fine, warning
from mdmem.health.scope import CheckScope
from mdmem.history.git import repository
from mdmem.history.merging import both
from mdmem.vault import MAX_PATH_CHARS, disk, journal, layout, note


def pages(config: Config, scope: CheckScope) -> Iterator[HealthFinding]:
    """Find session pages with the file name of version 0.1, `session.md`, and rename them after their folders."""
    if scope.paths is not None and not any(path.endswith(f"/{journal.FORMER_PAGE}") for path in scope.paths):
        return
    old = former_pages(Path(config.vault))
    if old:
        text = f"{plural.number(len(old), 'session page')} {'is' if len(old) == 1 else 'are'} still called session.md."
        todo = "`mdmem doctor --fix` names each like its folder and updates the links to it."
        yield warning(text, todo, partial(rename_pages, config))
    else:
        yield fine("every session's page is named like its folder")


def former_pages(root: Path) -> list[Path]:
    """Return the session pages called `session.md` whose new name is free, or taken by the same session's page.

    A machine with version 0.1 that goes on with a session brings its page back after another has renamed it.
    """
    pages = (root / folder / journal.FORMER_PAGE for folder in layout.sessions(str(root)))
    existing = (path for path in pages if os.path.isfile(path))  # noqa: PTH113 - it raises nothing if unreadable
    return sorted(path for path in existing if not _named(path).exists() or _page_id(path) == _page_id(_named(path)))


def _named(page: Path) -> Path:
    return page.with_name(f"{page.parent.name}.md")


def _page_id(page: Path) -> object:
    return note.parse(page.read_bytes()).meta.get("id", page)


def rename_pages(config: Config) -> None:
    """Rename the pages, shorten folders whose path would be too long, and update the links in every note.

    Bytes outside links stay as they are. The links come first: while a page has its former name, running this again
    after an interruption updates those that are left.
    """
    root = Path(config.vault)
    targets: dict[Path, Path] = {}
    moved: dict[bytes, bytes] = {}
    for page in former_pages(root):
        folder = page.parent
        target = folder.with_name(fitting(folder.relative_to(root).as_posix()).rpartition("/")[2])
        if target.exists() or target in targets.values() or _named(page).exists():
            target = folder
        targets[page] = target
        moved[f"{folder.name}/{page.name}".encode()] = f"{target.name}/{target.name}.md".encode()
        if target != folder:
            moved[f"{folder.name}/".encode()] = f"{target.name}/".encode()
    if moved:
        update_links(config, moved)
    for page, target in targets.items():
        if _named(page).exists():
            _join(config, page)
            continue
        if target != page.parent:
            page.parent.rename(target)
        (target / page.name).rename(target / f"{target.name}.md")


def _join(config: Config, page: Path) -> None:
    """Merge a page with its session's renamed one, as a sync does, and delete it."""
    path = _named(page).relative_to(config.vault).as_posix()
    with disk.open_parent(config.vault, path) as folder:
        folder.lock()
        ours, theirs = (disk.read(folder, name) or b"" for name in (_named(page).name, page.name))
        merged = both.merge_note(repository.open_vault(config.vault), path, ours, None, theirs)
        if merged and disk.replace(folder, _named(page).name, ours, merged.data, durable=config.durable):
            disk.remove(folder, page.name)


def fitting(folder: str) -> str:
    """Return a session folder's path, with its words shortened until its page's path is short enough."""
    parent, _, name = folder.rpartition("/")
    excess = len(journal.page_paths(folder)[0]) - MAX_PATH_CHARS
    head, _, after_time = name.partition("-")
    words, _, tag = after_time.rpartition("-")
    if excess <= 0 or not words:
        return folder
    room = max(len(words) - (excess + 1) // 2, 0)
    cut = words[:room] if words[room : room + 1] == "-" else words[:room].rpartition("-")[0]  # at a word boundary
    return f"{parent}/{head}-{cut}-{tag}" if cut else f"{parent}/{head}-{tag}"


def update_links(config: Config, moved: dict[bytes, bytes]) -> None:
    """Replace the former names in the links of every note by the new ones."""
    for entry in disk.walk(config.vault):
        data = disk.readable(config.vault, entry.path)
        new = data or b""
        for old, name in moved.items():
            new = new.replace(old, name)
        if data is not None and new != data:
            with disk.open_parent(config.vault, entry.path) as folder:
                disk.replace(folder, entry.path.rpartition("/")[2], data, new, durable=config.durable)
