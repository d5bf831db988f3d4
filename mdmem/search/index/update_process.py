"""Update the index in a process of its own, as a long-running one would keep the memory that a large update takes."""

from __future__ import annotations

from mdmem.errors import BusyError
from mdmem.search.index import catchup, completion
from mdmem.search.index.store import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from mdmem.config import Config

MANY_NOTES, MANY_PATHS = 10_000, 256
"""Checking every file of a vault with more notes, or more changed files, is left to another process."""


def takes_memory(config: Config, files: int | None) -> bool:
    """Whether another process should do an update, to save memory. files: number of changed files (None: unknown)."""
    if files is not None and files <= MANY_PATHS:
        return False
    view = opened(config)
    return max(view.live if view else 0, files or 0) > MANY_NOTES


def update_in_process(
    config: Config, *, paths: Collection[str] | None = None, wait_seconds: float = catchup.WAIT_SECONDS
) -> None:
    """Update the index as `catchup.update` does, in a separate process if it takes much memory.

    Raises BusyError like `catchup.update`, and when the other process fails.
    """
    if not takes_memory(config, None if paths is None else len(paths)):
        catchup.update(config, paths=paths, wait_seconds=wait_seconds)
    elif not completion.run(config):
        raise BusyError(f"The index in {config.index_dir} could not be brought up to date. Try again in a moment.")
