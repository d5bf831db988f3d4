"""Runs mdmem's command line in a Python without POSIX-only features, as on Windows. Started as a program.

Locks work as on Windows: they cover a byte of a file, and are taken through the module `msvcrt`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import errno
import fcntl
import os
import signal
import subprocess  # noqa: F401 - loaded before `msvcrt` exists, whose presence it treats as Windows
import sys
import types
from typing import Any

MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
IN_OS = (
    *("link", "fork", "forkpty", "setsid", "killpg", "getuid", "geteuid", "getgid", "getegid", "fchmod"),
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "statvfs"),
    *("pread", "pwrite", "sync", "fdatasync", "chown", "lchown", "fchown"),
    *("register_at_fork", "sched_getaffinity", "getpgid", "uname", "getloadavg", "nice", "wait", "mkfifo"),
)
IN_SIGNAL = ("setitimer", "getitimer", "SIGALRM", "SIGHUP", "ITIMER_REAL")
THROUGH_FOLDERS = ("open", "stat", "lstat", "unlink", "remove", "mkdir", "rmdir", "rename", "replace", "chmod", "utime")


def _locking(fd: int, mode: int, count: int) -> None:
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN, count, 0, os.SEEK_CUR)
    except BlockingIOError as error:
        raise PermissionError(errno.EACCES, "Permission denied") from error


def _without_folders(name: str) -> None:
    real = getattr(os, name)

    def call(*args: Any, **options: Any) -> Any:
        if any(key.endswith("dir_fd") and value is not None for key, value in options.items()):
            raise NotImplementedError(f"dir_fd unavailable on this platform: {name}")
        return real(*args, **options)

    setattr(os, name, call)


def remove_posix() -> None:
    """Remove everything that only POSIX has."""
    msvcrt = types.ModuleType("msvcrt")
    msvcrt.__dict__.update(LK_NBLCK=2, LK_UNLCK=0, locking=_locking)
    sys.modules["msvcrt"] = msvcrt
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in THROUGH_FOLDERS:
        _without_folders(name)
    os.supports_dir_fd.clear()
    os.supports_fd.clear()
    for module, names in (
        (os, IN_OS),
        (_signal, IN_SIGNAL),
        (signal, IN_SIGNAL),
        (_socket, ("AF_UNIX", "SO_PEERCRED", "socketpair")),
    ):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


if __name__ == "__main__":
    remove_posix()
    from mdmem.__main__ import main

    main()
