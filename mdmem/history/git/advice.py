"""Advice: what a person can do about a failure of git."""

from __future__ import annotations

import shlex

from mdmem.lazy_pattern import lazy

MAX_CHARS = 300
"""Maximum length of a reason that is shown."""

_FULL = ("No space left on device", "Out of diskspace", "Disk quota exceeded")
_LOCKED = lazy(r"'([^']+)\.lock': File exists|could not lock config file (.+): File exists")
_DAMAGED = lazy(r"object file \S+ is empty|bad object|loose object \w+|(?:is|are) corrupt|bad tree|missing blob")

IN_DOCTOR = " `mdmem doctor --only history` says what to do."
"""What is said of a damaged repository, except by doctor itself."""

_NO_MODES = lazy(r"chmod on .+ failed")
_OTHERS = lazy(r"dubious ownership in repository at '([^'\n]+)'")

_ASKED = lazy(r"could not read (?:Username|Password)|unable to get password|Authentication failed")
_HELPERS = (
    " mdmem never asks for a password: store one in a credential helper of git (`git help credentials`), or use an"
    " address with SSH."
)
_SSH = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": (
        " The host has another key than before: somebody may be in between. Ask who runs it; if its key was changed,"
        " `ssh-keygen -R HOST` forgets the old one."
    ),
    "Host key verification failed": (
        " ssh does not know this host yet, and mdmem answers no questions of ssh: run `ssh HOST` in a terminal once,"
        " and confirm its key."
    ),
    "Permission denied (publickey": (
        " mdmem never asks for a passphrase: unlock your key with `ssh-add`, and check that the remote has its public"
        " half."
    ),
}
"""What ssh prints -> what to do; the first one counts."""


def not_started(error: BaseException) -> str:
    """Return why git cannot be started, as an error or its cause says, and what to do."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    if cause is None or isinstance(cause, FileNotFoundError):
        return "git is not installed, or not on PATH. Notes are kept; install it to have a history."
    return f"git cannot be started ({cause.strerror}). Notes are kept; fix that, then run the command again."


def explained(text: str, printed: str) -> str:
    """Return the reason of a failure, at most MAX_CHARS of it, with what to do if that is known.

    text: the whole line that says the reason, since a path at its end may be needed. printed: all that git printed.
    """
    if cause := next((sign for sign in _FULL if sign in printed), ""):
        return f"a disk is full ({cause}). Free some space and run the command again."
    shown = f"{text[:MAX_CHARS]}…" if len(text) > MAX_CHARS else text.rstrip(".") + "." * (text[-1:] not in "?!")
    for locked in map("".join, _LOCKED.findall(text)):
        lock = shlex.quote(f"{locked}.lock")
        shown += f" If no other git process is running there, run `rm {lock}`, then the command again."
    if other := _OTHERS.search(text):
        shown += f" If you trust its owner, run `git config --global --add safe.directory {shlex.quote(other[1])}`."
    if "unsupported file type" in text:
        shown += " It is a pipe, a socket or a device: delete it, then run the command again."
    if "request for unadvertised object" in text:
        shown += " The remote sends no single files. `mdmem sync --whole` fetches the whole vault."
    if _NO_MODES.search(text):
        shown += (
            " The disk keeps no permissions, and refuses git's: keep the vault on another one, or mount it with them"
            " (in WSL, with the option `metadata`)."
        )
    if "mismatched algorithms" in text or "not support this repository's hash algorithm" in text:
        shown += " Make the remote with the kind of ids that `git rev-parse --show-object-format` names in the vault."
    if _ASKED.search(text):
        shown += _HELPERS
    shown += next((todo for sign, todo in _SSH.items() if sign in printed), "")
    if _DAMAGED.search(printed):
        shown += IN_DOCTOR
    return shown
