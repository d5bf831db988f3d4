"""The index brought up to date for a process that goes on, which holds until its end what it once held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.errors import BusyError
from mdmem.search.index import catchup, completion
from mdmem.search.index.store import opened

if TYPE_CHECKING:
    from collections.abc import Collection

    from mdmem.config import Config

MANY_NOTES, MANY_PATHS = 20_000, 256
"""Every file of a vault of more notes, or more files of it than this, are looked at by another process."""


def update_outside(
    config: Config, *, paths: Collection[str] | None = None, wait_seconds: float = catchup.WAIT_SECONDS
) -> None:
    """Update the index as `catchup.update` does, in a process of its own where that takes memory.

    Raises:
        BusyError: as `catchup.update`, and when the other process fails.
    """
    view = opened(config)
    is_much = paths is None or len(paths) > MANY_PATHS
    if not is_much or view is None or view.live <= MANY_NOTES:
        catchup.update(config, paths=paths, wait_seconds=wait_seconds)
    elif not completion.run(config):
        raise BusyError(f"The index in {config.index_dir} could not be brought up to date. Try again in a moment.")
