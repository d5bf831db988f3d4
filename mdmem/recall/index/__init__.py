"""The index: what is found without reading the vault. A cache: it can be deleted, and is made anew."""

from __future__ import annotations

from mdmem.recall.index.catchup import Changes, glance, rebuild, update
from mdmem.recall.index.check import Report, verify
from mdmem.recall.index.layout import NEW, DamagedError
from mdmem.recall.index.resolve import resolve
from mdmem.recall.index.store import current

__all__ = ["NEW", "Changes", "DamagedError", "Report", "current", "glance", "rebuild", "resolve", "update", "verify"]
