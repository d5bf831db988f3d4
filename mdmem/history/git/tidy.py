"""Packing the repository, when there is reason to and nobody waits."""

from __future__ import annotations

from mdmem.config import Config
from mdmem.errors import BusyError
from mdmem.history.git import lock, repository

LOOSE_OBJECTS = 5_000
"""So many unpacked objects are reason enough: about as many notes, in commits of a turn each."""

PACKS = 50


def tidy(config: Config) -> bool:
    """Pack what has gathered, if it is much; False when another process does so already.

    Commits need not wait for it: git keeps what is younger than two weeks, whoever refers to it.

    Raises:
        VaultError: when the vault is no repository.
        GitError: when git fails.
    """
    repo = repository.open_vault(config.vault)
    limits = ("-c", f"gc.auto={LOOSE_OBJECTS}", "-c", f"gc.autoPackLimit={PACKS}", "-c", "pack.threads=1")
    try:
        with lock.held(config.state_dir, "gc", wait_seconds=0):
            repository.run(repo, *limits, "gc", "--auto", "--quiet")
    except BusyError:
        return False
    return True
