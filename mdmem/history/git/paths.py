"""The paths of all files of a vault, compressed: as strings they would take more memory than most work on them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

AT_ONCE = 1_000
"""Number of paths in a compressed block."""
_LEVEL = 1


class PackedPaths(Collection[str]):
    """A compressed list of paths, in the given order."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._count = 0
        self._packed: list[bytes] = []
        remaining = iter(paths)
        while part := list(islice(remaining, AT_ONCE)):
            self._count += len(part)
            self._packed.append(zlib.compress(os.fsencode("\0".join(part)), _LEVEL))

    def __iter__(self) -> Iterator[str]:
        for part in self._packed:
            yield from os.fsdecode(zlib.decompress(part)).split("\0")

    def __len__(self) -> int:
        return self._count

    def __contains__(self, path: object) -> bool:
        return any(path == own for own in self)
