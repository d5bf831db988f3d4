"""Files beside notes, such as images: which may belong to a vault, and which match some words by name."""

from __future__ import annotations

import os
import posixpath

from mdmem.vault import JOURNAL, NOTES, disk, links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.settings import Settings

HOME = f"{NOTES}/"
"""Every file in this folder belongs to the vault."""

TYPES = (".canvas", ".base")
"""Obsidian's own files belong to the vault wherever they are."""

EDITOR_SETTINGS = ".obsidian/"
OF_ONE_MACHINE = (".obsidian/workspace", ".obsidian/cache")
"""The editor's state of windows and searches: each machine has its own."""

LITTER = ("~", ".tmp", ".part", ".crdownload", ".nextcloud", ".owncloud", "/thumbs.db", "/desktop.ini", "/icon\r")
"""Endings of paths of temporary and system files, and of placeholders of sync programs (`unreadable.real_name`)."""

PICTURES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "bmp": "image/bmp",
}  # fmt: skip
"""File ending -> type, of picture formats that cannot contain scripts."""

NOT_WALKED = frozenset([JOURNAL, "internal", "templates"])
"""Top folders in which people put no files."""


def is_visible(path: str, settings: Settings) -> bool:
    """Whether a file's name allows it in a vault: neither hidden nor a temporary or system file."""
    if path.startswith(EDITOR_SETTINGS):
        return settings.sync.obsidian and not path.startswith(OF_ONE_MACHINE) and "/." not in path
    name = f"/{path}"
    return not path.endswith("/") and "/." not in name and "/~$" not in name and not name.lower().endswith(LITTER)


def needs_no_link(path: str) -> bool:
    """Whether a file belongs to the vault even if no note links to it."""
    return path.startswith((HOME, EDITOR_SETTINGS)) or path.endswith(TYPES)


def with_words(root: str, text: str, settings: Settings) -> list[str]:
    """Return the attachments whose names contain all these words, sorted by path."""
    words = text.casefold().split()
    return sorted(
        path
        for path in _walk(root)
        if words and is_visible(path, settings) and all(word in path.rpartition("/")[2].casefold() for word in words)
    )


def named(root: str, name: str, folder: str, settings: Settings) -> Iterator[str]:
    """Yield where the file may be that a wikilink in a note in `folder` names, as Obsidian looks for it.

    From the top of the vault, from the note, and then wherever a path ends so in any case, the shortest one first.
    """
    yield posixpath.normpath(name)
    yield posixpath.normpath(posixpath.join(folder, name))
    end = name.lower()
    alike = (path for path in _walk(root) if is_visible(path, settings) and end in links.endings(path.lower()))
    yield from sorted(alike, key=lambda path: (path.count("/"), path))


def _walk(root: str) -> Iterator[str]:
    """Yield every file that is not a note, outside hidden and generated folders."""
    for folder, folders, names in os.walk(root):
        prefix = os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        prefix = "" if prefix == "./" else prefix
        folders[:] = [name for name in folders if name[0] != "." and (prefix or name not in NOT_WALKED)]
        yield from (prefix + name for name in names if prefix and not name.endswith(disk.NOTE_ENDINGS))
        yield from (name for name in names if not prefix and name.endswith(TYPES))
