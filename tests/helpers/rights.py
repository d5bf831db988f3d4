"""Rights: lets the tests' process meet permissions as a user does, also if root runs it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

_VERSION = 0x20080522
_OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _why_not() -> str:
    if os.name == "nt":
        return "On Windows, no mode of a file keeps its owner out."
    is_root = os.getuid() == 0
    return (
        "Root reads every file, and only Linux lets it drop that right." if is_root and sys.platform != "linux" else ""
    )


kept_out = pytest.mark.skipif(_why_not() != "", reason=_why_not())
"""For tests in which a mode keeps the tests' user out of a file."""

gives_away = pytest.mark.skipif(
    os.name == "nt" or os.getuid() != 0,
    reason="Only root can give a file to another user; Windows has no such ids.",
)
"""For tests in which a file belongs to another user."""


def run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program for which modes of files count, also if root runs the tests."""
    try:
        return subprocess.run(words, capture_output=True, text=True, preexec_fn=_drop)
    except subprocess.SubprocessError:
        pytest.skip("This system lets root drop none of its rights, so it reads every file.")


def _drop() -> None:
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise PermissionError("a right cannot be dropped")


@contextmanager
def of_a_user() -> Iterator[None]:
    """Within the block, modes of files apply to root as well; programs that it starts have all its rights again."""
    if os.getuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    get, put = libc.capget, libc.capset
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
