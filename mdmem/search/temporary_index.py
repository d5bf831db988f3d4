"""Temporary index: in the private runtime folder, for a process that cannot use the one in mdmem's cache folder.

It is deleted when the process ends; the next one deletes those of killed processes.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from mdmem import files
from mdmem.errors import VaultError
from mdmem.search.index import OtherVersionError, scan
from mdmem.vault import leftovers

if TYPE_CHECKING:
    from mdmem.config import Config

MOST_NOTES = 3_000
"""A larger vault is not indexed for a single process: each search would take too long."""

_replacements: dict[str, str] = {}
"""Folder of an index that cannot be used -> folder that this process uses instead."""


def use(config: Config, error: OSError | OtherVersionError) -> bool:
    """Use an index of this process's own; False if its folder cannot be created, or it is in use already.

    error: why the usual index cannot be used.

    Raises VaultError, or the OtherVersionError, when the vault is too large.
    """
    if config.index_dir in _replacements.values():
        return False
    if len(scan.newest(config.vault, MOST_NOTES + 1)) > MOST_NOTES:
        if isinstance(error, OtherVersionError):
            raise error
        raise VaultError(
            f"{error.filename or 'The index'} cannot be read ({error.strerror}), and the vault is too large to be"
            " searched without an index. `mdmem doctor --only state` says what to do."
        ) from error
    if config.index_dir not in _replacements:
        try:
            files.make_folder(config.runtime_dir)
            leftovers.reap_folders(config.runtime_dir, leftovers.STOPGAP)
            folder = tempfile.mkdtemp(prefix=f"{leftovers.STOPGAP}{os.getpid()}-", dir=config.runtime_dir)
        except OSError:
            return False
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _replacements[config.index_dir] = f"{folder}/index"
    config.index_dir = _replacements[config.index_dir]
    return True
