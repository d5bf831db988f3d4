"""Segment file: an open segment file that is read in slices, only as needed.

A memory map would load, and count, the pages around every list that is read: at a hundred thousand notes, most of the
index. And reading a map of a file that was truncated in the meantime kills the process.
"""

from __future__ import annotations

import mmap
import os
import zlib

from mdmem.search.index.layout import DamagedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import SupportsIndex


_CHUNK_BYTES = 1024 * 1024
_HAS_PREAD = hasattr(os, "pread")


class SegmentFile:
    """The bytes of a file, through `len` and slices without a step. Still readable after the file is removed."""

    def __init__(self, path: str) -> None:
        self._size = 0
        self._number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        state = os.fstat(self._number)
        self._size, self.mtime_ns = state.st_size, state.st_mtime_ns
        self._map = None
        if not _HAS_PREAD and self._size:
            self._map = mmap.mmap(self._number, 0, access=mmap.ACCESS_READ)

    def __del__(self) -> None:
        number = getattr(self, "_number", -1)
        if number >= 0:
            os.close(number)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice[SupportsIndex | None, SupportsIndex | None, None]) -> bytes:
        start, end, _ = part.indices(self._size)
        size = max(end - start, 0)
        if self._map is not None:
            return self._map[start : start + size]
        data = os.pread(self._number, size, start)
        while len(data) < size:  # one call returns at most 2 GB
            more = os.pread(self._number, size - len(data), start + len(data))
            if not more:
                raise DamagedError("one of its files was cut short")
            data += more
        return data

    def checksum(self) -> int:
        """Return the CRC-32 of the whole file."""
        checksum = 0
        for chunk in self._chunks():
            checksum = zlib.crc32(chunk, checksum)
        return checksum

    def _chunks(self) -> Iterator[bytes]:
        for start in range(0, self._size, _CHUNK_BYTES):
            yield self[start : start + _CHUNK_BYTES]
