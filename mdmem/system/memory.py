"""Telling the C library to give freed memory back to the system, for processes that run for long."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE_BYTES = 128 * 1024


def give_back() -> None:
    """Have what is large given back to the system as soon as it is free, and what is now, where the C library is glibc.

    It learns otherwise from each large table that is freed to keep the next ones, and does so for every thread.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library
        library = ctypes.CDLL(None)
        for name, value in ((_MMAP_THRESHOLD, _LARGE_BYTES), (_TRIM_THRESHOLD, _LARGE_BYTES), (_ARENA_MAX, 1)):
            library.mallopt(name, value)
        library.malloc_trim(0)
