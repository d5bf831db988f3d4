"""Imported: a cache of the files that were imported completely, so that the next run skips them.

One line per file: the hash of its path, its size, its mtime, and the hash of the settings for capture and privacy. A
file that is not listed is read again, which stores nothing twice.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mdmem import files
from mdmem.config import Config
from mdmem.hashing import short

_MAX_BYTES = 16 * 1024 * 1024


class ImportedFiles:
    """The files already imported into one vault; empty if the cache cannot be read."""

    def __init__(self, config: Config, *, again: bool = False) -> None:
        """Load the cache. again: ignore earlier runs."""
        self._path = Path(config.state_dir) / "imports"
        kept = sorted(key for key in config.settings.values if key.startswith(("capture.", "privacy.")))
        self._settings = short(repr([(key, config.settings.values[key]) for key in kept]), 12)
        self.again = again
        self._rows: set[str] = set()
        if not again:
            with suppress(OSError):
                self._rows.update(files.read_own(str(self._path), _MAX_BYTES).decode("ascii", "replace").split("\n"))

    def has(self, path: Path, size: int, changed_ns: int) -> bool:
        """Whether a file was imported in its present state."""
        return self._row(path, size, changed_ns) in self._rows

    def has_now(self, path: Path) -> bool:
        """Whether a file was imported in its present state, reading that from disk; True for a missing file."""
        try:
            facts = path.stat()
        except OSError:
            return True
        return self.has(path, facts.st_size, facts.st_mtime_ns)

    def add(self, path: Path, size: int, changed_ns: int) -> None:
        """Record a file; a failed write only costs time at the next run."""
        row = self._row(path, size, changed_ns)
        if row in self._rows:
            return
        self._rows.add(row)
        with suppress(OSError):
            files.append(str(self._path), f"{row}\n".encode("ascii"))

    def _row(self, path: Path, size: int, changed_ns: int) -> str:
        return f"{short(str(path.resolve()), 20)} {size} {changed_ns} {self._settings}"
