"""Rights: lets the tests' process meet permissions as a user does, also if root runs it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION = 0x20080522
_OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def drop() -> None:
    """Drop them for good for the program that this process starts next, as `preexec_fn` of `subprocess.run`."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise PermissionError("root's rights cannot be dropped here")


@contextmanager
def of_a_user() -> Iterator[None]:
    """Within the block, modes of files apply to root as well; programs that it starts have all its rights again."""
    if os.getuid() != 0:
        yield
        return
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        get, put = libc.capget, libc.capset
    except (OSError, AttributeError):
        pytest.skip("root's rights cannot be dropped here")
    header, data = _Header(_VERSION, 0), (_Data * 2)()
    assert get(ctypes.byref(header), data) == 0
    before = data[0].effective
    data[0].effective &= ~_OVERRIDE
    assert put(ctypes.byref(header), data) == 0
    try:
        yield
    finally:
        data[0].effective = before
        assert put(ctypes.byref(header), data) == 0
