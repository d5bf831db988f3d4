"""Errors that a person can act on; each kind has its own exit status."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.hook_errors import ConfigError, DeadlineError, MdmemError, PatternError, VaultError, no_vault

__all__ = [
    "AmbiguousError", "BusyError", "ConfigError", "DeadlineError", "GitError", "LockedError", "MdmemError",
    "NotFoundError", "PatternError", "SettingsWarning", "UsageError", "VaultError", "no_vault",
]  # fmt: skip


class UsageError(MdmemError):
    """The arguments of a command do not fit together. Exit status 2, as in click."""

    exit_code = 2


class NotFoundError(MdmemError):
    """No note, session or project has that name. Exit status 5."""

    exit_code = 5


class AmbiguousError(NotFoundError):
    """More than one note or session matches that name. paths: of the notes. Exit status 8."""

    exit_code = 8

    def __init__(self, text: str, paths: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.paths = paths


class BusyError(MdmemError):
    """Another process holds a lock for too long, or keeps changing the same thing. Exit status 6."""

    exit_code = 6


class LockedError(BusyError):
    """Another mdmem process holds a lock for too long: what it does may simply take longer. Exit status 6."""


class GitError(MdmemError):
    """Git refused or failed; the notes themselves are safe. Exit status 7."""

    exit_code = 7


class SettingsWarning(str):
    """A sentence about a problem in a settings file.

    unknown: the key, if there is no such setting. is_syntax: the whole file cannot be parsed. excludes_all: for that
    reason, every project is excluded.
    """

    unknown: str
    is_syntax: bool
    excludes_all: bool

    def __new__(
        cls, text: str, *, unknown: str = "", is_syntax: bool = False, excludes_all: bool = False
    ) -> SettingsWarning:
        """Make the sentence."""
        warning = super().__new__(cls, text)
        warning.unknown, warning.is_syntax, warning.excludes_all = unknown, is_syntax, excludes_all
        return warning
