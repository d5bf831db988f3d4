"""The committer's lock: processes queue for it, and git subprocesses keep it when mdmem is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import files, system
from mdmem.errors import LockedError

if TYPE_CHECKING:
    from mdmem.history.git.repository import Repository


@contextmanager
def held(state_dir: str | Path, common_dir: Path, name: str = "git", wait_seconds: float = 60.0) -> Iterator[int]:
    """Hold the lock `name` for the `with` block; yields its descriptor.

    It is two files: one in the vault's git folder, for a container or a user with another state folder, and one in
    the state folder, as the vault's disk may have no locks; the descriptor is that of the first, if it has some.

    Pass the descriptor to git processes that write (`repository.run(lock_fd=...)`) and to no others: when we are
    killed, the lock is free once the last of them has ended, never before.

    Raises LockedError when it is not free within `wait_seconds`.
    """
    files.make_folder(str(state_dir))
    end = time.monotonic() + wait_seconds
    what = f"Waiting for another mdmem process that uses the vault's history ({name})"
    with ExitStack() as opened:
        in_state, in_vault = Path(state_dir, f"{name}.lock"), common_dir / f"mdmem.{name}-lock"
        locks = []
        for file in (in_state, in_vault, in_vault):
            locks.append(_open(file))
            opened.callback(os.close, locks[-1])
        for lock in locks[:2]:
            if not files.lock(lock, round(end - time.monotonic(), 1), what):
                raise LockedError(
                    f"Another mdmem process has been using the vault's history ({name}) for {wait_seconds:g} seconds. "
                    "Nothing is lost: the next commit includes these notes."
                )
        has_no_locks = system.lock(locks[2])  # a disk with locks refuses another descriptor of the file
        yield locks[0 if has_no_locks else 1]


def _open(file: Path) -> int:
    """Open a lock. One that is made in another user's folder, as by `sudo mdmem`, can be held by that user too."""
    try:
        lock = files.open_lock(str(file))
    except PermissionError:
        return os.open(file, os.O_RDONLY)  # another user's, as of a container: to lock it, no more is needed
    if not system.own(file.parent.stat()):
        with suppress(PermissionError):  # a disk that keeps no modes
            os.fchmod(lock, 0o644)  # whatever the umask
    return lock


def of_git(repo: Repository) -> list[Path]:
    """Return git's locks: those of killed processes block other gits, some every commit, and some its packing."""
    own_locks = [repo.git_dir / name for name in ("index.lock", "HEAD.lock")]
    packing = ("objects/maintenance.lock", "objects/info/commit-graphs/commit-graph-chain.lock")
    shared = [repo.common_dir / name for name in ("config.lock", "packed-refs.lock", *packing)]
    locks = (lock for lock in (*own_locks, *shared) if lock.exists())
    return [*locks, *sorted((repo.common_dir / "refs").rglob("*.lock"))]
