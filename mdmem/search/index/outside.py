"""The index brought up to date for a process that goes on, which holds until its end what it once held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.errors import BusyError
from mdmem.search.index import catchup, completion
from mdmem.search.index.store import opened

if TYPE_CHECKING:
    from collections.abc import Collection

    from mdmem.config import Config

MANY_NOTES, MANY_PATHS = 10_000, 256
"""Every file of a vault of more notes, or more files of it than this, are looked at by another process."""


def takes_memory(config: Config, files: int | None = None) -> bool:
    """Whether an update of the index is work for a process that ends. files: how many changed, None: unknown."""
    if files is not None and files <= MANY_PATHS:
        return False
    view = opened(config)
    return max(view.live if view else 0, files or 0) > MANY_NOTES


def update_outside(
    config: Config, *, paths: Collection[str] | None = None, wait_seconds: float = catchup.WAIT_SECONDS
) -> None:
    """Update the index as `catchup.update` does, in a process of its own where that takes memory.

    Raises BusyError as `catchup.update`, and when the other process fails.
    """
    if not takes_memory(config, None if paths is None else len(paths)):
        catchup.update(config, paths=paths, wait_seconds=wait_seconds)
    elif not completion.run(config):
        raise BusyError(f"The index in {config.index_dir} could not be brought up to date. Try again in a moment.")
