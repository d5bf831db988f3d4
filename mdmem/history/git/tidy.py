"""Pack the repository in the background when enough has gathered."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.history.git import lock, repository
from mdmem.history.git.repository import Repository

LOOSE_OBJECTS = 5_000
"""Number of loose objects from which on they are packed: about as many notes, with a commit per turn."""

PACKS = 50

COMMITS = 200
"""Number of commits from which on git writes a commit-graph, which speeds up the log of a file."""

LARGE_PACK = "256m"
"""Packs larger than this are not repacked; the multi-pack-index covers them."""

ABANDONED_SECONDS = 86_400.0
"""A temporary file this old belongs to a killed git."""

HALF_WRITTEN = ("[0-9a-f][0-9a-f]/tmp_obj_*", "pack/tmp_*", "pack/.tmp-*", "info/commit-graphs/tmp_*")
"""Patterns of git's incomplete files in `objects`."""


def tidy(config: Config) -> bool:
    """Pack the repository if enough has gathered; False when another process is packing.

    Commits need not wait for it: git keeps unreachable objects that are younger than two weeks.

    Raises:
        VaultError: when the vault is not a repository.
        GitError: when git fails.
    """
    repo = repository.open_vault(config.vault)
    limits = {
        "gc.auto": LOOSE_OBJECTS,
        "gc.autoPackLimit": PACKS,
        "gc.bigPackThreshold": LARGE_PACK,
        "pack.threads": 1,
        "commitGraph.changedPaths": "true",
        "maintenance.commit-graph.auto": COMMITS,
    }
    settings = [word for key, value in limits.items() for word in ("-c", f"{key}={value}")]
    try:
        with lock.held(config.state_dir, repo.common_dir, "gc", wait_seconds=0):
            repository.run(repo, *settings, "gc", "--auto", "--quiet")
            repository.run(repo, *settings, "maintenance", "run", "--auto", "--quiet", "--task=commit-graph")
            if _unlisted(repo) >= PACKS // 2:  # asked with --auto, git 2.39 packs the largest pack again as well
                repository.run(repo, *settings, "maintenance", "run", "--quiet", "--task=incremental-repack")
    except BusyError:
        return False
    return True


def abandoned(config: Config) -> list[Path]:
    """Return unfinished files of killed git processes, a day old or more; a full `git gc` would remove them.

    Raises VaultError when the vault is not a repository.
    """
    objects = repository.open_vault(config.vault).common_dir / "objects"
    unfinished: list[Path] = []
    for path in (path for pattern in HALF_WRITTEN for path in objects.glob(pattern)):
        with suppress(OSError):  # deleted meanwhile
            if time.time() - path.lstat().st_mtime > ABANDONED_SECONDS:
                unfinished.append(path)
    return unfinished


def remove_abandoned(config: Config) -> None:
    """Remove the abandoned files. Raises VaultError when the vault is not a repository."""
    for path in abandoned(config):
        with suppress(OSError):
            path.unlink()


def _unlisted(repo: Repository) -> int:
    """Return the number of packs that the multi-pack-index does not list."""
    packs = repo.common_dir / "objects" / "pack"
    try:
        with (packs / "multi-pack-index").open("rb") as file:
            listed = int.from_bytes(file.read(12)[8:], "big")
    except FileNotFoundError:
        listed = 0
    return sum(1 for _ in packs.glob("*.pack")) - listed
