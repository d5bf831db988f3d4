"""The index: finds notes without reading the vault. It is a cache: it can be deleted, and is rebuilt."""

from __future__ import annotations

from mdmem.search.index.catchup import rebuild, repair, update, update_within
from mdmem.search.index.check import Report, verify
from mdmem.search.index.commits import Changes, UpdateLimits
from mdmem.search.index.completion import is_complete
from mdmem.search.index.layout import NEW, DamagedError, OtherVersionError
from mdmem.search.index.pending import glance
from mdmem.search.index.resolve import in_files, path_of_id, resolve, with_id, with_title
from mdmem.search.index.scan_record import EVERY, SHARE, folders_seen, is_large
from mdmem.search.index.store import current, opened
from mdmem.search.index.update_process import takes_memory, update_in_process

__all__ = [
    "EVERY",
    "NEW",
    "SHARE",
    "Changes",
    "DamagedError",
    "OtherVersionError",
    "Report",
    "UpdateLimits",
    "current",
    "folders_seen",
    "glance",
    "in_files",
    "is_complete",
    "is_large",
    "opened",
    "path_of_id",
    "rebuild",
    "repair",
    "resolve",
    "takes_memory",
    "update",
    "update_in_process",
    "update_within",
    "verify",
    "with_id",
    "with_title",
]
