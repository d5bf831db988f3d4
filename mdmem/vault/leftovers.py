"""Leftovers: temporary files of killed writers, and empty folders."""

from __future__ import annotations

import os
import stat

from mdmem import system
from mdmem.errors import VaultError
from mdmem.vault import disk

STOPGAP = "search-index-"
"""Beginning of the name of a folder for the own index of a process that cannot read the usual one; then its id."""
TEMP_SECONDS = 3600
"""A temporary file this old belongs to a killed writer."""


def is_temp(name: str) -> bool:
    """Whether a file name is that of a writer's temporary file."""
    number, _, suffix = name[1:].partition("-")
    plain = name.startswith(".") and suffix.endswith(".tmp") and suffix[:-4].isdigit()
    return plain and number != "" and set("0123456789abcdef").issuperset(number)


def reap(root: str, now: float) -> int:
    """Delete leftover temporary files; return how many there were."""
    removed = 0
    folders: list[tuple[str, ...]] = [()]
    while folders:
        parts = folders.pop()
        try:
            with disk.open_folder(root, parts) as folder:
                subfolders, count = _reap_in(folder, now)
        except (OSError, VaultError):
            continue  # deleted meanwhile, or unreadable
        folders += [(*parts, name) for name in subfolders]
        removed += count
    return removed


def _reap_in(folder: disk.Folder, now: float) -> tuple[list[str], int]:
    """Delete leftovers in one folder; return its subfolders, without hidden ones, and how many files were deleted."""
    subfolders, removed = list[str](), 0
    for name in folder.names():
        try:
            state = folder.handle.stat(name)
            if stat.S_ISDIR(state.st_mode) and not name.startswith("."):
                subfolders.append(name)
            elif stat.S_ISREG(state.st_mode) and is_temp(name) and now - state.st_mtime > TEMP_SECONDS:
                folder.handle.remove(name)
                removed += 1
        except OSError:
            continue  # gone already
    return subfolders, removed


def reap_folders(root: str, prefix: str) -> int:
    """Delete the folders named PREFIX, the id of a process that has ended, and more; return how many there were."""
    names = [name for name in system.names_in(root) if name.startswith(prefix)]
    owners = {name: name.removeprefix(prefix).partition("-")[0] for name in names}
    orphans = [name for name, owner in owners.items() if not (owner.isdecimal() and system.is_running(int(owner)))]
    if orphans:
        import shutil

        for name in orphans:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
    return len(orphans)


def remove_empty(root: str, folders: list[str], least: int = 1) -> None:
    """Delete a folder of the vault if it is empty, then its parents likewise; the first `least` parts stay."""
    while len(folders) > least:
        *folders, name = folders
        try:
            with disk.open_folder(root, tuple(folders)) as parent:
                parent.handle.remove_folder(name)
        except (OSError, VaultError):
            return
