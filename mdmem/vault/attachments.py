"""Files beside notes, such as images: which may be part of a vault by their names, and which have some words in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mdmem.vault import disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.settings import Settings

HOME = "notes/"
"""Every file in this folder is part of the vault."""

TYPES = (".canvas", ".base")
"""Obsidian's own files are part of the vault wherever they lie."""

EDITOR_SETTINGS = ".obsidian/"
OF_ONE_MACHINE = (".obsidian/workspace", ".obsidian/cache")
"""What the editor keeps of windows and searches: another machine has its own."""

LITTER = ("~", ".tmp", ".part", ".crdownload", "/thumbs.db", "/desktop.ini", "/icon\r")
"""Ends of paths of files that programs leave behind for a while."""

PICTURES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "bmp": "image/bmp",
}  # fmt: skip
"""The ending of a picture that holds no script -> its type."""

NOT_WALKED = frozenset(["journal", "internal", "templates"])
"""Folders at the top that people put no files in."""


def is_visible(path: str, settings: Settings) -> bool:
    """Whether a file may be part of the vault by its name: not hidden, and nothing that is left behind."""
    if path.startswith(EDITOR_SETTINGS):
        return settings.sync.obsidian and not path.startswith(OF_ONE_MACHINE) and "/." not in path
    name = f"/{path}"
    return not path.endswith("/") and "/." not in name and "/~$" not in name and not name.lower().endswith(LITTER)


def is_at_home(path: str) -> bool:
    """Whether a file is part of the vault whether or not a note links to it."""
    return path.startswith((HOME, EDITOR_SETTINGS)) or path.endswith(TYPES)


def named(root: str, text: str, settings: Settings) -> list[str]:
    """Return the attachments with all these words in their names, sorted by path."""
    words = text.casefold().split()
    return sorted(
        path
        for path in _walk(root)
        if words and is_visible(path, settings) and all(word in path.rpartition("/")[2].casefold() for word in words)
    )


def _walk(root: str) -> Iterator[str]:
    """Yield every file that is not a note, outside of hidden folders and of what machines write."""
    for folder, folders, names in os.walk(root):
        prefix = os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        prefix = "" if prefix == "./" else prefix
        folders[:] = [name for name in folders if name[0] != "." and (prefix or name not in NOT_WALKED)]
        yield from (prefix + name for name in names if prefix and not name.endswith(disk.NOTE_ENDINGS))
        yield from (name for name in names if not prefix and name.endswith(TYPES))
