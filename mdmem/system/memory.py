"""Make the C library return freed memory to the system, in long-running processes."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE_BYTES = 128 * 1024


def release_free_memory() -> None:
    """Return free memory to the system, now and whenever a large block is freed, if the C library is glibc.

    By default glibc keeps more memory after each large block that is freed, separately for every thread.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library
        library = ctypes.CDLL(None)
        for name, value in ((_MMAP_THRESHOLD, _LARGE_BYTES), (_TRIM_THRESHOLD, _LARGE_BYTES), (_ARENA_MAX, 1)):
            library.mallopt(name, value)
        library.malloc_trim(0)
