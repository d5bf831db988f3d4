"""The errors that a hook may meet, apart from those of the commands: a hook pays for each class that it creates."""


class MdmemError(Exception):
    """A failure whose message says what, where, and what to do next. Exit status 1."""

    exit_code = 1


class ConfigError(MdmemError):
    """A settings file cannot be read or holds a value that it may not. Exit status 3."""

    exit_code = 3


class VaultError(MdmemError):
    """There is no vault, or it cannot be written. Exit status 4."""

    exit_code = 4


def no_vault(root: object) -> VaultError:
    """Return the error of a vault that is not there."""
    return VaultError(f"No vault at {root}. Run `mdmem init`, or point MDMEM_VAULT at an existing one.")


class PatternError(ConfigError):
    """One of the user's own patterns takes too long: what it was to look at is not stored. Exit status 3."""


class DeadlineError(BaseException):
    """The time that a process has is over. No `Exception`, so that no handler on the way takes it for its own."""
