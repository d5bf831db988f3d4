"""Moved: a vault that was moved or renamed keeps its state folder.

The state folder's name depends on the vault's path. Without its old state, a pause would end unnoticed, private text
of running sessions would no longer be recognized, and queued notes would be stored nowhere.
"""

from __future__ import annotations

import os

from mdmem import files
from mdmem.hashing import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.hook_errors import VaultError

_NAME = "vault"
"""File in the state folder: the vault's stamp and path."""

_REFLOG_BYTES = 1024
_RECORD_BYTES = 8192


def remember(state_dir: str, vault: str) -> None:
    """Record whose state a folder holds. A failed write only means that a later move is not recognized."""
    stamp, path = _stamp(vault), os.path.join(state_dir, _NAME)
    if stamp and _read(state_dir) != (stamp, vault):
        files.try_replace(path, os.fsencode(f"{stamp} {vault}"))


def was_there(state_dir: str) -> bool:
    """Whether the vault that has this state folder once had commits at its place."""
    return bool(_read(state_dir)[0])


def missing(state_dir: str, vault: str) -> VaultError:
    """Return the error for a vault that is not at its place; one that was there must not be answered with a new one."""
    from mdmem.hook_errors import VaultError, no_vault

    if not was_there(state_dir):
        return no_vault(vault)
    return VaultError(
        f"The vault at {vault} is gone: its disk is not mounted, or it was moved or deleted.",
        "Mount its disk, or move it back; what is queued is then stored. If you moved it:"
        " `mdmem config set --user vault PATH`, or set MDMEM_VAULT. `mdmem init` begins a new one.",
    )


def take_over(state_dir: str, vault: str) -> None:
    """Rename the state folder that this vault had at its former place to `state_dir`, which must not exist.

    A copy of a vault has its own state: nothing is taken while the original is still there.
    """
    stamp, above = _stamp(vault), os.path.dirname(state_dir)
    try:
        names = os.listdir(above) if stamp else []
    except OSError:
        return
    for former in [os.path.join(above, name) for name in names]:
        recorded, place = _read(former)
        if recorded == stamp and (os.path.realpath(place) == vault or _stamp(place) != stamp):
            try:
                os.rename(former, state_dir)
            except OSError:
                return  # another process was first
            remember(state_dir, vault)
            return


def _stamp(vault: str) -> str:
    """Return what a vault's repository alone has, wherever it is: a hash of its reflog's beginning; "" without one.

    It names the first commit and the second in which it was made or cloned.
    """
    first, end, _ = files.try_read_any(os.path.join(vault, ".git", "logs", "HEAD"), _REFLOG_BYTES).partition(b"\n")
    return short(first.hex(), 16) if end else ""


def _read(state_dir: str) -> tuple[str, str]:
    """Return the recorded stamp and path of a state folder's vault; empty when there is no record."""
    stamp, _, place = os.fsdecode(files.try_read_own(os.path.join(state_dir, _NAME), _RECORD_BYTES)).partition(" ")
    return stamp, place
