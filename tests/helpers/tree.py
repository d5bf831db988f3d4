"""What lies below folders in which a server or a background process may be at work: files come and go meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def entries(*folders: Path) -> Iterator[Path]:
    """Yield every folder and file below `folders`; what is gone by the time it is reached is left out."""
    for top in folders:
        for folder, names, files in os.walk(top):
            yield from (Path(folder, name) for name in (*names, *files))


def contents(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every regular file below `folders` and what is in it."""
    for path in entries(*folders):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            yield path, path.read_bytes()
        except FileNotFoundError:
            continue  # it was there for a moment
