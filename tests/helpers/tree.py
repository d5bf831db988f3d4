"""Lists folders while a server or a background process may be creating and deleting files in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def entries(*folders: Path) -> Iterator[Path]:
    """Yield every folder and file below `folders`. Folders that disappear meanwhile are skipped."""
    for top in folders:
        for folder, names, files in os.walk(top):
            yield from (Path(folder, name) for name in (*names, *files))


def contents(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every regular file below `folders`, with its contents."""
    for path in entries(*folders):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            yield path, path.read_bytes()
        except FileNotFoundError:
            continue  # deleted meanwhile
