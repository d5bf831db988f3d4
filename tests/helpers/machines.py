"""Several machines with one vault, and what they have in common."""

from __future__ import annotations

import re
from pathlib import Path

from mdmem import config
from mdmem.config import Config
from mdmem.history import sync
from mdmem.history.space import clone
from tests.helpers.history_vault import git

MARKS = re.compile(rb"mdmem:both|^(<{4,}|>{4,}|\|{4,})|^\S+_other:", re.MULTILINE)
"""Matches whatever a merge could leave for a person to clear away."""


def machine(tmp_path: Path, remote: Path, name: str = "second") -> Config:
    """Return another machine, set up from the remote."""
    clone.clone(str(remote), tmp_path / name)
    return config.load(str(tmp_path / name))


def trees(*machines: Config) -> list[dict[str, bytes]]:
    """Return every file of every machine, without those that a killed writer leaves half-written."""
    return [
        {
            path.relative_to(one.vault).as_posix(): path.read_bytes()
            for path in sorted(Path(one.vault).rglob("*"))
            if path.is_file() and ".git" not in path.parts and path.suffix != ".tmp"
        }
        for one in machines
    ]


def settle(*machines: Config) -> None:
    """Sync until all machines have everything."""
    for one in (*machines, *machines[:-1]):  # the last one has everything after the first round
        sync.sync(one)


def unpacked(folder: Path) -> str:
    """Return all objects of a repository as text."""
    return git(folder, "cat-file", "--batch-all-objects", "--batch", "--buffer")
