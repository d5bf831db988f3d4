"""Changing notes at a person's word: written only where the file still is what was looked at, then committed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from mdmem import vault
from mdmem.config import Config
from mdmem.errors import VaultError
from mdmem.history import commit
from mdmem.history.commit import Result


class Step(NamedTuple):
    """One file to change. before: its bytes now, None when it is missing; after: what it shall be, None for gone."""

    path: str
    before: bytes | None
    after: bytes | None


class Applied(NamedTuple):
    """What became of the steps: paths that were changed, paths that somebody changed meanwhile, the commit."""

    changed: list[str]
    skipped: list[str]
    result: Result


def apply(config: Config, steps: Iterable[Step], text: str) -> Applied:
    """Take the steps, and commit them as one commit with this message.

    Raises:
        VaultError, BusyError, GitError: as `commit.commit`; what was changed stays changed.
        OSError: when the disk refuses.
    """
    changed: list[str] = []
    skipped: list[str] = []
    for step in steps:
        (changed if take(config, step) else skipped).append(step.path)
    return Applied(changed, skipped, commit.commit_paths(config, changed, text))


def take(config: Config, step: Step) -> bool:
    """Change one file; False when it is no longer what it was."""
    *folders, name = step.path.split("/")
    durable = config.settings["capture.durability"] == "power"
    try:
        with vault.open_folder(config.vault, tuple(folders), create=step.after is not None) as folder:
            if step.after is not None:
                return vault.replace(folder, name, step.before, step.after, durable=durable)
            if vault.read(folder, name) != step.before:
                return False
            os.unlink(name, dir_fd=folder.fd)
    except (FileNotFoundError, VaultError):
        return False
    _remove_empty(config.vault, folders)
    return True


def _remove_empty(root: str, folders: list[str]) -> None:
    """Remove the folders that are empty now; those at the top of the vault stay."""
    while len(folders) > 1:
        *folders, name = folders
        try:
            with vault.open_folder(root, tuple(folders)) as above:
                os.rmdir(name, dir_fd=above.fd)
        except (OSError, VaultError):
            return
