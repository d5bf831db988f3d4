"""What can go wrong in a way that a person can act on; each kind has an exit status of its own."""


class MdmemError(Exception):
    """A failure whose message says what, where, and what to do next. Exit status 1."""

    exit_code = 1


class UsageError(MdmemError):
    """The words of a command do not make sense together. Exit status 2, as click has it."""

    exit_code = 2


class ConfigError(MdmemError):
    """A settings file cannot be read or holds a value that it may not. Exit status 3."""

    exit_code = 3


class VaultError(MdmemError):
    """There is no vault, or it cannot be written. Exit status 4."""

    exit_code = 4


class NotFoundError(MdmemError):
    """No note, session or project answers to that name. Exit status 5."""

    exit_code = 5


class AmbiguousError(NotFoundError):
    """More than one note or session answers to that name. Exit status 8."""

    exit_code = 8


class BusyError(MdmemError):
    """Another process holds what is needed, and waiting did not help. Exit status 6."""

    exit_code = 6


class GitError(MdmemError):
    """Git refused or failed; the notes themselves are safe. Exit status 7."""

    exit_code = 7


class PatternError(ConfigError):
    """One of the user's own patterns takes too long: what it was to look at is not stored. Exit status 3."""


class DeadlineError(BaseException):
    """The time that a process has is over. No `Exception`, so that no handler on the way takes it for its own."""
